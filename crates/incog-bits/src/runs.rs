//! Counting bits in few words that stand in many places.
//!
//! Searches count boxes of lattices: runs of a few words each. There the population count of single words beats vectors; it is
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
}
