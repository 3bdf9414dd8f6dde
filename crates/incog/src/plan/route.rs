//! Which way from the data to a recoding?
//!
//! Decided once, when the plan is made, from what the job names, what is asked (every generalization, or one release), the
//! metric and the size of the lattice. Whatever runs has a name in `incog list`: a job that names no algorithm gets
//! `best` for a release and `cover` for a list of generalizations, unless it names a judge that is made for another.

use incog_core::algorithm::{
    self, Algorithm, CellMethod, Claimed, ColumnNeeds, CutMethod, Cuts, Extent, LookAhead, Search, Settings,
    SuppressionMethod, Traversal, has_best, has_best_first_search,
};
use incog_core::hierarchy::Attributes;
use incog_core::judge::Problem;
use incog_core::metric::Metric;
use incog_core::registry::{Entry, find, nearest};
use incog_core::{Error, Result};

use crate::job::settings::{self, LimitSettings};
use crate::job::{
    CellMethodJob, CutMethodJob, Job, LookAheadJob, MondrianChoice, MondrianCuts, MondrianSides, RoleJob,
    SuppressionMethodJob,
};
use crate::plan::judges::JudgeChoice;

/// What is asked of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Question {
    /// Every generalization that satisfies the policy.
    Every,
    /// One release.
    One,
}

/// The way to an answer.
#[derive(Debug, Clone)]
pub(crate) enum Route {
    /// Every node is classified, and the best of those that hold may be released; nodes are judged by the judge of this name.
    Every(Chosen, &'static str),
    /// The best node, without all the others; until a limit, where the job gives one.
    Best(Chosen),
    /// Another recoding than by whole columns, or one node that is found in another way.
    Recode(Chosen),
}

/// An algorithm with the job's settings for it.
#[derive(Debug, Clone)]
pub(crate) struct Chosen {
    entry: &'static Entry<Algorithm>,
    settings: Settings,
    limits: LimitSettings,
    /// How many threads it may use, if the job says so.
    pub(crate) threads: Option<usize>,
}

impl Chosen {
    /// Its name in `incog list`.
    pub(crate) fn name(&self) -> &'static str {
        self.entry.name
    }

    pub(crate) fn algorithm(&self) -> &'static Algorithm {
        &self.entry.item
    }

    /// The settings of a run that begins now.
    pub(crate) fn starting_now(&self) -> Settings {
        Settings { limits: self.limits.starting_now(), ..self.settings.clone() }
    }

    /// How the lattice is walked and nodes are judged, where that is how it works.
    pub(crate) fn search(&self) -> Search {
        self.settings.search
    }

    /// Where chance starts, if the job says so.
    pub(crate) fn seed(&self) -> Option<u64> {
        self.settings.seed
    }

    /// What may be claimed of its answer.
    pub(crate) fn claim(&self) -> Claimed {
        (self.entry.item.claim)(&self.settings)
    }

    /// Is its answer another recoding than by whole columns?
    pub(crate) fn is_local(&self) -> bool {
        self.claim() != Claimed::Levels
    }

    /// Does it go by the order of values?
    pub(crate) fn goes_by_order(&self) -> bool {
        matches!(self.claim(), Claimed::Boxes(_))
    }

    /// Can the same search find something else another time?
    pub(crate) fn depends_on_time(&self) -> bool {
        self.limits.depends_on_time()
    }
}

impl Route {
    /// The algorithm that runs.
    pub(crate) fn chosen(&self) -> &Chosen {
        match self {
            Route::Every(chosen, _) | Route::Best(chosen) | Route::Recode(chosen) => chosen,
        }
    }

    /// The algorithm, if its answer is another recoding than by whole columns.
    pub(crate) fn local(&self) -> Option<&Chosen> {
        Some(self.chosen()).filter(|chosen| chosen.is_local())
    }
}

/// What the job says about the algorithm, as far as it can be checked without the data.
#[derive(Debug, Clone)]
pub(crate) struct AlgorithmChoice {
    /// The algorithm that it names.
    named: Option<&'static Entry<Algorithm>>,
    /// Is that one in no list?
    is_own: bool,
    settings: Settings,
    limits: LimitSettings,
    threads: Option<usize>,
}

impl AlgorithmChoice {
    /// The algorithm that a job names, and no setting that belongs to another. `own` takes the place of the name.
    pub(crate) fn new(job: &Job, own: Option<&'static Entry<Algorithm>>) -> Result<Self> {
        let named = match (own, job.search.algorithm.as_deref()) {
            (Some(own), _) => Some(own),
            (None, Some(name)) => Some(find(algorithm::ALL, name).ok_or_else(|| unknown(job, name))?),
            (None, None) => None,
        };
        settings::check(job, named)?;
        if let Some(entry) = named {
            check_columns(job, entry)?;
        }
        let search = &job.search;
        let settings = Settings {
            seed: search.seed,
            cuts: match search.mondrian_cuts {
                Some(MondrianCuts::Relaxed) => Cuts::Relaxed,
                Some(MondrianCuts::Strict) | None => Cuts::Strict,
            },
            best_cuts: search.mondrian_choice == Some(MondrianChoice::Best),
            extent: match search.mondrian_sides {
                Some(MondrianSides::Tight) => Extent::Tight,
                Some(MondrianSides::Covering) | None => Extent::Covering,
            },
            cell_method: match search.cell_method {
                None | Some(CellMethodJob::Clusters) => CellMethod::CLUSTERS,
                Some(CellMethodJob::Refined) => CellMethod::REFINED,
                Some(CellMethodJob::Rounds) => CellMethod::Rounds,
            },
            suppression_method: match search.suppression_method {
                None | Some(SuppressionMethodJob::Auto) => SuppressionMethod::Auto,
                Some(SuppressionMethodJob::Forest) => SuppressionMethod::Forest,
                Some(SuppressionMethodJob::Cover) => SuppressionMethod::Cover,
                Some(SuppressionMethodJob::Clusters) => SuppressionMethod::CLUSTERS,
            },
            cut_method: match search.cut_method {
                None | Some(CutMethodJob::Enumerate) => CutMethod::Enumerate,
                Some(CutMethodJob::Genetic) => CutMethod::Genetic { seed: search.seed.unwrap_or(0) },
            },
            look_ahead: match search.look_ahead {
                None | Some(LookAheadJob::Step) => LookAhead::Step,
                Some(LookAheadJob::Full) => LookAhead::Full,
            },
            ..Settings::default()
        };
        let limits = LimitSettings::new(job)?;
        Ok(AlgorithmChoice { named, is_own: own.is_some(), settings, limits, threads: search.threads })
    }

    /// Does the algorithm take all rows at once? Where none is named, where the lattice is walked, and where cells will do, it does not.
    pub(crate) fn takes_all_rows(&self) -> bool {
        self.named.is_some_and(|entry| !is_full_domain(entry)) && !self.takes_cells()
    }

    /// Does it take rows as cells, each of equal ones, and a number for each row?
    pub(crate) fn takes_cells(&self) -> bool {
        self.named.is_some_and(|entry| entry.name == "top-down")
    }

    /// The way of an algorithm that is no search of the lattice.
    pub(crate) fn recode(self) -> Option<Route> {
        let entry = self.named.filter(|entry| !is_full_domain(entry))?;
        Some(Route::Recode(self.chosen(entry)))
    }

    fn chosen(self, entry: &'static Entry<Algorithm>) -> Chosen {
        Chosen { entry, settings: self.settings, limits: self.limits, threads: self.threads }
    }

    /// The way, now that the data are there. `search` says how many threads there are and what a node that holds says of
    /// others; its traversal and its way to judge nodes are settled here.
    pub(crate) fn settle(
        mut self,
        question: Question,
        judge: JudgeChoice,
        search: Search,
        problem: Problem<'_>,
        attributes: &Attributes,
        metric: &dyn Metric,
    ) -> Result<Route> {
        let heights = attributes.heights();
        if let Some(route) = self.clone().recode() {
            return Ok(route);
        }
        if let Some(own) = self.named.filter(|entry| self.is_own && entry.item.traversal.is_none()) {
            return Ok(Route::Best(self.chosen(own)));
        }
        let is_best_named = self.named.is_some_and(|entry| entry.name == BEST);
        let is_free = self.named.is_none() && judge.is_free();
        if is_best_named || (is_free && question == Question::One && has_best(&heights, metric)) {
            if self.limits.is_some() && !has_best_first_search(metric) {
                return Err(limits_without_bounds());
            }
            return Ok(Route::Best(self.chosen(entry_of(BEST)?)));
        }
        let traversal = self.named.and_then(|entry| entry.item.traversal);
        let traversal = traversal.unwrap_or_else(|| judge.traversal(&heights));
        let (name, judge) = judge.settle(problem, traversal)?;
        self.settings.search = Search { algorithm: traversal, judge, ..search };
        let is_it = |entry: &&'static Entry<Algorithm>| entry.item.traversal == Some(traversal);
        let entry = self.named.filter(is_it).or_else(|| algorithm::ALL.iter().find(is_it));
        let entry = entry.ok_or_else(|| not_listed(traversal))?;
        Ok(Route::Every(self.chosen(entry), name))
    }
}

/// Fails if a job has a setting of Incognito, and another way was chosen for it.
pub(super) fn check_one_label(job: &Job, route: &Route) -> Result<()> {
    let is_incognito =
        matches!(route, Route::Every(chosen, _) if chosen.search().algorithm == Traversal::Incognito);
    if is_incognito || job.search.one_label.is_none() {
        return Ok(());
    }
    Err(job
        .mistake(&["search", "one_label"], "`one_label` is for the algorithm `incognito`")
        .with_hint("set algorithm = \"incognito\", or leave it out"))
}

/// What runs where a job names no algorithm and asks for one release.
pub(crate) const BEST: &str = "best";

/// Does a job recode whole columns?
pub(crate) fn recodes_columns(job: &Job) -> bool {
    let named = job.search.algorithm.as_deref().and_then(|name| find(algorithm::ALL, name));
    named.is_none_or(is_full_domain)
}

/// Does it answer with a node, by looking at the lattice alone?
fn is_full_domain(entry: &Entry<Algorithm>) -> bool {
    entry.item.family == algorithm::Family::FullDomain
}

fn entry_of(name: &str) -> Result<&'static Entry<Algorithm>> {
    find(algorithm::ALL, name)
        .ok_or_else(|| Error::new(incog_core::ErrorKind::Internal, "an algorithm is not registered"))
}

fn not_listed(traversal: Traversal) -> Error {
    Error::new(incog_core::ErrorKind::Internal, format!("{traversal:?} is not registered"))
}

/// Why a limit is refused where a search cannot be cut short.
fn limits_without_bounds() -> Error {
    Error::input("this finds the best by a metric that has no bounds, and cannot be cut short")
        .with_hint("leave out `max_steps` and `time_limit`")
}

/// Every name that `algorithm` can have.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    algorithm::ALL.iter().map(|entry| entry.name)
}

/// The mistake of naming an algorithm that there is not.
pub(crate) fn unknown(job: &Job, name: &str) -> Error {
    let names: Vec<&str> = names().collect();
    let advice = nearest(names.iter().copied(), name)
        .map_or(String::new(), |near| format!("; did you mean `{near}`?"));
    job.mistake(&["search", "algorithm"], format!("unknown algorithm `{name}`{advice}"))
        .with_hint(format!("there are: {}", names.join(", ")))
}

/// Fails if columns do not have what an algorithm needs.
fn check_columns(job: &Job, entry: &Entry<Algorithm>) -> Result<()> {
    let mut quasi = job.columns.iter().filter(|(_, column)| column.role == RoleJob::QuasiIdentifier);
    match entry.item.columns {
        // Which columns have an order is found out with the data.
        ColumnNeeds::Nothing | ColumnNeeds::Order => Ok(()),
        ColumnNeeds::SomeHierarchy => {
            if quasi.any(|(_, column)| column.hierarchy.is_some()) {
                return Ok(());
            }
            let name = entry.name;
            Err(Error::input(format!(
                "no quasi-identifier has a hierarchy, and `{name}` generalizes values along hierarchies"
            ))
            .with_hint(
                "give columns a `hierarchy` (`incog hierarchy` makes them); attribute-suppression and cell-suppression need \
                 none, ordered-set and mondrian take columns with an `order` instead",
            ))
        }
        ColumnNeeds::OrderOrHierarchy => {
            let Some((name, _)) =
                quasi.find(|(_, column)| column.order.is_none() && column.hierarchy.is_none())
            else {
                return Ok(());
            };
            let mistake = format!("column `{name}` has neither an order nor a hierarchy to be cut by");
            Err(job.mistake(&["columns", name], mistake).with_hint(
                "mondrian needs order = \"numbers\", \"dates\" or a list, or a hierarchy ({ suppress = true } for \
                 kept or `*`); attribute-suppression and cell-suppression need neither",
            ))
        }
    }
}
