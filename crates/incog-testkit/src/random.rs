//! Random tables that shrink.
//!
//! Hierarchies of every shape: no level to three levels above the leaves, one leaf to six, tops with one label
//! or several, branches that stay as they are while others rise (ragged trees made rectangular), leaves that do
//! not occur, a missing value. Tables from no row to a few dozen.

use proptest::collection::vec;
use proptest::prelude::*;

use crate::{Require, Sample, SampleColumn};

/// A hierarchy of `n_leaves` leaves and `height` levels above them.
///
/// `picks` decide the shape; any numbers will do. `missing` makes the first leaf the missing value.
fn hierarchy(n_leaves: usize, height: usize, missing: bool, picks: &[u8]) -> Vec<Vec<String>> {
    let mut picks = picks.iter().copied().cycle().map(usize::from);
    let mut rows: Vec<Vec<String>> = (0..n_leaves)
        .map(|leaf| vec![if missing && leaf == 0 { String::new() } else { format!("v{leaf}") }])
        .collect();
    // The branch that each leaf is in at the current level.
    let mut branches: Vec<usize> = (0..n_leaves).collect();
    for level in 1..=height {
        let n_now = branches.iter().max().unwrap() + 1;
        let n_next = 1 + picks.next().unwrap() % n_now;
        let parent: Vec<usize> = (0..n_now).map(|_| picks.next().unwrap() % n_next).collect();
        let keep_label: Vec<bool> = (0..n_next).map(|_| picks.next().unwrap() % 3 == 0).collect();
        let only_child = |next: usize| parent.iter().filter(|&&p| p == next).count() == 1;
        for (row, branch) in rows.iter_mut().zip(&mut branches) {
            *branch = parent[*branch];
            let label = if keep_label[*branch] && only_child(*branch) {
                row[level - 1].clone()
            } else {
                format!("l{level}b{branch}")
            };
            row.push(label);
        }
        // Number the branches that are in use without gaps.
        let mut used = branches.clone();
        used.sort_unstable();
        used.dedup();
        for branch in &mut branches {
            *branch = used.binary_search(branch).unwrap();
        }
    }
    rows
}

/// A hierarchy of some values, with `height` levels above them.
///
/// `picks` decide the shape; any numbers will do.
pub fn hierarchy_of(values: &[String], height: usize, picks: &[u8]) -> Vec<Vec<String>> {
    let mut rows = hierarchy(values.len(), height, false, picks);
    for (row, value) in rows.iter_mut().zip(values) {
        let own = row[0].clone();
        // A branch that stays as it is keeps the value's name.
        row.iter_mut().filter(|label| **label == own).for_each(|label| label.clone_from(value));
    }
    rows
}

/// A column of `n_rows` rows.
fn column(name: String, n_rows: usize, max_height: usize) -> impl Strategy<Value = SampleColumn> {
    (1..=6_usize, 0..=max_height, any::<bool>(), vec(any::<u8>(), 1..20), vec(any::<u8>(), n_rows)).prop_map(
        move |(n_leaves, height, missing, picks, cells)| {
            let hierarchy = hierarchy(n_leaves, height, missing, &picks);
            let cells =
                cells.iter().map(|&pick| hierarchy[usize::from(pick) % n_leaves][0].clone()).collect();
            SampleColumn { name: name.clone(), hierarchy, cells }
        },
    )
}

/// A table of up to `max_columns` columns and up to `max_rows` rows.
pub fn sample(max_columns: usize, max_rows: usize) -> impl Strategy<Value = Sample> {
    (1..=max_columns, 0..=max_rows).prop_flat_map(|(n_columns, n_rows)| {
        let columns: Vec<_> = (0..n_columns).map(|at| column(format!("q{at}"), n_rows, 3)).collect();
        (columns, vec(0..10_u8, n_rows), vec(0..4_u8, n_rows)).prop_map(|(columns, persons, illnesses)| {
            Sample {
                columns,
                persons: persons.iter().map(|person| format!("p{person}")).collect(),
                illnesses: illnesses.iter().map(|illness| format!("i{illness}")).collect(),
            }
        })
    })
}

/// Weights for up to `max_columns` columns, some of them 0.
pub fn weights(max_columns: usize) -> impl Strategy<Value = Vec<f64>> {
    let weight = prop_oneof![1 => Just(0.0), 3 => 0.25..4.0_f64];
    proptest::collection::vec(weight, max_columns)
}

/// Those of some weights that a sample has columns for; none unless one of them counts.
pub fn weights_of(sample: &Sample, weights: Option<Vec<f64>>) -> Option<Vec<f64>> {
    let weights = weights.map(|weights| weights[..sample.columns.len()].to_vec());
    weights.filter(|weights| weights.iter().any(|&weight| weight > 0.0))
}

/// A table with long keys: every column has a tree that is a single long branch with a leaf at every level, so that
/// every level takes a bit of the key.
pub fn long_keys(n_columns: usize, height: usize) -> impl Strategy<Value = Sample> {
    let column = move |name: String| {
        let hierarchy: Vec<Vec<String>> = (0..=height)
            .map(|leaf| {
                let label =
                    |level| if level < leaf.max(1) { format!("v{leaf}") } else { format!("up{level}") };
                (0..=height).map(label).collect()
            })
            .collect();
        // Every leaf occurs, so that every level takes its bit.
        vec(0..=height, 0..20).prop_map(move |extra| {
            let cells = (0..=height).chain(extra).map(|leaf| format!("v{leaf}")).collect();
            SampleColumn { name: name.clone(), hierarchy: hierarchy.clone(), cells }
        })
    };
    let columns: Vec<_> = (0..n_columns).map(|at| column(format!("q{at}"))).collect();
    columns.prop_map(|mut columns| {
        let n_rows = columns.iter().map(|column| column.cells.len()).max().unwrap_or(0);
        for column in &mut columns {
            let first = column.cells[0].clone();
            column.cells.resize(n_rows, first);
        }
        Sample::new(columns)
    })
}

/// A model of a column of the sample, with numbers from any picks. Small tables and simple fractions: groups at the threshold
/// abound. The column is `person` where the first pick is a multiple of 3, else `illness`.
pub fn require(model: &str, sample: &Sample, picks: &[u8; 5]) -> Require {
    let name = if picks[0].is_multiple_of(3) { "person" } else { "illness" };
    let cells = if name == "person" { &sample.persons } else { &sample.illnesses };
    let mut values = cells.clone();
    values.sort();
    values.dedup();
    let pick = |at: usize, texts: &[&str]| Some(texts[usize::from(picks[at]) % texts.len()].to_owned());
    let l = |fractions: &[&str]| {
        let l = 1 + usize::from(picks[1]) % values.len().max(1);
        // ℓ is at most the number of values.
        let decimals = if l < values.len() { fractions[usize::from(picks[2]) % fractions.len()] } else { "" };
        Some(format!("{l}{decimals}"))
    };
    let of = Require::of(model, name);
    match model {
        "k-anonymity" => Require::k_anonymity(1 + u64::from(picks[1] % 5)),
        "alpha-k" => Require {
            alpha: pick(1, &["0.5", "1/3", "0.25", "0.4", "2/3", "0.75", "1"]),
            values: picks[2].is_multiple_of(2).then(|| {
                let some = values.iter().enumerate().filter(|(at, _)| picks[3] >> (at % 8) & 1 == 1);
                let some: Vec<String> = some.map(|(_, value)| value.clone()).collect();
                if some.is_empty() { values[..1].to_vec() } else { some }
            }),
            ..of
        },
        "distinct-l" => Require { l: l(&[""]), ..of },
        "entropy-l" => Require { l: l(&["", ".5", ".9", ".25"]), ..of },
        "recursive-cl" => Require { l: l(&[""]), c: pick(2, &["0.5", "1", "2", "4/3", "5"]), ..of },
        "t-closeness" => Require {
            t: pick(1, &["0", "0.1", "1/6", "0.25", "1/3", "0.4", "0.5", "2/3", "1"]),
            distance: pick(2, &["equal", "ordered", "hierarchical"]),
            hierarchy: Some(hierarchy_of(&values, usize::from(picks[3] % 4), &picks[3..])),
            // Any order: rotated.
            order: Some({
                let mut order = values.clone();
                order.rotate_left(usize::from(picks[4]) % values.len().max(1));
                order
            }),
            ..of
        },
        "delta-disclosure" => Require { delta: pick(1, &["0.1", "0.5", "1", "1.5", "3"]), ..of },
        "beta-likeness" => Require {
            beta: pick(1, &["0.1", "0.5", "1", "4/3", "2", "5"]),
            likeness: pick(2, &["basic", "enhanced"]),
            ..of
        },
        // Of any other model, the samples of its entry.
        _ => {
            let parameters = incog_core::privacy::Model::find(model).unwrap().parameters().enumerate();
            let given = parameters.filter_map(|(at, parameter)| {
                let samples = parameter.samples;
                let text = samples.get(usize::from(picks[1 + at % 4]) % samples.len().max(1))?;
                Some((parameter.name.to_owned(), (*text).to_owned()))
            });
            Require { others: given.collect(), ..of }
        }
    }
}
