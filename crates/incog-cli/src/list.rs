//! `incog list`.

use std::process::ExitCode;

use incog::Result;
use incog::unstable::engine::algorithm::Family;
use incog::unstable::engine::judge::{self, Standing};
use incog::unstable::engine::registry::Entry;

use crate::output::print;

pub(crate) fn run() -> Result<ExitCode> {
    let mut text = String::new();
    section(&mut text, "privacy models", incog::unstable::engine::privacy::ALL);
    for family in Family::ALL {
        let entries =
            incog::unstable::engine::algorithm::ALL.iter().filter(|entry| entry.item.family == family);
        section(&mut text, family.title(), entries);
    }
    section(&mut text, "databases", incog::unstable::engine::relational::ALL);
    for standing in Standing::ALL {
        let entries = judge::ALL.iter().filter(|entry| entry.item.standing() == standing);
        section(&mut text, standing.title(), entries);
    }
    section(&mut text, "marking", incog::unstable::engine::algorithm::MARKINGS);
    section(&mut text, "metrics", incog::unstable::engine::metric::ALL);
    section(&mut text, "decide", incog::unstable::cli::DECIDE);
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn section<T: 'static>(text: &mut String, title: &str, entries: impl IntoIterator<Item = &'static Entry<T>>) {
    text.push_str(&format!("{title}\n"));
    for entry in entries {
        text.push_str(&format!("  {:<24}{}\n{:26}{}\n", entry.name, entry.summary, "", entry.reference));
    }
}
