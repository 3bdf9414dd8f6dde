//! What does a release reach on a sensitive column?
//!
//! For every group of look-alikes: how sure can an outsider be of a value (α), how many values are there (distinct
//! ℓ), how evenly spread are they (entropy ℓ: e to the entropy), and how far is their distribution from that of
//! the whole release (t, half the sum of differences: all values equally far apart). The worst group counts.

use std::collections::HashMap;

use crate::{Groups, Labels};

/// What a release reaches on one sensitive column.
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
    /// The greatest distance of a group's distribution from the whole release's.
    pub t: Option<f64>,
    /// Groups in which everybody has the same value.
    pub uniform_groups: u64,
}

pub(crate) fn measure(release: &dyn Labels, name: &str, column: usize, groups: &Groups) -> Measured {
    let n_rows = release.n_rows() as f64;
    let count = |rows: &mut dyn Iterator<Item = usize>| {
        let mut counts: HashMap<&str, u64> = HashMap::new();
        for row_idx in rows {
            *counts.entry(release.cell(row_idx, column)).or_insert(0) += 1;
        }
        // Sorted, so that sums of floats do not depend on the order of a hash map.
        let mut counts: Vec<(&str, u64)> = counts.into_iter().collect();
        counts.sort_unstable();
        counts
    };
    let overall = count(&mut (0..release.n_rows()));
    let mut measured = Measured {
        column: name.to_owned(),
        alpha: None,
        distinct_l: None,
        entropy_l: None,
        t: None,
        uniform_groups: 0,
    };
    for rows in &groups.rows {
        let counts = count(&mut rows.iter().copied());
        let size = rows.len() as u64;
        let most = counts.iter().map(|&(_, n)| n).max().unwrap_or(0);
        // Compared as fractions: a/b > c/d iff a·d > c·b.
        let is_worse =
            |(n, of): (u64, u64)| u128::from(most) * u128::from(of) > u128::from(n) * u128::from(size);
        if measured.alpha.is_none_or(is_worse) {
            measured.alpha = Some((most, size));
        }
        let distinct = counts.len() as u64;
        measured.distinct_l = Some(measured.distinct_l.map_or(distinct, |least| least.min(distinct)));
        measured.uniform_groups += u64::from(distinct == 1);
        let share = |n: u64| n as f64 / size as f64;
        let entropy: f64 = counts.iter().map(|&(_, n)| -share(n) * share(n).ln()).sum();
        measured.entropy_l =
            Some(measured.entropy_l.map_or(entropy.exp(), |least: f64| least.min(entropy.exp())));
        let mut mine = counts.iter().peekable();
        let distance: f64 = overall
            .iter()
            .map(|&(value, n)| {
                let here = mine.next_if(|(next, _)| *next == value).map_or(0, |&(_, n)| n);
                (share(here) - n as f64 / n_rows).abs()
            })
            .sum();
        measured.t = Some(measured.t.map_or(distance / 2.0, |most: f64| most.max(distance / 2.0)));
    }
    measured
}

#[cfg(test)]
mod tests {
    use crate::{Claims, StringTable, check};

    #[test]
    fn the_worst_group_counts() {
        let text = "zip,ill\n1,flu\n1,flu\n1,cold\n1,asthma\n2,flu\n2,cold\n";
        let claims = Claims {
            quasi_identifiers: vec!["zip".into()],
            k: 2,
            columns: None,
            sensitive: vec!["ill".into()],
            source: None,
        };
        let report = check(&StringTable::parse(text.as_bytes(), b',').unwrap(), &claims);
        let measured = &report.measured[0];
        assert_eq!(measured.alpha, Some((2, 4)), "the first group of equals");
        assert_eq!(measured.distinct_l, Some(2));
        assert!((measured.entropy_l.unwrap() - 2.0).abs() < 1e-12);
        // Overall flu 3/6, cold 2/6, asthma 1/6; group 2 has 1/2, 1/2, 0: (0 + 1/6 + 1/6) / 2.
        assert!((measured.t.unwrap() - 1.0 / 6.0).abs() < 1e-12);
        assert_eq!(measured.uniform_groups, 0);
    }

    #[test]
    fn a_group_of_one_value_is_the_worst_wherever_it_stands() {
        for text in ["zip,ill\n1,flu\n1,flu\n2,flu\n2,cold\n", "zip,ill\n2,flu\n2,cold\n1,flu\n1,flu\n"] {
            let claims = Claims {
                quasi_identifiers: vec!["zip".into()],
                k: 2,
                columns: None,
                sensitive: vec!["ill".into()],
                source: None,
            };
            let report = check(&StringTable::parse(text.as_bytes(), b',').unwrap(), &claims);
            let measured = &report.measured[0];
            assert_eq!(
                (measured.alpha, measured.distinct_l, measured.uniform_groups),
                (Some((2, 2)), Some(1), 1)
            );
            assert!((measured.entropy_l.unwrap() - 1.0).abs() < 1e-12);
            assert!((measured.t.unwrap() - 0.25).abs() < 1e-12);
        }
    }
}
