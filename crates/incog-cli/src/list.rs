//! `incog list`.

use std::process::ExitCode;

use incog::Result;
use incog::algorithm::Family;
use incog::registry::Entry;

use crate::output::print;

pub(crate) fn run() -> Result<ExitCode> {
    let mut text = String::new();
    section(&mut text, "privacy models", incog::privacy::ALL);
    for family in Family::ALL {
        let entries = incog::algorithm::ALL.iter().filter(|entry| entry.item.family == family);
        section(&mut text, family.title(), entries);
    }
    section(&mut text, "databases", incog::relational::ALL);
    section(&mut text, "checkers", incog::check::ALL);
    section(&mut text, "marking", incog::algorithm::MARKINGS);
    section(&mut text, "metrics", incog::metric::ALL);
    section(&mut text, "decide", incog::DECIDE);
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn section<T: 'static>(text: &mut String, title: &str, entries: impl IntoIterator<Item = &'static Entry<T>>) {
    text.push_str(&format!("{title}\n"));
    for entry in entries {
        text.push_str(&format!("  {:<24}{}\n{:26}{}\n", entry.name, entry.summary, "", entry.reference));
    }
}
