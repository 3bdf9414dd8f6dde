//! The pages at the top of the project tell the truth: links lead somewhere, printed output is real output, and
//! every file that a page names exists.

use std::process::Command;

use incog_testkit::data::project;

const PAGES: [&str; 6] =
    ["README.md", "GUIDE.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "bench/README.md"];

fn page(name: &str) -> String {
    std::fs::read_to_string(project().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn every_link_between_pages_and_files_leads_somewhere() {
    let mut n_links = 0;
    for name in PAGES {
        let text = page(name);
        let folder = project().join(name).parent().unwrap().to_owned();
        for (at, _) in text.match_indices("](") {
            let target = text[at + 2..].split(')').next().unwrap();
            if target.starts_with("http") {
                continue;
            }
            let file = target.split('#').next().unwrap();
            assert!(folder.join(file).exists(), "{name} links to {target}, which is not there");
            n_links += 1;
        }
    }
    assert!(n_links > 10, "the pages do have links");
}

#[test]
fn every_path_that_the_architecture_names_in_backticks_exists() {
    let text = page("ARCHITECTURE.md");
    let paths = text.split('`').skip(1).step_by(2).filter(|quoted| {
        (quoted.starts_with("crates/") || quoted.starts_with("testdata/"))
            && !quoted.contains(char::is_whitespace)
    });
    let mut n_paths = 0;
    for path in paths {
        assert!(project().join(path).exists(), "{path} is not there");
        n_paths += 1;
    }
    assert!(n_paths > 5);
}

#[test]
fn the_readme_prints_what_the_command_prints() {
    let readme = page("README.md");
    let (_, block) =
        readme.split_once("$ cargo run --release -- search examples/patients/incog.toml\n").unwrap();
    let expected = block.split("```").next().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_incog"))
        .args(["search", "examples/patients/incog.toml"])
        .current_dir(project())
        .output()
        .unwrap();
    let actual = String::from_utf8(output.stdout).unwrap();
    assert_eq!(untimed(&actual), untimed(expected));
}

/// The guide is walked from its first command to its last, each with what the ones before it left behind.
#[test]
fn every_command_of_the_guide_prints_what_the_guide_says() {
    let guide = page("GUIDE.md");
    let folder = tempfile::tempdir().unwrap();
    for file in ["discharges.csv", "incog.toml"] {
        std::fs::copy(project().join("examples/hospital").join(file), folder.path().join(file)).unwrap();
    }
    let mut n_commands = 0;
    for block in guide.split("```console\n$ incog ").skip(1) {
        let block = block.split("```").next().unwrap();
        for told in block.split("\n$ incog ") {
            let (command, expected) = told.split_once('\n').unwrap_or((told, ""));
            assert!(!command.contains(['\'', '"', '|', '>', '\\']), "this test is no shell: {command}");
            let output = Command::new(env!("CARGO_BIN_EXE_incog"))
                .args(command.split_whitespace())
                .current_dir(folder.path())
                .output()
                .unwrap();
            let actual = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
            if let Err(line) = is_shortened(&untimed(expected), &untimed(&actual)) {
                panic!("`incog {command}` does not print\n{line}\nbut\n{actual}");
            }
            n_commands += 1;
        }
    }
    assert!(n_commands > 10, "the guide does have commands");
}

#[test]
fn a_shortened_text_leaves_out_only_what_it_says() {
    let actual = untimed("one\ntwo words\nthree\nfour\n");
    for told in [
        "one\ntwo words\nthree\nfour",
        "...\nthree\n...",
        "one\nt...o w...\n...\nfour",
        "one\n...words\n...",
        "...",
    ] {
        assert_eq!(is_shortened(&untimed(told), &actual), Ok(()), "{told}");
    }
    for told in ["one\nthree\nfour", "one\n...\ntwo\n...", "one", "...\nfour\nthree", "two ...\n...", ""] {
        assert!(is_shortened(&untimed(told), &actual).is_err(), "{told}");
    }
}

/// Whether a text is the actual one, where a line `...` stands for any lines, and `...` in a line for anything. If not,
/// the first line that is not there.
fn is_shortened(told: &[String], actual: &[String]) -> Result<(), String> {
    let mut rest = actual;
    let mut may_skip = false;
    for line in told {
        if line == "..." {
            may_skip = true;
            continue;
        }
        let found = rest.iter().position(|actual| is_line(line, actual));
        match found.filter(|&at| at == 0 || may_skip) {
            Some(at) => rest = &rest[at + 1..],
            None => return Err(line.clone()),
        }
        may_skip = false;
    }
    if rest.is_empty() || may_skip { Ok(()) } else { Err("(nothing more)".to_owned()) }
}

fn is_line(told: &str, actual: &str) -> bool {
    let Some((before, after)) = told.split_once("...") else {
        return told == actual;
    };
    let Some(rest) = actual.strip_prefix(before) else {
        return false;
    };
    let mut ends = rest.char_indices().map(|(at, _)| at).chain([rest.len()]);
    ends.any(|at| is_line(after, &rest[at..]))
}

/// Lines without times, which differ from run to run.
fn untimed(text: &str) -> Vec<String> {
    text.lines().map(|line| line.split(" nodes in ").next().unwrap().to_owned()).collect()
}

#[test]
fn the_readme_prints_what_publishing_the_example_prints() {
    let readme = page("README.md");
    for (example, more) in [("hospital", ""), ("hospital", " --algorithm top-down"), ("university", "")] {
        let command = format!("anonymize examples/{example}/incog.toml{more}");
        let (_, block) = readme.split_once(&format!("$ cargo run --release -- {command}\n")).unwrap();
        let told = untimed(block.split("```").next().unwrap().trim_end());
        let actual = published(example, &command);
        if let Err(line) = is_shortened(&told, &untimed(actual.trim_end())) {
            panic!("`{command}` does not print\n{line}\nbut\n{actual}");
        }
    }
}

/// What a command about an example says in a folder of its own.
fn published(example: &str, command: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let mut open = vec![format!("examples/{example}")];
    while let Some(below) = open.pop() {
        std::fs::create_dir_all(folder.path().join(&below)).unwrap();
        for entry in std::fs::read_dir(project().join(&below)).unwrap() {
            let entry = entry.unwrap();
            let name = format!("{below}/{}", entry.file_name().into_string().unwrap());
            // What somebody has released there is not part of the example.
            match entry.path().is_dir() {
                true if name.ends_with("/release") => {}
                true => open.push(name),
                false => drop(std::fs::copy(entry.path(), folder.path().join(&name)).unwrap()),
            }
        }
    }
    let output = Command::new(env!("CARGO_BIN_EXE_incog"))
        .args(command.split(' '))
        .current_dir(folder.path())
        .output()
        .unwrap();
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn the_job_file_in_the_readme_is_one() {
    let readme = page("README.md");
    let (_, block) = readme.split_once("```toml\n").unwrap();
    let job = incog::Job::parse(block.split("```").next().unwrap()).unwrap();
    assert_eq!(job.columns.len(), 6);
    let (_, block) = readme.split_once("```toml\n[database]").unwrap();
    let text = format!("[database]{}", block.split("```").next().unwrap());
    let job = incog::unstable::job::DatabaseJob::parse(&text).unwrap();
    assert_eq!(job.tables.len(), 2);
}
