//! What a verdict needs, without making groups.
//!
//! Near the border between failing and holding, nodes are judged by the dozen and the groups of hardly any are used again. So keys
//! are counted in cells, as in the dense way, and then the cells are looked through: how many count something, and how many rows
//! are in those that count too little. Only where the node holds, the groups that are left out are read off.
//!
//! There is a cell for each pattern of a key's bits or, where these are many, one for each group there can be ([`Numbering`]), which is
//! mostly far fewer.
//!
//! For counters of a byte, and where there are few cells for the keys at hand. Finds what the others find; cost: about 1 ns a
//! key, and a look through the cells.

use incog_kernels::{Numbering, add_rows, count_below, for_each_below};

use super::{Count, Counters, Lot, Word};
use crate::frequency::tuning;

impl<W: Word, C: Count> Counters<W, C> {
    /// How many groups the bits of `mask` make, and how many rows are in those of fewer than `k`, without the groups: if there are at
    /// most `budget` such rows, only groups of fewer than `k` are those of the last merge, otherwise none. `None` where that
    /// is no quicker than [`merge`](Self::merge). `numbering` is asked to number the groups, at most as many as its argument says.
    pub(crate) fn count_below_k<'a>(
        &mut self,
        lot: Lot<'_, W, C>,
        mask: W,
        numbering: impl FnOnce(usize) -> Option<Numbering<'a>>,
        k: u64,
        budget: u64,
    ) -> Option<(usize, u64)> {
        let n_bits = mask.n_ones();
        let most_cells = tuning::VERDICT_CELLS_PER_KEY.get() * lot.len();
        let k = u8::try_from(k).ok().filter(|_| lot.len() < tuning::TALLY_SHARED_FROM.get())?;
        let is_numbered = n_bits > tuning::VERDICT_PATTERN_BITS.get() && W::words(lot.keys).is_some();
        let numbering = if is_numbered { numbering(most_cells) } else { None };
        let most_bits =
            self.most_bits.unwrap_or(tuning::TALLY_DENSE_BITS.get()).min(tuning::TALLY_DENSE_BITS.get());
        let n_cells = match &numbering {
            Some(numbering) => numbering.n_numbers(),
            None if n_bits <= most_bits && 1 << n_bits <= most_cells => 1 << n_bits,
            None => return None,
        };
        if self.cells.len() < n_cells {
            self.cells = vec![C::default(); n_cells];
        }
        let cells = C::bytes_mut(&mut self.cells[..n_cells])?;
        let rows = lot.rows.and_then(C::bytes);
        match (&numbering, W::words(lot.keys), rows) {
            (Some(numbering), Some(words), rows) => numbering.count(words, rows, cells),
            (_, _, None) => W::for_each_cell(lot.keys, mask, std::iter::repeat(1), |cell, rows| {
                add_rows(&mut cells[cell as usize], rows);
            }),
            (_, _, Some(rows)) => W::for_each_cell(lot.keys, mask, rows.iter().copied(), |cell, rows| {
                add_rows(&mut cells[cell as usize], rows);
            }),
        }
        let (n_groups, rows_below) = count_below(cells, k);
        self.n_groups = 0;
        if rows_below <= budget {
            self.numbers.clear();
            for_each_below(cells, k, |cell, _| self.numbers.push(cell as u32));
            let n_below = self.numbers.len();
            self.make_room(n_below);
            match (&numbering, W::words_mut(&mut self.keys)) {
                (Some(numbering), Some(words)) => numbering.words(&self.numbers, words),
                _ => W::expand(&self.numbers, mask, &mut self.keys),
            }
            self.collect(n_below);
        }
        self.cells[..n_cells].fill(C::default());
        Some((n_groups, rows_below))
    }
}
