//! Completions and manual pages are made from the same definitions as `--help`: none may miss a command or a flag.

use std::io::Write;
use std::process::{Command, Output, Stdio};

use incog_testkit::skipped;

fn incog(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_incog")).args(arguments).output().unwrap()
}

fn text(arguments: &[&str]) -> String {
    let output = incog(arguments);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The commands that `--help` lists.
fn commands() -> Vec<String> {
    let help = text(&["--help"]);
    let list = help.split("Commands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    // What a command does may take several lines, which are indented further.
    let lines = list.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    lines.map(|line| line.split_whitespace().next().unwrap().to_owned()).collect()
}

/// The long flags that the help of a command lists.
fn flags(command: &str) -> Vec<String> {
    let help = text(&[command, "--help"]);
    let lines = help.lines().map(str::trim_start).filter(|line| line.starts_with('-'));
    // Before the long name there may be a short one: `-o, --output <FILE>`.
    let long = lines.filter_map(|line| line.split_once("--").filter(|(before, _)| before.len() <= 4));
    let names = long.map(|(_, rest)| rest.chars().take_while(|c| c.is_alphanumeric() || *c == '-').collect());
    names.filter(|name: &String| name.len() > 1).collect()
}

#[test]
fn completions_of_every_shell_know_every_command_and_flag() {
    let commands = commands();
    assert!(commands.len() > 10, "{commands:?}");
    let flags = flags("anonymize");
    assert!(flags.len() > 15 && flags.contains(&"suppression".to_owned()), "{flags:?}");
    for shell in ["bash", "zsh", "fish"] {
        let script = text(&["completions", shell]);
        for word in commands.iter().chain(&flags) {
            assert!(script.contains(word.as_str()), "{shell} does not know {word}");
        }
    }
    assert_eq!(incog(&["completions", "smalltalk"]).status.code(), Some(2));
}

#[test]
fn bash_understands_its_completions() {
    let Ok(mut bash) = Command::new("bash").arg("-n").stdin(Stdio::piped()).spawn() else {
        return skipped("needs bash");
    };
    bash.stdin.take().unwrap().write_all(text(&["completions", "bash"]).as_bytes()).unwrap();
    assert!(bash.wait().unwrap().success());
}

#[test]
fn every_command_has_a_manual_page_with_its_flags() {
    for command in commands() {
        let page = text(&["man", &command]);
        assert!(page.contains(&format!(".TH INCOG-{} 1", command.to_uppercase())), "{command}");
    }
    // Hyphens are written as `\-`.
    let page = text(&["man", "anonymize"]).replace("\\-", "-");
    for flag in flags("anonymize") {
        assert!(page.contains(&format!("--{flag}")), "{flag}");
    }
    assert!(text(&["man", "hierarchy", "show"]).contains(".TH INCOG-HIERARCHY-SHOW 1"));
    let unknown = incog(&["man", "smalltalk"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&unknown.stderr).starts_with("error: there is no command `smalltalk`"));
}
