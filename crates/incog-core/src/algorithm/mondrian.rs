//! Boxes by recursive cuts (Mondrian: LeFevre, DeWitt, Ramakrishnan: Mondrian multidimensional k-anonymity, ICDE 2006).
//!
//! *Promise*: the policy admits the records of every box, and no box could be cut further in the way asked for (but relaxed
//! boxes that come to have equal sides are one, and that is not cut again). Boxes of [`Cuts::Strict`] are disjoint. Boxes of [`Cuts::Relaxed`] may touch: ordered sides of two boxes may share the slot in
//! which records were divided, and a label may stand beside a label below it. With [`Extent::Covering`] a side reaches from
//! one cut to the next; where all attributes are ordered and nothing is missing, strict boxes then cover the domain.
//!
//! 1. Start with all records (or one part for each combination of top labels, where hierarchies have several).
//! 2. *Which attribute*: the one in which the part is widest, by the loss of the narrowest side around it times the
//!    attribute's weight; then the first.
//! 3. *Where*: an ordered attribute before or after the median value, whichever is more even, else the other. Relaxed:
//!    if no attribute can be cut like that, in the very middle, through records of equal values. A missing value is cut off first. A hierarchy: into the
//!    children of the lowest label that all records share. Relaxed: children that the policy refuses stay behind at that
//!    label, with as many of the smallest others as they need.
//! 4. A cut is made if the policy admits all parts; otherwise the next attribute is tried.
//!
//! [`Choice::Best`] replaces 2 and 3: of all cuts of all attributes the one that gains most, of those that the policy
//! admits. The gain of a cut is what it takes off the metric in its own attribute.
//!
//! Differs from the paper: (1) any policy that is closed under merging, each part being judged by itself; (2) cuts are on
//! multiples of a step, and labels do not show extremes (see [`Domain`](crate::recoding::Domain)); (3) both cuts beside the
//! median value are tried; (4) relaxed cuts of hierarchies; (5) records of equal values are divided only where no other
//! cut can be made: that leaves sides that touch, and where half of the records have one value, sides as wide as before. Sound because only admitted parts are kept, and boxes that
//! come to have equal sides are admitted together.
//!
//! Suppression: parts refused at the very start are left out if the budget allows, and then so are the records with a
//! missing value of an ordered attribute, where these alone would be refused (otherwise the attribute could not be cut
//! in the part that has them). Never under a policy that compares with all rows, since leaving rows out changes these.
//!
//! Cost: a pass over the records of a part for each cut and a pass over their values in each attribute tried, so about
//! n · attributes · log(n / k) where cuts are even. Memory: a number a record and attribute, which are moved in place.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use rayon::Scope;

use crate::algorithm::found::{Found, Quality};
use crate::algorithm::positions::{Axis, Positions, checked_weights, least_admitted};
use crate::check::Problem;
use crate::error::Result;
use crate::frequency::Cells;
use crate::group::{ChangingGroup, Demand, RowFacts};
use crate::hierarchy::Attributes;
use crate::privacy::Policy;
use crate::recoding::{Domains, PerBox, Side};
use crate::watch::Watch;

/// Whether records with equal values may be divided.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Cuts {
    /// Never: boxes are disjoint.
    #[default]
    Strict,
    /// They may: boxes may touch.
    Relaxed,
}

/// Which cut is made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Choice {
    /// At the median of the widest attribute.
    #[default]
    Median,
    /// The one that gains most.
    Best(Gain),
}

/// What a cut is to lower.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gain {
    /// LM.
    Loss,
    /// DM.
    Discernibility,
}

/// How far the sides of a box in ordered attributes reach. Sides in hierarchies are lowest common labels.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Extent {
    /// From cut to cut.
    #[default]
    Covering,
    /// No further than the records of the box, rounded outward to the step: less loss. A step as fine as the data then
    /// tells the least and greatest value of every box.
    Tight,
}

/// How to cut.
#[derive(Debug, Clone, Default)]
pub struct MondrianOptions {
    /// The order of each attribute's values; `None` where the hierarchy is used.
    pub domains: Domains,
    /// Strict or relaxed.
    pub cuts: Cuts,
    /// Which cut is made.
    pub choice: Choice,
    /// How far sides reach.
    pub extent: Extent,
    /// What the width of each attribute counts; all alike where empty.
    pub weights: Vec<f64>,
}

/// Parts with fewer entries are not worth a task of their own.
const TASK_FROM: usize = 4096;

/// So many of the best cuts are judged where judging one is a pass over the records.
const MOST_TRIES: usize = 64;

/// Puts the records into boxes.
///
/// `None` if the policy refuses more rows than its budget before anything is cut. Fails when the policy is not closed under
/// merging, when the source has counts only, or when the watch is cancelled.
pub fn mondrian(
    problem: Problem<'_>,
    attributes: &Attributes,
    options: MondrianOptions,
    watch: &Watch,
) -> Result<Option<Found<PerBox>>> {
    let MondrianOptions { domains, cuts, choice, extent, weights } = options;
    let weights = checked_weights(&weights, attributes.len())?;
    let Positions { axes, mut cells } = Positions::new(problem, attributes, &domains, "mondrian")?;
    let n_axes = axes.len();
    let mut keys = std::mem::take(&mut cells.labels);
    // A relaxed cut may divide a cell, so there every record is an entry.
    let (mut ids, mut rows): (Vec<u32>, Vec<u32>) = match cuts {
        Cuts::Strict => ((0..cells.rows.len() as u32).collect(), cells.rows.clone()),
        Cuts::Relaxed => {
            let of_record = cells.of_record.iter();
            keys = of_record.flat_map(|&cell| &keys[cell as usize * n_axes..][..n_axes]).copied().collect();
            ((0..cells.of_record.len() as u32).collect(), vec![1; cells.of_record.len()])
        }
    };
    let search = Mondrian {
        axes: &axes,
        weights,
        policy: problem.policy,
        cells: &cells,
        cuts,
        choice,
        extent,
        watch,
        is_rows_only: problem.policy.demand().is_rows_only(),
        least: least_admitted(problem.policy, problem.source.n_rows())?,
        k_only: problem.policy.k_only().filter(|policy| policy.demand().is_rows_only()),
    };
    let all = Part {
        keys: &mut keys,
        ids: &mut ids,
        rows: &mut rows,
        from: 0,
        sides: axes.iter().map(|axis| (0, axis.n_positions())).collect(),
    };
    let Some(parts) = search.first_parts(all)? else { return Ok(None) };
    let boxes = Mutex::new(Ok(Boxes::default()));
    rayon::scope(|scope| {
        for part in parts {
            scope.spawn(|scope| search.work(scope, part, &boxes));
        }
    });
    let boxes = boxes.into_inner().unwrap_or_else(PoisonError::into_inner)?;
    drop((keys, rows));

    let mut of_entry = vec![None; ids.len()];
    for (number, entries) in (0..).zip(boxes.entries) {
        for &id in &ids[entries] {
            of_entry[id as usize] = Some(number);
        }
    }
    drop(ids);
    let recoding = match cuts {
        Cuts::Strict => {
            let of_record = cells.of_record.iter().map(|&cell| of_entry[cell as usize]);
            PerBox::new(domains.clone(), &boxes.sides, of_record)?
        }
        Cuts::Relaxed => PerBox::new(domains.clone(), &boxes.sides, of_entry)?,
    };
    Ok(Some(Found { recoding, quality: Quality::Heuristic }))
}

/// Entries that are in one box so far: some in a row.
struct Part<'a> {
    /// The positions of each entry.
    keys: &'a mut [u32],
    /// The cell of each entry; the record where cuts are relaxed.
    ids: &'a mut [u32],
    /// How many records each entry is.
    rows: &'a mut [u32],
    /// Where the entries start among all.
    from: usize,
    /// For each attribute the positions between cuts: start, and end that does not belong to it any more.
    sides: Box<[(u32, u32)]>,
}

/// A cut that can be tried.
struct Cut {
    axis: usize,
    /// The first position of each part.
    starts: Vec<u32>,
    /// How many records each part has.
    rows: Vec<u64>,
}

/// What is finished.
#[derive(Default)]
struct Boxes {
    sides: Vec<Side>,
    entries: Vec<Range<usize>>,
}

/// Memory that one task uses again and again.
struct Scratch {
    counts: Vec<u64>,
    /// The positions of a part in one attribute with their records, ascending.
    profile: Vec<(u32, u64)>,
    sensitive: Vec<u32>,
    /// What the policy sees.
    group: ChangingGroup,
    /// The same of rows alone.
    counted: ChangingGroup,
}

struct Mondrian<'a> {
    axes: &'a [Axis<'a>],
    weights: Vec<f64>,
    policy: &'a Policy,
    cells: &'a Cells,
    cuts: Cuts,
    choice: Choice,
    extent: Extent,
    watch: &'a Watch,
    is_rows_only: bool,
    /// A part of fewer rows is refused.
    least: u64,
    /// The part of the policy that sees the number of rows alone, if there is one.
    k_only: Option<Policy>,
}

impl<'a> Part<'a> {
    fn len(&self) -> usize {
        self.ids.len()
    }

    /// The positions of all entries in one attribute, with the number of records.
    fn positions(&self, axis: usize) -> impl Iterator<Item = (u32, u32)> {
        let n_axes = self.sides.len();
        self.keys.iter().skip(axis).step_by(n_axes).copied().zip(self.rows.iter().copied())
    }

    /// The least and greatest position in each attribute.
    fn extents(&self) -> Vec<(u32, u32)> {
        let mut extents = vec![(u32::MAX, 0); self.sides.len()];
        for keys in self.keys.chunks_exact(self.sides.len()) {
            for ((least, greatest), &key) in extents.iter_mut().zip(keys) {
                *least = key.min(*least);
                *greatest = key.max(*greatest);
            }
        }
        extents
    }

    fn swap(&mut self, a: usize, b: usize) {
        let n_axes = self.sides.len();
        self.ids.swap(a, b);
        self.rows.swap(a, b);
        let (low, high) = self.keys.split_at_mut(a.max(b) * n_axes);
        low[a.min(b) * n_axes..][..n_axes].swap_with_slice(&mut high[..n_axes]);
    }

    /// Moves the entries of each bucket together, in place (American flag sort); says where each bucket ends.
    fn sort_by_bucket(&mut self, axis: usize, n_buckets: usize, bucket: impl Fn(u32) -> usize) -> Vec<usize> {
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
    fn split_at(self, at: usize) -> (Part<'a>, Part<'a>) {
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
    fn split_at_all(self, ends: &[usize]) -> Vec<Part<'a>> {
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

impl<'a> Mondrian<'a> {
    /// What is there before the first cut, without what is left out. `None` if that is more than the budget.
    fn first_parts(&self, all: Part<'a>) -> Result<Option<Vec<Part<'a>>>> {
        let mut scratch = Scratch::new(self.policy);
        let mut parts = vec![all];
        for (at, axis) in self.axes.iter().enumerate() {
            let Some(tops) = axis.labels().and_then(<[_]>::last) else { continue };
            let starts: Vec<u32> = (0..tops.len() as u32)
                .filter(|&position| position == 0 || tops[position as usize - 1] != tops[position as usize])
                .collect();
            if starts.len() > 1 {
                parts = parts.into_iter().flat_map(|part| divide(part, at, &starts)).collect();
            }
        }
        parts.retain(|part| part.len() > 0);
        let may_suppress = !self.policy.compares();
        let mut budget = if may_suppress { self.policy.budget() } else { 0 };
        let n_rows = |part: &Part<'_>| part.rows.iter().map(|&rows| u64::from(rows)).sum::<u64>();
        let mut admitted = Vec::new();
        for part in parts {
            if self.admits(&part, 0..part.len(), &mut scratch)? {
                admitted.push(part);
            } else if n_rows(&part) <= budget {
                budget -= n_rows(&part);
            } else {
                return Ok(None);
            }
        }
        for (at, axis) in self.axes.iter().enumerate() {
            let Some(missing) = axis.missing() else { continue };
            let before = std::mem::take(&mut admitted);
            for mut part in before {
                let (least, greatest) = part.extents()[at];
                if budget == 0 || least == missing || greatest < missing {
                    admitted.push(part);
                    continue;
                }
                let ends = part.sort_by_bucket(at, 2, |position| usize::from(position == missing));
                let n_missing = part.rows[ends[0]..].iter().map(|&rows| u64::from(rows)).sum::<u64>();
                if n_missing > budget
                    || self.admits(&part, ends[0]..ends[1], &mut scratch)?
                    || !self.admits(&part, 0..ends[0], &mut scratch)?
                {
                    admitted.push(part);
                    continue;
                }
                budget -= n_missing;
                admitted.push(part.split_at(ends[0]).0);
            }
        }
        Ok(Some(admitted))
    }

    /// One task: a part and all that comes from it, except what is large enough for tasks of its own.
    fn work<'scope>(
        &'scope self,
        scope: &Scope<'scope>,
        part: Part<'scope>,
        finished: &'scope Mutex<Result<Boxes>>,
    ) {
        let mut done = Boxes::default();
        let result = self.descend(part, &mut done, |part| {
            scope.spawn(|scope| self.work(scope, part, finished));
        });
        let mut finished = finished.lock().unwrap_or_else(PoisonError::into_inner);
        match (result, &mut *finished) {
            (Ok(()), Ok(boxes)) => {
                boxes.sides.extend(done.sides);
                boxes.entries.extend(done.entries);
            }
            (Err(error), all @ Ok(_)) => *all = Err(error),
            (_, Err(_)) => {}
        }
    }

    fn descend<'p>(&self, part: Part<'p>, done: &mut Boxes, spawn: impl Fn(Part<'p>)) -> Result<()> {
        let mut scratch = Scratch::new(self.policy);
        let mut waiting = vec![part];
        while let Some(mut part) = waiting.pop() {
            self.watch.check()?;
            let extents = part.extents();
            // Without a missing value the rest of an ordered domain is in order.
            for ((side, axis), (least, greatest)) in part.sides.iter_mut().zip(self.axes).zip(&extents) {
                match axis.missing() {
                    Some(missing) if *least == missing => *side = (missing, missing + 1),
                    Some(missing) if *greatest < missing => side.1 = side.1.min(missing),
                    _ => {}
                }
            }
            // Most parts end here: of two parts, one would be too small.
            let n_rows: u64 = part.rows.iter().map(|&rows| u64::from(rows)).sum();
            let made = if n_rows < self.least.saturating_mul(2) {
                Err(part)
            } else {
                self.cut(part, &extents, &mut scratch)?
            };
            match made {
                Ok(parts) => {
                    for part in parts {
                        if part.len() >= TASK_FROM { spawn(part) } else { waiting.push(part) }
                    }
                }
                Err(part) => {
                    let sides = self.axes.iter().zip(&part.sides).zip(&extents);
                    done.sides.extend(sides.map(|((axis, side), extent)| match self.extent {
                        Extent::Tight => axis.tight_side(extent.0, extent.1),
                        Extent::Covering if axis.missing().is_none() => axis.tight_side(extent.0, extent.1),
                        Extent::Covering => axis.covering_side(side.0, side.1),
                    }));
                    done.entries.push(part.from..part.from + part.len());
                }
            }
        }
        Ok(())
    }

    /// Cuts a part, or gives it back.
    fn cut<'p>(
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

    /// Does the policy admit some entries of a part?
    fn admits(&self, part: &Part<'_>, entries: Range<usize>, scratch: &mut Scratch) -> Result<bool> {
        self.admits_together(part, std::iter::once(entries), scratch)
    }

    fn admits_together(
        &self,
        part: &Part<'_>,
        entries: impl Iterator<Item = Range<usize>>,
        scratch: &mut Scratch,
    ) -> Result<bool> {
        scratch.group.clear();
        for range in entries {
            if self.is_rows_only {
                let rows = part.rows[range].iter().map(|&rows| u64::from(rows)).sum();
                scratch.group.push(RowFacts { person: None, sensitive: &[] }, rows);
                continue;
            }
            for (&id, &rows) in part.ids[range.clone()].iter().zip(&part.rows[range]) {
                let cell = match self.cuts {
                    Cuts::Strict => id as usize,
                    Cuts::Relaxed => self.cells.of_record[id as usize] as usize,
                };
                scratch.sensitive.clear();
                scratch.sensitive.extend(self.cells.sensitive.iter().map(|codes| codes[cell]));
                let person = self.cells.persons.as_ref().map(|persons| persons[cell]);
                scratch.group.push(RowFacts { person, sensitive: &scratch.sensitive }, u64::from(rows));
            }
        }
        scratch.group.settle();
        self.policy.admits(scratch.group.group())
    }
}

impl Scratch {
    fn new(policy: &Policy) -> Self {
        Scratch {
            counts: Vec::new(),
            profile: Vec::new(),
            sensitive: Vec::new(),
            group: ChangingGroup::new(&policy.demand()),
            counted: ChangingGroup::new(&Demand::default()),
        }
    }

    /// Counts the records at each position of an attribute.
    fn profile(&mut self, part: &Part<'_>, at: usize, (least, greatest): (u32, u32)) {
        let Scratch { counts, profile, .. } = self;
        profile.clear();
        let reach = (greatest - least) as usize + 1;
        if reach <= 4 * part.len() + 64 {
            counts.clear();
            counts.resize(reach, 0);
            for (position, rows) in part.positions(at) {
                counts[(position - least) as usize] += u64::from(rows);
            }
            let counted = (least..).zip(counts.iter().copied());
            profile.extend(counted.filter(|&(_, rows)| rows > 0));
        } else {
            profile.extend(part.positions(at).map(|(position, rows)| (position, u64::from(rows))));
            profile.sort_unstable();
            profile.dedup_by(|later, earlier| {
                let is_same = later.0 == earlier.0;
                if is_same {
                    earlier.1 += later.1;
                }
                is_same
            });
        }
    }
}

/// In which part of a cut a position is.
fn bucket_of(starts: &[u32]) -> impl Fn(u32) -> usize {
    move |position| match starts {
        [_, second] => usize::from(position >= *second),
        _ => starts.partition_point(|&start| start <= position) - 1,
    }
}

/// The entries by the part of a cut that they are in; a part may be empty.
fn divide<'a>(mut part: Part<'a>, axis: usize, starts: &[u32]) -> Vec<Part<'a>> {
    let ends = part.sort_by_bucket(axis, starts.len(), bucket_of(starts));
    part.split_at_all(&ends)
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
