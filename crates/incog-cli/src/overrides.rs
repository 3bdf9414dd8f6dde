//! A job from a job file, from flags, or from both: flags take the place of what the file says.

use std::path::{Path, PathBuf};

use incog::unstable::job::{
    AnyJob, ColumnJob, CountOrText, DatabaseJob, HierarchyJob, Input, MissingUnit, OneLabel, OrderJob, Paths,
    RequireJob, RoleJob,
};
use incog::{Error, ErrorKind, Job, Record, Result};

use crate::names::{algorithm_help, checker_help, metric_help};

/// Which job, and settings that take the place of its own.
#[derive(Debug, clap::Args)]
pub(crate) struct JobArguments {
    /// A job file (its name ends in .toml), or data: files or folders, which together are one table
    #[arg(required = true, value_name = "JOB|DATA")]
    what: Vec<PathBuf>,
    /// Data to use instead of the job's
    #[arg(long, value_name = "FILE")]
    input: Option<PathBuf>,
    /// What separates the fields of a CSV file [default: found out]
    #[arg(long, value_name = "CHARACTER")]
    delimiter: Option<char>,
    /// How the data are written, as in [input] of a job file: encoding=windows-1252, skip_rows=2 or missing=NA,-9. Can be given
    /// several times
    #[arg(long, value_name = "KEY=VALUE")]
    read: Vec<String>,
    /// How much memory the run may take, such as 512MB: a table that needs more is kept in temporary files, in the folder
    /// that TMPDIR names or beside the release [default: all in memory]
    #[arg(long, value_name = "SIZE")]
    memory: Option<String>,

    /// Quasi-identifiers, separated by commas: all of them, in the order of the search
    #[arg(long, value_name = "NAMES", value_delimiter = ',', help_heading = "Columns")]
    qi: Vec<String>,
    /// Columns that name people: dropped
    #[arg(long, value_name = "NAMES", value_delimiter = ',', help_heading = "Columns")]
    identifier: Vec<String>,
    /// Columns that nobody should learn about a person: released as they are, and measured
    #[arg(long, value_name = "NAMES", value_delimiter = ',', help_heading = "Columns")]
    sensitive: Vec<String>,
    /// Columns that are released as they are
    #[arg(long, value_name = "NAMES", value_delimiter = ',', help_heading = "Columns")]
    other: Vec<String>,
    /// The role of every column that no flag names
    #[arg(long, value_name = "ROLE", value_enum, help_heading = "Columns")]
    rest: Option<Rest>,
    /// A folder with a hierarchy file NAME.csv for quasi-identifiers; those without one are kept or become *
    #[arg(long, value_name = "FOLDER", help_heading = "Columns")]
    hierarchies: Option<PathBuf>,
    /// A rule for one quasi-identifier, as in a job file: 'age={ intervals = [5, 10, 20] }'
    #[arg(long, value_name = "NAME=RULE", help_heading = "Columns")]
    hierarchy: Vec<String>,
    /// The order of one quasi-identifier for ordered-set and mondrian, as in a job file: 'age=numbers', 'day=dates',
    /// 'job=hierarchy', 'grade=["low", "high"]', 'age={ of = "numbers", step = 5 }'
    #[arg(long, value_name = "NAME=RULE", help_heading = "Columns")]
    ordered: Vec<String>,

    /// Size of the smallest group; for `incog search` also a range such as 2..100, ends included
    #[arg(short, long, allow_negative_numbers = true, value_parser = k_or_range, help_heading = "Policy")]
    k: Option<K>,
    /// Ask for k-anonymity of every combination of at most N quasi-identifiers, instead of all of them together
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = "Policy")]
    combinations: Option<i64>,
    /// How many rows may be left out (of a database: how many persons): a count or a share like 1%
    #[arg(long, value_name = "ROWS|SHARE", help_heading = "Policy")]
    suppression: Option<String>,
    /// The column that says whom a row is about, where a person may have several: k then counts persons
    #[arg(long, value_name = "NAME", help_heading = "Policy")]
    unit: Option<String>,
    /// What to do with rows that do not say whom they are about: refuse them, or count them as nobody's [default: refuse]
    #[arg(long, value_enum, value_name = "WHAT", help_heading = "Policy")]
    missing_unit: Option<MissingUnitFlag>,
    /// A privacy model of a sensitive column, with its parameters: 'alpha-k:sensitive=occupation,alpha=0.5'. Entries of a
    /// list are separated by |, a hierarchy is a file. Can be given several times; takes the place of all that the job
    /// requires. `incog list` has the models, `incog explain NAME` their parameters
    #[arg(long, value_name = "MODEL:KEY=VALUE,...", help_heading = "Policy")]
    require: Vec<String>,

    #[arg(long, value_name = "NAME", help_heading = "Search", help = algorithm_help())]
    algorithm: Option<String>,
    #[arg(long, value_name = "NAME", help_heading = "Search", help = checker_help())]
    checker: Option<String>,
    /// direct or transitive [default: transitive]
    #[arg(long, value_name = "NAME", help_heading = "Search")]
    marking: Option<String>,
    /// With incognito, for a column at a level of a single label: take over the verdict of the other columns, or group as the
    /// paper does [default: take-over]
    #[arg(long, value_enum, value_name = "WHAT", help_heading = "Search")]
    one_label: Option<OneLabelFlag>,
    /// With the checker cube, which it names: keep the cube in a file between runs. As confidential as the data
    #[arg(long, value_name = "FILE", help_heading = "Search")]
    cube: Option<PathBuf>,
    #[arg(long, value_name = "NAME", help_heading = "Search", help = metric_help())]
    metric: Option<String>,
    /// Which requirements choose the generalization: all of them, or k-only [default: all]
    #[arg(long, value_name = "NAME", help_heading = "Search")]
    decide: Option<String>,
    /// How many attribute subsets to search at a time [default: 1]; with recodings that are not by whole columns, how
    /// many threads to use
    #[arg(long, value_name = "N", help_heading = "Search")]
    threads: Option<usize>,
    /// With top-down: breaks ties at random, the same way each time; with genetic, and ordered-set by cut_method: where to start
    #[arg(long, value_name = "N", help_heading = "Search")]
    seed: Option<u64>,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum MissingUnitFlag {
    Refuse,
    Nobody,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum OneLabelFlag {
    TakeOver,
    Group,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Rest {
    Identifier,
    Sensitive,
    Other,
}

/// One k, or the first and the last of several.
#[derive(Debug, Clone, Copy)]
enum K {
    One(i64),
    Range(u64, u64),
}

fn k_or_range(text: &str) -> std::result::Result<K, String> {
    let Some((first, last)) = text.split_once("..") else {
        return text.parse().map(K::One).map_err(|error: std::num::ParseIntError| error.to_string());
    };
    let number = |text: &str| {
        text.trim().parse().map_err(|_| "a range of k is two whole numbers, such as 2..100".to_owned())
    };
    Ok(K::Range(number(first)?, number(last.strip_prefix('=').unwrap_or(last))?))
}

impl K {
    fn one(self) -> Result<i64> {
        match self {
            K::One(k) => Ok(k),
            K::Range(..) => Err(Error::input("a range of k is for `incog search` of one table")
                .with_hint("give one k, such as -k 5")),
        }
    }
}

impl JobArguments {
    /// The range of k, if one is given; the job then has its first k.
    pub(crate) fn take_range(&mut self) -> Option<std::ops::RangeInclusive<u64>> {
        let Some(K::Range(first, last)) = self.k else {
            return None;
        };
        // What makes no sense of the range is said where it is used.
        self.k = Some(K::One(i64::try_from(first).unwrap_or(i64::MAX).max(1)));
        Some(first..=last)
    }

    /// The job, about one table or about a database.
    pub(crate) fn any_job(self) -> Result<AnyJob> {
        match self.what.as_slice() {
            [file] if is_job(file) => match AnyJob::read(file)? {
                AnyJob::Table(job) => Ok(AnyJob::Table(self.applied_to(job)?)),
                AnyJob::Database(job) => self.applied_to_database(job),
            },
            _ => self.job().map(AnyJob::Table),
        }
    }

    /// Is a job file given that is about a database?
    pub(crate) fn is_about_database(&self) -> Result<bool> {
        match self.what.as_slice() {
            [file] if is_job(file) => Ok(AnyJob::read(file)?.is_about_database()),
            _ => Ok(false),
        }
    }

    /// The job, about one table.
    pub(crate) fn job(self) -> Result<Job> {
        let job = match self.what.as_slice() {
            [file] if is_job(file) => Job::read(file)?,
            files if files.iter().any(|file| is_job(file)) => {
                return Err(Error::input("a job file cannot be one of several")
                    .with_hint("give one job file, or data files; other data for a job: --input FILE"));
            }
            files => self.job_of_flags(files)?,
        };
        self.applied_to(job)
    }

    /// A job about one table, with what flags say in the place of what it says.
    fn applied_to(self, mut job: Job) -> Result<Job> {
        if let Some(input) = &self.input {
            job.input = job.input.with_paths(Paths::One(from_here(input.clone())?));
            job.lines.forget(&["input", "path"]);
        }
        if self.delimiter.is_some() {
            job.input.delimiter = self.delimiter;
            job.lines.forget(&["input", "delimiter"]);
        }
        job.input = self.written(job.input)?;
        for key in self.read.iter().filter_map(|given| given.split('=').next()) {
            job.lines.forget(&["input", key.trim()]);
        }
        if let Some(memory) = &self.memory {
            job.input.memory = Some(count_or_text(memory));
            job.lines.forget(&["input", "memory"]);
        }
        let roles = [
            (&self.qi, RoleJob::QuasiIdentifier),
            (&self.identifier, RoleJob::Identifier),
            (&self.sensitive, RoleJob::Sensitive),
            (&self.other, RoleJob::Other),
        ];
        give_roles(&mut job, &roles)?;
        job.rest = self.rest.map(|rest| match rest {
            Rest::Identifier => RoleJob::Identifier,
            Rest::Sensitive => RoleJob::Sensitive,
            Rest::Other => RoleJob::Other,
        });
        if let Some(folder) = &self.hierarchies {
            read_folder(&mut job, folder)?;
        }
        for rule in &self.hierarchy {
            give_rule(&mut job, rule)?;
        }
        for order in &self.ordered {
            give_order(&mut job, order)?;
        }
        if self.combinations.is_some() {
            job.policy.combinations = self.combinations;
            job.lines.forget(&["policy", "combinations"]);
        }
        if self.unit.is_some() {
            job.policy.unit.clone_from(&self.unit);
            job.lines.forget(&["policy", "unit"]);
        }
        if let Some(missing) = self.missing_unit {
            job.policy.missing_unit = Some(match missing {
                MissingUnitFlag::Refuse => MissingUnit::Refuse,
                MissingUnitFlag::Nobody => MissingUnit::Nobody,
            });
            job.lines.forget(&["policy", "missing_unit"]);
        }
        self.apply_search(&mut job)?;
        let mut job = AnyJob::Table(job);
        self.apply_shared(&mut job)?;
        job.table().ok_or_else(|| Error::new(ErrorKind::Internal, "a job has changed its kind"))
    }

    /// What flags say of how the data are written, in the place of what the job says.
    fn written(&self, input: Input) -> Result<Input> {
        self.read.iter().try_fold(input, |input, given| input.with(given))
    }

    /// What flags say of jobs of both kinds takes the place of what the job says.
    fn apply_shared(&self, job: &mut AnyJob) -> Result<()> {
        if let Some(k) = &self.k {
            job.set_k(k.one()?);
        }
        if let Some(suppression) = &self.suppression {
            job.set_suppression(count_or_text(suppression));
        }
        if !self.require.is_empty() {
            job.set_requirements(self.require.iter().map(|flag| requirement(flag)).collect::<Result<_>>()?);
        }
        if let Some(algorithm) = &self.algorithm {
            job.set_algorithm(algorithm.clone());
        }
        Ok(())
    }

    /// The same of the search of one table.
    fn apply_search(&self, job: &mut Job) -> Result<()> {
        let settings = &mut job.search;
        if let Some(cube) = &self.cube {
            settings.cube_file = Some(from_here(cube.clone())?);
            job.lines.forget(&["search", "cube_file"]);
            // Only one checker has a cube.
            settings.checker.get_or_insert_with(|| "cube".to_owned());
        }
        for (key, flag, setting) in [
            ("checker", &self.checker, &mut settings.checker),
            ("marking", &self.marking, &mut settings.marking),
            ("metric", &self.metric, &mut settings.metric),
            ("decide", &self.decide, &mut settings.decide),
        ] {
            if flag.is_some() {
                setting.clone_from(flag);
                job.lines.forget(&["search", key]);
            }
        }
        if let Some(one_label) = self.one_label {
            settings.one_label = Some(match one_label {
                OneLabelFlag::TakeOver => OneLabel::TakeOver,
                OneLabelFlag::Group => OneLabel::Group,
            });
            job.lines.forget(&["search", "one_label"]);
        }
        if self.threads.is_some() {
            settings.threads = self.threads;
            job.lines.forget(&["search", "threads"]);
        }
        if self.seed.is_some() {
            settings.seed = self.seed;
            job.lines.forget(&["search", "seed"]);
        }
        Ok(())
    }

    /// The job of a record, for other data; hierarchy files are looked for beside the record and where the flag says.
    pub(crate) fn replayed(self, record: &Record, path: &Path) -> Result<Job> {
        if let [file] = self.what.as_slice()
            && is_job(file)
        {
            return self.job();
        }
        if let Some(flag) = self.flag_that_a_record_says() {
            return Err(Error::input(format!(
                "--{flag} is not for a replay, which takes it from the record"
            ))
            .with_hint("leave it out; or give a job file instead of the data"));
        }
        let mut job = record.job()?.table().ok_or_else(|| {
            Error::input(
                "the record is of a database, which cannot be replayed: its clusters are of its persons",
            )
            .with_hint("run the job on the new data")
        })?;
        job.input.path = match self.what.as_slice() {
            [file] => Paths::One(file.clone()),
            files => Paths::Several(files.to_vec()),
        };
        job.input.delimiter = self.delimiter.or(job.input.delimiter);
        job.input = self.written(job.input)?;
        job.input.memory = self.memory.as_deref().map(count_or_text).or(job.input.memory);
        let beside = path.parent().unwrap_or(Path::new("")).to_owned();
        let folders: Vec<PathBuf> =
            self.hierarchies.iter().cloned().chain([beside.join("hierarchies"), beside]).collect();
        incog::unstable::cli::find_hierarchies(&mut job, &folders)?;
        Ok(job)
    }

    /// A job about a database, with what flags say in the place of what it says.
    fn applied_to_database(&self, job: DatabaseJob) -> Result<AnyJob> {
        /// What can be said by flags of a database job too.
        const FLAGS: [&str; 4] = ["k", "suppression", "require", "algorithm"];
        let given = self
            .given()
            .chain([("delimiter", self.delimiter.is_some()), ("hierarchies", self.hierarchies.is_some())])
            .chain([("memory", self.memory.is_some()), ("read", !self.read.is_empty())]);
        if let Some((flag, _)) =
            given.filter(|(_, is_given)| *is_given).find(|(flag, _)| !FLAGS.contains(flag))
        {
            return Err(Error::input(format!("--{flag} is for one table, and the job is about a database"))
                .with_hint("say it in the job file"));
        }
        let mut job = AnyJob::Database(job);
        self.apply_shared(&mut job)?;
        Ok(job)
    }

    /// The first flag given that says what a record says too.
    fn flag_that_a_record_says(&self) -> Option<&'static str> {
        self.given().find(|(_, is_given)| *is_given).map(|(name, _)| name)
    }

    /// The flags that say something a record says too, and whether they are given.
    fn given(&self) -> impl Iterator<Item = (&'static str, bool)> + use<> {
        [
            ("input", self.input.is_some()),
            ("qi", !self.qi.is_empty()),
            ("identifier", !self.identifier.is_empty()),
            ("sensitive", !self.sensitive.is_empty()),
            ("other", !self.other.is_empty()),
            ("rest", self.rest.is_some()),
            ("hierarchy", !self.hierarchy.is_empty()),
            ("ordered", !self.ordered.is_empty()),
            ("k", self.k.is_some()),
            ("combinations", self.combinations.is_some()),
            ("suppression", self.suppression.is_some()),
            ("unit", self.unit.is_some()),
            ("missing-unit", self.missing_unit.is_some()),
            ("require", !self.require.is_empty()),
            ("algorithm", self.algorithm.is_some()),
            ("checker", self.checker.is_some()),
            ("marking", self.marking.is_some()),
            ("one-label", self.one_label.is_some()),
            ("cube", self.cube.is_some()),
            ("metric", self.metric.is_some()),
            ("decide", self.decide.is_some()),
            ("threads", self.threads.is_some()),
            ("seed", self.seed.is_some()),
        ]
        .into_iter()
    }

    /// A job without a file; its paths start here.
    fn job_of_flags(&self, files: &[PathBuf]) -> Result<Job> {
        if self.qi.is_empty() {
            return Err(Error::input("neither a job file nor quasi-identifiers are given")
                .with_hint("name them with --qi age,sex,zip; or let `incog init` propose a job file"));
        }
        if self.k.is_none() {
            return Err(Error::input("k is not given").with_hint("common choices are -k 5, 11 and 20"));
        }
        let mut job = Job::parse("[input]\npath = \"\"\n[policy]\nk = 1\n")?;
        job.input.path = match files {
            [file] => Paths::One(file.clone()),
            files => Paths::Several(files.to_vec()),
        };
        for key in [["input", "path"], ["policy", "k"]] {
            job.lines.forget(&key);
        }
        for table in ["input", "policy"] {
            job.lines.forget(&[table]);
        }
        Ok(job)
    }
}

fn count_or_text(text: &str) -> CountOrText {
    text.parse().map_or_else(|_| CountOrText::Text(text.to_owned()), CountOrText::Count)
}

pub(crate) fn is_job(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml"))
}

/// A path from a flag starts in the current folder, one in a job file beside it.
pub(crate) fn from_here(path: PathBuf) -> Result<PathBuf> {
    if path.as_os_str() == "-" || path.is_absolute() {
        return Ok(path);
    }
    let is_folder = path.to_string_lossy().ends_with(std::path::MAIN_SEPARATOR);
    let absolute = std::path::absolute(&path)
        .map_err(|error| Error::input(format!("cannot find `{}`: {error}", path.display())))?;
    // `absolute` may drop the separator that makes it a folder.
    Ok(if is_folder { absolute.join("") } else { absolute })
}

/// Columns named in flags get their role, and are taken in the order of the flags.
fn give_roles(job: &mut Job, roles: &[(&Vec<String>, RoleJob)]) -> Result<()> {
    let named: Vec<&String> = roles.iter().flat_map(|(names, _)| names.iter()).collect();
    for (at, name) in named.iter().enumerate() {
        if named[..at].contains(name) {
            return Err(Error::input(format!("column `{name}` is named twice in the flags"))
                .with_hint("a column has one role"));
        }
    }
    for (names, role) in roles {
        for name in *names {
            let before = job.columns.shift_remove(name);
            let mut column = before.unwrap_or_else(|| ColumnJob::new(*role));
            column.role = *role;
            if *role != RoleJob::QuasiIdentifier {
                // What the job says of generalizing it is about quasi-identifiers.
                (column.hierarchy, column.order) = (None, None);
            }
            job.columns.insert(name.clone(), column);
            job.lines.forget(&["columns", name]);
            job.lines.forget(&["columns", name, "role"]);
        }
    }
    let qi = roles.iter().find(|(_, role)| *role == RoleJob::QuasiIdentifier).map_or(&[][..], |(qi, _)| qi);
    if qi.is_empty() {
        return Ok(());
    }
    let is_left = |(name, column): &(&String, &ColumnJob)| {
        column.role == RoleJob::QuasiIdentifier && !qi.contains(name)
    };
    let left = job.columns.iter().find(is_left).map(|(name, _)| name.clone());
    match left {
        None => Ok(()),
        Some(name) => Err(Error::input(format!(
            "column `{name}` is a quasi-identifier of the job and is not named by --qi"
        ))
        .with_hint(format!("say what it is: --identifier {name}, --sensitive {name} or --other {name}"))),
    }
}

/// Files of a folder become the hierarchies of quasi-identifiers.
fn read_folder(job: &mut Job, folder: &Path) -> Result<()> {
    if !folder.is_dir() {
        return Err(Error::input(format!("there is no folder `{}`", folder.display()))
            .with_hint("--hierarchies names a folder with a file NAME.csv for each quasi-identifier"));
    }
    let mut n_found = 0;
    for (name, column) in job.columns.iter_mut().filter(|(_, column)| column.role == RoleJob::QuasiIdentifier)
    {
        let file = folder.join(format!("{name}.csv"));
        if file.is_file() {
            column.hierarchy = Some(HierarchyJob { file: Some(from_here(file)?), ..HierarchyJob::default() });
            n_found += 1;
        }
    }
    if n_found == 0 {
        return Err(Error::input(format!(
            "the folder `{}` has no hierarchy for any quasi-identifier",
            folder.display()
        ))
        .with_hint("a hierarchy is in a file called like its column: age.csv"));
    }
    Ok(())
}

/// A requirement; its hierarchy file starts in the current folder.
fn requirement(flag: &str) -> Result<RequireJob> {
    let mut require = RequireJob::parse(flag)?;
    if let Some(file) = require.hierarchy_mut().and_then(|hierarchy| hierarchy.file.as_mut()) {
        *file = from_here(std::mem::take(file))?;
    }
    Ok(require)
}

/// The quasi-identifier that a flag `--flag NAME=...` is about, and what it says.
fn about_column<'j, 'g>(
    job: &'j mut Job,
    flag: &str,
    given: &'g str,
    example: &str,
) -> Result<(&'g str, &'j mut ColumnJob, &'g str)> {
    let (name, rest) = given.split_once('=').ok_or_else(|| {
        Error::input(format!("--{flag} is not NAME=RULE")).with_hint(format!("for example '{example}'"))
    })?;
    let name = name.trim();
    match job.columns.get_mut(name).filter(|column| column.role == RoleJob::QuasiIdentifier) {
        Some(column) => Ok((name, column, rest)),
        None => Err(Error::input(format!("--{flag} names `{name}`, which is no quasi-identifier"))),
    }
}

fn give_order(job: &mut Job, flag: &str) -> Result<()> {
    let (name, column, order) = about_column(job, "ordered", flag, "age=numbers")?;
    column.order = Some(OrderJob::parse(order)?);
    job.lines.forget(&["columns", name, "order"]);
    Ok(())
}

fn give_rule(job: &mut Job, flag: &str) -> Result<()> {
    let (name, column, rule) = about_column(job, "hierarchy", flag, "age={ intervals = [5, 10, 20] }")?;
    let mut rule = HierarchyJob::parse(rule)?;
    if let Some(file) = rule.file.take() {
        rule.file = Some(from_here(file)?);
    }
    column.hierarchy = Some(rule);
    job.lines.forget(&["columns", name, "hierarchy"]);
    Ok(())
}
