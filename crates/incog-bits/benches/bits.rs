//! Throughput of the operations on each path: `cargo bench -p incog-bits`.
//!
//! 5 million records (625 kB a set) lie in the second-level cache or near it; 2³¹ records (256 MiB a set) do not. The
//! yardstick for [`and_count`] is [`read`]: adding up the words of both sets.

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use incog_bits::{Bits, Path};

const SIZES: [usize; 2] = [5_000_000, 1 << 31];

fn main() {
    divan::main();
}

fn sets(n_records: usize) -> (Bits, Bits) {
    let mut sets = (Bits::none(n_records), Bits::none(n_records));
    // Half of the words have a bit: what counts does not depend on where they are.
    for record in (0..n_records).step_by(97) {
        sets.0.insert(record);
    }
    for record in (0..n_records).step_by(89) {
        sets.1.insert(record);
    }
    sets
}

fn paths() -> Vec<&'static str> {
    Path::available().into_iter().map(Path::name).collect()
}

fn path(name: &str) -> Path {
    Path::available().into_iter().find(|path| path.name() == name).expect("it is available")
}

#[divan::bench(args = paths(), consts = SIZES, sample_count = 20)]
fn and_count<const N: usize>(bencher: Bencher<'_, '_>, name: &str) {
    let (a, b) = sets(N);
    let path = path(name);
    bencher
        .counter(BytesCount::new(2 * a.n_bytes()))
        .bench_local(|| black_box(&a).and_count_on(path, black_box(&b)));
}

#[divan::bench(consts = SIZES, sample_count = 20)]
fn read<const N: usize>(bencher: Bencher<'_, '_>) {
    let words = [0, 1].map(|set| vec![set; N / 64]);
    let add = |words: &[u64]| words.iter().fold(0_u64, |sum, word| sum.wrapping_add(*word));
    bencher
        .counter(BytesCount::new(2 * N / 8))
        .bench_local(|| add(black_box(&words[0])).wrapping_add(add(black_box(&words[1]))));
}

#[divan::bench(args = paths(), sample_count = 20)]
fn and(bencher: Bencher<'_, '_>, name: &str) {
    let (a, b) = sets(SIZES[0]);
    let mut to = Bits::none(SIZES[0]);
    let path = path(name);
    bencher
        .counter(BytesCount::new(3 * a.n_bytes()))
        .bench_local(|| black_box(&a).and_on(path, black_box(&b), &mut to));
}
