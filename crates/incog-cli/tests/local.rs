//! Local recoding as a way to publish: `algorithm = "top-down"` from the job to the record, and every way to check it.

mod folder;

use std::collections::{BTreeMap, BTreeSet};
use std::process::{Command, Stdio};

use folder::{Folder, Said};
use incog_testkit::data::{csv_rows, project};

const RECORD: &str = "release.csv.incog.json";
const ANONYMIZE: [&str; 2] = ["anonymize", "incog.toml"];
const QI: [&str; 3] = ["age", "sex", "zip"];

/// The usual folder with a job that asks for local recoding.
fn local() -> Folder {
    let folder = Folder::new();
    folder.replace("incog.toml", "[columns.age]", "[search]\nalgorithm = \"top-down\"\n[columns.age]");
    folder
}

/// What `anonymize` says of the job, which must be published.
fn released() -> (Folder, Said) {
    let folder = local();
    let said = folder.done(&ANONYMIZE);
    said.has_no_cell();
    (folder, said)
}

/// Every way to check a release with its record.
const CHECKS: [&[&str]; 4] = [
    &["verify", "release.csv", "--job", "incog.toml"],
    &["verify", "release.csv", "--record", RECORD],
    &["verify", "release.csv", "--record", RECORD, "--job", "incog.toml"],
    &["verify", "release.csv", "--record", RECORD, "--job", "incog.toml", "--key", "incog.key"],
];

fn checked(folder: &Folder) {
    for check in CHECKS {
        let said = folder.done(check);
        assert!(!said.stdout.contains("FAIL"), "{said:?}");
        said.has_no_cell();
    }
}

/// The hierarchies of the usual folder: each value's labels by level.
fn paths(folder: &Folder, column: &str) -> BTreeMap<String, Vec<String>> {
    if column == "sex" {
        return ["f", "m"].map(|sex| (sex.to_owned(), vec![sex.to_owned(), "*".to_owned()])).into();
    }
    let rows = csv_rows(&folder.path(&format!("hierarchies/{column}.csv")), b';');
    rows.into_iter().map(|path| (path[0].clone(), path)).collect()
}

#[test]
fn every_cell_is_an_ancestor_of_its_own_and_every_group_has_k_rows() {
    let (folder, _) = released();
    let (input, output) =
        (csv_rows(&folder.path("data.csv"), b','), csv_rows(&folder.path("release.csv"), b','));
    assert_eq!(output.len(), input.len(), "nothing is suppressed, though some rows might be");
    assert_eq!(output[0], ["age", "sex", "zip", "ill"]);
    let mut levels: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
    for name in QI {
        let paths = paths(&folder, name);
        let at = |header: &[String]| header.iter().position(|column| column == name).unwrap();
        for (collected, released) in input.iter().zip(&output).skip(1) {
            let path = &paths[&collected[at(&input[0])]];
            let level = path.iter().position(|label| *label == released[at(&output[0])]);
            levels.entry(name).or_default().insert(level.unwrap_or_else(|| panic!("{name}: no ancestor")));
        }
    }
    assert!(levels.values().any(|levels| levels.len() > 1), "rows of one column at different levels");
    assert!(folder.smallest_group("release.csv", &QI) >= 5);
    checked(&folder);
}

#[test]
fn the_summary_says_how_many_rows_stand_where_and_what_it_cost() {
    let (folder, said) = released();
    for part in [
        "60 rows released, 0 suppressed",
        "  age: ",
        "as collected ",
        " %",
        "(highest level 3, distortion 0.",
        " groups: median ",
        "\ndistortion 0.",
        ", loss 0.",
        "pass  5-anonymity",
        "pass  every released row can be assigned an input row of its own, generalized cell by cell",
        "ill: alpha",
    ] {
        assert!(said.stderr.contains(part), "no `{part}` in: {}", said.stderr);
    }
    let full_domain =
        folder.done(&["anonymize", "incog.toml", "--algorithm", "incognito", "-o", "other.csv"]);
    let loss = |said: &Said| -> f64 {
        let after = said.stderr.split("loss ").nth(1).unwrap();
        after.split_whitespace().next().unwrap().parse().unwrap()
    };
    assert!(loss(&said) < loss(&full_domain), "{said:?} {full_domain:?}");
}

#[test]
fn the_record_has_the_levels_by_rows_and_no_seed() {
    let folder = local();
    folder.done(&["anonymize", "incog.toml", "--seed", "748291"]);
    let (record, rows) = (folder.json(RECORD), csv_rows(&folder.path("release.csv"), b','));
    let local = &record["local"];
    assert_eq!(local["algorithm"], "top-down");
    assert_eq!(local["seed_hmac_sha256"].as_str().unwrap().len(), 64);
    assert!(!folder.read(RECORD).contains("748291"), "a seed that is published is worth nothing");
    assert_eq!(record["levels"], serde_json::json!({}));
    let mut total = 0.0;
    for name in QI {
        let at = rows[0].iter().position(|column| column == name).unwrap();
        let paths = paths(&folder, name);
        let mut expected: BTreeMap<u64, u64> = BTreeMap::new();
        for row in &rows[1..] {
            let level = paths.values().find_map(|path| path.iter().position(|label| *label == row[at]));
            *expected.entry(level.unwrap() as u64).or_default() += 1;
        }
        let found: BTreeMap<u64, u64> =
            serde_json::from_value(local["columns"][name]["rows"].clone()).map(pairs).unwrap();
        assert_eq!(found, expected, "{name}");
        let climbed: u64 = expected.iter().map(|(level, rows)| level * rows).sum();
        let height = paths.values().next().unwrap().len() as u64 - 1;
        let distortion = climbed as f64 / (60 * height) as f64;
        assert_eq!(local["columns"][name]["distortion"], format!("{distortion:.9}"), "{name}");
        total += climbed as f64;
    }
    // Heights 3, 1 and 2.
    assert_eq!(record["scores"]["distortion"], format!("{:.9}", total / (60.0 * 6.0)));
}

fn pairs(list: Vec<(u64, u64)>) -> BTreeMap<u64, u64> {
    list.into_iter().collect()
}

#[test]
fn a_record_of_other_data_or_of_another_job_is_refused() {
    let (folder, _) = released();
    let (job, data) = (folder.read("incog.toml"), folder.read("data.csv"));
    folder.replace("incog.toml", "k = 5", "k = 4");
    let said = folder.run(CHECKS[2]);
    assert_eq!(said.code, Some(1), "{said:?}");
    folder.write("incog.toml", job.replace("\"top-down\"", "\"incognito\""));
    let said = folder.run(CHECKS[2]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.stdout.contains("FAIL  the record is what"), "{said:?}");
    folder.write("incog.toml", job.replace("\"top-down\"", "\"top-down\"\nseed = 3"));
    let said = folder.run(CHECKS[3]);
    assert!(said.stdout.contains("local.seed_hmac_sha256"), "{said:?}");
    assert_eq!(said.code, Some(1));
    folder.write("incog.toml", job);
    folder.write("data.csv", data.replace("Person-59,49", "Person-59,20"));
    let said = folder.run(CHECKS[3]);
    assert_eq!(said.code, Some(1), "{said:?}");
}

#[test]
fn tampered_cells_fail_and_the_row_is_named() {
    let (folder, _) = released();
    let rows = csv_rows(&folder.path("release.csv"), b',');
    // Any cell of a quasi-identifier by a label that is no ancestor of what stood there, and a value that nobody has.
    for (at, label) in [(0, "59"), (0, "no such label"), (1, "x"), (2, "99999"), (3, "nothing")] {
        let mut broken = rows.clone();
        assert_ne!(broken[1][at], label);
        broken[1][at] = label.to_owned();
        let lines: Vec<String> = broken.iter().map(|row| row.join(",")).collect();
        folder.write("broken.csv", lines.join("\n") + "\n");
        for check in &CHECKS[..3] {
            let mut check = check.to_vec();
            check[1] = "broken.csv";
            let said = folder.run(&check);
            assert_eq!(said.code, Some(1), "{label}: {said:?}");
            assert!(said.stdout.contains("FAIL"), "{said:?}");
        }
        let said = folder.run(&["verify", "broken.csv", "--job", "incog.toml"]);
        let claim = "FAIL  every released row can be assigned an input row of its own";
        assert!(said.stdout.contains(claim), "{said:?}");
    }
    // A row that is not there any more, and one that is there twice.
    let text = folder.read("release.csv");
    let (first, _) = text.rsplit_once('\n').unwrap().0.rsplit_once('\n').unwrap();
    folder.write("broken.csv", format!("{first}\n"));
    assert_eq!(folder.run(&["verify", "broken.csv", "--record", RECORD]).code, Some(1));
    let last = text.trim_end().rsplit_once('\n').unwrap().1;
    folder.write("broken.csv", format!("{text}{last}\n"));
    assert_eq!(folder.run(&["verify", "broken.csv", "--job", "incog.toml"]).code, Some(1));
}

#[test]
fn runs_are_the_same_to_the_byte_whatever_the_threads_and_seeds_can_be_repeated() {
    let folder = local();
    folder.write("data.csv", folder::people(0..400));
    let made = |more: &[&str], output: &str| {
        folder.done(&[&ANONYMIZE[..], more, &["-o", output]].concat());
        folder.read(output)
    };
    let first = made(&[], "a.csv");
    for threads in ["1", "2", "7"] {
        assert_eq!(made(&["--threads", threads], "b.csv"), first, "{threads} threads");
    }
    let seeded = made(&["--seed", "7"], "c.csv");
    assert_eq!(made(&["--seed", "7", "--threads", "2"], "d.csv"), seeded);
    assert!((0..20).any(|seed| made(&["--seed", &seed.to_string()], "e.csv") != first), "seeds do nothing");
    folder.done(&["verify", "c.csv", "--job", "incog.toml"]);
    let job = folder.read("incog.toml");
    folder.write("incog.toml", job.replace("\"top-down\"", "\"top-down\"\nseed = 7"));
    assert_eq!(made(&[], "f.csv"), seeded, "as flag or in the job");
    folder.write("incog.toml", job.replace("order = \"input\"", "order = \"shuffle\""));
    assert_ne!(made(&[], "g.csv"), first, "in their old order by chance: less than 1 in a million");
    folder.done(&["verify", "g.csv", "--job", "incog.toml"]);
    folder.done(&["verify", "g.csv", "--record", "g.csv.incog.json", "--job", "incog.toml"]);
    let sorted = |file: &str| folder.counted_rows(file);
    assert_eq!(sorted("g.csv"), sorted("a.csv"));
}

#[test]
fn persons_are_counted_where_they_have_several_rows() {
    let folder = local();
    // Each person has three rows, mostly alike.
    let people = folder::people(0..60);
    let rows = people.lines().skip(1).flat_map(|row| [row, row, row]);
    let data: Vec<&str> = people.lines().take(1).chain(rows).collect();
    folder.write("data.csv", data.join("\n") + "\n");
    folder.replace("incog.toml", "k = 5", "k = 5\nunit = \"name\"");
    let said = folder.done(&ANONYMIZE);
    assert!(said.stderr.contains("pass  every group has at least 5 persons (name)"), "{said:?}");
    // Rows of one person may be in different groups; each has five persons.
    assert!(folder.smallest_group("release.csv", &QI) >= 5);
    let record = folder.json(RECORD);
    assert!(record["claims"]["fewest_persons"].as_u64().unwrap() >= 5);
    checked(&folder);
    let said = folder.done(CHECKS[0]);
    assert!(said.stdout.contains("pass  every group has at least 5 persons (name)"), "{said:?}");

    // Rows of other persons, which nobody can tell from those released: only the search that made it knows.
    let with_rows = folder.read("release.csv");
    folder.replace("incog.toml", "unit = \"name\"\n", "");
    folder.done(&["anonymize", "incog.toml", "-o", "rows.csv"]);
    folder.replace("incog.toml", "k = 5\n", "k = 5\nunit = \"name\"\n");
    assert_ne!(folder.read("rows.csv"), with_rows);
    let said = folder.run(&["verify", "rows.csv", "--job", "incog.toml"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.stdout.contains("FAIL  every group has at least 5 persons (name)"), "{said:?}");
}

#[test]
fn nothing_is_written_where_even_the_top_breaks_the_policy() {
    let folder = local();
    let parts = ["nothing satisfies the policy", "60 of 60 rows would have to be suppressed (100.0 %)"];
    folder.ends_with(1, &["anonymize", "incog.toml", "-k", "61"], &parts);
    folder.done(&["anonymize", "incog.toml", "-k", "60"]);
    checked_with_k(&folder, "60");
}

fn checked_with_k(folder: &Folder, k: &str) {
    folder.done(&["verify", "release.csv", "--qi", "age,sex,zip", "-k", k]);
}

#[test]
fn a_file_without_rows_is_refused_as_ever() {
    let folder = local();
    folder.write("data.csv", "name,age,sex,zip,ill\n");
    folder.refused(&ANONYMIZE, &["has a header and no rows"]);
    folder.write("data.csv", "");
    folder.refused(&ANONYMIZE, &["data.csv"]);
}

#[test]
fn rows_that_even_the_top_does_not_protect_are_suppressed_within_the_budget() {
    let folder = local();
    // A hierarchy with two tops: far away is far away.
    folder.write(
        "hierarchies/zip.csv",
        "10100;1010*;near\n10101;1010*;near\n10102;1010*;near\n10103;1010*;near\n99999;9999*;far\n",
    );
    let said = folder.done(&ANONYMIZE);
    assert!(said.stderr.contains("59 rows released, 1 suppressed"), "{said:?}");
    checked(&folder);
    folder.ends_with(
        1,
        &["anonymize", "incog.toml", "--suppression", "0", "-o", "other.csv"],
        &["1 of 60 rows would have to be suppressed"],
    );
}

#[test]
fn settings_that_mean_nothing_are_refused_by_name() {
    let folder = local();
    for (key, value) in [("checker", "scan"), ("marking", "direct")] {
        let flag = format!("--{key}");
        let parts = [format!("`{key}` is for full-domain algorithms"), "leave it out".to_owned()];
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        folder.refused(&["anonymize", "incog.toml", &flag, value], &parts);
    }
    folder.refused(
        &["anonymize", "incog.toml", "--decide", "k-only"],
        &["`decide` is for full-domain algorithms", "leave it out"],
    );
    let job = folder.read("incog.toml");
    for setting in ["memory = \"1 GiB\"", "cube_levels = \"zero-level\"", "bitmap_pruning = true"] {
        let key = setting.split(' ').next().unwrap();
        folder.write("incog.toml", job.replace("[search]", &format!("[search]\n{setting}")));
        folder.refused(&ANONYMIZE, &["line 10 of", &format!("`{key}` is for full-domain algorithms")]);
    }
    folder.write("incog.toml", job.replace("[search]", "[search]\nseed = -1"));
    folder.refused(&ANONYMIZE, &["`search.seed` is negative"]);
    folder.write("incog.toml", &job);
    folder.refused(
        &["anonymize", "incog.toml", "--algorithm", "incognito", "--seed", "7"],
        &["`seed` is for searches that draw lots", "\"genetic\" or \"ordered-set\" or \"top-down\""],
    );
    folder.refused(
        &["anonymize", "incog.toml", "--algorithm", "topdown"],
        &["unknown algorithm `topdown`; did you mean `top-down`?", "full-subtree", "top-down"],
    );
    // These only measure.
    folder.write(
        "incog.toml",
        job.replace("[search]", "[search]\nmetric = \"precision\"\nweights = { sex = 3 }"),
    );
    let said = folder.done(&ANONYMIZE);
    assert!(said.stderr.contains(", precision 0."), "{said:?}");
    checked(&folder);
}

#[test]
fn there_is_nothing_to_list_and_nothing_to_replay() {
    let (folder, _) = released();
    folder.refused(
        &["search", "incog.toml"],
        &["there are no generalizations to list", "hint: use `incog anonymize`, or a full-domain algorithm"],
    );
    folder.refused(
        &["anonymize", "--replay", RECORD, "data.csv", "-o", "again.csv"],
        &["a local recoding cannot be replayed", "incog anonymize JOB --input DATA"],
    );
}

#[test]
fn it_is_listed_and_explained() {
    let folder = Folder::new();
    let listed = folder.done(&["list"]).stdout;
    assert!(listed.contains("local recoding\n  top-down "), "{listed}");
    let explained = folder.done(&["explain", "top-down"]).stdout;
    assert!(explained.starts_with("top-down\nkind: algorithm for local recoding\n"), "{explained}");
    for part in ["seed", "435*", "prefer a full-domain"] {
        assert!(explained.to_lowercase().contains(part), "{part}");
    }
    assert!(folder.done(&["explain", "distortion"]).stdout.contains("0.125"));
}

/// Tables 5 and 6 of Wong, Li, Fu, Wang (KDD 2006), as far as the text says them.
#[test]
fn the_postcodes_of_the_paper_become_4351_twice_and_435_star_twice() {
    let folder = Folder::new();
    folder.write("postcodes.csv", "postcode,illness\n4351,HIV\n4351,flu\n4351,fever\n4352,HIV\n");
    let flags = ["--qi", "postcode", "--sensitive", "illness", "-k", "2", "--order", "input"];
    let more =
        ["--hierarchy", "postcode={ mask = \"right\" }", "--algorithm", "top-down", "-o", "release.csv"];
    let said = folder.done(&[&["anonymize", "postcodes.csv"][..], &flags, &more].concat());
    assert_eq!(folder.read("release.csv"), "postcode,illness\n4351,HIV\n4351,flu\n435*,fever\n435*,HIV\n");
    assert!(
        said.stderr.contains(
            "postcode: as collected 50.0 %; first 3 digits 50.0 % (highest level 4, distortion 0.1250)"
        ),
        "{said:?}"
    );
    assert!(said.stderr.contains("\n2 groups: median 2 rows"), "{said:?}");
    assert!(said.stderr.contains("\ndistortion 0.1250, loss"), "{said:?}");
    folder.done(&["verify", "release.csv", "--record", RECORD]);
}

/// Table 1 of the paper, as we filled it in: see `testdata/cases/wong-table1.toml`.
/// The patients of the paper, with a job that requires `models` besides k = 2.
fn patients(models: &str) -> Folder {
    let folder = Folder::new();
    folder.write(
        "data.csv",
        "job,birth,postcode,illness\nCat1,1975,4350,HIV\nCat1,1955,4350,HIV\nCat1,1955,5432,flu\n\
         Cat2,1955,5432,fever\nCat2,1975,4350,flu\nCat2,1975,4350,fever\n",
    );
    folder.write(
        "incog.toml",
        format!(
            "[input]\npath = \"data.csv\"\n[output]\npath = \"release.csv\"\norder = \"input\"\n[policy]\nk = 2\n{models}\
             [search]\nalgorithm = \"top-down\"\n[columns]\njob.role = \"quasi-identifier\"\n\
             birth.role = \"quasi-identifier\"\n\
             postcode = {{ role = \"quasi-identifier\", hierarchy = {{ mask = \"right\" }} }}\nillness.role = \"sensitive\"\n"
        ),
    );
    folder
}

#[test]
fn the_patients_of_the_paper_are_released_by_job() {
    let folder = patients("");
    folder.done(&ANONYMIZE);
    // Each column would specialize all six rows into two branches, so the first is taken: three rows each. One step
    // further, by birth or postcode, two rows stand against one, and none of the two can be spared for it.
    assert_eq!(
        folder.read("release.csv"),
        "job,birth,postcode,illness\nCat1,*,*,HIV\nCat1,*,*,HIV\nCat1,*,*,flu\nCat2,*,*,fever\nCat2,*,*,flu\n\
         Cat2,*,*,fever\n"
    );
    checked(&folder);
}

#[test]
fn a_required_model_holds_in_every_group_and_is_checked_again() {
    let alpha =
        "[[policy.require]]\nmodel = \"alpha-k\"\nsensitive = \"illness\"\nalpha = 0.5\nvalues = [\"HIV\"]\n";
    let folder = patients(alpha);
    folder.done(&ANONYMIZE);
    checked(&folder);
    let mut groups: BTreeMap<Vec<String>, (usize, usize)> = BTreeMap::new();
    for row in csv_rows(&folder.path("release.csv"), b',').into_iter().skip(1) {
        let (ill, all) = groups.entry(row[..3].to_vec()).or_default();
        *ill += usize::from(row[3] == "HIV");
        *all += 1;
    }
    assert!(groups.len() > 1, "more than the fully generalized table");
    assert!(groups.values().all(|(ill, all)| *all >= 2 && 2 * ill <= *all), "{groups:?}");
    folder.write("release.csv", folder.read("release.csv").replace("fever", "HIV"));
    assert_eq!(folder.run(CHECKS[0]).code, Some(1), "half of some group is exceeded now");
    // A third has it in the whole table.
    folder.replace("incog.toml", "alpha = 0.5", "alpha = 0.3");
    folder.refused(&ANONYMIZE, &["2 of 6"]);
}

/// The bundled example: dates, masks with levels ruled out, intervals, persons with several stays.
#[test]
fn the_example_is_released_with_less_distortion_than_by_whole_columns() {
    let folder = Folder::new();
    let example =
        |file: &str| std::fs::read_to_string(project().join("examples/hospital").join(file)).unwrap();
    folder.write("discharges.csv", example("discharges.csv"));
    folder
        .write("incog.toml", example("incog.toml").replace("[search]", "[search]\nalgorithm = \"top-down\""));
    let said = folder.done(&[&ANONYMIZE[..], &["-o", "release.csv"]].concat());
    assert!(said.stderr.contains("pass  every group has at least 5 persons (patient_id)"), "{said:?}");
    checked(&folder);
    folder.done(&["anonymize", "incog.toml", "--algorithm", "incognito", "-o", "other.csv"]);
    let distortion = |record: &str| -> f64 {
        folder.json(record)["scores"]["distortion"].as_str().unwrap().parse().unwrap()
    };
    assert!(
        distortion(RECORD) < distortion("other.csv.incog.json"),
        "{} {}",
        distortion(RECORD),
        distortion("other.csv.incog.json")
    );
    // No level that the job rules out.
    let record = folder.json(RECORD);
    for (column, allowed) in [("zip_code", vec![0, 2, 5]), ("admission_date", vec![1, 2, 3, 4])] {
        let rows: Vec<(u64, u64)> =
            serde_json::from_value(record["local"]["columns"][column]["rows"].clone()).unwrap();
        assert!(rows.iter().all(|(level, _)| allowed.contains(level)), "{column}: {rows:?}");
    }
}

/// Ended by a signal while it reads from a pipe that stays open: nothing is written.
#[test]
fn a_signal_ends_the_run_and_leaves_nothing() {
    let folder = local();
    folder.replace("incog.toml", "path = \"data.csv\"", "path = \"-\"");
    let before = folder.files();
    let mut child = folder.command(&ANONYMIZE).stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let data = folder.read("data.csv");
    // Only what the process has read tells that its handler is in place: more than a pipe holds.
    for _ in 0..200 {
        std::io::Write::write_all(&mut stdin, data.as_bytes()).unwrap();
    }
    let killed = Command::new("kill").arg("-TERM").arg(child.id().to_string()).status().unwrap();
    assert!(killed.success());
    while std::io::Write::write_all(&mut stdin, data.as_bytes()).is_ok() {}
    let said = Said::new(&child.wait_with_output().unwrap());
    said.failed(143, &["error: cancelled"]);
    assert_eq!(folder.files(), before);
}

#[cfg(feature = "parquet")]
mod parquet_files {
    use std::fs::File;
    use std::sync::Arc;

    use arrow_array::{ArrayRef, Int64Array, RecordBatch};
    use arrow_schema::DataType;
    use parquet::arrow::ArrowWriter;
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

    use super::*;

    #[test]
    fn a_column_keeps_its_type_only_if_every_row_is_as_collected() {
        let folder = Folder::new();
        let column = |value: fn(i64) -> i64| -> ArrayRef {
            Arc::new(Int64Array::from_iter_values((0..40).map(value)))
        };
        // Two groups of twenty, and three ages that stand once: some rows of `age` stay, some do not.
        let age = column(|n| if n < 37 { 30 + n % 2 } else { 50 + n });
        let batch = RecordBatch::try_from_iter([("age", age), ("ward", column(|n| n % 2))]).unwrap();
        let file = File::create(folder.path("typed.parquet")).unwrap();
        let mut writer = ArrowWriter::try_new(file, batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        folder.write(
            "incog.toml",
            "[input]\npath = \"typed.parquet\"\n[output]\npath = \"release.parquet\"\n[policy]\nk = 3\n[search]\n\
             algorithm = \"top-down\"\n[columns]\nage.role = \"quasi-identifier\"\nward.role = \"quasi-identifier\"\n",
        );
        folder.done(&ANONYMIZE);
        folder.done(&["verify", "release.parquet", "--job", "incog.toml"]);
        let record = "release.parquet.incog.json";
        folder.done(&["verify", "release.parquet", "--record", record, "--job", "incog.toml"]);
        let rows = |name: &str| folder.json(record)["local"]["columns"][name]["rows"].clone();
        let file = File::open(folder.path("release.parquet")).unwrap();
        let schema = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().schema().clone();
        for name in ["age", "ward"] {
            let is_as_collected = rows(name).as_array().unwrap().iter().all(|row| row[0] == 0);
            let wanted = if is_as_collected { DataType::Int64 } else { DataType::Utf8 };
            assert_eq!(schema.field_with_name(name).unwrap().data_type(), &wanted, "{name}");
        }
        assert_eq!(rows("age").as_array().unwrap().len(), 2, "{}", rows("age"));
    }
}
