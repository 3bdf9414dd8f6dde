//! The pages at the top of the project tell the truth: links lead somewhere, printed output is real output, and
//! every file that a page names exists.

use std::process::Command;

use incog_testkit::data::project;

const PAGES: [&str; 5] =
    ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "bench/README.md"];

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
    // The time differs from run to run.
    let untimed = |text: &str| -> Vec<String> {
        text.lines().map(|line| line.split(" nodes in ").next().unwrap().to_owned()).collect()
    };
    assert_eq!(untimed(&actual), untimed(expected));
}

#[test]
fn the_readme_prints_what_publishing_the_example_prints() {
    let folder = tempfile::tempdir().unwrap();
    let example = folder.path().join("examples/hospital");
    std::fs::create_dir_all(&example).unwrap();
    for file in ["incog.toml", "discharges.csv"] {
        std::fs::copy(project().join("examples/hospital").join(file), example.join(file)).unwrap();
    }
    let command = "anonymize examples/hospital/incog.toml";
    let readme = page("README.md");
    let (_, block) = readme.split_once(&format!("$ cargo run --release -- {command}\n")).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_incog"))
        .args(command.split(' '))
        .current_dir(folder.path())
        .output()
        .unwrap();
    let actual = String::from_utf8(output.stderr).unwrap();
    assert_eq!(actual.trim_end(), block.split("```").next().unwrap().trim_end());
}

#[test]
fn the_job_file_in_the_readme_is_one() {
    let readme = page("README.md");
    let (_, block) = readme.split_once("```toml\n").unwrap();
    let job = incog::Job::parse(block.split("```").next().unwrap()).unwrap();
    assert_eq!(job.columns.len(), 6);
}
