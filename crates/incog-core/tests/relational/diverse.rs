//! dMiRaCle: every matched set is as spread as required, by the definitions; and the clusters are those of Algorithm 6.

use incog_core::privacy::{self, Parameters, PrivacyModel, Sensitive};
use incog_core::relational::{Enforcement, Requirements, dmiracle};

use super::*;

/// A model, in small whole numbers; shares in tenths.
#[derive(Debug, Clone, Copy)]
enum Model {
    Distinct(u64),
    Entropy(u64),
    Recursive(u64, u64),
    Alpha(u64),
    Closeness(u64),
}

fn models() -> impl Strategy<Value = Model> {
    prop_oneof![
        (2_u64..4).prop_map(Model::Distinct),
        (2_u64..4).prop_map(Model::Entropy),
        (1_u64..4, 2_u64..4).prop_map(|(c, l)| Model::Recursive(c, l)),
        (3_u64..10).prop_map(Model::Alpha),
        (2_u64..8).prop_map(Model::Closeness),
    ]
}

impl Model {
    /// `None` if the model refuses the column.
    fn build(self, column: &Column) -> Option<Box<dyn PrivacyModel>> {
        let given = Parameters::of(Sensitive::of_rows(0, column));
        let tenths = |n: u64| Fraction::new(n, 10).unwrap();
        let (name, parameters) = match self {
            Model::Distinct(l) => ("distinct-l", given.with("l", l)),
            Model::Entropy(l) => ("entropy-l", given.with("l", l)),
            Model::Recursive(c, l) => ("recursive-cl", given.with("c", c).with("l", l)),
            Model::Alpha(alpha) => ("alpha-k", given.with("alpha", tenths(alpha))),
            Model::Closeness(t) => ("t-closeness", given.with("t", tenths(t))),
        };
        privacy::build(name, &parameters).ok()
    }

    /// The definition, for the values of a matched set and those of all rows.
    fn admits(self, set: &[usize], all: &[usize]) -> bool {
        let count =
            |values: &[usize], value: usize| values.iter().filter(|&&other| other == value).count() as u64;
        let mut counts: Vec<u64> = (0..4).map(|value| count(set, value)).filter(|&n| n > 0).collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let n: u64 = counts.iter().sum();
        match self {
            Model::Distinct(l) => counts.len() as u64 >= l,
            Model::Entropy(l) => {
                let entropy: f64 = counts.iter().map(|&c| c as f64 / n as f64).map(|p| -p * p.ln()).sum();
                entropy >= (l as f64).ln() - 1e-9
            }
            Model::Recursive(c, l) => counts[0] < c * counts.iter().skip(l as usize - 1).sum::<u64>(),
            Model::Alpha(tenths) => counts[0] * 10 <= tenths * n,
            Model::Closeness(tenths) => {
                let n_all = all.len() as u64;
                let apart = |value| (count(set, value) * n_all).abs_diff(count(all, value) * n);
                // Half the sum of the differences of the shares.
                (0..4).map(apart).sum::<u64>() * 10 <= 2 * tenths * n * n_all
            }
        }
    }
}

/// The values of all matched sets of a table, below and at a node.
fn sets(tables: &Tables, tree: &Tree, table: usize, found: &mut Vec<Vec<usize>>) {
    if tree.table == table {
        found.push(tree.records.iter().map(|&record| tables.0[table].sensitive[record]).collect());
    }
    tree.children.iter().flatten().for_each(|child| sets(tables, child, table, found));
}

fn all_values(tables: &Tables, clusters: &[Tree], table: usize) -> Vec<usize> {
    let mut found = Vec::new();
    clusters.iter().for_each(|cluster| sets(tables, cluster, table, &mut found));
    found.concat()
}

/// Of each table that something is required of, all rows to compare with.
type RowsOfClusters = Vec<Vec<usize>>;

fn is_diverse(tables: &Tables, required: &[(usize, Model)], rows: &RowsOfClusters, tree: &Tree) -> bool {
    required.iter().zip(rows).all(|(&(table, model), all)| {
        let mut found = Vec::new();
        sets(tables, tree, table, &mut found);
        found.iter().all(|set| model.admits(set, all))
    })
}

/// Of the cells of b that are paired, how many have a value that a has at that node, and how many there are.
fn shared(tables: &Tables, required: &[(usize, Model)], common: &Tree, n_of_a: usize) -> (u128, u128) {
    let (mut same, mut of) = (0, 0);
    for &(table, _) in required {
        let mut found = Vec::new();
        sets(tables, common, table, &mut found);
        for set in found {
            let (of_a, of_b) = set.split_at(n_of_a);
            of += of_b.len() as u128;
            same += of_b.iter().filter(|value| of_a.contains(value)).count() as u128;
        }
    }
    (same, of)
}

/// Clusters, and who is suppressed.
type Answer = (Vec<Tree>, Vec<usize>);

/// Algorithm 6 and its two alternatives, written out. Suppressed persons are sorted.
fn naive_diverse(
    tables: &Tables,
    options: &Options,
    tenths: u64,
    required: &[(usize, Model)],
    enforcement: Enforcement,
) -> Answer {
    let options = Options { k: options.k.max(2), ..*options };
    let plain = |cluster: &Tree, tree: &Tree| far(tables, &options, cluster, tree);
    let raised = |cluster: &Tree, tree: &Tree| {
        let (part, of) = plain(cluster, tree);
        let common = anonymize(tables, &options, cluster, tree);
        match shared(tables, required, &common, cluster.records.len()) {
            (_, 0) => (part, of),
            // d + (1 - d) s
            (same, all) => (part * all + (of - part) * same, of * all),
        }
    };
    let is_raised = enforcement == Enforcement::Distance;
    let (clusters, mut suppressed) =
        naive(tables, &options, tenths, if is_raised { &raised } else { &plain });
    let of_input = |&(table, _): &(usize, Model)| {
        let table = &tables.0[table];
        table.sensitive[..table.rows.len()].to_vec()
    };
    let mut rows: RowsOfClusters = required.iter().map(of_input).collect();
    let (mut good, mut bad): (Vec<Tree>, Vec<Tree>) =
        clusters.into_iter().partition(|cluster| is_diverse(tables, required, &rows, cluster));
    loop {
        while enforcement == Enforcement::Merge && bad.len() > 1 {
            let oldest = bad.remove(0);
            let (_, at) = nearest(&bad, &oldest, &plain).unwrap();
            let merged = anonymize(tables, &options, &oldest, &bad.remove(at));
            let is_good = is_diverse(tables, required, &rows, &merged);
            if is_good { good.push(merged) } else { bad.push(merged) }
        }
        suppressed.extend(bad.iter().flat_map(|cluster| cluster.records.iter().copied()));
        rows = required.iter().map(|&(table, _)| all_values(tables, &good, table)).collect();
        (good, bad) = good.into_iter().partition(|cluster| is_diverse(tables, required, &rows, cluster));
        if bad.is_empty() {
            suppressed.sort_unstable();
            return (good, suppressed);
        }
    }
}

fn enforcements() -> impl Strategy<Value = Enforcement> {
    prop_oneof![Just(Enforcement::Merge), Just(Enforcement::Distance), Just(Enforcement::Suppress)]
}

/// The engine's answer, and what was required of it: models that refuse their column are left out.
fn engine_diverse(
    tables: &Tables,
    options: &Options,
    wanted: &[(usize, Model)],
    enforcement: Enforcement,
) -> (Vec<(usize, Model)>, Answer) {
    let database = tables.database();
    let (mut required, mut requirements) = (Vec::new(), Vec::new());
    for &(table, model) in wanted {
        let name = format!("t{table}");
        let number = database.relations().iter().position(|relation| relation.name == name).unwrap();
        let columns = database.relations()[number].table.columns();
        let at = columns.iter().position(|column| column.name() == "s").unwrap();
        if let Some(built) = model.build(&columns[at]) {
            required.push((table, model));
            requirements.push(Requirements { table: number, columns: vec![at], models: vec![built] });
        }
    }
    let clustering = dmiracle(&database, options, &requirements, enforcement, &Progress::new()).unwrap();
    let (clusters, mut suppressed) = in_words(tables, &database, &clustering);
    suppressed.sort_unstable();
    (required, (clusters, suppressed))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_matched_set_of_every_cluster_is_as_spread_as_required(
        tables in tables(), settings in any_settings(), enforcement in enforcements(),
        wanted in prop::collection::vec((any::<Index>(), models()), 1..4),
    ) {
        let options = settings.options(&tables);
        let wanted: Vec<(usize, Model)> =
            wanted.iter().map(|(table, model)| (table.index(tables.0.len()), *model)).collect();
        let (required, (clusters, suppressed)) = engine_diverse(&tables, &options, &wanted, enforcement);
        let rows: RowsOfClusters = required.iter().map(|&(table, _)| all_values(&tables, &clusters, table)).collect();
        let mut used = BTreeSet::new();
        for cluster in &clusters {
            prop_assert!(cluster.records.len() >= options.k.max(2));
            prop_assert!(is_diverse(&tables, &required, &rows, cluster));
            check_node(&tables, cluster, &mut used)?;
        }
        check_persons(&tables, suppressed, used)?;
    }

    #[test]
    fn the_clusters_are_those_of_algorithm_6_and_its_alternatives(
        tables in tables(), settings in settings(Matching::Greedy), enforcement in enforcements(),
        wanted in prop::collection::vec((any::<Index>(), models()), 1..3),
    ) {
        let options = settings.options(&tables);
        let wanted: Vec<(usize, Model)> =
            wanted.iter().map(|(table, model)| (table.index(tables.0.len()), *model)).collect();
        let (required, answer) = engine_diverse(&tables, &options, &wanted, enforcement);
        let expected = naive_diverse(&tables, &options, settings.tenths, &required, enforcement);
        prop_assert_eq!(answer, expected);
    }
}

proptest! {
    // Few, since the oracle takes its time; large, since clusters that come and go are moved together.
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn many_persons_get_the_clusters_of_the_papers_algorithms(
        tables in tables_of(250, 500), settings in settings(Matching::Greedy), enforcement in enforcements(),
        model in models(),
    ) {
        let options = Options { k: 2, ..settings.options };
        prop_assume!(tables.0[0].rows.len() > 100);
        let plain = |cluster: &Tree, tree: &Tree| far(&tables, &options, cluster, tree);
        prop_assert_eq!(engine(&tables, &options), naive(&tables, &options, settings.tenths, &plain));
        let (required, answer) = engine_diverse(&tables, &options, &[(0, model)], enforcement);
        let expected = naive_diverse(&tables, &options, settings.tenths, &required, enforcement);
        prop_assert_eq!(answer, expected);
    }
}

#[test]
fn what_nothing_satisfies_suppresses_everybody() {
    let rows = |n: usize| (0..n).map(|row| (row, vec![row % 8])).collect();
    let persons = TextTable { parent: 0, columns: vec![0], rows: rows(6), sensitive: vec![0, 0, 0, 1, 1, 1] };
    let tables = Tables(vec![persons]);
    // Two values in equal parts at best: recursive (1,2) wants the first to have less than the second.
    let wanted = [(0, Model::Entropy(2)), (0, Model::Recursive(1, 2))];
    for enforcement in [Enforcement::Merge, Enforcement::Distance, Enforcement::Suppress] {
        let (_, (clusters, suppressed)) = engine_diverse(&tables, &Options::new(2), &wanted, enforcement);
        assert!(clusters.is_empty(), "{enforcement:?}: {clusters:?}");
        assert_eq!(suppressed, [0, 1, 2, 3, 4, 5]);
    }
}
