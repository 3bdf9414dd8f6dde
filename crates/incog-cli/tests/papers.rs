//! What a reader of the papers looks for, by commands and jobs.

mod folder;

use folder::{Folder, Said};
use incog_testkit::data::project;
use serde_json::Value;

/// `incog search` of the paper's Patients table.
fn patients(flags: &[&str]) -> Said {
    let job = project().join("examples/patients/incog.toml");
    Folder::empty().run(&[&["search", job.to_str().unwrap()], flags].concat())
}

fn json(said: &Said) -> Value {
    assert_eq!(said.stderr, "");
    serde_json::from_str(&said.stdout).unwrap()
}

#[test]
fn a_column_at_one_label_is_grouped_where_the_job_says_so() {
    let run = |what: &str| {
        let report = json(&patients(&[
            "--algorithm",
            "incognito",
            "--checker",
            "roll-up",
            "--one-label",
            what,
            "--format",
            "json",
        ]));
        (report["nodes_checked"].as_u64().unwrap(), report["nodes_grouped"].as_u64().unwrap())
    };
    let (checked, grouped) = run("take-over");
    assert_eq!(run("group"), (checked, checked));
    assert!(checked == 17 && grouped < checked, "{grouped} of {checked}");
    let text = patients(&["--algorithm", "incognito", "--one-label", "group"]).stdout;
    assert!(text.contains("checked 17 and grouped 17 nodes"), "{text}");
}

#[test]
fn one_label_is_refused_where_it_has_no_effect() {
    patients(&["--one-label", "group"]).failed(2, &["one_label", "algorithm = \"incognito\""]);
    patients(&["--one-label", "group", "--algorithm", "bottom-up"]).failed(2, &["one_label", "incognito"]);
    let folder = Folder::new();
    folder.replace("incog.toml", "[columns.age]", "[search]\none_label = \"group\"\n[columns.age]");
    folder.refused(&["anonymize", "incog.toml"], &["line 10", "`one_label`", "incognito"]);
    folder.replace(
        "incog.toml",
        "one_label = \"group\"",
        "one_label = \"groups\"\nalgorithm = \"incognito\"",
    );
    folder
        .refused(&["search", "incog.toml"], &["line 10", "none of take-over, group", "did you mean `group`"]);
    folder.replace("incog.toml", "\"groups\"", "\"group\"");
    folder.done(&["anonymize", "incog.toml"]);
}

#[test]
fn every_subset_is_told_with_its_minimal_generalizations() {
    let report = json(&patients(&["--subsets", "--format", "json"]));
    let subsets = report["subsets"].as_array().unwrap();
    let columns: Vec<Vec<&str>> = subsets
        .iter()
        .map(|subset| {
            subset["columns"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect()
        })
        .collect();
    assert_eq!(columns.len(), 7, "{columns:?}");
    assert!(columns.windows(2).all(|pair| pair[0].len() <= pair[1].len()), "the smallest first");
    // All three together: as the search without subsets finds them.
    let all = json(&patients(&["--format", "json"]));
    let last = subsets.last().unwrap();
    assert_eq!(last["satisfying"], all["satisfying"]);
    let minimal: Vec<&Value> =
        all["minimal"].as_array().unwrap().iter().map(|node| &node["levels"]).collect();
    assert_eq!(last["minimal"].as_array().unwrap().iter().collect::<Vec<_>>(), minimal);
    // LeFevre, DeWitt, Ramakrishnan, Figure 5: of sex and zip code <S1, Z0>, <S0, Z2> and what is above them.
    let pair = subsets.iter().zip(&columns).find(|(_, columns)| **columns == ["sex", "zipcode"]).unwrap().0;
    assert_eq!(pair["satisfying"], 4);
    assert_eq!(pair["minimal"], serde_json::json!([{ "sex": 0, "zipcode": 2 }, { "sex": 1, "zipcode": 0 }]));

    let some = json(&patients(&["--subsets", "--max-subset", "2", "--format", "json"]));
    assert_eq!(some["subsets"].as_array().unwrap()[..], subsets[..6]);
    let text = patients(&["--subsets", "--max-subset", "2"]).stdout;
    assert!(text.contains("sex, zipcode: 4 of 6, minimal <sex 0, zipcode 2>, <sex 1, zipcode 0>"), "{text}");
}

#[test]
fn subsets_that_make_no_sense_are_refused() {
    patients(&["--subsets", "--max-subset", "0"]).failed(2, &["--max-subset is 0", "such as 3"]);
    patients(&["--subsets", "--max-subset", "4"]).failed(2, &["4 columns", "3 quasi-identifiers"]);
    patients(&["--subsets", "--algorithm", "cover"]).failed(2, &["`incognito`", "algorithm"]);
    assert_eq!(patients(&["--max-subset", "2"]).code, Some(2));
    patients(&["--subsets", "-k", "2..4"]).failed(2, &["one k"]);
}

#[test]
fn a_trace_has_the_papers_graphs() {
    let text = patients(&["--trace"]).stdout;
    for line in [
        "iteration 1: 7 candidates of 1 column",
        "iteration 2:",
        "iteration 3:",
        "    edge       <sex 0, zipcode 0> -> <sex 1, zipcode 0>",
        "    checked    <sex 0, zipcode 0> fails",
        "    checked    <sex 1, zipcode 0> holds",
        "    marked     <sex 1, zipcode 1> <sex 1, zipcode 2>",
        "    survivors  <sex 0, zipcode 2> <sex 1, zipcode 0> <sex 1, zipcode 1> <sex 1, zipcode 2>",
        "result: 5 nodes of all columns satisfy the policy",
    ] {
        assert!(text.contains(line), "no `{line}` in {text}");
    }
    let json = patients(&["--trace", "--format", "json"]);
    assert!(json.stdout.contains("\"schema\": \"incog-search-trace-1\""), "{json:?}");
    patients(&["--trace", "--algorithm", "best"]).failed(2, &["incognito"]);
    let folder = Folder::new();
    folder.replace(
        "incog.toml",
        "[columns.name]",
        "[columns.ill]\nrole = \"quasi-identifier\"\nhierarchy = { mask = \"right\" }\n[columns.name]",
    );
    folder.replace("incog.toml", "[columns.ill]\nrole = \"sensitive\"\n", "");
    folder.refused(&["search", "incog.toml", "--trace"], &["too long to read", "--subsets"]);
}

/// A job whose every combination of at most two columns is to be 5-anonymous.
fn of_combinations(most: &str) -> Folder {
    let folder = Folder::new();
    folder.replace("incog.toml", "k = 5", &format!("k = 5\ncombinations = {most}"));
    folder
}

/// The smallest group of any two columns of a file, counted anew.
fn smallest_pair(folder: &Folder, file: &str) -> usize {
    let pairs = [["age", "sex"], ["age", "zip"], ["sex", "zip"]];
    pairs.iter().map(|pair| folder.smallest_group(file, pair)).min().unwrap()
}

#[test]
fn a_release_by_combinations_is_searched_released_verified_and_recorded() {
    let folder = of_combinations("2");
    let said = folder.done(&["anonymize", "incog.toml"]);
    assert!(
        said.stderr.contains("pass  5-anonymity of every combination of at most 2 of age, sex, zip"),
        "{said:?}"
    );
    assert!(smallest_pair(&folder, "release.csv") >= 5);
    let record = folder.json("release.csv.incog.json");
    assert_eq!(record["claims"]["combinations"], 2);
    // Fewer columns together leave more detail than all of them.
    let loss = |record: &Value| record["scores"]["loss"].as_str().unwrap().parse::<f64>().unwrap();
    let strict = Folder::new();
    strict.done(&["anonymize", "incog.toml"]);
    let of_all = strict.json("release.csv.incog.json");
    assert!(of_all["claims"].get("combinations").is_none(), "a record without it has its bytes");
    assert!(loss(&record) <= loss(&of_all));
    for arguments in [
        vec!["verify", "release.csv", "--job", "incog.toml"],
        vec!["verify", "release.csv", "--record", "release.csv.incog.json"],
        vec![
            "verify",
            "release.csv",
            "--job",
            "incog.toml",
            "--record",
            "release.csv.incog.json",
            "--key",
            "incog.key",
        ],
        vec!["verify", "release.csv", "--qi", "age,sex,zip", "-k", "5", "--combinations", "2"],
    ] {
        folder.done(&arguments);
    }
    // By searches too, whatever the judge; the same numbers.
    let satisfying = |flags: &[&str]| {
        let found = folder.run(&[&["search", "incog.toml", "--format", "json"], flags].concat());
        json(&found)["satisfying"].as_u64().unwrap()
    };
    let expected = satisfying(&[]);
    for flags in [
        ["--algorithm", "incognito"],
        ["--algorithm", "bottom-up"],
        ["--checker", "cube"],
        ["--checker", "scan"],
    ] {
        assert_eq!(satisfying(&flags), expected, "{flags:?}");
    }
}

#[test]
fn a_broken_combination_is_caught() {
    let folder = of_combinations("2");
    folder.done(&["anonymize", "incog.toml"]);
    // Of a few rows no pair of labels can be common.
    let rows = folder.read("release.csv");
    let kept: Vec<&str> = rows.lines().take(8).collect();
    folder.write("broken.csv", kept.join("\n") + "\n");
    assert!(smallest_pair(&folder, "broken.csv") < 5);
    let flags = ["--qi", "age,sex,zip", "-k", "5", "--combinations", "2"];
    let said = folder.run(&[&["verify", "broken.csv"][..], &flags].concat());
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.stdout.contains("FAIL  5-anonymity of every combination of at most 2"), "{said:?}");
    let said = folder.run(&["verify", "broken.csv", "--job", "incog.toml"]);
    assert_eq!(said.code, Some(1), "{said:?}");
}

#[test]
fn combinations_that_make_no_sense_are_refused() {
    for (most, says) in
        [("4", "there are 3 quasi-identifiers"), ("0", "not at least 1"), ("-1", "not at least 1")]
    {
        of_combinations(most).refused(&["anonymize", "incog.toml"], &["line 8", "`combinations`", says]);
    }
    let folder = of_combinations("2");
    let more = ["anonymize", "incog.toml", "--require", "distinct-l:sensitive=ill,l=2"];
    folder.refused(&more, &["about k alone"]);
    folder.refused(&["anonymize", "incog.toml", "--unit", "name"], &["`combinations`", "persons"]);
    folder.refused(&["search", "incog.toml", "-k", "2..5"], &["range of k", "combinations"]);
    folder.refused(&["anonymize", "incog.toml", "--algorithm", "top-down"], &["combination", "labels"]);
    folder.refused(&["search", "incog.toml", "--checker", "bitmap"], &["labels"]);
    let verify = ["verify", "data.csv", "--qi", "age,sex", "-k", "1", "--combinations"];
    folder.refused(&[&verify[..], &["0"]].concat(), &["--combinations is 0"]);
    folder.refused(&[&verify[..], &["3"]].concat(), &["--qi names 2 columns"]);
}

#[test]
fn all_columns_together_are_the_ordinary_k() {
    let (all, plain) = (of_combinations("3"), Folder::new());
    all.done(&["anonymize", "incog.toml"]);
    plain.done(&["anonymize", "incog.toml"]);
    assert_eq!(all.read("release.csv"), plain.read("release.csv"));
}

/// One sensitive value has half of a group at most.
const SIMPLE: &str =
    "[[policy.require]]\nmodel = \"alpha-k\"\nsensitive = \"ill\"\nalpha = 0.5\nvalues = [\"asthma\"]\n";

#[test]
fn a_recipient_checks_the_simple_model() {
    let folder = Folder::new();
    folder.replace("incog.toml", "[columns.age]", &format!("{SIMPLE}[columns.age]"));
    folder.done(&["anonymize", "incog.toml"]);
    let verify = |alpha: &str, values: &str| {
        folder.run(&[
            "verify",
            "release.csv",
            "--qi",
            "age,sex,zip",
            "-k",
            "5",
            "--sensitive",
            "ill",
            "--values",
            values,
            "--alpha",
            alpha,
        ])
    };
    let said = verify("0.5", "asthma");
    assert_eq!(said.code, Some(0), "{said:?}");
    said.has_no_cell();
    assert_eq!(verify("0.01", "asthma").code, Some(1));
    // Two values as one have more than each.
    assert_eq!(verify("0.5", "asthma|influenza").code, Some(1));
    verify("0.5", "asthmaa").failed(2, &["entry 1 of --values is in no row"]);
    let without =
        ["verify", "release.csv", "--qi", "age", "-k", "5", "--sensitive", "ill", "--values", "asthma"];
    assert_eq!(folder.run(&without).code, Some(2), "values are for alpha");
}

#[test]
fn published_values_let_everybody_check_the_simple_model() {
    let of_record = ["verify", "release.csv", "--record", "release.csv.incog.json"];
    let secret = Folder::new();
    secret.replace("incog.toml", "[columns.age]", &format!("{SIMPLE}[columns.age]"));
    secret.done(&["anonymize", "incog.toml"]);
    assert!(!secret.read("release.csv.incog.json").contains("asthma"));
    let said = secret.done(&of_record);
    assert!(
        said.stdout.contains("1 of 1 requirements can be checked with the job and the data only"),
        "{said:?}"
    );

    let open = Folder::new();
    open.replace("incog.toml", "[columns.age]", &format!("{SIMPLE}publish_values = true\n[columns.age]"));
    open.done(&["anonymize", "incog.toml"]);
    let record = open.json("release.csv.incog.json");
    assert_eq!(record["claims"]["requires"][0]["values"], serde_json::json!(["asthma"]));
    let said = open.done(&of_record);
    assert!(said.stdout.contains("the record is what the release alone can tell ("), "{said:?}");
    assert!(!said.stdout.contains("with the job and the data only"), "{said:?}");
    open.done(&["verify", "release.csv", "--job", "incog.toml", "--record", "release.csv.incog.json"]);
    // A group with too many of them is found without the job.
    let bad: String = open.read("release.csv").replace("influenza", "asthma").replace("bronchitis", "asthma");
    open.write("release.csv", bad);
    let said = open.run(&of_record);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(
        said.stdout.lines().any(|line| line.trim_start().starts_with("FAIL") && line.contains("alpha")),
        "{said:?}"
    );

    let folder = Folder::new();
    let pointless =
        "[[policy.require]]\nmodel = \"distinct-l\"\nsensitive = \"ill\"\nl = 2\npublish_values = true\n";
    folder.replace("incog.toml", "[columns.age]", &format!("{pointless}[columns.age]"));
    folder.refused(&["anonymize", "incog.toml"], &["`publish_values`", "`values`"]);
}

#[test]
fn what_explain_names_can_be_set() {
    let run = |algorithm: &str, setting: &str| {
        let folder = Folder::new();
        let search = format!("[search]\nalgorithm = \"{algorithm}\"\n{setting}\n[columns.age]");
        folder.replace("incog.toml", "[columns.age]", &search);
        folder.done(&["anonymize", "incog.toml"]);
        folder.done(&["verify", "release.csv", "--job", "incog.toml"]);
        folder.read("release.csv")
    };
    for setting in ["clusters", "refined", "rounds"] {
        run("cell-generalization", &format!("cell_method = \"{setting}\""));
    }
    for setting in ["auto", "forest", "cover", "clusters"] {
        run("cell-suppression", &format!("suppression_method = \"{setting}\""));
    }
    assert_eq!(run("ordered-set", "cut_method = \"enumerate\""), run("ordered-set", ""));
    run("ordered-set", "cut_method = \"genetic\"\nseed = 3\nmax_steps = 300");
    assert_eq!(run("top-down", "look_ahead = \"step\""), run("top-down", ""));
    run("top-down", "look_ahead = \"full\"");
    let folder = Folder::new();
    for (key, value, owner) in [
        ("cell_method", "rounds", "cell-generalization"),
        ("suppression_method", "cover", "cell-suppression"),
        ("look_ahead", "full", "top-down"),
        ("cut_method", "genetic", "ordered-set"),
    ] {
        let folder = Folder::new();
        folder.replace(
            "incog.toml",
            "[columns.age]",
            &format!("[search]\n{key} = \"{value}\"\n[columns.age]"),
        );
        folder.refused(&["anonymize", "incog.toml"], &[key, owner]);
    }
    let enumerated = Folder::new();
    let seeded = "[search]\nalgorithm = \"ordered-set\"\nseed = 3\n[columns.age]";
    enumerated.replace("incog.toml", "[columns.age]", seeded);
    enumerated.refused(&["anonymize", "incog.toml"], &["`seed` is for searches", "cut_method = \"genetic\""]);
    folder.replace(
        "incog.toml",
        "[columns.age]",
        "[search]\nalgorithm = \"top-down\"\nlook_ahead = \"fulll\"\n[columns.age]",
    );
    folder.refused(&["anonymize", "incog.toml"], &["none of step, full", "did you mean `full`"]);
}

/// Incognito's counters for one k with a cube in a file: passes over the records, and what it found.
fn with_cube(folder: &Folder, k: &str, more: &[&str]) -> (u64, Value) {
    let search = ["search", "incog.toml", "-k", k, "--cube", "people.cube", "--format", "json"];
    let said = json(&folder.done(&[&search[..], more].concat()));
    assert_eq!(said["checker"], "cube", "--cube names it");
    (said["table_scans"].as_u64().unwrap(), said["minimal"].clone())
}

#[test]
fn a_cube_is_kept_between_runs_and_is_for_its_owner_alone() {
    let folder = Folder::new();
    let (n_scans, first) = with_cube(&folder, "2", &[]);
    assert_eq!(n_scans, 0, "the cube is there when the search begins");
    let cube = folder.bytes("people.cube");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(folder.path("people.cube")).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{mode:o}");
    }
    for k in ["2", "3", "5"] {
        let plain =
            folder.done(&["search", "incog.toml", "-k", k, "--algorithm", "exhaustive", "--format", "json"]);
        let (_, minimal) = with_cube(&folder, k, &[]);
        assert_eq!(minimal, json(&plain)["minimal"], "k = {k}");
    }
    assert_eq!(with_cube(&folder, "2", &[]).1, first);
    assert_eq!(folder.bytes("people.cube"), cube, "it is read, and not written again");
    // The same cube made anew has the same bytes, whatever hashes were seeded with.
    std::fs::remove_file(folder.path("people.cube")).unwrap();
    with_cube(&folder, "3", &[]);
    assert_eq!(folder.bytes("people.cube"), cube);
    assert!(folder.files().iter().all(|name| !name.starts_with(".incog-")), "{:?}", folder.files());
    // A release made with it is one like any other, and its record does not name the file.
    folder.done(&["anonymize", "incog.toml", "--cube", "people.cube", "--algorithm", "incognito"]);
    assert!(!folder.read("release.csv.incog.json").contains("people.cube"));
}

#[test]
fn a_stale_or_damaged_cube_is_refused() {
    let folder = Folder::new();
    with_cube(&folder, "2", &[]);
    let search = ["search", "incog.toml", "--cube", "people.cube"];
    let refused = |part: &str| folder.refused(&search, &[part, "people.cube", "hint: name another file"]);
    // Another table, other hierarchies, other settings.
    let data = folder.read("data.csv");
    let (head, rows) = data.split_once('\n').unwrap();
    let twice = rows.lines().next().unwrap();
    folder.write("data.csv", format!("{head}\n{rows}{twice}\n"));
    refused("is stale");
    folder.write("data.csv", &data);
    folder.replace(
        "incog.toml",
        "[columns.age]",
        "[search]\nchecker = \"cube\"\ncube_levels = \"every-level\"\n[columns.age]",
    );
    refused("is stale");
    folder.replace("incog.toml", "\ncube_levels = \"every-level\"", "");
    folder.done(&search);
    // Any bit.
    let cube = folder.bytes("people.cube");
    for at in [0, 20, cube.len() / 2, cube.len() - 1] {
        let mut damaged = cube.clone();
        damaged[at] ^= 1;
        folder.write("people.cube", damaged);
        refused("is not a cube of incog, or it is damaged");
    }
    for cut in [0, 10, cube.len() - 1] {
        folder.write("people.cube", &cube[..cut]);
        refused("is not a cube of incog, or it is damaged");
    }
    folder.write("people.cube", &cube);
    folder.done(&search);
}

#[test]
fn a_cube_file_is_refused_where_it_has_no_effect() {
    let folder = Folder::new();
    let with = |more: &[&'static str]| [&["search", "incog.toml", "--cube", "c"], more].concat();
    folder.refused(&with(&["--checker", "roll-up"]), &["`cube_file` goes with checker = \"cube\""]);
    folder.refused(
        &with(&["--require", "distinct-l:sensitive=ill,l=2"]),
        &["numbers of rows", "leave out --cube"],
    );
    folder.refused(
        &["anonymize", "incog.toml", "--cube", "c", "--algorithm", "mondrian"],
        &["has no use for it", "leave it out"],
    );
    folder.refused(&["search", "incog.toml", "--cube", "nowhere/c"], &["cannot write the cube"]);
    assert!(!folder.path("c").exists());
}
