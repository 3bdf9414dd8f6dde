//! Multi-dimension and local recoding: every answer is one of its model, satisfies its policy, is verified from its labels
//! alone, and is no better than the best of all recodings of the model; the more a model allows, the better its best.

mod adult;
mod oracle;

use std::collections::BTreeMap;

use incog_core::algorithm;
use incog_core::algorithm::quality::{Found, Quality};
use incog_core::algorithm::{
    Aim, CellGeneralizationOptions, CellMethod, CellSuppressionOptions, Family, FullSubgraphOptions, Limits,
    LocalOptions, Settings, SuppressionMethod, UnrestrictedMultiOptions, cell_generalization,
    cell_suppression, full_subgraph, local, optimum, suppression_bound, unrestricted_multi,
};
use incog_core::frequency::Rows;
use incog_core::judge::Problem;
use incog_core::metric::{self, Costs, LabelCounts, Statistics};
use incog_core::privacy::{self, KAnonymity, Parameters, Policy, PrivacyModel, Pruning, Sensitive, build};
use incog_core::recoding::{PerGroup, Recoding, validate};
use incog_core::registry::find;
use incog_core::table::Table;
use incog_core::{ErrorKind, Progress, Result};
use incog_testkit::labels::{Input, Released};
use incog_testkit::{Sample, SampleColumn, algorithms, random};
use incog_verify::{
    Claims, Fraction, Hierarchy, Labels, RecodingClaim, Report, SensitiveClaim, Source, check,
};
use oracle::Tiny;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

/// What is asked of a release.
#[derive(Debug, Clone, Copy, Default)]
struct Wanted {
    k: u64,
    by_person: bool,
    /// In percent.
    alpha: Option<u64>,
    distinct: u64,
    /// In quarters.
    t: Option<u64>,
    budget: u64,
}

impl Wanted {
    fn k(k: u64) -> Self {
        Wanted { k, ..Wanted::default() }
    }

    /// No more different values than there are: the engine refuses that.
    fn for_sample(self, sample: &Sample) -> Self {
        let mut illnesses = sample.illnesses.clone();
        illnesses.sort();
        illnesses.dedup();
        Wanted { distinct: self.distinct.min(illnesses.len() as u64), ..self }
    }

    fn policy(&self, table: &Table) -> Policy {
        let k = if self.by_person { KAnonymity::of_persons(self.k) } else { KAnonymity::new(self.k) };
        let mut models: Vec<Box<dyn PrivacyModel>> = vec![Box::new(k.unwrap())];
        let number = |number: f64| number.to_string().parse::<privacy::Fraction>().unwrap();
        let parameters = Parameters::of(Sensitive::of_rows(0, table.column("illness").unwrap()));
        if let Some(alpha) = self.alpha {
            let parameters = parameters.clone().with("alpha", number(alpha as f64 / 100.0));
            models.push(build("alpha-k", &parameters).unwrap());
        }
        if self.distinct > 1 {
            let parameters = parameters.clone().with("l", self.distinct);
            models.push(build("distinct-l", &parameters).unwrap());
        }
        if let Some(t) = self.t {
            let parameters = parameters.with("t", number(t as f64 / 4.0));
            models.push(build("t-closeness", &parameters).unwrap());
        }
        Policy::new(models, self.budget).unwrap()
    }

    /// Suppression is not used with t-closeness: it would change what groups are compared with.
    fn usable_budget(&self) -> u64 {
        if self.t.is_some() { 0 } else { self.budget }
    }

    /// The same on rows, by the definitions.
    fn admits(&self, sample: &Sample, rows: &[usize]) -> bool {
        let mut persons: Vec<&String> = rows.iter().map(|&row_idx| &sample.persons[row_idx]).collect();
        persons.sort();
        persons.dedup();
        let size = if self.by_person { persons.len() } else { rows.len() } as u64;
        let count = |rows: &mut dyn Iterator<Item = usize>| {
            let mut counts: BTreeMap<&String, i64> = BTreeMap::new();
            rows.for_each(|row_idx| *counts.entry(&sample.illnesses[row_idx]).or_default() += 1);
            counts
        };
        let here = count(&mut rows.iter().copied());
        let everywhere = count(&mut (0..sample.n_rows()));
        let (n, all) = (rows.len() as i64, sample.n_rows() as i64);
        let distance: i64 = everywhere
            .iter()
            .map(|(illness, everywhere)| (here.get(illness).unwrap_or(&0) * all - everywhere * n).abs())
            .sum();
        size >= self.k
            && self.alpha.is_none_or(|alpha| here.values().all(|count| count * 100 <= alpha as i64 * n))
            && here.len() as u64 >= self.distinct
            && self.t.is_none_or(|t| distance * 4 <= 2 * t as i64 * n * all)
    }
}

fn wanted(budget: bool) -> impl Strategy<Value = Wanted> {
    let budget = if budget { prop_oneof![2 => Just(0_u64), 1 => 1..=4_u64].boxed() } else { Just(0).boxed() };
    (
        1..=4_u64,
        prop_oneof![3 => Just(false), 1 => Just(true)],
        prop_oneof![2 => Just(None), 1 => (0..4_usize).prop_map(|at| Some([50, 67, 75, 100][at]))],
        prop_oneof![2 => Just(1), 1 => Just(2_u64)],
        prop_oneof![3 => Just(None), 1 => (1..=4_u64).prop_map(Some)],
        budget,
    )
        .prop_map(|(k, by_person, alpha, distinct, t, budget)| Wanted {
            k,
            by_person,
            alpha,
            distinct,
            t,
            budget,
        })
}

fn weights() -> impl Strategy<Value = Vec<f64>> {
    let weight = prop_oneof![3 => Just(1.0), 1 => Just(0.5), 1 => Just(3.0)];
    proptest::collection::vec(weight, 4)
}

/// Which algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Which {
    FullSubgraph,
    UnrestrictedMulti,
    Clusters,
    FewCandidates,
    Refined,
    Rounds,
    Suppression,
    SuppressionClusters,
    Forest,
    Cover,
    Local,
    PlainRounds,
}

const ALL: &[Which] = &[
    Which::FullSubgraph,
    Which::UnrestrictedMulti,
    Which::Clusters,
    Which::FewCandidates,
    Which::Refined,
    Which::Rounds,
    Which::Suppression,
    Which::SuppressionClusters,
    Which::Local,
    Which::PlainRounds,
];

/// Those with a bound, for k-anonymity of rows only.
const BOUNDED: &[Which] = &[Which::Forest, Which::Cover];

impl Which {
    fn run(
        self,
        problem: Problem<'_>,
        attributes: &incog_core::hierarchy::Attributes,
        aim: Aim<'_>,
    ) -> Result<Option<Found<PerGroup>>> {
        let progress = &Progress::new();
        match self {
            Which::FullSubgraph => {
                full_subgraph(problem, attributes, FullSubgraphOptions { aim, max_steps: None }, progress)
            }
            Which::UnrestrictedMulti => {
                let options = UnrestrictedMultiOptions { aim, max_rounds: None };
                unrestricted_multi(problem, attributes, options, progress)
            }
            Which::Clusters | Which::FewCandidates | Which::Refined | Which::Rounds => {
                let method = match self {
                    Which::Clusters => CellMethod::CLUSTERS,
                    Which::FewCandidates => CellMethod::Clusters { candidates: 3 },
                    Which::Refined => CellMethod::Refined { candidates: 512 },
                    _ => CellMethod::Rounds,
                };
                cell_generalization(problem, attributes, CellGeneralizationOptions { aim, method }, progress)
            }
            Which::Local | Which::PlainRounds => {
                let options =
                    LocalOptions { aim, limits: Limits::default(), polish: matches!(self, Which::Local) };
                local(problem, attributes, options, progress)
            }
            Which::Suppression | Which::SuppressionClusters | Which::Forest | Which::Cover => {
                let options = CellSuppressionOptions { aim, method: self.suppression_method() };
                cell_suppression(problem, attributes, options, progress)
            }
        }
    }

    fn suppression_method(self) -> SuppressionMethod {
        match self {
            Which::Forest => SuppressionMethod::Forest,
            Which::Cover => SuppressionMethod::Cover,
            Which::SuppressionClusters => SuppressionMethod::Clusters { candidates: 20 },
            _ => SuppressionMethod::Auto,
        }
    }

    /// The validator of the model.
    fn validate(
        self,
        recoding: &PerGroup,
        table: &Table,
        attributes: &incog_core::hierarchy::Attributes,
    ) -> std::result::Result<(), String> {
        match self {
            Which::FullSubgraph => validate::check_full_subgraph(recoding, table, attributes),
            Which::UnrestrictedMulti => validate::check_unrestricted_multi(recoding, table, attributes),
            Which::Clusters
            | Which::FewCandidates
            | Which::Refined
            | Which::Rounds
            | Which::Local
            | Which::PlainRounds => validate::check_cell_generalization(recoding, table, attributes),
            Which::Suppression | Which::SuppressionClusters | Which::Forest | Which::Cover => {
                validate::check_cell_suppression(recoding, table, attributes)
            }
        }
    }
}

fn run_by(
    which: Which,
    sample: &Sample,
    wanted: &Wanted,
    weights: &[f64],
    metric: &str,
) -> Result<Option<Found<PerGroup>>> {
    let table = sample.table();
    let attributes = sample.attributes(&table);
    let rows = Rows::new(&table, &attributes).unwrap();
    let rows = rows.with_unit(&table, "person").unwrap().with_sensitive(&table, &["illness"]).unwrap();
    let policy = wanted.policy(&table);
    let problem = Problem { source: &rows, policy: &policy };
    let weights = weights[..attributes.len()].to_vec();
    let costs = Costs::new(problem, &attributes).unwrap().with_weights(weights).unwrap();
    let aim = Aim { costs: &costs, metric: find(metric::ALL, metric).unwrap().item };
    which.run(problem, &attributes, aim)
}

fn run(which: Which, sample: &Sample, wanted: &Wanted, weights: &[f64]) -> Option<Found<PerGroup>> {
    run_by(which, sample, wanted, weights, "loss").unwrap()
}

/// The loss of the best full-domain generalization that an algorithm starts from, if there is one and it can be searched.
fn full_domain(sample: &Sample, wanted: &Wanted, weights: &[f64]) -> Option<f64> {
    let table = sample.table();
    let attributes = sample.attributes(&table);
    let rows = Rows::new(&table, &attributes).unwrap();
    let rows = rows.with_unit(&table, "person").unwrap().with_sensitive(&table, &["illness"]).unwrap();
    let policy = wanted.policy(&table);
    let problem = Problem { source: &rows, policy: &policy };
    let weights = weights[..attributes.len()].to_vec();
    let costs = Costs::new(problem, &attributes).unwrap().with_weights(weights).unwrap();
    let metric = metric::ALL[0].item;
    if wanted.usable_budget() != wanted.budget || policy.pruning() == Pruning::Unsound {
        return None;
    }
    let best = optimum(problem, &attributes, &costs, metric, &Progress::new()).unwrap().best?;
    Some(metric.score(&costs, &best.statistics))
}

/// Looks at the released strings: loss by its definition, if all promises are kept.
fn check_release(
    which: Which,
    sample: &Sample,
    wanted: &Wanted,
    weights: &[f64],
    recoding: &PerGroup,
) -> std::result::Result<f64, TestCaseError> {
    let table = sample.table();
    let attributes = sample.attributes(&table);
    let q = attributes.len();
    let valid = which.validate(recoding, &table, &attributes);
    prop_assert!(valid.is_ok(), "{which:?}: {valid:?}");
    let released: Vec<usize> =
        (0..recoding.n_records()).filter(|&row_idx| recoding.group_of(row_idx).is_some()).collect();
    let n_suppressed = sample.n_rows() - released.len();
    prop_assert!(n_suppressed as u64 <= wanted.usable_budget(), "{which:?} leaves out {n_suppressed}");
    let levels: Vec<&[u8]> =
        released.iter().map(|&row| recoding.levels(recoding.group_of(row).unwrap())).collect();
    let release = Recoding::PerGroup(recoding.clone());
    let release = release.apply(&table, &attributes).unwrap();
    let mut by_labels: BTreeMap<Vec<&str>, Vec<usize>> = BTreeMap::new();
    let mut loss = (0..q).map(|at| weights[at] * n_suppressed as f64).sum::<f64>();
    for (at, &row_idx) in released.iter().enumerate() {
        let labels: Vec<&str> = (0..q).map(|column| release.cell(at, column)).collect();
        for (column, label) in labels.iter().enumerate() {
            let hierarchy = &sample.columns[column].hierarchy;
            let path =
                hierarchy.iter().find(|path| path[0] == sample.columns[column].cells[row_idx]).unwrap();
            let level = usize::from(levels[at][column]);
            prop_assert_eq!(&path[level], label);
            let under = hierarchy.iter().filter(|path| path[level] == **label).count();
            if hierarchy.len() > 1 {
                loss += weights[column] * (under - 1) as f64 / (hierarchy.len() - 1) as f64;
            }
        }
        by_labels.entry(labels).or_default().push(row_idx);
    }
    for rows in by_labels.values() {
        prop_assert!(wanted.admits(sample, rows), "{:?}: a released group is refused", which);
    }
    let report = verify(sample, wanted, &Input(&table), &Released(release));
    prop_assert!(report.holds(), "{which:?}: {:?}", report.findings);
    Ok(loss / weights[..q].iter().sum::<f64>() / sample.n_rows().max(1) as f64)
}

fn verify(sample: &Sample, wanted: &Wanted, input: &dyn Labels, release: &dyn Labels) -> Report {
    let quarters = |n: u64| Fraction::new(n.into(), 4);
    let paths =
        |column: &SampleColumn| column.hierarchy.iter().map(|path| (path[0].clone(), path.clone())).collect();
    let hierarchy = |column: &SampleColumn| Hierarchy {
        levels: (0..column.hierarchy[0].len()).collect(),
        paths: paths(column),
    };
    let claims = Claims {
        quasi_identifiers: sample.columns.iter().map(|column| column.name.clone()).collect(),
        k: if wanted.by_person { 1 } else { wanted.k },
        combinations: None,
        columns: None,
        sensitive: vec![SensitiveClaim {
            column: "illness".into(),
            alpha: wanted.alpha.and_then(|alpha| Fraction::new(alpha.into(), 100)),
            distinct_l: Some(wanted.distinct),
            t: wanted.t.and_then(quarters),
            ..SensitiveClaim::default()
        }],
        source: Some(Source {
            input,
            hierarchies: sample.columns.iter().map(hierarchy).collect(),
            unit: None,
            budget: wanted.budget,
            recoding: RecodingClaim::Local,
        }),
    };
    check(release, &claims)
}

/// The score that metrics give, through the engine.
fn score(sample: &Sample, recoding: &PerGroup, wanted: &Wanted, weights: &[f64], metric: &str) -> f64 {
    let table = sample.table();
    let attributes = sample.attributes(&table);
    let rows = Rows::new(&table, &attributes).unwrap();
    let problem = Problem { source: &rows, policy: &wanted.policy(&table) };
    let weights = weights[..attributes.len()].to_vec();
    let costs = Costs::new(problem, &attributes).unwrap().with_weights(weights).unwrap();
    let cells = LabelCounts::of_recoding(recoding, &table, &attributes).unwrap();
    let sizes = (0..recoding.n_groups()).map(|group| (recoding.rows(group), 1));
    let statistics = Statistics::of_cells(&cells, &attributes, sizes, sample.n_rows() as u64);
    find(metric::ALL, metric).unwrap().item.score(&costs, &statistics)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_answer_is_one_of_its_model_and_satisfies_its_policy(
        sample in random::sample(4, 40),
        wanted in wanted(true),
        weights in weights(),
    ) {
        let wanted = wanted.for_sample(&sample);
        for &which in ALL {
            let found = run(which, &sample, &wanted, &weights);
            prop_assert_eq!(&found, &run(which, &sample, &wanted, &weights), "{:?} twice", which);
            let Some(Found { recoding, quality }) = found else {
                // Whoever finds nothing is right at least where nothing may be left out.
                let rows: Vec<usize> = (0..sample.n_rows()).collect();
                let one_top = sample.columns.iter().all(|column| {
                    column.hierarchy.iter().all(|path| path.last() == column.hierarchy[0].last())
                });
                prop_assert!(rows.is_empty() || !one_top || !wanted.admits(&sample, &rows), "{which:?}");
                continue;
            };
            let loss = check_release(which, &sample, &wanted, &weights, &recoding)?;
            let scored = score(&sample, &recoding, &wanted, &weights, "loss");
            prop_assert!((loss - scored).abs() < 1e-9, "{which:?} {loss} {scored}");
            if quality == Quality::Optimal {
                prop_assert!(loss < 1e-12, "{which:?}");
            }
        }
    }

    #[test]
    fn no_answer_is_worse_than_what_it_starts_from(
        sample in random::sample(4, 40),
        wanted in wanted(true),
        weights in weights(),
    ) {
        let wanted = wanted.for_sample(&sample);
        let loss = |which: Which| {
            let found = run(which, &sample, &wanted, &weights)?;
            Some(score(&sample, &found.recoding, &wanted, &weights, "loss"))
        };
        let losses = [full_domain(&sample, &wanted, &weights), loss(Which::FullSubgraph), loss(Which::UnrestrictedMulti)];
        for (at, pair) in losses.windows(2).enumerate() {
            if let Some(start) = pair[0] {
                prop_assert!(pair[1].is_some_and(|loss| loss <= start + 1e-9), "{at} {losses:?}");
            }
        }
        for (start, which) in [(losses[1], Which::FewCandidates), (losses[2], Which::Refined)] {
            if let Some(start) = start {
                prop_assert!(loss(which).is_some_and(|loss| loss <= start + 1e-9), "{which:?} {losses:?}");
            }
        }
        if let Some(start) = losses[0] {
            for which in [Which::Rounds, Which::Local] {
                prop_assert!(loss(which).is_some_and(|loss| loss <= start + 1e-9), "{which:?} {losses:?}");
            }
        }
    }

    #[test]
    fn any_metric_may_choose(
        sample in random::sample(3, 25),
        wanted in wanted(true),
        weights in weights(),
        metric in 0..metric::ALL.len(),
    ) {
        let wanted = wanted.for_sample(&sample);
        for &which in ALL {
            let name = metric::ALL[metric].name;
            if let Some(found) = run_by(which, &sample, &wanted, &weights, name).unwrap() {
                check_release(which, &sample, &wanted, &weights, &found.recoding)?;
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    /// Full-subtree ≥ full-subgraph ≥ unrestricted ≥ cell generalization, by brute force; and no algorithm beats its model.
    #[test]
    fn a_model_that_allows_more_has_a_better_optimum(
        sample in random::sample(2, 6),
        wanted in wanted(true),
        weights in weights(),
    ) {
        let wanted = Wanted { budget: wanted.usable_budget(), by_person: false, ..wanted }.for_sample(&sample);
        let admits = |rows: &[usize]| wanted.admits(&sample, rows);
        let tiny = Tiny::new(&sample, &weights, wanted.budget, &admits);
        if tiny.n_recodings() > 3e5 {
            return Ok(());
        }
        let optima = [
            tiny.full_subtree(),
            tiny.full_subgraph(),
            tiny.unrestricted_multi(),
            tiny.cell_generalization(),
        ];
        for (at, pair) in optima.windows(2).enumerate() {
            if let Some(stricter) = pair[0] {
                prop_assert!(pair[1].is_some_and(|freer| freer <= stricter + 1e-9), "{at} {optima:?}");
            }
        }
        for &which in ALL {
            let optimum = match which {
                Which::FullSubgraph => optima[1],
                Which::UnrestrictedMulti => optima[2],
                Which::Clusters
            | Which::FewCandidates
            | Which::Refined
            | Which::Rounds
            | Which::Local
            | Which::PlainRounds => optima[3],
                _ => tiny.cell_suppression(),
            };
            let Some(found) = run(which, &sample, &wanted, &weights) else { continue };
            let loss = check_release(which, &sample, &wanted, &weights, &found.recoding)?;
            let optimum = optimum.expect("a recoding that was found is one of the model");
            prop_assert!(loss >= optimum - 1e-9, "{which:?} {loss} {optimum}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    /// The weight of all `*` is at most the bound times the least possible.
    #[test]
    fn bounds_hold_against_the_optimum(
        sample in random::sample(4, 8),
        k in 1..=4_u64,
        weights in weights(),
    ) {
        let wanted = Wanted::k(k);
        let admits = |rows: &[usize]| wanted.admits(&sample, rows);
        let optimum = Tiny::new(&sample, &weights, 0, &admits).stars();
        for which in [Which::Forest, Which::Cover, Which::Suppression] {
            let found = run(which, &sample, &wanted, &weights);
            prop_assert_eq!(found.is_some(), optimum.is_some(), "{:?}", which);
            let (Some(found), Some(optimum)) = (found, optimum) else { continue };
            check_release(which, &sample, &wanted, &weights, &found.recoding)?;
            if which == Which::Suppression {
                continue;
            }
            let bound = suppression_bound(which.suppression_method(), k).unwrap();
            let stars = stars(&sample, &found.recoding, &weights);
            prop_assert!(stars >= optimum - 1e-9, "{which:?} {stars} {optimum}");
            prop_assert!(stars <= bound * optimum + 1e-9, "{which:?} {stars} {bound} {optimum}");
        }
    }

    #[test]
    fn bounded_answers_are_verified_on_larger_tables(
        sample in random::sample(4, 60),
        k in 1..=6_u64,
        weights in weights(),
    ) {
        for &which in BOUNDED {
            if let Some(found) = run(which, &sample, &Wanted::k(k), &weights) {
                check_release(which, &sample, &Wanted::k(k), &weights, &found.recoding)?;
            }
        }
    }
}

/// How much more `local` loses than the best of all recodings, by brute force.
#[test]
fn local_recoding_is_within_3_percent_of_the_optimum_of_small_tables_on_average() {
    let (mut n, mut excess) = (0, 0.0);
    let mut runner = TestRunner::deterministic();
    while n < 400 {
        let sample = random::sample(4, 8).new_tree(&mut runner).unwrap().current();
        let wanted = Wanted::k(2 + n % 2);
        let admits = |rows: &[usize]| wanted.admits(&sample, rows);
        let Some(optimum) = Tiny::new(&sample, &[1.0; 4], 0, &admits).cell_generalization() else { continue };
        if optimum == 0.0 {
            continue;
        }
        let found = run(Which::Local, &sample, &wanted, &[1.0; 4]).expect("there is an optimum");
        let loss = score(&sample, &found.recoding, &wanted, &[1.0; 4], "loss");
        assert!(loss >= optimum - 1e-9, "{loss} {optimum}");
        excess += loss / optimum - 1.0;
        n += 1;
    }
    let mean = excess / n as f64;
    #[expect(clippy::print_stderr, reason = "the number of the day")]
    {
        eprintln!("mean excess {mean:.4}");
    }
    assert!(mean <= 0.03, "{mean}");
}

/// The weight of all cells that are not as collected.
fn stars(sample: &Sample, recoding: &PerGroup, weights: &[f64]) -> f64 {
    let cell = |row_idx: usize, at: usize| {
        let level = recoding.levels(recoding.group_of(row_idx).unwrap())[at];
        if level > 0 { weights[at] } else { 0.0 }
    };
    (0..sample.n_rows())
        .flat_map(|row| (0..sample.columns.len()).map(move |at| (row, at)))
        .map(|(row, at)| cell(row, at))
        .sum()
}

#[test]
fn policies_that_groups_do_not_keep_together_are_refused() {
    let sample = Sample::new(vec![SampleColumn {
        name: "q".into(),
        hierarchy: vec![vec!["a".into(), "*".into()], vec!["b".into(), "*".into()]],
        cells: vec!["a".into(), "b".into()],
    }]);
    let table = sample.table();
    let attributes = sample.attributes(&table);
    let rows = Rows::new(&table, &attributes).unwrap();
    let rows = rows.with_unit(&table, "person").unwrap().with_sensitive(&table, &["illness"]).unwrap();
    let (illness, person) = (table.column("illness").unwrap(), table.column("person").unwrap());
    let parameters = Parameters::of(Sensitive::of_persons(0, illness, person))
        .with("alpha", privacy::Fraction::new(1, 2).unwrap());
    let policy = Policy::new(vec![build("alpha-k", &parameters).unwrap()], 0).unwrap();
    let problem = Problem { source: &rows, policy: &policy };
    let costs = Costs::new(problem, &attributes).unwrap();
    let aim = Aim { costs: &costs, metric: metric::ALL[0].item };
    for &which in ALL {
        let error = which.run(problem, &attributes, aim).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Policy, "{which:?}");
        assert!(error.hint().is_some());
    }
}

/// A table whose columns have two levels, the values and `*`.
fn flat(columns: &[&[&str]]) -> Sample {
    let column = |(at, cells): (usize, &&[&str])| {
        let mut values: Vec<&str> = cells.to_vec();
        values.sort_unstable();
        values.dedup();
        SampleColumn {
            name: format!("q{at}"),
            hierarchy: values.iter().map(|&value| vec![value.into(), "*".into()]).collect(),
            cells: cells.iter().map(|&cell| cell.into()).collect(),
        }
    };
    Sample::new(columns.iter().enumerate().map(column).collect())
}

/// The optima of full-subtree, full-subgraph, unrestricted-multi and cell generalization with k = 2.
fn optima(sample: &Sample) -> [f64; 4] {
    let admits = |rows: &[usize]| rows.len() >= 2;
    let tiny = Tiny::new(sample, &[1.0; 4], 0, &admits);
    [tiny.full_subtree(), tiny.full_subgraph(), tiny.unrestricted_multi(), tiny.cell_generalization()]
        .map(|best| best.expect("the top holds"))
}

fn loss_of(which: Which, sample: &Sample) -> f64 {
    let found = run(which, sample, &Wanted::k(2), &[1.0; 4]).expect("the top holds");
    check_release(which, sample, &Wanted::k(2), &[1.0; 4], &found.recoding).expect("it is a release")
}

/// Rows that full-domain generalization leaves out are published after all.
#[test]
fn rounds_recode_what_was_left_out() {
    let sample = flat(&[&["a", "a", "a", "b", "c"], &["x", "x", "x", "y", "y"]]);
    assert!((loss_of(Which::Rounds, &sample) - 0.2).abs() < 1e-12, "{}", loss_of(Which::Rounds, &sample));
}

#[test]
fn the_example_of_cell_suppression_is_true() {
    let sample = flat(&[&["a", "a", "b", "b"], &["x", "y", "z", "z"]]);
    for which in [Which::Suppression, Which::Forest, Which::Cover, Which::SuppressionClusters] {
        let found = run(which, &sample, &Wanted::k(2), &[1.0; 4]).unwrap();
        assert_eq!(stars(&sample, &found.recoding, &[1.0; 4]), 2.0, "{which:?}");
    }
}

#[test]
fn a_table_as_collected_that_holds_is_left_alone_and_said_to_be_optimal() {
    let sample = flat(&[&["a", "a", "b", "b"], &["x", "x", "z", "z"]]);
    for &which in ALL.iter().chain(BOUNDED).filter(|which| !matches!(which, Which::PlainRounds)) {
        let found = run(which, &sample, &Wanted::k(2), &[1.0; 4]).unwrap();
        assert_eq!(found.quality, Quality::Optimal, "{which:?}");
        assert_eq!(found.recoding.suppressed_rows(), 0);
        assert!((0..found.recoding.n_groups()).all(|group| found.recoding.levels(group) == [0, 0]));
    }
}

#[test]
fn limits_of_zero_and_bounds_that_cannot_be_kept_are_refused() {
    let sample = flat(&[&["a", "a", "b", "b"]]);
    let table = sample.table();
    let attributes = sample.attributes(&table);
    let rows = Rows::new(&table, &attributes).unwrap().with_sensitive(&table, &["illness"]).unwrap();
    let policy = Wanted { alpha: Some(100), ..Wanted::k(2) }.policy(&table);
    let problem = Problem { source: &rows, policy: &policy };
    let costs = Costs::new(problem, &attributes).unwrap();
    let aim = Aim { costs: &costs, metric: metric::ALL[0].item };
    let progress = &Progress::new();
    let kind = |result: Result<Option<Found<PerGroup>>>| {
        let error = result.unwrap_err();
        assert!(error.hint().is_some(), "{error}");
        error.kind()
    };
    let options = FullSubgraphOptions { aim, max_steps: Some(0) };
    assert_eq!(kind(full_subgraph(problem, &attributes, options, progress)), ErrorKind::Input);
    let options = UnrestrictedMultiOptions { aim, max_rounds: Some(0) };
    assert_eq!(kind(unrestricted_multi(problem, &attributes, options, progress)), ErrorKind::Input);
    let limits = Limits { max_steps: Some(0), ..Limits::default() };
    let options = LocalOptions { aim, limits, polish: true };
    assert_eq!(kind(local(problem, &attributes, options, progress)), ErrorKind::Input);
    let options = CellGeneralizationOptions { aim, method: CellMethod::Clusters { candidates: 0 } };
    assert_eq!(kind(cell_generalization(problem, &attributes, options, progress)), ErrorKind::Input);
    for method in [SuppressionMethod::Forest, SuppressionMethod::Cover] {
        let options = CellSuppressionOptions { aim, method };
        assert_eq!(kind(cell_suppression(problem, &attributes, options, progress)), ErrorKind::Policy);
    }
    let many = flat(&[&vec!["a"; 1025]]);
    let error = run_by(Which::Cover, &many, &Wanted::k(2), &[1.0; 4], "loss").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
}

#[test]
fn whoever_is_cancelled_stops() {
    let sample = flat(&[&["a", "a", "a", "b"]]);
    let table = sample.table();
    let attributes = sample.attributes(&table);
    let rows = Rows::new(&table, &attributes).unwrap();
    let policy = Policy::k_anonymity(2).unwrap();
    let problem = Problem { source: &rows, policy: &policy };
    let costs = Costs::new(problem, &attributes).unwrap();
    let aim = Aim { costs: &costs, metric: metric::ALL[0].item };
    let progress = Progress::new();
    progress.cancel();
    for entry in algorithm::ALL.iter().filter(|entry| entry.item.family == Family::MultiDimension) {
        let error =
            algorithms::run(entry, problem, &attributes, aim, &Settings::default(), &progress).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Cancelled, "{}", entry.name);
    }
}

/// Of a, a and b below L, the two could stand alone if b went to `*`, where others are: it would cost more than it gains.
#[test]
fn a_move_that_costs_others_more_than_it_gains_is_not_made() {
    let path = |leaf: &str, above: &str| vec![leaf.to_owned(), above.to_owned(), "*".to_owned()];
    let mut hierarchy = vec![path("a", "L"), path("b", "L"), path("c", "M"), path("e", "P")];
    hierarchy.extend((0..7).map(|more| path(&format!("more{more}"), "M")));
    let cells = ["a", "a", "b", "c", "e"].map(str::to_owned).to_vec();
    let sample = Sample::new(vec![SampleColumn { name: "q".into(), hierarchy, cells }]);
    let loss = loss_of(Which::UnrestrictedMulti, &sample);
    assert!((loss - 2.3 / 5.0).abs() < 1e-12, "{loss}");
    assert!((loss - optima(&sample)[2]).abs() < 1e-12);
}
