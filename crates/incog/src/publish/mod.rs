//! What is written, whole or not at all?
//!
//! A release, its record and, the first time, the publisher's key: everything has its place before anything is written, everything
//! is on disk before the first of the files appears, and the release appears last: there is none without its record.

pub(crate) mod check;
pub(crate) mod key_file;
pub(crate) mod places;
pub(crate) mod record;
pub(crate) mod sink;
#[cfg(feature = "postgres")]
pub(crate) mod table;
#[cfg(feature = "postgres")]
pub(crate) mod table_check;

use incog_core::{Progress, Result};

use crate::claim::release::{VerifiedRelease, released};
use crate::job::OutputOrder;
use crate::plan::Plan;
use crate::publish::key_file::{KeyOnDisk, RunKey};
use crate::publish::places::Places;
use crate::publish::record::{Cost, Key, Observed, Record};
use crate::publish::sink::{Finished, Layout, NewFolder, Part, Unfinished};
use crate::source::spill::Spilled;

/// Writes a verified release, and its record if there is to be one.
pub(crate) fn publish(
    plan: &Plan,
    made: &VerifiedRelease,
    places: &Places,
    order: OutputOrder,
    progress: &Progress,
) -> Result<()> {
    let layout = Layout::new(places.form, &plan.format, &plan.table, &released(plan, &made.as_collected));
    let folder = places.missing_folder.clone().map(NewFolder::look).transpose()?;
    // All have a place before anything is written: what is on standard output cannot be taken back.
    let file = Unfinished::create_in(&places.path, folder.as_ref())?;
    let sealed = match &places.record {
        Some(record) => {
            Some((RunKey::read_or_draw(&places.key)?, Unfinished::create_in(record, folder.as_ref())?))
        }
        None => None,
    };
    let spilled = plan.spilled.as_deref();
    let memory = spilled.map(|spilled| &spilled.memory);
    let file = sink::write(&made.verified, Part::FIRST, file, &layout, order, memory, progress)?;
    // While the disk has its time, nobody else has anything to do.
    let collected = plan.collected()?;
    let digest_of = |key: &RunKey| key.key().digest_of(&collected, spilled);
    let (finished, input) =
        rayon::join(|| file.finish(), || sealed.as_ref().map(|(key, _)| digest_of(key)).transpose());
    let (finished, input) = (finished?, input?);
    // What was released was read again while it was written.
    spilled.map_or(Ok(()), Spilled::check)?;
    let mut all = Vec::new();
    if let (Some((key, file)), Some(path)) = (sealed, &places.record) {
        let mut first = Some((file, input));
        let put = |key: &Key| -> Result<Finished> {
            let (mut file, input) = match first.take() {
                Some(first) => first,
                None => {
                    let digest = key.digest_of(&collected, spilled)?;
                    (Unfinished::create_in(path, folder.as_ref())?, Some(digest))
                }
            };
            let record = record_of(plan, made, Some(finished.sha256()), input, Some(key))?;
            file.put(record.signed(key, places.sign.as_ref()).as_bytes())?;
            file.finish()
        };
        let check = || plan.check_hierarchies().and_then(|()| progress.check());
        all.push(under_the_key_on_disk(key, put, check)?);
    }
    all.push(finished);
    progress.check()?;
    sink::appear(all, folder.as_ref())
}

/// Writes a record under the publisher's key. Where another run was the first to have a key there, it is written anew, under that one.
/// `check` is the last chance to fail before a new key appears.
pub(crate) fn under_the_key_on_disk<T>(
    mut key: RunKey,
    mut put: impl FnMut(&Key) -> Result<T>,
    check: impl FnOnce() -> Result<()>,
) -> Result<T> {
    let written = put(key.key())?;
    check()?;
    match key.settle()? {
        KeyOnDisk::Same => Ok(written),
        KeyOnDisk::Another => put(key.key()),
    }
}

/// The record of a release whose file has this digest, unsigned. Without a key, digests that take one are left empty.
pub(crate) fn record_of(
    plan: &Plan,
    made: &VerifiedRelease,
    sha256: Option<[u8; 32]>,
    input: Option<[u8; 32]>,
    key: Option<&Key>,
) -> Result<Record> {
    let columns = made.verified.release().header().iter().map(|&name| name.to_owned()).collect();
    let seen = Observed { report: &made.report, columns, sha256, input };
    let cost = Cost { costs: &made.costs, statistics: &made.statistics, local: made.local.as_ref() };
    Record::new(plan, &seen, &cost, key)
}
