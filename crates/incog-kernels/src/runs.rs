//! Counting bits in few words that stand in many places.
//!
//! Searches count boxes of lattices: runs of a few words each, or all words under many masks. There the population count of single words beats vectors; it is
//! used where the machine has it, which is found out once, at run time.
#![allow(unsafe_code)]

/// How many ones of `mask` are in the words of some runs, given by the first word and the one after the last.
///
/// # Panics
/// When a run ends beyond the words.
pub fn count_under(words: &[u64], mask: u64, runs: &[(u32, u32)]) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("popcnt") {
        // SAFETY: the machine was seen to have the instruction.
        return unsafe { with_instruction(words, mask, runs) };
    }
    portable(words, mask, runs)
}

#[inline]
fn portable(words: &[u64], mask: u64, runs: &[(u32, u32)]) -> u64 {
    let mut count = 0;
    for &(start, end) in runs {
        for word in &words[start as usize..end as usize] {
            count += u64::from((word & mask).count_ones());
        }
    }
    count
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt")]
fn with_instruction(words: &[u64], mask: u64, runs: &[(u32, u32)]) -> u64 {
    portable(words, mask, runs)
}

/// For each word, how many ones of each mask are in it: the numbers of one word after those of the other.
///
/// # Panics
/// When there is not room for exactly as many numbers.
pub fn counts_under(words: &[u64], masks: &[u64], to: &mut [u32]) {
    assert_eq!(words.len() * masks.len(), to.len());
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("popcnt") {
        // SAFETY: the machine was seen to have the instruction.
        unsafe { all_with_instruction(words, masks, to) };
        return;
    }
    all_portable(words, masks, to);
}

#[inline]
fn all_portable(words: &[u64], masks: &[u64], to: &mut [u32]) {
    for (word, to) in words.iter().zip(to.chunks_mut(masks.len().max(1))) {
        to.iter_mut().zip(masks).for_each(|(to, mask)| *to = (word & mask).count_ones());
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt")]
fn all_with_instruction(words: &[u64], masks: &[u64], to: &mut [u32]) {
    all_portable(words, masks, to);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ones_under_the_mask_are_counted_in_all_runs() {
        let words: Vec<u64> = (0..40_u64).map(|at| at.wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect();
        let runs = [(0, 3), (7, 7), (8, 40), (2, 5)];
        for mask in [0, 1, 0xFF00_FF00, u64::MAX] {
            let bits = |word: u64| (0..64).filter(|at| word & mask & (1 << at) != 0).count() as u64;
            let expected =
                runs.iter().flat_map(|&(start, end)| start..end).map(|at| bits(words[at as usize]));
            let expected: u64 = expected.sum();
            assert_eq!(count_under(&words, mask, &runs), expected);
            assert_eq!(portable(&words, mask, &runs), expected);
        }
        assert_eq!(count_under(&[], 1, &[]), 0);
    }

    #[test]
    fn each_word_is_counted_under_each_mask() {
        let words: Vec<u64> = (0..40_u64).map(|at| at.wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect();
        let masks = [0, 1, 0xFF00_FF00, u64::MAX];
        let bits = |word: u64| (0..64).filter(|at| word >> at & 1 == 1).count() as u32;
        let expected: Vec<u32> = words.iter().flat_map(|word| masks.map(|mask| bits(word & mask))).collect();
        for count in [counts_under, all_portable] {
            let mut found = vec![7; expected.len()];
            count(&words, &masks, &mut found);
            assert_eq!(found, expected);
        }
        counts_under(&words, &[], &mut []);
    }
}
