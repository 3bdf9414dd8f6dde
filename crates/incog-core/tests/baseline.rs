//! What clusters cost, and the baselines, against computations on strings.
//!
//! The oracles share no code with the engine: a person is a text, a label covers the leaves whose path contains it, a join
//! is a nested loop, a bitmap is a set of texts.

use std::collections::{BTreeMap, BTreeSet};

use incog_core::hierarchy::{Attribute, ExplicitHierarchy};
use incog_core::privacy::Fraction;
use incog_core::relational::{
    Clustering, Database, ForeignKey, Node, Options, Pairing, Relation, Release, measure, miracle,
};
use incog_core::table::{Column, Role, Table};
use incog_core::{ErrorKind, Progress};
use incog_testkit::baseline::{Bitmap, Completeness, FullDomain, Parameters, bitmap, local, universal};
use incog_testkit::data::{csv_rows, project};
use proptest::prelude::*;
use proptest::sample::Index;

/// Few leaves, so that persons have equal rows: four in pairs, two of which one is a missing value, and a single one.
const HIERARCHIES: [&[&[&str]]; 3] = [
    &[&["a", "ab", "*"], &["b", "ab", "*"], &["c", "cd", "*"], &["d", "cd", "*"]],
    &[&["", "*"], &["x", "*"]],
    &[&["z"]],
];

/// Table 0 has the persons; every other refers to an earlier one.
#[derive(Debug, Clone)]
struct Tables(Vec<TextTable>);

#[derive(Debug, Clone)]
struct TextTable {
    parent: usize,
    /// The path of each leaf of each column's hierarchy.
    columns: Vec<Vec<Vec<String>>>,
    /// For each row, the row that it refers to and its cells.
    rows: Vec<(usize, Vec<String>)>,
}

/// Half of the databases have every person twice, the second time with all rows in reverse order: the twin of row r of n
/// is row 2 n - 1 - r.
fn tables() -> impl Strategy<Value = Tables> {
    let table = |n_rows: std::ops::Range<usize>| {
        let row = (any::<Index>(), any::<[Index; 2]>());
        let columns = prop::collection::vec(0..HIERARCHIES.len(), 0..3);
        (any::<Index>(), columns, prop::collection::vec(row, n_rows))
    };
    let children = prop::collection::vec(table(0..24), 0..4);
    (table(1..14), children, any::<bool>()).prop_map(|(persons, children, with_twins)| {
        let mut tables: Vec<TextTable> = Vec::new();
        for (parent, mut columns, rows) in std::iter::once(persons).chain(children) {
            let parent = if tables.is_empty() { 0 } else { parent.index(tables.len()) };
            let n_parents = tables.get(parent).map_or(1, |table| table.rows.len());
            if tables.is_empty() && columns.is_empty() {
                // At least one column of some table must be a quasi-identifier; every other person table has none.
                columns = if rows.len() % 2 == 0 { vec![0] } else { vec![] };
            }
            let row = |(parent, leaves): &(Index, [Index; 2])| {
                let leaf = |(&column, leaf): (&usize, &Index)| {
                    HIERARCHIES[column][leaf.index(HIERARCHIES[column].len())][0].to_owned()
                };
                (parent.index(n_parents), columns.iter().zip(leaves).map(leaf).collect())
            };
            let rows = if n_parents == 0 { Vec::new() } else { rows.iter().map(row).collect() };
            let words = |&column: &usize| {
                let path = |path: &&[&str]| path.iter().map(|&label| label.to_owned()).collect();
                HIERARCHIES[column].iter().map(path).collect()
            };
            tables.push(TextTable { parent, rows, columns: columns.iter().map(words).collect() });
        }
        if tables.iter().all(|table| table.columns.is_empty()) {
            let paths = HIERARCHIES[1].iter().map(|path| path.iter().map(|&label| label.into()).collect());
            tables[0].columns.push(paths.collect());
            tables[0].rows.iter_mut().for_each(|row| row.1.push("x".into()));
        }
        if with_twins {
            for at in (0..tables.len()).rev() {
                let n_parents = tables[tables[at].parent].rows.len();
                let twin = |(parent, cells): &(usize, Vec<String>)| match at {
                    0 => (0, cells.clone()),
                    _ => (2 * n_parents - 1 - parent, cells.clone()),
                };
                let twins: Vec<(usize, Vec<String>)> = tables[at].rows.iter().rev().map(twin).collect();
                tables[at].rows.extend(twins);
            }
        }
        Tables(tables)
    })
}

/// A relation with its cells as text; keys are no quasi-identifiers.
fn relation(name: &str, table: &TextTable, key: &dyn Fn(usize) -> String, parent: Option<&str>) -> Relation {
    let column = |name: &str, role: Role, cells: Vec<String>| {
        Column::from_cells(name, role, cells.iter().map(String::as_str)).unwrap()
    };
    let mut columns = vec![column("id", Role::Other, (0..table.rows.len()).map(key).collect())];
    let mut attributes = Vec::new();
    for (number, paths) in table.columns.iter().enumerate() {
        let name = format!("q{number}");
        let cells = table.rows.iter().map(|row| row.1[number].clone()).collect();
        columns.push(column(&name, Role::QuasiIdentifier, cells));
        let mut rows = ExplicitHierarchy::new(name, "dgh");
        for (line, path) in paths.iter().enumerate() {
            rows.push(line as u64 + 1, path.iter().map(String::as_str)).unwrap();
        }
        attributes.push(Attribute::bind(columns.last().unwrap(), rows.finish().unwrap(), "dgh").unwrap());
    }
    let mut foreign_keys = Vec::new();
    if let Some(parent) = parent {
        columns.push(column("of", Role::Other, table.rows.iter().map(|row| key(row.0)).collect()));
        foreign_keys.push(ForeignKey { column: "of".into(), table: parent.into() });
    }
    let table = Table::new(columns).unwrap();
    Relation { name: name.into(), table, key: Some("id".into()), foreign_keys, attributes }
}

impl Tables {
    /// The person table last: the order of the tables must not matter.
    fn database(&self) -> Database {
        let key = |row_idx: usize| format!("k{}", row_idx * 7919 % 10_007);
        let relation = |(at, table): (usize, &TextTable)| {
            let parent = format!("t{}", table.parent);
            relation(&format!("t{at}"), table, &key, (at > 0).then_some(parent.as_str()))
        };
        let mut relations: Vec<Relation> = self.0.iter().enumerate().map(relation).collect();
        relations.rotate_left(1);
        Database::new(relations, "t0").unwrap()
    }

    /// The number in the engine's database of a table here.
    fn number(&self, table: usize) -> usize {
        (table + self.0.len() - 1) % self.0.len()
    }

    fn n_persons(&self) -> usize {
        self.0[0].rows.len()
    }

    fn children(&self, table: usize) -> impl Iterator<Item = usize> {
        (1..self.0.len()).filter(move |&child| self.0[child].parent == table)
    }

    fn rows_of(&self, child: usize, parent_row: usize) -> impl Iterator<Item = usize> {
        let rows = self.0[child].rows.iter().enumerate();
        rows.filter(move |(_, row)| row.0 == parent_row).map(|(row_idx, _)| row_idx)
    }

    fn n_cells(&self) -> usize {
        self.0.iter().map(|table| table.rows.len() * table.columns.len()).sum()
    }

    /// For each table here, the labels of each row that a release has.
    fn in_words(&self, database: &Database, release: &Release) -> Vec<BTreeMap<usize, Vec<String>>> {
        let of_table = |table: usize| {
            let released = &release.tables[self.number(table)];
            let attributes = database.attributes(self.number(table));
            let row = |(at, &record): (usize, &u32)| {
                let labels = released.labels.iter().zip(attributes).map(|(labels, attribute)| {
                    attribute.hierarchy().labels(labels[at].level).value(labels[at].code).to_owned()
                });
                (record as usize, labels.collect())
            };
            assert!(released.records.windows(2).all(|pair| pair[0] < pair[1]), "rows are not ascending");
            released.records.iter().enumerate().map(row).collect()
        };
        (0..self.0.len()).map(of_table).collect()
    }

    /// The released tree of a record as text, siblings in alphabetical order.
    fn tree(&self, rows: &[BTreeMap<usize, Vec<String>>], table: usize, row_idx: usize) -> Option<String> {
        let labels = rows[table].get(&row_idx)?;
        let below = self.children(table).map(|child| {
            let mut trees: Vec<String> =
                self.rows_of(child, row_idx).filter_map(|row_idx| self.tree(rows, child, row_idx)).collect();
            trees.sort();
            format!("{trees:?}")
        });
        Some(format!("{labels:?} {}", below.collect::<Vec<_>>().join(" ")))
    }

    /// How many persons look like each, of those who are released.
    fn class_sizes(&self, rows: &[BTreeMap<usize, Vec<String>>]) -> Vec<usize> {
        let trees: Vec<String> =
            (0..self.n_persons()).filter_map(|person| self.tree(rows, 0, person)).collect();
        trees.iter().map(|tree| trees.iter().filter(|other| *other == tree).count()).collect()
    }
}

fn options(k: usize, tenths: u64, cluster_limit: usize, pairing: Pairing) -> Options {
    Options { threshold: Fraction::new(tenths, 10).unwrap(), cluster_limit, pairing, ..Options::new(k) }
}

/// The rows of all nodes, by table of the database.
fn records(database: &Database, table: usize, node: &Node, rows: &mut Vec<BTreeSet<u32>>) {
    for &record in node.records() {
        assert!(rows[table].insert(record));
    }
    for (&child, nodes) in database.children(table).iter().zip(node.children()) {
        nodes.iter().for_each(|node| records(database, child, node, rows));
    }
}

fn check_near(value: f64, expected: f64) -> Result<(), TestCaseError> {
    prop_assert!((value - expected).abs() < 1e-9, "{} is not {}", value, expected);
    Ok(())
}

/// What the cells of a table cost, from the texts of their labels.
fn naive_cost(table: &TextTable, released: &BTreeMap<usize, Vec<String>>) -> f64 {
    let mut cost = 0.0;
    for row_idx in 0..table.rows.len() {
        for (at, paths) in table.columns.iter().enumerate() {
            cost += match released.get(&row_idx) {
                None => 1.0,
                Some(_) if paths.len() == 1 => 0.0,
                Some(labels) => {
                    let covered = paths.iter().filter(|path| path.contains(&labels[at])).count();
                    (covered as f64 - 1.0) / (paths.len() as f64 - 1.0)
                }
            };
        }
    }
    cost
}

/// A person or some, in the words of the bitmap oracle.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Set {
    members: Vec<u32>,
    all: BTreeSet<String>,
    some: BTreeSet<String>,
}

/// Every row of a person as the text of its path; of the person table, a text for each cell.
fn naive_paths(tables: &Tables, person: usize) -> Vec<(usize, String)> {
    fn below(tables: &Tables, table: usize, row_idx: usize, path: &str, paths: &mut Vec<(usize, String)>) {
        for child in tables.children(table) {
            for row_idx in tables.rows_of(child, row_idx) {
                let path = format!("{path}/t{child}{:?}", tables.0[child].rows[row_idx].1);
                paths.push((tables.0[child].columns.len(), path.clone()));
                below(tables, child, row_idx, &path, paths);
            }
        }
    }
    let cells = tables.0[0].rows[person].1.iter().enumerate();
    let mut paths: Vec<(usize, String)> = cells.map(|(at, cell)| (1, format!("q{at}={cell}"))).collect();
    below(tables, 0, person, "", &mut paths);
    paths
}

fn naive_bitmap(tables: &Tables, complete: bool, k: usize, tenths: usize, limit: usize) -> (Vec<Set>, Set) {
    let n_columns = {
        let all: BTreeSet<String> = (0..tables.n_persons())
            .flat_map(|person| naive_paths(tables, person))
            .map(|(_, path)| path)
            .collect();
        all.len()
    };
    let join = |a: &Set, b: &Set| Set {
        members: [&a.members[..], &b.members].concat(),
        all: &a.all & &b.all,
        some: &a.some | &b.some,
    };
    // Lost cells and all cells of both.
    let distance = |a: &Set, b: &Set| {
        let common = join(a, b);
        if complete {
            let starred = common.some.iter().filter(|path| !common.all.contains(*path)).count();
            (2 * starred, (2 * n_columns).max(1))
        } else {
            let lost = |set: &Set| set.all.iter().filter(|path| !common.all.contains(*path)).count();
            (lost(a) + lost(b), (a.all.len() + b.all.len()).max(1))
        }
    };
    let nearest = |open: &[Set], one: &Set| {
        let mut best: Option<(usize, usize, usize)> = None;
        for (at, set) in open.iter().enumerate() {
            let (lost, of) = distance(set, one);
            if best.is_none_or(|(least, of_least, _)| lost * of_least < least * of) {
                best = Some((lost, of, at));
            }
        }
        best
    };
    let (mut open, mut closed): (Vec<Set>, Vec<Set>) = (Vec::new(), Vec::new());
    for person in 0..tables.n_persons() {
        let paths: BTreeSet<String> = naive_paths(tables, person).into_iter().map(|(_, path)| path).collect();
        let alone = Set { members: vec![person as u32], all: paths.clone(), some: paths };
        let at = match nearest(&open, &alone) {
            Some((lost, of, at)) if lost * 10 <= tenths * of || open.len() >= limit => {
                open[at] = join(&open[at], &alone);
                at
            }
            _ => {
                open.push(alone);
                open.len() - 1
            }
        };
        if open[at].members.len() == k {
            closed.push(open.remove(at));
        }
    }
    while !open.is_empty() {
        let first = open.remove(0);
        if first.members.len() >= k {
            closed.push(first);
        } else if let Some((.., at)) = nearest(&open, &first) {
            let other = open.remove(at);
            open.insert(0, join(&first, &other));
        } else {
            return (closed, first);
        }
    }
    (closed, Set { members: vec![], all: BTreeSet::new(), some: BTreeSet::new() })
}

/// The row that each joined row has in each table.
fn naive_join(tables: &Tables) -> Vec<Vec<Option<usize>>> {
    let mut joined: Vec<Vec<Option<usize>>> = (0..tables.n_persons()).map(|row| vec![Some(row)]).collect();
    for (table, of_table) in tables.0.iter().enumerate().skip(1) {
        let mut longer = Vec::new();
        for row in joined {
            let found: Vec<usize> =
                row[of_table.parent].map_or(vec![], |parent| tables.rows_of(table, parent).collect());
            let found = if found.is_empty() { vec![None] } else { found.into_iter().map(Some).collect() };
            longer.extend(found.into_iter().map(|one| [&row[..], &[one]].concat()));
        }
        joined = longer;
    }
    joined
}

/// The least group of rows at some levels, where each row has a row of some tables.
fn least_group(tables: &Tables, rows: &[Vec<Option<usize>>], levels: &[Vec<u8>]) -> usize {
    let mut groups: BTreeMap<Vec<&str>, usize> = BTreeMap::new();
    for row in rows {
        let mut words = Vec::new();
        for (table, row_idx) in row.iter().enumerate() {
            for (at, paths) in tables.0[table].columns.iter().enumerate() {
                let (level, top) = (usize::from(levels[table][at]), paths[0].len() - 1);
                words.push(match row_idx {
                    Some(row_idx) => {
                        let cell = &tables.0[table].rows[*row_idx].1[at];
                        paths.iter().find(|path| path[0] == *cell).unwrap()[level].as_str()
                    }
                    None if level == top && top > 0 => paths[0][top].as_str(),
                    None => "absent",
                });
            }
        }
        *groups.entry(words).or_default() += 1;
    }
    groups.values().copied().min().unwrap_or(usize::MAX)
}

/// Rows in groups of at least k, and not if any column were one level lower.
fn check_levels(
    tables: &Tables,
    rows: &[Vec<Option<usize>>],
    levels: &[Vec<u8>],
    of_tables: &[usize],
    k: usize,
) -> Result<(), TestCaseError> {
    prop_assert!(least_group(tables, rows, levels) >= k, "a group is too small");
    for &table in of_tables {
        for at in 0..levels[table].len() {
            let mut lower = levels.to_vec();
            if lower[table][at] > 0 {
                lower[table][at] -= 1;
                prop_assert!(least_group(tables, rows, &lower) < k, "a level is higher than need be");
            }
        }
    }
    Ok(())
}

/// The levels by the oracle's numbers of tables.
fn by_table(tables: &Tables, found: &FullDomain) -> Vec<Vec<u8>> {
    (0..tables.0.len()).map(|table| found.levels[tables.number(table)].clone()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_clustering_releases_its_records_and_costs_what_the_labels_say(
        tables in tables(), k: Index, tenths in 0_u64..=10, limit in 1_usize..8,
    ) {
        let database = tables.database();
        let k = 1 + k.index(tables.n_persons().min(4));
        let clustering =
            miracle(&database, &options(k, tenths, limit, Pairing::Record), &Progress::new()).unwrap();
        let release = Release::of_clusters(&database, &clustering);
        let measured = measure(&database, &clustering);
        let mut in_nodes = vec![BTreeSet::new(); tables.0.len()];
        clustering.clusters.iter().for_each(|node| records(&database, database.person(), node, &mut in_nodes));
        for (table, in_nodes) in release.tables.iter().zip(&in_nodes) {
            prop_assert!(table.records.iter().eq(in_nodes));
        }
        let words = tables.in_words(&database, &release);
        let mut cost = 0.0;
        for (table, of_table) in tables.0.iter().enumerate() {
            for (row_idx, labels) in &words[table] {
                for ((label, cell), paths) in labels.iter().zip(&of_table.rows[*row_idx].1).zip(&of_table.columns) {
                    let path = paths.iter().find(|path| path[0] == *cell).unwrap();
                    prop_assert!(path.contains(label), "a label is no ancestor of the cell");
                }
            }
            let loss = measured.tables[tables.number(table)];
            let n_cells = of_table.rows.len() * of_table.columns.len();
            cost += naive_cost(of_table, &words[table]);
            check_near(loss.loss, naive_cost(of_table, &words[table]) / n_cells.max(1) as f64)?;
            prop_assert_eq!(loss.cells, n_cells as u64);
            prop_assert_eq!(loss.rows, of_table.rows.len() as u64);
            prop_assert_eq!(loss.removed_rows, (of_table.rows.len() - words[table].len()) as u64);
        }
        check_near(measured.loss, cost / tables.n_cells().max(1) as f64)?;
        let sizes = tables.class_sizes(&words);
        let n_removed = tables.n_persons() - sizes.len();
        prop_assert_eq!(measured.persons, tables.n_persons() as u64);
        prop_assert_eq!(measured.suppressed_persons, n_removed as u64);
        prop_assert_eq!(
            measured.discernibility,
            (sizes.iter().sum::<usize>() + n_removed * tables.n_persons()) as u64
        );
        prop_assert_eq!(measured.smallest_class, sizes.iter().min().map(|&size| size as u64));
        // Each person is one n-th of a class of n.
        let n_classes: f64 = sizes.iter().map(|&size| 1.0 / size as f64).sum();
        check_near(measured.n_classes as f64, n_classes)?;
        prop_assert!(sizes.iter().all(|&size| size >= k), "a person is not hidden");
    }

    #[test]
    fn bitmaps_are_those_of_sets_of_texts(
        tables in tables(), k: Index, tenths in 0_usize..=10, limit in 1_usize..8, complete: bool,
    ) {
        let database = tables.database();
        let k = 1 + k.index(tables.n_persons().min(4));
        let threshold = Fraction::new(tenths as u64, 10).unwrap();
        let parameters = Parameters { k, threshold, cluster_limit: limit };
        let completeness = if complete { Completeness::Complete } else { Completeness::Incomplete };
        let found: Bitmap = bitmap(&database, completeness, &parameters, &Progress::new()).unwrap();
        let (clusters, left) = naive_bitmap(&tables, complete, k, tenths, limit);
        let n_columns = (0..tables.n_persons()).flat_map(|person| naive_paths(&tables, person));
        let n_columns = n_columns.map(|(_, path)| path).collect::<BTreeSet<_>>().len();
        prop_assert_eq!(found.n_columns, n_columns);
        prop_assert_eq!(&found.suppressed, &left.members);
        let summary = |set: &Set| {
            (set.members.clone(), set.all.len(), if complete { n_columns - set.some.len() } else { 0 })
        };
        prop_assert_eq!(
            found.clusters.iter().map(|one| (one.members.clone(), one.n_ones, one.n_zeros)).collect::<Vec<_>>(),
            clusters.iter().map(summary).collect::<Vec<_>>()
        );
        // Every row of every person: a kept path keeps its first row, and every other row is lost.
        let (mut lost, mut surplus) = (0, 0);
        for person in 0..tables.n_persons() {
            let kept = clusters.iter().find(|set| set.members.contains(&(person as u32))).map(|set| &set.all);
            let mut seen = BTreeSet::new();
            for (n_cells, path) in naive_paths(&tables, person) {
                let is_kept = kept.is_some_and(|kept| kept.contains(&path));
                let is_first = seen.insert(path);
                surplus += u64::from(!is_first);
                lost += if is_kept && is_first { 0 } else { n_cells };
            }
        }
        prop_assert_eq!(found.surplus_rows, surplus);
        check_near(found.loss, lost as f64 / tables.n_cells().max(1) as f64)?;
        let same = |a: &Set, b: &Set| a.all == b.all && (!complete || a.some == b.some);
        let mut discernibility = left.members.len() * tables.n_persons();
        for a in &clusters {
            for b in clusters.iter().filter(|b| same(a, b)) {
                discernibility += a.members.len() * b.members.len();
            }
        }
        prop_assert_eq!(found.discernibility, discernibility as u64);
    }

    #[test]
    fn universal_anonymization_hides_joined_rows_and_no_higher_than_need_be(tables in tables(), k in 1_usize..6) {
        let rows = naive_join(&tables);
        prop_assume!(rows.len() < 20_000);
        let database = tables.database();
        let found = universal(&database, k, &Progress::new()).unwrap();
        let levels = by_table(&tables, &found);
        let all: Vec<usize> = (0..tables.0.len()).collect();
        if found.short_tables.is_empty() {
            check_levels(&tables, &rows, &levels, &all, k)?;
        } else {
            prop_assert_eq!(&found.short_tables, &all);
            prop_assert!(least_group(&tables, &rows, &levels) < k);
        }
        prop_assert_eq!(found.release, Release::of_levels(&database, &found.levels));
    }

    #[test]
    fn local_anonymization_hides_the_rows_of_each_table_and_no_higher_than_need_be(
        tables in tables(), k in 1_usize..6,
    ) {
        let database = tables.database();
        let found = local(&database, k, &Progress::new()).unwrap();
        let levels = by_table(&tables, &found);
        for (table, of_table) in tables.0.iter().enumerate() {
            // The rows of one table: those of the tables before it do not take part.
            let only = Tables(vec![of_table.clone()]);
            let rows: Vec<Vec<Option<usize>>> = (0..of_table.rows.len()).map(|row| vec![Some(row)]).collect();
            let levels = [levels[table].clone()];
            if found.short_tables.contains(&tables.number(table)) {
                prop_assert!((1..k).contains(&of_table.rows.len()) && !of_table.columns.is_empty());
                let top = |paths: &Vec<Vec<String>>| paths[0].len() as u8 - 1;
                prop_assert_eq!(&levels[0], &of_table.columns.iter().map(top).collect::<Vec<_>>());
            } else if !of_table.columns.is_empty() {
                check_levels(&only, &rows, &levels, &[0], k)?;
            }
        }
        prop_assert_eq!(found.release, Release::of_levels(&database, &found.levels));
    }
}

/// The paper's example from its files, as text: student → takes → book.
fn students() -> Tables {
    let file = |name: String| project().join("testdata/students").join(name);
    let rows = |name: &str| csv_rows(&file(format!("{name}.csv")), b',');
    let hierarchy = |name: &str| csv_rows(&file(format!("dgh/{name}.csv")), b';');
    let cells = |rows: &[Vec<String>], name: &str| -> Vec<String> {
        let at = rows[0].iter().position(|header| header == name).unwrap();
        rows[1..].iter().map(|row| row[at].clone()).collect()
    };
    let (student, takes, book) = (rows("student"), rows("takes"), rows("book"));
    let table = |parent: usize, keys: Vec<String>, refers: Vec<String>, column: &str, values: Vec<String>| {
        let place = |key: &String| keys.iter().position(|other| other == key).unwrap();
        let rows = refers.iter().map(place).zip(values.into_iter().map(|value| vec![value])).collect();
        TextTable { parent, columns: vec![hierarchy(column)], rows }
    };
    let students = cells(&student, "sid").iter().map(|_| (0, vec![])).collect();
    Tables(vec![
        TextTable { parent: 0, columns: vec![], rows: students },
        table(0, cells(&student, "sid"), cells(&takes, "sid"), "course", cells(&takes, "course")),
        table(1, cells(&takes, "scid"), cells(&book, "scid"), "book", cells(&book, "book")),
    ])
}

/// Sections 3.1 and 3.2: an attacker who knows all courses and books of a student finds them.
#[test]
fn joining_first_or_each_table_for_itself_leaves_a_student_unique() {
    let tables = students();
    let database = tables.database();
    let unique = |release: &Release| {
        let sizes = tables.class_sizes(&tables.in_words(&database, release));
        assert_eq!(sizes.len(), 4);
        sizes.iter().filter(|&&size| size == 1).count()
    };
    let progress = Progress::new();
    for found in [universal(&database, 2, &progress).unwrap(), local(&database, 2, &progress).unwrap()] {
        assert!(found.short_tables.is_empty());
        assert!(unique(&found.release) > 0, "{:?}", found.levels);
        // Nor does it help to generalize everything: they differ in how many courses and books they have.
        let highest = [vec![2], vec![2], vec![]];
        assert!(unique(&Release::of_levels(&database, &highest)) > 0);
    }
    // The same oracle finds nobody alone in what clusters release.
    let clustering: Clustering = miracle(&database, &options(2, 3, 150, Pairing::Record), &progress).unwrap();
    assert_eq!(unique(&Release::of_clusters(&database, &clustering)), 0);
}

#[test]
fn a_join_of_more_than_ten_million_rows_is_refused() {
    let table = |n_rows: usize| TextTable {
        parent: 0,
        columns: vec![
            HIERARCHIES[2].iter().map(|path| path.iter().map(|&label| label.into()).collect()).collect(),
        ],
        rows: vec![(0, vec!["z".into()]); n_rows],
    };
    // One person with four child tables, one of them empty: 100 * 400 * 250 is ten million, one more row is too many.
    let join = |n_rows: usize| {
        let tables = Tables(vec![table(1), table(100), table(400), table(n_rows), table(0)]);
        universal(&tables.database(), 2, &Progress::new())
    };
    assert_eq!(join(251).unwrap_err().kind(), ErrorKind::Limit);
    assert_eq!(join(1).unwrap().levels, vec![vec![0]; 5]);
}
