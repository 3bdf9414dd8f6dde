//! Tables of PostgreSQL, from the job to the verified release: needs a server, see `.ci/postgres`.
#![cfg(feature = "postgres")]

mod server;

use server::Schema;

const PEOPLE: &str = "\
CREATE TABLE people (name text, zip text, age int, ill text);
INSERT INTO people SELECT 'person ' || n, CASE n WHEN 7 THEN '99999' ELSE '101' || lpad((n % 4)::text, 2, '0') END,
  20 + n % 30, (ARRAY['flu', 'cold', 'asthma, \"chronic\"'])[1 + n % 3] FROM generate_series(0, 59) AS n;";

const JOB: &str = r#"[input]
url = "URL"
table = "SCHEMA.people"
[output]
url = "URL"
table = "SCHEMA.release"
[policy]
k = 5
suppression = "5%"
[columns]
name.role = "identifier"
age = { role = "quasi-identifier", hierarchy = { intervals = [5, 10, 20] } }
zip = { role = "quasi-identifier", hierarchy = { mask = "right" } }
ill.role = "sensitive"
"#;

#[test]
fn a_search_counts_in_the_database() {
    let Some(mut schema) = Schema::new() else { return };
    schema.run(PEOPLE);
    let job = schema.job(JOB);
    let there = schema.incog(&["search", job.to_str().unwrap(), "--all", "--format", "json"]);
    assert_eq!(there.code, Some(0), "{there:?}");
    let copied = schema.job(&JOB.replace("[output]", "engine = \"memory\"\n[output]"));
    let here = schema.incog(&["search", copied.to_str().unwrap(), "--all", "--format", "json"]);
    assert_eq!(here.code, Some(0), "{here:?}");
    let facts = |said: &str| {
        let mut report: serde_json::Value = serde_json::from_str(said).unwrap();
        for key in ["search_ms", "table_scans", "groups_touched"] {
            report.as_object_mut().unwrap().remove(key);
        }
        report
    };
    assert_eq!(facts(&there.stdout), facts(&here.stdout));
}

/// The released rows, sorted.
fn released(schema: &mut Schema, table: &str) -> Vec<Vec<Option<String>>> {
    let name = &schema.name.clone();
    let mut rows = schema.rows(&format!("SELECT * FROM {name}.{table}"));
    rows.sort();
    rows
}

#[test]
fn a_release_is_written_and_verified_where_the_rows_are() {
    let Some(mut schema) = Schema::new() else { return };
    schema.run(PEOPLE);
    let job = schema.job(JOB);
    let there = schema.incog(&["anonymize", job.to_str().unwrap()]);
    assert_eq!(there.code, Some(0), "{there:?}");
    assert!(there.stderr.contains("59 rows released, 1 suppressed"), "{}", there.stderr);
    let by_database = released(&mut schema, "release");
    assert_eq!(by_database.len(), 59);

    // Copied here: the same rows, and the same types.
    let copied =
        JOB.replace("[output]", "engine = \"memory\"\n[output]").replace("SCHEMA.release", "SCHEMA.copied");
    let copied = schema.job(&copied);
    let here = schema.incog(&["anonymize", copied.to_str().unwrap()]);
    assert_eq!(here.code, Some(0), "{here:?}");
    assert_eq!(released(&mut schema, "copied"), by_database);
    let summary = |said: &str| {
        said.lines().skip(1).filter(|line| !line.starts_with("record")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(summary(&there.stderr), summary(&here.stderr));

    // And as from a file.
    let rows = schema.rows("SELECT name, zip, age, ill FROM people");
    let line = |row: &Vec<Option<String>>| {
        let cell = |cell: &Option<String>| format!("\"{}\"", cell.clone().unwrap().replace('"', "\"\""));
        row.iter().map(cell).collect::<Vec<_>>().join(",")
    };
    let csv = std::iter::once("name,zip,age,ill".to_owned()).chain(rows.iter().map(line));
    std::fs::write(schema.path("people.csv"), csv.collect::<Vec<_>>().join("\n") + "\n").unwrap();
    let file = schema.filled(JOB).replace(
        &format!("url = \"{}\"\ntable = \"{}.people\"", schema.url, schema.name),
        "path = \"people.csv\"",
    );
    std::fs::write(schema.path("file.toml"), file.replace("release\"", "of_file\"")).unwrap();
    let of_file = schema.incog(&["anonymize", "file.toml"]);
    assert_eq!(of_file.code, Some(0), "{of_file:?}");
    assert_eq!(released(&mut schema, "of_file"), by_database);

    let record =
        std::fs::read_to_string(schema.path(&format!("{}.release.incog.json", schema.name))).unwrap();
    let record: serde_json::Value = serde_json::from_str(&record).unwrap();
    assert_eq!(record["places"]["verified_in"], "PostgreSQL");
    assert_eq!(record["release"]["rows"], 59);
    assert_eq!(record["release"]["sha256"], "", "nobody has read the table as bytes");
    assert!(!record.to_string().contains("incog@"), "no login");
}
