//! Ordered-set partitioning, single- and multi-dimensional: whatever is released is judged by its strings alone, and on
//! tiny tables the single-dimensional optimum is that of all sets of cuts.

use std::collections::BTreeMap;
use std::sync::Arc;

use incog_core::Progress;
use incog_core::algorithm::quality::{Found, Quality};
use incog_core::algorithm::single::{FullSubtreeOptions, full_subtree};
use incog_core::algorithm::{
    Aim, CutChoice, CutMethod, Cuts, Extent, Gain, Limits, MondrianOptions, OrderedSetOptions, mondrian,
    ordered_set,
};
use incog_core::frequency::Rows;
use incog_core::hierarchy::spec::{Decimal, IntervalKind};
use incog_core::hierarchy::{Attribute, Attributes, ExplicitHierarchy, Hierarchy};
use incog_core::judge::Problem;
use incog_core::metric::{self, Costs, Statistics};
use incog_core::privacy::{
    Closure, Fraction, KAnonymity, Parameters, Policy, PrivacyModel, Sensitive, build,
};
use incog_core::recoding::validate::{Overlap, check_mondrian, check_ordered_set};
use incog_core::recoding::{Domain, Domains, Order, PerBox, PerValue, Recoding};
use incog_core::registry::find;
use incog_core::table::{Column, Role, Table};
use incog_testkit::data::{outside_file, project, table_with_hierarchies};
use incog_testkit::labels::{Input, Released};
use incog_testkit::random;
use incog_verify::{BoxesClaim, Claims, Finding, OrderClaim, OverlapClaim, RecodingClaim, Source, Style};
use proptest::collection::vec;
use proptest::prelude::*;

/// How a column of a random table is made.
#[derive(Debug, Clone)]
enum RandomColumn {
    /// Whole numbers; step and bounds in whole numbers.
    Whole { step: Option<i64>, bounds: Option<(i64, i64)> },
    /// Tenths; the step in tenths.
    Tenths { step: i64 },
    /// Days of early 2000; the step in days.
    Days { step: Option<i64> },
    /// Six categories.
    Categories,
    /// A hierarchy.
    Tree { height: usize, picks: Vec<u8> },
}

const CATEGORIES: [&str; 6] = ["none", "low", "mid", "high", "top", "all"];

#[derive(Debug, Clone)]
struct World {
    columns: Vec<(RandomColumn, Vec<String>)>,
    illnesses: Vec<String>,
}

/// The days from 2000-01-01 on, and back to numbers: only what random tables need.
const MONTHS: [(&str, i64); 5] =
    [("1999-12-", 31), ("2000-01-", 31), ("2000-02-", 29), ("2000-03-", 31), ("2000-04-", 30)];

fn day(mut number: i64) -> String {
    number += 31;
    for (month, days) in MONTHS {
        if number < days {
            return format!("{month}{:02}", number + 1);
        }
        number -= days;
    }
    unreachable!("days are of early 2000")
}

/// Days since 1970-01-01.
fn day_number(text: &str) -> i64 {
    (-31..120).find(|&number| day(number) == text).unwrap() + 10_957
}

fn kind(with_trees: bool) -> impl Strategy<Value = RandomColumn> {
    let whole = (proptest::option::of(1..=9_i64), any::<bool>())
        .prop_map(|(step, has_bounds)| RandomColumn::Whole { step, bounds: has_bounds.then_some((-3, 43)) });
    let tree = (0..=3_usize, vec(any::<u8>(), 1..20))
        .prop_map(|(height, picks)| RandomColumn::Tree { height, picks });
    let last = if with_trees { 2 } else { 0 };
    prop_oneof![
        4 => whole,
        1 => prop_oneof![Just(1_i64), Just(5), Just(25)].prop_map(|step| RandomColumn::Tenths { step }),
        1 => proptest::option::of(1..=9_i64).prop_map(|step| RandomColumn::Days { step }),
        1 => Just(RandomColumn::Categories),
        last => tree,
    ]
}

fn world(max_columns: usize, max_rows: usize, with_trees: bool) -> impl Strategy<Value = World> {
    (1..=max_columns, 0..=max_rows).prop_flat_map(move |(n_columns, n_rows)| {
        let column = (kind(with_trees), any::<bool>(), vec(0..40_u8, n_rows), 1..=40_u8);
        (vec(column, n_columns), vec(0..4_u8, n_rows)).prop_map(|(columns, illnesses)| World {
            columns: columns
                .into_iter()
                .map(|(kind, has_missing, picks, modulus)| {
                    let cells = picks.iter().map(|&pick| {
                        // Few distinct values make ties.
                        let pick = i64::from(pick % modulus);
                        if has_missing && pick % 7 == 3 {
                            return String::new();
                        }
                        match &kind {
                            RandomColumn::Whole { .. } => (pick - 3).to_string(),
                            RandomColumn::Tenths { .. } => format!("{}.{}", pick / 10, pick % 10),
                            RandomColumn::Days { .. } => day(pick),
                            RandomColumn::Categories => CATEGORIES[pick as usize % 6].into(),
                            RandomColumn::Tree { .. } => format!("v{}", pick % 6),
                        }
                    });
                    let cells = cells.collect();
                    (kind, cells)
                })
                .collect(),
            illnesses: illnesses.iter().map(|illness| format!("i{illness}")).collect(),
        })
    })
}

/// The engine's view of a table.
struct Setting {
    table: Table,
    attributes: Attributes,
    domains: Domains,
}

impl Setting {
    /// Does no label stand at two places of a hierarchy for different values?
    fn has_plain_labels(&self) -> bool {
        self.attributes.iter().all(|attribute| {
            let hierarchy = attribute.hierarchy();
            let mut leaves: BTreeMap<&str, std::collections::BTreeSet<u64>> = BTreeMap::new();
            for level in 0..=hierarchy.height() {
                for (label, text) in (0..).zip(hierarchy.labels(level).values()) {
                    leaves.entry(text).or_default().insert(hierarchy.leaves_under(level, label));
                }
            }
            leaves.values().all(|numbers| numbers.len() == 1)
        })
    }

    fn new(world: &World) -> Setting {
        let mut columns: Vec<Column> = world
            .columns
            .iter()
            .enumerate()
            .map(|(at, (_, cells))| {
                let cells = cells.iter().map(String::as_str);
                Column::from_cells(format!("q{at}"), Role::QuasiIdentifier, cells).unwrap()
            })
            .collect();
        let illnesses = world.illnesses.iter().map(String::as_str);
        columns.push(Column::from_cells("illness", Role::Sensitive, illnesses).unwrap());
        let table = Table::new(columns).unwrap();
        let (mut attributes, mut domains) = (Vec::new(), Vec::new());
        for ((kind, _), column) in world.columns.iter().zip(table.columns()) {
            let whole = |number: i64| Decimal::whole(number);
            let order = match kind {
                RandomColumn::Whole { step, bounds } => Order::Grid {
                    kind: IntervalKind::Numbers,
                    step: step.map(whole),
                    bounds: bounds.map(|(least, end)| (whole(least), whole(end))),
                },
                RandomColumn::Tenths { step } => {
                    let step = Decimal::parse(&format!("{}.{}", step / 10, step % 10));
                    Order::Grid { kind: IntervalKind::Numbers, step, bounds: None }
                }
                RandomColumn::Days { step } => {
                    Order::Grid { kind: IntervalKind::Dates, step: step.map(whole), bounds: None }
                }
                RandomColumn::Categories => Order::Categories(CATEGORIES.map(str::to_owned).to_vec()),
                RandomColumn::Tree { height, picks } => {
                    let mut values: Vec<String> = (0..6).map(|at| format!("v{at}")).collect();
                    values.push(String::new());
                    let mut rows = ExplicitHierarchy::new(column.name(), "random");
                    for (line, path) in random::hierarchy_of(&values, *height, picks).iter().enumerate() {
                        rows.push(line as u64 + 1, path.iter().map(String::as_str)).unwrap();
                    }
                    attributes.push(Attribute::bind(column, rows.finish().unwrap(), "random").unwrap());
                    domains.push(None);
                    continue;
                }
            };
            let hierarchy = Hierarchy::suppression(column.dictionary().values());
            attributes.push(Attribute::bind(column, hierarchy, "random").unwrap());
            domains.push(Some(Arc::new(Domain::new(column, &order).unwrap())));
        }
        Setting { table, attributes: Attributes::new(attributes).unwrap(), domains }
    }

    fn rows(&self) -> Rows {
        Rows::new(&self.table, &self.attributes).unwrap().with_sensitive(&self.table, &["illness"]).unwrap()
    }
}

/// A policy, and the same spelled out.
#[derive(Debug, Clone, Copy)]
struct Wanted {
    k: u64,
    /// In tenths.
    alpha: Option<u64>,
    /// In tenths.
    t: Option<u64>,
    budget: u64,
}

fn wanted() -> impl Strategy<Value = Wanted> {
    (1..=6_u64, proptest::option::of(3..=9_u64), proptest::option::of(1..=6_u64), 0..=2_u8, 1..=5_u64)
        .prop_map(|(k, alpha, t, which, budget)| Wanted {
            k,
            alpha: alpha.filter(|_| which == 1),
            t: t.filter(|_| which == 2),
            budget: if k % 2 == 0 { 0 } else { budget },
        })
}

impl Wanted {
    fn policy(&self, table: &Table) -> Policy {
        let tenths = |tenths: u64| format!("0.{tenths}").parse::<Fraction>().unwrap();
        let parameters = || Parameters::of(Sensitive::of_rows(0, table.column("illness").unwrap()));
        let mut models: Vec<Box<dyn PrivacyModel>> = vec![Box::new(KAnonymity::new(self.k).unwrap())];
        if let Some(alpha) = self.alpha {
            let parameters = parameters().with("alpha", tenths(alpha));
            models.push(build("alpha-k", &parameters).unwrap());
        }
        if let Some(t) = self.t {
            let parameters = parameters().with("t", tenths(t));
            models.push(build("t-closeness", &parameters).unwrap());
        }
        Policy::new(models, self.budget).unwrap()
    }

    /// May a group with these illnesses be published, where these are all that are?
    fn admits(&self, group: &[&str], all: &[&str]) -> bool {
        let count =
            |rows: &[&str], illness: &str| rows.iter().filter(|other| **other == illness).count() as i64;
        let (n, n_all) = (group.len() as i64, all.len() as i64);
        let is_rare =
            |illness: &&str| self.alpha.is_none_or(|alpha| 10 * count(group, illness) <= alpha as i64 * n);
        let mut distinct = all.to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        // Half the sum of differences of shares, times both totals.
        let distance: i64 = distinct
            .iter()
            .map(|illness| (count(group, illness) * n_all - count(all, illness) * n).abs())
            .sum();
        let is_close = self.t.is_none_or(|t| 10 * distance <= 2 * t as i64 * n * n_all);
        n as u64 >= self.k && group.iter().all(is_rare) && is_close
    }
}

/// Thousandths of a decimal number; nothing of the engine.
fn thousandths(text: &str) -> i64 {
    let (sign, text) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest));
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    sign * (whole.parse::<i64>().unwrap() * 1000 + format!("{fraction:0<3}").parse::<i64>().unwrap())
}

/// A number or day in thousandths.
fn number(kind: &RandomColumn, text: &str) -> i64 {
    if matches!(kind, RandomColumn::Days { .. }) { day_number(text) * 1000 } else { thousandths(text) }
}

/// What a label of an ordered column says: from where up to where, in thousandths or as numbers of categories.
fn ends(kind: &RandomColumn, label: &str) -> (i64, i64) {
    if let RandomColumn::Categories = kind {
        let category = |name: &str| CATEGORIES.iter().position(|other| *other == name).unwrap() as i64;
        let (first, last) = label.split_once("..").unwrap_or((label, label));
        return (category(first), category(last) + 1);
    }
    match label.strip_prefix('[') {
        Some(rest) => {
            let (start, end) = rest.strip_suffix(')').unwrap().split_once(", ").unwrap();
            (number(kind, start), number(kind, end))
        }
        None => {
            let unit = if let RandomColumn::Tenths { .. } = kind { 100 } else { 1000 };
            (number(kind, label), number(kind, label) + unit)
        }
    }
}

/// The labels of each released record, with its row, from the release.
fn released(setting: &Setting, recoding: &PerBox) -> Vec<(usize, Vec<String>)> {
    let recoding = Recoding::PerBox(recoding.clone());
    let Recoding::PerBox(boxes) = &recoding else { unreachable!() };
    let release = recoding.apply(&setting.table, &setting.attributes).unwrap();
    let kept: Vec<usize> = (0..boxes.n_records()).filter(|&row| boxes.box_of(row).is_some()).collect();
    assert_eq!(release.n_rows(), kept.len());
    for column in 0..setting.attributes.len() {
        let labels: Vec<&str> = release.labels(column).collect();
        for (row, code) in release.codes(column).into_iter().enumerate() {
            assert_eq!(labels[code as usize], release.cell(row, column));
        }
    }
    let labels =
        |row: usize| (0..setting.attributes.len()).map(|at| release.cell(row, at).to_owned()).collect();
    kept.into_iter().enumerate().map(|(at, row)| (row, labels(at))).collect()
}

/// All that is promised of a release, from its strings.
fn check_release(world: &World, setting: &Setting, wanted: &Wanted, recoding: &PerBox) {
    let released = released(setting, recoding);
    check_policy(world, wanted, &released);
    for (row, labels) in &released {
        for ((kind, cells), label) in world.columns.iter().zip(labels) {
            check_label(kind, &cells[*row], label);
        }
    }
    check_scores(world, setting, recoding, &released);
}

/// What is released of which row keeps the policy.
fn check_policy(world: &World, wanted: &Wanted, released: &[(usize, Vec<String>)]) {
    assert!((world.illnesses.len() - released.len()) as u64 <= wanted.budget, "too much is left out");
    let illness = |row: usize| world.illnesses[row].as_str();
    let all: Vec<&str> = released.iter().map(|(row, _)| illness(*row)).collect();
    let mut groups: BTreeMap<&[String], Vec<&str>> = BTreeMap::new();
    for (row, labels) in released {
        groups.entry(labels).or_default().push(illness(*row));
    }
    for (labels, group) in &groups {
        assert!(wanted.admits(group, &all), "{labels:?}: {group:?} of {all:?} with {wanted:?}");
    }
}

/// The independent checker reads the same from the labels. Where no step is given, all are multiples of the finest.
fn recheck(
    setting: &Setting,
    orders: Vec<Option<OrderClaim>>,
    recoding: &PerBox,
    k: u64,
    overlap: OverlapClaim,
) -> Vec<Finding> {
    let recoding = Recoding::PerBox(recoding.clone());
    let release = Released(recoding.apply(&setting.table, &setting.attributes).unwrap());
    let paths = |attribute: &Attribute| {
        let hierarchy = attribute.hierarchy();
        let label = |leaf: u32, level: u8| {
            hierarchy.labels(level).value(hierarchy.generalize(leaf, 0, level)).to_owned()
        };
        let path =
            |leaf: u32| (0..=hierarchy.height()).map(|level| label(leaf, level)).collect::<Vec<String>>();
        let leaves = 0..hierarchy.labels(0).len() as u32;
        incog_verify::Hierarchy {
            levels: (0..=usize::from(hierarchy.height())).collect(),
            paths: leaves.map(|leaf| (label(leaf, 0), path(leaf))).collect(),
        }
    };
    let input = Input(&setting.table);
    let claims = Claims {
        quasi_identifiers: setting.attributes.iter().map(|attribute| attribute.name().to_owned()).collect(),
        k,
        combinations: None,
        columns: None,
        sensitive: vec![],
        source: Some(Source {
            input: &input,
            hierarchies: setting.attributes.iter().map(paths).collect(),
            unit: None,
            budget: setting.table.n_rows() as u64,
            recoding: RecodingClaim::Boxes(BoxesClaim { orders, overlap }),
        }),
    };
    let findings = incog_verify::check(&release, &claims).findings;
    findings.into_iter().filter(|finding| !finding.holds).collect()
}

fn order_claims(world: &World) -> Vec<Option<OrderClaim>> {
    let order = |(kind, _): &(RandomColumn, Vec<String>)| match kind {
        RandomColumn::Whole { step, bounds } => Some(OrderClaim::Numbers {
            step: step.unwrap_or(1).to_string(),
            bounds: bounds.map(|(least, end)| [least.to_string(), end.to_string()]),
            style: Style::default(),
        }),
        RandomColumn::Tenths { step } => Some(OrderClaim::Numbers {
            step: format!("{}.{}", step / 10, step % 10),
            bounds: None,
            style: Style::default(),
        }),
        RandomColumn::Days { step } => Some(OrderClaim::Dates {
            step: step.unwrap_or(1).unsigned_abs(),
            bounds: None,
            style: Style::default(),
        }),
        RandomColumn::Categories => Some(OrderClaim::Categories(CATEGORIES.map(str::to_owned).to_vec())),
        RandomColumn::Tree { .. } => None,
    };
    world.columns.iter().map(order).collect()
}

/// A label has its value, and its ends are on the grid or are bounds.
fn check_label(kind: &RandomColumn, cell: &str, label: &str) {
    if let RandomColumn::Tree { .. } = kind {
        return;
    }
    if label == "*" {
        return;
    }
    assert_eq!(label.is_empty(), cell.is_empty(), "a missing value is never in a range");
    if cell.is_empty() {
        return;
    }
    let (start, end) = ends(kind, label);
    let value = if let RandomColumn::Categories = kind { ends(kind, cell).0 } else { number(kind, cell) };
    assert!(start <= value && value < end, "{cell} is not in {label}");
    let (step, bounds) = match kind {
        RandomColumn::Whole { step, bounds } => (*step, *bounds),
        RandomColumn::Tenths { step } => {
            assert!(
                start % (step * 100) == 0 && end % (step * 100) == 0,
                "{label} is off the grid of {step}"
            );
            return;
        }
        RandomColumn::Days { step } => (*step, None),
        RandomColumn::Categories | RandomColumn::Tree { .. } => return,
    };
    if let Some(step) = step {
        for at in [start, end] {
            let is_bound = bounds.is_some_and(|(least, end)| at == least * 1000 || at == end * 1000);
            assert!(at % (step * 1000) == 0 || is_bound, "{label} is off the grid of {step}");
        }
    }
}

/// Loss, entropy, discernibility and average group size are those of the strings.
fn check_scores(world: &World, setting: &Setting, recoding: &PerBox, released: &[(usize, Vec<String>)]) {
    let rows = setting.rows();
    let policy = Policy::k_anonymity(1).unwrap();
    let problem = Problem { source: &rows, policy: &policy };
    let costs = Costs::new(problem, &setting.attributes).unwrap().with_domains(&setting.domains);
    let statistics = Statistics::of_boxes(recoding, &setting.attributes);
    let score = |name: &str| find(metric::ALL, name).unwrap().item.score(&costs, &statistics);
    let n_rows = world.illnesses.len() as f64;
    let n_out = n_rows - released.len() as f64;
    let is_close = |a: f64, b: f64| (a - b).abs() <= 1e-9 * (1.0 + b.abs());
    if world.columns.iter().any(|(kind, _)| matches!(kind, RandomColumn::Tree { .. })) {
        // Labels of hierarchies are scored in other tests.
        return;
    }
    let mut sizes: BTreeMap<&[String], f64> = BTreeMap::new();
    released.iter().for_each(|(_, labels)| *sizes.entry(labels).or_default() += 1.0);
    let squares: f64 = sizes.values().map(|n| n * n).sum();
    assert!(is_close(score("discernibility"), squares + n_out * n_rows));
    if !sizes.is_empty() {
        assert!(is_close(score("average-group-size"), released.len() as f64 / sizes.len() as f64));
    }
    assert!(is_close(score("non-uniform-entropy"), naive_entropy(world, released)));
    let mut loss = 0.0;
    for (at, (kind, cells)) in world.columns.iter().enumerate() {
        let n_leaves = naive_leaves(kind, cells, setting.domains[at].as_ref().unwrap());
        loss += n_out;
        for (_, labels) in released {
            let unit = match kind {
                RandomColumn::Whole { .. } | RandomColumn::Days { .. } => 1000,
                RandomColumn::Tenths { .. } => 100,
                RandomColumn::Categories | RandomColumn::Tree { .. } => 1,
            };
            let leaves = match labels[at].as_str() {
                "" => 1,
                "*" => n_leaves,
                label => (ends(kind, label).1 - ends(kind, label).0) / unit,
            };
            if n_leaves > 1 {
                loss += (leaves - 1) as f64 / (n_leaves - 1) as f64;
            }
        }
    }
    if n_rows > 0.0 {
        let loss = loss / n_rows / world.columns.len() as f64;
        assert!(is_close(score("loss"), loss), "{} is not {loss}", score("loss"));
    }
}

/// The share of their bits that columns lost, by the texts of values and labels.
fn naive_entropy(world: &World, released: &[(usize, Vec<String>)]) -> f64 {
    let mut sum = 0.0;
    for (at, (kind, cells)) in world.columns.iter().enumerate() {
        let n =
            |is_meant: &dyn Fn(&String) -> bool| cells.iter().filter(|cell| is_meant(cell)).count() as f64;
        let is_in = |label: &String, cell: &String| {
            if label == "*" || label.is_empty() || cell.is_empty() {
                return label == "*" || label == cell;
            }
            let value =
                if let RandomColumn::Categories = kind { ends(kind, cell).0 } else { number(kind, cell) };
            let (start, end) = ends(kind, label);
            start <= value && value < end
        };
        let bits = |n_label: f64, cell: &String| (n_label / n(&|other| other == cell)).log2();
        let mut lost: f64 = cells.iter().map(|cell| bits(cells.len() as f64, cell)).sum();
        let most = lost;
        for (row_idx, labels) in released {
            let cell = &cells[*row_idx];
            lost -= bits(cells.len() as f64, cell) - bits(n(&|other| is_in(&labels[at], other)), cell);
        }
        sum += if most == 0.0 { 0.0 } else { lost / most };
    }
    sum / world.columns.len() as f64
}

/// How many units the domain has, from bounds or from the values rounded outward, where the step is known.
fn naive_leaves(kind: &RandomColumn, cells: &[String], domain: &Domain) -> i64 {
    let missing = i64::from(cells.iter().any(String::is_empty));
    let values: Vec<i64> = cells
        .iter()
        .filter(|cell| !cell.is_empty())
        .map(|cell| if let RandomColumn::Categories = kind { 0 } else { number(kind, cell) })
        .collect();
    // To the least multiple of the step that is 10 units, or 28 days, or more.
    let outward = |step: i64, unit: i64| {
        let (least, greatest) = (values.iter().min().unwrap(), values.iter().max().unwrap());
        let at_least = if matches!(kind, RandomColumn::Days { .. }) { 28 * unit } else { 10 * unit };
        let outer = (1..).map(|times| times * step).find(|&outer| outer >= at_least).unwrap();
        ((greatest.div_euclid(outer) + 1) * outer - least.div_euclid(outer) * outer) / unit + missing
    };
    match kind {
        RandomColumn::Categories => 6 + missing,
        RandomColumn::Whole { bounds: Some((least, end)), .. } => end - least + missing,
        _ if values.is_empty() => domain.n_leaves() as i64,
        RandomColumn::Whole { step: Some(step), .. } | RandomColumn::Days { step: Some(step) } => {
            outward(step * 1000, 1000)
        }
        RandomColumn::Tenths { step } if values.iter().any(|value| value % 1000 != 0) || step % 10 != 0 => {
            outward(step * 100, 100)
        }
        _ => domain.n_leaves() as i64,
    }
}

fn run_mondrian(
    setting: &Setting,
    policy: &Policy,
    cuts: Cuts,
    choice: CutChoice,
    extent: Extent,
) -> Option<Found<PerBox>> {
    let rows = setting.rows();
    let problem = Problem { source: &rows, policy };
    let options =
        MondrianOptions { domains: setting.domains.clone(), cuts, choice, extent, weights: Vec::new() };
    mondrian(problem, &setting.attributes, options, &Progress::new()).unwrap()
}

fn steps(max_steps: u64) -> Limits {
    Limits { max_steps: Some(max_steps), deadline: None }
}

fn run_ordered_set(setting: &Setting, policy: &Policy, cost: Gain, max_nodes: u64) -> Option<Found<PerBox>> {
    run_cuts(setting, policy, cost, CutMethod::Enumerate, max_nodes)
}

fn run_cuts(
    setting: &Setting,
    policy: &Policy,
    cost: Gain,
    method: CutMethod,
    max_nodes: u64,
) -> Option<Found<PerBox>> {
    run_cuts_from(setting, policy, (cost, method), max_nodes, None)
}

fn run_cuts_from(
    setting: &Setting,
    policy: &Policy,
    (cost, method): (Gain, CutMethod),
    max_nodes: u64,
    start: Option<PerValue>,
) -> Option<Found<PerBox>> {
    let rows = setting.rows();
    let problem = Problem { source: &rows, policy };
    let options = OrderedSetOptions {
        domains: setting.domains.clone(),
        cost,
        weights: Vec::new(),
        start,
        method,
        limits: steps(max_nodes),
    };
    ordered_set(problem, &setting.attributes, options, &Progress::new()).unwrap()
}

const CHOICES: [CutChoice; 3] =
    [CutChoice::Median, CutChoice::Best(Gain::Loss), CutChoice::Best(Gain::Discernibility)];

/// Is the table as a whole refused, with nothing left out?
fn is_hopeless(world: &World, wanted: &Wanted) -> bool {
    let all: Vec<&str> = world.illnesses.iter().map(String::as_str).collect();
    !wanted.admits(&all, &all)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn boxes_of_mondrian_keep_every_promise(world in world(3, 40, true), wanted in wanted(), tight in any::<bool>()) {
        let setting = Setting::new(&world);
        let policy = wanted.policy(&setting.table);
        let extent = if tight { Extent::Tight } else { Extent::Covering };
        let is_ordered = world.columns.iter().all(|(kind, cells)| {
            !matches!(kind, RandomColumn::Tree { .. }) && !cells.iter().any(String::is_empty)
        });
        for cuts in [Cuts::Strict, Cuts::Relaxed] {
            for choice in CHOICES {
                let Some(found) = run_mondrian(&setting, &policy, cuts, choice, extent) else {
                    let has_trees = world.columns.iter().any(|(kind, _)| matches!(kind, RandomColumn::Tree { .. }));
                    prop_assert!(has_trees || is_hopeless(&world, &wanted));
                    continue;
                };
                let overlap = match (cuts, extent) {
                    (Cuts::Relaxed, _) => Overlap::Allowed,
                    (Cuts::Strict, Extent::Covering) if is_ordered && found.recoding.suppressed_rows() == 0 => {
                        Overlap::DisjointAndCovering
                    }
                    (Cuts::Strict, _) => Overlap::Disjoint,
                };
                let valid = check_mondrian(&found.recoding, &setting.table, &setting.attributes, overlap);
                prop_assert_eq!(valid, Ok(()));
                prop_assert_eq!(found.quality, Quality::Heuristic);
                check_release(&world, &setting, &wanted, &found.recoding);
                let claim = if cuts == Cuts::Strict { OverlapClaim::DisjointBoxes } else { OverlapClaim::Allowed };
                prop_assert_eq!(recheck(&setting, order_claims(&world), &found.recoding, wanted.k, claim), []);
                let again = run_mondrian(&setting, &policy, cuts, choice, extent);
                prop_assert_eq!(Some(found), again);
            }
        }
    }

    #[test]
    fn intervals_and_labels_of_ordered_set_keep_every_promise(
        world in world(3, 25, true),
        wanted in wanted(),
        max_nodes in 1..=40_u64,
    ) {
        let setting = Setting::new(&world);
        let policy = wanted.policy(&setting.table);
        for cost in [Gain::Loss, Gain::Discernibility] {
            let Some(found) = run_ordered_set(&setting, &policy, cost, max_nodes) else {
                let has_trees = world.columns.iter().any(|(kind, _)| matches!(kind, RandomColumn::Tree { .. }));
                prop_assert!(has_trees || is_hopeless(&world, &wanted));
                continue;
            };
            let valid = check_ordered_set(&found.recoding, &setting.table, &setting.attributes);
            prop_assert_eq!(valid, Ok(()));
            check_release(&world, &setting, &wanted, &found.recoding);
            let claim = OverlapClaim::DisjointLabels;
            prop_assert_eq!(recheck(&setting, order_claims(&world), &found.recoding, wanted.k, claim), []);
        }
    }

    /// On intervals, hierarchies and both, with suppression and without: what it finds keeps the policy, is never worse than the greedy set that it
    /// starts from, never better than the optimum, and the same for the same seed.
    #[test]
    fn the_genetic_search_by_cuts_is_between_its_start_and_the_optimum(
        world in world(3, 25, true),
        wanted in wanted(),
        seed in any::<u64>(),
    ) {
        let setting = Setting::new(&world);
        let policy = wanted.policy(&setting.table);
        let method = CutMethod::Genetic { seed };
        let rows = setting.rows();
        let problem = Problem { source: &rows, policy: &policy };
        let costs = Costs::new(problem, &setting.attributes).unwrap().with_domains(&setting.domains);
        let loss = find(metric::ALL, "loss").unwrap().item;
        let score = |found: &Found<PerBox>| loss.score(&costs, &Statistics::of_boxes(&found.recoding, &setting.attributes));
        let start = run_ordered_set(&setting, &policy, Gain::Loss, 1);
        let found = run_cuts(&setting, &policy, Gain::Loss, method, 400);
        prop_assert_eq!(start.is_some(), found.is_some());
        let (Some(start), Some(found)) = (start, found) else { return Ok(()) };
        prop_assert_eq!(found.quality, Quality::Heuristic);
        prop_assert!(score(&found) <= score(&start) + 1e-9);
        let best = run_ordered_set(&setting, &policy, Gain::Loss, 20_000).unwrap();
        if best.quality == Quality::Optimal {
            prop_assert!(score(&found) >= score(&best) - 1e-9);
        }
        prop_assert_eq!(check_ordered_set(&found.recoding, &setting.table, &setting.attributes), Ok(()));
        check_release(&world, &setting, &wanted, &found.recoding);
        let claim = OverlapClaim::DisjointLabels;
        prop_assert_eq!(recheck(&setting, order_claims(&world), &found.recoding, wanted.k, claim), []);
        prop_assert_eq!(Some(found), run_cuts(&setting, &policy, Gain::Loss, method, 400));
    }

    /// Without any order it is full-subtree recoding, and the optimum of one search is that of the other.
    #[test]
    fn without_orders_the_optimum_is_that_of_full_subtree_recoding(world in world(2, 12, true), k in 1..=3_u64) {
        let mut setting = Setting::new(&world);
        setting.domains = vec![None; setting.attributes.len()];
        let policy = Policy::k_anonymity(k).unwrap();
        let rows = setting.rows();
        let problem = Problem { source: &rows, policy: &policy };
        let costs = Costs::new(problem, &setting.attributes).unwrap();
        let loss = find(metric::ALL, "loss").unwrap().item;
        let options = FullSubtreeOptions {
            max_cuts: u64::MAX,
            ..FullSubtreeOptions::new(Aim { metric: loss, costs: &costs })
        };
        let subtree = full_subtree(problem, &setting.attributes, options, &Progress::new()).unwrap();
        let found = run_ordered_set(&setting, &policy, Gain::Loss, u64::MAX);
        // Full-subtree recoding sees what labels say: two that are spelled alike make one group.
        let Some(found) = found else { return Ok(()) };
        let subtree = subtree.expect("what boxes can do labels can");
        prop_assert_eq!((found.quality, subtree.quality), (Quality::Optimal, Quality::Optimal));
        let of_labels = Statistics::of_values(problem, &setting.attributes, &subtree.recoding).unwrap();
        let of_boxes = Statistics::of_boxes(&found.recoding, &setting.attributes);
        let (best, reached) = (loss.score(&costs, &of_labels), loss.score(&costs, &of_boxes));
        prop_assert!(best <= reached + 1e-9, "{reached} beats the optimum {best}");
        if setting.has_plain_labels() {
            prop_assert!((best - reached).abs() < 1e-9, "{reached} is not {best}");
        }
    }

    /// Whatever the limit, with suppression and without: a search that begins with a stricter recoding does not end worse than it.
    #[test]
    fn what_begins_with_full_subtree_recoding_is_never_worse(
        world in world(3, 30, true),
        wanted in wanted(),
        max_nodes in 1..=3_u64,
    ) {
        let mut setting = Setting::new(&world);
        setting.domains = vec![None; setting.attributes.len()];
        let policy = wanted.policy(&setting.table);
        let rows = setting.rows();
        let problem = Problem { source: &rows, policy: &policy };
        let costs = Costs::new(problem, &setting.attributes).unwrap();
        let loss = find(metric::ALL, "loss").unwrap().item;
        let options = FullSubtreeOptions::new(Aim { metric: loss, costs: &costs });
        let Some(subtree) = full_subtree(problem, &setting.attributes, options, &Progress::new()).unwrap() else {
            return Ok(());
        };
        let of_labels = Statistics::of_values(problem, &setting.attributes, &subtree.recoding).unwrap();
        let start = Some(subtree.recoding);
        let how = (Gain::Loss, CutMethod::Enumerate);
        let Some(found) = run_cuts_from(&setting, &policy, how, max_nodes, start) else { return Ok(()) };
        prop_assert_eq!(check_ordered_set(&found.recoding, &setting.table, &setting.attributes), Ok(()));
        check_policy(&world, &wanted, &released(&setting, &found.recoding));
        let of_boxes = Statistics::of_boxes(&found.recoding, &setting.attributes);
        let (most, reached) = (loss.score(&costs, &of_labels), loss.score(&costs, &of_boxes));
        // Labels that are spelled alike make one group there, and two here. Other policies leave nothing out here.
        if setting.has_plain_labels() && (policy.closure() == Closure::Absorbing || policy.budget() == 0) {
            prop_assert!(reached <= most + 1e-9, "{reached} is worse than {most}");
        }
    }

    /// Relaxed median cuts leave no box of 2 k rows or more with two slots. (In one column, where no two boxes of several
    /// slots come to be equal.)
    #[test]
    fn relaxed_cuts_go_on_while_they_can(world in world(1, 60, false), k in 1..=6_u64) {
        let setting = Setting::new(&world);
        let policy = Policy::k_anonymity(k).unwrap();
        let Some(found) = run_mondrian(&setting, &policy, Cuts::Relaxed, CutChoice::Median, Extent::Tight) else {
            return Ok(());
        };
        for number in 0..found.recoding.n_boxes() {
            if let incog_core::recoding::Side::Range { start, end } = found.recoding.side(number, 0) {
                prop_assert!(end - start == 1 || found.recoding.rows(number) < 2 * k);
            }
        }
    }
}

// Brute force.

/// A tiny table of two whole-number columns.
#[derive(Debug, Clone)]
struct Tiny {
    rows: Vec<[i64; 2]>,
}

fn tiny() -> impl Strategy<Value = Tiny> {
    vec([0..5_i64, 0..4_i64], 1..=9).prop_map(|rows| Tiny { rows })
}

impl Tiny {
    fn world(&self) -> World {
        let column = |at: usize, end: i64| {
            let kind = RandomColumn::Whole { step: Some(1), bounds: Some((0, end)) };
            (kind, self.rows.iter().map(|row| row[at].to_string()).collect())
        };
        World { columns: vec![column(0, 5), column(1, 4)], illnesses: vec!["i".into(); self.rows.len()] }
    }

    /// Where a column may be cut: in the middle between neighbouring values.
    fn places(&self, at: usize) -> Vec<i64> {
        let mut values: Vec<i64> = self.rows.iter().map(|row| row[at]).collect();
        values.sort_unstable();
        values.dedup();
        values.windows(2).map(|pair| (pair[0] + 1 + pair[1]).div_euclid(2)).collect()
    }

    /// What the rows in a box cost; `None` if there are some, but fewer than k.
    fn cost(&self, sides: [(i64, i64); 2], k: usize, cost: Gain) -> Option<f64> {
        let is_inside = |row: &&[i64; 2]| (0..2).all(|at| sides[at].0 <= row[at] && row[at] < sides[at].1);
        let n = self.rows.iter().filter(is_inside).count();
        let width = |at: usize, whole: i64| (sides[at].1 - sides[at].0 - 1) as f64 / (whole - 1) as f64;
        match cost {
            _ if n == 0 => Some(0.0),
            _ if n < k => None,
            Gain::Discernibility => Some((n * n) as f64),
            Gain::Loss => Some(n as f64 * (width(0, 5) + width(1, 4))),
        }
    }

    /// The least cost of all sets of cuts: every subset of the places in each column.
    fn single(&self, k: usize, cost: Gain) -> Option<f64> {
        let intervals = |at: usize, end: i64| -> Vec<Vec<(i64, i64)>> {
            let places = self.places(at);
            (0..1_usize << places.len())
                .map(|subset| {
                    let chosen =
                        (0..places.len()).filter(|bit| subset >> bit & 1 == 1).map(|bit| places[bit]);
                    let ends: Vec<i64> = [0].into_iter().chain(chosen).chain([end]).collect();
                    ends.windows(2).map(|pair| (pair[0], pair[1])).collect()
                })
                .collect()
        };
        let mut best: Option<f64> = None;
        for first in intervals(0, 5) {
            for second in intervals(1, 4) {
                let boxes = first.iter().flat_map(|&a| second.iter().map(move |&b| [a, b]));
                let total: Option<f64> = boxes.map(|sides| self.cost(sides, k, cost)).sum();
                best = [best, total].into_iter().flatten().reduce(f64::min);
            }
        }
        best
    }

    /// The least cost of all recursive cuts: a box as it is, or cut in two at some place of some column.
    fn multi(&self, sides: [(i64, i64); 2], k: usize, cost: Gain) -> Option<f64> {
        let mut best = self.cost(sides, k, cost);
        for at in 0..2 {
            for place in
                self.places(at).into_iter().filter(|&place| sides[at].0 < place && place < sides[at].1)
            {
                let (mut low, mut high) = (sides, sides);
                low[at].1 = place;
                high[at].0 = place;
                let total = self.multi(low, k, cost).zip(self.multi(high, k, cost)).map(|(a, b)| a + b);
                best = [best, total].into_iter().flatten().reduce(f64::min);
            }
        }
        best
    }
}

/// The cost of a recoding from its strings, with the names of the metrics.
fn cost_of(setting: &Setting, recoding: &PerBox, cost: Gain) -> f64 {
    let released = released(setting, recoding);
    let mut sizes: BTreeMap<&[String], f64> = BTreeMap::new();
    released.iter().for_each(|(_, labels)| *sizes.entry(labels).or_default() += 1.0);
    let kind = RandomColumn::Whole { step: Some(1), bounds: None };
    match cost {
        Gain::Discernibility => sizes.values().map(|n| n * n).sum(),
        Gain::Loss => sizes
            .iter()
            .map(|(labels, n)| {
                let width = |at: usize, whole: i64| {
                    let (start, end) = ends(&kind, &labels[at]);
                    ((end - start) / 1000 - 1) as f64 / (whole - 1) as f64
                };
                n * (width(0, 5) + width(1, 4))
            })
            .sum(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn the_exact_search_reaches_the_optimum_and_more_freedom_is_never_worse(tiny in tiny(), k in 1..=3_usize) {
        let world = tiny.world();
        let setting = Setting::new(&world);
        let policy = Policy::k_anonymity(k as u64).unwrap();
        for cost in [Gain::Loss, Gain::Discernibility] {
            let single = tiny.single(k, cost);
            let multi = tiny.multi([(0, 5), (0, 4)], k, cost);
            prop_assert_eq!(single.is_some(), multi.is_some());
            let found = run_ordered_set(&setting, &policy, cost, u64::MAX);
            prop_assert_eq!(single.is_some(), found.is_some());
            let (Some(single), Some(multi), Some(found)) = (single, multi, found) else { continue };
            prop_assert!(multi <= single + 1e-9);
            prop_assert_eq!(found.quality, Quality::Optimal);
            let reached = cost_of(&setting, &found.recoding, cost);
            prop_assert!((reached - single).abs() < 1e-9, "{reached} is not {single}");
            // There are at most 128 sets of cuts: a genetic search of 2,000 that stops when it meets no new ones finds the best, too.
            let bred = run_cuts(&setting, &policy, cost, CutMethod::Genetic { seed: 0 }, 2_000).unwrap();
            let bred = cost_of(&setting, &bred.recoding, cost);
            prop_assert!((bred - single).abs() < 1e-9, "{bred} is not {single}");
            for choice in CHOICES {
                let strict = run_mondrian(&setting, &policy, Cuts::Strict, choice, Extent::Covering).unwrap();
                prop_assert!(cost_of(&setting, &strict.recoding, cost) >= multi - 1e-9);
            }
        }
    }
}

/// A cut of the second column for all records would leave (4, 0) and (4, 3) alone; cut only where the first is 0, it does
/// not.
#[test]
fn boxes_can_be_better_than_any_intervals() {
    let tiny = Tiny { rows: vec![[0, 0], [0, 0], [0, 3], [0, 3], [4, 0], [4, 3]] };
    let setting = Setting::new(&tiny.world());
    let policy = Policy::k_anonymity(2).unwrap();
    // By intervals: one column is cut. 3² + 3², or 4² + 2².
    let single = run_ordered_set(&setting, &policy, Gain::Discernibility, 1000).unwrap();
    let cost = |recoding: &PerBox| cost_of(&setting, recoding, Gain::Discernibility);
    assert_eq!((single.quality, cost(&single.recoding)), (Quality::Optimal, 18.0));
    assert_eq!(tiny.single(2, Gain::Discernibility), Some(18.0));
    // By boxes: 2² + 2² + 2².
    let strict = run_mondrian(&setting, &policy, Cuts::Strict, CutChoice::Median, Extent::Covering).unwrap();
    assert_eq!(cost(&strict.recoding), 12.0);
    assert_eq!(tiny.multi([(0, 5), (0, 4)], 2, Gain::Discernibility), Some(12.0));
}

// What is refused, and what is said.

fn numbers(cells: &[&'static str]) -> World {
    let kind = RandomColumn::Whole { step: Some(10), bounds: None };
    World {
        columns: vec![(kind, cells.iter().map(|&cell| cell.to_owned()).collect())],
        illnesses: vec!["i".into(); cells.len()],
    }
}

#[test]
fn a_lonely_missing_value_is_left_out_if_it_may_be() {
    let world = numbers(&["12", "17", "34", "36", ""]);
    let setting = Setting::new(&world);
    let labels = |budget: u64| {
        let policy = Policy::k_anonymity(2).unwrap().with_budget(budget);
        let found =
            run_mondrian(&setting, &policy, Cuts::Strict, CutChoice::Median, Extent::Covering).unwrap();
        let single = run_ordered_set(&setting, &policy, Gain::Loss, 100).unwrap();
        let labels = |recoding: &PerBox| -> Vec<String> {
            released(&setting, recoding).into_iter().map(|(_, labels)| labels.concat()).collect()
        };
        assert_eq!(labels(&found.recoding), labels(&single.recoding));
        labels(&found.recoding)
    };
    assert_eq!(labels(0), ["*"; 5]);
    assert_eq!(labels(1), ["[10, 20)", "[10, 20)", "[20, 40)", "[20, 40)"]);
}

#[test]
fn a_limit_of_nothing_is_refused_with_advice() {
    let mut setting = Setting::new(&numbers(&["12", "17"]));
    let policy = Policy::k_anonymity(1).unwrap();
    let rows = setting.rows();
    let problem = Problem { source: &rows, policy: &policy };
    let run = |domains: &Domains, max_nodes| {
        let options = OrderedSetOptions {
            domains: domains.clone(),
            cost: Gain::Loss,
            weights: Vec::new(),
            start: None,
            method: CutMethod::Enumerate,
            limits: steps(max_nodes),
        };
        ordered_set(problem, &setting.attributes, options, &Progress::new())
    };
    let error = run(&setting.domains, 0).unwrap_err();
    assert!(error.to_string().contains("0 nodes") && error.hint().unwrap().contains("mondrian"));
    assert!(run(&vec![None], 1).unwrap().is_some(), "its hierarchy will do");
    let cancelled = Progress::new();
    cancelled.cancel();
    setting.domains = vec![None];
    let options = MondrianOptions { domains: setting.domains, ..MondrianOptions::default() };
    assert!(mondrian(problem, &setting.attributes, options, &cancelled).is_err());
}

#[test]
fn weights_steer_which_attribute_is_cut() {
    // Both columns can be cut once, not both.
    let column = |cells: [&str; 4]| {
        (RandomColumn::Whole { step: Some(1), bounds: None }, cells.map(str::to_owned).to_vec())
    };
    let world = World {
        columns: vec![column(["1", "1", "9", "9"]), column(["1", "9", "1", "9"])],
        illnesses: vec!["i".into(); 4],
    };
    let setting = Setting::new(&world);
    let rows = setting.rows();
    let policy = Policy::k_anonymity(2).unwrap();
    for (weights, uncut) in [(vec![1.0, 1.0], 1), (vec![1.0, 2.0], 0), (vec![2.0, 1.0], 1)] {
        let options =
            MondrianOptions { domains: setting.domains.clone(), weights, ..MondrianOptions::default() };
        let problem = Problem { source: &rows, policy: &policy };
        let found = mondrian(problem, &setting.attributes, options, &Progress::new()).unwrap().unwrap();
        for (_, labels) in released(&setting, &found.recoding) {
            assert_eq!(labels[uncut], "[0, 10)");
        }
    }
}

#[test]
fn a_broken_recoding_does_not_pass_its_validator() {
    use incog_core::recoding::Side::{Everything, Range};
    let setting = Setting::new(&numbers(&["12", "17", "34"]));
    let made = |sides: &[incog_core::recoding::Side], of_record: [u32; 3]| {
        PerBox::new(setting.domains.clone(), sides.iter().copied(), of_record.map(Some)).unwrap()
    };
    let range = |start, end| Range { start, end };
    let mondrian =
        |recoding: &PerBox, overlap| check_mondrian(recoding, &setting.table, &setting.attributes, overlap);
    let ordered = |recoding: &PerBox| check_ordered_set(recoding, &setting.table, &setting.attributes);
    let good = made(&[range(0, 1), range(1, 3)], [0, 0, 1]);
    assert_eq!((mondrian(&good, Overlap::DisjointAndCovering), ordered(&good)), (Ok(()), Ok(())));
    let outside = made(&[range(0, 1), range(1, 3)], [0, 1, 1]);
    assert!(mondrian(&outside, Overlap::Allowed).is_err() && ordered(&outside).is_err());
    let touching = made(&[range(0, 1), range(0, 3)], [0, 1, 1]);
    assert!(mondrian(&touching, Overlap::Disjoint).is_err() && ordered(&touching).is_err());
    assert_eq!(mondrian(&touching, Overlap::Allowed), Ok(()));
    let gap = made(&[range(0, 1), range(2, 3)], [0, 0, 1]);
    assert!(mondrian(&gap, Overlap::DisjointAndCovering).is_err() && ordered(&gap).is_err());
    assert_eq!(mondrian(&gap, Overlap::Disjoint), Ok(()));
    let both = made(&[range(0, 1), Everything], [0, 0, 1]);
    assert!(mondrian(&both, Overlap::Disjoint).is_err() && ordered(&both).is_err());
}

// Adult.

/// The first eight quasi-identifiers, age as numbers and the others by hierarchies.
fn adult(step: Option<i64>) -> Option<Setting> {
    let file = outside_file("adult/adult.csv")?;
    let mut sample = table_with_hierarchies(&file, &project().join("testdata/hierarchies/adult"));
    sample.columns.truncate(8);
    let table = sample.table();
    let attributes = sample.attributes(&table);
    let order = Order::Grid { kind: IntervalKind::Numbers, step: step.map(Decimal::whole), bounds: None };
    let ages = Domain::new(table.column("age").unwrap(), &order).unwrap();
    let mut domains = vec![None; 8];
    domains[0] = Some(Arc::new(ages));
    Some(Setting { table, attributes, domains })
}

#[test]
fn adult_is_cut_into_boxes_that_hold() {
    for (step, k) in [(Some(1), 2), (Some(1), 5), (Some(1), 10), (None, 10), (Some(1), 100)] {
        let Some(setting) = adult(step) else { return };
        let policy = Policy::k_anonymity(k).unwrap();
        for cuts in [Cuts::Strict, Cuts::Relaxed] {
            let found = run_mondrian(&setting, &policy, cuts, CutChoice::Median, Extent::Covering).unwrap();
            let overlap = if cuts == Cuts::Strict { Overlap::Disjoint } else { Overlap::Allowed };
            let valid = check_mondrian(&found.recoding, &setting.table, &setting.attributes, overlap);
            assert_eq!(valid, Ok(()), "k = {k}, {cuts:?}");
            let claim =
                if cuts == Cuts::Strict { OverlapClaim::DisjointBoxes } else { OverlapClaim::Allowed };
            let mut orders = vec![None; 8];
            orders[0] = Some(OrderClaim::Numbers { step: "1".into(), bounds: None, style: Style::default() });
            assert_eq!(recheck(&setting, orders, &found.recoding, k, claim), []);
            let mut sizes: BTreeMap<Vec<String>, u64> = BTreeMap::new();
            for (_, labels) in released(&setting, &found.recoding) {
                *sizes.entry(labels).or_default() += 1;
            }
            assert_eq!(sizes.values().sum::<u64>(), 45_222);
            assert!(sizes.values().all(|&rows| rows >= k), "k = {k}, {cuts:?}");
            let average = 45_222.0 / sizes.len() as f64;
            if cuts == Cuts::Relaxed {
                assert!(average <= 2.0 * k as f64, "k = {k}: {average}");
            }
        }
    }
}

#[test]
fn adult_is_cut_into_intervals_that_hold() {
    let Some(setting) = adult(None) else { return };
    let names = ["age", "education", "gender"];
    let (mut attributes, mut domains) = (Vec::new(), Vec::new());
    for name in names {
        let attribute = setting.attributes.iter().find(|attribute| attribute.name() == name).unwrap();
        let column = setting.table.column(name).unwrap();
        let leaves = attribute.hierarchy().labels(0).values().map(str::to_owned).collect();
        let order = if name == "age" { Order::NUMBERS } else { Order::Categories(leaves) };
        domains.push(Some(Arc::new(Domain::new(column, &order).unwrap())));
        attributes.push(attribute.clone());
    }
    let setting = Setting { attributes: Attributes::new(attributes).unwrap(), domains, ..setting };
    for k in [10, 100] {
        let policy = Policy::k_anonymity(k).unwrap();
        let found = run_ordered_set(&setting, &policy, Gain::Loss, 50).unwrap();
        assert_eq!(check_ordered_set(&found.recoding, &setting.table, &setting.attributes), Ok(()));
        assert_eq!(found.quality, Quality::Heuristic, "no more than 50 nodes");
        let smallest = (0..found.recoding.n_boxes()).map(|number| found.recoding.rows(number)).min();
        assert!(smallest >= Some(k));
    }
}
