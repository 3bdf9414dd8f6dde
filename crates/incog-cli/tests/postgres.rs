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

/// Runs a job that must fail without a trace: exit code 2, nothing written, no cell in the message.
#[track_caller]
fn refused(schema: &mut Schema, job: &str, wanted: &str) {
    let path = schema.job(job);
    let said = schema.incog(&["anonymize", path.to_str().unwrap()]);
    assert_eq!(said.code, Some(2), "{said:?}");
    assert!(said.stderr.contains(wanted), "{wanted}: {}", said.stderr);
    for cell in ["Secret-Cell", "person 1", "hidden-password", "10101"] {
        assert!(!said.stderr.contains(cell), "{}", said.stderr);
    }
    let left = "SELECT count(*) FROM pg_class WHERE relname LIKE 'incog\\_%' AND relkind = 'r'";
    for _ in 0..50 {
        if schema.one(left) == "0" {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    assert_eq!(schema.one(left), "0", "objects are left behind");
    assert!(!schema.path(&format!("{}.release.incog.json", schema.name)).exists());
}

#[test]
fn bad_input_is_refused_and_says_what_to_do() {
    let Some(mut schema) = Schema::new() else { return };
    schema.run(PEOPLE);
    let name = schema.name.clone();
    let of_query = |query: &str| JOB.replace("table = \"SCHEMA.people\"", &format!("query = \"{query}\""));
    refused(&mut schema, &JOB.replace("SCHEMA.people", "SCHEMA.peopel"), "there is no table");
    refused(
        &mut schema,
        &JOB.replace("SCHEMA.people", "SCHEMA.people; drop table x"),
        "is no name of a table",
    );
    refused(&mut schema, &of_query("SELECT * FROM SCHEMA.people WHERE age > $1"), "the query has parameters");
    refused(&mut schema, &of_query("SELECT zip, zip FROM SCHEMA.people"), "have the same name");
    refused(&mut schema, &of_query("SELECT zip FROM SCHEMA.people AS a, SCHEMA.people AS b"), "ambiguous");
    refused(&mut schema, &of_query("SELECT nothing FROM SCHEMA.people"), "nothing");
    refused(&mut schema, &of_query("SELECT 1) AS q; DROP TABLE people; --"), "syntax error");
    refused(
        &mut schema,
        &JOB.replace("URL", "postgresql://u:hidden-password@127.0.0.1:1/x"),
        "cannot connect to postgresql://127.0.0.1:1/x",
    );
    refused(
        &mut schema,
        &JOB.replace("URL", "mysql://u:hidden-password@h/x"),
        "does not begin with postgresql://",
    );
    refused(
        &mut schema,
        &JOB.replace("[output]", "delimiter = \";\"\n[output]"),
        "`delimiter` is about files",
    );
    refused(&mut schema, &JOB.replace("[output]\nurl = \"URL\"", "[output]"), "takes both `url` and `table`");
    refused(
        &mut schema,
        &JOB.replace("[policy]", "order = \"input\"\n[policy]"),
        "a table of a database has no order",
    );

    schema.run("CREATE VIEW fails AS SELECT name, zip, (zip || 'Secret-Cell')::int AS age, ill FROM people");
    refused(&mut schema, &JOB.replace("SCHEMA.people", "SCHEMA.fails"), "its message is left out");
    schema.run("CREATE TABLE documents AS SELECT name, zip, to_jsonb(age) AS age, ill FROM people");
    refused(
        &mut schema,
        &JOB.replace("SCHEMA.people", "SCHEMA.documents"),
        "column `age` is of the type jsonb",
    );
    schema.run("CREATE TABLE lists AS SELECT name, zip, ARRAY[age] AS age, ill FROM people");
    refused(
        &mut schema,
        &JOB.replace("SCHEMA.people", "SCHEMA.lists"),
        "column `age` is of the type integer[]",
    );

    // What is there stays, unless it is to be replaced; what is read is never replaced.
    schema.run("CREATE TABLE release (a int); CREATE VIEW looks AS SELECT * FROM people");
    refused(&mut schema, JOB, "is there already");
    let replacing = JOB.replace("[policy]", "if_exists = \"replace\"\n[policy]");
    refused(
        &mut schema,
        &replacing.replace("SCHEMA.people", "SCHEMA.looks").replace("SCHEMA.release", "SCHEMA.people"),
        "which the data are read from",
    );
    assert_eq!(schema.one("SELECT count(*) FROM people"), "60");
    let job = schema.job(&replacing);
    let said = schema.incog(&["anonymize", job.to_str().unwrap()]);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert_eq!(schema.one("SELECT count(*) FROM release"), "59");
    assert_eq!(schema.one(&format!("SELECT count(*) FROM {name}.people")), "60");
}

#[test]
fn a_role_may_do_only_what_it_may() {
    let Some(mut schema) = Schema::new() else { return };
    schema.run(PEOPLE);
    let (name, role) = (schema.name.clone(), format!("{}_reader", schema.name));
    let base = format!("{}_base", schema.name);
    schema.run(&format!("CREATE ROLE {role} LOGIN"));
    schema.run(&format!("CREATE DATABASE {base}"));
    schema.run(&format!(
        "REVOKE ALL ON DATABASE {base} FROM PUBLIC; GRANT CONNECT ON DATABASE {base} TO {role}"
    ));
    let url = schema.url.replace("/postgres", &format!("/{base}"));
    let mut other = postgres::Client::connect(&url, postgres::NoTls).unwrap();
    other.batch_execute(&format!("CREATE SCHEMA {name}; SET search_path = {name}; {PEOPLE}")).unwrap();
    let of_role = url.replace("incog@", &format!("{role}@"));
    let job = JOB.replace("URL", &of_role);
    refused(&mut schema, &job, "permission denied for schema");
    other.batch_execute(&format!("GRANT USAGE ON SCHEMA {name} TO {role}")).unwrap();
    refused(&mut schema, &job, "permission denied for table people");
    other.batch_execute(&format!("GRANT SELECT ON {name}.people TO {role}")).unwrap();
    refused(&mut schema, &job, "may not make tables in the schema");
    other.batch_execute(&format!("GRANT CREATE ON SCHEMA {name} TO {role}")).unwrap();
    refused(
        &mut schema,
        &job.replace("[output]", "engine = \"database\"\n[output]"),
        "may not make temporary tables",
    );
    // Rows are copied instead.
    let path = schema.job(&job);
    let said = schema.incog(&["anonymize", path.to_str().unwrap()]);
    assert_eq!(said.code, Some(0), "{said:?}");
    drop(other);
    schema.run(&format!("DROP DATABASE {base} WITH (FORCE)"));
    schema.run(&format!("DROP ROLE {role}"));
}

/// A view that takes some milliseconds a row.
const SLOW: &str = "\
CREATE FUNCTION slow(t text) RETURNS text LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.01); RETURN t; END';
CREATE VIEW slowly AS SELECT name, slow(zip) AS zip, age, ill FROM people;";

/// The server's number of the connection that works on this schema's slow view.
fn backend(schema: &mut Schema) -> String {
    let name = schema.name.clone();
    let query = format!(
        "SELECT pid FROM pg_stat_activity WHERE application_name = 'incog' AND state = 'active' AND query LIKE '%{name}.slowly%'"
    );
    for _ in 0..200 {
        if let Some(row) = schema.rows(&query).first() {
            return row[0].clone().unwrap();
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    panic!("nobody works on the view");
}

#[test]
fn a_connection_that_is_cut_leaves_nothing() {
    let Some(mut schema) = Schema::new() else { return };
    schema.run(PEOPLE);
    schema.run(SLOW);
    for end in ["pg_terminate_backend", "pg_cancel_backend"] {
        let mut client = postgres::Client::connect(&schema.url, postgres::NoTls).unwrap();
        let name = schema.name.clone();
        let job = JOB.replace("SCHEMA.people", "SCHEMA.slowly");
        std::thread::scope(|scope| {
            scope.spawn(move || {
                // In the third look at the view, say.
                std::thread::sleep(std::time::Duration::from_millis(1500));
                let query = format!("SELECT {end}(pid) FROM pg_stat_activity WHERE application_name = 'incog' AND query LIKE '%{name}%'");
                client.simple_query(&query).unwrap();
            });
            refused(&mut schema, &job, if end.contains("cancel") { "cancel" } else { "database" });
        });
        assert_eq!(schema.one("SELECT count(*) FROM people"), "60");
        assert_eq!(schema.one("SELECT count(*) FROM pg_class WHERE relname = 'release' AND relnamespace = current_schema()::regnamespace"), "0");
    }
}

#[test]
fn a_table_that_changes_meanwhile_is_released_as_it_was() {
    let Some(mut schema) = Schema::new() else { return };
    schema.run(PEOPLE);
    schema.run(SLOW);
    let path = schema.job(&JOB.replace("SCHEMA.people", "SCHEMA.slowly"));
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_incog"))
        .arg("anonymize")
        .arg(&path)
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let _ = backend(&mut schema);
    schema.run("DELETE FROM people WHERE age < 40; INSERT INTO people VALUES ('new', '77777', 99, 'plague')");
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(schema.one("SELECT count(*) FROM release"), "59");
    assert_eq!(schema.one("SELECT count(*) FROM release WHERE ill = 'plague'"), "0");
}

#[test]
fn a_released_table_is_checked_and_a_forged_one_is_not_believed() {
    let Some(mut schema) = Schema::new() else { return };
    schema.run(PEOPLE);
    let job = schema.job(JOB);
    assert_eq!(schema.incog(&["anonymize", job.to_str().unwrap()]).code, Some(0));
    let (table, url) = (format!("{}.release", schema.name), schema.url.clone());
    let record = format!("{table}.incog.json");
    let ways: [Vec<&str>; 4] = [
        vec!["verify", &table, "--job", "incog.toml"],
        vec!["verify", &table, "--job", "incog.toml", "--record", &record, "--key", "incog.key"],
        vec!["verify", &url, "--table", &table, "--record", &record],
        vec!["verify", &url, "--table", &table, "--qi", "age,zip", "-k", "5", "--sensitive", "ill"],
    ];
    for way in &ways {
        let said = schema.incog(way);
        assert_eq!(said.code, Some(0), "{way:?} {said:?}");
    }
    // By a copy in memory, too.
    let copied = schema.filled(&JOB.replace("[output]", "engine = \"memory\"\n[output]"));
    std::fs::write(schema.path("copied.toml"), copied).unwrap();
    let said = schema.incog(&["verify", &table, "--job", "copied.toml", "--record", &record]);
    assert_eq!(said.code, Some(0), "{said:?}");
    // How many ways are sure to notice.
    let forgeries = [
        (
            "UPDATE release SET ill = 'flu' WHERE ctid = (SELECT ctid FROM release WHERE ill = 'cold' LIMIT 1)",
            2,
        ),
        ("DELETE FROM release WHERE ctid = (SELECT ctid FROM release LIMIT 1)", 3),
        ("UPDATE release SET zip = '99999' WHERE ctid = (SELECT ctid FROM release LIMIT 1)", 4),
    ];
    for (forgery, n_noticed) in forgeries {
        schema.run(&format!("CREATE TABLE kept AS SELECT * FROM release; {forgery}"));
        let noticed = ways.iter().filter(|way| schema.incog(way).code == Some(1)).count();
        // Which row it is depends on an order that nobody knows: what a record alone says may happen to fit.
        assert!(noticed >= n_noticed, "{noticed} noticed {forgery}");
        schema.run("DROP TABLE release; ALTER TABLE kept RENAME TO release");
    }
}
