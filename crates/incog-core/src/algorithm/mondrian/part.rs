//! Which entries are in one box so far, and how they are moved about: always some in a row, sorted in place.
//!
//! An entry is some rows of a cell. Where a cut may run through equal records, an entry may become two, and room for that
//! is behind the entries of a part. Never more is needed than one entry for each row, and never more than one for each
//! cut: a part of n rows becomes at most n / least boxes. So both bounds hold for what a part is cut into, too.

use crate::algorithm::mondrian::point::{PartEntry, Point};

/// The room that entries may need when cuts run through them.
#[derive(Debug, Clone, Copy)]
pub(super) enum SpareEntries {
    /// They never do.
    None,
    /// Every part has at least this number of rows, which is not 0.
    PartsOf(u64),
}

impl SpareEntries {
    /// How many entries may be added to `n_entries` entries that have `n_rows` rows.
    pub(super) fn of(self, n_entries: usize, n_rows: u64) -> usize {
        match self {
            SpareEntries::None => 0,
            SpareEntries::PartsOf(least) => {
                (n_rows as usize - n_entries).min((n_rows / least).saturating_sub(1) as usize)
            }
        }
    }
}

/// Entries that are in one box so far: some in a row.
pub(super) struct Part<'a, P> {
    /// The entries and the room behind them.
    slots: &'a mut [PartEntry<P>],
    n_entries: usize,
    room: SpareEntries,
    /// Where the entries start among all.
    pub(super) from: usize,
    pub(super) n_rows: u64,
    /// The first and the last position between cuts.
    pub(super) first: P,
    pub(super) last: P,
}

impl<'a, P: Point> Part<'a, P> {
    /// All slots but those of the room are entries.
    pub(super) fn new(
        slots: &'a mut [PartEntry<P>],
        n_entries: usize,
        room: SpareEntries,
        first: P,
        last: P,
    ) -> Self {
        let n_rows = slots[..n_entries].iter().map(|entry| u64::from(entry.rows)).sum();
        Part { slots, n_entries, room, from: 0, n_rows, first, last }
    }

    pub(super) fn entries(&self) -> &[PartEntry<P>] {
        &self.slots[..self.n_entries]
    }

    fn entries_mut(&mut self) -> &mut [PartEntry<P>] {
        &mut self.slots[..self.n_entries]
    }

    pub(super) fn len(&self) -> usize {
        self.n_entries
    }

    /// The positions of all entries in one attribute, with the number of records.
    pub(super) fn positions(&self, axis: usize) -> impl Iterator<Item = (u32, u32)> {
        self.entries().iter().map(move |entry| (entry.place.at(axis), entry.rows))
    }

    /// The least and the greatest position in each attribute, of at least one entry.
    pub(super) fn extents(&self) -> (P, P) {
        P::extents(self.entries())
    }

    /// Moves the entries below a position to the front; says how many they are.
    pub(super) fn sort_below(&mut self, axis: usize, position: u32) -> usize {
        let entries = self.entries_mut();
        let (mut low, mut high) = (0, entries.len());
        loop {
            while low < high && entries[low].place.at(axis) < position {
                low += 1;
            }
            while low < high && entries[high - 1].place.at(axis) >= position {
                high -= 1;
            }
            if low == high {
                return low;
            }
            high -= 1;
            entries.swap(low, high);
            low += 1;
        }
    }

    /// Moves the entries of each bucket together, in place (American flag sort); says where each bucket ends.
    fn sort_by_bucket(&mut self, axis: usize, n_buckets: usize, bucket: impl Fn(u32) -> usize) -> Vec<usize> {
        let entries = self.entries_mut();
        let mut ends = vec![0; n_buckets];
        for entry in &*entries {
            ends[bucket(entry.place.at(axis))] += 1;
        }
        let mut next = Vec::with_capacity(n_buckets);
        let mut sum = 0;
        for end in &mut ends {
            next.push(sum);
            sum += *end;
            *end = sum;
        }
        for own in 0..n_buckets {
            while next[own] < ends[own] {
                let other = bucket(entries[next[own]].place.at(axis));
                if other != own {
                    entries.swap(next[own], next[other]);
                }
                next[other] += 1;
            }
        }
        ends
    }

    /// Moves entries together by the parts that start at these positions; says where each of them ends.
    pub(super) fn sort_by_starts(&mut self, axis: usize, starts: &[u32]) -> Vec<usize> {
        match starts {
            [_, second] => vec![self.sort_below(axis, *second), self.n_entries],
            _ => self.sort_by_children(axis, starts, starts.len(), |child| child),
        }
    }

    /// The same by buckets, of which there is one for each child that starts at these positions.
    pub(super) fn sort_by_children(
        &mut self,
        axis: usize,
        starts: &[u32],
        n_buckets: usize,
        bucket: impl Fn(usize) -> usize,
    ) -> Vec<usize> {
        let child = |position: u32| starts.partition_point(|&start| start <= position) - 1;
        let (Some(&first), Some(&last)) = (starts.first(), starts.last()) else { return Vec::new() };
        let reach = (last - first) as usize;
        if reach >= self.n_entries {
            return self.sort_by_bucket(axis, n_buckets, |position| bucket(child(position)));
        }
        // Looking up is faster than searching where there are more entries than positions.
        let table: Vec<u32> = (first..=last).map(|position| bucket(child(position)) as u32).collect();
        self.sort_by_bucket(axis, n_buckets, |position| {
            table[((position - first) as usize).min(reach)] as usize
        })
    }

    /// Sorts some entries.
    pub(super) fn sort(
        &mut self,
        entries: std::ops::Range<usize>,
        compare: impl FnMut(&PartEntry<P>, &PartEntry<P>) -> std::cmp::Ordering,
    ) {
        self.entries_mut()[entries].sort_unstable_by(compare);
    }

    /// How many entries have the first `n_rows` rows, after the entry in which these end was divided, if they end inside of one.
    pub(super) fn divide_at_row(&mut self, n_rows: u64) -> Middle {
        let mut sum = 0;
        for at in 0..self.n_entries {
            if sum == n_rows {
                return Middle { n_entries: at, is_divided: false };
            }
            let entry = &mut self.slots[at];
            sum += u64::from(entry.rows);
            if sum > n_rows {
                let behind = (sum - n_rows) as u32;
                entry.rows -= behind;
                // The entry that stood there goes behind all others.
                self.slots[self.n_entries] = PartEntry { rows: behind, ..self.slots[at].clone() };
                self.slots.swap(at + 1, self.n_entries);
                self.n_entries += 1;
                return Middle { n_entries: at + 1, is_divided: true };
            }
        }
        Middle { n_entries: self.n_entries, is_divided: false }
    }

    /// Undoes a division, if there was one.
    pub(super) fn rejoin(&mut self, middle: &Middle) {
        if middle.is_divided {
            self.n_entries -= 1;
            self.slots.swap(middle.n_entries, self.n_entries);
            self.slots[middle.n_entries - 1].rows += self.slots[self.n_entries].rows;
        }
    }

    /// The parts that end at `ends`, the last of which is the end of all.
    pub(super) fn split(self, ends: &[usize], into: &mut Vec<Part<'a, P>>) {
        let Part { slots, n_entries, room, from, first, last, .. } = self;
        debug_assert_eq!(ends.last(), Some(&n_entries));
        let n_before = into.len();
        let mut rest = slots;
        // From the last on, so that there is room behind the entries that are moved. What is left over goes to the first.
        for number in (0..ends.len()).rev() {
            let start = if number == 0 { 0 } else { ends[number - 1] };
            let n_entries = ends[number] - start;
            let n_rows = rest[start..ends[number]].iter().map(|entry| u64::from(entry.rows)).sum();
            let to = if number == 0 { 0 } else { rest.len() - n_entries - room.of(n_entries, n_rows) };
            debug_assert!(to >= start);
            // Their order does not matter, so that most can stay.
            for moved in 0..n_entries.min(to - start) {
                rest.swap(start + moved, to + n_entries - 1 - moved);
            }
            let (before, slots) = std::mem::take(&mut rest).split_at_mut(to);
            rest = before;
            let (first, last) = (first.clone(), last.clone());
            into.push(Part { slots, n_entries, room, from: from + to, n_rows, first, last });
        }
        into[n_before..].reverse();
    }
}

/// How many entries are in the first of two halves.
pub(super) struct Middle {
    pub(super) n_entries: usize,
    /// Is the last of them some rows of the next one's cell?
    is_divided: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Entries of one attribute: (position, rows); the cell is the position.
    fn slots(entries: &[(u32, u32)], room: usize) -> Vec<PartEntry<[u8; 8]>> {
        let entry =
            |&(position, rows)| PartEntry { place: Point::new([position].into_iter()), cell: position, rows };
        let free = std::iter::repeat_n(entry(&(0, 0)), room);
        entries.iter().map(entry).chain(free).collect()
    }

    fn contents(part: &Part<'_, [u8; 8]>) -> Vec<(u32, u32)> {
        let mut contents: Vec<(u32, u32)> = part.positions(0).collect();
        contents.sort_unstable();
        contents
    }

    #[test]
    fn every_part_has_its_entries_and_room_for_all_cuts_that_may_come() {
        let room = SpareEntries::PartsOf(2);
        let mut slots = slots(&[(3, 4), (1, 2), (2, 9), (1, 1), (0, 3)], room.of(5, 19));
        let n_slots = slots.len();
        assert_eq!(n_slots, 13);
        let mut part = Part::new(&mut slots, 5, room, [0; 8], [3; 8]);
        let ends = part.sort_by_starts(0, &[0, 1, 2, 3]);
        assert_eq!(ends, [1, 3, 4, 5]);
        let mut parts = Vec::new();
        part.split(&ends, &mut parts);
        let all: Vec<Vec<(u32, u32)>> = parts.iter().map(contents).collect();
        assert_eq!(all, [vec![(0, 3)], vec![(1, 1), (1, 2)], vec![(2, 9)], vec![(3, 4)]]);
        assert!(parts.windows(2).all(|pair| pair[0].from + pair[0].slots.len() == pair[1].from));
        assert!(parts.iter().all(|part| part.slots.len() >= part.len() + room.of(part.len(), part.n_rows)));

        // Nine equal rows go into boxes of two: three cuts through the entry.
        let mut waiting = vec![parts.swap_remove(2)];
        let mut sizes = Vec::new();
        while let Some(mut part) = waiting.pop() {
            if part.n_rows < 4 {
                sizes.push(part.n_rows);
                continue;
            }
            let middle = part.divide_at_row(part.n_rows / 2);
            let ends = [middle.n_entries, part.len()];
            part.split(&ends, &mut waiting);
        }
        sizes.sort_unstable();
        assert_eq!(sizes, [2, 2, 2, 3]);
    }

    #[test]
    fn what_was_divided_can_be_joined_again() {
        let mut slots = slots(&[(0, 3), (1, 4), (2, 1)], 1);
        let mut part = Part::new(&mut slots, 3, SpareEntries::PartsOf(4), [0; 8], [2; 8]);
        for n_rows in 0..=8 {
            let middle = part.divide_at_row(n_rows);
            let before: u64 =
                part.entries()[..middle.n_entries].iter().map(|entry| u64::from(entry.rows)).sum();
            assert_eq!(before, n_rows);
            part.rejoin(&middle);
            assert_eq!(contents(&part), [(0, 3), (1, 4), (2, 1)]);
        }
    }
}
