//! Bitmaps of some records at a time, where the index of all of them does not fit the memory.
//!
//! The paper's motive is data that are larger than memory. A group's size is the sum of its sizes in blocks of records, so no
//! more than one block's bitmaps are needed at a time:
//!
//! 1. For a node, and each block of records: a set of records for each label of the node's levels, from the records' packed keys.
//! 2. The intersections of one label of each attribute, depth-first; a set of few records is looked up instead ([`View::is_small_for`]).
//!    The count of each is added to that of its group, which is named by what the node's levels keep of a record's key.
//! 3. After the last block groups below k are refused. Where all groups together do not fit, they are counted in parts, by a hash
//!    of their names, each part with a look at all blocks; as soon as the refused rows exceed the budget, the node fails.
//!
//! Differs from the index in memory: no set outlives its block, so nothing is united or used again (only the depth-first way is
//! there), and a group is known to be small only when all blocks were seen. For policies about numbers of rows alone.
//!
//! Cost: for each node a pass over all keys, and the intersections of each block. Memory: a quarter of the source's room for a block, and a
//! quarter for the groups.

use crate::error::{Error, ErrorKind, Result};
use crate::frequency::{Counters, KeyWidth, Lot, PackedWord, RecordKeys, Records as _, Rows, part_of};
use crate::judge::bitmap::codes::Codes;
use crate::judge::bitmap::index::{Labelled, sets_of_codes};
use crate::judge::bitmap::ledger::Ledger;
use crate::judge::bitmap::walk::{Buffer, View, intersect};
use crate::judge::bitmap::{Operations, Stop};
use crate::judge::tuning;
use crate::judge::{Judge, Judges, Keep, Problem, Work};
use crate::lattice::{Grouping, Lattice};

use std::sync::{Arc, Mutex, PoisonError};

/// Judges nodes by bitmaps of some records at a time.
pub(super) struct Blocks<'a> {
    problem: Problem<'a>,
    keys: &'a dyn RecordKeys,
    stop: Stop,
    /// The fewest rows of a group that the policy admits.
    least: u64,
    room: u64,
    ledger: Arc<Ledger>,
    /// One block at a time, whatever the number of threads.
    turn: Mutex<()>,
}

impl<'a> Blocks<'a> {
    /// For a source with keys and a limit. `least` is the fewest rows of a group that the policy admits.
    pub(super) fn new(problem: Problem<'a>, stop: Stop, least: u64) -> Option<Self> {
        let (keys, room) = problem.source.keys().zip(problem.source.room())?;
        // Counters stop there.
        (least <= u64::from(u32::MAX)).then(|| Blocks {
            problem,
            keys,
            stop,
            least,
            room,
            ledger: Arc::default(),
            turn: Mutex::default(),
        })
    }

    /// Does a node hold?
    fn holds<W: PackedWord>(&self, node: &Grouping, work: &mut Work) -> Result<bool> {
        let layout = self.problem.source.layout();
        let mask = W::mask(layout, node);
        let budget = self.problem.policy.budget();
        // A record takes its key twice, and for each attribute a code and a place in a set.
        let bytes_a_record = 2 * size_of::<W>() + 12 * node.iter().count().max(1);
        let share = usize::try_from(self.room / tuning::BLOCK_PARTS.get()).unwrap_or(usize::MAX);
        let n_block = (share / bytes_a_record).max(tuning::LEAST_BLOCK_RECORDS.get());
        let bytes_a_group = tuning::TIMES_BLOCK_COUNTED.get() * (size_of::<W>() + size_of::<u32>());
        let most = (share / bytes_a_group).max(tuning::LEAST_BLOCK_GROUPS.get());
        let mut counters = Counters::<W, u32>::within(self.room / tuning::BLOCK_COUNTER_PARTS.get());
        let mut of = 1;
        'again: loop {
            let mut refused = 0;
            let n_parts = of;
            for part in 0..n_parts {
                let mut n_seen = 0;
                counters.begin();
                self.keys.visit(&mut |keys| {
                    let keys = W::of_records(keys).ok_or_else(of_another_width)?;
                    for keys in keys.chunks(n_block) {
                        if counters.n_so_far() > most {
                            break;
                        }
                        let found = self.block(keys, node, mask, (part, n_parts), work)?;
                        counters.add(Lot::counted(&found.keys, &found.rows), mask);
                        n_seen += keys.len();
                    }
                    Ok(())
                })?;
                work.table_scans += 1;
                let n_groups = counters.n_so_far();
                counters.end(mask);
                if n_groups > most {
                    // Half as many as there is room for: parts are not quite alike.
                    let n_all = n_groups as f64 * self.problem.source.n_rows() as f64 / n_seen.max(1) as f64;
                    let n_enough = (n_all / (most / 2) as f64) as u64;
                    of = (2 * of).max(of.saturating_mul(n_enough).next_power_of_two());
                    continue 'again;
                }
                refused += counters.rows_below(self.least);
                if self.stop == Stop::Early && refused > budget {
                    return Ok(false);
                }
            }
            return Ok(refused <= budget);
        }
    }

    /// The groups of a block that belong to a part, with their rows there.
    fn block<W: PackedWord>(
        &self,
        keys: &[W],
        node: &Grouping,
        mask: W,
        part: (u64, u64),
        work: &mut Work,
    ) -> Result<Found<W>> {
        let layout = self.problem.source.layout();
        let records = Rows::of_packed(layout, keys);
        let mut columns: Vec<Column> = Vec::new();
        for (attribute, level) in node.iter() {
            let up = layout.labels_of_codes(attribute, level);
            let n_labels = up.iter().max().map_or(0, |&most| most as usize + 1);
            if n_labels < 2 {
                continue;
            }
            let mut codes = Codes::with_room(n_labels, keys.len());
            records.visit_codes(attribute, &mut |some| {
                let labels: Vec<u32> = some.iter().map(|&code| up[code as usize]).collect();
                codes.extend(&labels);
            });
            let sets = sets_of_codes(&codes, n_labels, keys.len());
            let labels = (0..).zip(sets).filter(|(_, set)| set.count() > 0);
            let labels = labels.map(|(label, set)| Labelled { label, set: self.ledger.enter(set) });
            columns.push(Column { labels: labels.collect() });
        }
        // Few labels first: an intersection serves all labels of the next.
        columns.sort_by_key(|column| column.labels.len());
        let all: Vec<u32> = (0..keys.len() as u32).collect();
        let mut walk =
            BlockWalk { keys, mask, part, found: Found::default(), operations: Operations::default() };
        let mut buffers: Vec<Buffer> = Vec::new();
        buffers.resize_with(columns.len(), Buffer::default);
        match columns.as_slice() {
            [] => walk.group(View::List(&all)),
            [first, rest @ ..] => {
                for label in &first.labels {
                    walk.below(View::of(&label.set), rest, &mut buffers);
                }
            }
        }
        let Operations { ands, ors, counts, look_ups } = walk.operations;
        *work += Work { ands, ors, counts, look_ups, ..Work::default() };
        Ok(walk.found)
    }
}

fn of_another_width() -> Error {
    Error::new(ErrorKind::Internal, "records have keys of another width")
}

/// An attribute of a block.
struct Column {
    labels: Vec<Labelled>,
}

/// Groups of a block, some of which may come twice.
struct Found<W> {
    keys: Vec<W>,
    rows: Vec<u32>,
}

impl<W> Default for Found<W> {
    fn default() -> Self {
        Found { keys: Vec::new(), rows: Vec::new() }
    }
}

struct BlockWalk<'a, W> {
    keys: &'a [W],
    mask: W,
    part: (u64, u64),
    found: Found<W>,
    operations: Operations,
}

impl<W: PackedWord> BlockWalk<'_, W> {
    /// All groups within a set of records, which is not empty.
    fn below(&mut self, set: View<'_>, columns: &[Column], buffers: &mut [Buffer]) {
        let ([first, rest @ ..], [buffer, buffers @ ..]) = (columns, buffers) else {
            return self.group(set);
        };
        if set.is_small_for(first.labels.len()) {
            self.operations.look_ups += set.count();
            return match set {
                View::Bits(bits, _) => bits.for_each(|record| self.add(record, 1)),
                View::List(list) => list.iter().for_each(|&record| self.add(record as usize, 1)),
            };
        }
        // Groups do not overlap: when all records are accounted for, the other labels have none.
        let mut left = set.count();
        for label in &first.labels {
            if left == 0 {
                break;
            }
            self.operations.ands += 1;
            self.operations.counts += 1;
            let both = intersect(set, View::of(&label.set), buffer);
            left -= both.count();
            if both.count() > 0 {
                self.below(both, rest, buffers);
            }
        }
    }

    /// The records of one group.
    fn group(&mut self, set: View<'_>) {
        let first = match set {
            View::Bits(bits, _) => bits.first(),
            View::List(list) => list.first().map(|&record| record as usize),
        };
        if let Some(first) = first {
            self.add(first, set.count() as u32);
        }
    }

    /// Records of the group that one of them is in.
    fn add(&mut self, record: usize, rows: u32) {
        let key = self.keys[record] & self.mask;
        let (part, of) = self.part;
        if of == 1 || part_of(key, of) == part {
            self.found.keys.push(key);
            self.found.rows.push(rows);
        }
    }
}

impl Judges for Blocks<'_> {
    fn open<'a>(&'a self, family: &'a Lattice, _: &[usize], _: Keep) -> Result<Box<dyn Judge + 'a>> {
        Ok(Box::new(BlocksJudge { blocks: self, family, work: Work::default() }))
    }

    fn peak_bytes(&self) -> u64 {
        self.ledger.peak()
    }
}

struct BlocksJudge<'a> {
    blocks: &'a Blocks<'a>,
    family: &'a Lattice,
    work: Work,
}

impl Judge for BlocksJudge<'_> {
    fn judge(&mut self, node: usize) -> Result<bool> {
        let _turn = self.blocks.turn.lock().unwrap_or_else(PoisonError::into_inner);
        self.work.count_node();
        let grouping = self.family.grouping(node);
        match self.blocks.problem.source.layout().width() {
            KeyWidth::U64 => self.blocks.holds::<u64>(&grouping, &mut self.work),
            _ => self.blocks.holds::<u128>(&grouping, &mut self.work),
        }
    }

    fn work(&self) -> Work {
        self.work
    }
}
