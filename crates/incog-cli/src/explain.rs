//! `incog explain`: what a name promises, when to use it, an example, its limits, and where it comes from. Also the
//! words that everything else is said in.

use std::process::ExitCode;

use incog::unstable::engine::algorithm::Family;
use incog::unstable::engine::judge::{self, Standing};
use incog::unstable::engine::registry::{Entry, Status, current, nearest};
use incog::{Error, Result};

use crate::output::print;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// A name that `incog list` prints, such as loss or k-anonymity; or a word: quasi-identifier, suppression, unit,
    /// hierarchy, release-record
    name: Option<String>,
}

/// Words that users meet, with what they mean.
const CONCEPTS: [(&str, &str); 5] = [
    ("quasi-identifier", include_str!("concepts/quasi_identifier.md")),
    ("suppression", include_str!("concepts/suppression.md")),
    ("unit", include_str!("concepts/unit.md")),
    ("hierarchy", include_str!("concepts/hierarchy.md")),
    ("release-record", include_str!("concepts/release_record.md")),
];

/// An entry of whatever registry.
struct Explained {
    kind: &'static str,
    name: &'static str,
    summary: &'static str,
    status: Status,
    doc: &'static str,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let everything = everything();
    let concepts = CONCEPTS.iter().map(|&(name, _)| name);
    let names: Vec<&str> = everything.iter().map(|explained| explained.name).chain(concepts).collect();
    let there_are = format!("there are: {}; `incog list` has a line about each", names.join(", "));
    let Some(name) = &arguments.name else {
        return Err(Error::input("nothing to explain is named").with_hint(there_are));
    };
    if let Some((name, text)) = CONCEPTS.iter().find(|(concept, _)| concept == name) {
        print(&format!("{name}\nkind: concept\n\n{text}"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let Some(explained) = everything.iter().find(|explained| explained.name == current(name)) else {
        let advice = nearest(names.iter().copied(), name)
            .map_or(String::new(), |near| format!("; did you mean `{near}`?"));
        return Err(Error::input(format!("there is nothing named `{name}`{advice}")).with_hint(there_are));
    };
    let Explained { kind, name, summary, status, doc } = explained;
    let status = match status {
        Status::Preview => "preview (tested; not yet compared with its source by a second person)".to_owned(),
        Status::Vetted { since } => format!("vetted (compared with its source by a second person, {since})"),
    };
    print(&format!("{name}\nkind: {kind}\nstatus: {status}\n{summary}\n\n{doc}"))?;
    Ok(ExitCode::SUCCESS)
}

/// Everything that has a name, in the order of `incog list`.
fn everything() -> Vec<Explained> {
    let mut everything = Vec::new();
    add(&mut everything, "privacy model", incog::unstable::engine::privacy::ALL);
    for family in Family::ALL {
        let entries =
            incog::unstable::engine::algorithm::ALL.iter().filter(|entry| entry.item.family == family);
        add(&mut everything, family.kind(), entries);
    }
    add(&mut everything, "algorithm for databases", incog::unstable::engine::relational::ALL);
    for standing in Standing::ALL {
        let entries = judge::ALL.iter().filter(|entry| entry.item.standing() == standing);
        add(&mut everything, standing.kind(), entries);
    }
    add(&mut everything, "marking", incog::unstable::engine::algorithm::MARKINGS);
    add(&mut everything, "metric", incog::unstable::engine::metric::ALL);
    add(&mut everything, "decide", incog::unstable::cli::DECIDE);
    everything
}

fn add<T: 'static>(
    everything: &mut Vec<Explained>,
    kind: &'static str,
    entries: impl IntoIterator<Item = &'static Entry<T>>,
) {
    everything.extend(entries.into_iter().map(|entry| Explained {
        kind,
        name: entry.name,
        summary: entry.summary,
        status: entry.status,
        doc: entry.doc,
    }));
}
