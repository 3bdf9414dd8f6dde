//! Definitions, spelled out on strings.
//!
//! Every function here follows a definition word by word, without coding, packing or pruning, so that it can be
//! read next to the paper. Slow, and shares nothing with the engine.

use std::collections::BTreeMap;

use crate::Sample;

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
        other => panic!("no definition of the metric `{other}`"),
    }
}
