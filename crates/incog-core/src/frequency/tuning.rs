//! What was measured to count groups in little time. See [`crate::tuning`].

use crate::tuning::tuned;

// Packing the keys of records.
tuned! {
    /// The keys of this many records are packed at a time, column by column: keys and one column's values stay in the cache.
    ///
    /// Unit: records. Measured by: `packing`.
    PACK_BLOCK: usize = 1 << 12;

    /// Threads take this many blocks at a time, at least.
    ///
    /// Unit: blocks. Measured by: `packing`.
    PACK_BLOCKS_PER_TASK: usize = 8;

    /// The value codes of this many records are asked for at a time, where the table is elsewhere.
    ///
    /// Unit: records. Measured by: `packing`.
    PACK_PART: usize = 1 << 15;

    /// The value codes of this many records are counted at a time, where the lowest level of an attribute is ruled out.
    ///
    /// Unit: records. Measured by: `packing`.
    CODES_AT_A_TIME: usize = 1 << 16;

    /// The codes of one attribute are read off this many keys at a time.
    ///
    /// Unit: keys. Measured by: `adult-bitmap`.
    CODES_BLOCK: usize = 1 << 12;

    /// An attribute with at most this many bits has its bits as code; one with more has its labels.
    ///
    /// Unit: log2 of codes. Measured by: `adult-bitmap`.
    CODE_BITS: u32 = 16;

    // Regrouping: any measures, counters of four bytes.

    /// With at most this many bits, there is a counter for every cell: 256 KiB fit the second-level cache.
    ///
    /// Unit: log2 of cells. Measured by: `adult-choose`.
    REGROUP_DENSE_BITS: u32 = 16;

    /// With more bits, there is never a counter for every cell.
    ///
    /// Unit: log2 of cells. Measured by: `adult-choose`.
    REGROUP_MOST_DENSE_BITS: u32 = 24;

    /// Beyond the cache, there is a counter for every cell if there are at most this many cells for each key.
    ///
    /// Unit: cells per key. Measured by: `adult-choose`.
    REGROUP_CELLS_PER_KEY: usize = 4;

    /// Up to this many cells are counted in several arrays at a time, which all fit the first-level cache.
    ///
    /// Unit: cells. Measured by: `adult-choose`.
    LANE_CELLS: usize = 1 << 11;

    /// From this many keys on, one hash table may not fit the cache, and keys are dealt out to several.
    ///
    /// Unit: keys. Measured by: `landsend-choose`.
    PARTITION_FROM: usize = 1 << 18;

    /// This many keys are looked at to tell whether most are different.
    ///
    /// Unit: keys. Measured by: `landsend-choose`.
    DISTINCT_SAMPLE: usize = 1 << 14;

    /// A hash table begins with this many slots.
    ///
    /// Unit: log2 of slots. Measured by: `adult-choose`.
    FIRST_SLOT_BITS: u32 = 10;

    // Records in memory.

    /// From this many records on, several threads group them.
    ///
    /// Unit: records. Measured by: `landsend-threads`.
    ROWS_SHARED_FROM: usize = 1 << 19;

    /// Of a large table, groups of at most this many bits are counted by the tally.
    ///
    /// Unit: log2 of cells. Measured by: `landsend-choose`.
    ROWS_DENSE_BITS: u32 = 20;

    /// More records than this are looked at in blocks.
    ///
    /// Unit: records. Measured by: `many-rows`.
    MANY_ROWS: usize = 1 << 24;

    /// A block has at most this many records.
    ///
    /// Unit: records. Measured by: `many-rows`.
    ROWS_AT_A_TIME: usize = 1 << 22;

    /// A record takes this much memory while it is dealt out: where memory is limited, a block has as many as fit.
    ///
    /// Unit: bytes. Measured by: `landsend-memory`.
    BYTES_DEALT: u64 = 64;

    /// A block has at least this many records, however limited memory is.
    ///
    /// Unit: records. Measured by: `landsend-memory`.
    LEAST_ROWS_AT_A_TIME: u64 = 1 << 12;

    /// Equal records are found by an array if it has at most this many entries for each record, else by hash.
    ///
    /// Unit: entries per record. Measured by: `packing`.
    ENTRIES_PER_RECORD: usize = 16;

    // Records in a store.

    /// At most this many keys are packed, stored and read at a time.
    ///
    /// Unit: keys. Measured by: `stored`.
    MOST_STORED_KEYS: u64 = 1 << 20;

    /// At least this many keys are packed, stored and read at a time, however little room there is.
    ///
    /// Unit: keys. Measured by: `stored`.
    LEAST_STORED_KEYS: u64 = 1 << 8;

    // Groups of a node where memory is limited.

    /// While groups are counted within a limit, one takes this multiple of its key and counter.
    ///
    /// Unit: multiple of a group's bytes. Measured by: `landsend-memory`.
    TIMES_COUNTED: u64 = 5;

    /// At least this many groups are counted at a time, however little room there is.
    ///
    /// Unit: groups. Measured by: `landsend-memory`.
    LEAST_COUNTED: usize = 1 << 4;

    // The tally: rows only, counters of a byte where they do.

    /// With at most this many bits, the tally has a counter for every cell.
    ///
    /// Unit: log2 of cells. Measured by: `adult-all`.
    TALLY_DENSE_BITS: u32 = 22;

    /// With at most this many bits, the tally has a counter for every cell if keys are many enough.
    ///
    /// Unit: log2 of cells. Measured by: `landsend-all`.
    TALLY_MOST_DENSE_BITS: u32 = 24;

    /// Keys are many enough if there are at most this many cells for each.
    ///
    /// Unit: cells per key. Measured by: `landsend-all`.
    TALLY_CELLS_PER_KEY: usize = 16;

    /// Where memory is scarce, the tally has at most this many cells for each row of the table.
    ///
    /// Unit: cells per row. Measured by: `adult-best`.
    TALLY_CELLS_PER_ROW: u32 = 64;

    /// From this many keys on, the tally deals them out to parts.
    ///
    /// Unit: keys. Measured by: `landsend-best`.
    DEAL_FROM: usize = 1 << 17;

    /// A part has about this many keys.
    ///
    /// Unit: keys. Measured by: `landsend-best`.
    DEAL_PART: usize = 1 << 14;

    /// For a verdict alone, all cells are looked through if there are at most this many for each key.
    ///
    /// Unit: cells per key. Measured by: `adult-best`.
    VERDICT_CELLS_PER_KEY: usize = 16;

    /// With at most this many bits, there is a cell for each pattern of bits, even if not all patterns can occur.
    ///
    /// Unit: log2 of cells. Measured by: `adult-best`.
    VERDICT_PATTERN_BITS: u32 = 17;

    /// From this many keys on, several threads tally them.
    ///
    /// Unit: keys. Measured by: `landsend-threads`.
    TALLY_SHARED_FROM: usize = 1 << 16;

    /// With more bits, merging what each thread has counted takes as long as counting.
    ///
    /// Unit: log2 of cells. Measured by: `landsend-threads`.
    TALLY_SHARED_BITS: u32 = 18;

    /// With at least this many keys for each cell, threads share the keys whatever the bits.
    ///
    /// Unit: keys per cell. Measured by: `landsend-threads`.
    TALLY_SHARED_KEYS_PER_CELL: usize = 2;
}

/// Keys are dealt out to this many hash tables. The length of an array: another value needs a rebuild.
///
/// Unit: hash tables. Measured by: `landsend-choose`.
pub(super) const PARTS: usize = 256;

/// Groups are read off this many cells at a time. Known to the compiler for its speed: another value needs a rebuild.
///
/// Unit: cells. Measured by: `adult-choose`.
pub(super) const LINE: usize = 16;

/// Small numbers of cells are counted in this many arrays at a time. The loop is written for four: another value needs a rebuild.
///
/// Unit: arrays. Measured by: `adult-choose`.
pub(super) const LANES: usize = 4;

/// The cells of this many keys are computed at a time. The length of an array: another value needs a rebuild.
///
/// Unit: keys. Measured by: `adult-choose`.
pub(super) const BLOCK: usize = 1024;
