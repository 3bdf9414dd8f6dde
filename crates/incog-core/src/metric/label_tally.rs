//! How many suppressed rows have which label?
//!
//! Metrics that contribute a weight for each label ask for it once for every node that is described. With a counter for each
//! label nothing is sorted; cost: one addition for each group and attribute.

/// Adds up the rows of each label of one attribute.
pub(super) enum LabelTally {
    /// A counter for each label: where there are fewer labels than groups to add up, which is usual.
    Counters(Vec<u64>),
    /// The label and rows of each group, in the order of the groups: where counters would mostly stay empty.
    Groups(Vec<(u32, u64)>),
}

impl LabelTally {
    pub(super) fn new(n_labels: usize, n_groups: usize) -> Self {
        if n_labels <= n_groups {
            LabelTally::Counters(vec![0; n_labels])
        } else {
            LabelTally::Groups(Vec::with_capacity(n_groups))
        }
    }

    pub(super) fn add(&mut self, label: u32, rows: u64) {
        match self {
            LabelTally::Counters(counters) => counters[label as usize] += rows,
            LabelTally::Groups(groups) => groups.push((label, rows)),
        }
    }

    /// The rows of each label that has any, ordered by label.
    pub(super) fn rows_by_label(self) -> Vec<(u32, u64)> {
        match self {
            LabelTally::Counters(counters) => (0..).zip(counters).filter(|&(_, rows)| rows > 0).collect(),
            LabelTally::Groups(mut groups) => {
                groups.sort_unstable();
                groups.dedup_by(|next, kept| {
                    let is_same = next.0 == kept.0;
                    kept.1 += if is_same { next.1 } else { 0 };
                    is_same
                });
                groups.shrink_to_fit();
                groups
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::LabelTally;

    #[test]
    fn counters_and_lists_add_up_the_same_rows() {
        let groups = [(3, 5), (0, 1), (3, 2), (1, 7), (0, 4)];
        let tallied = |n_labels, n_groups| {
            let mut tally = LabelTally::new(n_labels, n_groups);
            let is_dense = matches!(tally, LabelTally::Counters(_));
            groups.iter().for_each(|&(label, rows)| tally.add(label, rows));
            (is_dense, tally.rows_by_label())
        };
        let expected = vec![(0, 5), (1, 7), (3, 7)];
        assert_eq!(tallied(4, 5), (true, expected.clone()));
        assert_eq!(tallied(400, 5), (false, expected));
    }
}
