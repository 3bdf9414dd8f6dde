//! Single-dimension recoding: every answer keeps to its model, its policy and its promises, and the models are ordered as
//! the taxonomy says: full-domain, full-subtree, unrestricted, each at least as good as the one before.
//!
//! The other side of each comparison is spelled out here on strings: all recodings of a model, which rows the policy
//! leaves out, and what a release scores.

use std::collections::BTreeMap;

use incog_core::algorithm::quality::{Found, Quality};
use incog_core::algorithm::single::{
    AttributeSuppressionOptions, DataflyOptions, FullSubtreeOptions, GeneticOptions, UnrestrictedOptions,
    attribute_suppression, datafly, full_subtree, genetic, unrestricted,
};
use incog_core::algorithm::{self, Aim, Answer, Settings, optimum};
use incog_core::frequency::Rows;
use incog_core::hierarchy::Attributes;
use incog_core::judge::Problem;
use incog_core::metric::{self, Costs, Distortion, LabelCounts, Metric, Statistics};
use incog_core::privacy::Policy;
use incog_core::recoding::validate::{check_attribute_suppression, check_full_subtree, check_unrestricted};
use incog_core::recoding::{PerLevel, PerValue, Recoding, Release};
use incog_core::registry::find;
use incog_core::table::Table;
use incog_core::{ErrorKind, Progress};
use incog_testkit::data::{outside_file, project, table_with_hierarchies};
use incog_testkit::labels::{Input, Released};
use incog_testkit::naive::{self, PersonAndValue};
use incog_testkit::{Require, Sample, SampleColumn, algorithms, random};
use incog_verify::{Claims, Hierarchy, RecodingClaim, SensitiveClaim, Source, check as recheck};
use proptest::prelude::*;

/// For each column, the level of each of its values.
type ValueLevels = Vec<BTreeMap<String, u8>>;

/// The levels of each row; `None` for one that is left out.
type RowLevels = Vec<Option<Vec<u8>>>;

/// A sample and a policy as both sides see them.
struct Setting<'a> {
    sample: &'a Sample,
    table: Table,
    attributes: Attributes,
    rows: Rows,
    requires: Vec<Require>,
    unit: Option<&'static str>,
    policy: Policy,
    weights: Vec<f64>,
}

impl<'a> Setting<'a> {
    fn new(sample: &'a Sample, requires: Vec<Require>, unit: Option<&'static str>, budget: u64) -> Self {
        let table = sample.table();
        let attributes = sample.attributes(&table);
        let mut rows = Rows::new(&table, &attributes).unwrap().with_sensitive(&table, &["illness"]).unwrap();
        if let Some(unit) = unit {
            rows = rows.with_unit(&table, unit).unwrap();
        }
        let models = requires.iter().map(|require| require.build(&table, &["illness"], unit).unwrap());
        let policy = Policy::new(models.collect(), budget).unwrap();
        let weights = vec![1.0; attributes.len()];
        Setting { sample, table, attributes, rows, requires, unit, policy, weights }
    }

    fn k(sample: &'a Sample, k: u64, budget: u64) -> Self {
        Setting::new(sample, vec![Require::k_anonymity(k)], None, budget)
    }

    fn problem(&self) -> Problem<'_> {
        Problem { source: &self.rows, policy: &self.policy }
    }

    fn costs(&self) -> Costs {
        Costs::new(self.problem(), &self.attributes).unwrap().with_weights(self.weights.clone()).unwrap()
    }

    fn record(&self, row_idx: usize) -> PersonAndValue {
        let person = match self.unit {
            None => row_idx.to_string(),
            Some(_) => self.sample.persons[row_idx].clone(),
        };
        (person, self.sample.illnesses[row_idx].clone())
    }

    /// The rows that must be left out if rows with equal labels are groups, by definition.
    fn left_out(&self, labels: &[Vec<String>]) -> Vec<usize> {
        let mut groups: BTreeMap<&Vec<String>, Vec<usize>> = BTreeMap::new();
        for (row_idx, labels) in labels.iter().enumerate() {
            groups.entry(labels).or_default().push(row_idx);
        }
        let records = |rows: &[usize]| rows.iter().map(|&row_idx| self.record(row_idx)).collect::<Vec<_>>();
        let mut kept: Vec<Vec<usize>> = groups.into_values().collect();
        let mut out: Vec<usize> = Vec::new();
        loop {
            let all = records(&kept.concat());
            let is_refused = |rows: &Vec<usize>| {
                self.requires.iter().any(|require| !naive::admits(require, &records(rows), &all))
            };
            let (refused, rest): (Vec<_>, Vec<_>) = kept.iter().cloned().partition(is_refused);
            let is_done = refused.is_empty();
            out.extend(refused.concat());
            kept = rest;
            if is_done || out.len() as u64 > self.policy.budget() {
                return out;
            }
        }
    }

    /// The labels of all rows, released or not.
    fn labels(&self, levels: &ValueLevels) -> Vec<Vec<String>> {
        let label = |row_idx: usize, at: usize| {
            let cell = &self.sample.columns[at].cells[row_idx];
            path(&self.sample.columns[at], cell)[usize::from(levels[at][cell])].clone()
        };
        (0..self.sample.n_rows())
            .map(|row_idx| (0..levels.len()).map(|at| label(row_idx, at)).collect())
            .collect()
    }

    /// The levels of all rows, if the policy holds.
    fn row_levels(&self, levels: &ValueLevels) -> Option<RowLevels> {
        let out = self.left_out(&self.labels(levels));
        let of_row = |row_idx: usize| {
            let level = |at: usize| levels[at][&self.sample.columns[at].cells[row_idx]];
            (!out.contains(&row_idx)).then(|| (0..levels.len()).map(level).collect())
        };
        (out.len() as u64 <= self.policy.budget()).then(|| (0..self.sample.n_rows()).map(of_row).collect())
    }

    /// The best score of all these recodings, if the policy holds for one.
    fn best(&self, recodings: &[ValueLevels], metric: &str) -> Option<f64> {
        let direction = find(metric::ALL, metric).unwrap().item.direction();
        let scores = recodings
            .iter()
            .filter_map(|levels| Some(score(self.sample, &self.row_levels(levels)?, &self.weights, metric)));
        scores.min_by(|a, b| direction.compare(*a, *b))
    }
}

fn path<'a>(column: &'a SampleColumn, cell: &str) -> &'a Vec<String> {
    column.hierarchy.iter().find(|path| path[0] == *cell).unwrap()
}

/// The values of a column that occur.
fn values(column: &SampleColumn) -> Vec<String> {
    let mut values = column.cells.clone();
    values.sort();
    values.dedup();
    values
}

/// Every choice of a level for each value of a column.
fn all_of_column(column: &SampleColumn) -> Vec<BTreeMap<String, u8>> {
    let height = column.hierarchy[0].len() as u8 - 1;
    values(column).iter().fold(vec![BTreeMap::new()], |all, value| {
        let with = |levels: &BTreeMap<String, u8>, level: u8| {
            let mut levels = levels.clone();
            levels.insert(value.clone(), level);
            levels
        };
        all.iter().flat_map(|levels| (0..=height).map(move |level| with(levels, level))).collect()
    })
}

/// Section 5.1.1: "If φ maps any q to some value g ∈ γ+(q), then it must map to g all values in the subtree rooted at g."
fn is_full_subtree(column: &SampleColumn, levels: &BTreeMap<String, u8>) -> bool {
    levels.iter().filter(|(_, level)| **level > 0).all(|(value, level)| {
        let label = |value: &String| path(column, value)[usize::from(*level)].clone();
        levels.iter().all(|(other, at)| label(other) != label(value) || at == level)
    })
}

fn is_full_domain(levels: &BTreeMap<String, u8>) -> bool {
    levels.values().all(|level| Some(level) == levels.values().next())
}

/// As collected, or one label for everything.
fn is_suppression(column: &SampleColumn, levels: &BTreeMap<String, u8>) -> bool {
    let height = column.hierarchy[0].len() as u8 - 1;
    let has_one_top = column.hierarchy.iter().all(|path| path.last() == column.hierarchy[0].last());
    levels.values().all(|&level| level == 0)
        || has_one_top && height > 0 && levels.values().all(|&level| level == height)
}

/// Every recoding whose columns are as wanted.
fn all_recodings(
    sample: &Sample,
    wanted: impl Fn(&SampleColumn, &BTreeMap<String, u8>) -> bool,
) -> Vec<ValueLevels> {
    sample.columns.iter().fold(vec![Vec::new()], |all: Vec<ValueLevels>, column| {
        let choices: Vec<BTreeMap<String, u8>> =
            all_of_column(column).into_iter().filter(|levels| wanted(column, levels)).collect();
        all.iter()
            .flat_map(|before| {
                choices.iter().map(move |levels| [before.as_slice(), std::slice::from_ref(levels)].concat())
            })
            .collect()
    })
}

/// How many recodings the unrestricted model has.
fn n_recodings(sample: &Sample) -> f64 {
    sample
        .columns
        .iter()
        .map(|column| (column.hierarchy[0].len() as f64).powi(values(column).len() as i32))
        .product()
}

/// The same for one level a column.
fn of_node(sample: &Sample, levels: &[u8]) -> ValueLevels {
    let of_column = |(column, &level): (&SampleColumn, &u8)| {
        values(column).into_iter().map(|value| (value, level)).collect()
    };
    sample.columns.iter().zip(levels).map(of_column).collect()
}

fn of_answer(setting: &Setting<'_>, answer: &PerValue) -> ValueLevels {
    let of_column = |(at, column): (usize, &SampleColumn)| {
        let dictionary = setting.table.column(&column.name).unwrap().dictionary();
        let levels = answer.levels(at).iter();
        dictionary.values().zip(levels).map(|(value, &level)| (value.to_owned(), level)).collect()
    };
    setting.sample.columns.iter().enumerate().map(of_column).collect()
}

/// A score by its definition, cell by cell.
fn score(sample: &Sample, row_levels: &RowLevels, weights: &[f64], metric: &str) -> f64 {
    let label = |row_idx: usize, at: usize, level: u8| {
        &path(&sample.columns[at], &sample.columns[at].cells[row_idx])[usize::from(level)]
    };
    let heights: Vec<f64> = sample.heights().iter().map(|&height| f64::from(height)).collect();
    let n_rows = row_levels.len() as f64;
    let n_released = row_levels.iter().flatten().count() as f64;
    let columns = 0..heights.len();
    let share = |part: f64, of: f64| if of == 0.0 { 0.0 } else { part / of };
    // The sum over rows of what a cell costs; the last is for a suppressed one.
    let sum = |at: usize, cell: &dyn Fn(usize, u8) -> f64, suppressed: f64| -> f64 {
        let rows = row_levels.iter().enumerate();
        rows.map(|(row_idx, levels)| levels.as_ref().map_or(suppressed, |levels| cell(row_idx, levels[at])))
            .sum()
    };
    let loss = |at: usize| {
        let hierarchy = &sample.columns[at].hierarchy;
        let cost = |row_idx: usize, level: u8| {
            let text = label(row_idx, at, level);
            let under = hierarchy.iter().filter(|path| path[usize::from(level)] == *text).count() as f64;
            share(under - 1.0, hierarchy.len() as f64 - 1.0)
        };
        share(sum(at, &cost, 1.0), n_rows)
    };
    let level = |_: usize, level: u8| f64::from(level);
    let mut groups: BTreeMap<Vec<&String>, u64> = BTreeMap::new();
    for (row_idx, levels) in row_levels.iter().enumerate() {
        let Some(levels) = levels else { continue };
        let labels = levels.iter().enumerate().map(|(at, &level)| label(row_idx, at, level)).collect();
        *groups.entry(labels).or_default() += 1;
    }
    let total: f64 = weights.iter().sum();
    match metric {
        "height" => columns.map(|at| share(sum(at, &level, 0.0), n_released)).sum(),
        "weighted-height" => columns.map(|at| weights[at] * share(sum(at, &level, 0.0), n_released)).sum(),
        "precision" if n_rows == 0.0 => 1.0,
        "precision" => {
            let lost =
                |at: usize| share(sum(at, &level, heights[at].max(1.0)), n_rows * heights[at].max(1.0));
            1.0 - columns.map(|at| weights[at] * lost(at)).sum::<f64>() / total
        }
        "distortion" => {
            let climbed: f64 = columns.map(|at| sum(at, &level, heights[at])).sum();
            share(climbed, n_rows * heights.iter().sum::<f64>())
        }
        "loss" => columns.map(|at| weights[at] * loss(at)).sum::<f64>() / total,
        "geometric-loss" => {
            let product: f64 = columns.map(|at| (1.0 + loss(at)).powf(weights[at])).product();
            product.powf(1.0 / total) - 1.0
        }
        "discernibility" => {
            groups.values().map(|rows| (rows * rows) as f64).sum::<f64>() + (n_rows - n_released) * n_rows
        }
        "average-group-size" if groups.is_empty() => n_rows,
        "average-group-size" => n_released / groups.len() as f64,
        other => naive::score_of_rows(sample, row_levels, weights, other),
    }
}

fn is_close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * b.abs().max(1.0)
}

/// Is the first score at least as good?
fn is_no_worse(metric: &dyn Metric, a: f64, b: f64) -> bool {
    is_close(a, b) || metric.direction().compare(a, b).is_lt()
}

/// Does the checker that shares no code with the engine find the release sound?
fn passes_the_checker(setting: &Setting<'_>, release: Release) -> Result<(), String> {
    if setting.unit.is_some() {
        return Ok(());
    }
    let number =
        |text: &Option<String>| text.as_ref().map(|text| text.parse::<incog_verify::Fraction>().unwrap());
    let mut sensitive = SensitiveClaim::measured("illness");
    let mut k = 1;
    for require in &setting.requires {
        match require.model.as_str() {
            "k-anonymity" => k = require.k.unwrap(),
            "alpha-k" => sensitive.alpha = number(&require.alpha),
            "distinct-l" => sensitive.distinct_l = number(&require.l).map(|l| l.numerator() as u64),
            "t-closeness" => {
                sensitive.t = number(&require.t);
                sensitive.distance = Some(incog_verify::Distance::Equal);
            }
            other => panic!("the test makes no claim of `{other}`"),
        }
    }
    let hierarchy = |column: &SampleColumn| Hierarchy {
        levels: (0..column.hierarchy[0].len()).collect(),
        paths: column.hierarchy.iter().map(|path| (path[0].clone(), path.clone())).collect(),
    };
    let claims = Claims {
        quasi_identifiers: setting.sample.columns.iter().map(|column| column.name.clone()).collect(),
        k,
        combinations: None,
        columns: None,
        sensitive: vec![sensitive],
        source: Some(Source {
            input: &Input(&setting.table),
            hierarchies: setting.sample.columns.iter().map(hierarchy).collect(),
            unit: None,
            budget: setting.policy.budget(),
            recoding: RecodingClaim::Local,
        }),
    };
    let report = recheck(&Released(release), &claims);
    if report.holds() { Ok(()) } else { Err(format!("{:?}", report.findings)) }
}

/// All that is promised of a recoding that has a level for each value; returns its score.
fn check_values(setting: &Setting<'_>, answer: &PerValue, entry_name: &str) -> Result<f64, TestCaseError> {
    let Setting { sample, table, attributes, .. } = setting;
    let metric = find(metric::ALL, entry_name).unwrap().item;
    prop_assert_eq!(check_unrestricted(answer, attributes), Ok(()));
    let levels = of_answer(setting, answer);
    let row_levels = setting.row_levels(&levels);
    prop_assert!(row_levels.is_some(), "the policy does not hold");
    let row_levels = row_levels.unwrap();

    // The release has the labels that the levels say, of the rows that the policy leaves.
    let recoding = Recoding::PerValue(answer.clone());
    let release = recoding.apply(table, attributes).unwrap();
    let released: Vec<usize> =
        (0..sample.n_rows()).filter(|&row_idx| row_levels[row_idx].is_some()).collect();
    prop_assert_eq!(release.n_rows(), released.len());
    prop_assert_eq!(answer.suppressed_rows() as usize, sample.n_rows() - released.len());
    let labels = setting.labels(&levels);
    for (at, &row_idx) in released.iter().enumerate() {
        for (column, label) in labels[row_idx].iter().enumerate() {
            prop_assert_eq!(release.cell(at, column), label);
        }
    }

    // Scores: from the answer, from its groups, and by definition.
    let costs = setting.costs();
    let statistics = Statistics::of_values(setting.problem(), attributes, answer).unwrap();
    let groups = answer.groups(table, attributes).unwrap();
    let mut sizes: BTreeMap<&Vec<String>, u64> = BTreeMap::new();
    released.iter().for_each(|&row_idx| *sizes.entry(&labels[row_idx]).or_default() += 1);
    let n_rows = sample.n_rows() as u64;
    let cells = LabelCounts::of_recoding(&groups, table, attributes).unwrap();
    let sizes = sizes.into_values().map(|rows| (rows, 1));
    prop_assert_eq!(&statistics, &Statistics::of_cells(&cells, attributes, sizes, n_rows));
    prop_assert_eq!(
        Distortion::of(&recoding, attributes, n_rows),
        Distortion::of_cells(&cells, attributes, n_rows)
    );
    let expected = score(sample, &row_levels, &setting.weights, entry_name);
    let found = metric.score(&costs, &statistics);
    prop_assert!(is_close(found, expected), "{entry_name}: {found} {expected}");

    // Footnote 3, on released strings.
    for (at, column) in sample.columns.iter().enumerate() {
        let mut partial: Vec<&String> = Vec::new();
        for &row_idx in &released {
            let is_beside = |&&other: &&usize| {
                let path = path(column, &column.cells[other]);
                let (mine, its) =
                    (row_levels[row_idx].as_ref().unwrap()[at], row_levels[other].as_ref().unwrap()[at]);
                its < mine
                    && path[usize::from(mine)] == labels[row_idx][at]
                    && labels[other][at] != labels[row_idx][at]
            };
            if released.iter().any(|other| is_beside(&other)) {
                partial.push(&labels[row_idx][at]);
            }
        }
        partial.sort();
        partial.dedup();
        prop_assert_eq!(answer.partial_labels(at), partial.len() as u64);
    }
    let verdict = passes_the_checker(setting, release);
    prop_assert!(verdict.is_ok(), "{:?}", verdict);
    Ok(found)
}

/// All that is promised of a node; returns its score.
fn check_levels(setting: &Setting<'_>, levels: &[u8], entry_name: &str) -> Result<f64, TestCaseError> {
    let row_levels = setting.row_levels(&of_node(setting.sample, levels));
    prop_assert!(row_levels.is_some(), "the policy does not hold");
    let recoding = Recoding::PerLevel(PerLevel::new(setting.problem(), levels).unwrap());
    let release = recoding.apply(&setting.table, &setting.attributes).unwrap();
    let verdict = passes_the_checker(setting, release);
    prop_assert!(verdict.is_ok(), "{:?}", verdict);
    Ok(score(setting.sample, &row_levels.unwrap(), &setting.weights, entry_name))
}

/// k-anonymity, or with (α,k), distinct ℓ or t beside it.
fn any_requires() -> impl Strategy<Value = Vec<Require>> {
    let k = (1..=4_u64).prop_map(Require::k_anonymity);
    let with = |model: &'static str, set: fn(&mut Require, &str), texts: &'static [&'static str]| {
        (0..texts.len()).prop_map(move |at| {
            let mut require = Require::of(model, "illness");
            set(&mut require, texts[at]);
            Some(require)
        })
    };
    let other = prop_oneof![
        2 => Just(None),
        1 => with("alpha-k", |require, text| require.alpha = Some(text.into()), &["0.5", "2/3", "0.75"]),
        1 => with("distinct-l", |require, text| require.l = Some(text.into()), &["2", "3"]),
        1 => with("t-closeness", |require, text| require.t = Some(text.into()), &["0.25", "0.4", "0.5"]),
    ];
    (k, other).prop_map(|(k, other)| [k].into_iter().chain(other).collect())
}

fn any_budget() -> impl Strategy<Value = u64> {
    prop_oneof![2 => Just(0_u64), 1 => 1..=8_u64]
}

fn any_weights() -> impl Strategy<Value = Vec<f64>> {
    prop_oneof![Just(vec![1.0; 4]), proptest::collection::vec(0.25..4.0_f64, 4)]
}

fn any_metric() -> impl Strategy<Value = &'static str> {
    prop_oneof![2 => Just("loss"), 3 => (0..metric::ALL.len()).prop_map(|at| metric::ALL[at].name)]
}

/// Random tables as tiny as brute force needs.
fn tiny() -> impl Strategy<Value = Sample> {
    random::sample(2, 14).prop_map(|mut sample| {
        while n_recodings(&sample) > 1500.0 {
            let largest = sample
                .columns
                .iter_mut()
                .max_by_key(|column| values(column).len() * column.hierarchy[0].len())
                .unwrap();
            // Fewer values occur: the last one becomes the first.
            let values = values(largest);
            let (first, last) = (values[0].clone(), values[values.len() - 1].clone());
            largest.cells.iter_mut().filter(|cell| **cell == last).for_each(|cell| cell.clone_from(&first));
        }
        sample
    })
}

/// ℓ is at most the number of values, and distances need a row.
fn is_sensible(sample: &Sample, requires: &[Require]) -> bool {
    let mut illnesses = sample.illnesses.clone();
    illnesses.sort();
    illnesses.dedup();
    requires.len() == 1 || illnesses.len() >= 3
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_answer_keeps_to_its_model_and_its_policy(
        sample in random::sample(4, 40),
        requires in any_requires(),
        budget in any_budget(),
        weights in any_weights(),
        name in any_metric(),
        by_persons in any::<bool>(),
        seed in any::<u64>(),
    ) {
        prop_assume!(is_sensible(&sample, &requires));
        let unit = (by_persons && requires.len() == 1).then_some("person");
        let mut setting = Setting::new(&sample, requires, unit, budget);
        setting.weights = weights[..sample.columns.len()].to_vec();
        let costs = setting.costs();
        let metric = find(metric::ALL, name).unwrap().item;
        let aim = Aim { metric, costs: &costs };
        let (problem, progress) = (setting.problem(), Progress::new());
        let nodes = naive::all_nodes(&sample.heights());
        let nodes: Vec<ValueLevels> = nodes.iter().map(|levels| of_node(&sample, levels)).collect();
        let best_node = setting.best(&nodes, name);

        let greedy = FullSubtreeOptions { max_cuts: 0, max_steps: 0, ..FullSubtreeOptions::new(aim) };
        let greedy = full_subtree(problem, &setting.attributes, greedy, &progress).unwrap();
        prop_assert!(greedy.is_some() || best_node.is_none());
        let mut of_greedy = None;
        if let Some(Found { recoding, quality }) = greedy {
            prop_assert_eq!(quality, Quality::Heuristic);
            prop_assert_eq!(check_full_subtree(&recoding, &setting.attributes), Ok(()));
            for (column, levels) in sample.columns.iter().zip(of_answer(&setting, &recoding)) {
                prop_assert!(is_full_subtree(column, &levels));
            }
            let found = check_values(&setting, &recoding, name)?;
            prop_assert!(best_node.is_none_or(|best| is_no_worse(metric, found, best)), "{found} {best_node:?}");
            prop_assert!((0..sample.columns.len()).all(|at| recoding.partial_labels(at) == 0));
            of_greedy = Some(found);
        }

        let moves = UnrestrictedOptions { max_recodings: 0, max_cuts: 0, ..UnrestrictedOptions::new(aim) };
        let moved = unrestricted(problem, &setting.attributes, moves, &progress).unwrap();
        prop_assert_eq!(moved.is_some(), of_greedy.is_some());
        if let (Some(Found { recoding, quality }), Some(start)) = (moved, of_greedy) {
            prop_assert_eq!(quality, Quality::Heuristic);
            let found = check_values(&setting, &recoding, name)?;
            prop_assert!(is_no_worse(metric, found, start), "{found} {start}");
        }

        let options = GeneticOptions { seed, max_evaluations: 200, ..GeneticOptions::new(aim) };
        let node = genetic(problem, &setting.attributes, options, &progress).unwrap();
        prop_assert_eq!(&node, &genetic(problem, &setting.attributes, options, &progress).unwrap());
        if let Some(Found { recoding, quality }) = node {
            prop_assert_eq!(quality, Quality::Heuristic);
            let found = check_levels(&setting, &recoding, name)?;
            prop_assert!(best_node.is_some_and(|best| is_no_worse(metric, best, found)));
        }
    }

    /// Datafly by its definition, and nothing else.
    #[test]
    fn datafly_generalizes_the_attribute_with_most_values_until_the_policy_holds(
        sample in random::sample(4, 40),
        requires in any_requires(),
        budget in any_budget(),
    ) {
        prop_assume!(is_sensible(&sample, &requires));
        let setting = Setting::new(&sample, requires, None, budget);
        let found = datafly(setting.problem(), &setting.attributes, DataflyOptions::default(), &Progress::new()).unwrap();
        let heights = sample.heights();
        let mut levels = vec![0; heights.len()];
        let expected = loop {
            let labels = setting.labels(&of_node(&sample, &levels));
            if setting.left_out(&labels).len() as u64 <= budget {
                break Some(levels);
            }
            let n_labels = |at: usize| {
                let mut column: Vec<&String> = labels.iter().map(|row| &row[at]).collect();
                column.sort();
                column.dedup();
                column.len()
            };
            let mut next: Option<usize> = None;
            for at in (0..heights.len()).filter(|&at| levels[at] < heights[at]) {
                if next.is_none_or(|next| n_labels(at) > n_labels(next)) {
                    next = Some(at);
                }
            }
            match next {
                Some(at) => levels[at] += 1,
                None => break None,
            }
        };
        let found = found.map(|found| found.recoding);
        prop_assert_eq!(&found, &expected);
        if let Some(levels) = found {
            check_levels(&setting, &levels, "loss")?;
        }
    }

    #[test]
    fn attribute_suppression_is_the_best_of_all_choices(
        sample in random::sample(4, 40),
        requires in any_requires(),
        budget in any_budget(),
        weights in any_weights(),
        name in any_metric(),
    ) {
        prop_assume!(is_sensible(&sample, &requires));
        let mut setting = Setting::new(&sample, requires, None, budget);
        setting.weights = weights[..sample.columns.len()].to_vec();
        let costs = setting.costs();
        let metric = find(metric::ALL, name).unwrap().item;
        let options = AttributeSuppressionOptions::new(Aim { metric, costs: &costs });
        let found = attribute_suppression(setting.problem(), &setting.attributes, options, &Progress::new()).unwrap();
        let nodes = naive::all_nodes(&sample.heights()).into_iter().map(|levels| of_node(&sample, &levels));
        let choices: Vec<ValueLevels> = nodes
            .filter(|levels| sample.columns.iter().zip(levels).all(|(column, levels)| is_suppression(column, levels)))
            .collect();
        let best = setting.best(&choices, name);
        prop_assert_eq!(found.is_some(), best.is_some());
        if let (Some(Found { recoding, quality }), Some(best)) = (found, best) {
            prop_assert_eq!(quality, Quality::Optimal);
            prop_assert_eq!(check_attribute_suppression(&recoding, &setting.attributes), Ok(()));
            let found = check_levels(&setting, &recoding, name)?;
            prop_assert!(is_close(found, best), "{found} {best}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_freer_model_is_never_worse_and_the_exact_searches_are_optimal(
        sample in tiny(),
        requires in any_requires(),
        budget in any_budget(),
        weights in any_weights(),
        name in any_metric(),
    ) {
        prop_assume!(is_sensible(&sample, &requires));
        let mut setting = Setting::new(&sample, requires, None, budget);
        setting.weights = weights[..sample.columns.len()].to_vec();
        check_order(&setting, name)?;
    }

    /// Heights are means over the released rows: leaving out rows that climbed lowers them.
    #[test]
    fn heights_with_suppression_are_optimal_too(
        sample in tiny(),
        k in 2..=3_u64,
        budget in 2..=8_u64,
        is_weighted in any::<bool>(),
    ) {
        let setting = Setting::k(&sample, k, budget);
        check_order(&setting, if is_weighted { "weighted-height" } else { "height" })?;
    }
}

/// Full-domain ≥ full-subtree ≥ unrestricted by brute force, and the exact searches reach them.
fn check_order(setting: &Setting<'_>, name: &str) -> Result<(), TestCaseError> {
    let sample = setting.sample;
    let costs = setting.costs();
    let metric = find(metric::ALL, name).unwrap().item;
    let aim = Aim { metric, costs: &costs };
    let (problem, progress) = (setting.problem(), Progress::new());
    let full_domain = setting.best(&all_recodings(sample, |_, levels| is_full_domain(levels)), name);
    let subtree = setting.best(&all_recodings(sample, is_full_subtree), name);
    let any = setting.best(&all_recodings(sample, |_, _| true), name);
    prop_assert!(full_domain.is_none_or(|worse| is_no_worse(metric, subtree.unwrap(), worse)));
    prop_assert!(subtree.is_none_or(|worse| is_no_worse(metric, any.unwrap(), worse)));

    let exact = FullSubtreeOptions { max_cuts: u64::MAX, ..FullSubtreeOptions::new(aim) };
    let found = full_subtree(problem, &setting.attributes, exact, &progress).unwrap();
    prop_assert_eq!(found.is_some(), subtree.is_some());
    if let (Some(Found { recoding, quality }), Some(best)) = (found, subtree) {
        prop_assert_eq!(quality, Quality::Optimal);
        prop_assert_eq!(check_full_subtree(&recoding, &setting.attributes), Ok(()));
        let found = check_values(setting, &recoding, name)?;
        prop_assert!(is_close(found, best), "{name}: {found} {best}");
    }

    let branched = FullSubtreeOptions { max_cuts: 0, max_steps: u64::MAX, ..FullSubtreeOptions::new(aim) };
    let found = full_subtree(problem, &setting.attributes, branched, &progress).unwrap();
    if let (Some(Found { recoding, quality }), Some(best)) = (found, subtree) {
        let found = check_values(setting, &recoding, name)?;
        prop_assert_eq!(check_full_subtree(&recoding, &setting.attributes), Ok(()));
        prop_assert!(is_no_worse(metric, best, found), "{name}: {found} {best}");
        prop_assert!(quality == Quality::Heuristic || is_close(found, best), "{name}: {found} {best}");
    }

    let exact = UnrestrictedOptions { max_recodings: u64::MAX, ..UnrestrictedOptions::new(aim) };
    let found = unrestricted(problem, &setting.attributes, exact, &progress).unwrap();
    prop_assert_eq!(found.is_some(), any.is_some());
    if let (Some(Found { recoding, quality }), Some(best)) = (found, any) {
        prop_assert_eq!(quality, Quality::Optimal);
        let found = check_values(setting, &recoding, name)?;
        prop_assert!(is_close(found, best), "{name}: {found} {best}");
    }
    Ok(())
}

/// A column of these cells; the hierarchy is a line a leaf.
fn column(name: &str, hierarchy: &[&str], cells: &[(&str, usize)]) -> SampleColumn {
    let path = |line: &&str| line.split(' ').map(str::to_owned).collect();
    let cells = cells.iter().flat_map(|&(cell, n)| std::iter::repeat_n(cell.to_owned(), n));
    SampleColumn {
        name: name.into(),
        hierarchy: hierarchy.iter().map(path).collect(),
        cells: cells.collect(),
    }
}

/// The losses of all three models on a table, k-anonymous for k = 2, with the labels of the last.
fn losses(sample: &Sample) -> ([f64; 3], Vec<String>, u64) {
    let setting = Setting::k(sample, 2, 0);
    let costs = setting.costs();
    let metric = find(metric::ALL, "loss").unwrap().item;
    let aim = Aim { metric, costs: &costs };
    let (problem, progress) = (setting.problem(), Progress::new());
    let node = optimum(problem, &setting.attributes, &costs, metric, &progress).unwrap().best.unwrap();
    let subtree =
        full_subtree(problem, &setting.attributes, FullSubtreeOptions::new(aim), &progress).unwrap().unwrap();
    let any = unrestricted(problem, &setting.attributes, UnrestrictedOptions::new(aim), &progress)
        .unwrap()
        .unwrap();
    assert_eq!([subtree.quality, any.quality], [Quality::Optimal; 2]);
    let of = |answer: &PerValue| {
        metric.score(&costs, &Statistics::of_values(problem, &setting.attributes, answer).unwrap())
    };
    let losses = [metric.score(&costs, &node.statistics), of(&subtree.recoding), of(&any.recoding)];
    let partial = any.recoding.partial_labels(0);
    let mut labels = setting.labels(&of_answer(&setting, &any.recoding)).concat();
    labels.dedup();
    (losses, labels, partial)
}

/// Two values of one branch are frequent, two of the other are not: only the other branch must rise.
#[test]
fn full_subtree_can_be_strictly_better_than_full_domain() {
    let tree = ["a x *", "b x *", "c y *", "d y *"];
    let sample = Sample::new(vec![column("q", &tree, &[("a", 2), ("b", 2), ("c", 1), ("d", 1)])]);
    let (losses, labels, partial) = losses(&sample);
    // Full-domain: level 1, each of 6 cells costs 1/3. Full-subtree: 2 cells cost 1/3. Unrestricted: the same.
    assert!(
        is_close(losses[0], 1.0 / 3.0) && is_close(losses[1], 1.0 / 9.0) && is_close(losses[2], 1.0 / 9.0)
    );
    assert_eq!((labels, partial), (vec!["a".into(), "b".into(), "y".into()], 0));
}

/// Footnote 3 of the Incognito paper: `Person` beside `Female`.
#[test]
fn unrestricted_can_be_strictly_better_than_full_subtree_and_flags_it() {
    let tree = ["a *", "b *", "c *"];
    let sample = Sample::new(vec![column("q", &tree, &[("a", 2), ("b", 1), ("c", 1)])]);
    let (losses, labels, partial) = losses(&sample);
    // All at the top, or only b and c.
    assert!(is_close(losses[0], 1.0) && is_close(losses[1], 1.0) && is_close(losses[2], 0.5));
    assert_eq!((labels, partial), (vec!["a".into(), "*".into()], 1));
}

/// A city that is called like its state: released, both are written alike, and are one group.
#[test]
fn labels_that_are_written_alike_are_one_group_whatever_their_level() {
    // A label may be one of the values that it covers, and one of another level.
    let tree = ["NY NY S *", "Albany NY S *", "LA CA S *", "SF CA S *", "Fresno N CA *"];
    let cells = [("NY", 1), ("Albany", 1), ("LA", 2), ("SF", 2), ("Fresno", 1)];
    let sample = Sample::new(vec![column("q", &tree, &cells)]);
    for (k, name) in (1..=4).flat_map(|k| metric::ALL.iter().map(move |entry| (k, entry.name))) {
        for budget in [0, 2] {
            let setting = Setting::k(&sample, k, budget);
            let costs = setting.costs();
            let aim = Aim { metric: find(metric::ALL, name).unwrap().item, costs: &costs };
            let (problem, progress) = (setting.problem(), Progress::new());
            for max_cuts in [0, u64::MAX] {
                let options = FullSubtreeOptions { max_cuts, ..FullSubtreeOptions::new(aim) };
                let found = full_subtree(problem, &setting.attributes, options, &progress).unwrap().unwrap();
                check_full_subtree(&found.recoding, &setting.attributes).unwrap();
                let found = check_values(&setting, &found.recoding, name).unwrap();
                let best = setting.best(&all_recodings(&sample, is_full_subtree), name).unwrap();
                assert!(max_cuts == 0 || is_close(found, best), "{k} {name}: {found} {best}");
            }
            for max_recodings in [0, u64::MAX] {
                let options = UnrestrictedOptions { max_recodings, ..UnrestrictedOptions::new(aim) };
                let found = unrestricted(problem, &setting.attributes, options, &progress).unwrap().unwrap();
                let found = check_values(&setting, &found.recoding, name).unwrap();
                let best = setting.best(&all_recodings(&sample, |_, _| true), name).unwrap();
                assert!(max_recodings == 0 || is_close(found, best), "{k} {name}: {found} {best}");
            }
        }
    }
}

/// The Adult table with eight quasi-identifiers.
fn adult() -> Option<Sample> {
    let file = outside_file("adult/adult.csv")?;
    let mut sample = table_with_hierarchies(&file, &project().join("testdata/hierarchies/adult"));
    sample.illnesses = sample.columns.pop().unwrap().cells;
    assert_eq!((sample.columns.len(), sample.n_rows()), (8, 45_222));
    Some(sample)
}

/// The label at each level of the cells of an answer, counted by group: each group of the release as the policy sees it.
fn groups_of(setting: &Setting<'_>, answer: &PerValue) -> BTreeMap<Vec<u32>, (u64, BTreeMap<u32, u64>)> {
    let release = Recoding::PerValue(answer.clone()).apply(&setting.table, &setting.attributes).unwrap();
    let n_columns = setting.attributes.len();
    // Numbers by text: labels may stand twice in a column.
    let columns: Vec<Vec<u32>> = (0..=n_columns)
        .map(|column| {
            let labels: Vec<&str> = release.labels(column).collect();
            let mut first: BTreeMap<&str, u32> = BTreeMap::new();
            let numbers: Vec<u32> =
                labels.iter().zip(0..).map(|(label, at)| *first.entry(label).or_insert(at)).collect();
            release.codes(column).into_iter().map(|code| numbers[code as usize]).collect()
        })
        .collect();
    let mut groups: BTreeMap<Vec<u32>, (u64, BTreeMap<u32, u64>)> = BTreeMap::new();
    let (sensitive, quasi) = columns.split_last().unwrap();
    for (row_idx, value) in sensitive.iter().enumerate() {
        let labels = quasi.iter().map(|column| column[row_idx]).collect();
        let (rows, values) = groups.entry(labels).or_default();
        *rows += 1;
        *values.entry(*value).or_default() += 1;
    }
    groups
}

#[test]
fn on_adult_a_freer_model_loses_no_more() {
    let Some(sample) = adult() else { return };
    let metric = find(metric::ALL, "loss").unwrap().item;
    let half = Require { alpha: Some("0.8".into()), ..Require::of("alpha-k", "illness") };
    for (k, budget, with) in
        [(2, 0, None), (5, 0, None), (10, 0, None), (100, 0, None), (10, 452, None), (5, 0, Some(&half))]
    {
        let requires = [Require::k_anonymity(k)].into_iter().chain(with.cloned()).collect();
        let setting = Setting::new(&sample, requires, None, budget);
        let costs = setting.costs();
        let aim = Aim { metric, costs: &costs };
        let (problem, progress) = (setting.problem(), Progress::new());
        let node = optimum(problem, &setting.attributes, &costs, metric, &progress).unwrap().best.unwrap();
        let node = metric.score(&costs, &node.statistics);
        let of = |answer: &PerValue| {
            for (rows, values) in groups_of(&setting, answer).values() {
                assert!(*rows >= k);
                assert!(with.is_none() || values.values().all(|n| n * 10 <= rows * 8));
            }
            assert!(answer.suppressed_rows() <= budget);
            metric.score(&costs, &Statistics::of_values(problem, &setting.attributes, answer).unwrap())
        };
        let found = full_subtree(problem, &setting.attributes, FullSubtreeOptions::new(aim), &progress);
        let found = found.unwrap().unwrap();
        check_full_subtree(&found.recoding, &setting.attributes).unwrap();
        let subtree = of(&found.recoding);
        // Proven: there no cut is better than the best node.
        if budget == 0 && k <= 10 && with.is_none() {
            assert_eq!(found.quality, Quality::Optimal, "{k}");
            assert!(is_close(subtree, node), "{k}: {node} {subtree}");
        }
        let found = unrestricted(problem, &setting.attributes, UnrestrictedOptions::new(aim), &progress);
        let found = found.unwrap().unwrap();
        check_unrestricted(&found.recoding, &setting.attributes).unwrap();
        let any = of(&found.recoding);
        assert!(subtree <= node && any <= subtree, "{k} {budget}: {node} {subtree} {any}");
        if budget > 0 || k == 100 {
            assert!(
                subtree < node,
                "{k} {budget}: {node} {subtree}: else full-subtree would buy nothing here"
            );
        }
    }
}

/// 24 columns of four levels: more than 10^14 nodes.
#[test]
fn genetic_finds_a_node_where_no_lattice_can_be_built() {
    let tree: Vec<String> = (0..8).map(|leaf| format!("a{leaf} b{} c{} *", leaf / 2, leaf / 4)).collect();
    let tree: Vec<&str> = tree.iter().map(String::as_str).collect();
    let columns = (0..24_usize).map(|at| {
        let cells: Vec<String> =
            (0..400_usize).map(|row_idx| format!("a{}", (row_idx / (1 + at % 5)) * (at + 3) % 8)).collect();
        column(&format!("q{at}"), &tree, &cells.iter().map(|cell| (cell.as_str(), 1)).collect::<Vec<_>>())
    });
    let sample = Sample::new(columns.collect());
    let setting = Setting::k(&sample, 5, 20);
    let costs = setting.costs();
    let metric = find(metric::ALL, "loss").unwrap().item;
    let aim = Aim { metric, costs: &costs };
    assert!(incog_core::lattice::Lattice::new(&setting.attributes.heights()).is_err());
    let (problem, progress) = (setting.problem(), Progress::new());
    let run = |seed, max_evaluations| {
        let options = GeneticOptions { seed, max_evaluations, ..GeneticOptions::new(aim) };
        let found = genetic(problem, &setting.attributes, options, &progress).unwrap().unwrap();
        assert_eq!(found.quality, Quality::Heuristic);
        assert!(setting.row_levels(&of_node(&sample, &found.recoding)).is_some());
        found.recoding
    };
    let loss = |levels: &[u8]| {
        let row_levels = setting.row_levels(&of_node(&sample, levels)).unwrap();
        score(&sample, &row_levels, &setting.weights, "loss")
    };
    let few = run(1, 1);
    assert_eq!(few, setting.attributes.heights(), "one evaluation is the top's");
    let before = progress.nodes_judged();
    let many = run(1, 1500);
    assert!(progress.nodes_judged() - before <= 1500 + 24 * 3 + 1, "Datafly's steps beside");
    let greedy =
        datafly(problem, &setting.attributes, DataflyOptions::default(), &progress).unwrap().unwrap();
    assert!(loss(&many) < loss(&few) && loss(&many) <= loss(&greedy.recoding));
    // The same, whatever the number of threads; and full-subtree starts from there.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    assert_eq!(pool.install(|| run(1, 1500)), many);
    let found =
        full_subtree(problem, &setting.attributes, FullSubtreeOptions::new(aim), &progress).unwrap().unwrap();
    check_full_subtree(&found.recoding, &setting.attributes).unwrap();
    check_values(&setting, &found.recoding, "loss").unwrap();
}

/// Where level 0 is ruled out, a value is its lowest label; where a top has several labels, it cannot be suppressed.
#[test]
fn levels_that_are_ruled_out_are_not_used() {
    let tree = ["a x p *", "b x p *", "c y p *", "d z q *"];
    let sample = Sample::new(vec![column("q", &tree, &[("a", 1), ("b", 2), ("c", 2), ("d", 3)])]);
    let table = sample.table();
    let policy = Policy::k_anonymity(2).unwrap();
    let metric = find(metric::ALL, "loss").unwrap().item;
    for (numbers, subtree, suppression) in [
        // x, x, x, y, y, z: at the lowest that is left.
        (&[1_u8, 2, 3][..], Some([0_u8, 0, 0, 0]), Some(2_u8)),
        (&[0, 2][..], Some([1, 1, 1, 0]), None),
        (&[0, 3][..], Some([1, 1, 1, 1]), Some(1)),
        (&[2][..], Some([0, 0, 0, 0]), None),
    ] {
        let attribute = sample.attributes(&table)[0].clone().with_levels(numbers).unwrap();
        let attributes = Attributes::new(vec![attribute]).unwrap();
        let rows = Rows::new(&table, &attributes).unwrap();
        let problem = Problem { source: &rows, policy: &policy };
        let costs = Costs::new(problem, &attributes).unwrap();
        let aim = Aim { metric, costs: &costs };
        for max_cuts in [0, 100] {
            let options = FullSubtreeOptions { max_cuts, ..FullSubtreeOptions::new(aim) };
            let found = full_subtree(problem, &attributes, options, &Progress::new()).unwrap();
            assert_eq!(
                found.as_ref().map(|found| found.recoding.levels(0)),
                subtree.as_ref().map(|l| &l[..]),
                "{numbers:?}"
            );
            check_full_subtree(&found.unwrap().recoding, &attributes).unwrap();
        }
        let options = AttributeSuppressionOptions::new(aim);
        match attribute_suppression(problem, &attributes, options, &Progress::new()) {
            Ok(found) => assert_eq!(found.map(|found| found.recoding[0]), suppression, "{numbers:?}"),
            Err(error) => {
                assert_eq!((error.kind(), numbers), (ErrorKind::Input, &[2_u8][..]));
                assert!(error.hint().unwrap().contains("full-subtree"));
            }
        }
    }
}

#[test]
fn validators_refuse_what_breaks_the_model() {
    let tree = ["a x *", "b x *", "c y *", "d y *"];
    let sample = Sample::new(vec![column("q", &tree, &[("a", 2), ("b", 2), ("c", 2), ("d", 2)])]);
    let setting = Setting::k(&sample, 1, 0);
    let attributes = &setting.attributes;
    let of = |levels: [u8; 4]| PerValue::new(setting.problem(), attributes, &[levels.to_vec()]);
    for (levels, expected) in [
        ([0, 0, 1, 1], true),
        ([2, 2, 2, 2], true),
        ([1, 0, 0, 0], false),
        ([1, 1, 2, 2], false),
        ([2, 2, 2, 0], false),
    ] {
        let recoding = of(levels).unwrap();
        assert_eq!(check_full_subtree(&recoding, attributes).is_ok(), expected, "{levels:?}");
        assert_eq!(check_unrestricted(&recoding, attributes), Ok(()));
        assert_eq!(recoding.partial_labels(0) > 0, !expected, "{levels:?}");
    }
    assert_eq!(of([0, 0, 0, 3]).unwrap_err().kind(), ErrorKind::Internal);
    assert!(PerValue::new(setting.problem(), attributes, &[vec![0; 3]]).is_err());
    assert!(PerValue::new(setting.problem(), attributes, &[]).is_err());
    assert_eq!(check_attribute_suppression(&[0], attributes), Ok(()));
    assert_eq!(check_attribute_suppression(&[2], attributes), Ok(()));
    for wrong in [&[1_u8][..], &[3], &[]] {
        assert!(check_attribute_suppression(wrong, attributes).is_err());
    }
    // What the policy refuses is no recoding, and one of another table is noticed.
    let strict = Setting::k(&sample, 3, 0);
    assert_eq!(
        PerValue::new(strict.problem(), attributes, &[vec![0; 4]]).unwrap_err().kind(),
        ErrorKind::Policy
    );
    let other = Sample::new(vec![column(
        "q",
        &[tree[0], tree[1], tree[2], tree[3], "e z *"],
        &[("e", 9), ("a", 1), ("b", 1), ("c", 1), ("d", 1)],
    )]);
    let table = other.table();
    let recoding = Recoding::PerValue(of([0; 4]).unwrap());
    assert_eq!(recoding.apply(&table, &other.attributes(&table)).unwrap_err().kind(), ErrorKind::Internal);
}

#[test]
fn every_registered_algorithm_answers_by_name_and_can_be_cancelled() {
    let tree = ["a x *", "b x *", "c y *", "d y *"];
    let sample = Sample::new(vec![column("q", &tree, &[("a", 2), ("b", 2), ("c", 1), ("d", 1)])]);
    let setting = Setting::k(&sample, 2, 0);
    let costs = setting.costs();
    let aim = Aim { metric: find(metric::ALL, "loss").unwrap().item, costs: &costs };
    for (name, expected) in [
        ("attribute-suppression", [2; 4]),
        ("datafly", [1; 4]),
        ("genetic", [1; 4]),
        ("full-subtree", [0, 0, 1, 1]),
        ("unrestricted", [0, 0, 1, 1]),
    ] {
        let entry = find(algorithm::ALL, name).unwrap();
        let (problem, attributes) = (setting.problem(), &setting.attributes);
        let settings = Settings { seed: Some(7), ..Settings::default() };
        let run = |problem, progress: &Progress| {
            algorithms::run(entry, problem, attributes, aim, &settings, progress)
        };
        let levels = match run(problem, &Progress::new()).unwrap().unwrap() {
            Answer::Node(node) => node.statistics.levels.repeat(4),
            Answer::Recoding { recoding, .. } => match *recoding {
                Recoding::PerValue(values) => values.levels(0).to_vec(),
                other => panic!("{other:?}"),
            },
        };
        assert_eq!(levels, expected, "{name}");
        let progress = Progress::new();
        progress.cancel();
        let error = run(problem, &progress).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Cancelled, "{name}");
        // Nothing holds: five of four rows.
        let strict = Setting::k(&sample, 7, 0);
        assert!(run(strict.problem(), &Progress::new()).unwrap().is_none(), "{name}");
    }
}

#[test]
fn limits_are_kept_and_said() {
    let Some(sample) = adult() else { return };
    let setting = Setting::k(&sample, 10, 0);
    let costs = setting.costs();
    let aim = Aim { metric: find(metric::ALL, "loss").unwrap().item, costs: &costs };
    let (problem, progress) = (setting.problem(), Progress::new());
    let run = |max_steps| {
        let options = AttributeSuppressionOptions { aim, max_steps };
        attribute_suppression(problem, &setting.attributes, options, &progress).unwrap()
    };
    assert_eq!(run(0), None);
    assert_eq!(run(10_000).unwrap().quality, Quality::Optimal);
    assert!(run(20).is_none_or(|found| found.quality == Quality::Heuristic));
    let still = UnrestrictedOptions { max_moves: 0, ..UnrestrictedOptions::new(aim) };
    let start =
        full_subtree(problem, &setting.attributes, FullSubtreeOptions::new(aim), &progress).unwrap().unwrap();
    let still = unrestricted(problem, &setting.attributes, still, &progress).unwrap().unwrap();
    assert!((0..8).all(|at| start.recoding.levels(at) == still.recoding.levels(at)));
}
