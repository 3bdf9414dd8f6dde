//! What commands say: every object against its schema, summaries that fit 80 columns, quiet, warnings that are worth reading.
//!
//! Snapshots stand in `tests/snapshots`; `INCOG_UPDATE=1 cargo test -p incog-cli --test saying` writes them anew.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

/// A folder with the job and the data of an example.
fn copy_of(example: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut open = vec![PathBuf::new()];
    while let Some(below) = open.pop() {
        std::fs::create_dir_all(folder.path().join(&below)).unwrap();
        for entry in std::fs::read_dir(examples().join(example).join(&below)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            let is_source = [".csv", ".toml", ".txt"].iter().any(|end| name.ends_with(end));
            if path.is_dir() && name != "release" {
                open.push(below.join(name));
            } else if is_source && !name.contains("release") {
                std::fs::copy(&path, folder.path().join(&below).join(name)).unwrap();
            }
        }
    }
    folder
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_incog")).args(arguments).current_dir(folder).output().unwrap()
}

/// What a command prints, which must be JSON.
fn json(folder: &Path, arguments: &[&str]) -> Value {
    let output = run(folder, arguments);
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{arguments:?}: {error}\n{}", String::from_utf8_lossy(&output.stderr)))
}

/// Where a value breaks a schema: the part of JSON Schema that ours use, and an error for any other.
fn breaks(schema: &Value, value: &Value, root: &Value, at: &str) -> Vec<String> {
    let known = [
        "$schema",
        "$defs",
        "$ref",
        "title",
        "description",
        "type",
        "properties",
        "required",
        "items",
        "enum",
        "const",
        "anyOf",
        "oneOf",
        "additionalProperties",
        "format",
        "minimum",
        "maximum",
        "unevaluatedProperties",
        "prefixItems",
        "minItems",
        "maxItems",
    ];
    let mut broken = Vec::new();
    let Some(rules) = schema.as_object() else {
        return if schema == &Value::Bool(true) { broken } else { vec![format!("{at}: no schema")] };
    };
    for key in rules.keys().filter(|key| !known.contains(&key.as_str())) {
        broken.push(format!("{at}: the test does not know `{key}`"));
    }
    if let Some(path) = rules.get("$ref").and_then(Value::as_str) {
        let target =
            root.pointer(path.trim_start_matches('#')).unwrap_or_else(|| panic!("{path} leads nowhere"));
        broken.extend(breaks(target, value, root, at));
    }
    let is_of = |name: &str| match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("{at}: the type {other}"),
    };
    let fits = match rules.get("type") {
        Some(Value::String(name)) => is_of(name),
        Some(Value::Array(names)) => names.iter().any(|name| is_of(name.as_str().unwrap())),
        _ => true,
    };
    if !fits {
        broken.push(format!("{at}: {value} is not of type {}", rules["type"]));
    }
    if rules.get("const").is_some_and(|only| only != value) {
        broken.push(format!("{at}: {value} is not {}", rules["const"]));
    }
    if rules.get("enum").is_some_and(|words| !words.as_array().unwrap().contains(value)) {
        broken.push(format!("{at}: {value} is none of {}", rules["enum"]));
    }
    for list in ["anyOf", "oneOf"] {
        if let Some(all) = rules.get(list).and_then(Value::as_array)
            && all.iter().all(|one| !breaks(one, value, root, at).is_empty())
        {
            broken.push(format!("{at}: {value} fits none of {list}"));
        }
    }
    if let Some(object) = value.as_object() {
        let properties = rules.get("properties").and_then(Value::as_object);
        for name in rules.get("required").and_then(Value::as_array).into_iter().flatten() {
            if !object.contains_key(name.as_str().unwrap()) {
                broken.push(format!("{at}: {name} is missing"));
            }
        }
        for (name, below) in object {
            let place = format!("{at}.{name}");
            match (properties.and_then(|properties| properties.get(name)), rules.get("additionalProperties"))
            {
                (Some(schema), _) => broken.extend(breaks(schema, below, root, &place)),
                (None, Some(schema)) if schema.is_object() => {
                    broken.extend(breaks(schema, below, root, &place));
                }
                // A field that nobody describes is a field that nobody can rely on.
                (None, _) if properties.is_some() => broken.push(format!("{place} is not described")),
                (None, _) => {}
            }
        }
    }
    if let (Some(values), Some(schema)) = (value.as_array(), rules.get("items")) {
        for (number, value) in values.iter().enumerate() {
            broken.extend(breaks(schema, value, root, &format!("{at}[{number}]")));
        }
    }
    broken
}

#[track_caller]
fn follows_its_schema(folder: &Path, name: &str, value: &Value) {
    assert_eq!(value["schema"], format!("incog-{name}-1"), "{value}");
    let schema = json(folder, &["schema", name]);
    assert_eq!(schema["title"], format!("incog-{name}-1"));
    let broken = breaks(&schema, value, &schema, "");
    assert!(broken.is_empty(), "{name}: {broken:#?}");
}

/// The names that `incog schema` knows, besides that of job files.
fn schema_names(folder: &Path) -> BTreeSet<String> {
    let refused = run(folder, &["schema", "nothing"]);
    assert_eq!(refused.status.code(), Some(2));
    let text = String::from_utf8(refused.stderr).unwrap();
    let names = text.split("there are: job, ").nth(1).unwrap().trim();
    names.split(", ").map(str::to_owned).collect()
}

#[test]
fn every_command_prints_json_that_follows_its_schema() {
    let folder = copy_of("hospital");
    let here = folder.path();
    // Traces are for few columns.
    let few = "[input]\npath = \"discharges.csv\"\n[policy]\nk = 5\n[columns.sex]\n\
               role = \"quasi-identifier\"\n[columns.zip_code]\nrole = \"quasi-identifier\"\nhierarchy = { mask = \"right\" }\n";
    std::fs::write(here.join("few.toml"), few).unwrap();
    let mut seen = BTreeSet::new();
    let mut check = |name: &str, arguments: &[&str]| {
        let value = json(here, &[arguments, &["--format", "json"]].concat());
        follows_its_schema(here, name, &value);
        seen.insert(name.to_owned());
        value
    };
    let published = check("anonymize", &["anonymize", "incog.toml"]);
    assert_eq!(published["columns"][0]["meaning"], "decade");
    assert_eq!(published["verified"], true);
    check("anonymize", &["anonymize", "incog.toml", "--algorithm", "top-down", "--output", "local.csv"]);
    let replay = [
        "anonymize",
        "discharges.csv",
        "--replay",
        "discharges.release.csv.incog.json",
        "--output",
        "again.csv",
    ];
    assert_eq!(check("anonymize", &replay)["quality"], "given");
    let found = check("search", &["search", "incog.toml"]);
    let scores: Vec<f64> = found["minimal"]
        .as_array()
        .unwrap()
        .iter()
        .map(|node| node["scores"]["loss"].as_f64().unwrap())
        .collect();
    assert!(scores.len() > 1 && scores.windows(2).all(|pair| pair[0] <= pair[1]), "{scores:?}");
    check("search", &["search", "incog.toml", "--all"]);
    check("search-k", &["search", "incog.toml", "-k", "2..6"]);
    check("search-subsets", &["search", "incog.toml", "--subsets", "--max-subset", "2"]);
    check("search-trace", &["search", "few.toml", "--trace", "--rest", "other"]);
    check("compare", &["compare", "incog.toml", "--models", "datafly,full-domain"]);
    check("verify", &["verify", "discharges.release.csv"]);
    check("verify", &["verify", "discharges.release.csv", "--job", "incog.toml"]);
    check(
        "verify",
        &["verify", "discharges.csv", "--qi", "sex,zip_code", "-k", "5", "--sensitive", "diagnosis"],
    );
    check("init", &["init", "discharges.csv", "--output", "new.toml"]);
    check("hierarchy-show", &["hierarchy", "show", "incog.toml", "--column", "zip_code"]);
    check("hierarchy-check", &["hierarchy", "check", "incog.toml"]);
    check("hierarchy-make", &["hierarchy", "make", "incog.toml", "--column", "sex"]);
    check("key", &["key", "new", "sign.key"]);
    check("list", &["list"]);
    for word in ["k-anonymity", "role", "intervals", "shuffle", "qi"] {
        check("explain", &["explain", word]);
    }
    assert_eq!(seen, schema_names(here), "a schema that no output was held against");
}

#[test]
fn the_json_of_a_database_follows_the_same_schema() {
    let folder = copy_of("university");
    let jobs: Vec<PathBuf> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "toml"))
        .collect();
    let job = jobs.first().expect("the example has a job").file_name().unwrap().to_str().unwrap().to_owned();
    let value = json(folder.path(), &["anonymize", &job, "--output", "out/", "--format", "json"]);
    follows_its_schema(folder.path(), "anonymize", &value);
    let examined = json(folder.path(), &["verify", "out", "--format", "json"]);
    follows_its_schema(folder.path(), "verify", &examined);
    assert_eq!(examined["holds"], true, "{examined}");
}

/// Compares with a snapshot, or writes it.
#[track_caller]
fn is_snapshot(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots").join(name);
    if std::env::var_os("INCOG_UPDATE").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
    }
    let wanted = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, wanted, "{name} is another one; INCOG_UPDATE=1 writes it anew, if that is meant");
}

/// Times differ from run to run.
fn untimed(text: &str) -> String {
    let mut words: Vec<String> = text.split(' ').map(str::to_owned).collect();
    for at in 1..words.len() {
        if words[at].trim_end().starts_with("ms") && words[at - 1].parse::<f64>().is_ok() {
            words[at - 1] = "?".to_owned();
        }
    }
    words.join(" ")
}

#[test]
fn summaries_fit_80_columns_and_are_what_they_were() {
    let folder = copy_of("hospital");
    let run = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_incog"))
            .args(arguments)
            .env("COLUMNS", "80")
            .current_dir(folder.path())
            .output()
            .unwrap();
        let text = String::from_utf8([output.stderr, output.stdout].concat()).unwrap();
        // A word may be longer: a path, a list of names without spaces.
        for line in text.lines().filter(|line| line.chars().count() > 80) {
            assert!(!line.trim_start().contains(' '), "{arguments:?}: {line}");
        }
        assert!(!text.contains('\u{1b}'), "no colours but on terminals: {text:?}");
        untimed(&text)
    };
    is_snapshot("hospital_anonymize.txt", &run(&["anonymize", "incog.toml"]));
    is_snapshot("hospital_verify.txt", &run(&["verify", "discharges.release.csv"]));
    is_snapshot(
        "hospital_local.txt",
        &run(&["anonymize", "incog.toml", "--algorithm", "top-down", "--output", "l.csv"]),
    );
    is_snapshot("hospital_search.txt", &run(&["search", "incog.toml"]));
    is_snapshot("hospital_search_k.txt", &run(&["search", "incog.toml", "-k", "2..6"]));
    is_snapshot(
        "hospital_replay.txt",
        &run(&[
            "anonymize",
            "discharges.csv",
            "--replay",
            "discharges.release.csv.incog.json",
            "--output",
            "r.csv",
        ]),
    );
}

#[test]
fn quiet_leaves_the_verdict_and_errors() {
    let folder = copy_of("hospital");
    let said = |arguments: &[&str]| {
        let output = run(folder.path(), arguments);
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let (stdout, stderr) = said(&["anonymize", "incog.toml", "--quiet"]);
    assert_eq!((stdout.as_str(), stderr.lines().count()), ("", 1), "{stderr}");
    assert!(stderr.starts_with("discharges.release.csv: holds: 5-anonymity"), "{stderr}");
    let (stdout, stderr) = said(&["-q", "verify", "discharges.release.csv"]);
    assert!(
        stdout.starts_with("verdict: holds") && stdout.lines().count() == 1 && stderr.is_empty(),
        "{stdout}{stderr}"
    );
    let (stdout, stderr) = said(&["init", "discharges.csv", "-q", "--output", "x.toml"]);
    assert_eq!((stdout.as_str(), stderr.as_str()), ("", ""));
    assert!(said(&["anonymize", "nothing.toml", "-q"]).1.starts_with("error: "));
}

/// A table in which one group has only zeros, one only one value of an illness.
fn homogeneous(sensitive: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut data = String::from("zip,gain,ill\n");
    for row in 0..4 {
        data += &format!(
            "1,0,{}\n2,{},flu\n3,0,{}\n",
            ["a", "b", "c", "d"][row],
            row + 5,
            ["none", "none", "none", "none"][row]
        );
        data += &format!("3,{row},none\n");
    }
    std::fs::write(folder.path().join("t.csv"), data).unwrap();
    let job = format!(
        "[input]\npath = \"t.csv\"\n[output]\npath = \"r.csv\"\n[policy]\nk = 4\n[columns]\nzip.role = \"quasi-identifier\"\n\
         gain.role = \"sensitive\"\nill = {{ role = \"sensitive\"{sensitive} }}\n"
    );
    std::fs::write(folder.path().join("job.toml"), job).unwrap();
    folder
}

#[test]
fn warnings_of_homogeneity_are_ranked_and_do_not_fire_on_zeros_or_on_what_is_said_to_be_harmless() {
    let warnings = |sensitive: &str| -> Vec<String> {
        let folder = homogeneous(sensitive);
        let value = json(folder.path(), &["anonymize", "job.toml", "--format", "json"]);
        let warnings = value["warnings"].as_array().unwrap_or_else(|| panic!("{value}"));
        warnings.iter().map(|warning| warning.as_str().unwrap().to_owned()).collect()
    };
    // zip 1 has only zeros of gain, which is nothing; zip 2 has only flu, zip 3 (8 rows) only `none`.
    let all = warnings("");
    assert_eq!(all.len(), 1, "{all:?}");
    assert!(all[0].starts_with("2 groups (12 rows) have a single value of ill"), "{all:?}");
    let told = warnings(", sensitive_values = [\"flu\"]");
    assert!(
        told[0].starts_with("1 group (4 rows) has a single value of ill")
            && told[0].ends_with("(1 more has a harmless one)"),
        "{told:?}"
    );
    assert_eq!(warnings(", sensitive_values = [\"a\"]"), [""; 0]);
    let mistyped = warnings(", sensitive_values = [\"flue\"]");
    assert!(
        mistyped[0].contains("1 of the 1 entries of `sensitive_values` stands in no row"),
        "{mistyped:?}"
    );
}

#[test]
fn verify_says_first_which_file_was_changed_and_ends_with_a_verdict() {
    let folder = copy_of("hospital");
    let here = folder.path();
    assert!(run(here, &["anonymize", "incog.toml"]).status.success());
    let verified = |arguments: &[&str]| {
        let output = run(here, &[&["verify", "discharges.release.csv"], arguments].concat());
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let all = ["--job", "incog.toml", "--record", "discharges.release.csv.incog.json", "--key", "incog.key"];
    let (code, text) = verified(&[]);
    assert_eq!(code, Some(0), "{text}");
    assert!(
        text.starts_with("record: discharges.release.csv.incog.json\n  pass  the release is the file"),
        "{text}"
    );
    assert!(text.lines().last().unwrap().starts_with("verdict: holds: all "), "{text}");
    let (code, text) = verified(&all);
    assert_eq!(code, Some(0), "{text}");

    // The data: one more row of somebody who is not rare.
    let data = std::fs::read_to_string(here.join("discharges.csv")).unwrap();
    let second = data.lines().nth(1).unwrap().to_owned();
    std::fs::write(here.join("discharges.csv"), format!("{data}{second}\n")).unwrap();
    let (code, text) = verified(&all);
    assert_eq!(code, Some(1), "{text}");
    let first = text.lines().find(|line| line.contains("FAIL")).unwrap();
    assert!(first.contains("the data are those that the record is of"), "{text}");
    std::fs::write(here.join("discharges.csv"), data).unwrap();

    // The release: two rows change their places, and nothing that is claimed.
    let release = std::fs::read_to_string(here.join("discharges.release.csv")).unwrap();
    let mut lines: Vec<&str> = release.lines().collect();
    let other = (2..lines.len()).find(|&at| lines[at] != lines[1]).unwrap();
    lines.swap(1, other);
    std::fs::write(here.join("discharges.release.csv"), lines.join("\n") + "\n").unwrap();
    for arguments in [&[][..], &all[..]] {
        let (code, text) = verified(arguments);
        assert_eq!(code, Some(1), "{text}");
        let claims =
            text.lines().find(|line| line.starts_with("  FAIL") || line.starts_with("  pass")).unwrap();
        assert!(claims.starts_with("  FAIL  the release is the file that the record is of"), "{text}");
        assert!(text.lines().last().unwrap().starts_with("verdict: does not hold: 2 of "), "{text}");
    }
    // Nothing at hand.
    std::fs::remove_file(here.join("discharges.release.csv.incog.json")).unwrap();
    let output = run(here, &["verify", "discharges.release.csv"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("no record is beside it"));
}

#[test]
fn verify_names_local_where_the_record_or_the_job_says_so() {
    let folder = copy_of("hospital");
    let here = folder.path();
    assert!(run(here, &["anonymize", "incog.toml", "--algorithm", "top-down"]).status.success());
    let says = |arguments: &[&str]| String::from_utf8(run(here, arguments).stdout).unwrap();
    assert!(
        says(&["verify", "discharges.release.csv"])
            .contains("as with --local: the record says that `top-down`")
    );
    let job = std::fs::read_to_string(here.join("incog.toml")).unwrap();
    std::fs::write(here.join("m.toml"), job.replace("[search]", "[search]\nalgorithm = \"top-down\""))
        .unwrap();
    let text = says(&["verify", "discharges.release.csv", "--job", "m.toml"]);
    assert!(text.contains("as with --local: the job names `top-down`"), "{text}");
}

#[test]
fn every_word_of_job_files_is_explained_and_near_misses_are_suggested() {
    let folder = tempfile::tempdir().unwrap();
    let schema = json(folder.path(), &["schema"]);
    // Keys by another way than that of the program: every object under a key `properties`.
    fn keys(value: &Value, found: &mut BTreeSet<String>) {
        if let Some(properties) = value.get("properties").and_then(Value::as_object) {
            found.extend(properties.keys().cloned());
        }
        match value {
            Value::Object(map) => map.values().for_each(|below| keys(below, found)),
            Value::Array(list) => list.iter().for_each(|below| keys(below, found)),
            _ => {}
        }
    }
    let mut words = BTreeSet::new();
    keys(&schema, &mut words);
    assert!(words.len() > 60, "{words:?}");
    let more = [
        "identifier",
        "role",
        "mask",
        "intervals",
        "dates",
        "tree",
        "sensitive",
        "l-diversity",
        "QI",
        "K anonymity",
    ];
    for word in words.iter().map(String::as_str).chain(more) {
        let output = run(folder.path(), &["explain", word]);
        assert_eq!(output.status.code(), Some(0), "{word}");
        assert!(output.stdout.len() > 40, "{word}");
    }
    let refused = run(folder.path(), &["explain", "intervalls"]);
    let text = String::from_utf8(refused.stderr).unwrap();
    assert!(text.contains("did you mean `intervals`?"), "{text}");
}

/// A table of many rows and some columns that look random, always the same.
#[cfg(unix)]
fn large(folder: &Path) {
    let mut state = 7_u64;
    let mut next = |end: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % end
    };
    let mut data = String::from("age,zip,sex,job,born,region\n");
    for _ in 0..20_000 {
        let (age, zip, sex) = (18 + next(70), 10_000 + next(900) * 10, next(2));
        let (job, year, region) = (next(40), 1930 + next(75), next(16));
        data +=
            &format!("{age},{zip},{sex},j{job},{year}-{:02}-{:02},r{region}\n", 1 + next(12), 1 + next(28));
    }
    std::fs::write(folder.join("t.csv"), data).unwrap();
    let job = "[input]\npath = \"t.csv\"\n[policy]\nk = 5\nsuppression = \"1%\"\n[columns]\n\
               age = { role = \"quasi-identifier\", hierarchy = { intervals = [5, 10, 20, 40] } }\n\
               zip = { role = \"quasi-identifier\", hierarchy = { mask = \"right\" } }\nsex.role = \"quasi-identifier\"\n\
               job.role = \"quasi-identifier\"\nregion.role = \"quasi-identifier\"\n\
               born = { role = \"quasi-identifier\", hierarchy = { dates = [\"month\", \"year\", \"decade\"] } }\n";
    std::fs::write(folder.join("job.toml"), job).unwrap();
}

#[test]
#[cfg(unix)]
fn who_ends_a_comparison_keeps_the_rows_that_came() {
    use std::io::{BufRead, BufReader, Read};
    use std::process::Stdio;

    let folder = tempfile::tempdir().unwrap();
    large(folder.path());
    let mut child = Command::new(env!("CARGO_BIN_EXE_incog"))
        .args(["compare", "job.toml", "--models", "datafly,unrestricted,full-subtree"])
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut lines: Vec<String> = Vec::new();
    while lines.last().is_none_or(|line| !line.starts_with("datafly")) {
        let mut line = String::new();
        assert!(stdout.read_line(&mut line).unwrap() > 0, "{lines:?}");
        lines.push(line);
    }
    // Ctrl-C, unless it is ignored here, as in a shell's background, and so in the child.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap_or("0").trim();
    let is_ignored = u64::from_str_radix(ignored, 16).unwrap() & 2 != 0;
    let (signal, code) = if is_ignored { ("-TERM", 143) } else { ("-INT", 130) };
    let killed = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).unwrap();
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(code), "{lines:?}{rest}");
    assert!(
        lines[0].starts_with("5-anonymity, 20000 rows") && !rest.contains("full-subtree"),
        "{lines:?}{rest}"
    );
}
