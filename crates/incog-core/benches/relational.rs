//! Micro-benchmarks of clustering persons in many tables: the paper's students, 1,000 to 100,000.
//!
//! `cargo bench -p incog-core --bench relational`; with `-- --scale 100000` it prints time and loss instead, once for each
//! way to cluster.

use std::time::Instant;

use divan::Bencher;
use incog_core::Progress;
use incog_core::privacy::{self, Parameters, Sensitive};
use incog_core::relational::{
    Clustering, Database, Enforcement, Matcher, Matching, Node, Options, Pairing, Requirements, Trees,
    dmiracle, miracle,
};
use incog_testkit::students::students;

fn main() {
    let mut arguments = std::env::args().skip_while(|argument| argument != "--scale").skip(1);
    match arguments.next().and_then(|number| number.parse().ok()) {
        Some(n_students) => scale(n_students),
        None => divan::main(),
    }
}

fn options(pairing: Pairing) -> Options {
    Options { pairing, ..Options::new(10) }
}

const PAIRINGS: [Pairing; 3] = [Pairing::Record, Pairing::Level, Pairing::Subtree];

#[divan::bench(args = PAIRINGS)]
fn two_trees(bencher: Bencher<'_, '_>, pairing: Pairing) {
    let database = students(100);
    let (trees, matcher) = (Trees::new(&database), Matcher::new(&database, pairing));
    let (a, b) = (trees.person(0), trees.person(1));
    bencher.bench(|| matcher.distance(&a, &b));
}

#[divan::bench(args = PAIRINGS, sample_count = 10)]
fn a_thousand_students(bencher: Bencher<'_, '_>, pairing: Pairing) {
    let database = students(1000);
    bencher.bench(|| miracle(&database, &options(pairing), &Progress::new()).unwrap());
}

/// The mean cost of all quasi-identifier cells: LM.
fn loss(database: &Database, clustering: &Clustering) -> f64 {
    fn kept(database: &Database, table: usize, node: &Node, sum: &mut f64) {
        for (label, attribute) in node.labels().iter().zip(database.attributes(table)) {
            let hierarchy = attribute.hierarchy();
            let others = hierarchy.leaves_under(label.level, label.code) - 1;
            let loss = others as f64 / (hierarchy.n_leaves() - 1).max(1) as f64;
            *sum += (1.0 - loss) * node.records().len() as f64;
        }
        for (&child, nodes) in database.children(table).iter().zip(node.children()) {
            nodes.iter().for_each(|node| kept(database, child, node, sum));
        }
    }
    let mut sum = 0.0;
    clustering.clusters.iter().for_each(|cluster| kept(database, database.person(), cluster, &mut sum));
    let relations = database.relations().iter();
    let cells: usize = relations.map(|relation| relation.table.n_rows() * relation.attributes.len()).sum();
    1.0 - sum / cells as f64
}

#[allow(clippy::print_stdout)]
fn scale(n_students: usize) {
    let database = students(n_students);
    let report = |what: &str, cluster: &dyn Fn() -> Clustering| {
        let begin = Instant::now();
        let clustering = cluster();
        let seconds = begin.elapsed().as_secs_f64();
        let (loss, suppressed) = (loss(&database, &clustering), clustering.suppressed.len());
        println!("{n_students} students, {what}: {seconds:.2} s, LM {loss:.4}, {suppressed} suppressed");
    };
    let plain = |what: &str, options: Options| {
        report(what, &|| miracle(&database, &options, &Progress::new()).unwrap());
    };
    for pairing in PAIRINGS {
        for candidates in [None, Some(32), Some(16), Some(8), Some(1)] {
            plain(
                &format!("{pairing:?}, candidates {candidates:?}"),
                Options { candidates, ..options(pairing) },
            );
        }
    }
    for candidates in [None, Some(8)] {
        let options = Options { candidates, cluster_limit: 1500, ..options(Pairing::Record) };
        plain(&format!("limit 1500, candidates {candidates:?}"), options);
    }
    let optimal = Options { matching: Matching::Optimal, ..options(Pairing::Subtree) };
    plain("Subtree, optimal", optimal);
    // At least three grades in each matched set: no cluster of two has them.
    let grades = database.relations()[1].table.columns();
    let parameters = Parameters::of(Sensitive::of_rows(0, &grades[3])).with("l", 3);
    for enforcement in [Enforcement::Merge, Enforcement::Distance, Enforcement::Suppress] {
        for candidates in [None, Some(8)] {
            let k = if enforcement == Enforcement::Merge { 2 } else { 5 };
            let options = Options { candidates, ..Options::new(k) };
            let models = || vec![privacy::build("distinct-l", &parameters).unwrap()];
            let required = || [Requirements { table: 1, columns: vec![3], models: models() }];
            report(&format!("{enforcement:?}, k = {k}, candidates {candidates:?}"), &|| {
                dmiracle(&database, &options, &required(), enforcement, &Progress::new()).unwrap()
            });
        }
    }
}
