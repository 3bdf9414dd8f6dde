use super::*;
use incog_kernels::{Field, Numbering};
use std::collections::BTreeMap;

fn draw(n: usize, seed: u64) -> Vec<u64> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state ^ state >> 31
    };
    (0..n).map(|_| next() & next()).collect()
}

fn groups<C: Count>(counters: &Counters<u64, C>) -> BTreeMap<u64, u64> {
    let groups: BTreeMap<u64, u64> =
        counters.keys().iter().copied().zip(counters.rows().iter().map(|rows| rows.rows())).collect();
    assert_eq!(groups.len(), counters.keys().len(), "no group comes twice");
    groups
}

/// Counts by the definition, in numbers that stop at `most`.
fn naive(keys: &[u64], rows: &[u64], mask: u64, most: u64) -> BTreeMap<u64, u64> {
    let mut groups = BTreeMap::new();
    for (key, rows) in keys.iter().zip(rows) {
        *groups.entry(key & mask).or_insert(0) += rows;
    }
    groups.into_iter().map(|(key, rows)| (key, rows.min(most))).collect()
}

/// Compares with the definition. Returns how often rows below k were counted without making groups.
fn check<C: Count>(keys: &[u64], rows: &[u64], mask: u64) -> usize {
    let expected = naive(keys, rows, mask, C::MOST);
    let tally = Tally { keys: keys.to_vec(), rows: rows.iter().map(|&rows| C::of(rows)).collect() };
    let mut counters = Counters::<u64, C>::default();
    type Kernel<C> = fn(&mut Counters<u64, C>, Lot<'_, u64, C>, u64);
    let mut kernels: Vec<(&str, Kernel<C>)> = vec![
        ("chosen", Counters::merge),
        ("dealt out", Counters::deal_out),
        ("hash", |counters, lot, mask| {
            counters.make_room(lot.len());
            counters.n_groups = 0;
            counters.hash(lot, mask);
        }),
    ];
    if mask.count_ones() <= 20 {
        kernels.push(("dense", Counters::dense));
    }
    // Twice: each must leave the counters clean for the next.
    for (name, kernel) in kernels.iter().chain(&kernels) {
        kernel(&mut counters, tally.lot(), mask);
        assert_eq!(groups(&counters), expected, "{name}, mask {mask:x}");
        for k in [1, 2, 7, 255] {
            let below: u64 = naive(keys, rows, mask, u64::MAX).values().filter(|rows| **rows < k).sum();
            assert_eq!(counters.rows_below(k), below, "{name}, k = {k}");
        }
        assert!(counters.cells.iter().all(|cell| *cell == C::default()), "{name} leaves zeros");
    }
    let mut n_counted_below = 0;
    for k in [2, 7, 255] {
        let below = naive(keys, rows, mask, u64::MAX).into_iter().filter(|&(_, rows)| rows < k);
        let below: BTreeMap<u64, u64> = below.collect();
        let n_below: u64 = below.values().sum();
        // Just within the budget, and just beyond it.
        for budget in [u64::MAX, n_below, n_below.saturating_sub(1), 0] {
            for fields in [None, fields(keys, mask)] {
                let fields: Option<Vec<&Field>> = fields.as_ref().map(|fields| fields.iter().collect());
                let numbering = |most| Numbering::new(fields.as_ref()?, most);
                let Some(below_k) = counters.count_below_k(tally.lot(), mask, numbering, k, budget) else {
                    continue;
                };
                n_counted_below += 1;
                assert_eq!(below_k, (expected.len(), n_below));
                let left = if n_below <= budget { below.clone() } else { BTreeMap::new() };
                assert_eq!(groups(&counters), left);
                assert!(
                    counters.cells.iter().all(|cell| *cell == C::default()),
                    "counting below k leaves zeros"
                );
            }
        }
    }
    counters.merge_some(tally.lot(), mask, 4);
    let some = groups(&counters);
    assert!(some.iter().all(|(key, rows)| expected.get(key) == Some(rows)), "some groups, each whole");
    if rows.iter().all(|&rows| rows == 1) {
        counters.merge(Lot::records(keys), mask);
        assert_eq!(groups(&counters), expected);
    }
    n_counted_below
}

/// The bits of a mask that stand together, eleven at most, with the values that keys have there.
fn fields(keys: &[u64], mask: u64) -> Option<Vec<Field>> {
    let (mut rest, mut fields) = (mask, Vec::new());
    while rest != 0 {
        let start = rest.trailing_zeros();
        let ones = u64::MAX >> (64 - (rest >> start).trailing_ones().min(11)) << start;
        fields.push(Field::new(ones, keys.iter().copied())?);
        rest &= !ones;
    }
    Some(fields)
}

#[test]
fn all_kernels_find_the_groups_of_the_definition() {
    let keys = draw(3000, 5);
    let ones = vec![1; keys.len()];
    let rows: Vec<u64> = draw(3000, 9).iter().map(|bits| 1 + bits % 300).collect();
    for mask in [0, 1, 0xFF, 0xF0F0_0000_0000_0F0F, 0x3_FFFF_0000, u64::MAX] {
        for rows in [&ones, &rows] {
            check::<u8>(&keys, rows, mask);
            check::<u32>(&keys, rows, mask);
        }
    }
    check::<u8>(&[], &[], 0xFF);
}

/// Keys that all fell into one slot, or into one part, when hashes had no seed.
#[test]
fn keys_crafted_against_a_known_hash_are_found_after_a_few_looks() {
    use crate::hash::hostile::{crafted, n_looks};
    const N: usize = 1 << 12;
    let known = |key: &u64| {
        let product = u128::from(*key) * u128::from(SPREAD);
        product as u64 ^ (product >> 64) as u64
    };
    // Slots were told apart by the highest bits, parts by the lowest.
    let n_bits = (2 * N).trailing_zeros();
    let keys = crafted(1.., known, u64::MAX << (64 - n_bits), N);
    let before = n_looks(keys.iter().map(|key| (known(key) >> (64 - n_bits)) as usize));
    assert!(before > N * N / 3, "{before} looks: crafted in vain");
    let mut counters = Counters::<u64, u8>::default();
    counters.make_room(N);
    counters.hash(Lot::records(&keys), u64::MAX);
    let slots = &counters.slots[..2 * N];
    let mixer = Mixer::new(SPREAD);
    let looks = |(at, &slot): (usize, &u32)| {
        let home = (counters.keys[slot as usize - 1].hash(mixer) >> (64 - n_bits)) as usize;
        (at.wrapping_sub(home) & (2 * N - 1)) + 1
    };
    let looks: usize = slots.iter().enumerate().filter(|(_, slot)| **slot != 0).map(looks).sum();
    assert!(looks < 3 * N, "{looks} looks for {N} keys");
    let keys = crafted(1.., known, 63, N);
    let mut dealer = Dealer::<u64, u8>::default();
    dealer.deal(Lot::records(&keys), u64::MAX, 64);
    let largest = (0..64).map(|part| dealer.part(part).len()).max();
    assert!(largest < Some(3 * N / 64), "{largest:?} of {N} keys are in one of 64 parts");
}

/// More patterns of bits than there can be cells, and few groups.
#[test]
fn groups_below_k_are_counted_without_making_any() {
    let some_values: Vec<u64> = draw(5000, 7).iter().map(|key| key & 0x9090_9090_9090).collect();
    let rows: Vec<u64> = draw(5000, 9).iter().map(|bits| 1 + bits % 300).collect();
    let mask = 0xF0F0_F0F0_F0F0;
    assert_eq!(check::<u8>(&some_values, &rows, mask), 12, "by numbers, and not by bits");
    assert_eq!(check::<u32>(&some_values, &rows, mask), 0);
    assert_eq!(check::<u8>(&draw(5000, 7), &rows, mask), 0, "too many numbers");
    assert_eq!(check::<u8>(&some_values, &rows, mask & 0xFFFF_FFFF), 24);
}

#[test]
fn keys_of_128_bits_are_grouped_alike() {
    let keys = draw(5000, 13);
    let spread = |key: u64| u128::from(key & 0xFFFF_FFFF) << 70 | u128::from(key >> 32);
    let wide: Vec<u128> = keys.iter().map(|&key| spread(key)).collect();
    for mask in [0xFF00_0000_00F0, u64::MAX] {
        let (mut narrow, mut counters) = (Counters::<u64, u8>::default(), Counters::<u128, u8>::default());
        narrow.merge(Lot::records(&keys), mask);
        counters.merge(Lot::records(&wide), spread(mask));
        let expected: BTreeMap<u128, u8> =
            narrow.keys().iter().map(|&key| spread(key)).zip(narrow.rows().iter().copied()).collect();
        let found = counters.keys().iter().copied().zip(counters.rows().iter().copied()).collect();
        assert_eq!(expected, found);
        let below_k = counters.count_below_k(Lot::records(&wide), spread(mask), |_| None, 20, u64::MAX);
        assert_eq!(below_k, narrow.count_below_k(Lot::records(&keys), mask, |_| None, 20, u64::MAX));
        assert_eq!(below_k.is_some(), mask != u64::MAX);
        if let Some((n_groups, rows_below)) = below_k {
            let below: BTreeMap<u128, u8> = expected.into_iter().filter(|&(_, rows)| rows < 20).collect();
            assert_eq!(rows_below, below.values().map(|&rows| u64::from(rows)).sum());
            assert!(rows_below > 0 && n_groups > below.len());
            let found = counters.keys().iter().copied().zip(counters.rows().iter().copied()).collect();
            assert_eq!(below, found);
        }
    }
}

#[test]
fn many_keys_are_dealt_out_and_found_again() {
    let keys = draw(tuning::DEAL_FROM.get() + 77, 3);
    let rows = vec![1; keys.len()];
    check::<u8>(&keys, &rows, u64::MAX);
    check::<u8>(&keys, &rows, 0xFFFF_FFFF);
}

#[test]
fn what_is_kept_merges_like_what_it_came_from() {
    let keys = draw(4000, 11);
    let mut counters = Counters::<u64, u8>::default();
    counters.merge(Lot::records(&keys), 0xFFFF_FFFF);
    let kept = counters.tally();
    assert!(kept.lot().len() > 100 && kept.lot().len() < keys.len());
    counters.merge(kept.lot(), 0xFF00);
    assert_eq!(groups(&counters), naive(&keys, &vec![1; keys.len()], 0xFF00, 255));
}

#[test]
fn counts_from_elsewhere_stop_at_the_greatest_number() {
    let mut counters = Counters::<u64, u8>::default();
    counters.load(&[4, 5], [3, 300].into_iter());
    assert_eq!(groups(&counters), BTreeMap::from([(4, 3), (5, 255)]));
    assert_eq!(counters.rows_below(255), 3);
}
