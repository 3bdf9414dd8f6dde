//! Pushing bits together: those of a word that stand under the ones of a mask, without gaps (PEXT); and back (PDEP).
//!
//! Where the machine has an instruction for it that takes a cycle or so, that is used. AMD before Zen 3 has one that takes
//! hundreds, so there, and on other machines, each run of ones in the mask is moved down for itself.
//! Which it is, is found out once, at run time; tests compare both with single bits.
#![allow(unsafe_code)]

use std::sync::OnceLock;

/// Words whose bits are pushed together at a time.
const BLOCK: usize = if cfg!(miri) { 8 } else { 256 };

/// Bits that stand together in a mask: moved down by `down` they are the bits of `ones`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Run {
    down: u32,
    ones: u32,
}

/// The bits of a mask, to be pushed together.
#[derive(Debug, Clone)]
pub struct Compress {
    mask: u64,
    /// A mask with at most 32 ones has at most 32 runs.
    runs: [Run; 32],
    n_runs: usize,
    has_instruction: bool,
}

impl Compress {
    /// Pushes together the bits of `mask`.
    ///
    /// # Panics
    /// When there are more than 32: a number of 32 bits comes out.
    pub fn new(mask: u64) -> Self {
        Compress { has_instruction: has_fast_instruction(), ..Compress::portable(mask) }
    }

    /// The same without the instruction, on any machine.
    ///
    /// # Panics
    /// When `mask` has more than 32 ones.
    pub fn portable(mask: u64) -> Self {
        assert!(mask.count_ones() <= 32, "32 bits come out");
        let mut compress = Compress { mask, runs: [Run::default(); 32], n_runs: 0, has_instruction: false };
        let (mut rest, mut n_before) = (mask, 0);
        while rest != 0 {
            let start = rest.trailing_zeros();
            let n_ones = (rest >> start).trailing_ones();
            let ones = (u64::MAX >> (64 - n_ones)) << n_before;
            compress.runs[compress.n_runs] = Run { down: start - n_before, ones: ones as u32 };
            compress.n_runs += 1;
            n_before += n_ones;
            // In two steps: a run may reach the highest bit.
            rest = rest >> (start + n_ones - 1) >> 1 << (start + n_ones - 1) << 1;
        }
        compress
    }

    pub(crate) fn mask(&self) -> u64 {
        self.mask
    }

    /// Was the machine seen to have the instruction, and is it to be used?
    pub(crate) fn has_instruction(&self) -> bool {
        self.has_instruction
    }

    /// Of each word, the bits under the mask.
    ///
    /// # Panics
    /// When there is not room for exactly as many numbers as there are words.
    pub fn words(&self, words: &[u64], to: &mut [u32]) {
        assert_eq!(words.len(), to.len());
        #[cfg(target_arch = "x86_64")]
        if self.has_instruction {
            // SAFETY: the machine was seen to have BMI2.
            unsafe { with_instruction(self.mask, words, to) };
            return;
        }
        // A fixed number of runs lets the compiler unroll, and use vectors.
        match self.n_runs {
            0 => to.fill(0),
            1 => self.by_runs::<1>(words, to),
            2 => self.by_runs::<2>(words, to),
            3 => self.by_runs::<3>(words, to),
            4 => self.by_runs::<4>(words, to),
            5 => self.by_runs::<5>(words, to),
            6 => self.by_runs::<6>(words, to),
            7 => self.by_runs::<7>(words, to),
            8 => self.by_runs::<8>(words, to),
            n => {
                for (word, to) in words.iter().zip(to) {
                    *to = self.runs[..n]
                        .iter()
                        .fold(0, |bits, run| bits | ((word >> run.down) as u32 & run.ones));
                }
            }
        }
    }

    /// Calls `visit` with the bits of each word under the mask and what goes with it: for what is done with them at once.
    #[inline]
    pub fn for_each<T>(&self, words: &[u64], with: impl Iterator<Item = T>, visit: impl FnMut(u32, T)) {
        #[cfg(target_arch = "x86_64")]
        if self.has_instruction {
            // SAFETY: the machine was seen to have BMI2.
            unsafe { each_with_instruction(self.mask, words, with, visit) };
            return;
        }
        in_blocks(words, with, |words, numbers| self.words(words, numbers), visit);
    }

    /// The word that has these bits under the mask, and no others.
    #[inline]
    pub fn expand(&self, number: u32) -> u64 {
        #[cfg(target_arch = "x86_64")]
        if self.has_instruction {
            // SAFETY: the machine was seen to have BMI2.
            return unsafe { expand_with_instruction(self.mask, number) };
        }
        let runs = &self.runs[..self.n_runs];
        runs.iter().fold(0, |word, run| word | u64::from(number & run.ones) << run.down)
    }

    fn by_runs<const N: usize>(&self, words: &[u64], to: &mut [u32]) {
        let mut runs = [Run::default(); N];
        runs.copy_from_slice(&self.runs[..N]);
        for (word, to) in words.iter().zip(to) {
            *to = runs.iter().fold(0, |bits, run| bits | ((word >> run.down) as u32 & run.ones));
        }
    }
}

/// The same for words of 128 bits.
#[derive(Debug, Clone)]
pub struct CompressWide {
    low: Compress,
    high: Compress,
    n_low: u32,
}

impl CompressWide {
    /// Pushes together the bits of `mask`.
    ///
    /// # Panics
    /// When there are more than 32: a number of 32 bits comes out.
    pub fn new(mask: u128) -> Self {
        CompressWide::of_halves(mask, Compress::new)
    }

    /// The same without the instruction, on any machine.
    ///
    /// # Panics
    /// When `mask` has more than 32 ones.
    pub fn portable(mask: u128) -> Self {
        CompressWide::of_halves(mask, Compress::portable)
    }

    fn of_halves(mask: u128, compress: fn(u64) -> Compress) -> Self {
        assert!(mask.count_ones() <= 32, "32 bits come out");
        let low = mask as u64;
        CompressWide { low: compress(low), high: compress((mask >> 64) as u64), n_low: low.count_ones() }
    }

    /// Of each word, the bits under the mask.
    ///
    /// # Panics
    /// When there is not room for exactly as many numbers as there are words.
    pub fn words(&self, words: &[u128], to: &mut [u32]) {
        assert_eq!(words.len(), to.len());
        let (mut halves, mut high) = ([0; BLOCK], [0; BLOCK]);
        for (words, to) in words.chunks(BLOCK).zip(to.chunks_mut(BLOCK)) {
            let (halves, high) = (&mut halves[..words.len()], &mut high[..words.len()]);
            halves.iter_mut().zip(words).for_each(|(half, word)| *half = *word as u64);
            self.low.words(halves, to);
            halves.iter_mut().zip(words).for_each(|(half, word)| *half = (word >> 64) as u64);
            self.high.words(halves, high);
            // Where all 32 bits are low ones, none is high.
            let up = self.n_low % 32;
            to.iter_mut().zip(high).for_each(|(to, high)| *to |= *high << up);
        }
    }

    /// Calls `visit` with the bits of each word under the mask and what goes with it: for what is done with them at once.
    #[inline]
    pub fn for_each<T>(&self, words: &[u128], with: impl Iterator<Item = T>, visit: impl FnMut(u32, T)) {
        #[cfg(target_arch = "x86_64")]
        if self.low.has_instruction {
            // SAFETY: the machine was seen to have BMI2.
            unsafe { each_wide_with_instruction(self, words, with, visit) };
            return;
        }
        in_blocks(words, with, |words, numbers| self.words(words, numbers), visit);
    }

    /// The word that has these bits under the mask, and no others.
    #[inline]
    pub fn expand(&self, number: u32) -> u128 {
        // A shift by all 32 bits is none: in 64 bits.
        let high = (u64::from(number) >> self.n_low) as u32;
        u128::from(self.low.expand(number)) | u128::from(self.high.expand(high)) << 64
    }
}

/// Calls `visit` with the number of each word and what goes with it; numbers are told some at a time.
fn in_blocks<W, T>(
    words: &[W],
    mut with: impl Iterator<Item = T>,
    compress: impl Fn(&[W], &mut [u32]),
    mut visit: impl FnMut(u32, T),
) {
    let mut numbers = [0; BLOCK];
    for words in words.chunks(BLOCK) {
        let numbers = &mut numbers[..words.len()];
        compress(words, numbers);
        numbers.iter().zip(with.by_ref()).for_each(|(&number, with)| visit(number, with));
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "bmi2")]
fn with_instruction(mask: u64, words: &[u64], to: &mut [u32]) {
    for (word, to) in words.iter().zip(to) {
        *to = std::arch::x86_64::_pext_u64(*word, mask) as u32;
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "bmi2")]
fn each_with_instruction<T>(
    mask: u64,
    words: &[u64],
    with: impl Iterator<Item = T>,
    mut visit: impl FnMut(u32, T),
) {
    for (&word, with) in words.iter().zip(with) {
        visit(std::arch::x86_64::_pext_u64(word, mask) as u32, with);
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "bmi2")]
fn each_wide_with_instruction<T>(
    compress: &CompressWide,
    words: &[u128],
    with: impl Iterator<Item = T>,
    mut visit: impl FnMut(u32, T),
) {
    let CompressWide { low, high, n_low } = compress;
    let up = n_low % 32;
    for (&word, with) in words.iter().zip(with) {
        let of_low = std::arch::x86_64::_pext_u64(word as u64, low.mask) as u32;
        let of_high = std::arch::x86_64::_pext_u64((word >> 64) as u64, high.mask) as u32;
        visit(of_low | of_high << up, with);
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "bmi2")]
fn expand_with_instruction(mask: u64, number: u32) -> u64 {
    std::arch::x86_64::_pdep_u64(u64::from(number), mask)
}

/// Has the machine the instruction, and is it worth using? Looked up once.
fn has_fast_instruction() -> bool {
    static HAS: OnceLock<bool> = OnceLock::new();
    *HAS.get_or_init(|| {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("bmi2") {
            // Miri knows the instruction, but nothing of makers and versions.
            return cfg!(miri) || !is_amd_before_zen_3();
        }
        false
    })
}

#[cfg(target_arch = "x86_64")]
fn is_amd_before_zen_3() -> bool {
    use std::arch::x86_64::__cpuid;
    #[allow(unused_unsafe, reason = "safe to call since some version of the compiler")]
    // SAFETY: every 64-bit machine has this instruction, and leaves 0 and 1.
    let (maker, version) = unsafe { (__cpuid(0), __cpuid(1).eax) };
    let is_amd = maker.ebx.to_le_bytes() == *b"Auth";
    let family = (version >> 8 & 0xF) + (version >> 20 & 0xFF);
    is_amd && family < 0x19
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bit_by_bit(word: u64, mask: u64) -> u32 {
        let mut ones = (0..64).filter(|at| mask >> at & 1 == 1);
        (0..32)
            .fold(0, |bits, place| ones.next().map_or(bits, |at| bits | ((word >> at & 1) as u32) << place))
    }

    fn check_one_by_one(expected: &[u32], visit_all: impl Fn(&mut dyn FnMut(u32, usize))) {
        let mut found = Vec::new();
        visit_all(&mut |number, at| {
            assert_eq!(at, found.len(), "each has its own");
            found.push(number);
        });
        assert_eq!(found, expected);
    }

    #[test]
    fn both_ways_push_together_what_single_bits_say() {
        let mut state = 3_u64;
        let mut draw = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state ^ state >> 29
        };
        let edges = [0, 1, 1 << 63, u64::from(u32::MAX), u64::from(u32::MAX) << 32, 0x5555_5555_5555_5555];
        // Miri takes a second for some thousand single bits.
        let n_sparse = if cfg!(miri) { 4 } else { 300 };
        let sparse: Vec<u64> = (0..n_sparse).map(|_| draw() & draw() & draw()).collect();
        let n_words = if cfg!(miri) { 9 } else { 50 };
        let words: Vec<u64> = (0..n_words).map(|_| draw()).chain([0, u64::MAX]).collect();
        let mut n_masks = 0;
        for mask in edges.into_iter().chain(sparse).filter(|mask| mask.count_ones() <= 32) {
            n_masks += 1;
            let expected: Vec<u32> = words.iter().map(|&word| bit_by_bit(word, mask)).collect();
            for compress in [Compress::new(mask), Compress::portable(mask)] {
                let mut found = vec![0; words.len()];
                compress.words(&words, &mut found);
                assert_eq!(found, expected, "{mask:x}");
                check_one_by_one(&expected, |visit| compress.for_each(&words, 0.., visit));
                words.iter().zip(&found).for_each(|(word, &number)| {
                    assert_eq!(compress.expand(number), word & mask, "{mask:x}");
                });
            }
        }
        assert!(n_masks > if cfg!(miri) { 5 } else { 250 });
    }

    #[test]
    fn bits_of_both_halves_come_out_together() {
        let n_words: u128 = if cfg!(miri) { 11 } else { 600 };
        let words: Vec<u128> =
            (0..n_words).map(|n| n.wrapping_mul(0x0123_4567_89AB_CDEF_F0E1_D2C3_B4A5_9687)).collect();
        let low = u128::from(u32::MAX) << 20;
        for mask in [0, 1, 1 << 127 | 1, low, 0xFF0F << 56, 0xF00F_00F0 << 70 | 0x7007] {
            let expected: Vec<u32> = words
                .iter()
                .map(|&word| {
                    let low = bit_by_bit(word as u64, mask as u64);
                    let high = bit_by_bit((word >> 64) as u64, (mask >> 64) as u64);
                    (u64::from(low) | u64::from(high) << (mask as u64).count_ones()) as u32
                })
                .collect();
            for compress in [CompressWide::new(mask), CompressWide::portable(mask)] {
                let mut found = vec![0; words.len()];
                compress.words(&words, &mut found);
                assert_eq!(found, expected, "{mask:x}");
                check_one_by_one(&expected, |visit| compress.for_each(&words, 0.., visit));
                words.iter().zip(&found).for_each(|(word, &number)| {
                    assert_eq!(compress.expand(number), word & mask, "{mask:x}");
                });
            }
        }
    }

    #[test]
    #[should_panic(expected = "32 bits come out")]
    fn more_than_32_bits_do_not_fit() {
        Compress::new(u64::MAX);
    }
}
