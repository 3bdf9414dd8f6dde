//! Where a part can be cut: beside the median, through it, into the children of a label, or where most is gained.

use crate::algorithm::mondrian::part::{Part, bucket_of};
use crate::algorithm::mondrian::scratch::Scratch;
use crate::algorithm::mondrian::search::Mondrian;
use crate::algorithm::mondrian::{Choice, Cuts, Gain};
use crate::error::Result;
use crate::group::RowFacts;

/// So many of the best cuts are judged where judging one is a pass over the records.
const MOST_TRIES: usize = 64;

/// A cut that can be tried.
struct Cut {
    axis: usize,
    /// The first position of each part.
    starts: Vec<u32>,
    /// How many records each part has.
    rows: Vec<u64>,
}

impl Mondrian<'_> {
    /// Cuts a part, or gives it back.
    pub(super) fn cut<'p>(
        &self,
        part: Part<'p>,
        extents: &[(u32, u32)],
        scratch: &mut Scratch,
    ) -> Result<Result<Vec<Part<'p>>, Part<'p>>> {
        let mut part = part;
        if let Choice::Best(gain) = self.choice {
            part = match self.best_cut(part, extents, gain, scratch)? {
                Err(part) if self.cuts == Cuts::Relaxed => part,
                made => return Ok(made),
            };
        }
        let mut order: Vec<(f64, usize)> = (0..self.axes.len())
            .filter(|&at| extents[at].0 < extents[at].1)
            .map(|at| (self.weights[at] * self.axes[at].width(extents[at].0, extents[at].1), at))
            .collect();
        // Stable: the first of equals.
        order.sort_by(|a, b| b.0.total_cmp(&a.0));
        // Dividing equal records leaves wide sides that touch, so it comes last.
        let ways: &[Cuts] = match self.cuts {
            Cuts::Strict => &[Cuts::Strict],
            Cuts::Relaxed => &[Cuts::Strict, Cuts::Relaxed],
        };
        for &way in ways {
            for &(_, at) in &order {
                scratch.profile(&part, at, extents[at]);
                part = match self.cut_axis(part, at, extents[at], way, scratch)? {
                    Err(part) => part,
                    made => return Ok(made),
                };
            }
        }
        Ok(Err(part))
    }

    /// Cuts a part by one attribute, whose profile is in the scratch memory.
    fn cut_axis<'p>(
        &self,
        part: Part<'p>,
        at: usize,
        extent: (u32, u32),
        way: Cuts,
        scratch: &mut Scratch,
    ) -> Result<Result<Vec<Part<'p>>, Part<'p>>> {
        let mut part = part;
        let is_in_order = self.axes[at].missing().is_some_and(|missing| extent.1 < missing);
        if !is_in_order {
            if way == Cuts::Relaxed {
                // Tried before.
                return Ok(Err(part));
            }
            let cut = self.only_cut(at, extent, scratch);
            return match self.cuts {
                Cuts::Relaxed if self.axes[at].labels().is_some() => self.leave_behind(part, &cut, scratch),
                _ => self.try_cut(part, &cut, scratch),
            };
        }
        let total: u64 = scratch.profile.iter().map(|(_, rows)| rows).sum();
        if way == Cuts::Relaxed {
            return self.divide_median(part, at, total, scratch);
        }
        // Before and after the median value; the more even one first.
        let mut below = 0;
        let median = scratch.profile.iter().position(|(_, rows)| {
            below += rows;
            2 * below >= total
        });
        let median = median.unwrap_or(0);
        let mut cuts: Vec<(u64, usize, u64)> =
            [(below - scratch.profile[median].1, median), (below, median + 1)]
                .into_iter()
                .filter(|&(left, _)| 0 < left && left < total)
                .map(|(left, first)| ((2 * left).abs_diff(total), first, left))
                .collect();
        cuts.sort_unstable();
        for (_, first, left) in cuts {
            let starts = vec![extent.0, scratch.profile[first].0];
            let cut = Cut { axis: at, starts, rows: vec![left, total - left] };
            part = match self.try_cut(part, &cut, scratch)? {
                Err(part) => part,
                made => return Ok(made),
            };
        }
        Ok(Err(part))
    }

    /// The cut of a hierarchy into the children of the common label, or that of the missing value from all others.
    fn only_cut(&self, at: usize, extent: (u32, u32), scratch: &Scratch) -> Cut {
        let mut cut = Cut { axis: at, starts: Vec::new(), rows: Vec::new() };
        let axis = &self.axes[at];
        let child = |position: u32| match (axis.labels(), axis.common_level(extent.0, extent.1)) {
            (Some(labels), Some(level)) => labels[usize::from(level) - 1][position as usize],
            _ => u32::from(axis.missing() == Some(position)),
        };
        let mut before = None;
        for &(position, rows) in &scratch.profile {
            let child = Some(child(position));
            if before == child {
                if let Some(sum) = cut.rows.last_mut() {
                    *sum += rows;
                }
            } else {
                cut.starts.push(position);
                cut.rows.push(rows);
                before = child;
            }
        }
        cut
    }

    /// Makes a cut if the policy admits all parts.
    fn try_cut<'p>(
        &self,
        mut part: Part<'p>,
        cut: &Cut,
        scratch: &mut Scratch,
    ) -> Result<Result<Vec<Part<'p>>, Part<'p>>> {
        if !self.may_admit_all(&cut.rows, scratch)? {
            return Ok(Err(part));
        }
        let ends = part.sort_by_bucket(cut.axis, cut.starts.len(), bucket_of(&cut.starts));
        if !self.is_rows_only {
            let mut start = 0;
            for &end in &ends {
                if !self.admits(&part, start..end, scratch)? {
                    return Ok(Err(part));
                }
                start = end;
            }
        }
        Ok(Ok(bounded(part.split_at_all(&ends), cut)))
    }

    /// Could the policy admit parts with so many rows? The last word where it sees nothing but rows.
    fn may_admit_all(&self, rows: &[u64], scratch: &mut Scratch) -> Result<bool> {
        let Some(k_only) = &self.k_only else { return Ok(true) };
        for &rows in rows {
            scratch.counted.clear();
            scratch.counted.push(RowFacts { person: None, sensitive: &[] }, rows);
            scratch.counted.settle();
            if !k_only.admits(scratch.counted.group())? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Divides records in the middle, through equal values if need be.
    fn divide_median<'p>(
        &self,
        mut part: Part<'p>,
        at: usize,
        total: u64,
        scratch: &mut Scratch,
    ) -> Result<Result<Vec<Part<'p>>, Part<'p>>> {
        let half = total / 2;
        let mut below = 0;
        let median = scratch.profile.iter().find(|(_, rows)| {
            below += rows;
            below > half
        });
        let Some(&(median, _)) = median else { return Ok(Err(part)) };
        if !self.may_admit_all(&[half, total - half], scratch)? {
            return Ok(Err(part));
        }
        let bucket = |position: u32| match position.cmp(&median) {
            std::cmp::Ordering::Less => 0,
            std::cmp::Ordering::Equal => 1,
            std::cmp::Ordering::Greater => 2,
        };
        let ends = part.sort_by_bucket(at, 3, bucket);
        // Every entry is one record here.
        let middle = half as usize;
        let is_admitted = self.is_rows_only
            || self.admits(&part, 0..middle, scratch)? && self.admits(&part, middle..part.len(), scratch)?;
        if !is_admitted {
            return Ok(Err(part));
        }
        let (mut low, mut high) = part.split_at(middle);
        low.sides[at].1 = if middle > ends[0] { median + 1 } else { median };
        high.sides[at].0 = median;
        Ok(Ok(vec![low, high]))
    }

    /// Cuts a hierarchy into those children that the policy admits; the others stay together.
    fn leave_behind<'p>(
        &self,
        mut part: Part<'p>,
        cut: &Cut,
        scratch: &mut Scratch,
    ) -> Result<Result<Vec<Part<'p>>, Part<'p>>> {
        let n_children = cut.starts.len();
        // Where the policy sees rows alone, no record need be moved to know.
        let ends = match self.is_rows_only {
            true => Vec::new(),
            false => part.sort_by_bucket(cut.axis, n_children, bucket_of(&cut.starts)),
        };
        let admits = |part: &Part<'_>, children: &[usize], scratch: &mut Scratch| {
            if self.is_rows_only {
                return self.may_admit_all(&[children.iter().map(|&child| cut.rows[child]).sum()], scratch);
            }
            let range = |&child: &usize| if child == 0 { 0 } else { ends[child - 1] }..ends[child];
            self.admits_together(part, children.iter().map(range), scratch)
        };
        let mut is_kept = Vec::with_capacity(n_children);
        for child in 0..n_children {
            is_kept.push(admits(&part, &[child], scratch)?);
        }
        // Smallest first; of equals the last.
        let mut spare: Vec<usize> = (0..n_children).filter(|&child| is_kept[child]).collect();
        spare.sort_by_key(|&child| (cut.rows[child], n_children - child));
        let mut spare = spare.into_iter();
        while is_kept.contains(&false) {
            let rest: Vec<usize> = (0..n_children).filter(|&child| !is_kept[child]).collect();
            if admits(&part, &rest, scratch)? {
                break;
            }
            match spare.next() {
                Some(child) => is_kept[child] = false,
                None => break,
            }
        }
        if !is_kept.contains(&true) {
            return Ok(Err(part));
        }
        // Children that stay behind come last.
        let mut n_kept = 0;
        let buckets: Vec<usize> = is_kept
            .iter()
            .map(|is_kept| {
                n_kept += usize::from(*is_kept);
                if *is_kept { n_kept - 1 } else { usize::MAX }
            })
            .collect();
        let of_position = bucket_of(&cut.starts);
        let n_buckets = n_kept + usize::from(n_kept < n_children);
        let ends =
            part.sort_by_bucket(cut.axis, n_buckets, |position| buckets[of_position(position)].min(n_kept));
        Ok(Ok(part.split_at_all(&ends)))
    }

    /// The cut that gains most, of those that the policy admits.
    fn best_cut<'p>(
        &self,
        part: Part<'p>,
        extents: &[(u32, u32)],
        gain: Gain,
        scratch: &mut Scratch,
    ) -> Result<Result<Vec<Part<'p>>, Part<'p>>> {
        let mut part = part;
        let mut cuts: Vec<(f64, Cut)> = Vec::new();
        for (at, axis) in self.axes.iter().enumerate().filter(|(at, _)| extents[*at].0 < extents[*at].1) {
            let extent = extents[at];
            scratch.profile(&part, at, extent);
            let total: u64 = scratch.profile.iter().map(|(_, rows)| rows).sum();
            let before = axis.width(extent.0, extent.1) * total as f64;
            // Its parts as (least, greatest, rows).
            let gained = |parts: &mut dyn Iterator<Item = (u32, u32, u64)>| match gain {
                Gain::Loss => {
                    let after: f64 = parts.map(|(a, b, rows)| axis.width(a, b) * rows as f64).sum();
                    self.weights[at] * (before - after)
                }
                Gain::Discernibility => {
                    let square = |rows: u64| rows as f64 * rows as f64;
                    square(total) - parts.map(|(_, _, rows)| square(rows)).sum::<f64>()
                }
            };
            if axis.missing().is_none_or(|missing| extent.1 >= missing) {
                let cut = self.only_cut(at, extent, scratch);
                let profile = &scratch.profile;
                let last = |part: usize| match cut.starts.get(part + 1) {
                    Some(next) => profile[profile.partition_point(|(position, _)| position < next) - 1].0,
                    None => extent.1,
                };
                let mut parts =
                    (0..cut.starts.len()).map(|part| (cut.starts[part], last(part), cut.rows[part]));
                cuts.push((gained(&mut parts), cut));
                continue;
            }
            let mut left = 0;
            for pair in 1..scratch.profile.len() {
                let ((below, rows), (above, _)) = (scratch.profile[pair - 1], scratch.profile[pair]);
                left += rows;
                let rows = vec![left, total - left];
                if self.may_admit_all(&rows, scratch)? {
                    let parts = [(extent.0, below, left), (above, extent.1, total - left)];
                    let cut = Cut { axis: at, starts: vec![extent.0, above], rows };
                    cuts.push((gained(&mut parts.into_iter()), cut));
                }
            }
        }
        // Stable: the first of equals.
        cuts.sort_by(|a, b| b.0.total_cmp(&a.0));
        let most = if self.is_rows_only { usize::MAX } else { MOST_TRIES };
        for (_, cut) in cuts.iter().take(most) {
            part = match self.try_cut(part, cut, scratch)? {
                Err(part) => part,
                made => return Ok(made),
            };
        }
        Ok(Err(part))
    }
}

/// The parts of a cut with their sides.
fn bounded<'a>(mut parts: Vec<Part<'a>>, cut: &Cut) -> Vec<Part<'a>> {
    let n_parts = parts.len();
    for (number, part) in parts.iter_mut().enumerate() {
        let side = &mut part.sides[cut.axis];
        if number > 0 {
            side.0 = cut.starts[number];
        }
        if number + 1 < n_parts {
            side.1 = cut.starts[number + 1];
        }
    }
    parts
}
