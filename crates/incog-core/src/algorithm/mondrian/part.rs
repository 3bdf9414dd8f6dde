//! Which entries are in one box so far, and how they are moved about: always some in a row, sorted in place.

/// Entries that are in one box so far: some in a row.
pub(super) struct Part<'a> {
    /// The positions of each entry.
    pub(super) keys: &'a mut [u32],
    /// The cell of each entry; the record where cuts are relaxed.
    pub(super) ids: &'a mut [u32],
    /// How many records each entry is.
    pub(super) rows: &'a mut [u32],
    /// Where the entries start among all.
    pub(super) from: usize,
    /// For each attribute the positions between cuts: start, and end that does not belong to it any more.
    pub(super) sides: Box<[(u32, u32)]>,
}

impl<'a> Part<'a> {
    pub(super) fn len(&self) -> usize {
        self.ids.len()
    }

    /// The positions of all entries in one attribute, with the number of records.
    pub(super) fn positions(&self, axis: usize) -> impl Iterator<Item = (u32, u32)> {
        let n_axes = self.sides.len();
        self.keys.iter().skip(axis).step_by(n_axes).copied().zip(self.rows.iter().copied())
    }

    /// The least and greatest position in each attribute.
    pub(super) fn extents(&self) -> Vec<(u32, u32)> {
        let mut extents = vec![(u32::MAX, 0); self.sides.len()];
        for keys in self.keys.chunks_exact(self.sides.len()) {
            for ((least, greatest), &key) in extents.iter_mut().zip(keys) {
                *least = key.min(*least);
                *greatest = key.max(*greatest);
            }
        }
        extents
    }

    pub(super) fn swap(&mut self, a: usize, b: usize) {
        let n_axes = self.sides.len();
        self.ids.swap(a, b);
        self.rows.swap(a, b);
        let (low, high) = self.keys.split_at_mut(a.max(b) * n_axes);
        low[a.min(b) * n_axes..][..n_axes].swap_with_slice(&mut high[..n_axes]);
    }

    /// Moves the entries of each bucket together, in place (American flag sort); says where each bucket ends.
    pub(super) fn sort_by_bucket(
        &mut self,
        axis: usize,
        n_buckets: usize,
        bucket: impl Fn(u32) -> usize,
    ) -> Vec<usize> {
        let n_axes = self.sides.len();
        let mut ends = vec![0; n_buckets];
        for (position, _) in self.positions(axis) {
            ends[bucket(position)] += 1;
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
                let other = bucket(self.keys[next[own] * n_axes + axis]);
                if other != own {
                    self.swap(next[own], next[other]);
                }
                next[other] += 1;
            }
        }
        ends
    }

    /// The entries before and from `at` on.
    pub(super) fn split_at(self, at: usize) -> (Part<'a>, Part<'a>) {
        let (keys, more_keys) = self.keys.split_at_mut(at * self.sides.len());
        let (ids, more_ids) = self.ids.split_at_mut(at);
        let (rows, more_rows) = self.rows.split_at_mut(at);
        let rest = Part {
            keys: more_keys,
            ids: more_ids,
            rows: more_rows,
            from: self.from + at,
            sides: self.sides.clone(),
        };
        (Part { keys, ids, rows, from: self.from, sides: self.sides }, rest)
    }

    /// The parts that end at `ends`.
    pub(super) fn split_at_all(self, ends: &[usize]) -> Vec<Part<'a>> {
        let mut parts = Vec::with_capacity(ends.len());
        let mut rest = self;
        let mut done = 0;
        for &end in ends {
            let (part, more) = rest.split_at(end - done);
            parts.push(part);
            rest = more;
            done = end;
        }
        debug_assert_eq!(rest.len(), 0);
        parts
    }
}

/// In which part of a cut a position is.
pub(super) fn bucket_of(starts: &[u32]) -> impl Fn(u32) -> usize {
    move |position| match starts {
        [_, second] => usize::from(position >= *second),
        _ => starts.partition_point(|&start| start <= position) - 1,
    }
}

/// The entries by the part of a cut that they are in; a part may be empty.
pub(super) fn divide<'a>(mut part: Part<'a>, axis: usize, starts: &[u32]) -> Vec<Part<'a>> {
    let ends = part.sort_by_bucket(axis, starts.len(), bucket_of(starts));
    part.split_at_all(&ends)
}
