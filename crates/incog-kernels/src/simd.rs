//! Each operation for different vectors.
//!
//! An operation is a plain loop (`plain::*`). Where it counts bits it is there again, by hand, for AVX2 and AVX-512:
//! of the plain loop the compiler makes a sum across the vector for every line, or gathers.
//!
//! | vectors | how bits are counted |
//! |---|---|
//! | AVX-512 | by its population count, a line at a time, into four sums |
//! | AVX2 | by carry-save addition (Harley and Seal; Muła, Kurz, Lemire 2018): of 16 vectors, one is looked up |
//! | none, NEON | word by word, as the compiler likes it |
//!
//! Beyond the cache, what counts is how much memory is on its way. Hence the two halves of a set are walked in turns,
//! which the machine foresees as two streams, and while a block is counted the one after it is asked for.
//!
//! A [`Path`] is a promise that the machine has what its functions need: it can only be had from [`Path::best`] and
//! [`Path::available`], which look. The unsafe code relies on this and on how a [`Line`] lies in memory.
#![allow(unsafe_code)]

use std::sync::OnceLock;

/// Eight words that start where a cache line does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(align(64))]
pub(crate) struct Line(pub(crate) [u64; 8]);

/// Which vectors are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Path(VectorKind);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum VectorKind {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
    #[cfg(target_arch = "aarch64")]
    Neon,
}

impl Path {
    /// None: every machine can do it.
    pub const PORTABLE: Path = Path(VectorKind::Portable);

    /// The widest that this machine has. Looked up once.
    pub fn best() -> Path {
        static BEST: OnceLock<Path> = OnceLock::new();
        *BEST.get_or_init(|| *Path::available().last().expect("the portable path is always there"))
    }

    /// All that this machine has, the widest last.
    pub fn available() -> Vec<Path> {
        #[allow(unused_mut, reason = "other machines have no more")]
        let mut paths = vec![Path::PORTABLE];
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx2") {
                paths.push(Path(VectorKind::Avx2));
            }
            if is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512vpopcntdq")
            {
                paths.push(Path(VectorKind::Avx512));
            }
        }
        #[cfg(target_arch = "aarch64")]
        if std::arch::is_aarch64_feature_detected!("neon") {
            paths.push(Path(VectorKind::Neon));
        }
        paths
    }

    /// What the path is called.
    pub fn name(self) -> &'static str {
        match self.0 {
            VectorKind::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            VectorKind::Avx2 => "avx2",
            #[cfg(target_arch = "x86_64")]
            VectorKind::Avx512 => "avx512",
            #[cfg(target_arch = "aarch64")]
            VectorKind::Neon => "neon",
        }
    }
}

/// The loops themselves.
mod plain {
    use super::Line;

    #[inline(always)]
    pub(super) fn count(a: &[Line]) -> u64 {
        a.iter().map(|a| a.0.iter().map(|word| u64::from(word.count_ones())).sum::<u64>()).sum()
    }

    #[inline(always)]
    pub(super) fn and_count(a: &[Line], b: &[Line]) -> u64 {
        let in_line = |(a, b): (&Line, &Line)| -> u64 {
            a.0.iter().zip(&b.0).map(|(a, b)| u64::from((a & b).count_ones())).sum()
        };
        a.iter().zip(b).map(in_line).sum()
    }

    #[inline(always)]
    pub(super) fn and(a: &[Line], b: &[Line], to: &mut [Line]) -> u64 {
        let mut count = 0;
        for ((a, b), to) in a.iter().zip(b).zip(to) {
            for ((a, b), to) in a.0.iter().zip(&b.0).zip(&mut to.0) {
                *to = a & b;
                count += u64::from(to.count_ones());
            }
        }
        count
    }

    #[inline(always)]
    pub(super) fn equal(codes: &[[u8; 64]], code: u8, to: &mut [u64]) {
        for (codes, to) in codes.iter().zip(to) {
            let bits = codes.iter().enumerate().map(|(at, &other)| u64::from(other == code) << at);
            *to = bits.fold(0, |word, bit| word | bit);
        }
    }

    #[inline(always)]
    pub(super) fn unite(a: &mut [Line], b: &[Line]) {
        for (a, b) in a.iter_mut().zip(b) {
            for (a, b) in a.0.iter_mut().zip(&b.0) {
                *a |= b;
            }
        }
    }

    /// The sum of all words, without carry: see [`Bits::read_on`](crate::Bits::read_on).
    #[inline(always)]
    pub(super) fn read(a: &[Line], b: &[Line]) -> u64 {
        a.iter().chain(b).flat_map(|line| line.0).fold(0, u64::wrapping_add)
    }
}

/// How many lines are counted at once.
#[cfg(target_arch = "x86_64")]
const BLOCK: usize = 8;

/// 0 to n − 1, the halves in turns: 0, n / 2, 1, n / 2 + 1 and so on.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn by_halves(n: usize) -> impl Iterator<Item = usize> {
    (0..n).map(move |step| step / 2 + step % 2 * n.div_ceil(2))
}

/// Asks for the block after this one, if there is one.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn ask_ahead(block: &[Line; BLOCK]) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    for line in block {
        let ahead = std::ptr::from_ref(line).wrapping_add(BLOCK);
        // SAFETY: this is a hint; it reads nothing and may point anywhere.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(ahead.cast()) };
    }
}

/// The operations by hand, from a module's `Counter` and its functions on single vectors. They go by blocks of lines
/// and, for what is left, by vectors: of a plain loop over few lines, the compiler makes gathers.
#[cfg(target_arch = "x86_64")]
macro_rules! by_hand {
    ($features:literal) => {
        #[target_feature(enable = $features)]
        pub(super) fn count(a: &[Line]) -> u64 {
            let (a, a_rest) = a.as_chunks::<BLOCK>();
            let mut counter = Counter::new();
            for block in by_halves(a.len()) {
                let a = &a[block];
                ask_ahead(a);
                counter.add(|at| load(a, at));
            }
            for at in 0..VECTORS * a_rest.len() {
                counter.add_one(load(a_rest, at));
            }
            counter.finish()
        }

        #[target_feature(enable = $features)]
        pub(super) fn and_count(a: &[Line], b: &[Line]) -> u64 {
            let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<BLOCK>(), b.as_chunks::<BLOCK>());
            let mut counter = Counter::new();
            for block in by_halves(a.len().min(b.len())) {
                let (a, b) = (&a[block], &b[block]);
                ask_ahead(a);
                ask_ahead(b);
                counter.add(|at| both(load(a, at), load(b, at)));
            }
            for at in 0..VECTORS * a_rest.len().min(b_rest.len()) {
                counter.add_one(both(load(a_rest, at), load(b_rest, at)));
            }
            counter.finish()
        }

        #[target_feature(enable = $features)]
        pub(super) fn and(a: &[Line], b: &[Line], to: &mut [Line]) -> u64 {
            let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<BLOCK>(), b.as_chunks::<BLOCK>());
            let (to, to_rest) = to.as_chunks_mut::<BLOCK>();
            let mut counter = Counter::new();
            for block in by_halves(a.len().min(b.len()).min(to.len())) {
                let (a, b, to) = (&a[block], &b[block], &mut to[block]);
                ask_ahead(a);
                ask_ahead(b);
                counter.add(|at| {
                    let vector = both(load(a, at), load(b, at));
                    store(to, at, vector);
                    vector
                });
            }
            for at in 0..VECTORS * a_rest.len().min(b_rest.len()).min(to_rest.len()) {
                let vector = both(load(a_rest, at), load(b_rest, at));
                store(to_rest, at, vector);
                counter.add_one(vector);
            }
            counter.finish()
        }

        /// Does not ask ahead: that makes it slower.
        #[target_feature(enable = $features)]
        pub(super) fn read(a: &[Line], b: &[Line]) -> u64 {
            let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<BLOCK>(), b.as_chunks::<BLOCK>());
            let mut sums = [zero(); 8];
            for block in by_halves(a.len().min(b.len())) {
                for at in 0..VECTORS * BLOCK {
                    let two = plus(load(&a[block], at), load(&b[block], at));
                    sums[at % 8] = plus(sums[at % 8], two);
                }
            }
            for at in 0..VECTORS * a_rest.len().min(b_rest.len()) {
                sums[0] = plus(sums[0], plus(load(a_rest, at), load(b_rest, at)));
            }
            sum(sums.into_iter().fold(zero(), |all, sum| plus(all, sum)))
        }
    };
}

/// Counting with AVX2: vectors of half a line.
#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::{BLOCK, Line, ask_ahead, by_halves};
    use std::arch::x86_64::*;

    /// Of a line.
    const VECTORS: usize = 2;

    /// Vector `at` of some lines.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn load(lines: &[Line], at: usize) -> __m256i {
        let half: &[u64; 4] = &lines[at / 2].0.as_chunks().0[at % 2];
        // SAFETY: the four words are there to read, and half a line starts at a multiple of 32 bytes.
        unsafe { _mm256_load_si256(std::ptr::from_ref(half).cast()) }
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn store(lines: &mut [Line], at: usize, vector: __m256i) {
        let half: &mut [u64; 4] = &mut lines[at / 2].0.as_chunks_mut().0[at % 2];
        // SAFETY: the four words are there to write, and half a line starts at a multiple of 32 bytes.
        unsafe { _mm256_store_si256(std::ptr::from_mut(half).cast(), vector) }
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn both(a: __m256i, b: __m256i) -> __m256i {
        _mm256_and_si256(a, b)
    }

    /// Word by word.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn plus(a: __m256i, b: __m256i) -> __m256i {
        _mm256_add_epi64(a, b)
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn zero() -> __m256i {
        _mm256_setzero_si256()
    }

    /// For each bit of a vector, how many vectors of blocks it was in: a binary number whose digits are in five places.
    /// The last one is kept as a sum of counts, and so are vectors that were added one by one.
    struct Counter {
        one_by_one: __m256i,
        ones: __m256i,
        twos: __m256i,
        fours: __m256i,
        eights: __m256i,
        sixteens: __m256i,
    }

    impl Counter {
        #[target_feature(enable = "avx2")]
        #[inline]
        fn new() -> Self {
            Counter {
                one_by_one: zero(),
                ones: zero(),
                twos: zero(),
                fours: zero(),
                eights: zero(),
                sixteens: zero(),
            }
        }

        /// Adds 16 vectors, a block.
        #[target_feature(enable = "avx2")]
        #[inline]
        fn add(&mut self, mut vector: impl FnMut(usize) -> __m256i) {
            let mut eights = [zero(); 2];
            for (in_half, eights) in eights.iter_mut().enumerate() {
                let mut fours = [zero(); 2];
                for (in_quarter, fours) in fours.iter_mut().enumerate() {
                    let at = in_half * 8 + in_quarter * 4;
                    let twos = [
                        carry(&mut self.ones, vector(at), vector(at + 1)),
                        carry(&mut self.ones, vector(at + 2), vector(at + 3)),
                    ];
                    *fours = carry(&mut self.twos, twos[0], twos[1]);
                }
                *eights = carry(&mut self.fours, fours[0], fours[1]);
            }
            let sixteens = carry(&mut self.eights, eights[0], eights[1]);
            self.sixteens = plus(self.sixteens, count_words(sixteens));
        }

        #[target_feature(enable = "avx2")]
        #[inline]
        fn add_one(&mut self, vector: __m256i) {
            self.one_by_one = plus(self.one_by_one, count_words(vector));
        }

        #[target_feature(enable = "avx2")]
        #[inline]
        fn finish(self) -> u64 {
            let digits = [self.eights, self.fours, self.twos, self.ones];
            let carried = digits
                .into_iter()
                .fold(self.sixteens, |counts, digit| plus(plus(counts, counts), count_words(digit)));
            sum(plus(carried, self.one_by_one))
        }
    }

    /// Adds two vectors to a digit, bit by bit. The result is what is carried to the next digit.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn carry(digit: &mut __m256i, a: __m256i, b: __m256i) -> __m256i {
        let one = _mm256_xor_si256(*digit, a);
        let carried = _mm256_or_si256(both(*digit, a), both(one, b));
        *digit = _mm256_xor_si256(one, b);
        carried
    }

    /// How many bits each word has: looked up for half bytes.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn count_words(vector: __m256i) -> __m256i {
        let counts =
            _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
        let low = _mm256_set1_epi8(15);
        let in_low = _mm256_shuffle_epi8(counts, _mm256_and_si256(vector, low));
        let in_high = _mm256_shuffle_epi8(counts, _mm256_and_si256(_mm256_srli_epi16::<4>(vector), low));
        _mm256_sad_epu8(_mm256_add_epi8(in_low, in_high), zero())
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn sum(words: __m256i) -> u64 {
        let halves = _mm_add_epi64(_mm256_castsi256_si128(words), _mm256_extracti128_si256::<1>(words));
        let words = [_mm_extract_epi64::<0>(halves), _mm_extract_epi64::<1>(halves)];
        words[0].wrapping_add(words[1]).cast_unsigned()
    }

    by_hand!("avx2");
}

/// Counting with AVX-512: vectors of a line.
#[cfg(target_arch = "x86_64")]
mod avx512 {
    use super::{BLOCK, Line, ask_ahead, by_halves};
    use std::arch::x86_64::*;

    /// Of a line.
    const VECTORS: usize = 1;

    /// Vector `at` of some lines.
    #[target_feature(enable = "avx512f")]
    #[inline]
    fn load(lines: &[Line], at: usize) -> __m512i {
        // SAFETY: a line is there to read, and starts at a multiple of 64 bytes.
        unsafe { _mm512_load_si512(std::ptr::from_ref(&lines[at]).cast()) }
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    fn store(lines: &mut [Line], at: usize, vector: __m512i) {
        // SAFETY: a line is there to write, and starts at a multiple of 64 bytes.
        unsafe { _mm512_store_si512(std::ptr::from_mut(&mut lines[at]).cast(), vector) }
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    fn both(a: __m512i, b: __m512i) -> __m512i {
        _mm512_and_si512(a, b)
    }

    /// Word by word.
    #[target_feature(enable = "avx512f")]
    #[inline]
    fn plus(a: __m512i, b: __m512i) -> __m512i {
        _mm512_add_epi64(a, b)
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    fn zero() -> __m512i {
        _mm512_setzero_si512()
    }

    /// Sums of counts; several, so that an addition need not wait for the one before.
    struct Counter([__m512i; 4]);

    impl Counter {
        #[target_feature(enable = "avx512f")]
        #[inline]
        fn new() -> Self {
            Counter([zero(); 4])
        }

        /// Adds a block.
        #[target_feature(enable = "avx512f,avx512vpopcntdq")]
        #[inline]
        fn add(&mut self, mut vector: impl FnMut(usize) -> __m512i) {
            for at in 0..BLOCK {
                self.0[at % 4] = plus(self.0[at % 4], _mm512_popcnt_epi64(vector(at)));
            }
        }

        #[target_feature(enable = "avx512f,avx512vpopcntdq")]
        #[inline]
        fn add_one(&mut self, vector: __m512i) {
            self.0[0] = plus(self.0[0], _mm512_popcnt_epi64(vector));
        }

        #[target_feature(enable = "avx512f")]
        #[inline]
        fn finish(self) -> u64 {
            sum(self.0.into_iter().fold(zero(), |all, counts| plus(all, counts)))
        }
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    fn sum(words: __m512i) -> u64 {
        _mm512_reduce_add_epi64(words).cast_unsigned()
    }

    by_hand!("avx512f,avx512vpopcntdq");
}

/// An operation: on each kind of vectors by the function that is named, which is either a module's own or the plain
/// loop compiled for these vectors.
macro_rules! operation {
    ($name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)?, by hand) => {
        operation!(@path $name($($argument: $type),*) $(-> $result)?, avx2::$name, avx512::$name);
    };
    ($name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)?) => {
        #[cfg(target_arch = "x86_64")]
        mod $name {
            use super::{Line, plain};

            #[target_feature(enable = "avx2")]
            pub(super) fn avx2($($argument: $type),*) $(-> $result)? {
                plain::$name($($argument),*)
            }

            #[target_feature(enable = "avx512f")]
            pub(super) fn avx512($($argument: $type),*) $(-> $result)? {
                plain::$name($($argument),*)
            }
        }

        operation!(@path $name($($argument: $type),*) $(-> $result)?, $name::avx2, $name::avx512);
    };
    (@path $name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)?, $avx2:path, $avx512:path) => {
        impl Path {
            #[inline]
            pub(crate) fn $name(self, $($argument: $type),*) $(-> $result)? {
                match self.0 {
                    VectorKind::Portable => plain::$name($($argument),*),
                    // SAFETY: a path of this kind is only made where AVX2 was detected.
                    #[cfg(target_arch = "x86_64")]
                    VectorKind::Avx2 => unsafe { $avx2($($argument),*) },
                    // SAFETY: a path of this kind is only made where these parts of AVX-512 were detected.
                    #[cfg(target_arch = "x86_64")]
                    VectorKind::Avx512 => unsafe { $avx512($($argument),*) },
                    // NEON is part of what the compiler may use for the plain loop.
                    #[cfg(target_arch = "aarch64")]
                    VectorKind::Neon => plain::$name($($argument),*),
                }
            }
        }
    };
}

operation!(count(a: &[Line]) -> u64, by hand);
operation!(and_count(a: &[Line], b: &[Line]) -> u64, by hand);
operation!(and(a: &[Line], b: &[Line], to: &mut [Line]) -> u64, by hand);
operation!(unite(a: &mut [Line], b: &[Line]));
operation!(read(a: &[Line], b: &[Line]) -> u64, by hand);

impl Path {
    /// Makes each bit say whether its code is `code`. Compilers do not find the instructions made for this.
    pub(crate) fn equal(self, codes: &[[u8; 64]], code: u8, to: &mut [u64]) {
        #[cfg(target_arch = "x86_64")]
        use std::arch::x86_64 as x86;

        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2")]
        fn avx2(codes: &[[u8; 64]], code: u8, to: &mut [u64]) {
            let code = x86::_mm256_set1_epi8(code.cast_signed());
            for (codes, to) in codes.iter().zip(to) {
                let (low, high) = codes.split_at(32);
                // SAFETY: both halves have the 32 bytes that are read; no alignment is needed.
                let (low, high) = unsafe {
                    (
                        x86::_mm256_loadu_si256(low.as_ptr().cast()),
                        x86::_mm256_loadu_si256(high.as_ptr().cast()),
                    )
                };
                let low = x86::_mm256_movemask_epi8(x86::_mm256_cmpeq_epi8(low, code)).cast_unsigned();
                let high = x86::_mm256_movemask_epi8(x86::_mm256_cmpeq_epi8(high, code)).cast_unsigned();
                *to = u64::from(low) | u64::from(high) << 32;
            }
        }

        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx512f,avx512bw")]
        fn avx512(codes: &[[u8; 64]], code: u8, to: &mut [u64]) {
            let code = x86::_mm512_set1_epi8(code.cast_signed());
            for (codes, to) in codes.iter().zip(to) {
                // SAFETY: the array has the 64 bytes that are read; no alignment is needed.
                let codes = unsafe { x86::_mm512_loadu_si512(codes.as_ptr().cast()) };
                *to = x86::_mm512_cmpeq_epi8_mask(codes, code);
            }
        }

        match self.0 {
            VectorKind::Portable => plain::equal(codes, code, to),
            // SAFETY: a path of this kind is only made where AVX2 was detected.
            #[cfg(target_arch = "x86_64")]
            VectorKind::Avx2 => unsafe { avx2(codes, code, to) },
            // SAFETY: a path of this kind is only made where these parts of AVX-512 were detected.
            #[cfg(target_arch = "x86_64")]
            VectorKind::Avx512 => unsafe { avx512(codes, code, to) },
            #[cfg(target_arch = "aarch64")]
            VectorKind::Neon => plain::equal(codes, code, to),
        }
    }
}
