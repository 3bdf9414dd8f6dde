//! What `init` proposes for twelve tables whose roles are known, and the table of hits in `docs/init.md`.

use std::fmt::Write as _;
use std::path::Path;

use incog::unstable::job::RoleJob;
use incog::{Anonymizer, FirstLine, Init, Job, Progress, Replace};
use incog_testkit::data::project;
use incog_testkit::described::{Described, Truth, tables};

fn described(table: &Described, folder: &Path) -> Init {
    let data = folder.join("data.csv");
    std::fs::write(&data, table.csv()).unwrap();
    Init::new(&data, Some(','), FirstLine::Unknown, &Progress::new()).unwrap()
}

/// Is this what whoever made the table would have written?
fn is_right(truth: Truth, role: RoleJob) -> bool {
    match truth {
        // A number of persons that repeats is dropped, whether or not it is the unit.
        Truth::Identifier | Truth::Person => role == RoleJob::Identifier,
        Truth::QuasiIdentifier => role == RoleJob::QuasiIdentifier,
        Truth::Sensitive => role == RoleJob::Sensitive,
        Truth::Other => role == RoleJob::Other,
    }
}

#[derive(Default)]
struct Hits {
    right: usize,
    decide: usize,
    wrong: Vec<String>,
}

fn hits(table: &Described, init: &Init) -> Hits {
    let mut hits = Hits::default();
    for ((name, truth), proposal) in table.columns.iter().zip(&init.proposals) {
        match proposal.role {
            role if is_right(*truth, role) => hits.right += 1,
            RoleJob::Decide => hits.decide += 1,
            role => hits.wrong.push(format!("`{name}` ({truth:?}) is {role:?}: {}", proposal.reason)),
        }
        if matches!(truth, Truth::Identifier | Truth::Person) {
            assert!(
                !matches!(proposal.role, RoleJob::Other | RoleJob::Sensitive),
                "{}: `{name}` names people and is {:?}",
                table.name,
                proposal.role
            );
        }
    }
    hits
}

#[test]
fn nine_in_ten_roles_are_right_or_left_open_and_nobody_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let mut page = String::new();
    let (mut n_columns, mut n_right, mut n_decide, mut wrong) = (0, 0, 0, Vec::new());
    let mut line = |name: &str, columns: usize, right: usize, decide: usize, wrong: usize| {
        writeln!(page, "| {name} | {columns} | {right} | {decide} | {wrong} |").unwrap();
    };
    for table in tables() {
        let hits = hits(&table, &described(&table, folder.path()));
        line(table.name, table.columns.len(), hits.right, hits.decide, hits.wrong.len());
        n_columns += table.columns.len();
        n_right += hits.right;
        n_decide += hits.decide;
        wrong.extend(hits.wrong.iter().map(|wrong| format!("{}: {wrong}", table.name)));
    }
    line("**all**", n_columns, n_right, n_decide, wrong.len());
    assert!(
        (n_right + n_decide) * 10 >= n_columns * 9,
        "{n_right} right, {n_decide} open of {n_columns}: {wrong:#?}"
    );
    // Leaving everything open would pass, too.
    assert!(n_right * 2 >= n_columns - 62, "{n_right} right of {n_columns}");
    check_page(&page);
}

/// The table in the docs is what was found.
fn check_page(found: &str) {
    const START: &str = "| table | columns | right | left open | wrong |\n|---|--:|--:|--:|--:|\n";
    let path = project().join("docs/init.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(START).expect("docs/init.md has the table of hits");
    let after = rest.split_once("\n\n").map_or("", |(_, after)| after);
    let anew = format!("{before}{START}{found}\n{after}");
    if std::env::var_os("INCOG_UPDATE").is_some() {
        std::fs::write(&path, &anew).unwrap();
    }
    assert!(
        anew == page || std::env::var_os("INCOG_UPDATE").is_some(),
        "docs/init.md is not current: INCOG_UPDATE=1\n{found}"
    );
}

#[test]
fn persons_are_found_and_proposed_as_the_unit() {
    let folder = tempfile::tempdir().unwrap();
    for (table, unit) in tables().iter().filter_map(|table| {
        let unit = table.columns.iter().find(|(_, truth)| *truth == Truth::Person)?;
        Some((table, &unit.0))
    }) {
        let init = described(table, folder.path());
        let job = init.to_toml(&folder.path().join("incog.toml"), 3).unwrap();
        assert!(job.contains(&format!("# unit = \"{unit}\"")), "{}: {job}", table.name);
    }
}

/// With its decisions made each proposed job runs, so every proposed hierarchy covers its column; no cell of five characters or more is in it.
#[test]
fn proposed_jobs_run_and_show_no_cell() {
    let folder = tempfile::tempdir().unwrap();
    for table in tables() {
        let init = described(&table, folder.path());
        let path = folder.path().join("incog.toml");
        init.write(&path, 3, Replace::Allowed).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let said = init.to_string();
        // Words such as `other` are the program's, too.
        let is_somebodys =
            |cell: &&String| cell.len() >= 5 && cell.contains(|c: char| c == ' ' || c.is_ascii_digit());
        for cell in table.rows.iter().flatten().filter(is_somebodys) {
            assert!(!text.contains(cell.as_str()) && !said.contains(cell.as_str()), "{}: {cell}", table.name);
        }
        // What is commented out under a column that waits is right, too.
        let decided = text
            .replace("role = \"decide\"\n# hierarchy", "role = \"quasi-identifier\"\nhierarchy")
            .replace("\"decide\"", "\"identifier\"");
        std::fs::write(&path, decided).unwrap();
        let job = Job::read(&path).unwrap();
        let plan = Anonymizer::from_job(job).check();
        assert!(plan.is_ok(), "{}: {:?}", table.name, plan.err());
    }
}

#[test]
fn a_wide_table_needs_few_decisions() {
    let folder = tempfile::tempdir().unwrap();
    let table = tables().into_iter().find(|table| table.columns.len() == 68).unwrap();
    let init = described(&table, folder.path());
    assert!(init.n_undecided() >= 50, "{}", init.n_undecided());
    assert!(init.n_decisions() <= 6, "{}", init.n_decisions());
    let text = init.to_toml(&folder.path().join("incog.toml"), 3).unwrap();
    assert!(text.contains("[columns.\"e*\"]") && text.contains("[columns.\"p*\"]"), "{text}");
}
