//! Counters of a byte each, many of them zero: how many count something, and what is in those that count little.
//!
//! Searches that ask whether groups reach k count in cells, one for each group there could be, and look through all of them in the
//! end: with AVX2, or with a plain loop. Which one runs is found out at run time, and tests compare both with the definition.
//! Cost: a pass over the cells.
#![allow(unsafe_code)]

/// Adds rows to a cell, which stops at 255. In arithmetic: compilers make a branch of a saturating sum, and nobody foresees which
/// cells are full.
#[inline]
pub fn add_rows(cell: &mut u8, rows: u8) {
    let sum = u32::from(*cell) + u32::from(rows);
    *cell = (sum | (sum >> 8).wrapping_neg()) as u8;
}

/// How many cells are not zero, and the sum of those that are less than `k`.
pub fn count_below(cells: &[u8], k: u8) -> (usize, u64) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt") {
        // SAFETY: the machine was seen to have the instructions.
        return unsafe { vectors::count_below(cells, k) };
    }
    portable::count_below(cells, k)
}

/// Calls `visit` with the number of each cell that is less than `k` and not zero, and with what it counts; ascending.
pub fn for_each_below(cells: &[u8], k: u8, visit: impl FnMut(usize, u8)) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the same, without the count.
        unsafe { vectors::for_each_below(cells, k, visit) };
        return;
    }
    portable::for_each_below(cells, 0, k, visit);
}

mod portable {
    pub(super) fn count_below(cells: &[u8], k: u8) -> (usize, u64) {
        cells.iter().fold((0, 0), |(n_cells, sum), &cell| {
            (n_cells + usize::from(cell != 0), sum + u64::from(if cell < k { cell } else { 0 }))
        })
    }

    /// The first cell has number `first`.
    #[inline]
    pub(super) fn for_each_below(cells: &[u8], first: usize, k: u8, mut visit: impl FnMut(usize, u8)) {
        for (number, &cell) in (first..).zip(cells) {
            if cell != 0 && cell < k {
                visit(number, cell);
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod vectors {
    use super::portable;
    use std::arch::x86_64::*;

    /// Cells of a vector.
    const N: usize = 32;

    #[target_feature(enable = "avx2")]
    fn load(cells: &[u8; N]) -> __m256i {
        // SAFETY: there are as many bytes, and they may stand anywhere.
        unsafe { _mm256_loadu_si256(cells.as_ptr().cast()) }
    }

    /// A bit for each cell that is zero.
    #[target_feature(enable = "avx2")]
    fn zeros(cells: __m256i) -> u32 {
        _mm256_movemask_epi8(_mm256_cmpeq_epi8(cells, _mm256_setzero_si256())).cast_unsigned()
    }

    /// All ones for each cell that is at most as large as that of `most`.
    #[target_feature(enable = "avx2")]
    fn at_most(cells: __m256i, most: __m256i) -> __m256i {
        _mm256_cmpeq_epi8(_mm256_min_epu8(cells, most), cells)
    }

    #[target_feature(enable = "avx2,popcnt")]
    pub(super) fn count_below(cells: &[u8], k: u8) -> (usize, u64) {
        let (lines, rest) = cells.as_chunks::<N>();
        // Less than 0 is none, and 0 adds nothing.
        let most = _mm256_set1_epi8(k.saturating_sub(1).cast_signed());
        let (mut n_cells, mut sums) = (0, _mm256_setzero_si256());
        for line in lines {
            let line = load(line);
            n_cells += (!zeros(line)).count_ones() as usize;
            let below = _mm256_and_si256(line, at_most(line, most));
            sums = _mm256_add_epi64(sums, _mm256_sad_epu8(below, _mm256_setzero_si256()));
        }
        let (n_of_rest, sum_of_rest) = portable::count_below(rest, k);
        let sums = [
            _mm256_extract_epi64::<0>(sums),
            _mm256_extract_epi64::<1>(sums),
            _mm256_extract_epi64::<2>(sums),
            _mm256_extract_epi64::<3>(sums),
        ];
        (n_cells + n_of_rest, sum_of_rest + sums.map(i64::cast_unsigned).iter().sum::<u64>())
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn for_each_below(cells: &[u8], k: u8, mut visit: impl FnMut(usize, u8)) {
        let (lines, rest) = cells.as_chunks::<N>();
        let most = _mm256_set1_epi8(k.saturating_sub(1).cast_signed());
        for (at, line) in lines.iter().enumerate() {
            let vector = load(line);
            let mut below = _mm256_movemask_epi8(at_most(vector, most)).cast_unsigned() & !zeros(vector);
            while below != 0 {
                let place = below.trailing_zeros() as usize;
                visit(at * N + place, line[place]);
                below &= below - 1;
            }
        }
        portable::for_each_below(rest, lines.len() * N, k, visit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cells, most of them zero, some at the edges of what a byte holds.
    fn cells(n: usize) -> Vec<u8> {
        let value = |at: u64| match at.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 60 {
            0 => 1,
            1 => 255,
            2 => 254,
            3 => (at % 7) as u8,
            4 => 128,
            _ => 0,
        };
        (0..n as u64).map(value).collect()
    }

    #[test]
    fn cells_stop_at_the_most_they_can_hold() {
        // In Miri, which is slow, some of them, the greatest among them.
        let some = || (0..=u8::MAX).step_by(if cfg!(miri) { 15 } else { 1 });
        for (cell, rows) in some().flat_map(|cell| some().map(move |rows| (cell, rows))) {
            let mut sum = cell;
            add_rows(&mut sum, rows);
            assert_eq!(sum, cell.saturating_add(rows));
        }
    }

    #[test]
    fn cells_are_counted_and_found_as_the_definition_says() {
        let sizes: &[usize] =
            if cfg!(miri) { &[0, 1, 31, 32, 33, 100] } else { &[0, 1, 31, 32, 33, 64, 100, 1000] };
        for &n in sizes {
            let cells = cells(n);
            for k in [0, 1, 2, 5, 127, 128, 129, 254, 255] {
                let expected: Vec<(usize, u8)> =
                    cells.iter().copied().enumerate().filter(|&(_, cell)| cell != 0 && cell < k).collect();
                let n_cells = cells.iter().filter(|&&cell| cell != 0).count();
                let sum = expected.iter().map(|&(_, cell)| u64::from(cell)).sum();
                assert_eq!(count_below(&cells, k), (n_cells, sum), "{n}, {k}");
                assert_eq!(portable::count_below(&cells, k), (n_cells, sum), "{n}, {k}");
                let (mut found, mut found_portably) = (Vec::new(), Vec::new());
                for_each_below(&cells, k, |number, cell| found.push((number, cell)));
                portable::for_each_below(&cells, 0, k, |number, cell| found_portably.push((number, cell)));
                assert_eq!(found, expected, "{n}, {k}");
                assert_eq!(found_portably, expected, "{n}, {k}");
            }
        }
    }
}
