//! How fast sets are counted, against reading them and against `roaring`: `cargo bench -p incog-kernels`.
//!
//! The program prints two tables in Markdown.
//!
//! **Reading.** AND-count must read both sets once, so its yardstick is a read of both that does next to nothing with the
//! words: it adds them up, in eight vectors that do not wait for each other, and walks memory in the order AND-count does
//! (which is faster than from front to back, and than asking ahead). There is one read for each kind of vectors; the fastest is the
//! yardstick. A figure of 80 % says that AND-count takes 1 / 0.8 of the time of that read. Operations that write are given
//! with the bytes they read and write, and their share is of bytes a second. Working sets are 2 × 12.5 kB (first-level
//! cache), 2 × 625 kB (5 million records: second- or third-level cache), and 256 MiB and 1 GiB for both sets together
//! (memory).
//!
//! **Roaring.** Two random sets of 5 million records, at densities 50 %, 1 % and 0.01 %, and the time
//! `RoaringBitmap::intersection_len` takes for the same sets. Dense words take the same time for every density, so
//! sparse sets are where they lose: lists of few records are shorter than the words.
//!
//! All contestants of a table's part work on the same memory and take turns within a round; of all rounds the least time
//! counts, as whatever else the machine does only adds to it. A turn in the cache is many passes, so that the clock's
//! steps do not matter. Every count is compared with the number that is known beforehand.

use incog_kernels::{Bits, Path};
use roaring::RoaringBitmap;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Records of the table for which speed in the cache is stated.
const IN_CACHE: usize = 5_000_000;

/// Records, and rounds.
const SIZES: [(usize, usize); 4] = [(100_000, 1000), (IN_CACHE, 500), (1 << 30, 50), (1 << 32, 25)];

fn main() {
    println!("| records | working set | operation | vectors | time | GB/s | of the read |");
    println!("|--:|--:|---|---|--:|--:|--:|");
    for (n_records, rounds) in SIZES {
        against_read(n_records, rounds);
    }
    println!();
    println!("| records | density | AND-count | roaring | roaring takes |");
    println!("|--:|--:|--:|--:|--:|");
    for one_in in [2, 100, 10_000] {
        against_roaring(one_in);
    }
}

/// Someone who takes turns.
struct Contestant<'a> {
    name: &'static str,
    path: Path,
    /// What a pass reads and writes.
    n_bytes: usize,
    /// What a pass must say, if it counts.
    expected: Option<u64>,
    pass: Box<dyn FnMut() -> u64 + 'a>,
    least: Duration,
}

impl<'a> Contestant<'a> {
    fn new(name: &'static str, path: Path, n_bytes: usize, pass: impl FnMut() -> u64 + 'a) -> Self {
        Contestant { name, path, n_bytes, expected: None, pass: Box::new(pass), least: Duration::MAX }
    }

    fn expected(self, count: usize) -> Self {
        Contestant { expected: Some(count as u64), ..self }
    }

    fn take_turn(&mut self, passes: u32) {
        let start = Instant::now();
        for _ in 0..passes {
            let said = black_box((self.pass)());
            assert!(self.expected.is_none_or(|expected| said == expected), "{} miscounts", self.name);
        }
        self.least = self.least.min(start.elapsed() / passes);
    }

    fn bytes_a_second(&self) -> f64 {
        self.n_bytes as f64 / self.least.as_secs_f64()
    }
}

/// Lets all take turns. A turn touches at least 4 MB.
fn compete(contestants: &mut [Contestant<'_>], rounds: usize) {
    for _ in 0..rounds {
        for contestant in &mut *contestants {
            contestant.take_turn((4_000_000 / contestant.n_bytes).clamp(1, 1000) as u32);
        }
    }
}

/// Every `step`-th record.
fn every(step: usize, n_records: usize) -> Bits {
    let mut bits = Bits::none(n_records);
    (0..n_records).step_by(step).for_each(|record| bits.insert(record));
    bits
}

fn against_read(n_records: usize, rounds: usize) {
    // Coprime steps: the intersection is known. Every page is written to, or the system might hand out the same empty
    // one for all.
    let (a, b) = (every(97, n_records), every(89, n_records));
    let both = n_records.div_ceil(97 * 89);
    let n_bytes = a.n_bytes();
    let best = Path::best();
    let (mut to, mut united) = (Bits::none(n_records), b.clone());

    let mut contestants = Vec::new();
    for path in Path::available() {
        let (a, b) = (&a, &b);
        let read = move || black_box(a).read_on(path, black_box(b));
        contestants.push(Contestant::new("read", path, 2 * n_bytes, read));
    }
    for path in Path::available() {
        let (a, b) = (&a, &b);
        let and_count = move || black_box(a).and_count_on(path, black_box(b));
        contestants.push(Contestant::new("AND-count", path, 2 * n_bytes, and_count).expected(both));
    }
    let until = || black_box(&a).and_count_until(black_box(&b), u64::MAX);
    contestants.push(Contestant::new("AND-count, never enough", best, 2 * n_bytes, until).expected(both));
    let count = || black_box(&a).count();
    contestants.push(Contestant::new("count", best, n_bytes, count).expected(n_records.div_ceil(97)));
    let and = || black_box(&a).and(black_box(&b), &mut to);
    contestants.push(Contestant::new("AND", best, 3 * n_bytes, and).expected(both));
    let unite = || {
        united.unite(black_box(&a));
        0
    };
    contestants.push(Contestant::new("OR", best, 3 * n_bytes, unite));

    compete(&mut contestants, rounds);
    let reads = contestants.iter().filter(|contestant| contestant.name == "read");
    let yardstick = reads.map(Contestant::bytes_a_second).fold(0.0, f64::max);
    for contestant in &contestants {
        println!(
            "| {n_records} | {} | {} | {} | {} | {:.1} | {:.0} % |",
            size(2 * n_bytes),
            contestant.name,
            contestant.path.name(),
            time(contestant.least),
            contestant.bytes_a_second() / 1e9,
            100.0 * contestant.bytes_a_second() / yardstick,
        );
    }
}

fn against_roaring(one_in: u64) {
    let is_in = |set: u64, record: usize| mix(mix(set) ^ record as u64).is_multiple_of(one_in);
    let ours = [1, 2].map(|set| Bits::from_fn(IN_CACHE, |record| is_in(set, record)));
    let theirs = ours.each_ref().map(|bits| {
        let records = bits.records().into_iter().map(|record| record as u32);
        RoaringBitmap::from_sorted_iter(records).expect("records ascend")
    });
    let both = ours[0].records().into_iter().filter(|&record| ours[1].contains(record)).count();
    let n_bytes = 2 * ours[0].n_bytes();
    let and_count = || black_box(&ours[0]).and_count(black_box(&ours[1]));
    let intersection_len = || black_box(&theirs[0]).intersection_len(black_box(&theirs[1]));
    let mut contestants = [
        Contestant::new("AND-count", Path::best(), n_bytes, and_count).expected(both),
        Contestant::new("roaring", Path::best(), n_bytes, intersection_len).expected(both),
    ];
    compete(&mut contestants, 500);
    let [ours, roaring] = contestants.map(|contestant| contestant.least);
    println!(
        "| {IN_CACHE} | {} % | {} | {} | {:.2} × as long |",
        100.0 / one_in as f64,
        time(ours),
        time(roaring),
        roaring.as_secs_f64() / ours.as_secs_f64(),
    );
}

/// A number that looks random (SplitMix: Steele, Lea, Flood 2014).
fn mix(number: u64) -> u64 {
    let number = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let number = (number ^ number >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let number = (number ^ number >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    number ^ number >> 31
}

fn size(n_bytes: usize) -> String {
    if n_bytes < 1 << 20 { format!("{} KiB", n_bytes >> 10) } else { format!("{} MiB", n_bytes >> 20) }
}

fn time(time: Duration) -> String {
    let nanoseconds = time.as_nanos() as f64;
    if nanoseconds < 1e4 {
        format!("{nanoseconds:.0} ns")
    } else if nanoseconds < 1e7 {
        format!("{:.1} µs", nanoseconds / 1e3)
    } else {
        format!("{:.1} ms", nanoseconds / 1e6)
    }
}
