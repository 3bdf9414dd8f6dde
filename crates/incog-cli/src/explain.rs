//! `incog explain`: what a name promises, when to use it, an example, its limits, and where it comes from. Also the
//! words that everything else is said in.

use std::process::ExitCode;

use incog::unstable::cli::{Described, written};
use incog::unstable::engine::algorithm::Family;
use incog::unstable::engine::judge::{self, Standing};
use incog::unstable::engine::registry::{Entry, Status, current, nearest};
use incog::{Error, Result};
use schemars::JsonSchema;
use serde::Serialize;

use crate::output::{Format, print};
use crate::words::{ALIASES, Use, uses};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// A name that `incog list` prints, such as loss or k-anonymity; a word, such as quasi-identifier, role or risk; or a key or value of
    /// job files, such as intervals or shuffle
    name: Option<String>,
    /// How to print it
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// What a word means.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ExplainJson {
    name: String,
    /// concept, key of job files, or what kind of entry it is.
    kind: String,
    /// preview or vetted, of an entry.
    status: Option<&'static str>,
    summary: Option<&'static str>,
    /// As Markdown.
    text: String,
}

impl Described for ExplainJson {
    const NAME: &'static str = "explain";
}

/// Words that users meet, with what they mean.
const CONCEPTS: [(&str, &str); 20] = [
    ("quasi-identifier", include_str!("concepts/quasi_identifier.md")),
    ("suppression", include_str!("concepts/suppression.md")),
    ("unit", include_str!("concepts/unit.md")),
    ("hierarchy", include_str!("concepts/hierarchy.md")),
    ("release-record", include_str!("concepts/release_record.md")),
    ("role", include_str!("concepts/role.md")),
    ("identifier", include_str!("concepts/identifier.md")),
    ("sensitive", include_str!("concepts/sensitive.md")),
    ("other", include_str!("concepts/other.md")),
    ("mask", include_str!("concepts/mask.md")),
    ("intervals", include_str!("concepts/intervals.md")),
    ("dates", include_str!("concepts/dates.md")),
    ("tree", include_str!("concepts/tree.md")),
    ("level", include_str!("concepts/level.md")),
    ("group", include_str!("concepts/group.md")),
    ("generalization", include_str!("concepts/generalization.md")),
    ("l-diversity", include_str!("concepts/l-diversity.md")),
    ("risk", include_str!("concepts/risk.md")),
    ("homogeneity", include_str!("concepts/homogeneity.md")),
    ("optimal", include_str!("concepts/optimal.md")),
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
    let uses = uses();
    let concepts = CONCEPTS.iter().map(|&(name, _)| name);
    let names: Vec<&str> = everything.iter().map(|explained| explained.name).chain(concepts).collect();
    let there_are = format!("there are: {}; `incog list` has a line about each", names.join(", "));
    let Some(name) = &arguments.name else {
        return Err(Error::input("nothing to explain is named").with_hint(there_are));
    };
    // As people write it: in capitals, with spaces.
    let plain = name.to_lowercase().replace([' ', '_'], "-");
    let known = |name: &str| {
        explained(name, &everything).or_else(|| in_jobs(name, &uses)).or_else(|| {
            let (_, ours) = ALIASES.iter().find(|(theirs, _)| *theirs == name)?;
            explained(ours, &everything)
        })
    };
    let Some((text, json)) = known(name).or_else(|| known(&plain)) else {
        let keys = uses.iter().map(|(word, _)| word.as_str());
        let theirs = ALIASES.iter().map(|(theirs, _)| *theirs);
        let advice = nearest(names.iter().copied().chain(keys).chain(theirs), &plain)
            .map_or(String::new(), |near| format!("; did you mean `{near}`?"));
        return Err(Error::input(format!("there is nothing named `{name}`{advice}")).with_hint(there_are));
    };
    match arguments.format {
        Format::Json => print(&(written(&json) + "\n"))?,
        Format::Text => print(&text)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// A concept or an entry, as text and as data.
fn explained(name: &str, everything: &[Explained]) -> Option<(String, ExplainJson)> {
    let json = |name: &str, kind: &str, text: &str| ExplainJson {
        name: name.to_owned(),
        kind: kind.to_owned(),
        status: None,
        summary: None,
        text: text.to_owned(),
    };
    if let Some((name, text)) = CONCEPTS.iter().find(|(concept, _)| *concept == name) {
        return Some((format!("{name}\nkind: concept\n\n{text}"), json(name, "concept", text)));
    }
    let Explained { kind, name, summary, status, doc } =
        everything.iter().find(|explained| explained.name == current(name))?;
    let (status, word) = match status {
        Status::Preview => {
            ("preview (tested; not yet compared with its source by a second person)".to_owned(), "preview")
        }
        Status::Vetted { since } => {
            (format!("vetted (compared with its source by a second person, {since})"), "vetted")
        }
    };
    let text = format!("{name}\nkind: {kind}\nstatus: {status}\n{summary}\n\n{doc}");
    let json = ExplainJson { status: Some(word), summary: Some(summary), ..json(name, kind, doc) };
    Some((text, json))
}

/// A key of job files, or a value of one: where it stands, and what the schema says of it there.
fn in_jobs(name: &str, uses: &[(String, Use)]) -> Option<(String, ExplainJson)> {
    // Keys are written with underscores.
    let is_meant = |word: &str| word == name || word.replace('_', "-") == name;
    let meant: Vec<&Use> = uses.iter().filter(|(word, _)| is_meant(word)).map(|(_, found)| found).collect();
    let first = meant.first()?;
    let kind = if first.is_value { "value in job files" } else { "key of job files" };
    let mut text = String::new();
    for Use { place, is_value, text: says } in &meant {
        let place = if *is_value { format!("{place} = \"{name}\"") } else { place.clone() };
        text.push_str(&format!("    {place}\n\n{}{}", says, if says.is_empty() { "" } else { "\n\n" }));
    }
    let text = text.trim_end().to_owned() + "\n";
    let json = ExplainJson {
        name: name.to_owned(),
        kind: kind.to_owned(),
        status: None,
        summary: None,
        text: text.clone(),
    };
    Some((format!("{name}\nkind: {kind}\n\n{text}"), json))
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
