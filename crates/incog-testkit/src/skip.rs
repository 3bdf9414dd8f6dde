//! Tests that cannot run here, and how somebody learns of it.
//!
//! The test runner knows *ok*, *FAILED* and *ignored*, and has no word for a test that finds out only while it runs that it
//! cannot. Such a test calls [`skipped`] and returns, and counts as *ok*. So that nobody takes that for a pass:
//!
//! 1. A line goes to the process's standard error itself. The runner captures what `eprintln!` prints in a test that passes, and
//!    shows it to nobody; it does not capture this. `cargo test` shows it between its own lines.
//! 2. The same line is appended to the file that `INCOG_SKIPPED` names, if it names one. `.ci/run` counts its lines, and prints
//!    the number and all reasons at its end.

use std::io::Write;

/// Says that the test which is running is skipped, and why.
pub fn skipped(reason: &str) {
    let binary = std::env::current_exe().ok();
    let binary = binary.as_deref().and_then(|path| path.file_stem()).unwrap_or_default().to_string_lossy();
    // Cargo adds a hash to the name.
    let file = binary.rsplit_once('-').map_or(&*binary, |(name, _)| name);
    let thread = std::thread::current();
    let line = line(file, thread.name(), reason);
    // A test that cannot say so is skipped all the same.
    let _ = std::io::stderr().write_all(line.as_bytes());
    if let Some(path) = std::env::var_os("INCOG_SKIPPED") {
        let list = std::fs::OpenOptions::new().create(true).append(true).open(path);
        let _ = list.and_then(|mut list| list.write_all(line.as_bytes()));
    }
}

/// One line for one test. With one thread for all tests the runner gives it no name.
fn line(file: &str, test: Option<&str>, reason: &str) -> String {
    match test {
        Some(test) if test != "main" => format!("skipped: {file}::{test}: {reason}\n"),
        _ => format!("skipped: a test of {file}: {reason}\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_names_the_test_and_the_reason() {
        assert_eq!(line("adult", Some("counts"), "needs x"), "skipped: adult::counts: needs x\n");
        assert_eq!(line("adult", Some("main"), "needs x"), "skipped: a test of adult: needs x\n");
        assert_eq!(line("adult", None, "needs x"), "skipped: a test of adult: needs x\n");
    }
}
