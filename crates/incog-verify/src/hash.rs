//! Finding labels and rows again, although whoever wrote them may want that to take long.
//!
//! A hash that everybody can compute lets a file be written whose labels all share a slot. So labels and keys hash with numbers that this
//! process drew: [`Map`] and [`Set`] by foldhash, with its start and its multipliers drawn; keys of rows by [`Salt`]. What
//! is found is in order of first appearance and does not depend on what was drawn.
//!
//! A [`Salt`] multiplies a key, XORed with one drawn number, by another and adds the halves of the product up bit by bit, then mixes once
//! more by a constant. Without the drawn numbers nobody knows for which keys the first product agrees where slots are told apart; the second
//! mixing keeps sequences of keys from lying side by side for the few multipliers that would.

use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, OnceLock, PoisonError};

use foldhash::SharedSeed;
use foldhash::quality::{FoldHasher, SeedableRandomState};

pub(crate) type Map<K, V> = std::collections::HashMap<K, V, Hashing>;
pub(crate) type Set<T> = std::collections::HashSet<T, Hashing>;

/// What was drawn.
#[derive(Clone, Copy)]
struct Drawn {
    hashing: (u64, &'static SharedSeed),
    salt: Salt,
}

impl Drawn {
    fn new(number: impl Fn(u64) -> u64) -> Self {
        // Once for each process, and in tests once for each seed.
        let shared: &'static SharedSeed = Box::leak(Box::new(SharedSeed::from_u64(number(3))));
        Drawn { hashing: (number(2), shared), salt: Salt { xor: number(0), times: number(1) | 1 } }
    }

    fn get() -> Self {
        static DRAWN: OnceLock<Drawn> = OnceLock::new();
        match *CHOSEN.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(chosen) => chosen,
            None => *DRAWN.get_or_init(|| {
                // The standard library has keys from the operating system.
                let system = RandomState::new();
                Drawn::new(|n| system.hash_one(n))
            }),
        }
    }
}

static CHOSEN: Mutex<Option<Drawn>> = Mutex::new(None);

/// From now on, hashes by this number instead of by one that is drawn: for tests of what must not depend on it. Only while nothing is being
/// checked.
#[doc(hidden)]
pub fn set_hash_seed(seed: u64) {
    let number = |n: u64| Salt { xor: n, times: 0xD134_2543_DE82_EF95 }.hash(seed);
    *CHOSEN.lock().unwrap_or_else(PoisonError::into_inner) = Some(Drawn::new(number));
}

/// Hashes labels and lists.
#[derive(Clone)]
pub(crate) struct Hashing(SeedableRandomState);

impl Default for Hashing {
    fn default() -> Self {
        let (start, shared) = Drawn::get().hashing;
        Hashing(SeedableRandomState::with_seed(start, shared))
    }
}

// Nobody needs to see what was drawn.
impl std::fmt::Debug for Hashing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Hashing")
    }
}

impl BuildHasher for Hashing {
    type Hasher = FoldHasher<'static>;

    #[inline]
    fn build_hasher(&self) -> FoldHasher<'static> {
        self.0.build_hasher()
    }
}

/// Hashes keys of rows.
#[derive(Clone, Copy)]
pub(crate) struct Salt {
    xor: u64,
    times: u64,
}

impl Salt {
    /// What was drawn.
    pub(crate) fn drawn() -> Self {
        Drawn::get().salt
    }

    /// All bits depend on all bits of the key.
    #[inline]
    pub(crate) fn hash(self, key: u64) -> u64 {
        multiplied(multiplied(key ^ self.xor, self.times), 0x9e37_79b9_7f4a_7c15)
    }
}

#[inline]
fn multiplied(a: u64, b: u64) -> u64 {
    let both = u128::from(a) * u128::from(b);
    (both >> 64) as u64 ^ both as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hash::Hasher;

    /// How many slots are looked at to find each of these hashes once, where half of the slots are free.
    fn n_looks(hashes: &[u64]) -> usize {
        let n_slots = (2 * hashes.len()).next_power_of_two();
        let mut is_taken = vec![false; n_slots];
        let mut looks = 0;
        for hash in hashes {
            let mut slot = *hash as usize & (n_slots - 1);
            looks += 1;
            while is_taken[slot] {
                slot = (slot + 1) & (n_slots - 1);
                looks += 1;
            }
            is_taken[slot] = true;
        }
        looks
    }

    /// Keys that shared a slot when they were mixed by a constant: multiples of 2^48 times its inverse, so that products have zeros where
    /// slots are told apart.
    fn crafted_keys() -> Vec<u64> {
        let factor = 0x9e37_79b9_7f4a_7c15_u64;
        let inverse = (0..6).fold(1_u64, |x, _| x.wrapping_mul(2_u64.wrapping_sub(factor.wrapping_mul(x))));
        assert_eq!(factor.wrapping_mul(inverse), 1);
        let keys = (0..1 << 14).map(|n: u64| {
            let key = (n << 48).wrapping_mul(inverse);
            key ^ (key >> 32)
        });
        keys.collect()
    }

    fn constant_hash(key: u64) -> u64 {
        let mixed = (key ^ (key >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed ^ (mixed >> 32)
    }

    #[test]
    fn keys_crafted_against_a_constant_spread_over_the_slots() {
        let keys = crafted_keys();
        let before: Vec<u64> = keys.iter().map(|&key| constant_hash(key)).collect();
        assert!(n_looks(&before) > 1000 * keys.len(), "{} looks: crafted in vain", n_looks(&before));
        let salt = Salt::drawn();
        let after: Vec<u64> = keys.iter().map(|&key| salt.hash(key)).collect();
        assert!(n_looks(&after) < 3 * keys.len(), "{} looks", n_looks(&after));
    }

    /// Whatever was drawn: sequences of every step, as keys of rows are.
    #[test]
    fn sequences_spread_over_the_slots_by_any_salt() {
        for seed in 0..200_u64 {
            let salt = Salt { xor: constant_hash(seed), times: constant_hash(seed + 1000) | 1 };
            for shift in [0, 7, 20, 33, 48] {
                let hashes: Vec<u64> = (0..1 << 12).map(|n: u64| salt.hash(n << shift)).collect();
                for down in [0, 32] {
                    let some: Vec<u64> = hashes.iter().map(|hash| hash >> down).collect();
                    assert!(
                        n_looks(&some) < 3 * some.len(),
                        "seed {seed}, shift {shift}: {}",
                        n_looks(&some)
                    );
                }
            }
        }
    }

    #[test]
    fn labels_hash_differently_in_each_seed_and_alike_within_one() {
        let hash = |hashing: &Hashing| {
            let mut hasher = hashing.build_hasher();
            hasher.write(b"label");
            hasher.finish()
        };
        let one = Hashing::default();
        assert_eq!(hash(&one), hash(&one.clone()));
        let other = Drawn::new(|n| constant_hash(n + 7)).hashing;
        assert_ne!(hash(&one), hash(&Hashing(SeedableRandomState::with_seed(other.0, other.1))));
    }

    /// What each of two further processes hashes to, by running this test in them.
    #[test]
    fn each_process_draws_its_own_numbers() {
        use std::io::Write;
        use std::process::Command;
        const TELL: &str = "INCOG_TELL_HASHES";
        if std::env::var_os(TELL).is_some() {
            // Not println!, which is kept back in tests.
            let _ = writeln!(
                std::io::stdout(),
                "\nhashes {} {}",
                Hashing::default().hash_one("x"),
                Salt::drawn().hash(1)
            );
            return;
        }
        let told = || {
            let this = std::env::current_exe().unwrap();
            let arguments = ["--exact", "hash::tests::each_process_draws_its_own_numbers", "--nocapture"];
            let output = Command::new(this).args(arguments).env(TELL, "1").output().unwrap();
            let text = String::from_utf8(output.stdout).unwrap();
            let line = text.lines().find(|line| line.starts_with("hashes ")).unwrap().to_owned();
            line.split(' ').skip(1).map(ToOwned::to_owned).collect::<Vec<_>>()
        };
        let (one, other) = (told(), told());
        assert_eq!(one.len(), 2);
        assert!(one.iter().zip(&other).all(|(one, other)| one != other), "{one:?} {other:?}");
    }
}
