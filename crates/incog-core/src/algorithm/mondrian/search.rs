//! From all records to boxes: what is left out, which part is next, when it is finished, and what the policy admits.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use rayon::Scope;

use crate::algorithm::mondrian::cut::Extents;
use crate::algorithm::mondrian::part::Part;
use crate::algorithm::mondrian::point::Point;
use crate::algorithm::mondrian::scratch::Scratch;
use crate::algorithm::mondrian::{CutChoice, Cuts, Extent};
use crate::algorithm::positions::Axis;
use crate::error::Result;
use crate::frequency::DistinctRecords;
use crate::group::{RowFacts, somebody};
use crate::privacy::Policy;
use crate::progress::Progress;
use crate::recoding::Side;

/// Parts with fewer entries are not worth a task of their own.
const TASK_FROM: usize = 4096;

/// A part that is not cut any more.
pub(super) struct Finished<P> {
    /// The first and last positions of its sides: those of its entries, or those between cuts.
    pub(super) first: P,
    pub(super) last: P,
    /// Where its entries start among all.
    pub(super) from: u32,
    pub(super) n_entries: u32,
}

pub(super) struct Mondrian<'a> {
    pub(super) axes: &'a [Axis<'a>],
    pub(super) weights: Vec<f64>,
    pub(super) policy: &'a Policy,
    pub(super) cells: &'a DistinctRecords,
    pub(super) cuts: Cuts,
    pub(super) choice: CutChoice,
    pub(super) extent: Extent,
    pub(super) progress: &'a Progress,
    pub(super) is_rows_only: bool,
    /// A part of fewer rows is refused.
    pub(super) least: u64,
}

impl Mondrian<'_> {
    /// What is there before the first cut, without what is left out. `None` if that is more than the budget.
    pub(super) fn first_parts<'p, P: Point>(&self, all: Part<'p, P>) -> Result<Option<Vec<Part<'p, P>>>> {
        let mut scratch = Scratch::new(self.policy);
        let mut parts = vec![all];
        for (at, axis) in self.axes.iter().enumerate() {
            let Some(tops) = axis.labels().and_then(<[_]>::last) else { continue };
            let starts: Vec<u32> = (0..tops.len() as u32)
                .filter(|&position| position == 0 || tops[position as usize - 1] != tops[position as usize])
                .collect();
            if starts.len() > 1 {
                for mut part in std::mem::take(&mut parts) {
                    let ends = part.sort_by_starts(at, &starts);
                    part.split(&ends, &mut parts);
                }
            }
        }
        parts.retain(|part| part.len() > 0);
        let may_suppress = !self.policy.compares();
        let mut budget = if may_suppress { self.policy.budget() } else { 0 };
        let mut admitted = Vec::new();
        for part in parts {
            if self.admits(&part, 0..part.len(), &mut scratch)? {
                admitted.push(part);
            } else if part.n_rows <= budget {
                budget -= part.n_rows;
            } else {
                return Ok(None);
            }
        }
        for (at, axis) in self.axes.iter().enumerate() {
            let Some(missing) = axis.missing() else { continue };
            for mut part in std::mem::take(&mut admitted) {
                let (least, greatest) = part.extents();
                if budget == 0 || least.at(at) == missing || greatest.at(at) < missing {
                    admitted.push(part);
                    continue;
                }
                let end = part.sort_below(at, missing);
                let n_missing = part.entries()[end..].iter().map(|entry| u64::from(entry.rows)).sum::<u64>();
                if n_missing > budget
                    || self.admits(&part, end..part.len(), &mut scratch)?
                    || !self.admits(&part, 0..end, &mut scratch)?
                {
                    admitted.push(part);
                    continue;
                }
                budget -= n_missing;
                let ends = [end, part.len()];
                part.split(&ends, &mut admitted);
                // Those with the missing value.
                admitted.pop();
            }
        }
        Ok(Some(admitted))
    }

    /// One task: a part and all that comes from it, except what is large enough for tasks of its own.
    pub(super) fn work<'scope, P: Point>(
        &'scope self,
        scope: &Scope<'scope>,
        part: Part<'scope, P>,
        finished: &'scope Mutex<Result<Vec<Finished<P>>>>,
    ) {
        let mut done = Vec::new();
        let result = self.descend(part, &mut done, |part| {
            scope.spawn(|scope| self.work(scope, part, finished));
        });
        let mut finished = finished.lock().unwrap_or_else(PoisonError::into_inner);
        match (result, &mut *finished) {
            (Ok(()), Ok(all)) => all.append(&mut done),
            (Err(error), all @ Ok(_)) => *all = Err(error),
            (_, Err(_)) => {}
        }
    }

    fn descend<'p, P: Point>(
        &self,
        part: Part<'p, P>,
        done: &mut Vec<Finished<P>>,
        spawn: impl Fn(Part<'p, P>),
    ) -> Result<()> {
        let mut scratch = Scratch::new(self.policy);
        let mut waiting = vec![part];
        while let Some(mut part) = waiting.pop() {
            self.progress.check()?;
            let (least, greatest) = part.extents();
            let extents = Extents { least, greatest };
            // Without a missing value the rest of an ordered domain is in order.
            for (at, axis) in self.axes.iter().enumerate() {
                let Some(missing) = axis.missing() else { continue };
                let (least, greatest) = extents.at(at);
                if least == missing {
                    part.first.set(at, missing);
                } else if greatest < missing {
                    part.last.set(at, part.last.at(at).min(missing - 1));
                }
            }
            let n_before = waiting.len();
            // Most parts end here: of two parts, one would be too small.
            let uncut = if part.n_rows < self.least.saturating_mul(2) {
                Some(part)
            } else {
                self.cut(part, &extents, &mut scratch, &mut waiting)?
            };
            if let Some(part) = uncut {
                done.push(self.finished(part, &extents));
                continue;
            }
            for at in (n_before..waiting.len()).rev() {
                if waiting[at].len() >= TASK_FROM {
                    spawn(waiting.swap_remove(at));
                }
            }
        }
        Ok(())
    }

    fn finished<P: Point>(&self, part: Part<'_, P>, extents: &Extents<P>) -> Finished<P> {
        let (from, n_entries) = (part.from as u32, part.len() as u32);
        let Part { mut first, mut last, .. } = part;
        for at in (0..self.axes.len()).filter(|&at| self.is_tight(at)) {
            let (least, greatest) = extents.at(at);
            first.set(at, least);
            last.set(at, greatest);
        }
        Finished { first, last, from, n_entries }
    }

    /// Do sides in this attribute reach no further than the records?
    fn is_tight(&self, at: usize) -> bool {
        self.extent == Extent::Tight || self.axes[at].missing().is_none()
    }

    /// The side of a finished part in one attribute.
    pub(super) fn side<P: Point>(&self, part: &Finished<P>, at: usize) -> Side {
        let (axis, first, last) = (&self.axes[at], part.first.at(at), part.last.at(at));
        if self.is_tight(at) { axis.tight_side(first, last) } else { axis.covering_side(first, last + 1) }
    }

    /// Does the policy admit some entries of a part?
    pub(super) fn admits<P: Point>(
        &self,
        part: &Part<'_, P>,
        entries: Range<usize>,
        scratch: &mut Scratch,
    ) -> Result<bool> {
        self.admits_together(part, std::iter::once(entries), scratch)
    }

    pub(super) fn admits_together<P: Point>(
        &self,
        part: &Part<'_, P>,
        entries: impl Iterator<Item = Range<usize>>,
        scratch: &mut Scratch,
    ) -> Result<bool> {
        scratch.group.clear();
        for entry in entries.flat_map(|range| &part.entries()[range]) {
            scratch.sensitive.clear();
            let cell = entry.cell as usize;
            scratch.sensitive.extend(self.cells.sensitive.iter().map(|codes| codes[cell]));
            let person = self.cells.persons.as_ref().and_then(|persons| somebody(persons[cell]));
            scratch.group.push(RowFacts { person, sensitive: &scratch.sensitive }, u64::from(entry.rows));
        }
        scratch.group.settle();
        self.policy.admits(scratch.group.group())
    }
}
