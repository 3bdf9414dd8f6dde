//! Is a release what is claimed of it? One way to ask, whatever the release is and whatever is at hand.
//!
//! | at hand | what is checked |
//! |---|---|
//! | the job with its data | every claim, against the data |
//! | the job with its data, and the record | the same, and every key of the record, made anew |
//! | the record | what everybody can recompute |
//! | names of columns and k | what can be seen from one file |
//!
//! Whether the release is one table or a database is told by the job; without one by the record; without both a folder is a
//! database.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

use incog_core::{Error, Result};
use incog_verify::{ClaimKind, Claims, Finding, Labels, RecodingClaim, Report, check};

use crate::anonymizer::Anonymizer;
use crate::claim::file::{ReleasedFile, read_release};
use crate::claim::labels::Collected;
use crate::database::{self, DatabasePlan};
use crate::file::STANDARD;
use crate::job::{AnyJob, DatabaseJob};
use crate::plan::Asked;
use crate::publish::check::{check_against_record, check_file, check_table, check_with_record};
use crate::publish::places::record_of;
use crate::publish::record::{Key, PublicKey, RECORD, Record, Trust};
#[cfg(feature = "postgres")]
use crate::publish::table_check::ReleasedTable;
use crate::report::verification::Verification;
use crate::source::Input;

/// Checks a release, from whatever tool: a file, or the folder of a database.
///
/// ```
/// use incog::{Anonymizer, Hierarchy, Verifier};
///
/// # fn main() -> incog::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("release.csv");
/// let table = [("zip", vec!["53715", "53715", "53703", "53706"])];
/// let anonymizer = Anonymizer::new(table)
///     .quasi_identifier("zip", Hierarchy::mask_right())
///     .k(2)
///     .key_file(folder.path().join("incog.key"));
/// let record = anonymizer.clone().anonymize()?.write(&path)?.expect("a record is written");
///
/// let by_everybody = Verifier::new(&path).record(&record).verify()?;
/// let by_the_publisher = Verifier::new(&path).record(&record).against(anonymizer).verify()?;
/// assert!(by_everybody.holds() && by_the_publisher.holds());
/// # Ok(())
/// # }
/// ```
#[must_use = "nothing is checked before `verify`"]
pub struct Verifier {
    release: PathBuf,
    /// The release, where it is in memory.
    in_memory: Option<Input>,
    delimiter: Option<u8>,
    table: Option<String>,
    recoding: RecodingClaim,
    against: Option<Anonymizer>,
    record: Option<PathBuf>,
    key: Option<Key>,
    publisher: Option<PublicKey>,
    claims: Option<Claims<'static>>,
}

impl std::fmt::Debug for Verifier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Verifier").field("release", &self.release).finish_non_exhaustive()
    }
}

impl Verifier {
    /// Starts with a released file, or the folder of a database.
    pub fn new(release: impl Into<PathBuf>) -> Self {
        Verifier {
            release: release.into(),
            in_memory: None,
            delimiter: None,
            table: None,
            recoding: RecodingClaim::FullDomain,
            against: None,
            record: None,
            key: None,
            publisher: None,
            claims: None,
        }
    }

    /// Starts with a release in memory: columns of text or Arrow record batches. A record is of a file, and cannot be compared with it.
    ///
    /// ```
    /// use incog::Verifier;
    /// use incog::unstable::checker::Claims;
    ///
    /// let claims = Claims {
    ///     quasi_identifiers: vec!["zip".to_owned()],
    ///     k: 2,
    ///     combinations: None,
    ///     columns: None,
    ///     sensitive: Vec::new(),
    ///     source: None,
    /// };
    /// let report = Verifier::of_table([("zip", vec!["5371*", "5371*", "5370*"])]).claims(claims).verify()?;
    /// assert!(!report.holds(), "one row stands alone");
    /// # Ok::<(), incog::Error>(())
    /// ```
    pub fn of_table(release: impl Into<Input>) -> Self {
        Verifier { in_memory: Some(release.into()), ..Verifier::new(STANDARD) }
    }

    /// The release is this table of a database, whose URL stands in the place of the file. Not needed where the job says so.
    pub fn table(mut self, name: impl Into<String>) -> Self {
        self.table = Some(name.into());
        self
    }

    /// Compares with these data and this policy.
    pub fn against(mut self, anonymizer: Anonymizer) -> Self {
        self.against = Some(anonymizer);
        self
    }

    /// Recomputes the record in this file, as far as what else is at hand allows.
    pub fn record(mut self, path: impl Into<PathBuf>) -> Self {
        self.record = Some(path.into());
        self
    }

    /// The publisher's key: the record's seal must be made with it, and its digests can be recomputed.
    pub fn key(mut self, key: Key) -> Self {
        self.key = Some(key);
        self
    }

    /// The publisher's public key: the record must be signed with the private key of the pair.
    pub fn publisher(mut self, key: PublicKey) -> Self {
        self.publisher = Some(key);
        self
    }

    /// What separates the fields of CSV files; the job's or the record's, or found out, unless given.
    pub fn delimiter(mut self, delimiter: u8) -> Self {
        self.delimiter = Some(delimiter);
        self
    }

    /// The release was generalized cell by cell, not column by column. Not needed where the job or the record says so.
    pub fn local(mut self) -> Self {
        self.recoding = RecodingClaim::Local;
        self
    }

    /// What is claimed of a file of which there is neither a job nor a record.
    pub fn claims(mut self, claims: Claims<'static>) -> Self {
        self.claims = Some(claims);
        self
    }

    /// Checks every claim. The report says which hold.
    pub fn verify(self) -> Result<Report> {
        Ok(self.examine()?.report)
    }

    /// The same, with what the release was checked against. Where nothing is at hand, that is the record beside the release.
    ///
    /// ```
    /// # use incog::{Anonymizer, Hierarchy, Verifier};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("release.csv");
    /// # let table = [("zip", vec!["53715", "53715", "53703", "53706"])];
    /// # let anonymizer = Anonymizer::new(table).quasi_identifier("zip", Hierarchy::mask_right()).k(2);
    /// # let anonymizer = anonymizer.key_file(folder.path().join("incog.key"));
    /// let record = anonymizer.anonymize()?.write(&path)?;
    /// let examined = Verifier::new(&path).examine()?;
    /// assert_eq!(examined.record, record);
    /// assert!(examined.report.holds(), "{examined}");
    /// # Ok::<(), incog::Error>(())
    /// ```
    pub fn examine(mut self) -> Result<Verification> {
        if self.in_memory.is_none()
            && self.table.is_none()
            && self.against.is_none()
            && self.record.is_none()
            && self.claims.is_none()
        {
            self.record = self.record_beside();
        }
        let release = self.release.clone();
        let path = self.record.clone();
        let mut notes = Vec::new();
        let report = self.check(&mut notes)?;
        Ok(Verification { release, record: path, notes, report })
    }

    /// The record beside the release, or in its folder, if there is one.
    fn record_beside(&self) -> Option<PathBuf> {
        let path = if self.release.is_dir() { self.release.join(RECORD) } else { record_of(&self.release)? };
        path.is_file().then_some(path)
    }

    fn check(&mut self, notes: &mut Vec<String>) -> Result<Report> {
        if let Some(table) = self.in_memory.take() {
            return self.check_in_memory(table);
        }
        let trust = Trust { key: self.key.as_ref(), publisher: self.publisher.as_ref() };
        let record = self.record.as_deref().map(|path| Record::read(path, trust)).transpose()?;
        if let Some((url, table)) = self.in_database() {
            let mut report = self.check_database_table(url, table, record.as_ref())?;
            report.findings.extend(record.and_then(|record| self.signed(record)));
            return Ok(report);
        }
        if let Some(local) = record.as_ref().and_then(Record::local) {
            notes.push(format!(
                "checked cell by cell, as with --local: the record says that `{}` made the release",
                local.algorithm
            ));
        }
        let mut report = match self.against.take() {
            Some(Anonymizer { job: AnyJob::Database(job), progress, tables, .. }) => {
                let plan = self.for_database(record.as_ref(), || {
                    DatabasePlan::for_verification(&job, tables, &progress)
                })?;
                let record = record.as_ref().map(|record| (record, self.key.as_ref()));
                plan.check_folder(&self.release, self.delimiter, record)
            }
            Some(anonymizer) => self.check_file(anonymizer, record.as_ref(), notes),
            None => self.check_alone(record.as_ref()),
        }?;
        report.findings.extend(record.and_then(|record| self.signed(record)));
        Ok(report)
    }

    /// A release in memory: against its data, or by claims alone.
    fn check_in_memory(&mut self, table: Input) -> Result<Report> {
        if self.record.is_some() {
            return Err(Error::input("a record is of a file, and the release is in memory")
                .with_hint("write the release to a file, and verify that"));
        }
        let (table, format) = table.into_table().map_err(|_| {
            Error::input("a release in memory was announced, and it is in files")
                .with_hint("start with the file: Verifier::new")
        })??;
        let Some(anonymizer) = self.against.take() else {
            let labels = Collected(Cow::Owned(table));
            return check_claims(&labels, self.claims.as_ref().ok_or_else(nothing_to_compare)?);
        };
        let progress = Arc::clone(&anonymizer.progress);
        let plan = anonymizer.plan(Asked::ONE)?;
        check_table(&plan, ReleasedFile::in_memory(table, &format), self.recoding.clone(), &progress)
    }

    /// Where the release is, if it is a table of a database: its URL and its name.
    fn in_database(&self) -> Option<(String, String)> {
        let release = self.release.to_string_lossy().into_owned();
        if let Some(table) = &self.table {
            return Some((release, table.clone()));
        }
        let Some(Anonymizer { job: AnyJob::Table(job), .. }) = &self.against else { return None };
        Some((job.output.as_ref()?.url.clone()?, release))
    }

    /// A release that is a table of a database.
    #[cfg(feature = "postgres")]
    fn check_database_table(
        &mut self,
        url: String,
        table: String,
        record: Option<&Record>,
    ) -> Result<Report> {
        let released = ReleasedTable { url, table };
        let key = self.key.as_ref();
        match (self.against.take(), record) {
            (Some(anonymizer), record) => {
                let progress = Arc::clone(&anonymizer.progress);
                let asked = if anonymizer.may_stay() { Asked::COUNTED } else { Asked::ONE };
                let plan = match record {
                    Some(record) => anonymizer.like(record, key)?.plan(asked)?,
                    None => anonymizer.plan(asked)?,
                };
                released.check_with(&plan, record, key, &progress)
            }
            (None, Some(record)) => released.check_against_record(record),
            (None, None) => {
                let claims = self.claims.as_ref().ok_or_else(nothing_to_compare)?;
                released.check_alone(claims)
            }
        }
    }

    #[cfg(not(feature = "postgres"))]
    fn check_database_table(&mut self, _: String, _: String, _: Option<&Record>) -> Result<Report> {
        Err(Error::input("this incog was built without PostgreSQL"))
    }

    /// Against the job and the data of one table.
    fn check_file(
        &self,
        anonymizer: Anonymizer,
        record: Option<&Record>,
        notes: &mut Vec<String>,
    ) -> Result<Report> {
        let (progress, release, delimiter) =
            (Arc::clone(&anonymizer.progress), &self.release, self.delimiter);
        let Some(record) = record else {
            let plan = anonymizer.plan(Asked::ONE)?;
            if let Some(chosen) = plan.route.local() {
                notes.push(format!(
                    "checked cell by cell, as with --local: the job names `{}`",
                    chosen.name()
                ));
            }
            return check_file(&plan, release, delimiter, self.recoding.clone(), &progress);
        };
        let key = self.key.as_ref();
        let plan = anonymizer.like(record, key)?.plan(Asked::ONE)?;
        check_with_record(&plan, release, delimiter, record, key, &progress)
    }

    /// Without a job and data.
    fn check_alone(&self, record: Option<&Record>) -> Result<Report> {
        let (release, delimiter) = (self.release.as_path(), self.delimiter);
        match record {
            Some(record) if record.is_of_database() => {
                let job = self.for_database(Some(record), || record.job())?;
                let job: Option<DatabaseJob> = job.database();
                let job = job.ok_or_else(|| Error::input("the record's job is not about a database"))?;
                database::check_against_record(release, record, &job, delimiter)
            }
            _ if release.is_dir() => Err(self.is_a_folder(record)),
            Some(record) => check_against_record(release, record, delimiter),
            None => {
                let claims = self.claims.as_ref().ok_or_else(nothing_to_compare)?;
                check_claims(&*read_release(release, delimiter)?, claims)
            }
        }
    }

    /// Makes what a database is checked with, unless something that was said is about one table.
    fn for_database<T>(&self, record: Option<&Record>, make: impl FnOnce() -> Result<T>) -> Result<T> {
        if record.is_some_and(|record| !record.is_of_database()) {
            return Err(Error::input("the record is of one table, and the job is about a database")
                .with_hint("use the job that the record was made with"));
        }
        if self.recoding != RecodingClaim::FullDomain {
            return Err(Error::input(
                "--local is for one table: the rows of a database are recoded person by person",
            ));
        }
        make()
    }

    /// Why a folder cannot be checked.
    fn is_a_folder(&self, record: Option<&Record>) -> Error {
        match record {
            Some(_) => Error::input("the release is a folder, and the record is of one table")
                .with_hint("give the released file"),
            None => Error::input(
                "the release is a folder; columns alone do not say how its tables belong together",
            )
            .with_hint("give --job, or the --record in the folder"),
        }
    }

    /// What there is to say of a record's signature, which was found to be right when it was read.
    fn signed(&self, record: Record) -> Option<Finding> {
        let key = record.publisher?;
        let found = match self.publisher {
            Some(_) => "with the publisher's key".to_owned(),
            None => format!("with {key}; whether that is the publisher's, --publisher tells"),
        };
        Some(Finding::new(ClaimKind::Signature, "the record is signed", true, found))
    }
}

/// Checks claims of which nothing else is known. Fails if a value that a claim is about is in no row: whoever mistypes a value would find
/// it rare.
fn check_claims(release: &dyn Labels, claims: &Claims<'_>) -> Result<Report> {
    let header = release.header();
    for claim in &claims.sensitive {
        let at = header.iter().position(|column| *column == claim.column);
        // A column that is not there is found with the other claims.
        let (Some(at), Some((_, values))) = (at, &claim.pooled_alpha) else {
            continue;
        };
        let column = release.column(at);
        let occurs = |value: &String| column.codes.iter().any(|&code| column.labels[code as usize] == value);
        if let Some(place) = values.iter().position(|value| !occurs(value)) {
            let name = &claim.column;
            let mistake = format!("value {} of the claim about `{name}` is in no row of it", place + 1);
            return Err(Error::input(mistake)
                .with_hint("values are compared letter by letter, as they stand in the release"));
        }
    }
    Ok(check(release, claims))
}

fn nothing_to_compare() -> Error {
    Error::input("nothing is said that the release could be compared with, and no record is beside it")
        .with_hint("give the job with its data (--job), the record (--record), or claims (--qi and -k)")
}
