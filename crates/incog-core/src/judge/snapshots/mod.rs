//! Groups by merging those of the smallest set kept below a node, wherever that is.
//!
//! For traversals that jump: a node's groups come from whichever set kept so far has the fewest groups among those that lie
//! below it, not only from a direct specialization. What decides the cost is which sets are there.
//!
//! 1. A node is asked about. Take the smallest set kept below it; the records, if there is none.
//! 2. If that set is much finer than the node (by some bits of the key), first make one *halfway*: the node with levels lowered, those
//!    first that cost the fewest bits, by a share of the distance. It will serve the node's neighbours too. Repeat from there.
//!    Where there are many records and none but them below, it is lowered as long as a sample shows few groups: attributes often
//!    follow from others, and then bits say little.
//! 3. Merge, judge. A node that fails is kept if it has clearly fewer groups than what it was made from; one that
//!    holds is kept only if generalizations of such nodes may be asked about.
//!
//! Where the source has counts only, every look at the records is a question to somebody else. So whatever it answers is kept if it
//! is of use, and after [some questions](tuning::FEW_SCANS) all groups at the bottom are asked for: if there is room for them, that is the last one.
//!
//! A source that would rather judge than hand over groups is asked for their sizes first ([`told`]).
//!
//! Where one node is looked for and rows may be suppressed, small sets are judged without making the node's groups, which are
//! hardly ever used again: then there is nothing to keep. But then the search knows what it will ask, and sets are made for that
//! beforehand instead of halfway ([`plan`]).
//!
//! Where the policy is about numbers of rows alone, groups are packed keys with small counters ([`small`]), whatever it is
//! otherwise they are frequency sets with all that it demands ([`general`]). Both are kept in the same way.
//!
//! Differs from what the notes on roll-up say: no set is forgotten because a height was left, only because all of them
//! together have grown too large; then the one goes that was last used longest ago.
//!
//! Cost: one merge a node, linear in the groups of the set taken. Memory: at most twice as many groups as there are records,
//! or some millions; where one node is looked for, not more than four times as many as there are records; and not more than
//! the source has [room](crate::frequency::FrequencySource::room) for.

mod general;
mod node_judge;
mod plan;
mod refused;
mod small;
mod told;

pub(crate) use node_judge::{Forecast, NodeJudge, Sizes, Verdict};
pub use refused::refused_rows;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::error::Result;
use crate::frequency::{FrequencySet, KeyLayout, KeyWidth};
use crate::judge::tuning::{self, Share};
use crate::judge::{Judge, Judges, Keep, Problem, Work};
use crate::lattice::{Grouping, Lattice};
use crate::privacy::Judgement;

use general::General;
use plan::Planning;
use small::Small;
use told::Told;

/// The most groups that are worth keeping of a set made from `n` groups.
fn most_worth_keeping(share: Share, n: usize) -> usize {
    if n < tuning::LARGE.get() { share.take(n) } else { tuning::WORTH_OF_LARGE.get().take(n) }
}

/// How much memory there is for sets and counters, apart from large tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MemoryBudget {
    /// Some tens of megabytes, for searches of all nodes.
    Ample,
    /// About as much as the table takes.
    Scarce,
}

impl MemoryBudget {
    /// How many groups may be kept together.
    fn capacity(self, n_records: usize) -> usize {
        let small = match self {
            MemoryBudget::Ample => tuning::SMALL.get(),
            MemoryBudget::Scarce => tuning::SMALL.get().min(n_records.saturating_mul(4)),
        };
        small.max(n_records.saturating_mul(2))
    }
}

/// Keeps sets of groups.
pub(super) struct Snapshots<'a> {
    pub(super) problem: Problem<'a>,
}

impl Judges for Snapshots<'_> {
    fn open<'a>(&'a self, family: &'a Lattice, _: &[usize], keep: Keep) -> Result<Box<dyn Judge + 'a>> {
        let judge = open(self.problem, family.attributes(), keep, MemoryBudget::Ample, Detail::Verdicts)?;
        Ok(Box::new(InFamily { family, judge }))
    }
}

/// Answers for the nodes of one family by their numbers.
struct InFamily<'a> {
    family: &'a Lattice,
    judge: Box<dyn NodeJudge + 'a>,
}

impl Judge for InFamily<'_> {
    fn judge(&mut self, node: usize) -> Result<bool> {
        Ok(self.judge.verdict(&self.family.grouping(node))?.holds)
    }

    fn work(&self) -> Work {
        self.judge.work()
    }
}

/// What must be known of groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    /// Whether they are admitted.
    Verdicts,
    /// How large they are, too.
    Sizes,
}

/// A judge with the way of counting that suits the policy and the keys.
fn open<'a>(
    problem: Problem<'a>,
    attributes: &[usize],
    keep: Keep,
    room: MemoryBudget,
    counted: Detail,
) -> Result<Box<dyn NodeJudge + 'a>> {
    let n_rows = problem.source.n_rows();
    let least = problem.policy.least_admitted(n_rows)?;
    // Counters stop at the most they can hold.
    let largest = |k: u64| if counted == Detail::Sizes { k.max(n_rows) } else { k };
    let counts_in_bytes = least.is_some_and(|k| largest(k) <= u64::from(u8::MAX));
    let least = least.filter(|&k| largest(k) <= u64::from(u32::MAX));
    let width = problem.source.layout().width();
    let told = Told::of(problem)?;
    let options = JudgeOptions { problem, attributes, keep, room, told };
    Ok(match (width, least) {
        (KeyWidth::U64, Some(k)) if counts_in_bytes => options.judge(Small::<u64, u8>::new(problem, k, room)),
        (KeyWidth::U64, Some(k)) => options.judge(Small::<u64, u32>::new(problem, k, room)),
        (KeyWidth::U128, Some(k)) if counts_in_bytes => {
            options.judge(Small::<u128, u8>::new(problem, k, room))
        }
        (KeyWidth::U128, Some(k)) => options.judge(Small::<u128, u32>::new(problem, k, room)),
        _ => options.judge(General::new(problem)),
    })
}

/// What every judge is opened with, however it counts.
#[derive(Clone, Copy)]
struct JudgeOptions<'a, 'b> {
    problem: Problem<'a>,
    attributes: &'b [usize],
    keep: Keep,
    room: MemoryBudget,
    told: Option<Told>,
}

impl<'a> JudgeOptions<'a, '_> {
    fn judge<G: Groups + 'a>(self, groups: G) -> Box<dyn NodeJudge + 'a> {
        Box::new(SnapshotJudge::new(groups, self))
    }
}

/// A judge of all attributes for the search for one node.
pub(crate) fn node_judge(
    problem: Problem<'_>,
    keep: Keep,
    counted: Detail,
) -> Result<Box<dyn NodeJudge + '_>> {
    // What is to find one node should not take more memory than the table.
    let room = if keep == Keep::Everything { MemoryBudget::Ample } else { MemoryBudget::Scarce };
    let attributes: Vec<usize> = (0..problem.source.layout().heights().len()).collect();
    open(problem, &attributes, keep, room, counted)
}

/// What groups are counted for. It matters where there are more than fit the memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// To be kept: too many cannot be.
    Keeping,
    /// To know whether the node holds: once it is clear that it does not, the rest does not matter.
    Verdict,
    /// To know the sizes of all.
    Sizes,
}

/// A way to count groups.
trait Groups {
    /// Bytes that a kept group takes, about.
    const BYTES_A_GROUP: u64;

    /// Groups that are kept.
    type Set;
    /// What tells whether groups can be made from others.
    type Mask: Copy;

    /// The mask of a grouping.
    fn mask(&self, grouping: &Grouping) -> Self::Mask;
    /// Can groups of the second mask be made from those of the first?
    fn is_finer(kept: Self::Mask, to: Self::Mask) -> bool;

    /// Counts the groups of a grouping from those of a finer one, or from the records.
    fn count(&mut self, from: Option<&Self::Set>, to: &Grouping, purpose: Purpose) -> Result<()>;
    /// About how many groups there are, judging by some of the records. Where those are not at hand: `None`.
    fn estimate(&mut self, to: &Grouping) -> Option<usize>;
    /// Does the node fail by so much that some of its groups show it? Then about how many groups it has. Where that is not
    /// cheap to tell: no.
    fn fails_early(&mut self, from: Option<&Self::Set>, to: &Grouping) -> Result<Option<usize>>;
    /// What the policy says of the groups counted last.
    fn judge(&self) -> Result<Judgement>;
    /// The largest k up to `most` that they satisfy within the policy's budget; `most` is not larger than that policy's k.
    fn largest_k(&self, most: u64) -> u64;
    /// Are groups only told of, where that is enough? Then none are left to be kept.
    fn verdict_only(&self) -> bool {
        false
    }
    /// How many they are.
    fn n_groups(&self) -> usize;
    /// Can they be kept? Not if there were too many for the memory.
    fn are_all_there(&self) -> bool {
        true
    }
    /// Were they all counted? Not if it was clear before that the node fails.
    fn are_all_counted(&self) -> bool {
        true
    }
    /// Those groups, to be kept.
    fn take(&mut self) -> Self::Set;
    /// Those of them that are left out.
    fn refused(&self) -> Result<FrequencySet>;
    /// Their sizes.
    fn sizes(&self, least: u64) -> Result<Sizes>;
}

/// The largest k up to `most` for which groups of fewer have at most `budget` rows together; given pairs of size and rows.
fn largest_k(groups: impl Iterator<Item = (u64, u64)>, budget: u64, most: u64) -> u64 {
    // Only sizes below the end of the range count.
    let mut rows_of_size: Vec<u64> = Vec::new();
    for (size, rows) in groups.filter(|&(size, _)| size < most) {
        let size = size as usize;
        if size >= rows_of_size.len() {
            rows_of_size.resize(size + 1, 0);
        }
        rows_of_size[size] += rows;
    }
    let mut refused = 0;
    for (size, rows) in (0..).zip(rows_of_size) {
        refused += rows;
        if refused > budget {
            // A k of this size still admits the groups of this size.
            return size;
        }
    }
    most
}

struct Snapshot<S> {
    grouping: Grouping,
    n_bits: u32,
    n_groups: usize,
    last_used: u64,
    set: S,
}

/// Judges the nodes of one family.
struct SnapshotJudge<'a, G: Groups> {
    groups: G,
    layout: &'a KeyLayout,
    /// All attributes at their lowest level.
    bottom: Grouping,
    keep: Keep,
    /// How far below a node sets are made.
    halfway: Share,
    /// Those with the fewest groups first.
    kept: Vec<Snapshot<G::Set>>,
    /// The mask of each of them, apart from the rest: some searches look through a thousand.
    masks: Vec<G::Mask>,
    /// Groupings that were made in vain, and how many groups they have: finer ones have no fewer. The most there can be, if they
    /// were too many to be kept.
    not_worth_keeping: Vec<(Grouping, usize)>,
    planning: Planning,
    /// How the source tells of groups that it does not hand over.
    told: Option<Told>,
    problem: Problem<'a>,
    /// Nodes that were judged while sets are yet to be planned, and how many groups they have.
    counted: Vec<(Grouping, usize)>,
    n_records: usize,
    /// Is every look at the records a question to somebody else?
    has_counts_only: bool,
    n_kept: usize,
    capacity: usize,
    work: Work,
}

impl<'a, G: Groups> SnapshotJudge<'a, G> {
    fn new(groups: G, options: JudgeOptions<'a, '_>) -> Self {
        let JudgeOptions { problem, attributes, keep, room, told } = options;
        let mut bottom = Grouping::NOTHING;
        attributes.iter().for_each(|&attribute| bottom.set(attribute, 0));
        let layout = problem.source.layout();
        let n_records = usize::try_from(problem.source.n_rows()).unwrap_or(usize::MAX);
        // Half of the room is for what is kept; the other half for what is being counted.
        let limit = problem.source.room().map_or(u64::MAX, |room| room / 2 / G::BYTES_A_GROUP);
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        SnapshotJudge {
            groups,
            layout,
            bottom,
            keep,
            halfway: if problem.policy.budget() > 0 {
                tuning::HALFWAY_WITH_BUDGET.get()
            } else {
                tuning::HALFWAY.get()
            },
            kept: Vec::new(),
            masks: Vec::new(),
            not_worth_keeping: Vec::new(),
            planning: Planning::NotYet,
            told,
            problem,
            counted: Vec::new(),
            n_records,
            has_counts_only: problem.source.keys().is_none() && problem.source.records().is_none(),
            n_kept: 0,
            capacity: room.capacity(n_records).min(limit),
            work: Work::default(),
        }
    }

    /// The smallest set kept below a grouping.
    fn source(&self, to: &Grouping) -> Option<usize> {
        let mask = self.groups.mask(to);
        self.masks.iter().position(|&kept| G::is_finer(kept, mask))
    }

    /// How many groups and bits a source has.
    fn extent(&self, source: Option<usize>) -> (usize, u32) {
        match source {
            Some(at) => (self.kept[at].n_groups, self.kept[at].n_bits),
            None => (self.n_records, self.layout.n_bits_at(&self.bottom)),
        }
    }

    /// Counts the groups of a grouping from a source.
    fn count(&mut self, source: Option<usize>, to: &Grouping, purpose: Purpose) -> Result<()> {
        self.note(source);
        self.groups.count(source.map(|at| &self.kept[at].set), to, purpose)
    }

    /// Remembers that a source was used.
    fn note(&mut self, source: Option<usize>) {
        match source {
            None => self.work.table_scans += 1,
            Some(at) => {
                self.work.groups_touched += self.kept[at].n_groups as u64;
                self.kept[at].last_used = self.work.table_scans + self.work.nodes_checked;
            }
        }
    }

    /// A source for a node, near enough: made if there is none.
    fn near_source(&mut self, to: &Grouping) -> Result<Option<usize>> {
        // Where the source judges, nothing is fetched that was not asked for.
        if self.planning.is_on() || self.told.is_some() {
            return Ok(self.source(to));
        }
        let n_bits = self.layout.n_bits_at(to);
        loop {
            let source = self.source(to);
            let (n_groups, n_source_bits) = self.extent(source);
            let is_large = n_groups >= tuning::LARGE.get();
            let is_new = self.has_counts_only || self.planning == Planning::NotYet && !is_large;
            if source.is_none() && is_new && self.work.table_scans == tuning::FEW_SCANS.get() {
                // Enough of the records: equal ones as one group from now on, if there are many.
                let bottom = self.bottom;
                self.count(None, &bottom, Purpose::Keeping)?;
                if self.is_worth_it(source, tuning::WORTH_OF_RECORDS.get()) && self.keep_last(bottom) {
                    continue;
                }
            }
            let distance = n_source_bits.saturating_sub(n_bits);
            if distance < tuning::MIN_DISTANCE.get() {
                return Ok(source);
            }
            let most = match source {
                // The records are more than any set: not by hash.
                None => tuning::HALFWAY_DENSE_BITS.get(),
                Some(_) if !is_large => n_groups.max(1).ilog2() + tuning::SPARE_BITS.get(),
                Some(_) => tuning::HALFWAY_DENSE_BITS.get(),
            };
            let halfway = match source {
                _ if is_large => tuning::HALFWAY.get(),
                None => tuning::HALFWAY_FROM_RECORDS.get(),
                Some(_) => self.halfway,
            };
            let limit = (n_bits + halfway.take(distance as usize) as u32).min(most);
            let floor = source.map_or(self.bottom, |at| self.kept[at].grouping);
            let mut halfway = *to;
            if source.is_none() && is_large && self.groups.estimate(to).is_some() {
                halfway = self.far_below(to);
            }
            if halfway == *to || self.is_not_worth_keeping(&halfway, n_groups) {
                halfway = self.lowered(to, &floor, limit);
            }
            let merges_equal_records = source.is_none() && is_large && halfway == floor;
            let is_nothing_new = halfway == *to || (halfway == floor && !merges_equal_records);
            if is_nothing_new || self.is_not_worth_keeping(&halfway, n_groups) {
                return Ok(source);
            }
            self.count(source, &halfway, Purpose::Keeping)?;
            // Each turn either finds a nearer source or rules one out: it ends.
            let n_made = self.groups.n_groups();
            let is_worth_it = self.is_worth_it(source, tuning::WORTH.get());
            if !is_worth_it || !self.keep_last(halfway) {
                let was_counted = !is_worth_it && self.groups.are_all_there();
                self.not_worth_keeping.push((halfway, if was_counted { n_made } else { usize::MAX }));
            }
        }
    }

    /// Is it known that a set would have hardly fewer groups than what it is made from, or too many to be kept?
    fn is_not_worth_keeping(&self, grouping: &Grouping, n_before: usize) -> bool {
        // A try from a small set costs as much as it saves: what was in vain once is not tried again.
        let most = if n_before < tuning::LARGE.get() {
            0
        } else {
            most_worth_keeping(tuning::WORTH.get(), n_before)
        };
        self.not_worth_keeping
            .iter()
            .any(|(not_worth_keeping, n_groups)| *n_groups > most && not_worth_keeping.generalizes(grouping))
    }

    /// A node with levels lowered as long as it has at most `most_bits` bits, those first that add the fewest.
    fn lowered(&self, node: &Grouping, floor: &Grouping, most_bits: u32) -> Grouping {
        let mut lowered = *node;
        let mut n_bits = self.layout.n_bits_at(node);
        loop {
            let mut best: Option<(u32, usize, u8)> = None;
            for (attribute, level) in lowered.iter() {
                if level > floor.level(attribute).unwrap_or(0) {
                    let bits = |level| self.layout.n_bits_of(attribute, level);
                    let added = bits(level - 1) - bits(level);
                    if n_bits + added <= most_bits && best.is_none_or(|(least, ..)| added < least) {
                        best = Some((added, attribute, level - 1));
                    }
                }
            }
            let Some((added, attribute, level)) = best else {
                return lowered;
            };
            lowered.set(attribute, level);
            n_bits += added;
        }
    }

    /// A node with levels lowered as long as it seems to have few groups for its records, those first that add the
    /// fewest. Attributes that follow from others have bits and add no groups.
    fn far_below(&mut self, node: &Grouping) -> Grouping {
        let most = self.n_records / tuning::RECORDS_PER_GROUP.get();
        let mut lowered = *node;
        // What lowering an attribute would come to, when that was last estimated; the more others are lowered, the more.
        let mut steps: BinaryHeap<Reverse<(usize, usize, u8)>> =
            node.iter().filter(|&(_, level)| level > 0).map(|(at, level)| Reverse((0, at, level))).collect();
        while let Some(Reverse((known, at, level))) = steps.pop() {
            lowered.set(at, level - 1);
            let n_groups = self.groups.estimate(&lowered).unwrap_or(usize::MAX);
            let next = steps.peek().map_or(usize::MAX, |Reverse((n_groups, ..))| *n_groups);
            if n_groups > most {
                lowered.set(at, level);
            } else if n_groups > known && n_groups > next {
                lowered.set(at, level);
                steps.push(Reverse((n_groups, at, level)));
            } else if level > 1 {
                steps.push(Reverse((n_groups, at, level - 1)));
            }
        }
        lowered
    }

    /// Are the groups counted last clearly fewer than those that they were made from? Where they are somebody else's answer, any
    /// number is better than to ask again.
    fn is_worth_it(&self, source: Option<usize>, share: Share) -> bool {
        let is_answer = source.is_none() && self.has_counts_only;
        let is_fewer = || self.groups.n_groups() <= most_worth_keeping(share, self.extent(source).0);
        self.groups.are_all_there() && (is_answer || is_fewer())
    }

    /// Keeps the groups counted last, unless they are more than there is room for.
    fn keep_last(&mut self, grouping: Grouping) -> bool {
        let n_groups = self.groups.n_groups();
        // Without the set that everything can be made from, there are only the records: it stays if others have room beside it.
        let stays =
            |entry: &Snapshot<_>| entry.grouping == self.bottom && entry.n_groups <= self.capacity / 2;
        let n_staying: usize =
            self.kept.iter().filter(|entry| stays(entry)).map(|entry| entry.n_groups).sum();
        if n_groups > self.capacity - n_staying {
            return false;
        }
        self.n_kept += n_groups;
        while self.n_kept > self.capacity {
            let others = (0..self.kept.len()).filter(|&at| !stays(&self.kept[at]));
            let oldest = others.min_by_key(|&at| self.kept[at].last_used);
            let Some(at) = oldest else { break };
            self.n_kept -= self.kept.remove(at).n_groups;
            self.masks.remove(at);
        }
        let entry = Snapshot {
            grouping,
            n_bits: self.layout.n_bits_at(&grouping),
            n_groups,
            last_used: self.work.table_scans + self.work.nodes_checked,
            set: self.groups.take(),
        };
        let place = self.kept.partition_point(|other| other.n_groups < n_groups);
        self.kept.insert(place, entry);
        self.masks.insert(place, self.groups.mask(&grouping));
        true
    }
}

impl<G: Groups> NodeJudge for SnapshotJudge<'_, G> {
    fn uses_forecasts(&self) -> bool {
        self.can_plan()
    }

    fn expect(&mut self, forecast: &Forecast<'_>) -> Result<()> {
        self.prepare(forecast)
    }

    fn verdict(&mut self, to: &Grouping) -> Result<Verdict> {
        self.work.count_node();
        let source = self.near_source(to)?;
        if let (None, Some(told)) = (source, &self.told)
            && let Some(n_groups) = told.fails(self.problem, to)?
        {
            self.note(source);
            return Ok(Verdict { holds: false, refused_rows: None, n_groups });
        }
        let set = source.map(|at| &self.kept[at].set);
        if let Some(n_groups) = self.groups.fails_early(set, to)? {
            self.note(source);
            return Ok(Verdict { holds: false, refused_rows: None, n_groups });
        }
        self.count(source, to, Purpose::Verdict)?;
        let judgement = self.groups.judge()?;
        // In no order: some will lie above this one, if it fails.
        let is_asked_from = self.keep == Keep::Everything || !judgement.holds;
        let n_groups = self.groups.n_groups();
        if is_asked_from && self.is_worth_it(source, tuning::WORTH.get()) {
            self.keep_last(*to);
        }
        if self.planning == Planning::Begun {
            self.counted.push((*to, n_groups));
        }
        let refused_rows = self.groups.are_all_counted().then_some(judgement.refused_rows);
        Ok(Verdict { holds: judgement.holds, refused_rows, n_groups })
    }

    fn largest_k(&mut self, to: &Grouping, most: u64) -> Result<u64> {
        self.work.count_node();
        let source = self.near_source(to)?;
        self.count(source, to, Purpose::Sizes)?;
        let largest = self.groups.largest_k(most);
        // Where everything holds, nothing above is asked about.
        if largest < most && self.is_worth_it(source, tuning::WORTH.get()) {
            self.keep_last(*to);
        }
        Ok(largest)
    }

    fn refused(&self) -> Result<FrequencySet> {
        self.groups.refused()
    }

    fn sizes(&self, least: u64) -> Result<Sizes> {
        self.groups.sizes(least)
    }

    fn work(&self) -> Work {
        self.work
    }
}
