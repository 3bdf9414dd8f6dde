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
//! | δ | by what factor does a share differ from the whole release's, up or down? (δ is its logarithm) | Brickell, Shmatikov, KDD 2008 |
//! | β | by what part of itself has a share grown? | Cao, Karras, PVLDB 2012 |
//!
//! All are exact fractions of counts except the entropy. t is measured with all values equally far apart, and, where
//! all values are numbers, by their order too. What counts are of, rows or persons, is decided by the [`Histograms`].
//! Cost: the rows once, and each group's values sorted.

use crate::entropy::exp_entropy;
use crate::hash;
use crate::histograms::Histograms;
use crate::ordered::Ranks;
use crate::sensitive::SensitiveClaim;
use crate::{EMPTY_TEXT, Fraction};

/// What a release reaches on one sensitive column. Without rows there is nothing to measure.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Measured {
    /// The column.
    pub column: String,
    /// The greatest share of one value in a group, as a fraction: rows (or persons) with the value, those of the group.
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
    /// The greatest factor by which a value's share of a group differs from its share of the whole release, up or down:
    /// the release satisfies δ-disclosure for every δ greater than its logarithm. `None` if a group lacks a value.
    pub disclosure: Option<Fraction>,
    /// The greatest part of itself by which a share of the whole release has grown in a group: basic β-likeness.
    pub beta: Option<Fraction>,
    /// Groups in which everybody has the same value.
    pub uniform_groups: u64,
    /// Those of them whose one value is one that nobody should learn ([`SensitiveClaim::telling`]).
    pub telling_groups: u64,
    /// The rows of those, or their persons.
    pub telling_size: u64,
    /// The same by persons, where a claim of the column counts them ([`crate::Counted`]).
    pub by_persons: Option<Box<Measured>>,
}

/// How much and how little of a group a value has, at worst.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shares {
    /// How many have the value in all groups together.
    pub(crate) all: u64,
    /// The greatest share: counts of the value, and of all values of the group.
    pub(crate) greatest: (u64, u64),
    /// The least share of the groups that have the value.
    pub(crate) least: (u64, u64),
}

/// What a release reaches, and what thresholds of δ and β need beside that.
pub(crate) struct Reached {
    pub(crate) measured: Measured,
    /// The shares of each value that occurs.
    pub(crate) shares: Vec<Shares>,
    /// Groups in which a value of the release is missing.
    pub(crate) incomplete_groups: u64,
}

/// Is the first share greater?
fn is_greater((n, of): (u64, u64), (other_n, other_of): (u64, u64)) -> bool {
    u128::from(n) * u128::from(other_of) > u128::from(other_n) * u128::from(of)
}

impl Shares {
    /// By what part of itself the share in the whole release has grown, at most: (q − p) / p.
    pub(crate) fn growth(&self, n_overall: u64) -> Fraction {
        let (n, of) = self.greatest;
        let (here, there) = (u128::from(n) * u128::from(n_overall), u128::from(self.all) * u128::from(of));
        Fraction::new(here.saturating_sub(there), there).unwrap_or(Fraction::from(0))
    }

    /// The factor by which the share in the whole release differs from that in a group, at most.
    fn factor(&self, n_overall: u64) -> Fraction {
        let factor = |(n, of): (u64, u64)| {
            let (here, there) =
                (u128::from(n) * u128::from(n_overall), u128::from(self.all) * u128::from(of));
            Fraction::new(here.max(there), here.min(there)).unwrap_or(Fraction::from(1))
        };
        factor(self.greatest).max(factor(self.least))
    }
}

/// Whether each value is one that nobody should learn.
fn telling(claim: &SensitiveClaim, histograms: &Histograms<'_>) -> Vec<bool> {
    let labels = &histograms.labels;
    if let Some(values) = &claim.telling {
        let values: hash::Set<&str> = values.iter().map(String::as_str).collect();
        return labels.iter().map(|label| values.contains(label)).collect();
    }
    let occurs = |label: &str, all: u64| all > 0 && !label.is_empty() && label != EMPTY_TEXT;
    let mut values = labels.iter().zip(&histograms.overall);
    let is_of_numbers =
        values.all(|(label, &all)| !occurs(label, all) || claim.style.number(label).is_some());
    let is_zero = |label: &str| claim.style.number(label).is_some_and(|number| number.is_zero());
    labels.iter().map(|label| !(is_of_numbers && is_zero(label))).collect()
}

/// Measures the column of a claim.
pub(crate) fn measure(claim: &SensitiveClaim, histograms: &Histograms<'_>) -> Reached {
    let ranks = Ranks::of_numbers(&histograms.labels, &histograms.overall, &claim.style);
    let is_telling = telling(claim, histograms);
    let n_overall = histograms.n_overall;
    let n_values = histograms.overall.iter().filter(|&&n| n > 0).count();
    let mut measured = Measured {
        column: claim.column.clone(),
        alpha: None,
        distinct_l: None,
        entropy_l: None,
        recursive_c: Vec::new(),
        t: None,
        ordered_t: None,
        disclosure: None,
        beta: None,
        uniform_groups: 0,
        telling_groups: 0,
        telling_size: 0,
        by_persons: None,
    };
    let none = |&all: &u64| Shares { all, greatest: (0, 1), least: (1, 0) };
    let mut shares: Vec<Shares> = histograms.overall.iter().map(none).collect();
    let mut incomplete_groups = 0;
    let mut descending: Vec<u64> = Vec::new();
    histograms.each_group(|group| {
        descending.clear();
        descending.extend(group.frequencies());
        descending.sort_unstable_by(|a, b| b.cmp(a));
        // Of persons there may be more values than persons.
        let (size, total): (u64, u64) = (group.size, descending.iter().sum());
        let most = descending[0];
        // Compared as fractions: a/b > c/d iff a·d > c·b. Of equal shares the larger group's, whatever the order of rows.
        let is_worse = |(n, of): (u64, u64)| {
            let (mine, worst) = (u128::from(most) * u128::from(of), u128::from(n) * u128::from(size));
            mine > worst || (mine == worst && size > of)
        };
        if measured.alpha.is_none_or(is_worse) {
            measured.alpha = Some((most, size));
        }
        incomplete_groups += u64::from(group.counts.len() < n_values);
        for &(value, n) in group.counts {
            let Shares { greatest, least, .. } = &mut shares[value as usize];
            if is_greater((n, total), *greatest) {
                *greatest = (n, total);
            }
            if is_greater(*least, (n, total)) {
                *least = (n, total);
            }
        }
        if let [(value, _)] = group.counts {
            measured.uniform_groups += 1;
            let is_telling = is_telling[*value as usize];
            measured.telling_groups += u64::from(is_telling);
            measured.telling_size += if is_telling { size } else { 0 };
        }

        let entropy = exp_entropy(descending.iter().copied());
        measured.entropy_l = Some(measured.entropy_l.map_or(entropy, |least| least.min(entropy)));

        // As far as every group so far has values: r₁ / (r_ℓ + … + r_m), from ℓ = 2 on.
        let is_first = measured.distinct_l.is_none();
        let distinct = descending.len() as u64;
        measured.distinct_l = Some(measured.distinct_l.map_or(distinct, |least| least.min(distinct)));
        if is_first {
            measured.recursive_c = vec![Fraction::from(0); descending.len() - 1];
        }
        measured.recursive_c.truncate(descending.len() - 1);
        let mut tail = total;
        for (worst, before) in measured.recursive_c.iter_mut().zip(&descending) {
            tail -= before;
            let ratio = Fraction::new(most.into(), tail.into()).expect("the l-th value has rows");
            *worst = (*worst).max(ratio);
        }

        // Values that the group has, then all others: |0 − Nᵢ/N| each.
        let mut others = n_overall;
        let mut distance: u128 = 0;
        for &(value, n) in group.counts {
            let all = histograms.overall[value as usize];
            distance += (u128::from(n) * u128::from(n_overall)).abs_diff(u128::from(all) * u128::from(total));
            others -= all;
        }
        distance += u128::from(others) * u128::from(total);
        let distance = Fraction::new(distance, 2 * u128::from(total) * u128::from(n_overall));
        // `None` is less than any fraction.
        measured.t = measured.t.max(distance);
        measured.ordered_t = measured.ordered_t.max(ranks.as_ref().map(|ranks| ranks.distance(group.counts)));
    });
    shares.retain(|value| value.all > 0);
    measured.beta = shares.iter().map(|value| value.growth(n_overall)).max();
    if incomplete_groups == 0 {
        measured.disclosure = shares.iter().map(|value| value.factor(n_overall)).max();
    }
    Reached { measured, shares, incomplete_groups }
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
            combinations: None,
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
        // Cold grows from 1/3 to 1/2.
        assert_eq!((measured.disclosure, measured.beta), (None, Fraction::new(1, 2)));
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
        delta: f64,
        beta: f64,
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
            delta: 0.0,
            beta: 0.0,
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
            for (&value, n) in values.iter().zip(&here) {
                let (q, p) = (n / size, count(&|_| true, value) / rows.len() as f64);
                worst.delta = worst.delta.max((q / p).ln().abs());
                worst.beta = worst.beta.max((q - p) / p);
            }
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
            prop_assert!(near(measured.beta.unwrap().to_f64(), expected.beta));
            match measured.disclosure {
                Some(factor) => prop_assert!(near(factor.to_f64().ln(), expected.delta)),
                None => prop_assert!(expected.delta.is_infinite()),
            }
            prop_assert_eq!(measured.recursive_c.len(), expected.recursive_c.len());
            for (ratio, expected) in measured.recursive_c.iter().zip(expected.recursive_c.values()) {
                prop_assert!(near(ratio.to_f64(), *expected));
            }
        }
    }
}
