//! Recodings that are not by whole columns: rows of one column stand at different levels.
//!
//! What a job may say about them ([`AlgorithmChoice`]), the searches, what the release is measured by ([`LocalRelease`]), and
//! how persons are counted where they have several rows. Single-dimension, multi-dimension and local recodings are one here:
//! a group for every row and levels for every group, or a box for every row ([`crate::boxes`]).
//!
//! Settings that have no effect are refused ([`crate::settings`]). `metric` and `weights` steer all but `top-down`, which is
//! only scored by them. `threads` bounds threads.
//!
//! Everything measured is measured from released labels, so that `incog verify` finds the same from the file.
//!
//! Persons. A released row does not say which of several input rows it was, so persons cannot be counted from a release and
//! its input. Where it is made, each row's person is known: the release with that column added is what the checker sees,
//! "at least k persons" is a claim on a column like any other, and what is required of sensitive values is claimed of these
//! persons. Later, the same search is run anew; if it gives exactly
//! the released rows, its persons are theirs.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use incog_core::algorithm::single::{Single, SingleAnswer};
use incog_core::algorithm::{self, Aim, Algorithm, ByGroups, Limits, Local, Quality};
use incog_core::check::Problem;
use incog_core::frequency::Method;
use incog_core::hierarchy::Attribute;
use incog_core::lattice::Grouping;
use incog_core::metric::{Cells, Costs, Distortion, Statistics};
use incog_core::recoding::{Domains, Recoding};
use incog_core::registry::{find, nearest};
use incog_core::{Error, ErrorKind, Result, Stage, Watch};
use incog_verify::{
    Claims, Counted, Finding, LabelColumn, Labels, RecodingClaim, Report, SensitiveClaim, check,
};

use crate::boxes::{self, BoxSearch};
use crate::job::Job;
use crate::orders;
use crate::plan::Plan;
use crate::settings::{self, LimitSettings};
use crate::verification::{Collected, Released, claims};

/// What the job says about the algorithm.
#[derive(Debug, Clone, Copy)]
pub(crate) enum AlgorithmChoice {
    /// Nothing.
    Free,
    /// A traversal of the lattice.
    FullDomain(Algorithm),
    /// A search for one node of the lattice.
    Node(NodeSearch),
    /// Another recoding than by whole columns.
    Local(LocalSearch),
}

/// A search for one node of the lattice, beside the traversals.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NodeSearch {
    pub(crate) name: &'static str,
    item: Single,
    seed: u64,
    limits: LimitSettings,
}

/// A search for a recoding that is no node of the lattice.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LocalSearch {
    pub(crate) name: &'static str,
    pub(crate) seed: Option<u64>,
    item: Recoder,
    /// How many threads it may use, if the job says so.
    threads: Option<usize>,
}

/// What finds a recoding that is no node of the lattice.
#[derive(Debug, Clone, Copy)]
enum Recoder {
    /// Groups of rows go down step by step.
    Local(Local),
    /// A level for each value.
    Single(Single),
    /// Levels for each group of rows.
    ByGroups(ByGroups),
    /// A box for each row.
    Boxes(BoxSearch),
}

/// A recoding that is no node of the lattice, and what there is to say of it.
pub(crate) struct Recoded {
    pub(crate) recoding: Recoding,
    /// The orders that boxes go by; none where columns are recoded by hierarchies.
    pub(crate) domains: Domains,
    pub(crate) quality: Quality,
    pub(crate) notes: Vec<String>,
}

impl AlgorithmChoice {
    /// The algorithm that a job names, and no setting that belongs to another.
    pub(crate) fn new(job: &Job) -> Result<Self> {
        match job.search.algorithm.as_deref() {
            None => {
                settings::check(job, None)?;
                Ok(AlgorithmChoice::Free)
            }
            Some(name) => AlgorithmChoice::named(job, name),
        }
    }

    /// The algorithm of that name, with the job's settings.
    pub(crate) fn named(job: &Job, name: &str) -> Result<Self> {
        let full_domain = find(algorithm::ALL, name);
        let node = |item| matches!(item, Single::AttributeSuppression | Single::Datafly | Single::Genetic);
        let (name, recoder) = if let Some(entry) = full_domain {
            settings::check(job, Some(entry.name))?;
            return Ok(AlgorithmChoice::FullDomain(entry.item));
        } else if let Some(entry) = find(algorithm::LOCAL, name) {
            (entry.name, Recoder::Local(entry.item))
        } else if let Some(entry) = find(algorithm::SINGLE, name) {
            (entry.name, Recoder::Single(entry.item))
        } else if let Some(entry) = find(algorithm::BY_GROUPS, name) {
            (entry.name, Recoder::ByGroups(entry.item))
        } else if let Some(entry) = find(algorithm::BOXES, name) {
            settings::check(job, Some(entry.name))?;
            (entry.name, Recoder::Boxes(BoxSearch::new(job, entry.item)?))
        } else {
            return Err(unknown(job, name));
        };
        settings::check(job, Some(name))?;
        let seed = job.search.seed;
        match recoder {
            Recoder::Single(item) if node(item) => {
                let limits = LimitSettings::new(job)?;
                return Ok(AlgorithmChoice::Node(NodeSearch { name, item, seed: seed.unwrap_or(0), limits }));
            }
            Recoder::Single(_) => boxes::check_hierarchies(job, name)?,
            Recoder::ByGroups(item) if item != ByGroups::CellSuppression => {
                boxes::check_hierarchies(job, name)?;
            }
            Recoder::ByGroups(_) | Recoder::Local(_) | Recoder::Boxes(_) => {}
        }
        Ok(AlgorithmChoice::Local(LocalSearch { name, seed, item: recoder, threads: job.search.threads }))
    }

    /// What it is called, if the job does not leave it open.
    pub(crate) fn all_names() -> impl Iterator<Item = &'static str> {
        let full_domain = algorithm::ALL.iter().map(|entry| entry.name);
        let single = algorithm::SINGLE.iter().map(|entry| entry.name);
        let by_groups = algorithm::BY_GROUPS.iter().map(|entry| entry.name);
        let boxes = algorithm::BOXES.iter().map(|entry| entry.name);
        let local = algorithm::LOCAL.iter().map(|entry| entry.name);
        full_domain.chain(single).chain(by_groups).chain(boxes).chain(local)
    }
}

fn unknown(job: &Job, name: &str) -> Error {
    let names: Vec<&str> = AlgorithmChoice::all_names().collect();
    let advice = nearest(names.iter().copied(), name)
        .map_or(String::new(), |near| format!("; did you mean `{near}`?"));
    job.mistake(&["search", "algorithm"], format!("unknown algorithm `{name}`{advice}"))
        .with_hint(format!("there are: {}", names.join(", ")))
}

/// What a local release is measured by, from its labels.
#[derive(Debug, Clone)]
pub(crate) struct LocalRelease {
    pub(crate) statistics: Statistics,
    pub(crate) distortion: f64,
    pub(crate) columns: Vec<LocalColumn>,
}

/// One column of a local release.
#[derive(Debug, Clone, PartialEq)]
pub struct LocalColumn {
    /// Its name.
    pub name: String,
    /// The highest level there is; 1 where the column is recoded by its order: a value is as collected, or it is not.
    pub highest: u8,
    /// How many released rows stand at which level, ascending; levels without rows are left out.
    pub rows: Vec<(u8, u64)>,
    /// How many different intervals there are, single values included, where the column is recoded by its order.
    pub intervals: Option<u64>,
    /// Its distortion ratio.
    pub distortion: f64,
}

impl fmt::Display for LocalColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let n_rows: u64 = self.rows.iter().map(|(_, rows)| rows).sum();
        write!(f, "{}:", self.name)?;
        for (at, &(level, rows)) in self.rows.iter().enumerate() {
            let level = match (level, self.intervals) {
                (0, None) => "as collected".to_owned(),
                (0, Some(_)) => "single values".to_owned(),
                (_, Some(_)) => "in intervals".to_owned(),
                (level, None) => format!("level {level}"),
            };
            let share = 100.0 * rows as f64 / n_rows as f64;
            write!(f, "{} {level} {share:.1} %", if at == 0 { "" } else { "," })?;
        }
        if self.rows.is_empty() {
            write!(f, " no rows")?;
        }
        match self.intervals {
            Some(n) => write!(f, " ({n} different, distortion {:.4})", self.distortion),
            None => write!(f, " (highest level {}, distortion {:.4})", self.highest, self.distortion),
        }
    }
}

impl LocalRelease {
    /// Measures a table of labels, which the checker has grouped. `None` if a label is in no hierarchy, or no interval of
    /// the domain.
    pub(crate) fn of(plan: &Plan, domains: &Domains, release: &dyn Labels, report: &Report) -> Option<Self> {
        let header = release.header();
        let columns: Vec<LabelColumn<'_>> = plan
            .attributes
            .iter()
            .map(|attribute| header.iter().position(|name| *name == attribute.name()))
            .map(|at| at.map(|at| release.column(at)))
            .collect::<Option<_>>()?;
        let count = |column: &LabelColumn<'_>| {
            let mut rows = vec![0_u64; column.labels.len()];
            column.codes.iter().for_each(|&code| rows[code as usize] += 1);
            rows
        };
        let counts: Vec<Vec<u64>> = columns.iter().map(count).collect();
        let with_labels = columns.iter().zip(&counts);
        let labels =
            with_labels.map(|(column, rows)| column.labels.iter().copied().zip(rows.iter().copied()));
        let cells = Cells::of_labels(&plan.attributes, domains, labels)?;
        let n_rows = plan.table.n_rows() as u64;
        let sizes = report.group_sizes.iter().copied();
        let statistics = Statistics::of_cells(&cells, &plan.attributes, sizes, n_rows);
        let distortion = Distortion::of_cells(&cells, &plan.attributes, n_rows);
        let column = |(at, attribute): (usize, &Attribute)| LocalColumn {
            name: attribute.name().to_owned(),
            highest: cells.domain(at).map_or(attribute.full_height(), |_| 1),
            rows: cells.rows_by_level(at, attribute),
            intervals: cells.domain(at).map(|_| cells.n_labels(at) as u64),
            distortion: distortion.column(at),
        };
        Some(LocalRelease {
            statistics,
            distortion: distortion.total(),
            columns: plan.attributes.iter().enumerate().map(column).collect(),
        })
    }
}

impl Plan {
    /// What the recoders aim at.
    fn aim<'a>(&self, costs: &'a Costs) -> Aim<'a> {
        Aim { metric: self.metric, costs }
    }

    /// Finds a node by a search that is no traversal; `None` if it finds none.
    pub(crate) fn find_node(
        &self,
        search: NodeSearch,
        watch: &Watch,
    ) -> Result<Option<(Statistics, Quality)>> {
        watch.enter(Stage::Searching);
        let costs = self.costs()?;
        let found = {
            let limits = search.limits.starting_now();
            search.item.run(self.problem(), &self.attributes, self.aim(&costs), search.seed, limits, watch)?
        };
        let Some(found) = found else {
            return Ok(None);
        };
        let SingleAnswer::Levels(levels) = found.recoding else {
            return Err(Error::new(ErrorKind::Internal, "a search for a node found none"));
        };
        let Problem { source, policy } = self.problem();
        let set = source.count(&Grouping::of_levels(&levels), &policy.demand(), Method::Auto)?;
        let statistics = Statistics::new(self.problem(), &self.attributes, levels, &set)?;
        Ok(Some((statistics, found.quality)))
    }

    /// Finds a recoding that is no node of the lattice; `None` if nothing satisfies the policy.
    pub(crate) fn recode_locally(&self, search: LocalSearch, watch: &Watch) -> Result<Option<Recoded>> {
        watch.enter(Stage::Searching);
        let run = || self.recode(search, watch);
        let Some(threads) = search.threads else {
            return run();
        };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(|error| {
            Error::new(ErrorKind::Limit, format!("cannot start {threads} threads: {error}"))
                .with_hint("set fewer `threads`")
        })?;
        pool.install(run)
    }

    fn recode(&self, search: LocalSearch, watch: &Watch) -> Result<Option<Recoded>> {
        let costs = self.costs()?;
        let (problem, attributes, aim) = (self.problem(), &self.attributes, self.aim(&costs));
        let of_groups = |groups, quality| Recoded {
            recoding: Recoding::PerGroup(groups),
            domains: vec![None; attributes.len()],
            quality,
            notes: Vec::new(),
        };
        Ok(match search.item {
            Recoder::Local(item) => {
                item.run(problem, search.seed, watch)?.map(|groups| of_groups(groups, Quality::Heuristic))
            }
            Recoder::ByGroups(item) => item
                .run(problem, attributes, aim, watch)?
                .map(|found| of_groups(found.recoding, found.quality)),
            Recoder::Boxes(item) => {
                let domains = self.domains(search)?;
                item.run(self, domains.clone(), watch)?.map(|found| Recoded {
                    recoding: Recoding::PerBox(found.recoding),
                    domains,
                    quality: found.quality,
                    notes: Vec::new(),
                })
            }
            Recoder::Single(item) => {
                let limits = Limits::default();
                let Some(found) = item.run(problem, attributes, aim, 0, limits, watch)? else {
                    return Ok(None);
                };
                let SingleAnswer::Values(values) = found.recoding else {
                    return Err(Error::new(ErrorKind::Internal, "a search for values found a node"));
                };
                let partial: u64 = (0..attributes.len()).map(|at| values.partial_labels(at)).sum();
                let mut recoded = of_groups(values.groups(&self.table, attributes)?, found.quality);
                if partial > 0 {
                    recoded.notes.push(format!(
                        "{partial} labels stand beside values that they cover: whoever has the label has none of these"
                    ));
                }
                Some(recoded)
            }
        })
    }

    /// The orders that a search goes by; none unless it makes boxes.
    pub(crate) fn domains(&self, search: LocalSearch) -> Result<Domains> {
        match search.item {
            Recoder::Boxes(_) => orders::domains(&self.job, &self.table, &self.attributes),
            Recoder::Local(_) | Recoder::Single(_) | Recoder::ByGroups(_) => {
                Ok(vec![None; self.attributes.len()])
            }
        }
    }

    /// Why there is no local recoding: how far the table with everything at its top is from the policy.
    pub(crate) fn local_obstacle(&self) -> Result<String> {
        let top = Grouping::of_levels(&self.attributes.heights());
        let set = self.problem().source.count(&top, &self.policy.demand(), Method::Auto)?;
        let needed = self.policy.judge(&set)?.refused_rows;
        let n_rows = self.table.n_rows();
        let share = |rows: u64| 100.0 * rows as f64 / n_rows.max(1) as f64;
        Ok(format!(
            "with every column at its highest level {needed} of {n_rows} rows would have to be suppressed \
             ({:.1} %); the budget is {} rows ({:.1} %)",
            share(needed),
            self.policy.budget(),
            share(self.policy.budget())
        ))
    }

    /// What is claimed of a release that a search made; of any that is local, where none is known. Persons are counted apart:
    /// see [`Plan::persons_of`].
    pub(crate) fn local_claims<'a>(
        &self,
        search: Option<LocalSearch>,
        input: &'a dyn Labels,
    ) -> Result<Claims<'a>> {
        let recoding = match search {
            Some(LocalSearch { item: Recoder::Boxes(item), .. }) => {
                item.claim(&orders::domains(&self.job, &self.table, &self.attributes)?)
            }
            _ => RecodingClaim::Local,
        };
        let mut claims = claims(self, input, recoding)?;
        if let Some(source) = &mut claims.source {
            source.unit = None;
        }
        // What counts persons is claimed where it is known whom each row is about.
        claims.sensitive.retain(|claim| claim.counted != Counted::Persons);
        Ok(claims)
    }

    /// What is claimed of the persons with sensitive values, given whom each released row is about.
    fn claims_by_persons(&self, release: &WithPersons<'_>) -> Result<Vec<SensitiveClaim>> {
        let input = Collected(Cow::Borrowed(&self.table));
        let mut claims = claims(self, &input, RecodingClaim::Local)?.sensitive;
        claims.retain(|claim| claim.counted == Counted::Persons);
        claims.iter_mut().for_each(|claim| claim.counted = Counted::Labelled(release.persons()));
        Ok(claims)
    }

    /// How many persons the groups of a recoding have, judged by the checker: nothing to say where rows are counted.
    pub(crate) fn persons_of(&self, search: LocalSearch, recoding: &Recoding) -> Result<Option<Persons>> {
        let Some(unit) = &self.job.policy.unit else {
            return Ok(None);
        };
        let release = WithPersons::new(self, unit, recoding)?;
        let input = Collected(Cow::Borrowed(&self.table));
        let mut claims = self.local_claims(Some(search), &input)?;
        let k = claims.k;
        claims.columns = claims.columns.map(|columns| columns.into_iter().chain([unit.clone()]).collect());
        // The checker leaves out rows that are about nobody.
        claims.sensitive = vec![SensitiveClaim {
            distinct_l: Some(k),
            counted: Counted::Labelled(release.persons()),
            ..SensitiveClaim::measured(unit.as_str())
        }];
        let report = check(&release, &claims);
        let fewest = report.fewest_persons;
        let finding = Finding {
            claim: persons_claim(k, unit),
            found: fewest.map_or("no rows".into(), |persons| format!("the smallest has {persons}")),
            holds: report.findings.iter().all(|finding| finding.holds),
        };
        let mut findings = vec![finding];
        let of_values = Claims {
            quasi_identifiers: claims.quasi_identifiers,
            k,
            columns: None,
            sensitive: self.claims_by_persons(&release)?,
            source: None,
        };
        if !of_values.sensitive.is_empty() {
            // The first finding is about k rows, which was claimed before.
            findings.extend(check(&release, &of_values).findings.into_iter().skip(1));
        }
        Ok(Some(Persons { findings, undecided: report.undecided, fewest }))
    }

    /// The same for a released file: by the search that should have given it.
    pub(crate) fn persons_anew(&self, released: &dyn Labels, watch: &Watch) -> Result<Option<Persons>> {
        let Some(unit) = &self.job.policy.unit else {
            return Ok(None);
        };
        let finding = |found: &str| Finding {
            claim: persons_claim(self.job.policy.k.unsigned_abs(), unit),
            found: found.to_owned(),
            holds: false,
        };
        let refused = |found: &str| {
            Ok(Some(Persons { findings: vec![finding(found)], undecided: Vec::new(), fewest: None }))
        };
        let undecided = |found: &str| {
            Ok(Some(Persons { findings: Vec::new(), undecided: vec![finding(found)], fewest: None }))
        };
        let Some(search) = self.local else {
            return undecided("persons of a local recoding can only be counted by the job that made it");
        };
        let Some(Recoded { recoding, .. }) = self.recode_locally(search, watch)? else {
            return refused("the job's search finds no release in this data");
        };
        let anew = Released(recoding.apply(&self.table, &self.attributes)?);
        if !have_same_rows(released, &anew) {
            // An honest release may have been found in a longer time.
            if matches!(search.item, Recoder::Boxes(item) if item.depends_on_time()) {
                return undecided(
                    "the job's search has a time limit, and gave other rows this time; with `max_steps` it gives the same",
                );
            }
            return refused("the job's search gives other rows than these, whose persons cannot be counted");
        }
        self.persons_of(search, &recoding)
    }
}

fn persons_claim(k: u64, unit: &str) -> String {
    format!("every group has at least {k} persons ({unit})")
}

/// The claims on persons, and the fewest of a group.
pub(crate) struct Persons {
    findings: Vec<Finding>,
    undecided: Vec<Finding>,
    fewest: Option<u64>,
}

impl Persons {
    /// Adds them to what else was found.
    pub(crate) fn add_to(self, report: &mut Report) {
        report.findings.extend(self.findings);
        report.undecided.extend(self.undecided);
        report.fewest_persons = self.fewest;
    }
}

/// A release with one column more: whom each row is about. It is checked, and never written.
struct WithPersons<'a> {
    release: Released,
    n_released: usize,
    unit: &'a str,
    persons: LabelColumn<'a>,
}

impl<'a> WithPersons<'a> {
    fn new(plan: &'a Plan, unit: &'a str, recoding: &Recoding) -> Result<Self> {
        let column = plan.table.column(unit).ok_or_else(|| {
            Error::new(ErrorKind::Internal, "the column that names persons is not in the table")
        })?;
        let release = recoding.apply(&plan.table, &plan.attributes)?;
        let person = |&row_idx: &u32| column.codes()[row_idx as usize];
        let persons = LabelColumn {
            codes: release.rows().iter().map(person).collect::<Vec<_>>().into(),
            labels: column.dictionary().values().collect(),
        };
        let release = Released(release);
        Ok(WithPersons { n_released: release.header().len(), release, unit, persons })
    }

    /// Whom each row is about.
    fn persons(&self) -> Vec<String> {
        let LabelColumn { labels, codes } = &self.persons;
        codes.iter().map(|&code| labels[code as usize].to_owned()).collect()
    }
}

impl Labels for WithPersons<'_> {
    fn header(&self) -> Vec<&str> {
        let mut header = self.release.header();
        header.push(self.unit);
        header
    }

    fn n_rows(&self) -> usize {
        self.release.n_rows()
    }

    fn column(&self, column_idx: usize) -> LabelColumn<'_> {
        if column_idx == self.n_released {
            return self.persons.clone();
        }
        self.release.column(column_idx)
    }

    fn codes_from(&self, column_idx: usize, first: usize, to: &mut [u32]) {
        if column_idx == self.n_released {
            return to.copy_from_slice(&self.persons.codes[first..first + to.len()]);
        }
        self.release.codes_from(column_idx, first, to);
    }
}

/// Do two tables have the same columns, and the same rows in whatever order?
fn have_same_rows(a: &dyn Labels, b: &dyn Labels) -> bool {
    if a.header() != b.header() || a.n_rows() != b.n_rows() {
        return false;
    }
    // Rows are told apart by numbers that grow column by column: equal numbers, equal cells so far.
    let mut numbers = [vec![0_u32; a.n_rows()], vec![0_u32; b.n_rows()]];
    for at in 0..a.header().len() {
        let columns = [a.column(at), b.column(at)];
        let mut labels: HashMap<&str, u32> = HashMap::new();
        let mut rows: HashMap<(u32, u32), u32> = HashMap::new();
        for (column, numbers) in columns.iter().zip(&mut numbers) {
            let of_code: Vec<u32> = column
                .labels
                .iter()
                .map(|&label| {
                    let next = labels.len() as u32;
                    *labels.entry(label).or_insert(next)
                })
                .collect();
            for (number, &code) in numbers.iter_mut().zip(column.codes.iter()) {
                let next = rows.len() as u32;
                *number = *rows.entry((*number, of_code[code as usize])).or_insert(next);
            }
        }
    }
    let [mut a, mut b] = numbers;
    a.sort_unstable();
    b.sort_unstable();
    a == b
}
