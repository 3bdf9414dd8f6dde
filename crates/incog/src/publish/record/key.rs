//! The publisher's key, and digests that nobody can make without it.
//!
//! A plain digest of something small confirms guesses: whoever can list all towns finds the list that has a given SHA-256.
//! So whatever is not in the release itself (the data, the hierarchies, values that a job lists, the seed) stands in a
//! record as a digest that takes this key.

use std::path::Path;

use hmac::{Hmac, KeyInit, Mac};
use incog_core::table::{Column, Role, Table};
use incog_core::{Error, Result};
use rayon::prelude::*;
use sha2::Sha256;

use crate::file;
use crate::publish::record::hex::{bytes, hex};
use crate::source::spill::{Spilled, TextDigest};

/// The publisher's key: 32 random bytes in a file of their own, readable by its owner only.
///
/// ```
/// # use incog::{Anonymizer, Hierarchy};
/// # let table = [("zip", vec!["53715", "53715", "53703", "53706"]), ("ill", vec!["flu", "cold", "flu", "none"])];
/// # let anonymizer = Anonymizer::new(table).quasi_identifier("zip", Hierarchy::mask_right()).sensitive("ill").k(2);
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("incog.key");
/// # anonymizer.key_file(&path).anonymize()?.write(folder.path().join("out.csv"))?; // makes the key
/// let key = incog::Key::read(&path)?;
/// # Ok::<(), incog::Error>(())
/// ```
pub struct Key([u8; 32]);

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key")
    }
}

impl Key {
    /// Reads a key.
    pub fn read(path: &Path) -> Result<Self> {
        let text = file::read_text(path, "the key")?;
        bytes(text.trim()).map(Key).ok_or_else(|| {
            Error::input(format!("`{}` is not a key of incog", path.display()))
                .with_hint("a key is 64 hexadecimal digits; choose another file with --key")
        })
    }

    /// A new key.
    pub(crate) fn draw() -> Self {
        Key(rand::random())
    }

    /// Its text in a file.
    pub(crate) fn to_hex(&self) -> String {
        hex(&self.0)
    }

    fn mac(&self) -> Hmac<Sha256> {
        Hmac::new_from_slice(&self.0).expect("a key may have any length")
    }

    /// The seal of a record's content.
    pub(super) fn seal(&self, text: &str) -> [u8; 32] {
        let mut mac = self.mac();
        mac.update(text.as_bytes());
        mac.finalize().into_bytes().into()
    }

    /// Whether a seal, as digits, is that of a record's content.
    pub(super) fn has_sealed(&self, text: &str, seal: &str) -> bool {
        let mut mac = self.mac();
        mac.update(text.as_bytes());
        bytes::<32>(seal).is_some_and(|seal| mac.verify_slice(&seal).is_ok())
    }

    /// A digest of some parts. `what` says of what kind they are: equal parts of another kind have another digest.
    pub(crate) fn digest(&self, what: &str, parts: &[&[u8]]) -> [u8; 32] {
        let mut mac = self.mac();
        for part in [what.as_bytes()].iter().chain(parts) {
            mac.update(&(part.len() as u64).to_le_bytes());
            mac.update(part);
        }
        mac.finalize().into_bytes().into()
    }

    /// A key for one purpose, from which this one cannot be told.
    pub(crate) fn subkey(&self, purpose: &str) -> [u8; 32] {
        self.digest("subkey", &[purpose.as_bytes()])
    }

    /// The key that identifiers are replaced under.
    pub(crate) fn of_pseudonyms(&self) -> [u8; 32] {
        self.subkey("pseudonyms")
    }

    /// The key that the keys of a table of a database are replaced under: another for each table, so that equal keys of two
    /// tables, which have nothing to do with each other, have other hashes.
    pub(crate) fn of_keys(&self, table: &str) -> [u8; 32] {
        self.digest("subkey", &[b"keys", table.as_bytes()])
    }

    /// A keyed digest of a table: its columns' names, their values in order of first appearance, and a digest of which stands
    /// where; of identifiers a digest of their cells, one after the other.
    pub(crate) fn digest_of(&self, table: &Table, spilled: Option<&Spilled>) -> Result<[u8; 32]> {
        let of_codes = |(at, column): (usize, &Column)| -> Result<[u8; 32]> {
            if column.role() == Role::Identifier {
                // Where rows are spilled nobody has the values any more.
                let of_spilled = spilled.and_then(|spilled| spilled.identifiers[at]);
                return Ok(of_spilled.unwrap_or_else(|| {
                    let mut digest = TextDigest::default();
                    digest.push(column);
                    digest.finish()
                }));
            }
            const ROWS: usize = 1 << 14;
            let mut mac = self.mac();
            let mut bytes = Vec::with_capacity(4 * ROWS.min(table.n_rows()));
            let mut update = |codes: &[u32]| {
                bytes.clear();
                bytes.extend(codes.iter().flat_map(|code| code.to_le_bytes()));
                mac.update(&bytes);
            };
            match spilled {
                None => column.codes().chunks(ROWS).for_each(&mut update),
                Some(spilled) => {
                    let mut codes = vec![0; ROWS];
                    for first in (0..table.n_rows()).step_by(ROWS) {
                        let codes = &mut codes[..ROWS.min(table.n_rows() - first)];
                        spilled.read(at, first, codes)?;
                        update(codes);
                    }
                }
            }
            Ok(mac.finalize().into_bytes().into())
        };
        let digests = table.columns().par_iter().enumerate().map(of_codes);
        let digests: Vec<[u8; 32]> = digests.collect::<Result<_>>()?;
        let mut mac = self.mac();
        let text = |text: &str, mac: &mut Hmac<Sha256>| {
            mac.update(&(text.len() as u64).to_le_bytes());
            mac.update(text.as_bytes());
        };
        for (column, digest) in table.columns().iter().zip(&digests) {
            text(column.name(), &mut mac);
            if column.role() != Role::Identifier {
                for value in column.dictionary().values() {
                    text(value, &mut mac);
                }
            }
            mac.update(digest);
        }
        Ok(mac.finalize().into_bytes().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_digest_depends_on_every_cell_and_on_the_key() {
        let (one, other) = (Key([1; 32]), Key([2; 32]));
        for role in [Role::Other, Role::Identifier] {
            let digest = |key: &Key, cells: [&str; 3]| {
                let column = Column::from_cells("c", role, cells).unwrap();
                key.digest_of(&Table::new(vec![column]).unwrap(), None).unwrap()
            };
            let first = digest(&one, ["a", "b", "a"]);
            assert_eq!(first, digest(&one, ["a", "b", "a"]));
            assert_ne!(first, digest(&one, ["a", "b", "b"]));
            assert_ne!(first, digest(&one, ["a", "c", "a"]));
            assert_ne!(first, digest(&one, ["ab", "", "a"]));
            assert_ne!(first, digest(&other, ["a", "b", "a"]));
        }
    }

    #[test]
    fn a_digest_depends_on_the_kind_the_borders_of_its_parts_and_the_key() {
        let key = Key([1; 32]);
        let first = key.digest("hierarchy", &[b"ab", b"c"]);
        assert_eq!(first, key.digest("hierarchy", &[b"ab", b"c"]));
        assert_ne!(first, key.digest("hierarchy", &[b"a", b"bc"]));
        assert_ne!(first, key.digest("job", &[b"ab", b"c"]));
        assert_ne!(first, Key([2; 32]).digest("hierarchy", &[b"ab", b"c"]));
    }
}
