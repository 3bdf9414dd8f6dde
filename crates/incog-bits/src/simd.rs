//! The same loops, compiled for different vectors.
//!
//! Each operation is one plain loop (`plain::*`), inlined into functions that the compiler may use more of the machine for.
//! A [`Path`] is a promise that the machine has what its functions need: it can only be had from [`Path::best`] and
//! [`Path::available`], which look. That is all the unsafe code relies on.
#![allow(unsafe_code)]

use std::sync::OnceLock;

/// Eight words that start where a cache line does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(align(64))]
pub(crate) struct Line(pub(crate) [u64; 8]);

/// Which vectors are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Path(Kind);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
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
    pub const PORTABLE: Path = Path(Kind::Portable);

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
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt") {
                paths.push(Path(Kind::Avx2));
            }
            if is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512vpopcntdq")
            {
                paths.push(Path(Kind::Avx512));
            }
        }
        #[cfg(target_arch = "aarch64")]
        if std::arch::is_aarch64_feature_detected!("neon") {
            paths.push(Path(Kind::Neon));
        }
        paths
    }

    /// What the path is called.
    pub fn name(self) -> &'static str {
        match self.0 {
            Kind::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 => "avx2",
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 => "avx512",
            #[cfg(target_arch = "aarch64")]
            Kind::Neon => "neon",
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
}

/// An operation: the plain loop, and the same compiled for each kind of vectors.
macro_rules! operation {
    ($name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)?) => {
        impl Path {
            #[inline]
            pub(crate) fn $name(self, $($argument: $type),*) $(-> $result)? {
                #[cfg(target_arch = "x86_64")]
                #[target_feature(enable = "avx2,popcnt")]
                fn avx2($($argument: $type),*) $(-> $result)? {
                    plain::$name($($argument),*)
                }

                #[cfg(target_arch = "x86_64")]
                #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vpopcntdq,popcnt")]
                fn avx512($($argument: $type),*) $(-> $result)? {
                    plain::$name($($argument),*)
                }

                #[cfg(target_arch = "aarch64")]
                #[target_feature(enable = "neon")]
                fn neon($($argument: $type),*) $(-> $result)? {
                    plain::$name($($argument),*)
                }

                match self.0 {
                    Kind::Portable => plain::$name($($argument),*),
                    // SAFETY: a path of this kind is only made where AVX2 was detected.
                    #[cfg(target_arch = "x86_64")]
                    Kind::Avx2 => unsafe { avx2($($argument),*) },
                    // SAFETY: a path of this kind is only made where these parts of AVX-512 were detected.
                    #[cfg(target_arch = "x86_64")]
                    Kind::Avx512 => unsafe { avx512($($argument),*) },
                    // SAFETY: a path of this kind is only made where NEON was detected.
                    #[cfg(target_arch = "aarch64")]
                    Kind::Neon => unsafe { neon($($argument),*) },
                }
            }
        }
    };
}

operation!(count(a: &[Line]) -> u64);
operation!(and_count(a: &[Line], b: &[Line]) -> u64);
operation!(and(a: &[Line], b: &[Line], to: &mut [Line]) -> u64);
operation!(unite(a: &mut [Line], b: &[Line]));

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
            Kind::Portable => plain::equal(codes, code, to),
            // SAFETY: a path of this kind is only made where AVX2 was detected.
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 => unsafe { avx2(codes, code, to) },
            // SAFETY: a path of this kind is only made where these parts of AVX-512 were detected.
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 => unsafe { avx512(codes, code, to) },
            #[cfg(target_arch = "aarch64")]
            Kind::Neon => plain::equal(codes, code, to),
        }
    }
}
