//! What does a program write?
//!
//! [`Anonymizer`] says by calls what a job file says by keys, and makes the same plan: the two are doors to one house.
//! Whatever a call says is checked when the plan is made, together with everything else and with the same errors, so that
//! a chain of calls is not broken by each of them. Only what is read from text ([`suppression`](Anonymizer::suppression), the
//! numbers of a [`Model`]) is checked at once.

mod check;
pub use check::warnings_to_json;
mod by_incognito;
mod hierarchy;
mod model;
mod decided;
mod reading;
mod release;
mod verifier;

pub use decided::Decided;
pub use hierarchy::{Hierarchy, Number};
pub use model::Model;
pub use release::Release;
pub use verifier::Verifier;

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use incog_core::algorithm::Algorithm;
use incog_core::privacy::Budget;
use incog_core::registry::Entry;
use incog_core::{Error, Progress, Result};
use incog_verify::Report;

use crate::claim::release::{RowOrder, verified};
use crate::database::DatabasePlan;
use crate::find::obstacle::impossible;
use crate::find::{Outcome, find};
use crate::job::{
    AnyJob, ColumnJob, CountOrText, Job, MissingUnit, OrderJob, OutputOrder, Paths, Preset, ReplaceJob,
    RoleJob,
};
use crate::plan::replace::Pseudonyms;
use crate::plan::{Asked, Plan};
use crate::publish::key_file::RunKey;
use crate::publish::places::{KEY, Places};
use crate::publish::publish;
use crate::publish::record::{Key, Record};
use crate::publish::sink::Layout;
use crate::report::compare::{self, Comparison, MODELS};
use crate::report::frontier::{FrontierReport, frontier};
use crate::report::release::{Published, ReleaseReport};
use crate::report::search::{Listing, SearchReport, search};
use crate::source::Input;

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
            job.input.path = Paths::of(input.paths());
            job.lines.forget(&["input", "path"]);
            self.input = input;
        }
        self
    }

    /// Declares a column that names a person outright: it is dropped.
    pub fn identifier(self, name: impl Into<String>) -> Self {
        self.column(name.into(), RoleJob::Identifier, None)
    }

    /// Declares a column that could single a person out together with others, and what its values may become.
    pub fn quasi_identifier(self, name: impl Into<String>, hierarchy: Hierarchy) -> Self {
        self.column(name.into(), RoleJob::QuasiIdentifier, Some(hierarchy))
    }

    /// Declares a column that nobody should learn about a person: it is released as it is, and measured.
    pub fn sensitive(self, name: impl Into<String>) -> Self {
        self.column(name.into(), RoleJob::Sensitive, None)
    }

    /// Declares a column that is released as it is.
    pub fn other(self, name: impl Into<String>) -> Self {
        self.column(name.into(), RoleJob::Other, None)
    }

    /// Says what all columns are that nobody declares. Without it they are an error, not a guess.
    pub fn rest(mut self, role: RoleJob) -> Self {
        if let Some(job) = self.table("a role of all other columns") {
            job.rest = Some(role);
        }
        self
    }

    /// Says in which order the values of a quasi-identifier stand, for `ordered-set` and `mondrian`.
    pub fn order(mut self, name: &str, order: OrderJob) -> Self {
        let Some(job) = self.table("an order") else {
            return self;
        };
        match job.columns.get_mut(name) {
            Some(column) => column.order = Some(order),
            None => {
                let mistake = format!("an order is given for `{name}`, which is not declared");
                self.mistakes.push(Error::input(mistake).with_hint("declare the column first"));
            }
        }
        self
    }

    /// Replaces the values of an identifier by pseudonyms, instead of dropping it. Pseudonyms are not anonymity.
    pub fn replace(mut self, name: &str, by: ReplaceJob) -> Self {
        let Some(job) = self.table("a replaced column") else {
            return self;
        };
        match job.columns.get_mut(name) {
            Some(column) => column.replace = Some(by),
            None => {
                let mistake = format!("`{name}` is to be replaced, and is not declared");
                self.mistakes
                    .push(Error::input(mistake).with_hint("declare the column as an identifier first"));
            }
        }
        self
    }

    /// Follows a policy that others have written down.
    pub fn preset(mut self, preset: Preset) -> Self {
        if let Some(job) = self.table("a preset") {
            job.preset = Some(preset);
        }
        self
    }

    fn column(mut self, name: String, role: RoleJob, hierarchy: Option<Hierarchy>) -> Self {
        let column = ColumnJob { hierarchy: hierarchy.map(Hierarchy::into_job), ..ColumnJob::new(role) };
        let Some(job) = self.table("a column") else {
            return self;
        };
        if job.columns.contains_key(&name) {
            let mistake = format!("column `{name}` is declared twice");
            self.mistakes.push(Error::input(mistake).with_hint("a column has one role"));
            return self;
        }
        job.columns.insert(name, column);
        self
    }

    /// Every released row looks like at least k - 1 others; every person of a database has such a tree of rows.
    pub fn k(mut self, k: u64) -> Self {
        // What does not fit is refused like a k that is larger than the table.
        self.job.set_k(i64::try_from(k).unwrap_or(i64::MAX));
        self.has_k = true;
        self
    }

    /// Asks for k-anonymity of every combination of at most `most` quasi-identifiers, instead of all of them together.
    ///
    /// ```
    /// # use incog::{Anonymizer, Hierarchy};
    /// let table = [("sex", vec!["f", "f", "m", "m"]), ("town", vec!["a", "b", "a", "b"])];
    /// let release = Anonymizer::new(table)
    ///     .quasi_identifier("sex", Hierarchy::suppress())
    ///     .quasi_identifier("town", Hierarchy::suppress())
    ///     .k(2)
    ///     .combinations(1)
    ///     .anonymize()?;
    /// assert_eq!(release.report().loss, 0.0, "each value stands twice, and pairs are not asked about");
    /// # Ok::<(), incog::Error>(())
    /// ```
    pub fn combinations(mut self, most: usize) -> Self {
        if let Some(job) = self.table("combinations") {
            job.policy.combinations = Some(i64::try_from(most).unwrap_or(i64::MAX));
            job.lines.forget(&["policy", "combinations"]);
        }
        self
    }

    /// How many rows may be left out: a count (`"5"`) or a share (`"1%"`, rounded down). None unless given. Of a database: persons,
    /// and as many as it takes unless given.
    pub fn suppression(mut self, suppression: &str) -> Result<Self> {
        let text = suppression.trim();
        self.job.set_suppression(match text.parse() {
            Ok(rows) => CountOrText::Count(rows),
            Err(_) => {
                Budget::parse(text)?;
                CountOrText::Text(text.to_owned())
            }
        });
        Ok(self)
    }

    /// The column that says whom a row is about, where a person may have several: k then counts persons. Never released.
    pub fn unit(mut self, name: impl Into<String>) -> Self {
        if let Some(job) = self.table("a unit") {
            job.policy.unit = Some(name.into());
        }
        self
    }

    /// Rows that do not say whom they are about count as rows of nobody. Without it they are an error.
    pub fn missing_unit_is_nobody(mut self) -> Self {
        if let Some(job) = self.table("a missing unit") {
            job.policy.missing_unit = Some(MissingUnit::Nobody);
        }
        self
    }

    /// Requires one more privacy model.
    pub fn require(mut self, model: Model) -> Self {
        self.job.add_requirement(model.into_job());
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
        let plan = self.plan_of_release()?;
        let is_shuffled = plan.job.output.as_ref().is_none_or(|output| output.order == OutputOrder::Shuffle);
        let rows = if is_shuffled { RowOrder::Drawn } else { RowOrder::Input };
        match find(&plan, &plan.route, &progress)? {
            Outcome::Found(found) => {
                let made = verified(&plan, *found, rows, &progress)?;
                Release::new(plan, made, progress)
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
        let plan = self.plan(Asked::ONE)?;
        match find(&plan, &plan.route, &progress)? {
            Outcome::Found(found) => Ok(Decided::new(plan, *found)),
            Outcome::Nothing(obstacle) => Err(impossible(&plan, &obstacle)),
        }
    }

    /// A plan whose release is made: with pseudonyms, where the job asks for them. The publisher's key is made now if they need it.
    fn plan_of_release(self) -> Result<Plan> {
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
        self.plan(Asked { pseudonyms: Pseudonyms::Made(subkey), ..Asked::ONE })
    }

    /// The same, written where the job says, with its record. The release of a database is a folder.
    pub fn publish(self) -> Result<Published> {
        if let AnyJob::Database(job) = &self.job {
            self.check_calls()?;
            return DatabasePlan::new(job, &self.progress)?.publish(&self.progress);
        }
        let (progress, is_last) = (Arc::clone(&self.progress), self.is_last);
        let plan = self.plan_of_release()?;
        let output = plan.job.output.clone().unwrap_or_default();
        let places = Places::new(&plan, &output)?;
        Layout::check(places.form.format, &plan.table)?;
        let made = match find(&plan, &plan.route, &progress)? {
            Outcome::Found(found) => verified(&plan, *found, RowOrder::Input, &progress)?,
            Outcome::Nothing(obstacle) => return Err(impossible(&plan, &obstacle)),
        };
        publish(&plan, &made, &places, output.order, &progress)?;
        let report = ReleaseReport::new(&plan, &made)?;
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
    pub fn compare_models(mut self, models: &[&str]) -> Result<Comparison> {
        let progress = Arc::clone(&self.progress);
        let AnyJob::Table(job) = self.job.clone() else {
            return Err(for_one_table("a comparison"));
        };
        self.job = compare::bare(&job).into();
        let models: Vec<String> = models.iter().map(|&model| model.to_owned()).collect();
        let plan = self.plan(Asked::ONE)?;
        // Columns that nobody declared have their role by now.
        let job = Job { columns: plan.job.columns.clone(), ..job };
        compare::compare(&plan, &job, &models, &progress)
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

/// What to say of a call that makes no sense of a database.
fn for_one_table(what: &str) -> Error {
    Error::input(format!("{what} is for one table, and the job is about a database"))
        .with_hint("say it in the job file")
}
