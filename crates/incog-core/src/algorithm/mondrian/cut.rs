//! Where a part can be cut: beside the median, through it, into the children of a label, or where most is gained.

use std::cmp::Ordering;

use crate::algorithm::mondrian::part::Part;
use crate::algorithm::mondrian::point::{PartEntry, Point};
use crate::algorithm::mondrian::scratch::Scratch;
use crate::algorithm::mondrian::search::Mondrian;
use crate::algorithm::mondrian::{CutChoice, Cuts, Gain};
use crate::error::Result;

/// Cuts that are judged, the best first, where judging one is a pass over the records.
const MOST_TRIES: usize = 64;

/// A cut that can be tried.
#[derive(Debug, Default)]
pub(super) struct Cut {
    /// The first position of each part.
    starts: Vec<u32>,
    /// How many records each part has.
    rows: Vec<u64>,
}

impl Cut {
    fn set(&mut self, starts: [u32; 2], rows: [u64; 2]) {
        self.starts.clear();
        self.starts.extend(starts);
        self.rows.clear();
        self.rows.extend(rows);
    }
}

/// A cut that may be the best.
struct Candidate {
    gain: f64,
    axis: usize,
    /// The first position of the second part and the records of the first; none where an attribute has one cut only.
    middle: Option<(u32, u64)>,
}

/// The least and the greatest position in each attribute.
pub(super) struct Extents<P> {
    pub(super) least: P,
    pub(super) greatest: P,
}

impl<P: Point> Extents<P> {
    pub(super) fn at(&self, axis: usize) -> (u32, u32) {
        (self.least.at(axis), self.greatest.at(axis))
    }
}

/// The part, if it was not cut.
type Uncut<'p, P> = Option<Part<'p, P>>;

impl Mondrian<'_> {
    /// Cuts a part into others, or gives it back.
    pub(super) fn cut<'p, P: Point>(
        &self,
        part: Part<'p, P>,
        extents: &Extents<P>,
        scratch: &mut Scratch,
        into: &mut Vec<Part<'p, P>>,
    ) -> Result<Uncut<'p, P>> {
        let mut part = part;
        if let CutChoice::Best(gain) = self.choice {
            part = match self.best_cut(part, extents, gain, scratch, into)? {
                Some(part) if self.cuts == Cuts::Relaxed => part,
                uncut => return Ok(uncut),
            };
        }
        let mut order = std::mem::take(&mut scratch.order);
        order.clear();
        for (at, axis) in self.axes.iter().enumerate() {
            let (least, greatest) = extents.at(at);
            if least < greatest {
                order.push((self.weights[at] * axis.width(least, greatest), at));
            }
        }
        // Of equals the first.
        order.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let uncut = self.cut_in_order(part, &order, extents, scratch, into);
        scratch.order = order;
        uncut
    }

    /// Cuts a part by the first attribute that can be cut.
    fn cut_in_order<'p, P: Point>(
        &self,
        mut part: Part<'p, P>,
        order: &[(f64, usize)],
        extents: &Extents<P>,
        scratch: &mut Scratch,
        into: &mut Vec<Part<'p, P>>,
    ) -> Result<Uncut<'p, P>> {
        for &(_, at) in order {
            scratch.profile(&part, at, extents.at(at));
            let is_in_order =
                self.axes[at].missing().is_some_and(|missing| extents.greatest.at(at) < missing);
            let uncut = if is_in_order {
                self.cut_beside_median(part, at, extents.at(at), scratch, into)?
            } else {
                self.set_only_cut(at, extents.at(at), scratch);
                match self.cuts {
                    Cuts::Relaxed if self.axes[at].labels().is_some() => {
                        self.leave_behind(part, at, scratch, into)?
                    }
                    _ => self.try_cut(part, at, scratch, into)?,
                }
            };
            part = match uncut {
                Some(part) => part,
                None => return Ok(None),
            };
        }
        // Dividing equal records leaves wide sides that touch, so it comes last.
        if self.cuts == Cuts::Relaxed {
            for &(_, at) in order {
                if self.axes[at].missing().is_none_or(|missing| extents.greatest.at(at) >= missing) {
                    continue;
                }
                scratch.profile(&part, at, extents.at(at));
                part = match self.divide_median(part, at, order, scratch, into)? {
                    Some(part) => part,
                    None => return Ok(None),
                };
            }
        }
        Ok(Some(part))
    }

    /// Cuts an ordered attribute, whose profile is in the scratch memory, before or after the median value; the more even
    /// one first.
    fn cut_beside_median<'p, P: Point>(
        &self,
        mut part: Part<'p, P>,
        at: usize,
        extent: (u32, u32),
        scratch: &mut Scratch,
        into: &mut Vec<Part<'p, P>>,
    ) -> Result<Uncut<'p, P>> {
        let total = part.n_rows;
        let mut below = 0;
        let median = scratch.profile.iter().position(|&(_, rows)| {
            below += u64::from(rows);
            2 * below >= total
        });
        let median = median.unwrap_or(0);
        let before = (below - u64::from(scratch.profile[median].1), median);
        let after = (below, median + 1);
        let mut cuts = [before, after];
        let unevenness = |&(left, _): &(u64, usize)| (2 * left).abs_diff(total);
        if unevenness(&after) < unevenness(&before) {
            cuts.swap(0, 1);
        }
        for (left, first) in cuts {
            if left == 0 || left == total {
                continue;
            }
            scratch.cut.set([extent.0, scratch.profile[first].0], [left, total - left]);
            part = match self.try_cut(part, at, scratch, into)? {
                Some(part) => part,
                None => return Ok(None),
            };
        }
        Ok(Some(part))
    }

    /// Sets the cut of a hierarchy into the children of the common label, or that of the missing value from all others.
    fn set_only_cut(&self, at: usize, extent: (u32, u32), scratch: &mut Scratch) {
        let Scratch { cut, profile, .. } = scratch;
        cut.starts.clear();
        cut.rows.clear();
        let axis = &self.axes[at];
        let children = axis
            .labels()
            .zip(axis.common_level(extent.0, extent.1))
            .map(|(labels, level)| &labels[usize::from(level) - 1]);
        let child = |position: u32| match children {
            Some(children) => children[position as usize],
            None => u32::from(axis.missing() == Some(position)),
        };
        let mut before = None;
        for &(position, rows) in &*profile {
            let child = Some(child(position));
            match cut.rows.last_mut() {
                Some(sum) if before == child => *sum += u64::from(rows),
                _ => {
                    cut.starts.push(position);
                    cut.rows.push(u64::from(rows));
                    before = child;
                }
            }
        }
    }

    /// Makes the cut that is set if the policy admits all parts.
    fn try_cut<'p, P: Point>(
        &self,
        mut part: Part<'p, P>,
        at: usize,
        scratch: &mut Scratch,
        into: &mut Vec<Part<'p, P>>,
    ) -> Result<Uncut<'p, P>> {
        if !self.may_admit_all(&scratch.cut.rows) {
            return Ok(Some(part));
        }
        let ends = part.sort_by_starts(at, &scratch.cut.starts);
        if !self.is_rows_only {
            let mut start = 0;
            for &end in &ends {
                if !self.admits(&part, start..end, scratch)? {
                    return Ok(Some(part));
                }
                start = end;
            }
        }
        let n_before = into.len();
        part.split(&ends, into);
        let starts = &scratch.cut.starts;
        for (part, number) in into[n_before..].iter_mut().zip(0..) {
            if number > 0 {
                part.first.set(at, starts[number]);
            }
            if number + 1 < starts.len() {
                part.last.set(at, starts[number + 1] - 1);
            }
        }
        Ok(None)
    }

    /// Could the policy admit parts with these numbers of rows? The last word where it sees nothing but rows.
    fn may_admit_all(&self, rows: &[u64]) -> bool {
        rows.iter().all(|&rows| rows >= self.least)
    }

    /// Divides records in the middle of an ordered attribute, whose profile is in the scratch memory, through equal values
    /// if need be. Those are put in the order of the other attributes before, the widest first.
    fn divide_median<'p, P: Point>(
        &self,
        mut part: Part<'p, P>,
        at: usize,
        order: &[(f64, usize)],
        scratch: &mut Scratch,
        into: &mut Vec<Part<'p, P>>,
    ) -> Result<Uncut<'p, P>> {
        let half = part.n_rows / 2;
        if !self.may_admit_all(&[half, part.n_rows - half]) {
            return Ok(Some(part));
        }
        let mut below = 0;
        let median = scratch.profile.iter().find(|&&(_, rows)| {
            below += u64::from(rows);
            below > half
        });
        let Some(&(median, rows)) = median else { return Ok(Some(part)) };
        below -= u64::from(rows);
        let n_below = part.sort_below(at, median);
        let n_up_to = part.sort_below(at, median + 1);
        debug_assert!(part.entries()[..n_below].iter().all(|entry| entry.place.at(at) < median));
        let toward_low = toward_low(part.entries(), n_below, n_up_to, order);
        part.sort(n_below..n_up_to, |a, b| {
            let places = order.iter().zip(&toward_low).map(|(&(_, axis), toward)| {
                let order = a.place.at(axis).cmp(&b.place.at(axis));
                if *toward == Toward::Higher { order.reverse() } else { order }
            });
            places.chain([a.cell.cmp(&b.cell)]).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
        });
        let middle = part.divide_at_row(half);
        let n_low = middle.n_entries;
        let is_admitted = self.is_rows_only
            || self.admits(&part, 0..n_low, scratch)? && self.admits(&part, n_low..part.len(), scratch)?;
        if !is_admitted {
            part.rejoin(&middle);
            return Ok(Some(part));
        }
        let (n_before, n_entries) = (into.len(), part.len());
        part.split(&[n_low, n_entries], into);
        if let [low, high] = &mut into[n_before..] {
            low.last.set(at, if half > below { median } else { median - 1 });
            high.first.set(at, median);
        }
        Ok(None)
    }

    /// Cuts a hierarchy into those children that the policy admits; the others stay together.
    fn leave_behind<'p, P: Point>(
        &self,
        mut part: Part<'p, P>,
        at: usize,
        scratch: &mut Scratch,
        into: &mut Vec<Part<'p, P>>,
    ) -> Result<Uncut<'p, P>> {
        let cut = std::mem::take(&mut scratch.cut);
        let buckets = self.kept_children(&mut part, at, &cut, scratch);
        let ends = buckets.map(|buckets| {
            let buckets = buckets?;
            let n_buckets = buckets.iter().max().map_or(0, |&last| last + 1);
            Some(part.sort_by_children(at, &cut.starts, n_buckets, |child| buckets[child]))
        });
        scratch.cut = cut;
        let Some(ends) = ends? else { return Ok(Some(part)) };
        part.split(&ends, into);
        Ok(None)
    }

    /// In which part each child of a cut would be if those stay behind that the policy does not admit, which come last;
    /// `None` if all would.
    fn kept_children<P: Point>(
        &self,
        part: &mut Part<'_, P>,
        at: usize,
        cut: &Cut,
        scratch: &mut Scratch,
    ) -> Result<Option<Vec<usize>>> {
        if cut.rows.iter().all(|&rows| rows < self.least) {
            return Ok(None);
        }
        let n_children = cut.starts.len();
        // Where the policy sees rows alone, no record need be moved to know.
        let ends = if self.is_rows_only { Vec::new() } else { part.sort_by_starts(at, &cut.starts) };
        let part = &*part;
        let admits = |children: &mut dyn Iterator<Item = usize>, scratch: &mut Scratch| {
            if self.is_rows_only {
                return Ok(children.map(|child| cut.rows[child]).sum::<u64>() >= self.least);
            }
            let range = |child: usize| if child == 0 { 0 } else { ends[child - 1] }..ends[child];
            self.admits_together(part, children.map(range), scratch)
        };
        let mut is_kept = Vec::with_capacity(n_children);
        for child in 0..n_children {
            is_kept.push(admits(&mut std::iter::once(child), scratch)?);
        }
        // Smallest first; of equals the last.
        let mut spare: Vec<usize> = (0..n_children).filter(|&child| is_kept[child]).collect();
        spare.sort_by_key(|&child| (cut.rows[child], n_children - child));
        let mut spare = spare.into_iter();
        while is_kept.contains(&false) {
            if admits(&mut (0..n_children).filter(|&child| !is_kept[child]), scratch)? {
                break;
            }
            match spare.next() {
                Some(child) => is_kept[child] = false,
                None => break,
            }
        }
        let n_kept = is_kept.iter().filter(|is_kept| **is_kept).count();
        let mut next = 0;
        let bucket = |is_kept: &bool| {
            next += usize::from(*is_kept);
            if *is_kept { next - 1 } else { n_kept }
        };
        Ok((n_kept > 0).then(|| is_kept.iter().map(bucket).collect()))
    }

    /// The cut that gains most, of those that the policy admits.
    fn best_cut<'p, P: Point>(
        &self,
        part: Part<'p, P>,
        extents: &Extents<P>,
        gain: Gain,
        scratch: &mut Scratch,
        into: &mut Vec<Part<'p, P>>,
    ) -> Result<Uncut<'p, P>> {
        let mut part = part;
        let total = part.n_rows;
        let mut candidates: Vec<Candidate> = Vec::new();
        // Where the policy sees rows alone, the best will be admitted.
        let mut add = |candidate: Candidate| match candidates.first_mut() {
            Some(best) if self.is_rows_only => {
                if candidate.gain > best.gain {
                    *best = candidate;
                }
            }
            _ => candidates.push(candidate),
        };
        for (at, axis) in self.axes.iter().enumerate() {
            let extent = extents.at(at);
            if extent.0 == extent.1 {
                continue;
            }
            scratch.profile(&part, at, extent);
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
                self.set_only_cut(at, extent, scratch);
                let Scratch { cut, profile, .. } = &*scratch;
                if !self.may_admit_all(&cut.rows) {
                    continue;
                }
                let last = |part: usize| match cut.starts.get(part + 1) {
                    Some(next) => profile[profile.partition_point(|(position, _)| position < next) - 1].0,
                    None => extent.1,
                };
                let mut parts =
                    (0..cut.starts.len()).map(|part| (cut.starts[part], last(part), cut.rows[part]));
                add(Candidate { gain: gained(&mut parts), axis: at, middle: None });
                continue;
            }
            let mut left = 0;
            for pair in scratch.profile.windows(2) {
                let ((below, rows), (above, _)) = (pair[0], pair[1]);
                left += u64::from(rows);
                if self.may_admit_all(&[left, total - left]) {
                    let parts = [(extent.0, below, left), (above, extent.1, total - left)];
                    let gain = gained(&mut parts.into_iter());
                    add(Candidate { gain, axis: at, middle: Some((above, left)) });
                }
            }
        }
        // Stable: the first of equals.
        candidates.sort_by(|a, b| b.gain.total_cmp(&a.gain));
        for Candidate { axis, middle, .. } in candidates.into_iter().take(MOST_TRIES) {
            match middle {
                Some((start, left)) => {
                    scratch.cut.set([extents.least.at(axis), start], [left, total - left]);
                }
                None => {
                    scratch.profile(&part, axis, extents.at(axis));
                    self.set_only_cut(axis, extents.at(axis), scratch);
                }
            }
            part = match self.try_cut(part, axis, scratch, into)? {
                Some(part) => part,
                None => return Ok(None),
            };
        }
        Ok(Some(part))
    }
}

/// Which positions of an attribute are nearer to the first of two parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Toward {
    Lower,
    Higher,
}

/// For each attribute, which positions the entries before `start` have more than those from `end` on, on average.
fn toward_low<P: Point>(
    entries: &[PartEntry<P>],
    start: usize,
    end: usize,
    order: &[(f64, usize)],
) -> Vec<Toward> {
    let (low, high) = (&entries[..start], &entries[end..]);
    let n_rows = |entries: &[PartEntry<P>]| entries.iter().map(|entry| u128::from(entry.rows)).sum::<u128>();
    let (n_low, n_high) = (n_rows(low), n_rows(high));
    let toward = |&(_, axis): &(f64, usize)| {
        let sum = |entries: &[PartEntry<P>]| -> u128 {
            entries.iter().map(|entry| u128::from(entry.rows) * u128::from(entry.place.at(axis))).sum()
        };
        if sum(low) * n_high > sum(high) * n_low { Toward::Higher } else { Toward::Lower }
    };
    order.iter().map(toward).collect()
}
