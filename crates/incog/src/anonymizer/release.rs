//! A verified release in memory.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use incog_core::table::label;
use incog_core::{Error, ErrorKind, Progress, Result};
use incog_verify::Labels;
use rand::seq::SliceRandom;

use crate::anonymizer::beside::Beside;
use crate::anonymizer::for_one_table;
use crate::anonymizer::recoding::{ReleaseRecoding, is_local};
use crate::claim::release::VerifiedRelease;
use crate::claim::release::released;
use crate::database::{DatabasePlan, MadeDatabase, TableRelease};
use crate::file::STANDARD;
use crate::job::OutputOrder;
use crate::plan::Plan;
use crate::publish::places::{Places, key_of};
use crate::publish::record::Record;
use crate::publish::sink::{self, Part, Unfinished};
use crate::publish::{publish, record_of};
use crate::report::release::ReleaseReport;

/// A release that the independent checker has found to keep all its promises, in the order in which its rows are released.
///
/// It holds the labels that would be written, never an identifier, and can be [written](Self::write) or taken as columns.
///
/// ```
/// # use incog::{Anonymizer, Hierarchy};
/// # let table = [("zip", vec!["53715", "53715", "53703", "53706"]), ("ill", vec!["flu", "cold", "flu", "none"])];
/// # let anonymizer = Anonymizer::new(table).quasi_identifier("zip", Hierarchy::mask_right()).sensitive("ill").k(2);
/// let release = anonymizer.anonymize()?;
/// assert_eq!(release.header(), ["zip", "ill"]);
/// assert_eq!((release.n_rows(), release.report().suppressed_rows), (4, 0));
/// # Ok::<(), incog::Error>(())
/// ```
pub struct Release {
    made: Made,
    report: ReleaseReport,
    progress: Arc<Progress>,
}

/// What a release is of.
enum Made {
    Table(Box<(Plan, VerifiedRelease)>),
    Database(Box<DatabaseRelease>),
}

/// The release of a database, with the order in which the rows of each of its tables are shown.
struct DatabaseRelease {
    plan: DatabasePlan,
    made: MadeDatabase,
    orders: Vec<(String, Part, Vec<u32>)>,
}

impl std::fmt::Debug for Release {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Release").field("n_rows", &self.n_rows()).finish_non_exhaustive()
    }
}

impl Release {
    pub(super) fn new(
        plan: Plan,
        made: VerifiedRelease,
        beside: &Beside,
        progress: Arc<Progress>,
    ) -> Result<Self> {
        let report = ReleaseReport::new(&plan, &made, beside.notes(&plan, &made))?;
        Ok(Release { made: Made::Table(Box::new((plan, made))), report, progress })
    }

    pub(super) fn of_database(plan: DatabasePlan, made: MadeDatabase, progress: Arc<Progress>) -> Self {
        let report = plan.report(&made);
        let is_shuffled = plan.job.database.order == OutputOrder::Shuffle;
        let order = |part: Part| {
            let mut order: Vec<u32> = (0..part.of(&made.verified).n_rows() as u32).collect();
            // Sensitive values in the order of the rows would be next to them.
            if is_shuffled || part.sensitive.is_some() {
                order.shuffle(&mut rand::rng());
            }
            order
        };
        let person = plan.database.person();
        let others = (0..plan.database.relations().len()).filter(|&table| table != person);
        let mut orders = Vec::new();
        for table in std::iter::once(person).chain(others) {
            let name = &plan.database.relations()[table].name;
            let part = Part { table, sensitive: None };
            orders.push((name.clone(), part, order(part)));
            for (at, (column, _)) in made.verified.tables()[table].sensitive.iter().enumerate() {
                let part = Part { table, sensitive: Some(at) };
                orders.push((format!("{name}.{column}"), part, order(part)));
            }
        }
        Release { made: Made::Database(Box::new(DatabaseRelease { plan, made, orders })), report, progress }
    }

    /// From now on this is told how far writing is, and can cancel it.
    pub fn set_progress(&mut self, progress: &Arc<Progress>) {
        self.progress = Arc::clone(progress);
    }

    /// The released tables: one without a name, or those of a database, the person table first. Their rows are shuffled, each table by
    /// itself, unless the job keeps their order.
    ///
    /// ```
    /// let job = incog::AnyJob::parse(
    ///     "[database]\nperson = \"student\"\n[policy]\nk = 2\n[tables.student]\npath = \"\"\nkey = \"id\"\n\
    ///      columns.age = { role = \"quasi-identifier\" }\n",
    /// )?;
    /// let students = [("id", vec!["Ann", "Bob"]), ("age", vec!["20", "21"])];
    /// let release = incog::Anonymizer::from_job(job).table_data("student", students).anonymize()?;
    /// let tables = release.tables();
    /// assert_eq!(tables[0].name(), "student");
    /// assert_eq!(tables[0].column("age").unwrap(), [Some("*"), Some("*")]);
    /// # Ok::<(), incog::Error>(())
    /// ```
    pub fn tables(&self) -> Vec<ReleasedTable<'_>> {
        match &self.made {
            Made::Table(_) => vec![self.first()],
            Made::Database(database) => (0..database.orders.len()).map(|at| database.table(at)).collect(),
        }
    }

    fn first(&self) -> ReleasedTable<'_> {
        match &self.made {
            Made::Table(of) => {
                let labels: &dyn Labels = &**of.1.verified.release();
                ReleasedTable { name: "", labels, order: None, of: Of::Table(&of.0, &of.1) }
            }
            Made::Database(database) => database.table(0),
        }
    }

    /// How many rows are released; of a database, those of its person table.
    pub fn n_rows(&self) -> usize {
        self.first().n_rows()
    }

    /// The released columns' names, in the order of the table; of a database, those of its person table.
    pub fn header(&self) -> Vec<&str> {
        self.first().header()
    }

    /// The released cells of a column as text, row by row; the missing value is `None`. Nothing if no such column is released; of a
    /// database, if none is in its person table.
    pub fn column(&self, name: &str) -> Option<Vec<Option<&str>>> {
        self.first().column(name)
    }

    /// What there is to say of it: levels, loss, suppressed rows, what the checker found.
    pub fn report(&self) -> &ReleaseReport {
        &self.report
    }

    /// What was done, to be done to other rows. Fails where recoding is not by whole columns.
    pub fn recoding(&self) -> Result<ReleaseRecoding> {
        match &self.made {
            Made::Table(of) if self.report.local.is_none() => {
                Ok(ReleaseRecoding::new(&of.0, &self.report.levels))
            }
            Made::Table(_) => Err(is_local()),
            Made::Database(_) => Err(for_one_table("a recoding for other rows")),
        }
    }

    /// What everybody can recompute. The digest is that of the release as comma-separated text, which is what [`write`](Self::write)
    /// makes of a `.csv`; of a database, that of the files of its folder, if their rows come as in the data. Digests that take the
    /// publisher's key are left empty where there is none yet.
    pub fn record(&self) -> Result<Record> {
        let (plan, made) = match &self.made {
            Made::Table(of) => &**of,
            Made::Database(database) => return database.plan.record(&database.made, &self.progress),
        };
        let key = key_of(&plan.job)?;
        plan.in_memory("what it would be as a file is not known before it is written")?;
        let released = released(plan, &made.as_collected);
        let layout = sink::Layout::new(sink::Form::CSV, &plan.format, &plan.table, &released);
        let text = Unfinished::nowhere();
        let order = OutputOrder::Input;
        let text = sink::write(&made.verified, Part::FIRST, text, &layout, order, None, &self.progress)?;
        record_of(plan, made, Some(text.finish()?.sha256()), None, key.as_ref())
    }

    /// Writes the release, in the format that the file's name says, and its record beside it; of a database, into a folder. All of it
    /// appears whole, or nothing does. Tells where the record is.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<Option<PathBuf>> {
        let path = from_here(path.as_ref())?;
        match &self.made {
            Made::Table(of) => publish_at(of, path, &self.progress),
            Made::Database(database) => database.plan.write_to(&database.made, path, &self.progress),
        }
    }

    /// The release as Arrow record batches; of a database, its person table. Columns that are not generalized have the types that they
    /// came with; all others are text. What came as a dictionary of text is one again, with the labels of released rows alone.
    #[cfg(feature = "parquet")]
    pub fn to_record_batches(&self) -> Result<Vec<incog_parquet::RecordBatch>> {
        self.first().to_record_batches()
    }
}

impl DatabaseRelease {
    fn table(&self, at: usize) -> ReleasedTable<'_> {
        let (name, part, order) = &self.orders[at];
        let labels: &TableRelease = part.of(&self.made.verified);
        ReleasedTable { name, labels, order: Some(order), of: Of::Database(self, *part) }
    }
}

/// Writes the release of one table.
fn publish_at(
    (plan, made): &(Plan, VerifiedRelease),
    path: PathBuf,
    progress: &Progress,
) -> Result<Option<PathBuf>> {
    let mut output = plan.job.output.clone().unwrap_or_default();
    output.path = Some(path);
    let places = Places::new(plan, &output)?;
    sink::Layout::check(places.form.format, &plan.table)?;
    // The rows were shuffled once, if they were to be.
    let order = if plan.spilled.is_some() { output.order } else { OutputOrder::Input };
    publish(plan, made, &places, order, progress)?;
    Ok(places.record)
}

/// One table of a release.
///
/// ```
/// # use incog::{Anonymizer, Hierarchy};
/// # let table = [("zip", vec!["53715", "53715", "53703", "53706"]), ("ill", vec!["flu", "cold", "flu", "none"])];
/// # let anonymizer = Anonymizer::new(table).quasi_identifier("zip", Hierarchy::mask_right()).sensitive("ill").k(2);
/// let release = anonymizer.anonymize()?;
/// for table in release.tables() {
///     assert_eq!((table.name(), table.n_rows(), table.header()), ("", 4, vec!["zip", "ill"]));
/// }
/// # Ok::<(), incog::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct ReleasedTable<'a> {
    name: &'a str,
    labels: &'a dyn Labels,
    /// Which row stands where, unless they stand as they are.
    order: Option<&'a [u32]>,
    #[cfg_attr(not(feature = "parquet"), allow(dead_code))]
    of: Of<'a>,
}

/// What a released table is of.
#[derive(Clone, Copy)]
#[cfg_attr(not(feature = "parquet"), allow(dead_code))]
enum Of<'a> {
    Table(&'a Plan, &'a VerifiedRelease),
    Database(&'a DatabaseRelease, Part),
}

impl std::fmt::Debug for ReleasedTable<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReleasedTable").field("name", &self.name).finish_non_exhaustive()
    }
}

impl<'a> ReleasedTable<'a> {
    /// Its name in the job; empty where there is one table. Sensitive columns that stand apart are called `<table>.<column>`.
    pub fn name(&self) -> &'a str {
        self.name
    }

    /// How many rows are released.
    pub fn n_rows(&self) -> usize {
        self.labels.n_rows()
    }

    /// The released columns' names, in the order of the table.
    pub fn header(&self) -> Vec<&'a str> {
        self.labels.header()
    }

    /// The released cells of a column as text, row by row; the missing value is `None`. Nothing if no such column is released.
    pub fn column(&self, name: &str) -> Option<Vec<Option<&'a str>>> {
        let at = self.labels.header().iter().position(|&other| other == name)?;
        let column = self.labels.column(at);
        let cell = |code: u32| label::text_of(column.labels[code as usize]);
        Some(match self.order {
            None => column.codes.iter().map(|&code| cell(code)).collect(),
            Some(order) => order.iter().map(|&row| cell(column.codes[row as usize])).collect(),
        })
    }

    /// The same rows as Arrow record batches, as [`Release::to_record_batches`] has them.
    #[cfg(feature = "parquet")]
    pub fn to_record_batches(&self) -> Result<Vec<incog_parquet::RecordBatch>> {
        match self.of {
            Of::Table(plan, made) => sink::to_record_batches(
                &made.verified,
                Part::FIRST,
                None,
                &plan.format,
                &plan.table,
                &released(plan, &made.as_collected),
            ),
            Of::Database(database, part) => {
                database.plan.to_record_batches(&database.made, part, self.order.unwrap_or_default())
            }
        }
    }
}

/// A path that a program gives starts in the current folder.
fn from_here(path: &Path) -> Result<PathBuf> {
    if path.as_os_str() == STANDARD || path.is_absolute() {
        return Ok(path.to_owned());
    }
    let is_folder = path.to_string_lossy().ends_with(std::path::MAIN_SEPARATOR);
    let absolute = std::path::absolute(path)
        .map_err(|error| Error::new(ErrorKind::Io, format!("cannot find `{}`: {error}", path.display())))?;
    Ok(if is_folder { absolute.join("") } else { absolute })
}
