//! Which input rows may a released row stand for, if there are many of both?
//!
//! Rows of both sides are divided together: input rows into those that have some label on their path and the others, released rows by
//! where their own label can still be found; those that may stand for rows of both parts go to both. Column and label are those
//! that save most comparisons, by the count of a sample. Releases that were made by specializing groups fall apart like
//! that, with few rows on both sides of a cut.
//!
//! What no cut divides well is compared along the shortest list of input rows that share a label, within the part.
//!
//! Cost: about n log n for n rows that hardly overlap, all pairs at worst. Memory: the pairs that were found, and the parts.

use crate::hash;

use super::{Lists, PathColumn};

/// Pairs that are compared without another cut.
const FEW_PAIRS: usize = 1 << 12;

/// Rows of each side that are looked at to choose a cut, at most: as many as a number has bits.
const SAMPLE: usize = 64;

/// Released and input rows, by their numbers in each column.
pub(super) struct Join<'a> {
    pub(super) columns: &'a [PathColumn],
    /// In each column, the label of each released row.
    pub(super) labels: &'a [Vec<u32>],
    /// In each column, the path of each input row.
    pub(super) values: &'a [Vec<u32>],
}

/// Released rows, and input rows among which are all that they may stand for.
struct Part {
    lefts: Vec<u32>,
    rights: Vec<u32>,
}

impl Part {
    fn n_pairs(&self) -> usize {
        self.lefts.len() * self.rights.len()
    }
}

impl Join<'_> {
    /// The input rows that each released row may stand for, unless those are more than `most` in all.
    pub(super) fn pairs(&self, most: usize) -> Option<Lists> {
        self.pairs_by_parts(most, FEW_PAIRS).map(|(lists, _)| lists)
    }

    /// The same, and how many pairs were compared.
    fn pairs_by_parts(&self, most: usize, few: usize) -> Option<(Lists, usize)> {
        let n_rows = |columns: &[Vec<u32>]| columns.first().map_or(0, Vec::len) as u32;
        let mut found: Vec<Vec<u32>> = vec![Vec::new(); n_rows(self.labels) as usize];
        let (mut n_found, mut n_compared) = (0, 0);
        // No recursion: a hostile release could make it deep.
        let mut open = vec![Part {
            lefts: (0..n_rows(self.labels)).collect(),
            rights: (0..n_rows(self.values)).collect(),
        }];
        while let Some(part) = open.pop() {
            if part.n_pairs() > few {
                if let Some(parts) = self.divided(&part) {
                    open.extend(parts);
                } else {
                    let (found_here, compared) = self.compare_by_lists(&part, &mut found, most - n_found)?;
                    n_found += found_here;
                    n_compared += compared;
                }
                continue;
            }
            for &left in &part.lefts {
                n_found += self.compare(left, &part.rights, &mut found);
            }
            n_compared += part.n_pairs();
            if n_found > most {
                return None;
            }
        }
        Some((Lists::of_edges(found), n_compared))
    }

    /// Adds those of some input rows that a released row may stand for; returns how many.
    fn compare(&self, left: u32, rights: &[u32], found: &mut [Vec<u32>]) -> usize {
        let found = &mut found[left as usize];
        let before = found.len();
        found.extend(rights.iter().copied().filter(|&right| self.stands_for(left, right)));
        found.len() - before
    }

    fn stands_for(&self, left: u32, right: u32) -> bool {
        let columns = self.columns.iter().zip(self.labels).zip(self.values);
        columns.into_iter().all(|((column, labels), values)| {
            column.paths[values[right as usize] as usize].contains(&labels[left as usize])
        })
    }

    /// The same for a part that cannot be cut: how many were found and compared, or `None` if more than `most` are found.
    fn compare_by_lists(&self, part: &Part, found: &mut [Vec<u32>], most: usize) -> Option<(usize, usize)> {
        let mut lists: hash::Map<(u32, u32), Vec<u32>> = hash::Map::default();
        for (at, column) in self.columns.iter().enumerate() {
            for &right in &part.rights {
                for &label in &column.paths[self.values[at][right as usize] as usize] {
                    lists.entry((at as u32, label)).or_default().push(right);
                }
            }
        }
        let (mut n_found, mut n_compared) = (0, 0);
        for &left in &part.lefts {
            let of_labels = self.labels.iter().enumerate().map(|(at, labels)| {
                lists.get(&(at as u32, labels[left as usize])).map_or(&[][..], Vec::as_slice)
            });
            let shortest = of_labels.min_by_key(|list| list.len()).unwrap_or(&part.rights);
            n_found += self.compare(left, shortest, found);
            n_compared += shortest.len();
            if n_found > most {
                return None;
            }
        }
        Some((n_found, n_compared))
    }

    /// Two parts with fewer pairs together, if there are any.
    fn divided(&self, part: &Part) -> Option<[Part; 2]> {
        let (at, label) = self.best_cut(part)?;
        let (column, labels, values) = (&self.columns[at], &self.labels[at], &self.values[at]);
        let path = |right: u32| &column.paths[values[right as usize] as usize];
        let (with, without): (Vec<u32>, Vec<u32>) =
            part.rights.iter().partition(|&&right| path(right).contains(&label));
        // Which labels can be found in each part.
        let mut found_in: hash::Map<u32, [bool; 2]> = hash::Map::default();
        for (side, rights) in [&with, &without].into_iter().enumerate() {
            for &right in rights {
                for &label in path(right) {
                    found_in.entry(label).or_default()[side] = true;
                }
            }
        }
        let lefts = [0, 1].map(|side| -> Vec<u32> {
            let is_there =
                |left: &&u32| found_in.get(&labels[**left as usize]).is_some_and(|sides| sides[side]);
            part.lefts.iter().filter(is_there).copied().collect()
        });
        let [left_with, left_without] = lefts;
        let parts = [Part { lefts: left_with, rights: with }, Part { lefts: left_without, rights: without }];
        // What a sample says need not be so.
        (parts[0].n_pairs() + parts[1].n_pairs() < part.n_pairs()).then_some(parts)
    }

    /// The column and the label by which a cut leaves the fewest pairs, if it leaves out one in ten.
    fn best_cut(&self, part: &Part) -> Option<(usize, u32)> {
        let (lefts, rights) = (sample(&part.lefts), sample(&part.rights));
        let mut best = (lefts.len() * rights.len() * 9 / 10, None);
        for (at, column) in self.columns.iter().enumerate() {
            // The labels of the sample, how often each stands there, and which of them each input row has.
            let mut labels: Vec<u32> = lefts.iter().map(|&left| self.labels[at][left as usize]).collect();
            labels.sort_unstable();
            let counted: Vec<(u32, usize)> =
                labels.chunk_by(|a, b| a == b).map(|equal| (equal[0], equal.len())).collect();
            let masks: Vec<u64> = rights
                .iter()
                .map(|&right| {
                    let path = &column.paths[self.values[at][right as usize] as usize];
                    let places = path
                        .iter()
                        .filter_map(|label| counted.binary_search_by_key(label, |&(label, _)| label).ok());
                    places.fold(0, |mask, place| mask | 1 << place)
                })
                .collect();
            for (place, &(label, _)) in counted.iter().enumerate() {
                let mut sides = [(0_usize, 0_u64); 2];
                for &mask in &masks {
                    let (n_rights, there) = &mut sides[usize::from(mask >> place & 1 == 0)];
                    *n_rights += 1;
                    *there |= mask;
                }
                let n_pairs: usize = sides
                    .iter()
                    .map(|(n_rights, there)| {
                        let is_there = |(place, _): &(usize, &(u32, usize))| there >> place & 1 == 1;
                        let n_lefts: usize =
                            counted.iter().enumerate().filter(is_there).map(|(_, &(_, n))| n).sum();
                        n_lefts * n_rights
                    })
                    .sum();
                if n_pairs < best.0 {
                    best = (n_pairs, Some((at, label)));
                }
            }
        }
        best.1
    }
}

/// Some of the numbers, evenly spread.
fn sample(numbers: &[u32]) -> Vec<u32> {
    let every = numbers.len().div_ceil(SAMPLE).max(1);
    numbers.iter().copied().step_by(every).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A column of `0` and `1`, and of `*` in released rows, which are released as 0, 1 and 2.
    fn binary() -> PathColumn {
        PathColumn { n_labels: 3, of_label: vec![], of_value: vec![], paths: vec![vec![0, 2], vec![1, 2]] }
    }

    /// How many pairs are compared for a local recoding of 24 binary columns: random rows, of which every four that are neighbours in some
    /// order are released with what they have in common. Of all pairs there are `n_rows * n_rows / 4`.
    fn n_compared(n_rows: usize) -> usize {
        let mut state = 3_u64;
        let mut rows: Vec<u32> = (0..n_rows)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 40) as u32
            })
            .collect();
        rows.sort_unstable();
        let bit = |row: u32, at: usize| row >> (23 - at) & 1;
        let label = |group: &[u32], at: usize| {
            let first = bit(group[0], at);
            if group.iter().all(|&row| bit(row, at) == first) { first } else { 2 }
        };
        let labels: Vec<Vec<u32>> =
            (0..24).map(|at| rows.chunks(4).map(|group| label(group, at)).collect()).collect();
        let values: Vec<Vec<u32>> =
            (0..24).map(|at| rows.iter().map(|&row| bit(row, at)).collect()).collect();
        let columns: Vec<PathColumn> = (0..24).map(|_| binary()).collect();
        let join = Join { columns: &columns, labels: &labels, values: &values };
        let (lists, n_compared) = join.pairs_by_parts(usize::MAX, FEW_PAIRS).unwrap();
        for (group, members) in rows.chunks(4).enumerate() {
            let found = lists.of(group as u32);
            let is_found = |member: u32| found.contains(&member);
            assert!((0..members.len()).all(|member| is_found((4 * group + member) as u32)), "group {group}");
        }
        n_compared
    }

    /// A local recoding of 24 binary columns and 100,000 rows once took as long to check as to find. What grows with the square of the
    /// rows would be sixteen times as much for four times the rows.
    #[test]
    fn the_work_of_checking_24_binary_columns_grows_with_the_rows_and_not_with_their_square() {
        let n = [6_250, 25_000, 100_000].map(|n_rows| (n_rows, n_compared(n_rows)));
        for &(n_rows, n_compared) in &n {
            assert!(n_compared < 700 * n_rows, "{n:?}");
        }
        assert!(n.windows(2).all(|pair| pair[1].1 < 6 * pair[0].1), "{n:?}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]

        #[test]
        fn parts_have_the_pairs_that_all_have(
            // Each path has some of six labels.
            paths in proptest::collection::vec(proptest::collection::vec(0..64_u8, 1..5), 1..5),
            lefts in proptest::collection::vec(proptest::collection::vec(0..6_u32, 4), 1..90),
            rights in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 4), 1..90),
            few in 1..40_usize,
        ) {
            let n_columns = paths.len();
            let columns: Vec<PathColumn> = paths
                .iter()
                .map(|paths| {
                    let path = |bits: &u8| (0..6).filter(|label| bits >> label & 1 == 1).collect();
                    let paths: Vec<Vec<u32>> = paths.iter().map(path).collect();
                    PathColumn { n_labels: 6, of_label: vec![], of_value: vec![], paths }
                })
                .collect();
            let labels: Vec<Vec<u32>> = (0..n_columns).map(|at| lefts.iter().map(|left| left[at]).collect()).collect();
            let values: Vec<Vec<u32>> = (0..n_columns)
                .map(|at| rights.iter().map(|right| u32::from(right[at]) % columns[at].paths.len() as u32).collect())
                .collect();
            let join = Join { columns: &columns, labels: &labels, values: &values };
            let expected: Vec<Vec<u32>> = (0..lefts.len() as u32)
                .map(|left| (0..rights.len() as u32).filter(|&right| join.stands_for(left, right)).collect())
                .collect();
            let n_pairs: usize = expected.iter().map(Vec::len).sum();
            let (lists, _) = join.pairs_by_parts(n_pairs, few).unwrap();
            for (left, expected) in expected.iter().enumerate() {
                let mut found = lists.of(left as u32).to_vec();
                found.sort_unstable();
                prop_assert_eq!(&found, expected);
            }
            prop_assert!(n_pairs == 0 || join.pairs_by_parts(n_pairs - 1, few).is_none());
        }
    }
}
