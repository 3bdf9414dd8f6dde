//! `incog list`.

use std::process::ExitCode;

use incog::Result;
use incog::unstable::cli::{Described, written};
use incog::unstable::engine::algorithm::Family;
use incog::unstable::engine::judge::{self, Standing};
use incog::unstable::engine::registry::Entry;
use schemars::JsonSchema;
use serde::Serialize;

use crate::output::{Format, print};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// How to print the list
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// Everything that has a name.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ListJson {
    sections: Vec<SectionJson>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct SectionJson {
    title: String,
    entries: Vec<EntryJson>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct EntryJson {
    name: &'static str,
    summary: &'static str,
    reference: &'static str,
}

impl Described for ListJson {
    const NAME: &'static str = "list";
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let list = ListJson { sections: sections() };
    if arguments.format == Format::Json {
        print(&(written(&list) + "\n"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = String::new();
    for SectionJson { title, entries } in &list.sections {
        text.push_str(&format!("{title}\n"));
        for EntryJson { name, summary, reference } in entries {
            text.push_str(&format!("  {name:<24}{summary}\n{:26}{reference}\n", ""));
        }
    }
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn sections() -> Vec<SectionJson> {
    let mut sections = vec![section("privacy models", incog::unstable::engine::privacy::ALL)];
    for family in Family::ALL {
        let entries =
            incog::unstable::engine::algorithm::ALL.iter().filter(|entry| entry.item.family == family);
        sections.push(section(family.title(), entries));
    }
    sections.push(section("databases", incog::unstable::engine::relational::ALL));
    for standing in Standing::ALL {
        let entries = judge::ALL.iter().filter(|entry| entry.item.standing() == standing);
        sections.push(section(standing.title(), entries));
    }
    sections.push(section("marking", incog::unstable::engine::algorithm::MARKINGS));
    sections.push(section("metrics", incog::unstable::engine::metric::ALL));
    sections.push(section("decide", incog::unstable::cli::DECIDE));
    sections
}

fn section<T: 'static>(title: &str, entries: impl IntoIterator<Item = &'static Entry<T>>) -> SectionJson {
    let entry = |entry: &'static Entry<T>| EntryJson {
        name: entry.name,
        summary: entry.summary,
        reference: entry.reference,
    };
    SectionJson { title: title.to_owned(), entries: entries.into_iter().map(entry).collect() }
}
