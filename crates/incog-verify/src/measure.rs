//! What does a release reach on a sensitive column?
//!
//! For every group of look-alikes: how sure can an outsider be of a value (α), how many values are there (distinct
//! ℓ), how evenly spread are they (entropy ℓ: e to the entropy), and how far is their distribution from that of
//! the whole release (t, half the sum of differences: all values equally far apart). The worst group counts.

use crate::LabelColumn;
use crate::keys::{Groups, Numbers};

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
    fn new(column: &LabelColumn<'_>, groups: &Groups) -> Self {
        let mut numbers = Numbers::default();
        let of_code = numbers.all(column.labels.iter().copied());
        let mut starts = Vec::with_capacity(groups.len() + 1);
        let mut start = 0;
        for rows in groups.sizes() {
            starts.push(start);
            start += rows as usize;
        }
        starts.push(start);
        let mut next = starts.clone();
        let mut values = vec![0; start];
        let mut overall = vec![0; numbers.len()];
        for (&code, &group) in column.codes.iter().zip(&groups.of_row) {
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

pub(crate) fn measure(column: &LabelColumn<'_>, name: &str, groups: &Groups) -> Measured {
    let histograms = Histograms::new(column, groups);
    let n_rows: u64 = histograms.overall.iter().sum();
    let mut measured = Measured {
        column: name.to_owned(),
        alpha: None,
        distinct_l: None,
        entropy_l: None,
        t: None,
        uniform_groups: 0,
    };
    histograms.each_group(|counts| {
        let size: u64 = counts.iter().map(|&(_, n)| n).sum();
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
        // Values that the group has, then all others: |0 − Nᵢ/N| each.
        let mut others = n_rows;
        let mut distance: u128 = 0;
        for &(value, n) in counts {
            let all = histograms.overall[value as usize];
            distance += (u128::from(n) * u128::from(n_rows)).abs_diff(u128::from(all) * u128::from(size));
            others -= all;
        }
        distance += u128::from(others) * u128::from(size);
        let distance = distance as f64 / (2.0 * size as f64 * n_rows as f64);
        measured.t = Some(measured.t.map_or(distance, |most: f64| most.max(distance)));
    });
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
