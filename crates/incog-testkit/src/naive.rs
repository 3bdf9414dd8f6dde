//! Definitions, spelled out on strings.
//!
//! Every function here follows a definition word by word, without coding, packing or pruning, so that it can be
//! read next to the paper. Slow, and shares nothing with the engine.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Require, Sample};

/// Every combination of levels, in column order.
pub fn all_nodes(heights: &[u8]) -> Vec<Vec<u8>> {
    heights.iter().fold(vec![vec![]], |nodes, &height| {
        nodes
            .into_iter()
            .flat_map(|node: Vec<u8>| (0..=height).map(move |level| [node.as_slice(), &[level]].concat()))
            .collect()
    })
}

/// The labels of every row at a node; `None` leaves the attribute out.
pub fn labels(sample: &Sample, levels: &[Option<u8>]) -> Vec<Vec<String>> {
    (0..sample.n_rows())
        .map(|row_idx| {
            let mut row = Vec::new();
            for (column, level) in sample.columns.iter().zip(levels) {
                if let Some(level) = level {
                    let leaf = &column.cells[row_idx];
                    let path = column.hierarchy.iter().find(|path| path[0] == *leaf).unwrap();
                    row.push(path[usize::from(*level)].clone());
                }
            }
            row
        })
        .collect()
}

/// The rows of each group at a node.
pub fn groups(sample: &Sample, levels: &[Option<u8>]) -> BTreeMap<Vec<String>, Vec<usize>> {
    let mut groups: BTreeMap<Vec<String>, Vec<usize>> = BTreeMap::new();
    for (row_idx, labels) in labels(sample, levels).into_iter().enumerate() {
        groups.entry(labels).or_default().push(row_idx);
    }
    groups
}

/// A level for every attribute.
pub fn present(levels: &[u8]) -> Vec<Option<u8>> {
    levels.iter().copied().map(Some).collect()
}

/// The rows that must be suppressed at a node so that every group left has at least `k` rows.
pub fn rows_to_suppress(sample: &Sample, levels: &[u8], k: u64) -> Vec<usize> {
    let groups = groups(sample, &present(levels)).into_values();
    groups.filter(|rows| (rows.len() as u64) < k).flatten().collect()
}

/// The nodes that are k-anonymous after suppressing at most `budget` rows, in column order.
pub fn satisfying(sample: &Sample, k: u64, budget: u64) -> Vec<Vec<u8>> {
    all_nodes(&sample.heights())
        .into_iter()
        .filter(|levels| rows_to_suppress(sample, levels, k).len() as u64 <= budget)
        .collect()
}

/// The nodes of a list that have no other node of the list at or below them in every attribute.
pub fn minimal(nodes: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let is_below = |a: &[u8], b: &[u8]| a != b && a.iter().zip(b).all(|(a, b)| a <= b);
    nodes.iter().filter(|node| !nodes.iter().any(|other| is_below(other, node))).cloned().collect()
}

/// Every combination of at least one and at most `most` of the columns below `n_columns`.
pub fn combinations(n_columns: usize, most: usize) -> Vec<Vec<usize>> {
    let members = |set: u32| (0..n_columns).filter(|&at| set >> at & 1 == 1).collect::<Vec<_>>();
    (1_u32..1 << n_columns).map(members).filter(|columns| columns.len() <= most).collect()
}

/// Does every combination of at most `most` labels that one of these rows has stand in at least `k` of them?
pub fn combinations_hold(rows: &[Vec<String>], k: u64, most: usize) -> bool {
    let n_columns = rows.first().map_or(0, Vec::len);
    combinations(n_columns, most).iter().all(|columns| {
        let mut counts: BTreeMap<Vec<&String>, u64> = BTreeMap::new();
        for row in rows {
            *counts.entry(columns.iter().map(|&at| &row[at]).collect()).or_default() += 1;
        }
        counts.values().all(|&rows| rows >= k)
    })
}

/// The rows to leave out at a node so that the others satisfy [`combinations_hold`]: as few as possible, found among all sets of rows.
/// `None` if several sets are as small.
pub fn rows_outside_combinations(sample: &Sample, levels: &[u8], k: u64, most: usize) -> Option<Vec<usize>> {
    let labels = labels(sample, &present(levels));
    let n_rows = sample.n_rows();
    let mut sets: Vec<u32> = (0..1 << n_rows).collect();
    sets.sort_by_key(|set: &u32| set.count_ones());
    let holds = |set: u32| {
        let kept = (0..n_rows).filter(|&row| set >> row & 1 == 0).map(|row| labels[row].clone());
        combinations_hold(&kept.collect::<Vec<_>>(), k, most)
    };
    let first = *sets.iter().find(|&&set| holds(set)).expect("no rows break nothing");
    let ties = sets.iter().filter(|set| set.count_ones() == first.count_ones());
    let n_ties = ties.filter(|&&set| holds(set)).count();
    (n_ties == 1).then(|| (0..n_rows).filter(|&row| first >> row & 1 == 1).collect())
}

/// A row as privacy models see it: whom it is about, and the value of the sensitive column. Where rows are counted, every
/// row is about somebody else. Without a name it is about nobody.
pub type PersonAndValue = (String, String);

/// The rows that are left out at a node: those of groups that some model refuses, judged against all rows at first, then
/// against those left, until no further group is refused or more rows are out than the budget allows.
pub fn left_out(
    sample: &Sample,
    levels: &[u8],
    requires: &[Require],
    record: &dyn Fn(&Require, usize) -> PersonAndValue,
    budget: u64,
) -> Vec<usize> {
    let mut kept: Vec<Vec<usize>> = groups(sample, &present(levels)).into_values().collect();
    let mut out: Vec<usize> = Vec::new();
    loop {
        let is_refused = |rows: &Vec<usize>| {
            requires.iter().any(|require| {
                let records =
                    |rows: &[usize]| rows.iter().map(|&row_idx| record(require, row_idx)).collect::<Vec<_>>();
                !admits(require, &records(rows), &records(&kept.concat()))
            })
        };
        let (refused, rest): (Vec<_>, Vec<_>) = kept.iter().cloned().partition(is_refused);
        let is_done = refused.is_empty();
        out.extend(refused.concat());
        kept = rest;
        if is_done || out.len() as u64 > budget {
            out.sort_unstable();
            return out;
        }
    }
}

/// Does a model admit a group, among all records?
pub fn admits(require: &Require, group: &[PersonAndValue], all: &[PersonAndValue]) -> bool {
    // What is about nobody is no person, and no person's value.
    let of_somebody = |records: &[PersonAndValue]| {
        records.iter().filter(|(person, _)| !person.is_empty()).cloned().collect()
    };
    let (group, all): (Vec<PersonAndValue>, Vec<PersonAndValue>) = (of_somebody(group), of_somebody(all));
    let (group, all) = (group.as_slice(), all.as_slice());
    let persons = |records: &[PersonAndValue]| -> BTreeSet<String> {
        records.iter().map(|(person, _)| person.clone()).collect()
    };
    // How many have each value.
    let count = |records: &[PersonAndValue]| -> BTreeMap<String, i128> {
        let pairs: BTreeSet<&PersonAndValue> = records.iter().collect();
        let mut counts = BTreeMap::new();
        for (_, value) in pairs {
            *counts.entry(value.clone()).or_default() += 1;
        }
        counts
    };
    let (here, there) = (count(group), count(all));
    let (n, n_all): (i128, i128) = (here.values().sum(), there.values().sum());
    let share = |value: &String| here.get(value).copied().unwrap_or(0);
    match require.model.as_str() {
        "k-anonymity" => persons(group).len() as u64 >= require.k.unwrap(),
        "alpha-k" => {
            let (part, of) = ratio(&require.alpha);
            let classes: Vec<Vec<String>> = match &require.values {
                Some(values) => vec![values.clone()],
                None => here.keys().map(|value| vec![value.clone()]).collect(),
            };
            classes.iter().all(|class| {
                let with: Vec<PersonAndValue> =
                    group.iter().filter(|(_, value)| class.contains(value)).cloned().collect();
                persons(&with).len() as i128 * of <= part * persons(group).len() as i128
            })
        }
        "distinct-l" => here.len() as i128 * ratio(&require.l).1 >= ratio(&require.l).0,
        "entropy-l" => {
            let entropy: f64 = here.values().map(|&c| c as f64 / n as f64).map(|p| -p * p.ln()).sum();
            let (part, of) = ratio(&require.l);
            // Nearer is equal, for tables as small as these.
            entropy >= (part as f64 / of as f64).ln() - 1e-9
        }
        "recursive-cl" => {
            let (part, of) = ratio(&require.c);
            let mut counts: Vec<i128> = here.into_values().collect();
            counts.sort_by(|a, b| b.cmp(a));
            let l = ratio(&require.l).0 as usize;
            counts.first().unwrap_or(&0) * of < part * counts.iter().skip(l - 1).sum::<i128>()
        }
        // Nobody is as near as can be.
        "t-closeness" if group.is_empty() => true,
        "t-closeness" => {
            let (part, of) = ratio(&require.t);
            let (moved, scale) = earth_mover(require, &here, &there);
            moved * of <= part * scale
        }
        "delta-disclosure" => {
            let (part, of) = ratio(&require.delta);
            there.iter().all(|(value, &c_all)| {
                let (p, p_all) = (share(value) as f64 / n as f64, c_all as f64 / n_all as f64);
                (p / p_all).ln().abs() < part as f64 / of as f64
            })
        }
        "beta-likeness" => {
            let (part, of) = ratio(&require.beta);
            let is_enhanced = require.likeness.as_deref() != Some("basic");
            there.iter().all(|(value, &c_all)| {
                let c = share(value);
                // (q − p)/p ≤ β, with q = c/n and p = C/N.
                let basic = (c * n_all - c_all * n) * of <= part * c_all * n;
                let (q, p) = (c as f64 / n as f64, c_all as f64 / n_all as f64);
                c * n_all <= c_all * n || basic && (!is_enhanced || (q - p) / p <= -p.ln())
            })
        }
        other => panic!("no definition of the model `{other}`"),
    }
}

/// A number as a fraction.
fn ratio(text: &Option<String>) -> (i128, i128) {
    let text = text.as_ref().expect("the model's number is given");
    if let Some((part, of)) = text.split_once('/') {
        return (part.parse().unwrap(), of.parse().unwrap());
    }
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    (format!("{whole}{decimals}").parse().unwrap(), 10_i128.pow(decimals.len() as u32))
}

/// How far two values are apart, as a fraction of two integers, if `values` are all that occur.
fn ground_distance(require: &Require, values: &[&String], a: &String, b: &String) -> (i128, i128) {
    match require.distance.as_deref() {
        None | Some("equal") => (i128::from(a != b), 1),
        Some("ordered") => {
            let order = require.order.as_ref().unwrap();
            let in_order: Vec<&String> = order.iter().filter(|value| values.contains(value)).collect();
            let place = |value: &String| in_order.iter().position(|other| *other == value).unwrap() as i128;
            ((place(a) - place(b)).abs(), (in_order.len() as i128 - 1).max(1))
        }
        Some("hierarchical") => {
            let paths = require.hierarchy.as_ref().unwrap();
            let path = |value: &String| paths.iter().find(|path| path[0] == *value).unwrap();
            let has_one_top = paths.iter().all(|path| path.last() == paths[0].last());
            let height = paths[0].len() - usize::from(has_one_top);
            let common = (0..paths[0].len()).find(|&level| path(a)[level] == path(b)[level]);
            // Without a common label they meet above the top.
            (common.unwrap_or(height) as i128, height.max(1) as i128)
        }
        Some(other) => panic!("no definition of the distance `{other}`"),
    }
}

/// The least work that turns one distribution into another, as a fraction: a transport problem, solved by sending along
/// the cheapest way as long as something is left.
pub fn earth_mover(
    require: &Require,
    here: &BTreeMap<String, i128>,
    there: &BTreeMap<String, i128>,
) -> (i128, i128) {
    let values: Vec<&String> = there.keys().collect();
    let (n, n_all): (i128, i128) = (here.values().sum(), there.values().sum());
    let m = values.len();
    let mut supply: Vec<i128> =
        values.iter().map(|value| here.get(*value).copied().unwrap_or(0) * n_all).collect();
    let mut demand: Vec<i128> = values.iter().map(|value| there[*value] * n).collect();
    let mut scale = 1;
    let mut cost = vec![vec![0; m]; m];
    for from in 0..m {
        for to in 0..m {
            (cost[from][to], scale) = ground_distance(require, &values, values[from], values[to]);
        }
    }
    let mut flow = vec![vec![0_i128; m]; m];
    let mut work = 0;
    while supply.iter().any(|&left| left > 0) {
        // The cheapest way from any supply to each place; what flows may be sent back. Sources are 0..m, sinks m..2m.
        let mut best: Vec<Option<i128>> =
            supply.iter().map(|&left| (left > 0).then_some(0)).chain((0..m).map(|_| None)).collect();
        let mut came_from: Vec<usize> = vec![usize::MAX; 2 * m];
        for _ in 0..2 * m {
            for from in 0..m {
                for to in 0..m {
                    let forth = best[from].map(|so_far| so_far + cost[from][to]);
                    if forth.is_some_and(|way| best[m + to].is_none_or(|known| way < known)) {
                        (best[m + to], came_from[m + to]) = (forth, from);
                    }
                    let back = best[m + to].map(|so_far| so_far - cost[from][to]);
                    if flow[from][to] > 0
                        && back.is_some_and(|way| best[from].is_none_or(|known| way < known))
                    {
                        (best[from], came_from[from]) = (back, m + to);
                    }
                }
            }
        }
        let end = (0..m).filter(|&to| demand[to] > 0).min_by_key(|&to| best[m + to]).unwrap();
        let mut way = vec![m + end];
        while came_from[way[way.len() - 1]] != usize::MAX {
            way.push(came_from[way[way.len() - 1]]);
        }
        let start = way[way.len() - 1];
        let backs = way.windows(2).filter(|step| step[0] < m).map(|step| flow[step[0]][step[1] - m]);
        let amount = backs.chain([supply[start], demand[end]]).min().unwrap();
        for step in way.windows(2) {
            if step[0] >= m {
                flow[step[1]][step[0] - m] += amount;
            } else {
                flow[step[0]][step[1] - m] -= amount;
            }
        }
        supply[start] -= amount;
        demand[end] -= amount;
        work += amount * best[m + end].unwrap();
    }
    (work, scale * n * n_all)
}

/// A metric's score of a release, recomputed from its labels: rows of labels, `None` for a suppressed row.
pub fn score(
    sample: &Sample,
    levels: &[u8],
    released: &[Option<Vec<String>>],
    weights: &[f64],
    metric: &str,
) -> f64 {
    let n = released.len() as f64;
    let mut groups: BTreeMap<&Vec<String>, f64> = BTreeMap::new();
    for row in released.iter().flatten() {
        *groups.entry(row).or_default() += 1.0;
    }
    let suppressed = released.iter().filter(|row| row.is_none()).count() as f64;
    let sum_weights: f64 = weights.iter().sum();
    // The mean over rows of what a cell of this column costs.
    let mean = |column: usize, cell: &dyn Fn(&str) -> f64| -> f64 {
        let cost = |row: &Option<Vec<String>>| row.as_ref().map_or(1.0, |labels| cell(&labels[column]));
        if released.is_empty() { 0.0 } else { released.iter().map(cost).sum::<f64>() / n }
    };
    let loss = |at: usize| -> f64 {
        let hierarchy = &sample.columns[at].hierarchy;
        mean(at, &|label| {
            let under = hierarchy.iter().filter(|path| path[usize::from(levels[at])] == label).count() as f64;
            if hierarchy.len() == 1 { 0.0 } else { (under - 1.0) / (hierarchy.len() as f64 - 1.0) }
        })
    };
    let columns = 0..levels.len();
    match metric {
        "height" => levels.iter().map(|&level| f64::from(level)).sum(),
        "weighted-height" => {
            levels.iter().zip(weights).map(|(&level, weight)| f64::from(level) * weight).sum()
        }
        "precision" => {
            let lost = columns.map(|at| {
                let height = f64::from(sample.heights()[at].max(1));
                weights[at] * mean(at, &|_| f64::from(levels[at]) / height)
            });
            1.0 - lost.sum::<f64>() / sum_weights
        }
        "distortion" => {
            let heights: f64 = sample.heights().iter().map(|&height| f64::from(height)).sum();
            let climbed = |at: usize| {
                let level =
                    |row: &Option<Vec<String>>| if row.is_some() { levels[at] } else { sample.heights()[at] };
                released.iter().map(|row| f64::from(level(row))).sum::<f64>()
            };
            if heights == 0.0 || released.is_empty() {
                0.0
            } else {
                columns.map(climbed).sum::<f64>() / (heights * n)
            }
        }
        "loss" => columns.map(|at| weights[at] * loss(at)).sum::<f64>() / sum_weights,
        "geometric-loss" => {
            columns.map(|at| (1.0 + loss(at)).powf(weights[at])).product::<f64>().powf(1.0 / sum_weights)
                - 1.0
        }
        "discernibility" => groups.values().map(|size| size * size).sum::<f64>() + suppressed * n,
        "average-group-size" => {
            if groups.is_empty() {
                n
            } else {
                (n - suppressed) / groups.len() as f64
            }
        }
        other => {
            let row_levels: Vec<Option<Vec<u8>>> =
                released.iter().map(|row| row.as_ref().map(|_| levels.to_vec())).collect();
            score_of_rows(sample, &row_levels, weights, other)
        }
    }
}

/// The same where each row has levels of its own, or `None` if it is suppressed: for metrics that add up what cells cost.
pub fn score_of_rows(sample: &Sample, row_levels: &[Option<Vec<u8>>], weights: &[f64], metric: &str) -> f64 {
    let sum_weights: f64 = weights.iter().sum();
    match metric {
        "non-uniform-entropy" => {
            let lost = |at: usize| {
                let column = &sample.columns[at];
                let path = |value: &String| column.hierarchy.iter().find(|path| path[0] == *value).unwrap();
                let n = column.cells.len() as f64;
                let rows = |value: &String, level: u8| {
                    let level = usize::from(level);
                    let is_alike = |other: &&String| path(other)[level] == path(value)[level];
                    column.cells.iter().filter(is_alike).count() as f64
                };
                let of_all = |bits: &dyn Fn(usize, &String) -> f64| -> f64 {
                    column.cells.iter().enumerate().map(|(row_idx, value)| bits(row_idx, value)).sum()
                };
                // −log2 Pr(value | label); a suppressed cell could be any row's.
                let bits = |row_idx: usize, value: &String| {
                    let of_label = row_levels[row_idx].as_ref().map_or(n, |levels| rows(value, levels[at]));
                    (of_label / rows(value, 0)).log2()
                };
                let most = of_all(&|_, value| (n / rows(value, 0)).log2());
                if most == 0.0 { 0.0 } else { of_all(&bits) / most }
            };
            weights.iter().enumerate().map(|(at, weight)| weight * lost(at)).sum::<f64>() / sum_weights
        }
        other => panic!("no definition of the metric `{other}`"),
    }
}
