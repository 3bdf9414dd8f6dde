//! Whatever clusters persons in many tables, its release passes the independent checker, on random databases; and one label,
//! one child or one key that is changed does not.

use incog_core::Progress;
use incog_core::privacy::{Fraction, Parameters, PrivacyModel, Sensitive, build};
use incog_core::relational::{
    Clustering, Cost, Database, Enforcement, Matching, Options, Pairing, Release, Requirements, dmiracle,
    measure, miracle,
};
use incog_testkit::baseline::{local, universal};
use incog_testkit::data::{csv_rows, project};
use incog_testkit::database::{TextDatabase, TextRow, TextTable, databases};
use incog_verify::{
    DatabaseClaims, Fraction as Share, Hierarchy, Labels, Report, SensitiveClaim, StringTable, TableClaims,
    TableSource, check_database,
};
use proptest::prelude::*;
use proptest::sample::Index;

/// A released table as rows of text, with the row that each was made from.
#[derive(Debug, Clone)]
struct Released {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
    origins: Vec<u32>,
}

/// The released tables, with keys that are new and in no order.
fn released(text: &TextDatabase, database: &Database, release: &Release) -> Vec<Released> {
    let new_key = |row_idx: usize| format!("n{}", (row_idx * 271 + 5) % 9_973);
    let of_table = |table: usize| {
        let of = &release.tables[table];
        let row = |(at, &record): (usize, &u32)| {
            let mut row = text.row(table, record as usize);
            row[0] = new_key(record as usize);
            if table > 0 {
                row[1] = new_key(text.0[table].rows[record as usize].parent);
            }
            let first = if table > 0 { 2 } else { 1 };
            for (number, attribute) in database.attributes(table).iter().enumerate() {
                let label = of.labels[number][at];
                row[first + number] = attribute.hierarchy().labels(label.level).value(label.code).to_owned();
            }
            row
        };
        Released {
            header: text.header(table),
            rows: of.records.iter().enumerate().map(row).collect(),
            origins: of.records.clone(),
        }
    };
    (0..text.0.len()).map(of_table).collect()
}

fn string_table(header: &[String], rows: &[Vec<String>]) -> StringTable {
    // Quoted, so that a row of one missing value is a row.
    let line = |cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(|cell| format!("\"{cell}\"")).collect();
        cells.join(",") + "\n"
    };
    let text: String = std::iter::once(line(header)).chain(rows.iter().map(|row| line(row))).collect();
    StringTable::parse(text.as_bytes(), b',').unwrap()
}

#[derive(Debug, Clone, Copy)]
enum Origins {
    Given,
    Unknown,
}

/// What the checker says of released tables.
fn verified(
    text: &TextDatabase,
    release: &[Released],
    k: u64,
    claim: &SensitiveClaim,
    origins: Origins,
) -> Report {
    let inputs: Vec<StringTable> = (0..text.0.len())
        .map(|table| {
            let rows: Vec<Vec<String>> =
                (0..text.0[table].rows.len()).map(|row_idx| text.row(table, row_idx)).collect();
            string_table(&text.header(table), &rows)
        })
        .collect();
    let tables: Vec<StringTable> =
        release.iter().map(|table| string_table(&table.header, &table.rows)).collect();
    let claims = DatabaseClaims {
        person: TextDatabase::name(0),
        k,
        suppression: None,
        tables: text
            .0
            .iter()
            .enumerate()
            .map(|(at, table)| TableClaims {
                name: TextDatabase::name(at),
                columns: Some(text.header(at)),
                key: Some("id".into()),
                parent: (at > 0).then(|| (TextDatabase::name(table.parent), "of".to_owned())),
                quasi_identifiers: (0..table.quasi.len()).map(|at| format!("q{at}")).collect(),
                sensitive: table.is_sensitive.then(|| claim.clone()).into_iter().collect(),
            })
            .collect(),
        source: Some(
            text.0
                .iter()
                .enumerate()
                .map(|(at, table)| TableSource {
                    input: &inputs[at],
                    hierarchies: table
                        .quasi
                        .iter()
                        .map(|paths| Hierarchy {
                            levels: (0..paths[0].len()).collect(),
                            paths: paths.iter().map(|path| (path[0].clone(), path.clone())).collect(),
                        })
                        .collect(),
                    origins: match origins {
                        Origins::Given => Some(release[at].origins.as_slice()),
                        Origins::Unknown => None,
                    },
                })
                .collect(),
        ),
    };
    let tables: Vec<&dyn Labels> = tables.iter().map(|table| table as &dyn Labels).collect();
    check_database(&tables, &claims)
}

/// A model of every table's sensitive column, for the engine and for the checker.
#[derive(Debug, Clone, Copy)]
enum Diversity {
    None,
    Distinct(u64),
    Entropy(u64),
    Recursive(u64, u64),
    Alpha(u64),
    Closeness(u64),
}

impl Diversity {
    /// For every table with a sensitive column; `None` if a column has too few values for the model.
    fn requirements(self, text: &TextDatabase, database: &Database) -> Option<Vec<Requirements>> {
        let tenths = |n: u64| Fraction::new(n, 10).unwrap();
        let of_table = |table: usize| {
            let at = text.header(table).iter().position(|name| name == "secret").unwrap();
            let column = &database.relations()[table].table.columns()[at];
            let nothing = Parameters::of(Sensitive::of_rows(0, column));
            let (name, parameters) = match self {
                Diversity::None => return Some(None),
                Diversity::Distinct(l) => ("distinct-l", nothing.with("l", l)),
                Diversity::Entropy(l) => ("entropy-l", nothing.with("l", l)),
                Diversity::Recursive(c, l) => ("recursive-cl", nothing.with("c", c).with("l", l)),
                Diversity::Alpha(alpha) => ("alpha-k", nothing.with("alpha", tenths(alpha))),
                Diversity::Closeness(t) => ("t-closeness", nothing.with("t", tenths(t))),
            };
            let models: Vec<Box<dyn PrivacyModel>> = vec![build(name, &parameters).ok()?];
            Some(Some(Requirements { table, columns: vec![at], models }))
        };
        let tables = (0..text.0.len()).filter(|&table| text.0[table].is_sensitive);
        let all: Option<Vec<Option<Requirements>>> = tables.map(of_table).collect();
        Some(all?.into_iter().flatten().collect())
    }

    fn claim(self) -> SensitiveClaim {
        let share = |n: u64| format!("{n}/10").parse::<Share>().ok();
        let mut claim = SensitiveClaim::measured("secret");
        match self {
            Diversity::None => {}
            Diversity::Distinct(l) => claim.distinct_l = Some(l),
            Diversity::Entropy(l) => claim.entropy_l = Some(Share::from(l)),
            Diversity::Recursive(c, l) => claim.recursive = Some((Share::from(c), l)),
            Diversity::Alpha(alpha) => claim.alpha = share(alpha),
            Diversity::Closeness(t) => claim.t = share(t),
        }
        claim
    }
}

fn diversities() -> impl Strategy<Value = Diversity> {
    prop_oneof![
        Just(Diversity::None),
        (1_u64..4).prop_map(Diversity::Distinct),
        (1_u64..4).prop_map(Diversity::Entropy),
        (1_u64..4, 1_u64..4).prop_map(|(c, l)| Diversity::Recursive(c, l)),
        (3_u64..10).prop_map(Diversity::Alpha),
        (1_u64..10).prop_map(Diversity::Closeness),
    ]
}

fn options() -> impl Strategy<Value = Options> {
    let pairs = prop_oneof![
        Just((Pairing::Subtree, Matching::Greedy)),
        Just((Pairing::Record, Matching::Greedy)),
        Just((Pairing::Level, Matching::Greedy)),
        Just((Pairing::Subtree, Matching::Optimal)),
        Just((Pairing::Record, Matching::Optimal)),
    ];
    let costs = prop_oneof![Just(Cost::Loss), Just(Cost::Precision)];
    let candidates = prop_oneof![Just(None), (1_usize..5).prop_map(Some)];
    (2_usize..5, 0_u64..=10, 1_usize..8, pairs, costs, candidates).prop_map(
        |(k, tenths, cluster_limit, (pairing, matching), cost, candidates)| Options {
            threshold: Fraction::new(tenths, 10).unwrap(),
            cluster_limit,
            pairing,
            matching,
            cost,
            candidates,
            ..Options::new(k)
        },
    )
}

fn enforcements() -> impl Strategy<Value = Enforcement> {
    prop_oneof![Just(Enforcement::Merge), Just(Enforcement::Distance), Just(Enforcement::Suppress)]
}

fn clustered(
    text: &TextDatabase,
    database: &Database,
    options: &Options,
    diversity: Diversity,
    enforcement: Enforcement,
) -> Option<Clustering> {
    let requirements = diversity.requirements(text, database)?;
    if requirements.is_empty() {
        return Some(miracle(database, options, &Progress::new()).unwrap());
    }
    Some(dmiracle(database, options, &requirements, enforcement, &Progress::new()).unwrap())
}

fn says(report: &Report) -> String {
    report.findings.iter().map(|finding| format!("{finding}\n")).collect()
}

/// A change to a release after which somebody stands out.
#[derive(Debug, Clone, Copy)]
enum Change {
    /// One label becomes another one of its column.
    Label,
    /// A row stands there once more, with a key of its own.
    ExtraChild,
    /// A row refers to nobody.
    ForeignKey,
    /// Two rows have one key.
    Key,
    /// A row is gone, with all that hangs on it.
    Removed,
}

/// The person that a released row belongs to, by its key.
fn person(text: &TextDatabase, release: &[Released], table: usize, row: &[String]) -> String {
    if table == 0 {
        return row[0].clone();
    }
    let parent = text.0[table].parent;
    let above = release[parent].rows.iter().find(|above| above[0] == row[1]).unwrap();
    person(text, release, parent, above)
}

/// A released row with all that hangs on it, as text without keys and in no order.
fn tree(text: &TextDatabase, release: &[Released], table: usize, row: &[String]) -> String {
    let own = &row[if table > 0 { 2 } else { 1 }..][..text.0[table].quasi.len()];
    let children = (1..text.0.len()).filter(|&child| text.0[child].parent == table).map(|child| {
        let rows = release[child].rows.iter().filter(|below| below[1] == row[0]);
        let mut trees: Vec<String> = rows.map(|below| tree(text, release, child, below)).collect();
        trees.sort();
        format!("[{}]", trees.join(" "))
    });
    format!("<{}{}>", own.join(","), children.collect::<String>())
}

/// The persons of the smallest classes, by their keys, and the size of these.
fn exposed(text: &TextDatabase, release: &[Released]) -> (Vec<String>, u64) {
    let persons = &release[0].rows;
    let trees: Vec<String> = persons.iter().map(|row| tree(text, release, 0, row)).collect();
    let size = |tree: &String| trees.iter().filter(|other| *other == tree).count();
    let smallest = trees.iter().map(size).min().unwrap_or(0);
    let keys = persons.iter().zip(&trees).filter(|(_, tree)| size(tree) == smallest);
    (keys.map(|(row, _)| row[0].clone()).collect(), smallest as u64)
}

/// Changes a row of one of these persons, picked among those for which it makes sense; `None` if there is none.
fn changed(
    text: &TextDatabase,
    release: &[Released],
    persons: &[String],
    change: Change,
    [pick, label]: [Index; 2],
) -> Option<Vec<Released>> {
    let mut places: Vec<(usize, usize)> = Vec::new();
    for (table, released) in release.iter().enumerate() {
        let makes_sense = match change {
            Change::Label => text.0[table].quasi.iter().any(|paths| paths.len() > 1),
            Change::ExtraChild | Change::ForeignKey | Change::Removed => table > 0,
            Change::Key => released.rows.len() > 1,
        };
        let rows = released.rows.iter().enumerate().filter(|_| makes_sense);
        let rows = rows.filter(|(_, row)| persons.contains(&person(text, release, table, row)));
        places.extend(rows.map(|(row_idx, _)| (table, row_idx)));
    }
    let (table, row_idx) = if places.is_empty() { return None } else { places[pick.index(places.len())] };
    let mut changed = release.to_vec();
    match change {
        Change::Label => {
            let number = text.0[table].quasi.iter().position(|paths| paths.len() > 1).unwrap();
            let cell = &mut changed[table].rows[row_idx][if table > 0 { 2 } else { 1 } + number];
            let mut labels: Vec<&String> = text.0[table].quasi[number].iter().flatten().collect();
            labels.retain(|other| *other != cell);
            let label = labels[label.index(labels.len())].clone();
            *cell = label;
        }
        Change::ExtraChild => {
            let mut row = changed[table].rows[row_idx].clone();
            row[0] = "one-more".to_owned();
            changed[table].rows.push(row);
            let origin = changed[table].origins[row_idx];
            changed[table].origins.push(origin);
        }
        Change::ForeignKey => changed[table].rows[row_idx][1] = "nobody".to_owned(),
        Change::Key => {
            let other = changed[table].rows[(row_idx + 1) % changed[table].rows.len()][0].clone();
            changed[table].rows[row_idx][0] = other;
        }
        Change::Removed => {
            let mut gone = vec![(table, changed[table].rows[row_idx][0].clone())];
            while let Some((table, key)) = gone.pop() {
                let at = changed[table].rows.iter().position(|row| row[0] == key).unwrap();
                changed[table].rows.remove(at);
                changed[table].origins.remove(at);
                for child in (1..text.0.len()).filter(|&child| text.0[child].parent == table) {
                    let below = changed[child].rows.iter().filter(|row| row[1] == key);
                    gone.extend(below.map(|row| (child, row[0].clone())));
                }
            }
        }
    }
    Some(changed)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_release_passes_the_checker_for_k_and_diversity(
        text in databases(14), options in options(), diversity in diversities(), enforcement in enforcements(),
    ) {
        let database = text.database();
        prop_assume!(database.n_persons() >= options.k);
        let clustering = clustered(&text, &database, &options, diversity, enforcement);
        prop_assume!(clustering.is_some());
        let clustering = clustering.unwrap();
        let release = released(&text, &database, &Release::of_clusters(&database, &clustering));
        for origins in [Origins::Given, Origins::Unknown] {
            let report = verified(&text, &release, options.k as u64, &diversity.claim(), origins);
            prop_assert!(report.holds(), "{:?}: {}", origins, says(&report));
            let measured = measure(&database, &clustering);
            prop_assert_eq!(report.smallest_group, measured.smallest_class);
            let n_classes: u64 = report.group_sizes.iter().map(|(_, classes)| classes).sum();
            prop_assert_eq!(n_classes, measured.n_classes as u64);
            for (found, computed) in report.tables.iter().zip(&measured.tables) {
                prop_assert_eq!(found.removed_rows, Some(computed.removed_rows));
            }
        }
    }

    #[test]
    fn a_changed_release_does_not_pass(
        text in databases(14), options in options(), picks: [Index; 2],
        change in prop_oneof![
            Just(Change::Label), Just(Change::ExtraChild), Just(Change::ForeignKey), Just(Change::Key),
            Just(Change::Removed),
        ],
    ) {
        let database = text.database();
        prop_assume!(database.n_persons() >= options.k);
        let clustering = miracle(&database, &options, &Progress::new()).unwrap();
        let release = released(&text, &database, &Release::of_clusters(&database, &clustering));
        // Whoever is changed leaves a class that is then smaller than k.
        let (persons, k) = exposed(&text, &release);
        let changed = changed(&text, &release, &persons, change, picks);
        prop_assume!(changed.is_some());
        let nothing = SensitiveClaim::measured("secret");
        for origins in [Origins::Given, Origins::Unknown] {
            let before = verified(&text, &release, k, &nothing, origins);
            prop_assert!(before.holds(), "{}", says(&before));
            let after = verified(&text, changed.as_ref().unwrap(), k, &nothing, origins);
            prop_assert!(!after.holds(), "{:?} {:?}: {}", change, origins, says(&after));
        }
    }
}

/// The paper's students as words.
fn students() -> TextDatabase {
    let rows =
        |file: &str, delimiter: u8| csv_rows(&project().join("testdata/students").join(file), delimiter);
    let [persons, takes, books] = ["student.csv", "takes.csv", "book.csv"].map(|file| rows(file, b','));
    let place = |rows: &[Vec<String>], key: &str| rows[1..].iter().position(|row| row[0] == key).unwrap();
    let row = |parent: usize, quasi: &[&String], secret: &String| TextRow {
        parent,
        quasi: quasi.iter().map(|&cell| cell.clone()).collect(),
        secret: secret.clone(),
    };
    let of_persons = persons[1..].iter().map(|cells| row(0, &[], &cells[1])).collect();
    let of_takes = takes[1..].iter().map(|cells| row(place(&persons, &cells[1]), &[&cells[2]], &cells[3]));
    let of_books = books[1..].iter().map(|cells| row(place(&takes, &cells[1]), &[&cells[2]], &cells[3]));
    let (of_takes, of_books) = (of_takes.collect(), of_books.collect());
    TextDatabase(vec![
        TextTable { parent: 0, quasi: vec![], is_sensitive: true, rows: of_persons },
        TextTable {
            parent: 0,
            quasi: vec![rows("dgh/course.csv", b';')],
            is_sensitive: true,
            rows: of_takes,
        },
        TextTable { parent: 1, quasi: vec![rows("dgh/book.csv", b';')], is_sensitive: true, rows: of_books },
    ])
}

#[test]
fn the_checker_refuses_what_universal_and_local_anonymization_make_of_the_students() {
    let text = students();
    let database = text.database();
    let nothing = SensitiveClaim::measured("secret");
    let progress = Progress::new();
    let baselines = [universal(&database, 2, &progress).unwrap(), local(&database, 2, &progress).unwrap()];
    for baseline in baselines {
        // They do what they set out to do, and it is not enough.
        assert!(baseline.short_tables.is_empty());
        let release = released(&text, &database, &baseline.release);
        for origins in [Origins::Given, Origins::Unknown] {
            let report = verified(&text, &release, 2, &nothing, origins);
            let failed: Vec<&str> = report
                .findings
                .iter()
                .filter(|finding| !finding.holds)
                .map(|finding| finding.claim.as_str())
                .collect();
            assert_eq!(failed, ["2-anonymity of persons relative to t1.q0, t2.q0"], "{}", says(&report));
            assert_eq!(report.smallest_group, Some(1));
        }
    }
    let clustering = miracle(&database, &Options::new(2), &progress).unwrap();
    let release = released(&text, &database, &Release::of_clusters(&database, &clustering));
    assert!(verified(&text, &release, 2, &nothing, Origins::Unknown).holds());
}
