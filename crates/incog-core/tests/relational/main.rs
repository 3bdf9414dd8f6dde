//! Clusters of persons in many tables keep their promise, and are those of the paper's algorithms, on random databases.
//!
//! The oracle shares no code with the engine: a label is the set of leaves that it covers, the common label of two is the
//! smallest set with both, and costs are counted in 42nds.

mod diverse;

use std::collections::BTreeSet;

use incog_core::Progress;
use incog_core::hierarchy::{Attribute, ExplicitHierarchy};
use incog_core::privacy::Fraction;
use incog_core::relational::{
    Clustering, Cost, Database, ForeignKey, Label, Matcher, Matching, Node, Options, Pairing, Relation,
    Trees, miracle,
};
use incog_core::table::{Column, Role, Table};
use incog_testkit::data::{csv_rows, project};
use incog_testkit::database;
use proptest::prelude::*;
use proptest::sample::Index;

/// The hierarchies that columns may have: eight leaves in halves, three of which one is a missing value, and a single one.
const HIERARCHIES: [&[&[&str]]; 3] =
    [database::HIERARCHIES[0], database::HIERARCHIES[2], database::HIERARCHIES[3]];

/// What a removed cell costs: divisible by the other leaves of every hierarchy, and by its height.
const WHOLE: u64 = 42;

/// Table 0 has the persons; every other refers to an earlier one.
#[derive(Debug, Clone)]
struct Tables(Vec<TextTable>);

#[derive(Debug, Clone)]
struct TextTable {
    parent: usize,
    /// Which hierarchy each column has.
    columns: Vec<usize>,
    /// For each row, the row that it refers to and the leaf of each column.
    rows: Vec<(usize, Vec<usize>)>,
    /// For each row its sensitive value.
    sensitive: Vec<usize>,
}

fn tables() -> impl Strategy<Value = Tables> {
    tables_of(16, 40)
}

/// Fewer than `n_persons` persons, and fewer than `n_rows` rows in each other table.
fn tables_of(n_persons: usize, n_rows: usize) -> impl Strategy<Value = Tables> {
    let table = |n_rows: std::ops::Range<usize>| {
        let row = (any::<Index>(), any::<[Index; 2]>(), 0_usize..4);
        (
            any::<Index>(),
            prop::collection::vec(0..HIERARCHIES.len(), 0..3),
            prop::collection::vec(row, n_rows),
        )
    };
    let children = prop::collection::vec(table(0..n_rows), 0..5);
    (table(1..n_persons), children).prop_map(|(persons, children)| {
        let mut tables: Vec<TextTable> = Vec::new();
        for (parent, columns, rows) in std::iter::once(persons).chain(children) {
            let parent = if tables.is_empty() { 0 } else { parent.index(tables.len()) };
            let n_parents = tables.get(parent).map_or(1, |table| table.rows.len());
            let leaf = |(&column, leaf): (&usize, &Index)| leaf.index(HIERARCHIES[column].len());
            let row = |(parent, leaves, _): &(Index, [Index; 2], usize)| {
                (parent.index(n_parents), columns.iter().zip(leaves).map(leaf).collect())
            };
            let sensitive = rows.iter().map(|row| row.2).collect();
            let rows = if n_parents == 0 { Vec::new() } else { rows.iter().map(row).collect() };
            tables.push(TextTable { parent, rows, columns, sensitive });
        }
        if tables.iter().all(|table| table.columns.is_empty()) {
            tables[0].columns.push(0);
            tables[0].rows.iter_mut().enumerate().for_each(|(at, row)| row.1.push(at % 8));
        }
        Tables(tables)
    })
}

impl Tables {
    fn database(&self) -> Database {
        // Keys that are neither row numbers nor ascending.
        let key = |row_idx: usize| format!("k{}", row_idx * 7919 % 10_007);
        let relation = |(at, table): (usize, &TextTable)| {
            let column = |name: String, role: Role, cells: Vec<String>| {
                Column::from_cells(name, role, cells.iter().map(String::as_str)).unwrap()
            };
            let mut columns =
                vec![column("id".into(), Role::Other, (0..table.rows.len()).map(key).collect())];
            let mut attributes = Vec::new();
            for (number, &hierarchy) in table.columns.iter().enumerate() {
                let paths = HIERARCHIES[hierarchy];
                let cells = table.rows.iter().map(|row| paths[row.1[number]][0].to_owned()).collect();
                let name = format!("q{number}");
                columns.push(column(name.clone(), Role::QuasiIdentifier, cells));
                let mut rows = ExplicitHierarchy::new(name, "dgh");
                for (line, path) in paths.iter().enumerate() {
                    rows.push(line as u64 + 1, path.iter().copied()).unwrap();
                }
                let column = columns.last().unwrap();
                attributes.push(Attribute::bind(column, rows.finish().unwrap(), "dgh").unwrap());
            }
            let values = table.sensitive[..table.rows.len()].iter().map(|value| format!("v{value}"));
            columns.push(column("s".into(), Role::Sensitive, values.collect()));
            let mut foreign_keys = Vec::new();
            if at > 0 {
                columns.push(column(
                    "of".into(),
                    Role::Other,
                    table.rows.iter().map(|row| key(row.0)).collect(),
                ));
                foreign_keys.push(ForeignKey { column: "of".into(), table: format!("t{}", table.parent) });
            }
            let table = Table::new(columns).unwrap();
            Relation { name: format!("t{at}"), table, key: Some("id".into()), foreign_keys, attributes }
        };
        // The person table last: the order of the tables must not matter.
        let mut relations: Vec<Relation> = self.0.iter().enumerate().map(relation).collect();
        relations.rotate_left(1);
        Database::new(relations, "t0").unwrap()
    }

    fn children(&self, table: usize) -> impl Iterator<Item = usize> {
        (1..self.0.len()).filter(move |&child| self.0[child].parent == table)
    }

    fn rows_of(&self, child: usize, parent_row: usize) -> impl Iterator<Item = usize> {
        let rows = self.0[child].rows.iter().enumerate();
        rows.filter(move |(_, row)| row.0 == parent_row).map(|(row_idx, _)| row_idx)
    }
}

/// A tree of the oracle: for each quasi-identifier the set of leaves, as bits.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Tree {
    table: usize,
    sets: Vec<u16>,
    records: Vec<usize>,
    children: Vec<Vec<Tree>>,
}

impl Tree {
    fn of_record(tables: &Tables, table: usize, row_idx: usize) -> Tree {
        let children = tables.children(table).map(|child| {
            tables.rows_of(child, row_idx).map(|row_idx| Tree::of_record(tables, child, row_idx)).collect()
        });
        let sets = tables.0[table].rows[row_idx].1.iter().map(|leaf| 1 << leaf);
        Tree { table, sets: sets.collect(), records: vec![row_idx], children: children.collect() }
    }

    /// The engine's tree in the oracle's words.
    fn of_node(
        tables: &Tables,
        table: usize,
        node: &Node,
        label_text: &dyn Fn(usize, usize, Label) -> String,
    ) -> Tree {
        let set = |(at, &label): (usize, &Label)| {
            let text = label_text(table, at, label);
            let leaves = HIERARCHIES[tables.0[table].columns[at]].iter().enumerate();
            leaves.filter(|(_, path)| path[usize::from(label.level)] == text).map(|(leaf, _)| 1 << leaf).sum()
        };
        let children = tables.children(table).zip(node.children()).map(|(child, nodes)| {
            nodes.iter().map(|node| Tree::of_node(tables, child, node, label_text)).collect()
        });
        Tree {
            table,
            sets: node.labels().iter().enumerate().map(set).collect(),
            records: node.records().iter().map(|&record| record as usize).collect(),
            children: children.collect(),
        }
    }

    fn n_cells(&self) -> u64 {
        self.sets.len() as u64 + self.children.iter().flatten().map(Tree::n_cells).sum::<u64>()
    }

    /// What the labels cost, once.
    fn cost(&self, tables: &Tables, cost: Cost) -> u64 {
        let below = self.children.iter().flatten().map(|child| child.cost(tables, cost));
        self.own_cost(tables, cost) + below.sum::<u64>()
    }

    fn own_cost(&self, tables: &Tables, cost: Cost) -> u64 {
        let of_cell = |(&set, &column): (&u16, &usize)| {
            let others = HIERARCHIES[column].len() as u64 - 1;
            match cost {
                Cost::Loss => WHOLE * (u64::from(set.count_ones()) - 1) / others.max(1),
                Cost::Precision => WHOLE * level_of(column, set) as u64 / height(column).max(1) as u64,
            }
        };
        self.sets.iter().zip(&tables.0[self.table].columns).map(of_cell).sum()
    }
}

fn height(hierarchy: usize) -> usize {
    HIERARCHIES[hierarchy][0].len() - 1
}

/// The labels of a level, as sets of leaves.
fn labels_of(hierarchy: usize, level: usize) -> impl Iterator<Item = u16> {
    let paths = HIERARCHIES[hierarchy];
    paths.iter().map(move |path| {
        let same = paths.iter().enumerate().filter(move |(_, other)| other[level] == path[level]);
        same.map(|(leaf, _)| 1 << leaf).sum::<u16>()
    })
}

/// On which level a label stands.
fn level_of(hierarchy: usize, set: u16) -> usize {
    (0..=height(hierarchy)).find(|&level| labels_of(hierarchy, level).any(|label| label == set)).unwrap()
}

/// The label above a label, or itself, on that level or higher.
fn at_least(hierarchy: usize, set: u16, level: usize) -> u16 {
    let level = level.min(height(hierarchy)).max(level_of(hierarchy, set));
    labels_of(hierarchy, level).find(|label| label & set == set).unwrap()
}

/// The smallest label that covers a set of leaves.
fn smallest_cover(hierarchy: usize, set: u16) -> u16 {
    let labels = (0..=height(hierarchy)).flat_map(|level| labels_of(hierarchy, level));
    labels.filter(|label| label & set == set).min_by_key(|label| label.count_ones()).unwrap()
}

/// What two trees lose in their common anonymization.
fn lost(tables: &Tables, cost: Cost, a: &Tree, b: &Tree, common: &Tree) -> u64 {
    2 * common.cost(tables, cost) + WHOLE * (a.n_cells() + b.n_cells() - 2 * common.n_cells())
}

/// Algorithms 3 to 5, to the letter: each candidate is anonymized to see what it costs.
fn anonymize(tables: &Tables, options: &Options, a: &Tree, b: &Tree) -> Tree {
    let columns = &tables.0[a.table].columns;
    let cover = |at: usize| smallest_cover(columns[at], a.sets[at] | b.sets[at]);
    let mut children = Vec::new();
    for (of_a, of_b) in a.children.iter().zip(&b.children) {
        let highest = |child: &Tree| tables.0[child.table].columns.iter().map(|&column| height(column)).max();
        let is_low =
            of_a.first().is_some_and(|child| highest(child).unwrap_or(0) < of_a.len().min(of_b.len()));
        let mut chosen = if options.pairing == Pairing::Level && is_low {
            by_level(tables, options, of_a, of_b)
        } else {
            greedily(tables, options, of_a, of_b)
        };
        // In the order of a's children, each of which is named by its first record.
        chosen.sort_by_key(|common| of_a.iter().position(|child| child.records[0] == common.records[0]));
        children.push(chosen);
    }
    Tree {
        table: a.table,
        sets: (0..columns.len()).map(cover).collect(),
        records: [a.records.as_slice(), &b.records].concat(),
        children,
    }
}

fn greedily(tables: &Tables, options: &Options, of_a: &[Tree], of_b: &[Tree]) -> Vec<Tree> {
    let a_picks = of_a.len() <= of_b.len();
    let (picking, picked) = if a_picks { (of_a, of_b) } else { (of_b, of_a) };
    let mut left: Vec<&Tree> = picked.iter().collect();
    let mut chosen = Vec::new();
    for child in picking {
        let mut best: Option<(u64, usize, Tree)> = None;
        for (at, other) in left.iter().enumerate() {
            let (first, second) = if a_picks { (child, *other) } else { (*other, child) };
            let common = anonymize(tables, options, first, second);
            let price = match options.pairing {
                Pairing::Subtree => lost(tables, options.cost, first, second, &common),
                Pairing::Record | Pairing::Level => common.own_cost(tables, options.cost),
            };
            if best.as_ref().is_none_or(|(least, ..)| price < *least) {
                best = Some((price, at, common));
            }
        }
        let (_, at, common) = best.unwrap();
        left.remove(at);
        chosen.push(common);
    }
    chosen
}

/// The end of section 4.3: those with equal labels, then those with equal labels on level 1, and so on.
fn by_level(tables: &Tables, options: &Options, of_a: &[Tree], of_b: &[Tree]) -> Vec<Tree> {
    let columns = &tables.0[of_a[0].table].columns;
    let (mut of_a, mut of_b): (Vec<&Tree>, Vec<&Tree>) = (of_a.iter().collect(), of_b.iter().collect());
    let mut chosen = Vec::new();
    for level in 0..4 {
        let raised = |tree: &Tree| -> Vec<u16> {
            tree.sets.iter().zip(columns).map(|(&set, &column)| at_least(column, set, level)).collect()
        };
        of_a.retain(|first| {
            let Some(at) = of_b.iter().position(|second| raised(first) == raised(second)) else {
                return true;
            };
            chosen.push(anonymize(tables, options, first, of_b.remove(at)));
            false
        });
    }
    chosen
}

/// How far a cluster and a tree are from each other, as a fraction: what they lose, and the cells of both.
type Far<'a> = dyn Fn(&Tree, &Tree) -> (u128, u128) + 'a;

fn far(tables: &Tables, options: &Options, cluster: &Tree, tree: &Tree) -> (u128, u128) {
    let lost = lost(tables, options.cost, cluster, tree, &anonymize(tables, options, cluster, tree));
    (lost.into(), u128::from(WHOLE * (cluster.n_cells() + tree.n_cells()).max(1)))
}

/// The nearest of some trees, the first of equally near ones.
fn nearest(open: &[Tree], tree: &Tree, far: &Far<'_>) -> Option<((u128, u128), usize)> {
    let mut best: Option<((u128, u128), usize)> = None;
    for (at, cluster) in open.iter().enumerate() {
        let (part, of) = far(cluster, tree);
        if best.is_none_or(|((least, of_least), _)| part * of_least < least * of) {
            best = Some(((part, of), at));
        }
    }
    best
}

/// Algorithm 2. The threshold is in tenths.
fn naive(tables: &Tables, options: &Options, tenths: u64, far: &Far<'_>) -> (Vec<Tree>, Vec<usize>) {
    let Options { k, cluster_limit: limit, .. } = *options;
    let (mut open, mut closed): (Vec<Tree>, Vec<Tree>) = (Vec::new(), Vec::new());
    for person in 0..tables.0[0].rows.len() {
        let tree = Tree::of_record(tables, 0, person);
        let at = match nearest(&open, &tree, far) {
            Some(((part, of), at)) if part * 10 <= u128::from(tenths) * of || open.len() >= limit => {
                open[at] = anonymize(tables, options, &open[at], &tree);
                at
            }
            _ => {
                open.push(tree);
                open.len() - 1
            }
        };
        if open[at].records.len() == k {
            closed.push(open.remove(at));
        }
    }
    while !open.is_empty() {
        let first = open.remove(0);
        if first.records.len() >= k {
            closed.push(first);
        } else if let Some((_, at)) = nearest(&open, &first, far) {
            let other = open.remove(at);
            open.insert(0, anonymize(tables, options, &first, &other));
        } else {
            return (closed, first.records);
        }
    }
    (closed, Vec::new())
}

/// The engine's answer in the oracle's words.
fn engine(tables: &Tables, options: &Options) -> (Vec<Tree>, Vec<usize>) {
    let database = tables.database();
    in_words(tables, &database, &miracle(&database, options, &Progress::new()).unwrap())
}

fn in_words(tables: &Tables, database: &Database, clustering: &Clustering) -> (Vec<Tree>, Vec<usize>) {
    let Clustering { clusters, suppressed } = clustering;
    let text = label_text(database);
    let clusters = clusters.iter().map(|cluster| Tree::of_node(tables, 0, cluster, &text)).collect();
    (clusters, suppressed.iter().map(|&person| person as usize).collect())
}

/// The text of a label, by the number of the table in its name.
fn label_text(database: &Database) -> impl Fn(usize, usize, Label) -> String {
    move |table, at, label| {
        let name = format!("t{table}");
        let table = database.relations().iter().position(|relation| relation.name == name).unwrap();
        database.attributes(table)[at].hierarchy().labels(label.level).value(label.code).to_owned()
    }
}

/// k is at most 5 and at most the number of persons; the threshold is in tenths.
#[derive(Debug, Clone)]
struct Settings {
    k: Index,
    tenths: u64,
    options: Options,
}

/// Ways to cluster, with this matching.
fn settings(matching: Matching) -> impl Strategy<Value = Settings> {
    let pairing = match matching {
        Matching::Greedy => {
            prop_oneof![Just(Pairing::Subtree), Just(Pairing::Record), Just(Pairing::Level)].boxed()
        }
        Matching::Optimal => prop_oneof![Just(Pairing::Subtree), Just(Pairing::Record)].boxed(),
    };
    let cost = prop_oneof![Just(Cost::Loss), Just(Cost::Precision)];
    let candidates = match matching {
        Matching::Greedy => Just(None).boxed(),
        Matching::Optimal => prop_oneof![Just(None), (1_usize..8).prop_map(Some)].boxed(),
    };
    (any::<Index>(), 0_u64..=10, 1_usize..8, pairing, cost, candidates).prop_map(
        move |(k, tenths, cluster_limit, pairing, cost, candidates)| {
            let threshold = Fraction::new(tenths, 10).unwrap();
            let options = Options { k: 1, threshold, cluster_limit, pairing, matching, cost, candidates };
            Settings { k, tenths, options }
        },
    )
}

impl Settings {
    fn options(&self, tables: &Tables) -> Options {
        Options { k: 1 + self.k.index(tables.0[0].rows.len().min(5)), ..self.options }
    }
}

fn any_settings() -> impl Strategy<Value = Settings> {
    prop_oneof![3 => settings(Matching::Greedy), 1 => settings(Matching::Optimal)]
}

/// Every person is in a cluster, whose rows are used, or suppressed.
fn check_persons(
    tables: &Tables,
    suppressed: Vec<usize>,
    mut used: BTreeSet<(usize, usize)>,
) -> Result<(), TestCaseError> {
    for person in suppressed {
        prop_assert!(used.insert((0, person)), "a suppressed person is in a cluster");
    }
    let n_persons = used.iter().filter(|(table, _)| *table == 0).count();
    prop_assert_eq!(n_persons, tables.0[0].rows.len());
    Ok(())
}

/// Every node holds a record of each member, of the right table and under the right record, and used nowhere else; its
/// labels are the lowest that cover them; and it has as many children as the member with the fewest.
fn check_node(
    tables: &Tables,
    tree: &Tree,
    used: &mut BTreeSet<(usize, usize)>,
) -> Result<(), TestCaseError> {
    let rows = &tables.0[tree.table].rows;
    for &record in &tree.records {
        prop_assert!(used.insert((tree.table, record)), "a record is used twice");
    }
    for (at, &set) in tree.sets.iter().enumerate() {
        let leaves = tree.records.iter().fold(0, |set, &record| set | 1 << rows[record].1[at]);
        prop_assert_eq!(set & leaves, leaves, "a label is no ancestor");
        prop_assert_eq!(set, smallest_cover(tables.0[tree.table].columns[at], leaves), "a label is too high");
    }
    for (child, nodes) in tables.children(tree.table).zip(&tree.children) {
        let fewest = tree.records.iter().map(|&record| tables.rows_of(child, record).count()).min();
        prop_assert_eq!(Some(nodes.len()), fewest);
        for node in nodes {
            prop_assert_eq!(node.table, child);
            prop_assert_eq!(node.records.len(), tree.records.len());
            for (&record, &parent) in node.records.iter().zip(&tree.records) {
                prop_assert_eq!(tables.0[child].rows[record].0, parent, "a record of another parent");
            }
            check_node(tables, node, used)?;
        }
    }
    Ok(())
}

/// The least that two trees can lose, whoever is paired with whom.
fn least_lost(tables: &Tables, cost: Cost, a: &Tree, b: &Tree) -> u64 {
    let columns = &tables.0[a.table].columns;
    let sets = (0..columns.len()).map(|at| smallest_cover(columns[at], a.sets[at] | b.sets[at])).collect();
    let root = Tree { table: a.table, sets, records: vec![0], children: Vec::new() };
    let price = |x: &Tree, y: &Tree| least_lost(tables, cost, x, y);
    let below = a.children.iter().zip(&b.children).map(|(of_a, of_b)| {
        let removed: u64 = of_a.iter().chain(of_b).map(Tree::n_cells).sum::<u64>() * WHOLE;
        let saved = |x: &Tree, y: &Tree| price(x, y) as i64 - (WHOLE * (x.n_cells() + y.n_cells())) as i64;
        (removed as i64 + least_total(of_a, of_b, &saved)) as u64
    });
    2 * root.own_cost(tables, cost) + below.sum::<u64>()
}

/// The least sum over all ways to pair two sets, as many as the smaller has.
fn least_total<T>(of_a: &[T], of_b: &[T], price: &dyn Fn(&T, &T) -> i64) -> i64 {
    if of_a.len() > of_b.len() {
        return least_total(of_b, of_a, &|x, y| price(y, x));
    }
    let prices: Vec<Vec<i64>> = of_a.iter().map(|x| of_b.iter().map(|y| price(x, y)).collect()).collect();
    fn least(prices: &[Vec<i64>], taken: u64) -> i64 {
        let Some((row, rest)) = prices.split_first() else { return 0 };
        let free = row.iter().enumerate().filter(|(at, _)| taken & 1 << at == 0);
        free.map(|(at, price)| price + least(rest, taken | 1 << at)).min().unwrap()
    }
    least(&prices, 0)
}

/// In every set of children the records that were paired cost no more than by any other pairs.
fn check_records(tables: &Tables, cost: Cost, common: &Tree) -> Result<(), TestCaseError> {
    for (child, nodes) in tables.children(common.table).zip(&common.children) {
        let leaves = |record: usize| &tables.0[child].rows[record].1;
        let columns = &tables.0[child].columns;
        let price = |x: &usize, y: &usize| {
            let cover = |at: usize| smallest_cover(columns[at], 1 << leaves(*x)[at] | 1 << leaves(*y)[at]);
            let sets = (0..columns.len()).map(cover).collect();
            Tree { table: child, sets, records: vec![], children: vec![] }.own_cost(tables, cost) as i64
        };
        let [of_a, of_b] = [0, 1].map(|at| tables.rows_of(child, common.records[at]).collect::<Vec<_>>());
        let paired: u64 = nodes.iter().map(|node| node.own_cost(tables, cost)).sum();
        prop_assert_eq!(paired as i64, least_total(&of_a, &of_b, &price));
        nodes.iter().try_for_each(|node| check_records(tables, cost, node))?;
    }
    Ok(())
}

/// For each other person, the first person's tree and theirs, in the oracle's words too.
fn with_the_first(
    tables: &Tables,
    options: &Options,
    mut test: impl FnMut(&Matcher, [&Node; 2], [Tree; 3]) -> Result<(), TestCaseError>,
) -> Result<(), TestCaseError> {
    let database = tables.database();
    let (trees, matcher) = (Trees::new(&database), Matcher::with(&database, options));
    let text = label_text(&database);
    for person in 1..tables.0[0].rows.len() {
        let (a, b) = (trees.person(0), trees.person(person as u32));
        let in_words = [&a, &b, &matcher.common(&a, &b)].map(|node| Tree::of_node(tables, 0, node, &text));
        test(&matcher, [&a, &b], in_words)?;
    }
    Ok(())
}

/// A distance that was counted in 42nds.
fn mean(lost: u64, [a, b]: [&Node; 2]) -> f64 {
    lost as f64 / (WHOLE * (a.n_cells() + b.n_cells()).max(1)) as f64
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn every_person_is_suppressed_or_shares_one_tree_with_k_persons(
        tables in tables(), settings in any_settings(),
    ) {
        let options = settings.options(&tables);
        let (clusters, suppressed) = engine(&tables, &options);
        prop_assert!(suppressed.len() < options.k);
        let mut used = BTreeSet::new();
        for cluster in &clusters {
            prop_assert!(cluster.records.len() >= options.k);
            check_node(&tables, cluster, &mut used)?;
        }
        check_persons(&tables, suppressed, used)?;
    }

    #[test]
    fn the_clusters_are_those_of_the_papers_algorithms(
        tables in tables(), settings in settings(Matching::Greedy),
    ) {
        let options = settings.options(&tables);
        let far = |cluster: &Tree, tree: &Tree| far(&tables, &options, cluster, tree);
        prop_assert_eq!(engine(&tables, &options), naive(&tables, &options, settings.tenths, &far));
    }

    #[test]
    fn as_many_candidates_as_open_clusters_are_all(tables in tables(), settings in any_settings(), more in 0_usize..3) {
        let options = Options { candidates: None, ..settings.options(&tables) };
        let enough = Options { candidates: Some(options.cluster_limit + more), ..options };
        prop_assert_eq!(engine(&tables, &options), engine(&tables, &enough));
    }

    #[test]
    fn the_distance_is_what_the_common_anonymization_loses(tables in tables(), settings in any_settings()) {
        with_the_first(&tables, &settings.options, |matcher, [a, b], words| {
            let lost = lost(&tables, settings.options.cost, &words[0], &words[1], &words[2]);
            let (distance, expected) = (matcher.distance(a, b).to_f64(), mean(lost, [a, b]));
            prop_assert!((distance - expected).abs() < 1e-9, "{} is not {}", distance, expected);
            Ok(())
        })?;
    }

    #[test]
    fn optimal_matching_by_subtrees_loses_the_least_there_is(
        tables in tables_of(4, 12), cost in prop_oneof![Just(Cost::Loss), Just(Cost::Precision)],
    ) {
        let options =
            Options { pairing: Pairing::Subtree, matching: Matching::Optimal, cost, ..Options::new(1) };
        let greedy = Matcher::with(&tables.database(), &Options { matching: Matching::Greedy, ..options });
        with_the_first(&tables, &options, |matcher, [a, b], words| {
            let distance = matcher.distance(a, b);
            let expected = mean(least_lost(&tables, cost, &words[0], &words[1]), [a, b]);
            prop_assert!((distance.to_f64() - expected).abs() < 1e-9, "{distance:?} is not {expected}");
            prop_assert!(distance <= greedy.distance(a, b));
            Ok(())
        })?;
    }

    #[test]
    fn optimal_matching_by_records_pairs_them_at_least_cost(
        tables in tables_of(4, 16), cost in prop_oneof![Just(Cost::Loss), Just(Cost::Precision)],
    ) {
        let options =
            Options { pairing: Pairing::Record, matching: Matching::Optimal, cost, ..Options::new(1) };
        let greedy = Matcher::with(&tables.database(), &Options { matching: Matching::Greedy, ..options });
        let is_flat = tables.0.iter().all(|table| table.parent == 0);
        with_the_first(&tables, &options, |matcher, [a, b], words| {
            check_records(&tables, cost, &words[2])?;
            // Below, records that are paired otherwise have other children.
            prop_assert!(!is_flat || matcher.distance(a, b) <= greedy.distance(a, b));
            Ok(())
        })?;
    }
}

/// The paper's example from its files: student → takes → book.
fn students() -> Database {
    let file = |name: &str| project().join("testdata/students").join(name);
    let relation =
        |name: &str, key: &str, refers_to: Option<(&str, &str)>, quasi_identifier: Option<&str>| {
            let rows = csv_rows(&file(&format!("{name}.csv")), b',');
            let column = |(at, header): (usize, &String)| {
                let is_quasi = Some(header.as_str()) == quasi_identifier;
                let role = if is_quasi { Role::QuasiIdentifier } else { Role::Other };
                Column::from_cells(header, role, rows[1..].iter().map(|row| row[at].as_str())).unwrap()
            };
            let table = Table::new(rows[0].iter().enumerate().map(column).collect()).unwrap();
            let mut attributes = Vec::new();
            if let Some(column) = quasi_identifier {
                let mut hierarchy = ExplicitHierarchy::new(column, "dgh");
                let paths = csv_rows(&file(&format!("dgh/{column}.csv")), b';');
                for (line, path) in paths.iter().enumerate() {
                    hierarchy.push(line as u64 + 1, path.iter().map(String::as_str)).unwrap();
                }
                let hierarchy = hierarchy.finish().unwrap();
                attributes.push(Attribute::bind(table.column(column).unwrap(), hierarchy, "dgh").unwrap());
            }
            let foreign_keys =
                refers_to.map(|(column, table)| ForeignKey { column: column.into(), table: table.into() });
            let foreign_keys = foreign_keys.into_iter().collect();
            Relation { name: name.into(), table, key: Some(key.into()), foreign_keys, attributes }
        };
    let relations = vec![
        relation("student", "sid", None, None),
        relation("takes", "scid", Some(("sid", "student")), Some("course")),
        relation("book", "bid", Some(("scid", "takes")), Some("book")),
    ];
    Database::new(relations, "student").unwrap()
}

/// Table 4 of the paper, as far as its text tells it (section 4.2.2 and figure 3).
#[test]
fn the_papers_students_get_the_papers_classes() {
    let database = students();
    let label = |table: usize, node: &Node| {
        let label = node.labels()[0];
        database.attributes(table)[0].hierarchy().labels(label.level).value(label.code).to_owned()
    };
    let ids = |table: usize, node: &Node| {
        let relation = &database.relations()[table];
        let column = relation.table.column(relation.key.as_ref().unwrap()).unwrap();
        node.records().iter().map(|&record| column.cell(record as usize)).collect::<Vec<_>>().join("~")
    };
    for pairing in [Pairing::Subtree, Pairing::Record, Pairing::Level] {
        let options = Options { pairing, ..Options::new(2) };
        let Clustering { clusters, suppressed } = miracle(&database, &options, &Progress::new()).unwrap();
        assert!(suppressed.is_empty());
        assert_eq!(clusters.iter().map(|cluster| ids(0, cluster)).collect::<Vec<_>>(), ["S1~S2", "S3~S4"]);
        let courses = clusters[0].children()[0].iter().map(|course| {
            let books =
                course.children()[0].iter().map(|book| format!("{} {}", ids(2, book), label(2, book)));
            format!("{} {}: {}", ids(1, course), label(1, course), books.collect::<Vec<_>>().join(", "))
        });
        assert_eq!(
            courses.collect::<Vec<_>>(),
            [
                "SC1~SC4 Science: B1~B5 Discrete",
                "SC2~SC5 Physics: B3~B6 Dyn",
                "SC3~SC6 Social: B4~B7 Social-Book"
            ],
            "{pairing:?}"
        );
    }
}
