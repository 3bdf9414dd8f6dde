//! How is something found again whose name a stranger chose?
//!
//! Cells, labels and the keys made of them come from whoever wrote the data. With a hash that everybody can compute, a file can be
//! written whose values all fall into one slot, and each look-up walks past all values before it: 65,536 such ids took 140 times as
//! long. So everything keyed by data hashes with secrets of this process: [`Map`], [`Set`] and [`State`] for texts, lists and
//! tuples, [`Mixer`] for keys of one or two words.
//!
//! **Nothing may depend on the secrets.** What comes out is in order of first appearance, or sorted; hashes decide only where something lies
//! in memory. Tests run the same job with several seeds ([`set_seed`]) and compare all bytes.
//!
//! [`State`] is foldhash with secrets of 64 bits each from the operating system, by way of the standard library, for its start and
//! for its multipliers. A [`Mixer`] multiplies a word, XORed with a secret, by a secret, and folds both halves of the product together;
//! then it multiplies by a constant and folds once more.
//!
//! Why strangers cannot aim at a slot: in which bits two products agree depends on a factor and a mask that they do not know. For words whose
//! difference is d, the factors for which the bits of a slot agree are about one in as many as there are slots, whatever d is (multiply-shift
//! hashing, Dietzfelbinger et al. 1997), so there is no set of words that is bad for many seeds. A known factor would not do, however secret
//! the start: words whose difference has zeros there when it is multiplied collide from any start. Multiplying alone lays sequences, which
//! keys often are, side by side for some factors; the second fold tears those apart. None of this is proof against somebody who can measure
//! the time of single look-ups, which a file cannot.
//!
//! Cost: a multiplication more than a hash that is known to all, about a nanosecond.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{OnceLock, PoisonError, RwLock};

use foldhash::SharedSeed;
use foldhash::quality::{FoldHasher, SeedableRandomState};

/// A hash map for keys that come from the data.
pub type Map<K, V> = std::collections::HashMap<K, V, State>;

/// A hash set for values that come from the data.
pub type Set<T> = std::collections::HashSet<T, State>;

/// What this process hashes with.
#[derive(Clone, Copy)]
struct Secrets {
    start: u64,
    shared: &'static SharedSeed,
    mask: u64,
    factor: u64,
}

impl Secrets {
    fn of(word: impl Fn(u64) -> u64, shared: &'static SharedSeed) -> Self {
        // Odd, so that no word loses its highest bits.
        Secrets { start: word(1), shared, mask: word(2), factor: word(3) | 1 }
    }

    /// Those of this process.
    #[inline]
    fn get() -> Self {
        if IS_FIXED.load(Relaxed) {
            return Secrets::fixed();
        }
        static SECRETS: OnceLock<Secrets> = OnceLock::new();
        *SECRETS.get_or_init(|| {
            static SHARED: OnceLock<SharedSeed> = OnceLock::new();
            // The standard library's hash is a keyed one, with a key from the operating system.
            let random = RandomState::new();
            let shared = SHARED.get_or_init(|| SharedSeed::from_u64(random.hash_one(0_u64)));
            Secrets::of(|number| random.hash_one(number), shared)
        })
    }

    #[cold]
    fn fixed() -> Self {
        static SHARED: RwLock<Option<(u64, &'static SharedSeed)>> = RwLock::new(None);
        let seed = SEED.load(Relaxed);
        let known = *SHARED.read().unwrap_or_else(PoisonError::into_inner);
        let shared = match known {
            Some((of, shared)) if of == seed => shared,
            _ => {
                // Tests set a few seeds, so little is leaked.
                let shared: &'static SharedSeed = Box::leak(Box::new(SharedSeed::from_u64(seed)));
                *SHARED.write().unwrap_or_else(PoisonError::into_inner) = Some((seed, shared));
                shared
            }
        };
        Secrets::of(|number| fold(seed ^ number << 32, 0x9E37_79B9_7F4A_7C15), shared)
    }
}

static IS_FIXED: AtomicBool = AtomicBool::new(false);
static SEED: AtomicU64 = AtomicU64::new(0);

/// From now on, hashes as this number says instead of with secrets: for tests of what must not depend on it. Only while no table and no search
/// is in use.
#[doc(hidden)]
pub fn set_seed(seed: u64) {
    SEED.store(seed, Relaxed);
    IS_FIXED.store(true, Relaxed);
}

/// Hashes texts, lists and tuples with the secrets of this process.
#[derive(Clone)]
pub struct State(SeedableRandomState);

impl Default for State {
    fn default() -> Self {
        let Secrets { start, shared, .. } = Secrets::get();
        State(SeedableRandomState::with_seed(start, shared))
    }
}

// Not derived: it would print the secrets.
impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("State")
    }
}

impl BuildHasher for State {
    type Hasher = FoldHasher<'static>;

    #[inline]
    fn build_hasher(&self) -> Self::Hasher {
        self.0.build_hasher()
    }
}

/// Multiplies to 128 bits and folds the halves: masks leave the low bits of many keys zero, and of a plain product too.
#[inline]
fn fold(word: u64, factor: u64) -> u64 {
    let product = u128::from(word) * u128::from(factor);
    product as u64 ^ (product >> 64) as u64
}

/// Hashes keys of one or two words with the secrets of this process; all bits are well mixed.
#[derive(Clone, Copy)]
pub struct Mixer {
    mask: u64,
    factor: u64,
    last: u64,
}

impl Mixer {
    /// Tables that are filled in each other's order take different numbers `last`, odd and with their bits spread out: keys that come in the
    /// order of one table fill another of the same hash slot by slot.
    #[inline]
    pub fn new(last: u64) -> Self {
        let Secrets { mask, factor, .. } = Secrets::get();
        Mixer { mask, factor, last }
    }

    /// One that everybody knows, where keys are drawn and not found again: no secret decides which.
    #[inline]
    pub(crate) fn known(last: u64) -> Self {
        Mixer { mask: 0xE703_7ED1_A0B4_28DB, factor: 0xA076_1D64_78BD_642F, last }
    }

    /// The hash of a word.
    #[inline]
    pub fn word(self, word: u64) -> u64 {
        fold(fold(word ^ self.mask, self.factor), self.last)
    }

    /// The hash of two words.
    #[inline]
    pub fn wide(self, words: u128) -> u64 {
        fold(fold(words as u64 ^ self.mask, (words >> 64) as u64 ^ self.factor), self.last)
    }

    /// The hash of any number of words.
    #[inline]
    pub fn words(self, words: &[u64]) -> u64 {
        let hash = words.iter().fold(self.mask, |hash, &word| fold(word ^ hash, self.factor));
        fold(hash, self.last)
    }
}

// Not derived: it would print the secrets.
impl std::fmt::Debug for Mixer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Mixer")
    }
}

/// Data made to collide, and how long it takes to find it.
#[cfg(test)]
pub(crate) mod hostile {
    /// The first `n` candidates whose hash has zeros in the bits of `mask`: what somebody who can compute the hash puts into a file.
    pub(crate) fn crafted<T>(
        candidates: impl Iterator<Item = T>,
        hash: impl Fn(&T) -> u64,
        mask: u64,
        n: usize,
    ) -> Vec<T> {
        let crafted: Vec<T> = candidates.filter(|candidate| hash(candidate) & mask == 0).take(n).collect();
        assert_eq!(crafted.len(), n, "there are too few candidates");
        crafted
    }

    /// How many slots are looked at to put each of these hashes into a table twice as large, with linear probing.
    pub(crate) fn n_looks(slots: impl ExactSizeIterator<Item = usize>) -> usize {
        let n_slots = (2 * slots.len()).next_power_of_two();
        let mut is_taken = vec![false; n_slots];
        slots.fold(0, |looks, slot| {
            let mut slot = slot & (n_slots - 1);
            let mut n = 1;
            while std::mem::replace(&mut is_taken[slot], true) {
                slot = (slot + 1) & (n_slots - 1);
                n += 1;
            }
            looks + n
        })
    }
}

#[cfg(test)]
mod tests {
    use super::hostile::{crafted, n_looks};
    use super::*;
    use std::hash::Hash;

    /// Secrets by a number, without those of the process: other tests run at the same time.
    fn secrets(seed: u64) -> Secrets {
        let shared = Box::leak(Box::new(SharedSeed::from_u64(seed)));
        Secrets::of(|number| fold(seed.wrapping_mul(77) ^ number << 40, 0xA076_1D64_78BD_642F), shared)
    }

    fn mixer(seed: u64) -> Mixer {
        let Secrets { mask, factor, .. } = secrets(seed);
        Mixer { mask, factor, last: 0x9E37_79B9_7F4A_7C15 }
    }

    fn state(seed: u64) -> State {
        let Secrets { start, shared, .. } = secrets(seed);
        State(SeedableRandomState::with_seed(start, shared))
    }

    /// What rustc-hash 2 makes of a word, and of a text of at most 16 bytes: anybody can compute it.
    mod known {
        pub(super) fn word(word: u64) -> u64 {
            word.wrapping_mul(0xf135_7aea_2e62_a9c5).rotate_left(26)
        }

        pub(super) fn text(text: &[u8]) -> u64 {
            let half = |at: usize| u64::from_le_bytes(text[at..at + 8].try_into().unwrap());
            let (a, b) = (half(0) ^ 0x243f_6a88_85a3_08d3, half(text.len() - 8) ^ 0x1319_8a2e_0370_7344);
            let product = u128::from(a) * u128::from(b);
            let mixed = product as u64 ^ (product >> 64) as u64 ^ text.len() as u64;
            // Texts are followed by a byte that none has.
            let both = mixed.wrapping_mul(0xf135_7aea_2e62_a9c5).wrapping_add(0xff);
            both.wrapping_mul(0xf135_7aea_2e62_a9c5).rotate_left(26)
        }
    }

    /// Each set of keys is found in about as many looks as there are keys, whatever the seed.
    fn check<T: Hash>(what: &str, keys: &[T]) {
        for seed in 0..20 {
            let state = state(seed);
            let slots = keys.iter().map(|key| state.hash_one(key) as usize);
            let looks = n_looks(slots);
            assert!(looks < 3 * keys.len(), "{what}, seed {seed}: {looks} looks for {}", keys.len());
        }
    }

    const N: usize = 2048;
    /// The bits of a slot's number in a table of `2 * N` slots.
    const SLOT: u64 = (2 * N as u64) - 1;

    #[test]
    fn texts_and_numbers_crafted_against_a_known_hash_spread_over_the_slots() {
        let texts = (0..1 << 24).map(|n: u32| format!("name-{n:08}"));
        let texts = crafted(texts, |text| known::text(text.as_bytes()), SLOT, N);
        let before = n_looks(texts.iter().map(|text| known::text(text.as_bytes()) as usize));
        assert!(before > N * N / 3, "{before} looks: crafted in vain");
        check("texts", &texts);

        // The slot is of the bits 38 and up of the product: zeros there by the inverse of the factor.
        let factor = 0xf135_7aea_2e62_a9c5_u64;
        let inverse = (0..6).fold(1_u64, |x, _| x.wrapping_mul(2_u64.wrapping_sub(factor.wrapping_mul(x))));
        let words: Vec<u64> = (0..N as u64).map(|n| n.wrapping_mul(inverse)).collect();
        let before = n_looks(words.iter().map(|&word| known::word(word) as usize));
        assert!(before > N * N / 3, "{before} looks: crafted in vain");
        check("words", &words);
        let lists: Vec<Vec<u64>> = words.iter().map(|&word| vec![word, 7]).collect();
        check("lists", &lists);
        let pairs: Vec<(u32, u32)> = words.iter().map(|&word| (word as u32, (word >> 32) as u32)).collect();
        check("pairs", &pairs);
    }

    /// Keys as masks leave them, and those that a folded product by a known factor put into one slot.
    #[test]
    fn keys_spread_over_the_slots_by_low_and_by_high_bits_whatever_the_seed() {
        let fold_known = |word: &u64| fold(*word, 0x9E37_79B9_7F4A_7C15);
        let crafted_words = crafted((0..1 << 40).step_by(3), fold_known, SLOT, N);
        let before = n_looks(crafted_words.iter().map(|word| fold_known(word) as usize));
        assert!(before > N * N / 3, "{before} looks: crafted in vain");
        let mut sets: Vec<Vec<u64>> =
            [0, 1, 9, 21, 33, 44, 52].map(|shift| (0..N as u64).map(|n| n << shift).collect()).to_vec();
        sets.push((0..N as u64).map(|n| n << 32 | (n * 7919) << 3).collect());
        sets.push(crafted_words);
        for seed in 0..200 {
            let mixer = mixer(seed);
            for (number, set) in sets.iter().enumerate() {
                for down in [0, 24, 64 - 12] {
                    let words = n_looks(set.iter().map(|&word| (mixer.word(word) >> down) as usize));
                    let low = n_looks(set.iter().map(|&word| (mixer.wide(word.into()) >> down) as usize));
                    let high = |word: u64| mixer.wide(u128::from(word) << 64 | 5);
                    let high = n_looks(set.iter().map(|&word| (high(word) >> down) as usize));
                    let long = n_looks(set.iter().map(|&word| (mixer.words(&[1, word, 2]) >> down) as usize));
                    for looks in [words, low, high, long] {
                        assert!(looks < 3 * N, "seed {seed}, set {number}, from bit {down}: {looks} looks");
                    }
                }
            }
        }
    }

    #[test]
    fn a_process_has_one_seed_and_shows_it_to_nobody() {
        assert_eq!(format!("{:?} {:?}", State::default(), Mixer::new(1)), "State Mixer");
        let (a, b) = (State::default(), State::default());
        assert_eq!(a.hash_one("x"), b.hash_one("x"), "one process has one seed");
        assert_ne!(state(1).hash_one("x"), state(2).hash_one("x"));
        assert_ne!(mixer(1).word(1), mixer(2).word(1));
    }

    /// What each of two further processes hashes to, by running this test in them.
    #[test]
    fn each_process_draws_its_own_secrets() {
        use std::io::Write;
        use std::process::Command;
        const TELL: &str = "INCOG_TELL_HASHES";
        if std::env::var_os(TELL).is_some() {
            // Not println!, which is kept back in tests.
            let _ = writeln!(
                std::io::stdout(),
                "\nhashes {} {}",
                State::default().hash_one("x"),
                Mixer::new(1).word(1)
            );
            return;
        }
        let told = || {
            let this = std::env::current_exe().unwrap();
            let arguments = ["--exact", "hash::tests::each_process_draws_its_own_secrets", "--nocapture"];
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
