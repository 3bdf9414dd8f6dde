//! Judging one node by intersections that are not kept.
//!
//! Depth-first over the attributes, few labels first: the intersection of the first ones serves all labels of the next,
//! and whatever lies below an empty one is skipped. A set with few records is not intersected with every label: each of
//! its records is looked up instead. Or, to measure that alone, afresh for every combination of labels by AND (the paper's
//! 1-level).
//!
//! Cost: an AND reads n / 8 bytes of both sets, a look-up is a few nanoseconds; whichever is less for a set is done.
//! Memory: bits and a list per attribute, made once per judge.

use incog_kernels::Bits;

use super::codes::Codes;
use super::index::Labelled;
use super::records::{Records, in_both};
use super::sensitive::Sensitive;
use super::{Operations, Stop};
use crate::error::Error;
use crate::judge::tuning;
use crate::privacy::Policy;

/// One attribute of a node.
#[derive(Clone, Copy)]
pub(super) struct Dimension<'a> {
    /// The labels at the node's level, the rarest first.
    pub(super) labels: &'a [Labelled],
    /// The code of each record.
    pub(super) codes: &'a Codes,
    /// The label of each code at the node's level.
    pub(super) up: &'a [u32],
    /// All labels are below this.
    pub(super) end: usize,
}

/// The judgement of one node.
pub(super) struct Walk<'a> {
    /// The fewest rows of a group that the policy admits.
    pub(super) least: u64,
    pub(super) budget: u64,
    pub(super) stop: Stop,
    /// Rows of refused groups so far.
    pub(super) refused: u64,
    pub(super) operations: Operations,
    /// What the policy asks of a group beyond its rows, if anything.
    pub(super) beyond: Option<(&'a Policy, &'a Sensitive)>,
    /// Why the policy could not judge a group.
    pub(super) error: Option<Error>,
}

/// Memory for one attribute's intersections.
#[derive(Debug, Default)]
pub(super) struct Buffer {
    bits: Option<Bits>,
    list: Vec<u32>,
    /// How many records each label has; all 0 between uses.
    counts: Vec<u32>,
    labels: Vec<u32>,
}

/// Some records, wherever they are.
#[derive(Clone, Copy)]
pub(super) enum View<'a> {
    Bits(&'a Bits, u64),
    List(&'a [u32]),
}

impl<'a> View<'a> {
    pub(super) fn of(records: &'a Records) -> Self {
        match records {
            Records::Bits { bits, count } => View::Bits(bits, *count),
            Records::List(list) => View::List(list),
        }
    }

    pub(super) fn count(self) -> u64 {
        match self {
            View::Bits(_, count) => count,
            View::List(list) => list.len() as u64,
        }
    }

    /// Is looking up each record cheaper than intersecting with `n_labels`?
    pub(super) fn is_small_for(self, n_labels: usize) -> bool {
        match self {
            View::List(_) => true,
            View::Bits(bits, count) => {
                let n_lines = bits.n_bytes() / 64 * n_labels.saturating_sub(1);
                (count as f64) < n_lines as f64 * tuning::LOOKED_UP_PER_LINE.get()
            }
        }
    }
}

impl Walk<'_> {
    /// One group more. Says whether to go on.
    pub(super) fn group(&mut self, rows: u64) -> bool {
        if rows < self.least {
            self.refused += rows;
        }
        self.stop == Stop::AtTheEnd || self.refused <= self.budget
    }

    /// The same for a group whose records are known. No records are no group.
    pub(super) fn set(&mut self, set: View<'_>) -> bool {
        let rows = set.count();
        let Some((policy, sensitive)) = self.beyond.filter(|_| rows >= self.least) else {
            return self.group(rows);
        };
        match sensitive.admits(policy, set, &mut self.operations) {
            Ok(true) => true,
            Ok(false) => {
                self.refused += rows;
                self.stop == Stop::AtTheEnd || self.refused <= self.budget
            }
            Err(error) => {
                self.error = Some(error);
                false
            }
        }
    }

    /// Is the node within the budget?
    pub(super) fn holds(&self) -> bool {
        self.refused <= self.budget
    }

    /// All groups of the attributes. Says whether to go on.
    pub(super) fn descend(&mut self, attributes: &[Dimension<'_>], buffers: &mut Vec<Buffer>) -> bool {
        buffers.resize_with(buffers.len().max(attributes.len()), Buffer::default);
        let [first, rest @ ..] = attributes else {
            return true;
        };
        first.labels.iter().all(|label| {
            self.operations.counts += 1;
            let count = label.set.count();
            // Whatever is in it is too small too.
            if count < self.least {
                return self.group(count);
            }
            match rest {
                [] => self.set(View::of(&label.set)),
                _ => self.below(View::of(&label.set), rest, buffers),
            }
        })
    }

    /// All groups within a set of records, which is large enough.
    fn below(&mut self, set: View<'_>, attributes: &[Dimension<'_>], buffers: &mut [Buffer]) -> bool {
        let ([first, rest @ ..], [buffer, buffers @ ..]) = (attributes, buffers) else {
            return true;
        };
        if set.is_small_for(first.labels.len()) {
            self.operations.look_ups += set.count();
            return if rest.is_empty() && self.beyond.is_none() {
                self.count_by_label(set, first, buffer)
            } else {
                self.split_by_label(set, first, rest, buffer, buffers)
            };
        }
        // Groups do not overlap: what is left when all labels but one are counted is that one's.
        let mut left = set.count();
        let last = first.labels.len() - 1;
        first.labels.iter().enumerate().all(|(at, label)| {
            if left == 0 {
                return true;
            }
            if rest.is_empty() && self.beyond.is_none() {
                if at == last {
                    return self.group(left);
                }
                self.operations.ands += 1;
                self.operations.counts += 1;
                let count = and_count(set, View::of(&label.set));
                left -= count;
                return self.group(count);
            }
            self.operations.ands += 1;
            self.operations.counts += 1;
            let both = and(set, View::of(&label.set), &mut buffer.bits, &mut buffer.list);
            let count = both.count();
            left -= count;
            match count {
                0 => true,
                count if count < self.least => self.group(count),
                _ if rest.is_empty() => self.set(both),
                _ => self.below(both, rest, buffers),
            }
        })
    }

    /// The groups of a small set by its last attribute.
    fn count_by_label(&mut self, set: View<'_>, attribute: &Dimension<'_>, buffer: &mut Buffer) -> bool {
        tally(set, attribute, buffer);
        let mut goes_on = true;
        for &label in &buffer.labels {
            let count = std::mem::take(&mut buffer.counts[label as usize]);
            goes_on = goes_on && self.group(u64::from(count));
        }
        goes_on
    }

    /// The groups of a small set by an attribute and those after it.
    fn split_by_label(
        &mut self,
        set: View<'_>,
        attribute: &Dimension<'_>,
        rest: &[Dimension<'_>],
        buffer: &mut Buffer,
        buffers: &mut [Buffer],
    ) -> bool {
        tally(set, attribute, buffer);
        let Buffer { list, counts, labels, .. } = buffer;
        // Each label's records come together: `counts` says where the next one goes.
        let mut next = 0;
        for &label in labels.iter() {
            next += std::mem::replace(&mut counts[label as usize], next);
        }
        list.clear();
        list.resize(next as usize, 0);
        look_up(set, attribute, |record, label| {
            let at = &mut counts[label as usize];
            list[*at as usize] = record;
            *at += 1;
        });
        let mut start = 0;
        let mut goes_on = true;
        for &label in labels.iter() {
            let end = std::mem::take(&mut counts[label as usize]) as usize;
            let part = &list[start..end];
            start = end;
            goes_on = goes_on
                && if (part.len() as u64) < self.least {
                    self.group(part.len() as u64)
                } else if rest.is_empty() {
                    self.set(View::List(part))
                } else {
                    self.below(View::List(part), rest, buffers)
                };
        }
        goes_on
    }

    /// Every combination of labels, intersected from single attributes.
    pub(super) fn afresh<'r>(
        &mut self,
        attributes: &[Dimension<'r>],
        chosen: &mut Vec<&'r Records>,
        buffers: &mut Vec<Buffer>,
    ) -> bool {
        if let [first, rest @ ..] = attributes {
            return first.labels.iter().all(|label| {
                chosen.push(&label.set);
                let goes_on = self.afresh(rest, chosen, buffers);
                chosen.pop();
                goes_on
            });
        }
        let [first, rest @ ..] = chosen.as_slice() else {
            return true;
        };
        buffers.resize_with(buffers.len().max(rest.len()), Buffer::default);
        self.operations.counts += 1;
        self.operations.ands += rest.len() as u64;
        if self.beyond.is_none() {
            return self.group(count_in_all(View::of(first), rest, buffers));
        }
        let set = in_all(View::of(first), rest, buffers);
        // No records are no group.
        set.count() == 0 || self.set(set)
    }
}

/// The records in all sets.
fn in_all<'b>(set: View<'b>, rest: &[&Records], buffers: &'b mut [Buffer]) -> View<'b> {
    match (rest, buffers) {
        ([next, rest @ ..], [buffer, buffers @ ..]) => {
            let both = and(set, View::of(next), &mut buffer.bits, &mut buffer.list);
            in_all(both, rest, buffers)
        }
        _ => set,
    }
}

/// How many records are in all sets.
fn count_in_all(set: View<'_>, rest: &[&Records], buffers: &mut [Buffer]) -> u64 {
    match (rest, buffers) {
        ([last], _) => and_count(set, View::of(last)),
        ([next, rest @ ..], [buffer, buffers @ ..]) => {
            let both = and(set, View::of(next), &mut buffer.bits, &mut buffer.list);
            count_in_all(both, rest, buffers)
        }
        _ => set.count(),
    }
}

pub(super) fn and_count(a: View<'_>, b: View<'_>) -> u64 {
    match (a, b) {
        (View::Bits(a, _), View::Bits(b, _)) => a.and_count(b),
        (View::Bits(bits, _), View::List(list)) | (View::List(list), View::Bits(bits, _)) => {
            list.iter().map(|&record| u64::from(bits.contains(record as usize))).sum()
        }
        (View::List(a), View::List(b)) => in_both(a, b).count() as u64,
    }
}

/// The records in both sets.
fn and<'b>(a: View<'_>, b: View<'_>, bits: &'b mut Option<Bits>, list: &'b mut Vec<u32>) -> View<'b> {
    list.clear();
    match (a, b) {
        (View::Bits(a, _), View::Bits(b, _)) => {
            let bits = bits.get_or_insert_with(|| Bits::none(a.n_records()));
            let count = a.and(b, bits);
            View::Bits(bits, count)
        }
        (View::Bits(bits, _), View::List(records)) | (View::List(records), View::Bits(bits, _)) => {
            list.extend(records.iter().copied().filter(|&record| bits.contains(record as usize)));
            View::List(list)
        }
        (View::List(a), View::List(b)) => {
            list.extend(in_both(a, b));
            View::List(list)
        }
    }
}

/// The same with the memory of one attribute.
pub(super) fn intersect<'b>(a: View<'_>, b: View<'_>, buffer: &'b mut Buffer) -> View<'b> {
    and(a, b, &mut buffer.bits, &mut buffer.list)
}

fn look_up(set: View<'_>, attribute: &Dimension<'_>, mut each: impl FnMut(u32, u32)) {
    let to_label = |record: u32, code: u32| each(record, attribute.up[code as usize]);
    match set {
        View::Bits(bits, _) => attribute.codes.look_up_bits(bits, to_label),
        View::List(list) => attribute.codes.look_up(list, to_label),
    }
}

/// Counts the records of each label, and lists the labels that occur.
fn tally(set: View<'_>, attribute: &Dimension<'_>, buffer: &mut Buffer) {
    let Buffer { counts, labels, .. } = buffer;
    // Nothing here may take a step per label: there are small sets by the thousand, each for labels by the thousand.
    counts.resize(counts.len().max(attribute.end), 0);
    labels.clear();
    look_up(set, attribute, |_, label| {
        let count = &mut counts[label as usize];
        if *count == 0 {
            labels.push(label);
        }
        *count += 1;
    });
}
