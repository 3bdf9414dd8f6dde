//! One suite for every engine: random tables give the same nodes, best node, suppressed rows, released rows and findings where the rows
//! stay in the engine as where they are copied into memory. Another engine is another arm of [`Rows`].
#![cfg(feature = "postgres")]

mod server;

use std::collections::BTreeMap;

use incog::{Anonymizer, AnyJob, Job};
use server::Schema;

/// Numbers that look random and are the same each time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % n
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }
}

/// Where the rows are counted.
#[derive(Debug, Clone, Copy)]
enum Rows {
    Database,
    Memory,
}

/// A column: its name, its type, and how it is generalized.
struct Column {
    name: &'static str,
    of_type: &'static str,
    /// What it is to the people, and its hierarchy.
    role: String,
    /// Cells as they stand in SQL.
    cells: &'static [&'static str],
}

const HOSTILE: &str = "\"; drop table x; --";

/// The columns that some table is made of.
fn columns() -> Vec<Column> {
    let quasi = |hierarchy: &str| format!("role = \"quasi-identifier\"\nhierarchy = {hierarchy}");
    let column = |name, of_type, role: String, cells| Column { name, of_type, role, cells };
    vec![
        column(
            "secret_name",
            "text",
            "role = \"identifier\"".into(),
            // The last four are nobody's.
            &[
                "'p1'",
                "'p2'",
                "'p3'",
                "'p4'",
                "'p5'",
                "'p6'",
                "'p 7'",
                "'  '",
                "E'\\t\u{a0}\u{3000}'",
                "''",
                "NULL",
            ],
        ),
        column(
            HOSTILE,
            "text",
            quasi("{ mask = \"right\", length = 4 }"),
            &["'it''s'", "'\\'", "'ab'", "NULL", "''", "'\"q\"'", "'%'", "E'a\\tb'"],
        ),
        column(
            "größe ☃",
            "numeric",
            quasi("{ intervals = [2, 4, 8] }"),
            &["1.0", "1.00", "1", "2.5", "7", "NULL", "-3.25"],
        ),
        column(
            "day",
            "date",
            quasi("{ dates = [\"month\", \"year\"] }"),
            &["'2020-01-31'", "'2020-02-01'", "'1999-12-31'", "'2020-02-02'"],
        ),
        column(
            "zip",
            "citext",
            quasi("{ mask = \"right\", length = 4 }"),
            &["'abc'", "'ABC'", "'abd'", "'xyz'", "NULL"],
        ),
        column(
            "folded",
            "text COLLATE folding",
            quasi("{ mask = \"left\", length = 2 }"),
            &["'aa'", "'AA'", "'ab'", "'bb'"],
        ),
        column(
            "padded",
            "char(4)",
            quasi("{ mask = \"right\", length = 4 }"),
            &["'a'", "'a  '", "'ab'", "'abcd'"],
        ),
        column(
            "weight",
            "float8",
            "role = \"quasi-identifier\"".into(),
            &["'-0'", "0", "'NaN'", "1e-300", "0.1", "NULL"],
        ),
        column(
            "seen",
            "timestamptz",
            "role = \"quasi-identifier\"".into(),
            &["'2020-01-01 00:00+00'", "'2020-01-01 02:00+02'", "'2020-07-01 12:00:00.5-07'"],
        ),
        column("is", "boolean", "role = \"quasi-identifier\"".into(), &["true", "false", "NULL"]),
        column(
            "coarse",
            "text",
            quasi("{ mask = \"right\", length = 3, levels = [1, 3] }"),
            &["'abc'", "'abd'", "'axy'", "'bcd'", "NULL"],
        ),
        column("ill", "text", "role = \"sensitive\"".into(), &["'flu'", "'cold'", "'none'", "'Flu'"]),
        column("note", "jsonb", "role = \"other\"".into(), &["'{\"a\": 1}'", "'[]'", "NULL"]),
    ]
}

/// What a policy asks for beside k.
const POLICIES: [&str; 7] = [
    "",
    "unit = \"secret_name\"\nmissing_unit = \"nobody\"\n",
    "[[policy.require]]\nmodel = \"alpha-k\"\nsensitive = \"ill\"\nalpha = \"2/3\"\n",
    "[[policy.require]]\nmodel = \"distinct-l\"\nsensitive = \"ill\"\nl = 2\n",
    "[[policy.require]]\nmodel = \"t-closeness\"\nsensitive = \"ill\"\nt = \"1/2\"\n",
    "[[policy.require]]\nmodel = \"entropy-l\"\nsensitive = \"ill\"\nl = \"3/2\"\n",
    "unit = \"secret_name\"\nmissing_unit = \"nobody\"\n[[policy.require]]\nmodel = \"distinct-l\"\nsensitive = \"ill\"\nl = 2\n",
];

fn create(schema: &mut Schema, table: &str, columns: &[Column], n_rows: usize, numbers: &mut Numbers) {
    let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
    let declared: Vec<String> =
        columns.iter().map(|column| format!("{} {}", quoted(column.name), column.of_type)).collect();
    schema.run(&format!("CREATE TABLE {table} ({})", declared.join(", ")));
    let row = |numbers: &mut Numbers| {
        let cells: Vec<&str> = columns.iter().map(|column| numbers.one(column.cells)).collect();
        format!("({})", cells.join(", "))
    };
    let rows: Vec<String> = (0..n_rows).map(|_| row(numbers)).collect();
    schema.run(&format!("INSERT INTO {table} VALUES {}", rows.join(", ")));
}

/// A job about some columns of a table, whose other columns are left out by a query.
fn job(
    schema: &Schema,
    table: &str,
    columns: &[Column],
    policy: &str,
    k: usize,
    suppression: &str,
    rows: Rows,
) -> AnyJob {
    let (engine, memory) = match rows {
        Rows::Database => ("database", "1 GB"),
        Rows::Memory => ("memory", "1 GB"),
    };
    let is_of_persons = policy.contains("unit");
    let mut text = format!(
        "[input]\nurl = \"URL\"\ntable = \"SCHEMA.{table}\"\nengine = \"{engine}\"\nmemory = \"{memory}\"\n\
         [output]\nurl = \"URL\"\ntable = \"SCHEMA.release\"\nif_exists = \"replace\"\nkey = \"{}\"\nrecord = \"{}\"\n\
         [policy]\nk = {k}\nsuppression = \"{suppression}\"\n{policy}",
        schema.path("incog.key").display(),
        schema.path("record.json").display(),
    );
    for column in columns {
        if is_of_persons && column.name == "secret_name" {
            continue;
        }
        let name = toml::Value::from(column.name).to_string();
        text += &format!("[columns.{name}]\n{}\n", column.role);
    }
    let text = schema.filled(&text);
    AnyJob::Table(Job::parse(&text).unwrap_or_else(|error| panic!("{text}\n{error}")))
}

/// A report without what depends on the machine, or on where counts come from.
fn facts(json: &str) -> serde_json::Value {
    let mut report: serde_json::Value = serde_json::from_str(json).unwrap();
    for key in ["search_ms", "table_scans", "groups_touched"] {
        report.as_object_mut().unwrap().remove(key);
    }
    report
}

fn said<T>(found: incog::Result<T>, facts: impl FnOnce(T) -> String) -> String {
    match found {
        Ok(found) => facts(found),
        Err(error) => format!("{error} {:?} {:?}", error.kind(), std::error::Error::source(&error)),
    }
}

/// The rows of the release, as texts, sorted; and the types of its columns.
fn release(schema: &mut Schema) -> String {
    let name = schema.name.clone();
    let mut rows = schema.rows(&format!("SELECT * FROM {name}.release"));
    rows.sort();
    let types = schema.rows(&format!("SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = '{name}.release'::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum"));
    schema.run(&format!("DROP TABLE {name}.release"));
    format!("{types:?} {rows:?}")
}

/// What the checker says. Equal fractions are written in one way.
fn checked(report: &incog::Report) -> String {
    fn measured(of: &incog::Measured) -> String {
        let by_persons = of.by_persons.as_ref().map(|of| measured(of));
        let texts: Vec<String> = [of.t, of.ordered_t, of.disclosure, of.beta]
            .iter()
            .map(|fraction| fraction.map_or("none".to_owned(), |fraction| fraction.to_string()))
            .chain(of.recursive_c.iter().map(ToString::to_string))
            .collect();
        let (alpha, l, entropy, n) = (of.alpha, of.distinct_l, of.entropy_l, of.uniform_groups);
        format!("{} {alpha:?} {l:?} {:.9?} {n} {texts:?} {by_persons:?}", of.column, entropy)
    }
    let all: Vec<String> = report.measured.iter().map(measured).collect();
    let sizes = (report.smallest_group, report.fewest_persons, &report.group_sizes);
    format!("{:?} {:?} {sizes:?} {all:?}", report.findings, report.undecided)
}

/// What comes of a job: all nodes, the recoding, the released rows and what the checker says.
fn outcome(schema: &mut Schema, job: &AnyJob, with_search: bool) -> [String; 3] {
    let search = match with_search {
        true => {
            said(Anonymizer::from_job(job.clone()).search(), |report| facts(&report.to_json()).to_string())
        }
        false => String::new(),
    };
    let decided = said(Anonymizer::from_job(job.clone()).decide(), |decided| {
        let groups: BTreeMap<Vec<&str>, u64> = decided.refused_groups().collect();
        format!(
            "{:?} {groups:?} {:?} {:?} {:?}",
            decided.levels(),
            decided.suppressed_rows(),
            decided.score(),
            decided.quality()
        )
    });
    let published = said(Anonymizer::from_job(job.clone()).publish(), |published| {
        format!("Report {} {:?}", checked(&published.report.checked), published.report.better)
    });
    let published = match published.starts_with("Report") {
        true => published + &release(schema),
        false => published,
    };
    [search, decided, published]
}

#[test]
fn rows_that_stay_give_the_same_as_rows_that_are_copied() {
    let Some(mut schema) = Schema::new() else { return };
    schema.run("CREATE EXTENSION IF NOT EXISTS citext WITH SCHEMA pg_catalog");
    schema
        .run("CREATE COLLATION folding (provider = icu, locale = 'und-u-ks-level2', deterministic = false)");
    let mut numbers = Numbers(11);
    let (mut n_released, mut n_none, mut n_suppressed) = (0, 0, 0);
    for round in 0..42 {
        let mut all = columns();
        // Some quasi-identifiers, beside those that every policy needs.
        let kept: Vec<usize> = (0..3).map(|_| 1 + numbers.below(10)).collect();
        let mut at = 0;
        all.retain(|_| {
            at += 1;
            kept.contains(&(at - 1)) || [0, 11, 12].contains(&(at - 1))
        });
        let table = format!("t{round}");
        let n_rows = 6 + numbers.below(50);
        create(&mut schema, &table, &all, n_rows, &mut numbers);
        let policy = POLICIES[round % POLICIES.len()];
        let (k, suppression) = (2 + numbers.below(3), ["0", "3", "30%"][numbers.below(3)]);
        let of = |schema: &mut Schema, rows: Rows| {
            let job = job(schema, &table, &all, policy, k, suppression, rows);
            outcome(schema, &job, true)
        };
        let copied = of(&mut schema, Rows::Memory);
        let names: Vec<&str> = all.iter().map(|column| column.name).collect();
        let there = of(&mut schema, Rows::Database);
        for (mine, theirs) in there.iter().zip(&copied) {
            assert_eq!(mine, theirs, "{round} {names:?} {policy} k = {k}, {suppression}");
        }
        // Without room for groups the database judges nodes by itself.
        let job = job(&schema, &table, &all, policy, k, suppression, Rows::Database);
        std::fs::write(schema.path("judged.toml"), job.to_toml().unwrap()).unwrap();
        let room = [("INCOG_SQL_ROOM", "1")];
        let judged = schema.incog_with(&["search", "judged.toml", "--all", "--format", "json"], &room);
        match copied[0].starts_with('{') {
            true => assert_eq!(facts(&judged.stdout).to_string(), copied[0], "{round} {names:?} {policy}"),
            false => assert_ne!(judged.code, Some(0), "{round} {judged:?}"),
        }
        let judged = schema.incog_with(&["anonymize", "judged.toml"], &room);
        match copied[2].starts_with("Report") {
            true => {
                assert_eq!(judged.code, Some(0), "{round} {judged:?}");
                assert!(copied[2].ends_with(&release(&mut schema)), "{round} {names:?} {policy}");
            }
            false => assert_ne!(judged.code, Some(0), "{round} {judged:?}"),
        }
        n_released += usize::from(copied[2].starts_with("Report"));
        n_none += usize::from(copied[1].starts_with("nothing satisfies"));
        n_suppressed += usize::from(copied[1].contains("Some(") && !copied[1].contains("{} Some(0)"));
    }
    assert!(
        n_released > 10 && n_suppressed > 3,
        "{n_released} released, {n_none} without, {n_suppressed} with suppression"
    );
}

/// Columns of codes whose prefix codes take 40 bits each.
fn wide(n_columns: usize) -> Vec<Column> {
    const NAMES: [&str; 4] = ["a", "b", "c", "d"];
    let cells: Vec<&'static str> = (0..10)
        .flat_map(|place| (1..10).map(move |digit| (place, digit)))
        .map(|(place, digit)| {
            let mut text = "0000000000".to_owned();
            text.replace_range(place..=place, &digit.to_string());
            &*format!("'{text}'").leak()
        })
        .collect();
    let cells: &'static [&'static str] = cells.leak();
    let role = || "role = \"quasi-identifier\"\nhierarchy = { mask = \"right\", length = 10 }".to_owned();
    NAMES[..n_columns].iter().map(|name| Column { name, of_type: "text", role: role(), cells }).collect()
}

#[test]
fn keys_of_more_than_63_and_126_bits_are_counted_in_several_columns() {
    let Some(mut schema) = Schema::new() else { return };
    let mut numbers = Numbers(5);
    for (n_columns, n_words) in [(1, 1), (2, 2), (4, 4)] {
        let table = format!("wide{n_columns}");
        create(&mut schema, &table, &wide(n_columns), 400, &mut numbers);
        let copied = job(&schema, &table, &wide(n_columns), "", 3, "10%", Rows::Memory);
        let there = job(&schema, &table, &wide(n_columns), "", 3, "10%", Rows::Database);
        let copied = outcome(&mut schema, &copied, n_columns < 4);
        assert!(copied[2].starts_with("Report"), "{}", copied[2]);
        assert_eq!(outcome(&mut schema, &there, n_columns < 4), copied, "{n_columns}");
        let log = log(&mut schema);
        let keys = format!(" AS k{}", n_words - 1);
        assert!(
            log.contains(&keys) && !log.contains(&format!(" AS k{n_words}")),
            "{n_columns} columns take {n_words} words"
        );
    }
}

/// What the server was asked so far about the tables of this schema.
fn log(schema: &mut Schema) -> String {
    let folder = schema.one("SHOW data_directory");
    let log = std::path::Path::new(&folder).parent().unwrap().join("log");
    let text = std::fs::read_to_string(log).unwrap();
    // A statement has one line or several; those about this schema say so.
    text.lines().filter(|line| line.contains(&schema.name)).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_servers_log_shows_grouping_there_and_no_name_of_a_person() {
    let Some(mut schema) = Schema::new() else { return };
    schema.run("CREATE TABLE people (secret_name text, zip text, ill text)");
    schema.run("INSERT INTO people SELECT 'Person ' || n, '101' || n % 7, 'ill ' || n % 3 FROM generate_series(1, 100) AS n");
    let text = "[input]\nurl = \"URL\"\ntable = \"SCHEMA.people\"\nengine = \"database\"\n[output]\nurl = \"URL\"\ntable = \"SCHEMA.release\"\n\
                [policy]\nk = 5\n[columns]\nsecret_name.role = \"identifier\"\nzip = { role = \"quasi-identifier\", hierarchy = { mask = \"right\" } }\nill.role = \"sensitive\"\n";
    let job = schema.job(text);
    let made = schema.incog(&["anonymize", job.to_str().unwrap()]);
    assert_eq!(made.code, Some(0), "{made:?}");
    let log = log(&mut schema);
    let asked: Vec<&str> =
        log.lines().filter(|line| line.contains(" AS q") || line.contains(" AS i ")).collect();
    assert!(asked.iter().filter(|line| line.contains("GROUP BY")).count() >= 3, "{log}");
    assert!(asked.iter().all(|line| !line.contains("secret_name")), "{log}");
    assert!(log.contains("ORDER BY gen_random_uuid()"), "{log}");
    // What a session that copies rows does would have been seen.
    let copied = schema.job(&text.replace("\"database\"", "\"memory\"").replace("release", "copied"));
    assert_eq!(schema.incog(&["anonymize", copied.to_str().unwrap()]).code, Some(0));
    let log = self::log(&mut schema);
    let fetched = |line: &&str| {
        line.contains("COPY (SELECT")
            && ![" GROUP BY", "count(*)"].iter().any(|word| line.contains(word))
            && line.contains(" AS q)")
    };
    assert!(log.lines().any(|line| fetched(&line)), "{log}");
    assert!(!asked.iter().any(fetched), "rows were fetched");
}

/// The paper's table through the database: how many nodes satisfy k, and which are minimal, as printed in `testdata/expected/adult`.
#[test]
fn adult_has_the_expected_nodes_through_the_database() {
    let Some(mut schema) = Schema::new() else { return };
    let Some(data) = incog_testkit::data::outside_file("adult/adult.csv") else { return };
    let expected = incog_testkit::data::project().join("testdata");
    let text = std::fs::read_to_string(data).unwrap();
    let columns: Vec<&str> = text.lines().next().unwrap().split(',').collect();
    let declared: Vec<String> = columns.iter().map(|column| format!("{column} text")).collect();
    schema.run(&format!("CREATE TABLE adult ({})", declared.join(", ")));
    let mut writer = schema.client.copy_in("COPY adult FROM STDIN (FORMAT csv, HEADER)").unwrap();
    std::io::Write::write_all(&mut writer, text.as_bytes()).unwrap();
    writer.finish().unwrap();
    for k in ["2", "10"] {
        let mut job = format!(
            "[input]\nurl = \"URL\"\ntable = \"SCHEMA.adult\"\nengine = \"database\"\n[policy]\nk = {k}\n"
        );
        for column in &columns {
            let file = expected.join(format!("hierarchies/adult/{column}.csv"));
            job += &format!(
                "[columns.{column}]\nrole = \"quasi-identifier\"\nhierarchy = {{ file = {file:?} }}\n"
            );
        }
        let job = schema.job(&job);
        let said = schema.incog(&["search", job.to_str().unwrap(), "--format", "json"]);
        assert_eq!(said.code, Some(0), "{said:?}");
        let report: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
        let counts = std::fs::read_to_string(expected.join("expected/adult/expected_counts.csv")).unwrap();
        let row = counts.lines().find(|line| line.starts_with(&format!("{k},9,"))).unwrap();
        let row: Vec<&str> = row.split(',').collect();
        assert_eq!(report["satisfying"].to_string(), row[3], "k = {k}");
        let minimal = report["minimal"].as_array().unwrap().iter().map(|node| {
            let levels = columns.iter().map(|column| node["levels"][column].to_string());
            levels.chain([node["smallest_group"].to_string()]).collect::<Vec<_>>().join(",")
        });
        let mut minimal: Vec<String> = minimal.collect();
        minimal.sort();
        let printed = format!("expected/adult/expected_minimal_k{k}.csv");
        let printed = std::fs::read_to_string(expected.join(printed)).unwrap();
        let mut printed: Vec<&str> = printed.lines().skip(1).collect();
        printed.sort_unstable();
        assert_eq!(minimal, printed, "k = {k}");
    }
}
