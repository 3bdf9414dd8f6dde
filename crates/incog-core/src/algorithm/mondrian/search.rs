//! From all records to boxes: what is left out, which part is next, when it is finished, and what the policy admits.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use rayon::Scope;

use crate::algorithm::mondrian::part::{Part, divide};
use crate::algorithm::mondrian::scratch::Scratch;
use crate::algorithm::mondrian::{Choice, Cuts, Extent};
use crate::algorithm::positions::Axis;
use crate::error::Result;
use crate::frequency::Cells;
use crate::group::RowFacts;
use crate::privacy::Policy;
use crate::recoding::Side;
use crate::watch::Watch;

/// Parts with fewer entries are not worth a task of their own.
const TASK_FROM: usize = 4096;

/// What is finished.
#[derive(Default)]
pub(super) struct Boxes {
    pub(super) sides: Vec<Side>,
    pub(super) entries: Vec<Range<usize>>,
}

pub(super) struct Mondrian<'a> {
    pub(super) axes: &'a [Axis<'a>],
    pub(super) weights: Vec<f64>,
    pub(super) policy: &'a Policy,
    pub(super) cells: &'a Cells,
    pub(super) cuts: Cuts,
    pub(super) choice: Choice,
    pub(super) extent: Extent,
    pub(super) watch: &'a Watch,
    pub(super) is_rows_only: bool,
    /// A part of fewer rows is refused.
    pub(super) least: u64,
    /// The part of the policy that sees the number of rows alone, if there is one.
    pub(super) k_only: Option<Policy>,
}

impl<'a> Mondrian<'a> {
    /// What is there before the first cut, without what is left out. `None` if that is more than the budget.
    pub(super) fn first_parts(&self, all: Part<'a>) -> Result<Option<Vec<Part<'a>>>> {
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
    pub(super) fn work<'scope>(
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

    pub(super) fn descend<'p>(
        &self,
        part: Part<'p>,
        done: &mut Boxes,
        spawn: impl Fn(Part<'p>),
    ) -> Result<()> {
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

    /// Does the policy admit some entries of a part?
    pub(super) fn admits(
        &self,
        part: &Part<'_>,
        entries: Range<usize>,
        scratch: &mut Scratch,
    ) -> Result<bool> {
        self.admits_together(part, std::iter::once(entries), scratch)
    }

    pub(super) fn admits_together(
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
