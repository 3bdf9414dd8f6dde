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
