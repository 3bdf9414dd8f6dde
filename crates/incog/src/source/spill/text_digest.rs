//! A digest of a column's cells, as they come.
//!
//! For columns whose values nobody keeps. It stays in memory: what leaves is sealed with the publisher's key.

use sha2::{Digest, Sha256};

use incog_core::table::Column;

/// The cells of a column so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct TextDigest(Sha256);

impl TextDigest {
    /// Adds the cells of a column's rows.
    pub(crate) fn push(&mut self, column: &Column) {
        let mut bytes = Vec::with_capacity(1 << 16);
        for codes in column.codes().chunks(1 << 12) {
            bytes.clear();
            for &code in codes {
                let cell = column.dictionary().value(code);
                bytes.extend_from_slice(&(cell.len() as u64).to_le_bytes());
                bytes.extend_from_slice(cell.as_bytes());
            }
            self.0.update(&bytes);
        }
    }

    pub(crate) fn finish(&self) -> [u8; 32] {
        self.0.clone().finalize().into()
    }
}
