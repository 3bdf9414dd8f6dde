//! Groups that a search has found, in a few long lists: there may be half as many as records, and a list of its own for
//! each would take more memory than the table.

/// Groups with their steps and members.
///
/// # Invariants
/// Every group has as many steps as there are attributes.
#[derive(Debug, Clone)]
pub(super) struct Groups<T> {
    n_attributes: usize,
    /// The steps of the first group, then those of the second, ...
    steps: Vec<u8>,
    /// Where the members of each group end.
    ends: Vec<u32>,
    members: Vec<T>,
}

/// Groups of value vectors.
pub(super) type Regions = Groups<u32>;

/// Groups of some rows of cells.
pub(super) type RowGroups = Groups<(u32, u32)>;

impl<T> Groups<T> {
    pub(super) fn new(n_attributes: usize) -> Self {
        Groups { n_attributes, steps: Vec::new(), ends: Vec::new(), members: Vec::new() }
    }

    /// One more group.
    pub(super) fn push(&mut self, steps: &[u8], members: impl IntoIterator<Item = T>) {
        debug_assert_eq!(steps.len(), self.n_attributes);
        self.steps.extend_from_slice(steps);
        self.members.extend(members);
        self.ends.push(self.members.len() as u32);
    }

    /// All groups of another list.
    pub(super) fn append(&mut self, other: Self) {
        if self.ends.is_empty() {
            *self = other;
            return;
        }
        let n_before = self.members.len() as u32;
        self.steps.extend(other.steps);
        self.members.extend(other.members);
        self.ends.extend(other.ends.iter().map(|end| n_before + end));
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn steps(&self, group: usize) -> &[u8] {
        &self.steps[group * self.n_attributes..][..self.n_attributes]
    }

    pub(super) fn members(&self, group: usize) -> &[T] {
        let start = if group == 0 { 0 } else { self.ends[group - 1] };
        &self.members[start as usize..self.ends[group] as usize]
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&[u8], &[T])> {
        (0..self.len()).map(|group| (self.steps(group), self.members(group)))
    }

    /// Gives every group other steps, found from its members.
    pub(super) fn set_steps(&mut self, of: impl Fn(&[T]) -> Box<[u8]>) {
        for group in 0..self.len() {
            let steps = of(self.members(group));
            self.steps[group * self.n_attributes..][..self.n_attributes].copy_from_slice(&steps);
        }
    }
}

impl RowGroups {
    /// How many rows a group has.
    pub(super) fn n_rows(&self, group: usize) -> u64 {
        n_rows(self.members(group))
    }

    /// How many rows all groups have.
    pub(super) fn all_rows(&self) -> u64 {
        n_rows(&self.members)
    }
}

/// How many rows these are.
pub(super) fn n_rows(rows: &[(u32, u32)]) -> u64 {
    rows.iter().map(|&(_, rows)| u64::from(rows)).sum()
}

/// Which groups the rows of each cell are in: those of the first records in the first group that has some.
pub(super) struct Shares {
    /// A group of each cell, and how many of its rows have not been asked for.
    first: Vec<(u32, u32)>,
    /// Cells with further groups and their rows, by cells: few are in more than one.
    further: Vec<(u32, u32, u32)>,
}

impl Shares {
    /// From (cell, group, rows), groups in order. None is without rows.
    pub(super) fn new(n_cells: usize, shares: impl IntoIterator<Item = (u32, u32, u32)>) -> Self {
        let mut first = vec![(0, 0); n_cells];
        let mut further = Vec::new();
        for (cell, group, rows) in shares {
            debug_assert!(rows > 0);
            match &mut first[cell as usize] {
                first @ (_, 0) => *first = (group, rows),
                _ => further.push((cell, group, rows)),
            }
        }
        // By groups, too: they came in order.
        further.sort_unstable();
        Shares { first, further }
    }

    /// The group of the next record of a cell; none if it is left out.
    pub(super) fn next(&mut self, cell: u32) -> Option<u32> {
        let share = &mut self.first[cell as usize];
        if share.1 == 0 {
            let start = self.further.partition_point(|&(other, ..)| other < cell);
            let mut of_cell = self.further[start..].iter_mut().take_while(|(other, ..)| *other == cell);
            let (_, group, rows) = of_cell.find(|(_, _, rows)| *rows > 0)?;
            *share = (*group, std::mem::take(rows));
        }
        share.1 -= 1;
        Some(share.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_of_a_cell_are_in_its_groups_in_order_and_the_rest_is_left_out() {
        let mut shares = Shares::new(3, [(2, 0, 1), (0, 0, 2), (2, 1, 2), (2, 4, 1), (0, 4, 1)]);
        let mut of = |cell: u32| (0..5).map(|_| shares.next(cell)).collect::<Vec<_>>();
        assert_eq!(of(0), [Some(0), Some(0), Some(4), None, None]);
        assert_eq!(of(1), [None; 5]);
        assert_eq!(of(2), [Some(0), Some(1), Some(1), Some(4), None]);
    }

    #[test]
    fn groups_keep_their_members_when_lists_are_joined() {
        let mut groups = Regions::new(1);
        groups.push(&[1], [4, 2]);
        let mut others = Regions::new(1);
        others.push(&[0], [7]);
        others.push(&[2], []);
        groups.append(others);
        let all: Vec<(&[u8], &[u32])> = groups.iter().collect();
        assert_eq!(all, [(&[1][..], &[4, 2][..]), (&[0], &[7]), (&[2], &[])]);
    }
}
