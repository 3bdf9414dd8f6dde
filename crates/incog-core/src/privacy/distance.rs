//! How far is a group from all rows?
//!
//! The earth mover's distance of two distributions (Li, Li, Venkatasubramanian, ICDE 2007): how much must be moved how
//! far to turn one into the other. How far two values are apart is the *ground distance*:
//!
//! | ground distance | two values are apart by | the distance of distributions |
//! |---|---|---|
//! | equal | 1 | half the sum of the differences |
//! | ordered | their places' difference, over the number of values − 1 | the sum of the running differences, over the same |
//! | hierarchical | the level of their lowest common label, over the height | at each label, what its branches can settle among themselves, times its level |
//!
//! All is exact. With counts c of n rows in the group and C of N in all, a difference is (c·N − C·n) / (n·N), so every
//! distance is a sum of integers over n·N times a constant. A group costs as much as it has values (times the height, or
//! the logarithm of all values), not as many as the column has.
//!
//! Values count that occur: a value that is not in the reference has no place in the order.

use crate::error::{Error, ErrorKind, Result};
use crate::hash;
use crate::hierarchy::Attribute;
use crate::hierarchy::spelling::spelled_otherwise;
use crate::table::Column;
use crate::value::Decimal;

/// Rows. For tables of at most this many rows, and 2³² values, the products below fit 128 bits.
const MAX_ROWS: u128 = 1 << 47;

/// How far the values of a sensitive column are apart.
#[derive(Debug, Clone)]
pub struct Distance(Ground);

#[derive(Debug, Clone)]
enum Ground {
    Equal,
    /// The place of each value code in the order; equal places are one value.
    Ordered(Vec<u32>),
    /// `parents[level][label]` is the label one level up; labels of level 0 are value codes. The last level has one label.
    Hierarchical(Vec<Vec<u32>>),
}

impl Distance {
    /// What a job may write.
    pub const NAMES: [&str; 3] = ["equal", "ordered", "hierarchical"];

    /// All values are equally far apart.
    pub fn equal() -> Self {
        Distance(Ground::Equal)
    }

    /// The values are ordered; `places` has the place of each code, and equal places are one value.
    pub fn ordered(places: Vec<u32>) -> Self {
        Distance(Ground::Ordered(places))
    }

    /// The values are decimal numbers in their order; `1` and `1.0` are one value.
    pub fn by_number(column: &Column) -> Result<Self> {
        let read = |value: &str| column.notation().number(value);
        let values: Vec<Option<Decimal>> = column.dictionary().values().map(read).collect();
        let n_words = values.iter().filter(|number| number.is_none()).count();
        if n_words > 0 {
            let is_word = |&code: &u32| values[code as usize].is_none();
            let first = column.codes().iter().position(is_word).map_or(0, |row_idx| row_idx + 1);
            return Err(Error::input(format!(
                "column `{}`: {n_words} of {} values are not numbers (first in row {first}): they have no order",
                column.name(),
                values.len()
            ))
            .with_hint("give the order of the values, or use the distance `equal` or `hierarchical`"));
        }
        let numbers: Vec<Decimal> = values.into_iter().flatten().collect();
        let mut sorted = numbers.clone();
        sorted.sort_unstable();
        sorted.dedup();
        let place = |number| sorted.partition_point(|other| other < number) as u32;
        Ok(Distance::ordered(numbers.iter().map(place).collect()))
    }

    /// The values are in the order of a list, which has each value of the column once. Of a column of numbers, `1.0` is the list's `1`.
    pub fn by_list<'a>(column: &Column, list: impl IntoIterator<Item = &'a str>) -> Result<Self> {
        let mut places = vec![None; column.dictionary().len()];
        let list: Vec<&str> = list.into_iter().collect();
        let listed: hash::Set<&str> = list.iter().copied().collect();
        let spelled = spelled_otherwise(column, list.iter().copied(), |value| listed.contains(value));
        for (place, value) in list.into_iter().enumerate() {
            // The list may have values that do not occur.
            let Some(code) = column.dictionary().code(value) else {
                continue;
            };
            if places[code as usize].replace(place as u32).is_some() {
                return Err(Error::input(format!(
                    "the order of column `{}` has a value twice (entry {})",
                    column.name(),
                    place + 1
                )));
            }
        }
        for (code, place) in spelled {
            places[code as usize] = Some(place as u32);
        }
        let n_missing = places.iter().filter(|place| place.is_none()).count();
        if n_missing > 0 {
            return Err(Error::input(format!(
                "the order of column `{}` lacks {n_missing} of {} values",
                column.name(),
                places.len()
            ))
            .with_hint("list every value of the column, from the lowest to the highest"));
        }
        Ok(Distance::ordered(places.into_iter().flatten().collect()))
    }

    /// The values are as far apart as the level at which they first have one label. Values that have none up to the top
    /// of the hierarchy are apart by one level more, and that is the greatest distance then.
    pub fn hierarchical(attribute: &Attribute) -> Self {
        let height = attribute.height();
        let mut parents: Vec<Vec<u32>> = Vec::new();
        for level in 1..=height {
            let above = attribute.labels_at(level);
            parents.push(match level {
                // Level 0 is the values themselves.
                1 => above.to_vec(),
                _ => {
                    let labels = attribute.hierarchy().labels(level - 1).len() as u32;
                    (0..labels).map(|label| attribute.hierarchy().parent(level - 1, label)).collect()
                }
            });
        }
        let n_top = attribute.hierarchy().labels(height).len();
        if n_top > 1 {
            let n_labels = if height == 0 { attribute.n_values() } else { n_top };
            parents.push(vec![0; n_labels]);
        }
        Distance(Ground::Hierarchical(parents))
    }

    /// The name in a job.
    pub fn name(&self) -> &'static str {
        let at = match self.0 {
            Ground::Equal => 0,
            Ground::Ordered(_) => 1,
            Ground::Hierarchical(_) => 2,
        };
        Distance::NAMES[at]
    }
}

/// A distribution that groups are compared with.
#[derive(Debug, Clone)]
pub(super) struct Reference {
    /// N.
    size: u128,
    /// C of each value code.
    overall: Vec<u64>,
    ground: Places,
}

/// What is known beforehand of the ground distance and the distribution together.
#[derive(Debug, Clone)]
enum Places {
    Equal,
    Ordered {
        /// The place of each value code among those that occur.
        of_value: Vec<u32>,
        /// Rows up to each place.
        up_to: Vec<u128>,
        /// Sums of `up_to` before each place, and before the end.
        sums: Vec<u128>,
    },
    Hierarchical {
        /// For each level but the last, the label one level up.
        parents: Vec<Vec<u32>>,
        /// For each level but the first, the rows below each label.
        below: Vec<Vec<u64>>,
    },
}

impl Reference {
    /// The distribution of a column with these counts by code.
    pub(super) fn new(distance: &Distance, overall: &[u64]) -> Result<Self> {
        let size: u128 = overall.iter().map(|&n| u128::from(n)).sum();
        if size > MAX_ROWS {
            return Err(Error::new(ErrorKind::Limit, "closeness is measured for at most 2^47 rows"));
        }
        let ground = match &distance.0 {
            Ground::Equal => Places::Equal,
            Ground::Ordered(places) => in_order(places, overall)?,
            Ground::Hierarchical(parents) => in_tree(parents, overall)?,
        };
        Ok(Reference { size, overall: overall.to_vec(), ground })
    }

    /// The distance of a group with these values and counts: a fraction whose denominator is not 0.
    pub(super) fn distance(&self, counts: &[(u32, u64)]) -> Result<(u128, u128)> {
        let mut size = 0;
        for &(value, n) in counts {
            size += u128::from(n);
            if self.overall.get(value as usize).is_none_or(|&all| all < n) {
                return Err(super::unknown_value());
            }
        }
        if size == 0 {
            return Ok((0, 1));
        }
        let whole = size * self.size;
        Ok(match &self.ground {
            Places::Equal => (self.by_values(counts, size), 2 * whole),
            Places::Ordered { of_value, up_to, sums } => {
                let mut places: Vec<(u32, u64)> =
                    counts.iter().map(|&(value, n)| (of_value[value as usize], n)).collect();
                places.sort_unstable();
                let steps = up_to.len().saturating_sub(1).max(1) as u128;
                (running(&places, up_to, sums, size, self.size), steps * whole)
            }
            Places::Hierarchical { parents, below } => {
                (self.by_labels(counts, size, parents, below), parents.len().max(1) as u128 * whole)
            }
        })
    }

    /// The sum of |c·N − C·n| over all values.
    fn by_values(&self, counts: &[(u32, u64)], size: u128) -> u128 {
        // What the group lacks counts in full.
        let mut others = self.size;
        let mut sum = 0;
        for &(value, n) in counts {
            let all = u128::from(self.overall[value as usize]);
            sum += (u128::from(n) * self.size).abs_diff(all * size);
            others -= all;
        }
        sum + others * size
    }

    /// The sum over all labels of their level times what their branches settle among themselves.
    ///
    /// A branch with no value of the group only lacks, so a label whose branches all lack settles nothing: labels without
    /// a value of the group need not be visited. What the branches of a label have too much of is summed over the
    /// visited ones, and what they lack is that less what the label has too much of.
    fn by_labels(&self, counts: &[(u32, u64)], size: u128, parents: &[Vec<u32>], below: &[Vec<u64>]) -> u128 {
        let surplus =
            |n: u64, all: u64| (u128::from(n) * self.size) as i128 - (u128::from(all) * size) as i128;
        let mut labels: Vec<(u32, u64)> = counts.to_vec();
        let mut sum = 0;
        for (at, parents) in parents.iter().enumerate() {
            let all = if at == 0 { &self.overall } else { &below[at - 1] };
            let mut upward: Vec<(u32, u64, i128)> = labels
                .iter()
                .map(|&(label, n)| (parents[label as usize], n, surplus(n, all[label as usize]).max(0)))
                .collect();
            upward.sort_unstable_by_key(|&(parent, _, _)| parent);
            labels.clear();
            for branches in upward.chunk_by(|a, b| a.0 == b.0) {
                let (parent, n) = (branches[0].0, branches.iter().map(|&(_, n, _)| n).sum());
                let too_much: i128 = branches.iter().map(|&(_, _, surplus)| surplus).sum();
                let lacking = too_much - surplus(n, below[at][parent as usize]);
                sum += (at as u128 + 1) * too_much.min(lacking).unsigned_abs();
                labels.push((parent, n));
            }
        }
        sum
    }
}

fn in_order(places: &[u32], overall: &[u64]) -> Result<Places> {
    if places.len() < overall.len() {
        return Err(super::unknown_value());
    }
    let mut occurring: Vec<(u32, usize)> =
        (0..overall.len()).filter(|&value| overall[value] > 0).map(|value| (places[value], value)).collect();
    occurring.sort_unstable();
    let (mut of_value, mut up_to) = (vec![0; overall.len()], Vec::new());
    let mut rows = 0;
    for same in occurring.chunk_by(|a, b| a.0 == b.0) {
        for &(_, value) in same {
            of_value[value] = up_to.len() as u32;
            rows += u128::from(overall[value]);
        }
        up_to.push(rows);
    }
    let mut sums = vec![0];
    for rows in &up_to {
        sums.push(sums[sums.len() - 1] + rows);
    }
    Ok(Places::Ordered { of_value, up_to, sums })
}

fn in_tree(parents: &[Vec<u32>], overall: &[u64]) -> Result<Places> {
    let mut below: Vec<Vec<u64>> = Vec::new();
    for (at, parents) in parents.iter().enumerate() {
        let rows = if at == 0 { overall } else { below[at - 1].as_slice() };
        if parents.len() < rows.len() {
            return Err(super::unknown_value());
        }
        let mut above = vec![0; parents.iter().max().map_or(0, |&most| most as usize + 1)];
        for (&parent, &n) in parents.iter().zip(rows) {
            above[parent as usize] += n;
        }
        below.push(above);
    }
    Ok(Places::Hierarchical { parents: parents.to_vec(), below })
}

/// The sum over all places of |N·(rows of the group up to it) − n·(all rows up to it)|.
///
/// Between two places of the group its rows stay and all rows grow: a binary search finds where the sign changes.
fn running(places: &[(u32, u64)], up_to: &[u128], sums: &[u128], size: u128, all: u128) -> u128 {
    let stretch = |from: usize, to: usize, here: u128| {
        let level = all * here;
        let split = from + up_to[from..to].partition_point(|&rows| size * rows <= level);
        let under = level * (split - from) as u128 - size * (sums[split] - sums[from]);
        let over = size * (sums[to] - sums[split]) - level * (to - split) as u128;
        under + over
    };
    let (mut from, mut here, mut sum) = (0, 0, 0);
    for &(place, n) in places {
        sum += stretch(from, place as usize, here);
        from = place as usize;
        here += u128::from(n);
    }
    sum + stretch(from, up_to.len(), here)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hierarchy::ExplicitHierarchy;
    use crate::privacy::Fraction;
    use crate::table::Role;

    fn column(cells: &[&str]) -> Column {
        Column::from_cells("salary", Role::Sensitive, cells.iter().copied()).unwrap()
    }

    /// The distance of a group of some cells from the whole column.
    fn distance(distance: &Distance, column: &Column, group: &[&str]) -> Fraction {
        let mut overall = vec![0; column.dictionary().len()];
        for &code in column.codes() {
            overall[code as usize] += 1;
        }
        let mut counts: Vec<(u32, u64)> = Vec::new();
        for cell in group {
            let code = column.dictionary().code(cell).unwrap();
            match counts.iter_mut().find(|(value, _)| *value == code) {
                Some((_, n)) => *n += 1,
                None => counts.push((code, 1)),
            }
        }
        counts.sort_unstable();
        let (part, of) = Reference::new(distance, &overall).unwrap().distance(&counts).unwrap();
        Fraction::new(part as u64, of as u64).unwrap()
    }

    fn fraction(numerator: u64, denominator: u64) -> Fraction {
        Fraction::new(numerator, denominator).unwrap()
    }

    /// Li et al., ICDE 2007, section 4: salaries from 3k to 11k; 3k, 4k, 5k is 0.375 from all, 6k, 8k, 11k is 0.167.
    #[test]
    fn the_ordered_distances_of_the_paper_are_found() {
        let salaries = column(&["3000", "4000", "5000", "6000", "11000", "8000", "7000", "9000", "10000"]);
        let ordered = Distance::by_number(&salaries).unwrap();
        assert_eq!(distance(&ordered, &salaries, &["3000", "4000", "5000"]), fraction(3, 8));
        assert_eq!(distance(&ordered, &salaries, &["6000", "8000", "11000"]), fraction(1, 6));
        let listed = Distance::by_list(
            &salaries,
            ["2000", "3000", "4000", "5000", "6000", "7000", "8000", "9000", "10000", "11000"],
        );
        assert_eq!(distance(&listed.unwrap(), &salaries, &["3000", "4000", "5000"]), fraction(3, 8));
        assert_eq!(distance(&Distance::equal(), &salaries, &["3000", "4000", "5000"]), fraction(2, 3));
    }

    /// Two values under one label are one of two levels apart.
    #[test]
    fn what_branches_settle_among_themselves_is_moved_less_far() {
        let illness = column(&["ulcer", "gastritis", "flu", "pneumonia"]);
        let mut rows = ExplicitHierarchy::new("illness", "illness.csv");
        for (line, (value, label)) in
            [("ulcer", "gut"), ("gastritis", "gut"), ("flu", "lung"), ("pneumonia", "lung")]
                .into_iter()
                .enumerate()
        {
            rows.push(line as u64 + 1, [value, label, "*"]).unwrap();
        }
        let attribute = Attribute::bind(&illness, rows.finish().unwrap(), "rows").unwrap();
        let tree = Distance::hierarchical(&attribute);
        // A quarter each; one of each label: a quarter moves one step, twice, of two steps in all.
        assert_eq!(distance(&tree, &illness, &["ulcer", "flu"]), fraction(1, 4));
        // All of one label: half moves two steps of two.
        assert_eq!(distance(&tree, &illness, &["ulcer", "gastritis"]), fraction(1, 2));
        // ulcer: a quarter comes from gastritis by one step, two quarters from the other label by two.
        assert_eq!(distance(&tree, &illness, &["ulcer"]), fraction(5, 8));
        assert_eq!(distance(&tree, &illness, &["flu", "ulcer", "gastritis", "pneumonia"]), fraction(0, 1));
        // Without a common top, labels are one level more apart: now of two levels.
        let cut = attribute.with_levels(&[0, 1]).unwrap();
        assert_eq!(distance(&Distance::hierarchical(&cut), &illness, &["ulcer"]), fraction(5, 8));
        let flat = cut.with_levels(&[0]).unwrap();
        assert_eq!(distance(&Distance::hierarchical(&flat), &illness, &["ulcer"]), fraction(3, 4));
    }

    #[test]
    fn text_has_no_order_of_its_own() {
        let words = column(&["1", "low", "low", "high"]);
        let error = Distance::by_number(&words).unwrap_err();
        assert_eq!(
            error.to_string(),
            "column `salary`: 2 of 3 values are not numbers (first in row 2): they have no order"
        );
        let error = Distance::by_list(&words, ["low", "high"]).unwrap_err();
        assert_eq!(error.to_string(), "the order of column `salary` lacks 1 of 3 values");
        assert!(Distance::by_list(&words, ["1", "low", "1", "high"]).is_err());
        assert!(Distance::by_list(&words, ["low", "mid", "1", "high"]).is_ok());
    }

    #[test]
    fn numbers_are_ordered_as_numbers_and_equal_ones_are_one_value() {
        let ascending = ["-10.5", "-10", "-9", "-0.01", "0", "0.001", "0.01", "0.1", "1", "1.5", "9", "10"];
        let numbers = column(&ascending);
        let Distance(Ground::Ordered(places)) = Distance::by_number(&numbers).unwrap() else {
            panic!("not ordered");
        };
        assert_eq!(places, (0..12).collect::<Vec<u32>>());
        let same = column(&["1", "1.0", "01", "+1.", "-0", "0.0"]);
        let Distance(Ground::Ordered(places)) = Distance::by_number(&same).unwrap() else {
            panic!("not ordered");
        };
        assert_eq!(places, [1, 1, 1, 1, 0, 0]);
        let long =
            column(&["1e3", "999.999999999999999999999999999", "1000.0", ".5", "12345678901234567890123"]);
        let Distance(Ground::Ordered(places)) = Distance::by_number(&long).unwrap() else {
            panic!("not ordered");
        };
        assert_eq!(places, [2, 1, 2, 0, 3]);
        let floats = column(&["1.0", "2.0", "10"]);
        let Distance(Ground::Ordered(places)) = Distance::by_list(&floats, ["10", "2", "1"]).unwrap() else {
            panic!("not ordered");
        };
        assert_eq!(places, [2, 1, 0]);
    }
}
