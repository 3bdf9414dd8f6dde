//! The project's pages tell the truth: links lead somewhere, every page of `docs/` is two clicks from the README, printed output is
//! real output, every command can be typed, every job in a page is a job, and every file that a page names exists.
//!
//! The commands of a page are run from its first to its last in one folder, by a shell, in a copy of the project's examples with
//! `incog` on the path. Where a page shows output, the command must print it: a line `...` stands for any lines, and `...` in a line for
//! anything. A page that shows `error:` wants exit code 2, `FAIL` wants 1, anything else wants 0. Rust in `docs/library.md` is run as doc
//! tests of the crate `incog`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use incog_testkit::data::project;
use incog_testkit::skipped;

/// The pages outside of `docs/`.
const TOP: [&str; 9] = [
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "SECURITY.md",
    "CODE_OF_CONDUCT.md",
    "RELEASING.md",
    "bench/README.md",
    "bench/HISTORY.md",
];

/// Commands that pages show and this test does not run, with who does.
const ELSEWHERE: [(&str, &str); 4] = [
    ("cargo test --workspace", "`.ci/run tests` runs it, and this test is part of it"),
    (
        "cargo install --path crates/incog-cli",
        "`.ci/run` builds the same package, and `.ci/dist` installs it",
    ),
    ("cargo install --path crates/incog-cli --no-default-features", "`.ci/run no-parquet` builds the same"),
    (".ci/dist", "a test would build everything anew; it is a step of the release checklist"),
];

fn page(name: &str) -> String {
    std::fs::read_to_string(project().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Every page below `docs/`, by its path from the project's folder.
fn docs() -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec!["docs".to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(project().join(&folder)).unwrap() {
            let entry = entry.unwrap();
            let name = format!("{folder}/{}", entry.file_name().into_string().unwrap());
            match entry.path().is_dir() {
                true => open.push(name),
                false if name.ends_with(".md") => found.push(name),
                false => {}
            }
        }
    }
    found.sort();
    found
}

fn all_pages() -> Vec<String> {
    TOP.iter().map(|&name| name.to_owned()).chain(docs()).collect()
}

/// The code blocks of a page: what stands behind the fence, and the text.
fn blocks(text: &str) -> Vec<(&str, String)> {
    let mut blocks = Vec::new();
    let mut open: Option<(&str, String)> = None;
    for line in text.lines() {
        match (line.strip_prefix("```"), &mut open) {
            (Some(language), None) => open = Some((language, String::new())),
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (None, Some((_, block))) => block.push_str(&format!("{line}\n")),
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a fence is not closed");
    blocks
}

/// A page without its code blocks.
fn prose(text: &str) -> String {
    text.split("```").step_by(2).collect()
}

/// The links of a page to files: where each leads, from the project's folder, and to which heading.
fn links(name: &str) -> Vec<(PathBuf, Option<String>)> {
    let text = prose(&page(name));
    let folder = Path::new(name).parent().unwrap();
    let targets = text.match_indices("](").map(|(at, _)| text[at + 2..].split(')').next().unwrap());
    let targets = targets.filter(|target| !target.starts_with("http"));
    let links = targets.map(|target| {
        let (file, heading) = target.split_once('#').map_or((target, None), |(file, at)| (file, Some(at)));
        let file = if file.is_empty() { PathBuf::from(name) } else { plain(&folder.join(file)) };
        (file, heading.map(str::to_owned))
    });
    links.collect()
}

/// A path without `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::ParentDir => assert!(plain.pop(), "{path:?} leaves the project"),
            std::path::Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

/// The anchor that code hosts and mdBook make of a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
}

#[test]
fn every_link_between_pages_and_files_leads_somewhere() {
    let mut n_links = 0;
    for name in all_pages() {
        for (file, heading) in links(&name) {
            assert!(project().join(&file).exists(), "{name} links to {}, which is not there", file.display());
            if let Some(heading) = heading {
                let text = prose(&page(file.to_str().unwrap()));
                let titles = text.lines().filter(|line| line.starts_with('#'));
                let mut anchors = titles.map(|line| anchor(line.trim_start_matches('#').trim()));
                assert!(anchors.any(|there| there == heading), "{name} links to {file:?}, #{heading}");
            }
            n_links += 1;
        }
    }
    assert!(n_links > 100, "the pages do have links: {n_links}");
}

#[test]
fn links_of_the_book_stay_in_the_book() {
    for name in docs() {
        for (file, _) in links(&name) {
            assert!(file.starts_with("docs"), "{name} links to {}: a site has no such page", file.display());
        }
    }
}

#[test]
fn every_page_of_the_docs_is_two_clicks_from_the_readme_and_in_the_summary() {
    let pages_of = |name: &str| -> BTreeSet<String> {
        links(name).into_iter().map(|(file, _)| file.to_str().unwrap().to_owned()).collect()
    };
    let one_click = pages_of("README.md");
    let is_page = |name: &&String| name.ends_with(".md");
    let two_clicks: BTreeSet<String> =
        one_click.iter().filter(is_page).flat_map(|name| pages_of(name)).collect();
    let summary = pages_of("docs/SUMMARY.md");
    let mut n_pages = 0;
    for name in docs() {
        if name == "docs/SUMMARY.md" {
            continue;
        }
        assert!(one_click.contains(&name) || two_clicks.contains(&name), "{name} takes more than two clicks");
        assert!(summary.contains(&name), "{name} is not in docs/SUMMARY.md");
        n_pages += 1;
    }
    assert!(n_pages >= 15, "{n_pages}");
}

#[test]
fn the_readme_has_at_most_150_lines() {
    let n_lines = page("README.md").lines().count();
    assert!(n_lines <= 150, "the README has {n_lines} lines");
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
fn pages_have_only_blocks_that_a_test_looks_at() {
    let known = ["console", "toml", "rust", "rust,no_run", "sh", "text", "python"];
    for name in ["README.md".to_owned()].into_iter().chain(docs()) {
        for (language, _) in blocks(&page(&name)) {
            assert!(known.contains(&language), "{name} has a block of `{language}`");
            let is_rust = language.starts_with("rust");
            let is_of_python = name == "README.md" || name.starts_with("docs/python");
            assert!(language != "python" || is_of_python, "{name}: python/tests runs docs/python*.md only");
            assert!(
                !is_rust || name == "docs/library.md",
                "{name}: only docs/library.md is run as doc tests"
            );
        }
    }
}

/// One command of a page, and what the page says that it prints.
struct Told {
    command: String,
    output: String,
}

/// The commands of a block: lines that begin with `$ `, and what follows each.
fn told(block: &str) -> Vec<Told> {
    let mut all: Vec<Told> = Vec::new();
    for line in block.lines() {
        match line.strip_prefix("$ ") {
            Some(command) => all.push(Told { command: command.to_owned(), output: String::new() }),
            None => {
                let last =
                    all.last_mut().unwrap_or_else(|| panic!("a block begins without a command: {line}"));
                last.output.push_str(&format!("{line}\n"));
            }
        }
    }
    all
}

/// A fresh copy of the bundled examples, without what somebody has released there.
fn fresh_copy() -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    let mut open = vec!["examples".to_owned()];
    while let Some(below) = open.pop() {
        std::fs::create_dir_all(copy.path().join(&below)).unwrap();
        for entry in std::fs::read_dir(project().join(&below)).unwrap() {
            let entry = entry.unwrap();
            let name = format!("{below}/{}", entry.file_name().into_string().unwrap());
            let is_made = [".release.csv", ".incog.json", "incog.key"].iter().any(|end| name.ends_with(end));
            match entry.path().is_dir() {
                true if name.ends_with("/release") => {}
                true => open.push(name),
                false if is_made => {}
                false => drop(std::fs::copy(entry.path(), copy.path().join(&name)).unwrap()),
            }
        }
    }
    copy
}

/// What the commands of a page need to know: of the page about PostgreSQL where the server is. Nothing where there is none.
#[cfg(unix)]
fn variables(name: &str) -> Option<Vec<(&'static str, String)>> {
    if name != "docs/engines.md" {
        return Some(Vec::new());
    }
    let url = std::env::var("INCOG_POSTGRES").unwrap_or_default();
    let Some((user, place)) = url.strip_prefix("postgresql://").and_then(|rest| rest.split_once('@')) else {
        skipped("INCOG_POSTGRES names no server; `.ci/postgres start FOLDER PORT` starts one");
        return None;
    };
    let (host, port) = place.split('/').next()?.split_once(':')?;
    let variables = [("PGHOST", host), ("PGPORT", port), ("PGUSER", user), ("PGDATABASE", "postgres")];
    // The page begins with an empty server.
    let variables: Vec<_> = variables.map(|(name, value)| (name, value.to_owned())).to_vec();
    let drop = Command::new("dropdb").args(["--if-exists", "clinic"]).envs(variables.clone()).output();
    if drop.is_err() {
        skipped("the commands of PostgreSQL's clients are not installed");
        return None;
    }
    Some(variables)
}

/// Runs the commands of a page, and says how many there were.
#[cfg(unix)]
fn walk(name: &str) -> usize {
    let Some(variables) = variables(name) else { return 0 };
    let copy = fresh_copy();
    let binary = Path::new(env!("CARGO_BIN_EXE_incog")).parent().unwrap();
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap());
    let mut folder = copy.path().to_owned();
    let mut n_commands = 0;
    let text = page(name);
    let shown = blocks(&text).into_iter().filter(|(language, _)| *language == "console");
    for Told { command, output } in shown.flat_map(|(_, block)| told(&block)) {
        if ELSEWHERE.iter().any(|(known, _)| *known == command) {
            continue;
        }
        let command = command.replace("cargo run --release -- ", "incog ");
        assert!(
            !command.contains("cargo ") && !command.contains(".ci/"),
            "{name}: not run by a test: {command}"
        );
        let script =
            format!("exec 2>&1; {command}\ncode=$?; pwd > '{}/.folder'; exit $code", copy.path().display());
        let ran = Command::new("sh")
            .args(["-c", &script])
            .env("PATH", &path)
            .envs(variables.clone())
            .current_dir(&folder)
            .output();
        let ran = ran.unwrap();
        let actual = String::from_utf8(ran.stdout).unwrap();
        let wanted = match &output {
            told if told.lines().any(|line| line.starts_with("error:")) => 2,
            told if told.contains("  FAIL  ") => 1,
            _ => 0,
        };
        assert_eq!(ran.status.code(), Some(wanted), "{name}: `{command}` says\n{actual}");
        if !output.is_empty()
            && let Err(line) = is_shortened(&untimed(output.trim_end()), &untimed(actual.trim_end()))
        {
            panic!("{name}: `{command}` does not print\n{line}\nbut\n{actual}");
        }
        folder = std::fs::read_to_string(copy.path().join(".folder")).unwrap().trim_end().into();
        n_commands += 1;
    }
    n_commands
}

#[test]
#[cfg(unix)]
fn every_command_of_the_readme_prints_what_the_readme_says() {
    assert!(walk("README.md") >= 3);
}

#[test]
#[cfg(unix)]
fn every_command_of_the_guide_prints_what_the_guide_says() {
    assert!(walk("docs/guide.md") > 10);
}

#[test]
#[cfg(unix)]
fn every_command_of_the_page_on_engines_prints_what_the_page_says() {
    let n_commands = walk("docs/engines.md");
    assert!(n_commands == 0 || n_commands > 8, "{n_commands}");
}

#[test]
#[cfg(unix)]
fn every_command_of_the_other_pages_prints_what_the_page_says() {
    let n_commands: usize = docs()
        .iter()
        .filter(|name| !["docs/guide.md", "docs/engines.md"].contains(&name.as_str()))
        .map(|name| walk(name))
        .sum();
    assert!(n_commands > 20, "{n_commands}");
}

#[test]
fn commands_that_take_too_long_for_a_test_exist() {
    let mut seen = BTreeMap::new();
    for name in all_pages() {
        for (language, block) in blocks(&page(&name)) {
            if language == "sh" {
                seen.extend(block.lines().map(|line| (line.to_owned(), name.clone())));
            }
        }
    }
    assert!(seen.len() > 10);
    for (line, name) in seen {
        let words = line.split('#').next().unwrap().split_whitespace();
        // Settings of the environment come before the command.
        let words: Vec<&str> = words.skip_while(|word| word.contains('=')).collect();
        let after = |flag: &str| words.iter().position(|word| *word == flag).map(|at| words[at + 1]);
        match words[..] {
            ["python3", script, ..] => {
                assert!(project().join(script).exists(), "{name}: {line}");
                // Some look for what they measure before they look at their arguments: only whether it is Python is asked.
                let parse = "import ast, sys; ast.parse(open(sys.argv[1]).read())";
                let Ok(parsed) =
                    Command::new("python3").args(["-c", parse]).arg(project().join(script)).output()
                else {
                    return skipped("needs python3");
                };
                assert!(
                    parsed.status.success(),
                    "{name}: {script}: {}",
                    String::from_utf8_lossy(&parsed.stderr)
                );
            }
            ["cargo", "run" | "bench", ..] => {
                let package = after("-p").unwrap_or_else(|| panic!("{name}: {line}"));
                let folder =
                    if package == "incog-bench" { "bench".into() } else { format!("crates/{package}") };
                assert!(project().join(&folder).join("Cargo.toml").exists(), "{name}: {line}");
                if let Some(example) = after("--example") {
                    let path = format!("{folder}/examples/{example}.rs");
                    assert!(project().join(path).exists(), "{name}: {line}");
                }
            }
            // `.ci/run python` does both.
            ["pip", "install", package] => {
                let folder = package.trim_matches('\'').split('[').next().unwrap();
                assert!(project().join(folder).join("pyproject.toml").exists(), "{name}: {line}");
            }
            ["pytest", folder] => {
                assert!(project().join(folder).join("tests").is_dir(), "{name}: {line}");
            }
            _ => panic!("{name}: this test does not know what to make of {line}"),
        }
    }
}

#[test]
fn every_job_in_a_page_is_one() {
    let base: toml::Table = toml::from_str(
        "[input]\npath = \"t.csv\"\n[policy]\nk = 5\n[columns.disease]\nrole = \"sensitive\"\n\
         [columns.salary]\nrole = \"sensitive\"\n",
    )
    .unwrap();
    let mut n_jobs = 0;
    for name in ["README.md".to_owned()].into_iter().chain(docs()) {
        for (language, block) in blocks(&page(&name)) {
            if language != "toml" {
                continue;
            }
            let text = match block.contains("[input]") || block.contains("[database]") {
                true => block,
                // A part of a job: with what else a job needs.
                false => {
                    let part: toml::Table =
                        toml::from_str(&block).unwrap_or_else(|error| panic!("{name}: {error}"));
                    toml::to_string(&completed(part, &base)).unwrap()
                }
            };
            let parsed = match text.contains("[database]") {
                true => incog::DatabaseJob::parse(&text).map(drop),
                false => incog::Job::parse(&text).map(drop),
            };
            parsed.unwrap_or_else(|error| panic!("{name}: {error}\n{text}"));
            n_jobs += 1;
        }
    }
    assert!(n_jobs >= 6, "{n_jobs}");
}

/// A table with what it lacks of another.
fn completed(mut part: toml::Table, base: &toml::Table) -> toml::Table {
    for (key, value) in base {
        match (part.get_mut(key), value) {
            (None, value) => drop(part.insert(key.clone(), value.clone())),
            (Some(toml::Value::Table(below)), toml::Value::Table(base)) => {
                *below = completed(below.clone(), base);
            }
            (Some(_), _) => {}
        }
    }
    part
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
fn links_and_blocks_are_found() {
    assert_eq!(anchor("Orders: `ordered-set` and `mondrian`"), "orders-ordered-set-and-mondrian");
    assert_eq!(plain(Path::new("docs/reference/../a.md")), Path::new("docs/a.md"));
    let text = "a\n```toml\nk = 1\n```\nb [c](d)\n```console\n$ x\ny\n$ z\n```\n";
    let found = blocks(text);
    assert_eq!(found.len(), 2);
    assert_eq!((found[0].0, found[0].1.as_str()), ("toml", "k = 1\n"));
    let commands = told(&found[1].1);
    assert_eq!((commands[0].command.as_str(), commands[0].output.as_str()), ("x", "y\n"));
    assert_eq!((commands[1].command.as_str(), commands[1].output.as_str()), ("z", ""));
    assert!(prose(text).contains("[c](d)") && !prose(text).contains("$ x"));
}
