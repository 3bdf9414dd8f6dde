//! The label of each record, for small sets.
//!
//! Intersecting a set with every label of an attribute reads all its bits each time. Where the set has few records it is
//! cheaper to look up each record's label.

use incog_kernels::Bits;

/// A code per record, in the narrowest type.
pub(super) enum Codes {
    U8(Vec<u8>),
    U32(Vec<u32>),
}

impl Codes {
    /// Room for codes below `n_codes`.
    pub(super) fn with_room(n_codes: usize, n_records: usize) -> Self {
        if n_codes <= 256 {
            Codes::U8(Vec::with_capacity(n_records))
        } else {
            Codes::U32(Vec::with_capacity(n_records))
        }
    }

    pub(super) fn extend(&mut self, codes: &[u32]) {
        match self {
            Codes::U8(all) => all.extend(codes.iter().map(|&code| code as u8)),
            Codes::U32(all) => all.extend_from_slice(codes),
        }
    }

    /// How many bytes codes below `n_codes` take.
    pub(super) fn n_bytes(n_codes: usize, n_records: usize) -> u64 {
        (if n_codes <= 256 { n_records } else { 4 * n_records }) as u64
    }

    /// Calls `each` with every record of a list and its code.
    pub(super) fn look_up(&self, records: &[u32], mut each: impl FnMut(u32, u32)) {
        match self {
            Codes::U8(codes) => {
                for &record in records {
                    each(record, u32::from(codes[record as usize]));
                }
            }
            Codes::U32(codes) => {
                for &record in records {
                    each(record, codes[record as usize]);
                }
            }
        }
    }

    /// The same for a set of bits.
    pub(super) fn look_up_bits(&self, records: &Bits, mut each: impl FnMut(u32, u32)) {
        match self {
            Codes::U8(codes) => {
                records.for_each(|record| each(record as u32, u32::from(codes[record])));
            }
            Codes::U32(codes) => {
                records.for_each(|record| each(record as u32, codes[record]));
            }
        }
    }
}
