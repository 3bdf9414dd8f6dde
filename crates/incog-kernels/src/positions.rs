//! Where do certain bytes stand in a text?
//!
//! All places of up to four different bytes, in order, in one pass: 64 bytes are compared at a time, and what was equal is a word
//! whose ones are the places. Whoever cuts text at separators asks once a block instead of once a field.
//!
//! Cost: some tenth of a nanosecond a byte with AVX2, and one or two a place found; without, some nanosecond a byte.
#![allow(unsafe_code)]

/// How many bytes are compared at a time: one for each bit of a word.
const STEP: usize = 64;

/// Replaces `to` by the places at which one of `wanted` stands in `text`, ascending.
///
/// # Panics
/// When the text has 4 GiB or more: places are numbers of 32 bits.
pub fn positions(text: &[u8], wanted: [u8; 4], to: &mut Vec<u32>) {
    assert!(u32::try_from(text.len()).is_ok(), "places in the text do not fit 32 bits");
    to.clear();
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the machine was seen to have AVX2.
        unsafe { with_avx2(text, wanted, to) };
        return;
    }
    portable(text, wanted, to);
}

fn portable(text: &[u8], wanted: [u8; 4], to: &mut Vec<u32>) {
    let mut is_wanted = [false; 256];
    for byte in wanted {
        is_wanted[usize::from(byte)] = true;
    }
    let places = text.iter().enumerate().filter(|&(_, &byte)| is_wanted[usize::from(byte)]);
    to.extend(places.map(|(at, _)| at as u32));
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn with_avx2(text: &[u8], wanted: [u8; 4], to: &mut Vec<u32>) {
    use std::arch::x86_64::{
        __m256i, _mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_movemask_epi8, _mm256_or_si256,
        _mm256_set1_epi8,
    };

    let wanted = wanted.map(|byte| _mm256_set1_epi8(byte.cast_signed()));
    let equal = |half: &[u8; 32]| {
        // SAFETY: the array has as many bytes as the vector, which need not be aligned.
        let bytes = unsafe { _mm256_loadu_si256(half.as_ptr().cast::<__m256i>()) };
        let [a, b, c, d] = wanted.map(|byte| _mm256_cmpeq_epi8(bytes, byte));
        let any = _mm256_or_si256(_mm256_or_si256(a, b), _mm256_or_si256(c, d));
        u64::from(_mm256_movemask_epi8(any).cast_unsigned())
    };
    let mut found = [0_u32; STEP];
    let mut keep = |start: usize, mut places: u64| {
        let mut n_found = 0;
        while places != 0 {
            found[n_found % STEP] = start as u32 + places.trailing_zeros();
            n_found += 1;
            places &= places - 1;
        }
        to.extend_from_slice(&found[..n_found]);
    };
    let (whole, rest) = text.as_chunks::<STEP>();
    for (at, chunk) in whole.iter().enumerate() {
        let (halves, _) = chunk.as_chunks::<32>();
        keep(at * STEP, equal(&halves[0]) | equal(&halves[1]) << 32);
    }
    let mut last = [0; STEP];
    last[..rest.len()].copy_from_slice(rest);
    let (halves, _) = last.as_chunks::<32>();
    let places = equal(&halves[0]) | equal(&halves[1]) << 32;
    // What was added behind the end is not in the text, even if somebody wants zeros.
    keep(whole.len() * STEP, places & ((1 << rest.len()) - 1));
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Miri takes a second for some thousand bytes.
    fn config() -> ProptestConfig {
        let cases = if cfg!(miri) { 8 } else { 256 };
        ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
    }

    proptest! {
        #![proptest_config(config())]
        #[test]
        fn every_place_is_found_and_no_other(text in proptest::collection::vec(0_u8..9, 0..300), wanted: [u8; 4]) {
            let wanted = wanted.map(|byte| byte % 10);
            let places = (0..text.len() as u32).filter(|&at| wanted.contains(&text[at as usize]));
            let expected: Vec<u32> = places.collect();
            let mut found = vec![7];
            positions(&text, wanted, &mut found);
            prop_assert_eq!(&found, &expected);
            found.clear();
            portable(&text, wanted, &mut found);
            prop_assert_eq!(&found, &expected);
        }
    }
}
