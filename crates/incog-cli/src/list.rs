//! `incog list`.

use std::process::ExitCode;

use incog::Result;
use incog::registry::Entry;

use crate::output::print;

pub(crate) fn run() -> Result<ExitCode> {
    let mut text = String::new();
    section(&mut text, "privacy models", incog::privacy::ALL);
    section(&mut text, "algorithms", incog::algorithm::ALL);
    section(&mut text, "single-dimension recoding", incog::algorithm::SINGLE);
    section(&mut text, "multi-dimension and cell recoding", incog::algorithm::BY_GROUPS);
    section(&mut text, "recoding by intervals and boxes", incog::algorithm::BOXES);
    section(&mut text, "local recoding", incog::algorithm::LOCAL);
    section(&mut text, "databases", incog::relational::ALL);
    section(&mut text, "checkers", incog::check::ALL);
    section(&mut text, "marking", incog::algorithm::MARKINGS);
    section(&mut text, "metrics", incog::metric::ALL);
    section(&mut text, "decide", incog::DECIDE);
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn section<T>(text: &mut String, title: &str, entries: &[Entry<T>]) {
    text.push_str(&format!("{title}\n"));
    for entry in entries {
        text.push_str(&format!("  {:<24}{}\n{:26}{}\n", entry.name, entry.summary, "", entry.reference));
    }
}
