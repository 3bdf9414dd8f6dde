//! What a verdict needs, without making groups.
//!
//! Near the border between failing and holding, nodes are judged by the dozen and the groups of hardly any are used again. So keys
//! are counted in cells, as in the dense way, and then the cells are looked through: how many count something, and how many rows
//! are in those that count too little. Only where the node holds, the groups that are left out are read off.
//!
//! For counters of a byte, and where there are few cells for the keys at hand. Finds what the others find; cost: about 1 ns a
//! key, and a look through the cells.

use incog_bits::{count_below, for_each_below};

use super::{Count, Counters, DENSE_BITS, Lot, Word, shared};

/// All cells are looked through if there are at most so many for each key,
const CELLS_PER_KEY: usize = 16;
/// and not where there are so many keys that threads share them.
const MANY_KEYS: usize = shared::SHARED_FROM;

impl<W: Word, C: Count> Counters<W, C> {
    /// How many groups the bits of `mask` make, and how many rows are in those of fewer than `k`, without the groups: if there are at
    /// most `budget` such rows, only groups of fewer than `k` are those of the last merge, otherwise none. `None` where that
    /// is no quicker than [`merge`](Self::merge).
    pub(crate) fn tell(&mut self, lot: Lot<'_, W, C>, mask: W, k: u64, budget: u64) -> Option<(usize, u64)> {
        let n_bits = mask.n_ones();
        let is_quicker = lot.len() < MANY_KEYS
            && n_bits <= self.most_bits.unwrap_or(DENSE_BITS).min(DENSE_BITS)
            && 1 << n_bits <= CELLS_PER_KEY * lot.len();
        let k = u8::try_from(k).ok().filter(|_| is_quicker)?;
        let n_cells = 1 << n_bits;
        if self.cells.len() < n_cells {
            self.cells = vec![C::default(); n_cells];
        }
        let cells = C::bytes_mut(&mut self.cells[..n_cells])?;
        let add = |cell: u32, rows: u8| {
            let cell = &mut cells[cell as usize];
            // A saturating sum, in arithmetic: compilers make a branch of the usual one, and nobody foresees which cells are full.
            let sum = u32::from(*cell) + u32::from(rows);
            *cell = (sum | (sum >> 8).wrapping_neg()) as u8;
        };
        match lot.rows.and_then(C::bytes) {
            None => W::for_each_cell(lot.keys, mask, std::iter::repeat(1), add),
            Some(rows) => W::for_each_cell(lot.keys, mask, rows.iter().copied(), add),
        }
        let (n_groups, rows_below) = count_below(cells, k);
        self.n_groups = 0;
        if rows_below <= budget {
            self.numbers.clear();
            for_each_below(cells, k, |cell, _| self.numbers.push(cell as u32));
            let n_below = self.numbers.len();
            self.make_room(n_below);
            W::expand(&self.numbers, mask, &mut self.keys);
            self.collect(n_below);
        }
        self.cells[..n_cells].fill(C::default());
        Some((n_groups, rows_below))
    }
}
