//! Identifiers that are released as pseudonyms.
//!
//! A column with `replace` is read as an identifier. Where a release is made, its values are replaced: by the numbers from 1 on in a drawn order,
//! or by the first half of HMAC-SHA-256 under a subkey of the publisher's key, in hexadecimal digits. Equal values have equal pseudonyms; a missing
//! value stays missing. Everywhere else (in searches, and where a release is checked) the column is dropped as ever.
//!
//! **Pseudonyms that repeat** say which rows are one person's. That is refused unless the job says whom rows are about (`unit`), and then all rows
//! of a pseudonym together must look like those of k pseudonyms, or nothing is released ([`incog_verify::linked`]). The search does not know of this:
//! it finds the best release by rows and persons, and that is judged.

use std::borrow::Cow;

use hmac::{Hmac, KeyInit, Mac};
use incog_core::table::label::EMPTY_TEXT;
use incog_core::table::{Column, Role, Table};
use incog_core::{Error, Result};
use rand::seq::SliceRandom;
use sha2::Sha256;

use crate::job::{Job, Mistakes, ReplaceJob};
use crate::source::Loaded;

/// Whether pseudonyms are made.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Pseudonyms {
    /// Yes; keyed ones with this subkey.
    Made(Option<[u8; 32]>),
    /// No: nothing is released, or it was released before.
    Hidden,
}

/// A column that is released as pseudonyms.
#[derive(Debug, Clone)]
pub(crate) struct ReplacedColumn {
    pub(crate) name: String,
    pub(crate) by: ReplaceJob,
    /// Do its values repeat?
    pub(crate) repeats: bool,
    /// The column as collected, and its place, where the table has pseudonyms.
    original: Option<(usize, Column)>,
}

/// Replaces what a job says, and notes what makes no sense.
pub(super) fn settle(
    job: &Job,
    data: &mut Loaded,
    pseudonyms: Pseudonyms,
    mistakes: &mut Mistakes,
) -> Result<Vec<ReplacedColumn>> {
    let mut replaced = Vec::new();
    for (name, column) in &job.columns {
        let Some(by) = column.replace else { continue };
        let key = ["columns", name.as_str(), "replace"];
        if data.spilled.is_some() || data.elsewhere.is_some() {
            let mistake =
                format!("column `{name}`: values are replaced in memory, and the table is elsewhere");
            return Err(job
                .mistake(&key, mistake)
                .with_hint("raise `memory`, or drop the column: leave `replace` out"));
        }
        let Some(place) = data.table.place(name) else { continue };
        let collected = &data.table.columns()[place];
        let repeats = repeats(collected);
        if repeats && job.policy.unit.is_none() {
            let mistake = format!(
                "the values of column `{name}` repeat, so pseudonyms would tell which rows are one person's"
            );
            mistakes.add(job.mistake(&key, mistake).with_hint(
                "say whom a row is about, unit = \"...\" in [policy], so that all rows of a person are judged together; or leave `replace` out",
            ));
        }
        let mut original = None;
        if let Pseudonyms::Made(subkey) = pseudonyms {
            let made = made(collected, by, subkey)?;
            original = Some((place, collected.clone()));
            data.table = with_column(&data.table, place, made)?;
        }
        replaced.push(ReplacedColumn { name: name.clone(), by, repeats, original });
    }
    Ok(replaced)
}

/// Fails where columns are replaced and the algorithm does not generalize whole columns.
pub(super) fn refuse_local(job: &Job, replaced: &[ReplacedColumn]) -> Result<()> {
    let Some(column) = replaced.first() else { return Ok(()) };
    let mistake =
        "values are replaced by pseudonyms where whole columns are generalized, not by this algorithm";
    Err(job
        .mistake(&["columns", &column.name, "replace"], mistake)
        .with_hint("leave `replace` or `algorithm` out"))
}

/// Stands a value in two rows?
fn repeats(column: &Column) -> bool {
    let mut seen = vec![false; column.dictionary().len()];
    let is_missing: Vec<bool> =
        column.dictionary().values().map(|value| value.is_empty() || value == EMPTY_TEXT).collect();
    column
        .codes()
        .iter()
        .any(|&code| !is_missing[code as usize] && std::mem::replace(&mut seen[code as usize], true))
}

/// The column of pseudonyms for a column.
fn made(column: &Column, by: ReplaceJob, subkey: Option<[u8; 32]>) -> Result<Column> {
    let values: Vec<&str> = column.dictionary().values().collect();
    let is_missing = |value: &str| value.is_empty() || value == EMPTY_TEXT;
    let mut numbers: Vec<usize> = (1..=values.iter().filter(|value| !is_missing(value)).count()).collect();
    numbers.shuffle(&mut rand::rng());
    let mut pseudonyms = Vec::with_capacity(values.len());
    for value in values {
        pseudonyms.push(match (is_missing(value), by) {
            (true, _) => String::new(),
            (false, ReplaceJob::Number) => numbers.pop().unwrap_or_default().to_string(),
            (false, ReplaceJob::KeyedHash) => {
                let no_key = || Error::input("a keyed hash needs the publisher's key");
                keyed_hash(&subkey.ok_or_else(no_key)?, value)
            }
        });
    }
    Column::from_cells(
        column.name(),
        Role::Other,
        column.codes().iter().map(|&code| pseudonyms[code as usize].as_str()),
    )
}

/// The pseudonym of a value under a subkey.
pub(crate) fn keyed_hash(subkey: &[u8; 32], value: &str) -> String {
    let mut mac: Hmac<Sha256> = Hmac::new_from_slice(subkey).expect("a key may have any length");
    mac.update(value.as_bytes());
    mac.finalize().into_bytes().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

fn with_column(table: &Table, place: usize, column: Column) -> Result<Table> {
    let mut columns = table.columns().to_vec();
    columns[place] = column;
    Table::new(columns)
}

/// A table as it was collected.
pub(super) fn collected<'a>(table: &'a Table, replaced: &[ReplacedColumn]) -> Result<Cow<'a, Table>> {
    let mut collected = Cow::Borrowed(table);
    for (place, column) in replaced.iter().filter_map(|column| column.original.as_ref()) {
        collected = Cow::Owned(with_column(&collected, *place, column.clone())?);
    }
    Ok(collected)
}

/// What to tell whoever runs the job.
pub(super) fn notes(replaced: &[ReplacedColumn]) -> impl Iterator<Item = String> {
    replaced.iter().map(|column| {
        let by = match column.by {
            ReplaceJob::Number => "new numbers",
            ReplaceJob::KeyedHash => "keyed hashes; whoever has the publisher's key can find a person again",
        };
        let together = if column.repeats { ", and all rows of one can be put together" } else { "" };
        format!("column `{}` has pseudonyms ({by}){together}: pseudonyms are not anonymity", column.name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_keyed_hash_is_hmac_sha_256_and_numbers_are_one_to_one() {
        // Case 2 of RFC 4231, with the key padded by zeros as HMAC does it.
        let mut key = [0; 32];
        key[..4].copy_from_slice(b"Jefe");
        assert_eq!(keyed_hash(&key, "what do ya want for nothing?"), "5bdcc146bf60754e6a042426089575c7");
        let column = Column::from_cells("id", Role::Identifier, ["a", "b", "", "a", "c"]).unwrap();
        let numbers = made(&column, ReplaceJob::Number, None).unwrap();
        let cells: Vec<&str> = (0..5).map(|row| numbers.cell(row)).collect();
        assert_eq!((cells[2], cells[0] == cells[3]), ("", true));
        let mut distinct = vec![cells[0], cells[1], cells[4]];
        distinct.sort_unstable();
        assert_eq!(distinct, ["1", "2", "3"]);
        assert!(repeats(&column) && made(&column, ReplaceJob::KeyedHash, None).is_err());
    }
}
