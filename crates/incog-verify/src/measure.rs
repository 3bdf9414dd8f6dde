//! What does a release reach on a sensitive column?
//!
//! For every group of look-alikes, and the worst group counts:
//!
//! | measure | question | source |
//! |---|---|---|
//! | α | how sure can an outsider be of a value? | Wong et al., KDD 2006 |
//! | distinct ℓ | how many values are there? | Machanavajjhala et al., ICDE 2006 |
//! | entropy ℓ | how evenly are they spread? (e to the entropy) | the same |
//! | recursive (c, ℓ) | how much more frequent is the first value than all from the ℓ-th on? | the same |
//! | t | how far is the group's distribution from the whole release's? | Li et al., ICDE 2007 |
//!
//! All are exact fractions of counts except the entropy. t is measured with all values equally far apart, and, where
//! all values are numbers, by their order too. Cost: the rows once, and each group's values sorted.

use crate::entropy::{exp_entropy, reaches};
use crate::keys::{Groups, Numbers};
use crate::ordered::Ranks;
use crate::{Fraction, LabelColumn};

/// What a release reaches on one sensitive column. Without rows there is nothing to measure.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// The column.
    pub column: String,
    /// The greatest share of one value in a group, as a fraction: rows with the value, rows of the group.
    pub alpha: Option<(u64, u64)>,
    /// The least number of distinct values in a group.
    pub distinct_l: Option<u64>,
    /// The least e^entropy of a group.
    pub entropy_l: Option<f64>,
    /// For ℓ = 2, 3, ... up to `distinct_l`: the release is recursive (c, ℓ)-diverse for every c greater than this.
    pub recursive_c: Vec<Fraction>,
    /// The greatest distance of a group's distribution from the whole release's, all values equally far apart.
    pub t: Option<Fraction>,
    /// The same by ordered distances; `None` unless all values are numbers.
    pub ordered_t: Option<Fraction>,
    /// Groups in which everybody has the same value.
    pub uniform_groups: u64,
}

/// The values of a column, group by group.
struct Histograms {
    /// The values of all rows, the rows of a group side by side.
    values: Vec<u32>,
    /// Where each group starts in `values`; the end of the last one too.
    starts: Vec<usize>,
    /// How many rows have each value.
    overall: Vec<u64>,
}

impl Histograms {
    fn new(codes: &[u32], of_code: &[u32], n_values: usize, groups: &Groups) -> Self {
        let mut starts = Vec::with_capacity(groups.len() + 1);
        let mut start = 0;
        for rows in groups.sizes() {
            starts.push(start);
            start += rows as usize;
        }
        starts.push(start);
        let mut next = starts.clone();
        let mut values = vec![0; start];
        let mut overall = vec![0; n_values];
        for (&code, &group) in codes.iter().zip(&groups.of_row) {
            let value = of_code[code as usize];
            values[next[group as usize]] = value;
            next[group as usize] += 1;
            overall[value as usize] += 1;
        }
        Histograms { values, starts, overall }
    }

    /// Calls `see` with each group's values and how often the group has them, in the order of first appearance.
    fn each_group(&self, mut see: impl FnMut(&[(u32, u64)])) {
        let mut counts = vec![0_u64; self.overall.len()];
        let mut group = Vec::new();
        for bounds in self.starts.windows(2) {
            let rows = &self.values[bounds[0]..bounds[1]];
            group.clear();
            for &value in rows {
                if counts[value as usize] == 0 {
                    group.push((value, 0));
                }
                counts[value as usize] += 1;
            }
            for (value, n) in &mut group {
                *n = std::mem::take(&mut counts[*value as usize]);
            }
            see(&group);
        }
    }
}

/// Measures a column, and counts the groups whose entropy is less than that of `entropy_l` equal shares.
pub(crate) fn measure(
    column: &LabelColumn<'_>,
    name: &str,
    groups: &Groups,
    entropy_l: Option<Fraction>,
) -> (Measured, u64) {
    let mut numbers = Numbers::default();
    let of_code = numbers.all(column.labels.iter().copied());
    let histograms = Histograms::new(&column.codes, &of_code, numbers.len(), groups);
    let mut labels = vec![""; numbers.len()];
    for (label, &value) in column.labels.iter().zip(&of_code) {
        labels[value as usize] = label;
    }
    let ranks = Ranks::new(&labels, &histograms.overall);
    let n_rows: u64 = histograms.overall.iter().sum();
    let mut measured = Measured {
        column: name.to_owned(),
        alpha: None,
        distinct_l: None,
        entropy_l: None,
        recursive_c: Vec::new(),
        t: None,
        ordered_t: None,
        uniform_groups: 0,
    };
    let mut below_entropy = 0;
    let mut descending: Vec<u64> = Vec::new();
    histograms.each_group(|counts| {
        descending.clear();
        descending.extend(counts.iter().map(|&(_, n)| n));
        descending.sort_unstable_by(|a, b| b.cmp(a));
        let size: u64 = descending.iter().sum();
        let most = descending[0];
        // Compared as fractions: a/b > c/d iff a·d > c·b. Of equal shares the larger group's, whatever the order of rows.
        let is_worse = |(n, of): (u64, u64)| {
            let (mine, worst) = (u128::from(most) * u128::from(of), u128::from(n) * u128::from(size));
            mine > worst || (mine == worst && size > of)
        };
        if measured.alpha.is_none_or(is_worse) {
            measured.alpha = Some((most, size));
        }
        measured.uniform_groups += u64::from(descending.len() == 1);

        let entropy = exp_entropy(descending.iter().copied());
        measured.entropy_l = Some(measured.entropy_l.map_or(entropy, |least| least.min(entropy)));
        if entropy_l.is_some_and(|least| !reaches(descending.iter().copied(), entropy, least)) {
            below_entropy += 1;
        }

        // As far as every group so far has values: r₁ / (r_ℓ + … + r_m), from ℓ = 2 on.
        let is_first = measured.distinct_l.is_none();
        let distinct = descending.len() as u64;
        measured.distinct_l = Some(measured.distinct_l.map_or(distinct, |least| least.min(distinct)));
        if is_first {
            measured.recursive_c = vec![Fraction::from(0); descending.len() - 1];
        }
        measured.recursive_c.truncate(descending.len() - 1);
        let mut tail = size;
        for (worst, before) in measured.recursive_c.iter_mut().zip(&descending) {
            tail -= before;
            let ratio = Fraction::new(most.into(), tail.into()).expect("the l-th value has rows");
            *worst = (*worst).max(ratio);
        }

        // Values that the group has, then all others: |0 − Nᵢ/N| each.
        let mut others = n_rows;
        let mut distance: u128 = 0;
        for &(value, n) in counts {
            let all = histograms.overall[value as usize];
            distance += (u128::from(n) * u128::from(n_rows)).abs_diff(u128::from(all) * u128::from(size));
            others -= all;
        }
        distance += u128::from(others) * u128::from(size);
        let distance = Fraction::new(distance, 2 * u128::from(size) * u128::from(n_rows));
        // `None` is less than any fraction.
        measured.t = measured.t.max(distance);
        measured.ordered_t = measured.ordered_t.max(ranks.as_ref().map(|ranks| ranks.distance(counts)));
    });
    (measured, below_entropy)
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;

    use super::*;
    use crate::{Claims, SensitiveClaim, StringTable, check};

    fn measured(text: &str) -> Measured {
        let claims = Claims {
            quasi_identifiers: vec!["zip".into()],
            k: 1,
            columns: None,
            sensitive: vec![SensitiveClaim::measured("ill")],
            source: None,
        };
        check(&StringTable::parse(text.as_bytes(), b',').unwrap(), &claims).measured.remove(0)
    }

    #[test]
    fn the_worst_group_counts() {
        let measured = measured("zip,ill\n1,flu\n1,flu\n1,cold\n1,asthma\n2,flu\n2,cold\n");
        assert_eq!(measured.alpha, Some((2, 4)), "the larger group of equals");
        assert_eq!(measured.distinct_l, Some(2));
        assert!((measured.entropy_l.unwrap() - 2.0).abs() < 1e-12);
        // Group 1 has 2, 1, 1: 2 / (1 + 1); group 2 has 1, 1: 1 / 1.
        assert_eq!(measured.recursive_c, [Fraction::from(1)]);
        // Overall flu 3/6, cold 2/6, asthma 1/6; group 2 has 1/2, 1/2, 0: (0 + 1/6 + 1/6) / 2.
        assert_eq!(measured.t, Fraction::new(1, 6));
        assert_eq!(measured.ordered_t, None, "not numbers");
        assert_eq!(measured.uniform_groups, 0);
    }

    /// Records are compared as text, and releases are shuffled.
    #[test]
    fn alpha_is_the_larger_groups_whatever_the_order_of_rows() {
        let larger_last = "zip,ill\n2,flu\n2,cold\n1,flu\n1,flu\n1,cold\n1,asthma\n";
        assert_eq!(measured(larger_last).alpha, Some((2, 4)));
    }

    #[test]
    fn a_group_of_one_value_is_the_worst_wherever_it_stands() {
        for text in ["zip,ill\n1,flu\n1,flu\n2,flu\n2,cold\n", "zip,ill\n2,flu\n2,cold\n1,flu\n1,flu\n"] {
            let measured = measured(text);
            assert_eq!(
                (measured.alpha, measured.distinct_l, measured.uniform_groups),
                (Some((2, 2)), Some(1), 1)
            );
            assert!((measured.entropy_l.unwrap() - 1.0).abs() < 1e-12);
            assert_eq!((measured.t, measured.recursive_c), (Fraction::new(1, 4), vec![]));
        }
    }

    /// The definitions, on floats and one value after the other.
    struct Naive {
        alpha: f64,
        distinct_l: usize,
        entropy_l: f64,
        recursive_c: BTreeMap<usize, f64>,
        t: f64,
        ordered_t: f64,
    }

    fn naive(rows: &[(u8, i32)]) -> Naive {
        let values: BTreeSet<i32> = rows.iter().map(|&(_, value)| value).collect();
        let groups: BTreeSet<u8> = rows.iter().map(|&(group, _)| group).collect();
        let count = |in_group: &dyn Fn(u8) -> bool, value: i32| {
            rows.iter().filter(|&&(group, is)| in_group(group) && is == value).count() as f64
        };
        let mut worst = Naive {
            alpha: 0.0,
            distinct_l: usize::MAX,
            entropy_l: f64::MAX,
            recursive_c: BTreeMap::new(),
            t: 0.0,
            ordered_t: 0.0,
        };
        for group in groups {
            let here: Vec<f64> = values.iter().map(|&value| count(&|of| of == group, value)).collect();
            let size: f64 = here.iter().sum();
            let mut sorted: Vec<f64> = here.iter().copied().filter(|&n| n > 0.0).collect();
            sorted.sort_by(|a, b| b.total_cmp(a));
            worst.alpha = worst.alpha.max(sorted[0] / size);
            worst.distinct_l = worst.distinct_l.min(sorted.len());
            let entropy: f64 = sorted.iter().map(|n| -n / size * (n / size).ln()).sum();
            worst.entropy_l = worst.entropy_l.min(entropy.exp());
            for l in 2..=sorted.len() {
                let ratio = sorted[0] / sorted[l - 1..].iter().sum::<f64>();
                let so_far = worst.recursive_c.entry(l).or_insert(0.0);
                *so_far = so_far.max(ratio);
            }
            let differences: Vec<f64> = values
                .iter()
                .zip(&here)
                .map(|(&value, n)| n / size - count(&|_| true, value) / rows.len() as f64)
                .collect();
            worst.t = worst.t.max(differences.iter().map(|d| d.abs()).sum::<f64>() / 2.0);
            let mut running = 0.0;
            let moved: f64 = differences
                .iter()
                .map(|d| {
                    running += d;
                    f64::abs(running)
                })
                .sum();
            worst.ordered_t = worst.ordered_t.max(moved / (values.len() - 1).max(1) as f64);
        }
        worst.recursive_c.retain(|&l, _| l <= worst.distinct_l);
        worst
    }

    proptest! {
        #[test]
        fn measures_are_those_of_the_definitions(
            rows in proptest::collection::vec((0..4_u8, -3..9_i32), 1..40),
        ) {
            let text: String = rows.iter().map(|(group, value)| format!("{group},{value}\n")).collect();
            let measured = measured(&format!("zip,ill\n{text}"));
            let expected = naive(&rows);
            let near = |a: f64, b: f64| (a - b).abs() < 1e-9;
            let (n, of) = measured.alpha.unwrap();
            prop_assert!(near(n as f64 / of as f64, expected.alpha));
            prop_assert_eq!(measured.distinct_l, Some(expected.distinct_l as u64));
            prop_assert!(near(measured.entropy_l.unwrap(), expected.entropy_l));
            prop_assert!(near(measured.t.unwrap().to_f64(), expected.t));
            prop_assert!(near(measured.ordered_t.unwrap().to_f64(), expected.ordered_t));
            prop_assert_eq!(measured.recursive_c.len(), expected.recursive_c.len());
            for (ratio, expected) in measured.recursive_c.iter().zip(expected.recursive_c.values()) {
                prop_assert!(near(ratio.to_f64(), *expected));
            }
        }
    }
}
