//! Some records of a table: as bits or as a list, whichever is smaller.
//!
//! Bits take n / 8 bytes and are combined many at a time ([`incog_kernels`]); a sorted list takes 4 bytes a record. The form
//! depends on the number of records alone, so equal sets have equal forms.

use incog_kernels::Bits;

/// A set of records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Records {
    /// A bit each.
    Bits { bits: Bits, count: u64 },
    /// Ascending.
    List(Vec<u32>),
}

/// Is a set of `count` of all records smaller as a list?
pub(super) fn is_list(count: u64, n_records: usize) -> bool {
    4 * count <= bits_bytes(n_records)
}

/// How many bytes a set of `count` of all records takes.
pub(super) fn n_bytes(count: u64, n_records: usize) -> u64 {
    bits_bytes(n_records).min(4 * count)
}

/// Bits come in lines of 512.
fn bits_bytes(n_records: usize) -> u64 {
    n_records.div_ceil(512) as u64 * 64
}

impl Records {
    /// No record yet, in the form that `count` records will have.
    pub(super) fn with_room(count: u64, n_records: usize) -> Self {
        if is_list(count, n_records) {
            Records::List(Vec::with_capacity(count as usize))
        } else {
            Records::Bits { bits: Bits::none(n_records), count: 0 }
        }
    }

    /// The same records in the smaller form.
    pub(super) fn from_bits(bits: Bits) -> Self {
        let count = bits.count();
        if is_list(count, bits.n_records()) {
            let mut list = Vec::with_capacity(count as usize);
            bits.for_each(|record| list.push(record as u32));
            return Records::List(list);
        }
        Records::Bits { bits, count }
    }

    /// Puts a record in that is larger than all before.
    pub(super) fn push(&mut self, record: u32) {
        match self {
            Records::Bits { bits, count } => {
                bits.insert(record as usize);
                *count += 1;
            }
            Records::List(list) => list.push(record),
        }
    }

    pub(super) fn count(&self) -> u64 {
        match self {
            Records::Bits { count, .. } => *count,
            Records::List(list) => list.len() as u64,
        }
    }

    pub(super) fn n_bytes(&self) -> u64 {
        match self {
            Records::Bits { bits, .. } => bits.n_bytes() as u64,
            Records::List(list) => 4 * list.len() as u64,
        }
    }

    /// The records that are in both.
    pub(super) fn and(&self, other: &Records) -> Records {
        match (self, other) {
            (Records::Bits { bits: a, .. }, Records::Bits { bits: b, .. }) => {
                let mut bits = Bits::none(a.n_records());
                a.and(b, &mut bits);
                Records::from_bits(bits)
            }
            (Records::Bits { bits, .. }, Records::List(list))
            | (Records::List(list), Records::Bits { bits, .. }) => {
                let both = list.iter().copied().filter(|&record| bits.contains(record as usize));
                Records::List(both.collect())
            }
            (Records::List(a), Records::List(b)) => Records::List(in_both(a, b).collect()),
        }
    }

    /// The records of all sets, no two of which have one in common.
    pub(super) fn union(sets: &[&Records], n_records: usize) -> Records {
        let count: u64 = sets.iter().map(|set| set.count()).sum();
        if is_list(count, n_records) {
            let mut list = Vec::with_capacity(count as usize);
            for set in sets {
                match set {
                    Records::List(records) => list.extend_from_slice(records),
                    Records::Bits { bits, .. } => bits.for_each(|record| list.push(record as u32)),
                }
            }
            list.sort_unstable();
            return Records::List(list);
        }
        let mut united = Bits::none(n_records);
        for set in sets {
            match set {
                Records::Bits { bits, .. } => united.unite(bits),
                Records::List(list) => list.iter().for_each(|&record| united.insert(record as usize)),
            }
        }
        Records::Bits { bits: united, count }
    }
}

/// What stands in both ascending lists: each record of the shorter is looked for in what is left of the longer.
pub(super) fn in_both<'a>(a: &'a [u32], b: &'a [u32]) -> impl Iterator<Item = u32> + 'a {
    let (short, mut long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    short.iter().copied().filter(move |record| {
        // Steps of 1, 2, 4, ... and then a binary search: cheap whether the next is near or far.
        let mut end = 1;
        while end < long.len() && long[end] < *record {
            end *= 2;
        }
        let found = long[..long.len().min(end + 1)].partition_point(|other| other < record);
        long = &long[found..];
        long.first() == Some(record)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    const N_RECORDS: usize = 3000;

    fn records(set: &Records) -> Vec<u32> {
        match set {
            Records::List(list) => list.clone(),
            Records::Bits { bits, .. } => bits.records().into_iter().map(|record| record as u32).collect(),
        }
    }

    fn both_forms(set: &BTreeSet<u32>) -> [Records; 2] {
        let list: Vec<u32> = set.iter().copied().collect();
        let mut bits = Bits::none(N_RECORDS);
        list.iter().for_each(|&record| bits.insert(record as usize));
        [Records::List(list.clone()), Records::Bits { bits, count: list.len() as u64 }]
    }

    proptest! {
        #[test]
        fn both_forms_intersect_alike(
            a in proptest::collection::btree_set(0..N_RECORDS as u32, 0..400),
            b in proptest::collection::btree_set(0..N_RECORDS as u32, 0..400),
        ) {
            let both: Vec<u32> = a.intersection(&b).copied().collect();
            for a in both_forms(&a) {
                for b in both_forms(&b) {
                    prop_assert_eq!(records(&a.and(&b)), both.clone());
                }
            }
        }

        #[test]
        fn disjoint_sets_unite_to_all_their_records_in_the_smaller_form(
            all in proptest::collection::btree_set(0..N_RECORDS as u32, 0..400),
            n_sets in 1..5_usize,
            forms in 0..2_usize,
        ) {
            let part = |at: usize| all.iter().copied().filter(|record| *record as usize % n_sets == at).collect();
            let sets: Vec<Records> =
                (0..n_sets).map(|at| both_forms(&part(at))[(forms + at) % 2].clone()).collect();
            let united = Records::union(&sets.iter().collect::<Vec<_>>(), N_RECORDS);
            prop_assert_eq!(records(&united), all.iter().copied().collect::<Vec<_>>());
            prop_assert_eq!(united.count(), all.len() as u64);
            prop_assert_eq!(matches!(united, Records::List(_)), is_list(all.len() as u64, N_RECORDS));
            prop_assert_eq!(united.n_bytes(), n_bytes(all.len() as u64, N_RECORDS));
        }
    }
}
