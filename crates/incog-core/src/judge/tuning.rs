//! What was measured to judge nodes in little time. See [`crate::tuning`].

use crate::tuning::tuned;

/// A share of a number.
#[derive(Debug, Clone, Copy)]
pub(super) struct Share {
    times: usize,
    of: usize,
}

impl Share {
    const fn new(times: usize, of: usize) -> Self {
        Share { times, of }
    }

    /// This share of `n`.
    pub(super) fn take(self, n: usize) -> usize {
        n / self.of * self.times + n % self.of * self.times / self.of
    }
}

#[cfg(feature = "tuning")]
impl std::str::FromStr for Share {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (times, of) = text.split_once('/').ok_or(())?;
        let share = Share::new(times.parse().map_err(drop)?, of.parse().map_err(drop)?);
        if share.of > 0 { Ok(share) } else { Err(()) }
    }
}

// The choice of a judge for Incognito: what each step of each judge costs.
tuned! {
    /// Scanning one record takes this long.
    ///
    /// Unit: nanoseconds. Measured by: `adult-choose`.
    SCAN: f64 = 1.0;

    /// With a suppression budget, roll-up costs this multiple of one scan for each family.
    ///
    /// Unit: scans of a family. Measured by: `adult-choose`.
    BUDGET_SCANS: f64 = 3.3;

    /// Grouping the records once for a cube costs this multiple of a scan.
    ///
    /// Unit: scans. Measured by: `adult-choose`.
    CUBE_SCANS: f64 = 1.5;

    /// Projecting one group of a cube takes this long.
    ///
    /// Unit: nanoseconds. Measured by: `adult-choose`.
    PROJECT: f64 = 10.0;

    /// One projected group takes this much memory.
    ///
    /// Unit: bytes. Measured by: `landsend-memory`.
    PROJECTED_BYTES: f64 = 16.0;

    /// One set of groups takes this long, however small it is.
    ///
    /// Unit: nanoseconds. Measured by: `adult-choose`.
    SET: f64 = 1000.0;

    /// The scan for one family takes this long, however few records there are.
    ///
    /// Unit: nanoseconds. Measured by: `adult-choose`.
    FAMILY: f64 = 700.0;

    /// Putting one record into the bitmaps of one attribute takes this long.
    ///
    /// Unit: nanoseconds. Measured by: `adult-choose`.
    INDEX: f64 = 1.3;

    /// Making the bitmap of one label takes this long.
    ///
    /// Unit: nanoseconds. Measured by: `adult-choose`.
    LABEL: f64 = 500.0;

    /// Intersecting 512 records of two bitmaps takes this long.
    ///
    /// Unit: nanoseconds. Measured by: `adult-choose`.
    INTERSECT: f64 = 1.3;

    /// Looking up one record in a bitmap takes this long.
    ///
    /// Unit: nanoseconds. Measured by: `adult-choose`.
    LOOK_UP: f64 = 2.5;

    /// A larger table is not searched with bitmaps, and its labels are taken to be equally frequent instead of being counted.
    ///
    /// Unit: records. Measured by: `landsend-choose`.
    COUNTED_RECORDS: u64 = 1_000_000;

    /// Of a table with more quasi-identifiers, this many stand for all when costs are estimated.
    ///
    /// Unit: attributes. Measured by: `adult-choose`.
    ESTIMATED_ATTRIBUTES: usize = 16;

    // Bitmaps.

    /// This many records can be looked up while 64 bytes of two bitmaps are intersected and counted.
    ///
    /// Unit: records per 64 bytes. Measured by: `adult-bitmap`.
    LOOKED_UP_PER_LINE: f64 = 0.6;

    /// Where memory is scarce, the bitmaps of a block of records take one of this many parts of the room, and so do its groups.
    ///
    /// Unit: parts of the room. Measured by: `landsend-memory`.
    BLOCK_PARTS: u64 = 4;

    /// Where memory is scarce, the counters of groups begin with one of this many parts of the room.
    ///
    /// Unit: parts of the room. Measured by: `landsend-memory`.
    BLOCK_COUNTER_PARTS: u64 = 8;

    /// While the groups of all blocks are counted, one takes this multiple of its key and counter.
    ///
    /// Unit: multiple of a group's bytes. Measured by: `landsend-memory`.
    TIMES_BLOCK_COUNTED: usize = 5;

    /// A block has at least this many records, however scarce memory is.
    ///
    /// Unit: records. Measured by: `landsend-memory`.
    LEAST_BLOCK_RECORDS: usize = 64;

    /// At least this many groups are counted at a time, however scarce memory is.
    ///
    /// Unit: groups. Measured by: `landsend-memory`.
    LEAST_BLOCK_GROUPS: usize = 16;

    // Snapshots: which sets are made and kept.

    /// A snapshot is made halfway if at least this many bits lie between the key of a node and that of its source.
    ///
    /// Unit: bits of key. Measured by: `adult-all`.
    MIN_DISTANCE: u32 = 5;

    /// A set is not kept whose key has this many bits more than log2 of its source's groups: it would merge almost nothing.
    ///
    /// Unit: bits of key. Measured by: `adult-all`.
    SPARE_BITS: u32 = 18;

    /// Without a suppression budget, a snapshot is made this far below the node.
    ///
    /// Unit: share of the distance in bits. Measured by: `adult-best`.
    HALFWAY: Share = Share::new(1, 2);

    /// With a suppression budget, a snapshot is made this far below the node: more nodes are asked about, and a lower set serves more of them.
    ///
    /// Unit: share of the distance in bits. Measured by: `adult-all`.
    HALFWAY_WITH_BUDGET: Share = Share::new(7, 10);

    /// What is made from the records of a small table is made this far below the node.
    ///
    /// Unit: share of the distance in bits. Measured by: `adult-all`.
    HALFWAY_FROM_RECORDS: Share = Share::new(1, 3);

    /// A set is kept if it has at most this share of the groups it was made from.
    ///
    /// Unit: share of groups. Measured by: `adult-all`.
    WORTH: Share = Share::new(13, 20);

    /// Equal records are merged if at most this share of them is left.
    ///
    /// Unit: share of records. Measured by: `adult-all`.
    WORTH_OF_RECORDS: Share = Share::new(4, 5);

    /// A set made from a large one is kept if it has at most this share of its groups.
    ///
    /// Unit: share of groups. Measured by: `landsend-all`.
    WORTH_OF_LARGE: Share = Share::new(1, 2);

    /// A set with at least this many groups is large: merging it by hash costs more than it saves.
    ///
    /// Unit: groups. Measured by: `landsend-all`.
    LARGE: usize = 1 << 17;

    /// The key of a set made halfway from a large one has at most this many bits.
    ///
    /// Unit: log2 of cells. Measured by: `landsend-all`.
    HALFWAY_DENSE_BITS: u32 = 22;

    /// Where a sample tells how many groups there are, a set made halfway has at most one group for this many records.
    ///
    /// Unit: records per group. Measured by: `landsend-all`.
    RECORDS_PER_GROUP: usize = 80;

    /// Equal records are merged after this many passes over them.
    ///
    /// Unit: passes over the records. Measured by: `adult-all`.
    FEW_SCANS: u64 = 4;

    /// All snapshots of a small table may have this many groups together.
    ///
    /// Unit: groups. Measured by: `adult-all`.
    SMALL: usize = 1 << 22;

    // Snapshots: sets that are planned for what will be asked.

    /// At most this many sets are planned at a time.
    ///
    /// Unit: sets. Measured by: `adult-best`.
    MOST_SETS: usize = 4;

    /// Making a set with a counter for every cell takes as long as this many verdicts from its source.
    ///
    /// Unit: verdicts. Measured by: `adult-best`.
    TIMES_DENSE: f32 = 3.0;

    /// Making a set by hash takes as long as this many verdicts from its source.
    ///
    /// Unit: verdicts. Measured by: `adult-best`.
    TIMES_HASHED: f32 = 5.0;

    /// Copying the groups of a set takes as long as this many verdicts from it.
    ///
    /// Unit: verdicts. Measured by: `adult-best`.
    TIMES_COPIED: f32 = 3.0;

    /// A set is made if it saves looking at more groups than this.
    ///
    /// Unit: groups. Measured by: `adult-best`.
    LEAST_GAIN: f32 = 10_000.0;

    /// An attribute is raised by at most this many levels at once: one level alone may gain nothing.
    ///
    /// Unit: levels. Measured by: `adult-best`.
    MOST_LEVELS: u8 = 2;

    // Snapshots: verdicts from some of the groups.

    /// From this many keys on, some of the groups are looked at before all.
    ///
    /// Unit: keys. Measured by: `landsend-all`.
    SOME_FROM: usize = 1 << 18;

    /// With fewer bits, looking at all groups is as cheap as looking at some.
    ///
    /// Unit: log2 of cells. Measured by: `landsend-all`.
    SOME_FROM_BITS: u32 = 20;

    /// Groups are divided into this many parts at first, of which one is looked at. A power of two.
    ///
    /// Unit: parts. Measured by: `landsend-best`.
    FIRST_PARTS: u64 = 32;

    /// All groups are counted if fewer parts than this would do: one part would save too little.
    ///
    /// Unit: parts. Measured by: `landsend-best`.
    LEAST_PARTS: u64 = 4;

    /// The sample that says about how many groups there are has at least this many records.
    ///
    /// Unit: records. Measured by: `landsend-all`.
    SAMPLE: u64 = 1 << 13;

    /// At least one of this many records is in the sample: one much smaller than the number of groups cannot estimate it.
    ///
    /// Unit: records. Measured by: `landsend-all`.
    RECORDS_PER_SAMPLED: u64 = 1 << 8;

    /// While groups are gathered, one takes this multiple of its key and counter.
    ///
    /// Unit: multiple of a group's bytes. Measured by: `landsend-memory`.
    TIMES_GATHERED: u64 = 5;

    /// This many copies of each picked key are in memory at a time.
    ///
    /// Unit: copies. Measured by: `landsend-memory`.
    TIMES_PICKED: u64 = 3;

    /// One of this many groups is counted to estimate how many there are. A power of two.
    ///
    /// Unit: groups. Measured by: `landsend-memory`.
    GROUPS_PER_COUNTED: u64 = 64;
}
