//! What does a program write?
//!
//! [`Anonymizer`] says by calls what a job file says by keys, and makes the same plan: the two are doors to one house.
//! Whatever a call says is checked when the plan is made, together with everything else and with the same errors, so that
//! a chain of calls is not broken by each of them. Only what is read from text ([`suppression`](Anonymizer::suppression), the
//! numbers of a [`Model`]) is checked at once.

mod beside;
mod check;
mod by_incognito;
mod columns;
mod hierarchy;
mod model;
mod decided;
mod reading;
mod recoding;
mod release;
mod verifier;

pub use check::warnings_to_json;
pub use decided::Decided;
pub use hierarchy::{Hierarchy, Number};
pub use model::Model;
pub use recoding::ReleaseRecoding;
pub use release::{Release, ReleasedTable};
pub use verifier::Verifier;

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use incog_core::algorithm::Algorithm;
use incog_core::registry::{Entry, nearest};
use incog_core::{Error, Progress, Result};
use incog_verify::Report;

use crate::anonymizer::beside::Beside;
use crate::claim::release::{RowOrder, verified};
use crate::database::{DatabasePlan, Inputs};
use crate::find::obstacle::impossible;
use crate::find::{Outcome, find};
use crate::job::{AnyJob, Job, Output, OutputOrder, Paths, ReplaceJob};
use crate::plan::replace::Pseudonyms;
use crate::plan::route::recodes_columns;
use crate::plan::{Asked, Plan};
use crate::publish::key_file::RunKey;
use crate::publish::places::{KEY, Places};
use crate::publish::publish;
use crate::publish::record::{Key, Record};
use crate::publish::sink::Layout;
#[cfg(feature = "postgres")]
use crate::publish::table::publish_table;
use crate::report::compare::{self, Comparing, Comparison, MODELS};
use crate::report::frontier::{FrontierReport, frontier};
use crate::report::release::{Published, ReleaseReport};
use crate::report::search::{Listing, SearchReport, search};
use crate::source::Input;
use crate::source::sql::place_of_url;

/// What is to be released, and what the release must satisfy.
///
/// ```
/// use incog::{Anonymizer, Hierarchy, Model};
///
/// # fn main() -> incog::Result<()> {
/// let table = [
///     ("name", vec!["Ada", "Bo", "Cy", "Di"]),
///     ("zip", vec!["53715", "53715", "53703", "53706"]),
///     ("age", vec!["34", "36", "51", "58"]),
///     ("illness", vec!["flu", "asthma", "flu", "none"]),
/// ];
/// let release = Anonymizer::new(table)
///     .identifier("name")
///     .quasi_identifier("zip", Hierarchy::mask_right())
///     .quasi_identifier("age", Hierarchy::intervals([5, 10, 20]).top(90))
///     .sensitive("illness")
///     .require(Model::alpha_k("illness", "1/2")?)
///     .k(2)
///     .suppression("1%")?
///     .anonymize()?;
/// assert_eq!(release.n_rows(), 4);
/// assert!(release.column("name").is_none(), "identifiers are never released");
/// println!("{}", release.report());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use = "nothing happens before `anonymize`, `search` or another question"]
pub struct Anonymizer {
    job: AnyJob,
    input: Input,
    /// Tables of a database that are in memory.
    tables: Inputs,
    /// What a job file could not have said.
    mistakes: Vec<Error>,
    has_k: bool,
    /// The levels of an earlier release.
    levels: Option<BTreeMap<String, u8>>,
    /// An algorithm that is in no list.
    own: Option<&'static Entry<Algorithm>>,
    /// Does the process end with what this is asked?
    is_last: bool,
    progress: Arc<Progress>,
}

impl Anonymizer {
    /// Starts with a table: columns of text, Arrow record batches, or a path. Every column is to be declared, once.
    pub fn new(input: impl Into<Input>) -> Self {
        let input = input.into();
        let mut job = Job::default();
        job.input.path = Paths::of(input.paths());
        Anonymizer {
            job: job.into(),
            input,
            tables: Inputs::new(),
            mistakes: Vec::new(),
            has_k: false,
            levels: None,
            own: None,
            is_last: false,
            progress: Arc::new(Progress::new()),
        }
    }

    /// Starts with a job about one table or about a database, its data where it says.
    ///
    /// ```no_run
    /// # fn main() -> incog::Result<()> {
    /// let job = incog::AnyJob::read("incog.toml".as_ref())?;
    /// let published = incog::Anonymizer::from_job(job).k(20).publish()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// What only one table has (columns that are declared by calls, other data, a search) is refused where the job is about a
    /// database.
    pub fn from_job(job: impl Into<AnyJob>) -> Self {
        let job = job.into();
        let input = match &job {
            AnyJob::Table(job) => Input::of_job(job),
            // Each table has its own, and the job names it.
            AnyJob::Database(_) => Input::files::<PathBuf>([]),
        };
        Anonymizer { input, has_k: true, job, ..Anonymizer::new(Input::files::<PathBuf>([])) }
    }

    /// The job, where it is about one table; `what` is a mistake where it is not.
    fn table(&mut self, what: &str) -> Option<&mut Job> {
        match &mut self.job {
            AnyJob::Table(job) => Some(job),
            AnyJob::Database(_) => {
                self.mistakes.push(for_one_table(what));
                None
            }
        }
    }

    /// Takes other data of the same columns.
    pub fn data(mut self, input: impl Into<Input>) -> Self {
        let input = input.into();
        if let Some(job) = self.table("other data") {
            job.input = job.input.clone().with_paths(Paths::of(input.paths()));
            job.lines.forget(&["input", "path"]);
            self.input = input;
        }
        self
    }

    /// Takes a table of a database from memory, in the place of the files that the job names.
    ///
    /// ```no_run
    /// # fn main() -> incog::Result<()> {
    /// let job = incog::AnyJob::read("database.toml".as_ref())?;
    /// let published = incog::Anonymizer::from_job(job)
    ///     .table_data("student", [("id", vec!["1", "2"]), ("age", vec!["20", "21"])])
    ///     .publish()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn table_data(mut self, name: &str, input: impl Into<Input>) -> Self {
        let known: Vec<String> = match &self.job {
            AnyJob::Database(job) => job.tables.keys().cloned().collect(),
            AnyJob::Table(_) => {
                let mistake = "a table of a database is given, and the job is about one table";
                self.mistakes.push(Error::input(mistake).with_hint("give the data of one table with `data`"));
                return self;
            }
        };
        if known.iter().any(|table| table == name) {
            self.tables.insert(name.to_owned(), input.into());
        } else {
            let near = nearest(known.iter().map(String::as_str), name);
            let advice = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
            self.mistakes.push(Error::input(format!("there is no table `{name}` in the job{advice}")));
        }
        self
    }

    /// Names the algorithm, as `incog list` does. Without it the best full-domain generalization is found.
    pub fn algorithm(mut self, name: impl Into<String>) -> Self {
        self.job.set_algorithm(name.into());
        self
    }

    /// Takes an algorithm that is in no list, of the caller's own.
    pub fn own_algorithm(mut self, entry: &'static Entry<Algorithm>) -> Self {
        if let Some(job) = self.table("an algorithm of one's own") {
            // The job and its record name it, too.
            job.search.algorithm = Some(entry.name.to_owned());
            self.own = Some(entry);
        }
        self
    }

    /// Names the metric by which the best release is picked; `loss` unless given.
    pub fn metric(mut self, name: impl Into<String>) -> Self {
        if let Some(job) = self.table("a metric") {
            job.search.metric = Some(name.into());
        }
        self
    }

    /// How much a quasi-identifier counts in the metric; 1 unless given.
    pub fn weight(mut self, name: impl Into<String>, weight: f64) -> Self {
        if let Some(job) = self.table("a weight") {
            job.search.weights.insert(name.into(), weight);
        }
        self
    }

    /// Changes whatever else the job file has a key for.
    ///
    /// ```
    /// # let table = [("age", vec!["34", "36"])];
    /// # use incog::{Anonymizer, Hierarchy};
    /// let anonymizer = Anonymizer::new(table)
    ///     .quasi_identifier("age", Hierarchy::suppress())
    ///     .k(2)
    ///     .settings(|job| job.search.max_steps = Some(100));
    /// ```
    pub fn settings(mut self, change: impl FnOnce(&mut Job)) -> Self {
        if let Some(job) = self.table("this setting") {
            change(job);
        }
        self
    }

    /// Rows are released in the order of the input. It can tell whose they are, so they are shuffled unless this is called.
    pub fn keep_order(mut self) -> Self {
        self.job.set_order(OutputOrder::Input);
        self
    }

    /// The file of the publisher's key, made if it is not there: `incog.key` in the current folder unless given.
    pub fn key_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.job.set_key(path.into());
        self
    }

    /// Releases are written without a record.
    pub fn without_record(mut self) -> Self {
        self.job.set_no_record();
        self
    }

    /// Progress and cancelling, shared with another thread.
    pub fn progress(mut self, progress: &Arc<Progress>) -> Self {
        self.progress = Arc::clone(progress);
        self
    }

    /// The process ends after [`publish`](Self::publish): memory is left to the system to take back.
    #[doc(hidden)]
    pub fn is_last(mut self) -> Self {
        self.is_last = true;
        self
    }

    /// The same as a job file. A table in memory is standard input there.
    ///
    /// ```
    /// # use incog::{Anonymizer, Hierarchy};
    /// let table = [("age", vec!["34", "36"])];
    /// let anonymizer = Anonymizer::new(table).quasi_identifier("age", Hierarchy::intervals([5, 10])).k(2);
    /// assert!(anonymizer.to_job()?.contains("intervals = [5, 10]"));
    /// # Ok::<(), incog::Error>(())
    /// ```
    pub fn to_job(&self) -> Result<String> {
        self.check_calls()?;
        self.job.to_toml()
    }

    /// Finds the best release that satisfies the policy and has it verified. Nothing is written. Where nothing satisfies the policy, the
    /// error's kind is [`Impossible`](crate::ErrorKind::Impossible), and it says what stands in the way.
    pub fn anonymize(self) -> Result<Release> {
        let progress = Arc::clone(&self.progress);
        if let AnyJob::Database(job) = &self.job {
            self.check_calls()?;
            let plan = DatabasePlan::new(job, self.tables, &progress)?;
            let made = plan.make(&progress)?;
            return Ok(Release::of_database(plan, made, progress));
        }
        let plan = self.plan_of_release(Asked::ONE)?;
        let is_shuffled = plan.job.output.as_ref().is_none_or(|output| output.order == OutputOrder::Shuffle);
        let rows = if is_shuffled { RowOrder::Drawn } else { RowOrder::Input };
        let beside = Beside::of(&plan, &progress)?;
        match find(&plan, &plan.route, &progress)? {
            Outcome::Found(found) => {
                let made = verified(&plan, *found, rows, &progress)?;
                Release::new(plan, made, &beside, progress)
            }
            Outcome::Nothing(obstacle) => Err(impossible(&plan, &obstacle)),
        }
    }

    /// Finds the best recoding and applies it to nothing: what it does to whom, and what it costs. Works where rows are in an
    /// [engine](Input::engine), too.
    ///
    /// ```
    /// # use incog::{Anonymizer, Hierarchy};
    /// let table = [("zip", vec!["53715", "53715", "53703", "53706"])];
    /// let decided = Anonymizer::new(table).quasi_identifier("zip", Hierarchy::mask_right()).k(2).decide()?;
    /// assert_eq!(decided.levels(), Some(vec![("zip", 1)]));
    /// assert_eq!(decided.refused_groups().count(), 0);
    /// # Ok::<(), incog::Error>(())
    /// ```
    pub fn decide(self) -> Result<Decided> {
        let progress = Arc::clone(&self.progress);
        let plan = self.plan(Asked::COUNTED)?;
        match find(&plan, &plan.route, &progress)? {
            Outcome::Found(found) => Ok(Decided::new(plan, *found)),
            Outcome::Nothing(obstacle) => Err(impossible(&plan, &obstacle)),
        }
    }

    /// A plan whose release is made: with pseudonyms, where the job asks for them. The publisher's key is made now if they need it.
    fn plan_of_release(self, asked: Asked<'_>) -> Result<Plan> {
        self.check_calls()?;
        let mut subkey = None;
        if let AnyJob::Table(job) = &self.job
            && job.columns.values().any(|column| column.replace == Some(ReplaceJob::KeyedHash))
        {
            let path = job.output.as_ref().and_then(|output| output.key.as_deref());
            let mut key = RunKey::read_or_draw(&job.resolve(path.unwrap_or(Path::new(KEY))))?;
            key.settle()?;
            subkey = Some(key.key().of_pseudonyms());
        }
        self.plan(Asked { pseudonyms: Pseudonyms::Made(subkey), ..asked })
    }

    /// The same, written where the job says, with its record. The release of a database is a folder.
    pub fn publish(self) -> Result<Published> {
        if let AnyJob::Database(job) = &self.job {
            self.check_calls()?;
            return DatabasePlan::new(job, self.tables, &self.progress)?.publish(&self.progress);
        }
        let (progress, is_last) = (Arc::clone(&self.progress), self.is_last);
        let asked = if self.may_stay() { Asked::COUNTED } else { Asked::ONE };
        let plan = self.plan_of_release(asked)?;
        let output = plan.job.output.clone().unwrap_or_default();
        let places = Places::new(&plan, &output)?;
        if output.url.is_some() {
            return publish_as_table(&plan, &output, places, &progress);
        }
        Layout::check(places.form.format, &plan.table)?;
        let beside = Beside::of(&plan, &progress)?;
        let made = match find(&plan, &plan.route, &progress)? {
            Outcome::Found(found) => verified(&plan, *found, RowOrder::Input, &progress)?,
            Outcome::Nothing(obstacle) => return Err(impossible(&plan, &obstacle)),
        };
        publish(&plan, &made, &places, output.order, &progress)?;
        let report = ReleaseReport::new(&plan, &made, beside.notes(&plan, &made))?;
        if is_last {
            plan.leave();
        }
        Ok(Published { path: places.path, record: places.record, report })
    }

    /// Finds every generalization that satisfies the policy.
    ///
    /// ```
    /// # use incog::{Anonymizer, Hierarchy};
    /// let table = [("zip", vec!["53715", "53715", "53703", "53706"])];
    /// let found = Anonymizer::new(table).quasi_identifier("zip", Hierarchy::mask_right()).k(2).search()?;
    /// assert_eq!((found.satisfying, found.lattice_nodes), (5, 6));
    /// # Ok::<(), incog::Error>(())
    /// ```
    pub fn search(self) -> Result<SearchReport> {
        self.search_listing(Listing::All)
    }

    /// The same, with what is to be listed: all of them, or the minimal ones.
    pub fn search_listing(self, listing: Listing) -> Result<SearchReport> {
        let progress = Arc::clone(&self.progress);
        search(&self.plan(Asked::EVERY)?, listing, &progress)
    }

    /// Finds the best generalization for each k of a range: what one more person in each group costs.
    ///
    /// ```
    /// # use incog::{Anonymizer, Hierarchy};
    /// let table = [("zip", vec!["53715", "53715", "53703", "53706"])];
    /// let frontier = Anonymizer::new(table).quasi_identifier("zip", Hierarchy::mask_right()).frontier(2..=4)?;
    /// assert_eq!(frontier.frontier.len(), 3);
    /// # Ok::<(), incog::Error>(())
    /// ```
    pub fn frontier(mut self, ks: RangeInclusive<u64>) -> Result<FrontierReport> {
        if !self.has_k {
            self = self.k(1);
        }
        let progress = Arc::clone(&self.progress);
        frontier(&self.plan(Asked::EVERY)?, ks, &progress)
    }

    /// Makes, verifies and measures a release by each recoding model; none is kept.
    pub fn compare(self) -> Result<Comparison> {
        self.compare_models(&MODELS)
    }

    /// The same for some models, by their names in `incog list`.
    ///
    /// ```
    /// # use incog::{Anonymizer, Hierarchy};
    /// let table = [("zip", vec!["53715", "53715", "53703", "53706"])];
    /// let comparison = Anonymizer::new(table)
    ///     .quasi_identifier("zip", Hierarchy::mask_right())
    ///     .k(2)
    ///     .compare_models(&["full-domain", "top-down"])?;
    /// let losses: Vec<f64> = comparison.models.iter().map(|model| model.release.as_ref().unwrap().loss).collect();
    /// assert!(losses[1] <= losses[0]);
    /// # Ok::<(), incog::Error>(())
    /// ```
    pub fn compare_models(self, models: &[&str]) -> Result<Comparison> {
        self.compare_telling(models, &mut |_| ())
    }

    /// The same, and tells which model runs and what came of each as it comes.
    ///
    /// ```
    /// use incog::{Anonymizer, Comparing, Hierarchy};
    ///
    /// let table = [("zip", vec!["53715", "53715", "53703", "53706"])];
    /// let mut came = Vec::new();
    /// Anonymizer::new(table)
    ///     .quasi_identifier("zip", Hierarchy::mask_right())
    ///     .k(2)
    ///     .compare_telling(&["datafly", "top-down"], &mut |step| {
    ///         if let Comparing::Came(model) = step {
    ///             came.push(model.model.clone());
    ///         }
    ///     })?;
    /// assert_eq!(came, ["datafly", "top-down"]);
    /// # Ok::<(), incog::Error>(())
    /// ```
    pub fn compare_telling(
        mut self,
        models: &[&str],
        told: &mut dyn FnMut(Comparing<'_>),
    ) -> Result<Comparison> {
        let progress = Arc::clone(&self.progress);
        let AnyJob::Table(job) = self.job.clone() else {
            return Err(for_one_table("a comparison"));
        };
        self.job = compare::bare(&job).into();
        let models: Vec<String> = models.iter().map(|&model| model.to_owned()).collect();
        let mut plan = self.plan(Asked::ONE)?;
        // Columns that nobody declared have their role by now.
        let job = Job { columns: plan.job.columns.clone(), ..job };
        compare::compare(&mut plan, job, &models, &progress, told)
    }

    /// Checks a released file, or the folder of a database, against these data and this policy, trusting nothing but the data. How far
    /// columns were generalized is found out; where the job names another recoding than by whole columns, it was made by that.
    /// [`Verifier`] also takes the release's record.
    pub fn verify(self, release: impl AsRef<Path>) -> Result<Report> {
        Verifier::new(release.as_ref()).against(self).verify()
    }

    /// Does to these data what was done to the release of a record: the same levels, suppressed and verified anew. With the key that the
    /// record is sealed with, hierarchies must be those of that release; without it nobody can tell.
    pub fn like(mut self, record: &Record, key: Option<&Key>) -> Result<Self> {
        let AnyJob::Table(job) = &self.job else {
            return Err(for_one_table("a release like another"));
        };
        self.levels = record.levels_for(job, key)?.cloned();
        Ok(self)
    }

    /// May the rows stay in their database, if they are in one? Where the release is written beside them, and no row is recoded by itself.
    fn may_stay(&self) -> bool {
        let AnyJob::Table(job) = &self.job else { return false };
        let output = job.output.as_ref().and_then(|output| output.url.as_deref());
        let input = job.input.url.as_deref();
        let is_beside = match (input.and_then(place_of_url), output.and_then(place_of_url)) {
            (Some(input), Some(output)) => input == output,
            _ => false,
        };
        is_beside && self.own.is_none() && recodes_columns(job)
    }

    /// The plan of one table.
    fn plan(self, asked: Asked<'_>) -> Result<Plan> {
        self.check_calls()?;
        let AnyJob::Table(job) = self.job else {
            return Err(for_one_table("what is asked for").with_hint(
                "a database can be published and verified: its release is a folder, and has no lattice",
            ));
        };
        let asked = Asked { levels: self.levels.as_ref(), algorithm: self.own, ..asked };
        Plan::new(job, self.input, asked, &self.progress)
    }

    /// Fails if the calls themselves are wrong.
    fn check_calls(&self) -> Result<()> {
        if let Some(mistake) = self.mistakes.first() {
            return Err(mistake.clone());
        }
        if !self.has_k {
            return Err(Error::input("`policy.k` is missing").with_hint("common choices are 3, 5, 11 and 20"));
        }
        Ok(())
    }
}

/// Finds, verifies and writes a release that is a table of a database.
#[cfg(feature = "postgres")]
fn publish_as_table(plan: &Plan, output: &Output, places: Places, progress: &Progress) -> Result<Published> {
    match publish_table(plan, output, &places, progress)? {
        Ok(made) => {
            let report = ReleaseReport::counted(plan, &made, Vec::new())?;
            Ok(Published { path: places.path, record: places.record, report })
        }
        Err(obstacle) => Err(impossible(plan, &obstacle)),
    }
}

#[cfg(not(feature = "postgres"))]
fn publish_as_table(plan: &Plan, _: &Output, _: Places, _: &Progress) -> Result<Published> {
    Err(plan.job.mistake(&["output", "url"], "this incog was built without PostgreSQL"))
}

/// What to say of a call that makes no sense of a database.
pub(crate) fn for_one_table(what: &str) -> Error {
    Error::input(format!("{what} is for one table, and the job is about a database"))
        .with_hint("say it in the job file")
}
