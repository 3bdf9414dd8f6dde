//! What is an algorithm to those who offer it?
//!
//! One list, [`ALL`](super::ALL), has every algorithm that a job can name. An entry is plain data and one function: which
//! family it belongs to, what it asks of the columns, which settings of a job it knows, what may be claimed of its answer,
//! and [`Algorithm::run`]. `list`, `explain`, `compare`, the job's checks and the tests that run every algorithm are made from
//! the list, so adding an algorithm is its file, its page and one line. Another crate can make a [`Algorithm`] of its own.
//!
//! The answer is one of two things ([`Answer`]): a node of the lattice, with what is known of it, or another recoding.

use std::fmt;

use crate::algorithm::quality::Found;
use crate::algorithm::{
    Aim, CellMethod, Coverage, CutMethod, Cuts, Extent, Limits, LookAhead, Quality, Search, SuppressionMethod,
};
use crate::error::Result;
use crate::frequency::FrequencySet;
use crate::hierarchy::Attributes;
use crate::judge::Problem;
use crate::metric::{self, Statistics};
use crate::progress::{Progress, Stage};
use crate::recoding::{Domains, PerGroup, Recoding};

/// An algorithm, as data. Its name and texts are those of its [`Entry`](crate::registry::Entry).
#[derive(Clone, Copy)]
pub struct Algorithm {
    /// Which kind of recoding it finds.
    pub family: Family,
    /// What columns must have.
    pub columns: ColumnNeeds,
    /// The settings of a job that make a difference to it. A job that has others is refused.
    pub settings: &'static [Setting],
    /// What may be claimed of its answer, given the settings.
    pub claim: fn(&Settings) -> Claimed,
    /// The traversal, if it classifies every node of the lattice.
    pub traversal: Option<Traversal>,
    /// Finds a release. `None` if nothing satisfies the policy.
    pub run: fn(&Task<'_>) -> Result<Option<Answer>>,
}

impl fmt::Debug for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Algorithm").field("family", &self.family).finish_non_exhaustive()
    }
}

impl Algorithm {
    /// A traversal, which `run` runs.
    pub(super) const fn of_traversal(
        traversal: Traversal,
        run: fn(&Task<'_>) -> Result<Option<Answer>>,
    ) -> Self {
        Algorithm {
            family: Family::FullDomain,
            columns: ColumnNeeds::Nothing,
            settings: OF_TRAVERSALS,
            claim: |_| Claimed::Levels,
            traversal: Some(traversal),
            run,
        }
    }

    /// Does it know a setting?
    pub fn knows(&self, setting: Setting) -> bool {
        self.settings.contains(&setting)
    }
}

/// Which kind of recoding an algorithm finds, from strict to free.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// Full-domain generalization: a level for each attribute.
    FullDomain,
    /// A level for each value, in every record alike; or one node, in another way than by walking the lattice.
    SingleDimension,
    /// Levels for each combination of values, or for each cell.
    MultiDimension,
    /// Intervals of ordered values.
    Boxes,
    /// Levels for each group of records.
    Local,
}

impl Family {
    /// All of them, in the order in which they are listed.
    pub const ALL: [Family; 5] =
        [Family::FullDomain, Family::SingleDimension, Family::MultiDimension, Family::Boxes, Family::Local];

    /// What a list of its algorithms is headed by.
    pub fn title(self) -> &'static str {
        match self {
            Family::FullDomain => "full-domain generalization",
            Family::SingleDimension => "single-dimension recoding",
            Family::MultiDimension => "multi-dimension and cell recoding",
            Family::Boxes => "recoding by intervals and boxes",
            Family::Local => "local recoding",
        }
    }

    /// What one of its algorithms is called.
    pub fn kind(self) -> &'static str {
        match self {
            Family::FullDomain => "algorithm for full-domain generalization",
            Family::SingleDimension => "algorithm for single-dimension recoding",
            Family::MultiDimension => "algorithm for multi-dimension or cell recoding",
            Family::Boxes => "algorithm for recoding by intervals and boxes",
            Family::Local => "algorithm for local recoding",
        }
    }
}

/// What an algorithm asks of the quasi-identifiers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnNeeds {
    /// Nothing: a column without a hierarchy is kept or suppressed.
    Nothing,
    /// At least one has a hierarchy: without any there is nothing to generalize along.
    SomeHierarchy,
    /// Each has an order.
    Order,
    /// Each has an order or a hierarchy.
    OrderOrHierarchy,
}

/// A setting of a job that only some algorithms know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Setting {
    /// How nodes are judged.
    Judge,
    /// What a node that holds says of others.
    Marking,
    /// What Incognito does with attributes at a level of a single label.
    OneLabel,
    /// How much memory the sets of a checker may take.
    Memory,
    /// What the judge `cube` computes beforehand.
    CubeLevels,
    /// Where the sets of the judge `cube` are kept between runs.
    CubeFile,
    /// How the judge `bitmap` makes its sets.
    BitmapSets,
    /// Whether the judge `bitmap` stops early.
    BitmapPruning,
    /// What the generalization is chosen by.
    Decide,
    /// Where chance starts.
    Seed,
    /// When to stop, by the clock.
    TimeLimit,
    /// When to stop, by steps.
    MaxSteps,
    /// Whether records of equal values may be divided.
    MondrianCuts,
    /// Where to cut.
    MondrianChoice,
    /// How far intervals reach.
    MondrianSides,
    /// How the groups of a cell generalization are found.
    CellMethod,
    /// How the groups of a cell suppression are found.
    SuppressionMethod,
    /// How better cuts than the greedy ones are looked for.
    CutMethod,
    /// How far Top-Down looks ahead.
    LookAhead,
}

impl Setting {
    /// All of them.
    pub const ALL: [Setting; 19] = [
        Setting::Judge,
        Setting::Marking,
        Setting::OneLabel,
        Setting::Memory,
        Setting::CubeLevels,
        Setting::CubeFile,
        Setting::BitmapSets,
        Setting::BitmapPruning,
        Setting::Decide,
        Setting::Seed,
        Setting::TimeLimit,
        Setting::MaxSteps,
        Setting::MondrianCuts,
        Setting::MondrianChoice,
        Setting::MondrianSides,
        Setting::CellMethod,
        Setting::SuppressionMethod,
        Setting::CutMethod,
        Setting::LookAhead,
    ];

    /// Its key in the `[search]` of a job.
    pub fn key(self) -> &'static str {
        match self {
            Setting::Judge => "checker",
            Setting::Marking => "marking",
            Setting::OneLabel => "one_label",
            Setting::Memory => "memory",
            Setting::CubeLevels => "cube_levels",
            Setting::CubeFile => "cube_file",
            Setting::BitmapSets => "bitmap_sets",
            Setting::BitmapPruning => "bitmap_pruning",
            Setting::Decide => "decide",
            Setting::Seed => "seed",
            Setting::TimeLimit => "time_limit",
            Setting::MaxSteps => "max_steps",
            Setting::MondrianCuts => "mondrian_cuts",
            Setting::MondrianChoice => "mondrian_choice",
            Setting::MondrianSides => "mondrian_sides",
            Setting::CellMethod => "cell_method",
            Setting::SuppressionMethod => "suppression_method",
            Setting::CutMethod => "cut_method",
            Setting::LookAhead => "look_ahead",
        }
    }
}

/// The settings of every traversal.
const OF_TRAVERSALS: &[Setting] = &[
    Setting::Judge,
    Setting::Marking,
    Setting::Memory,
    Setting::CubeLevels,
    Setting::CubeFile,
    Setting::BitmapSets,
    Setting::BitmapPruning,
    Setting::Decide,
];

/// Which traversal of the lattice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Traversal {
    /// Judge every node.
    Exhaustive,
    /// Breadth-first from the bottom of the lattice.
    BottomUp,
    /// Binary search on the height.
    Samarati,
    /// Subset by subset.
    Incognito,
    /// Along the border.
    Cover,
}

/// How an algorithm is to be run; each looks at the settings that its entry names.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// How to walk the lattice and judge nodes. The traversal in it is that of the algorithm that is run.
    pub search: Search,
    /// Where chance starts, or whether ties are broken at random.
    pub seed: Option<u64>,
    /// When to stop although there is more to look at.
    pub limits: Limits,
    /// Whether records of equal values may be divided by cuts.
    pub cuts: Cuts,
    /// Whether cuts are made where they gain most, not at the median.
    pub best_cuts: bool,
    /// How far intervals reach.
    pub extent: Extent,
    /// How the groups of a cell generalization are found.
    pub cell_method: CellMethod,
    /// How the groups of a cell suppression are found.
    pub suppression_method: SuppressionMethod,
    /// How an ordered-set search looks for better cuts than the greedy ones.
    pub cut_method: CutMethod,
    /// How far Top-Down looks ahead.
    pub look_ahead: LookAhead,
}

/// What an algorithm is given.
#[derive(Clone, Copy)]
pub struct Task<'a> {
    /// The records, and what a release of them must satisfy.
    pub problem: Problem<'a>,
    /// The quasi-identifiers.
    pub attributes: &'a Attributes,
    /// What makes one release better than another.
    pub aim: Aim<'a>,
    /// The name of the metric in it.
    pub metric: &'a str,
    /// The order of each attribute's values, where it has one.
    pub domains: &'a Domains,
    /// How to run.
    pub settings: &'a Settings,
    /// Whom to tell how far it is, and whom to obey.
    pub progress: &'a Progress,
}

/// What an algorithm found.
#[derive(Debug)]
pub enum Answer {
    /// A node of the lattice.
    Node(Box<NodeAnswer>),
    /// Another recoding.
    Recoding {
        /// What is changed.
        recoding: Box<Recoding>,
        /// How good it is.
        quality: Quality,
        /// What else there is to say of it, a line each.
        notes: Vec<String>,
    },
}

/// A node, and what is known of it and of others.
#[derive(Debug)]
pub struct NodeAnswer {
    /// Its levels, and sums over its groups.
    pub statistics: Statistics,
    /// How good it is.
    pub quality: Quality,
    /// How many nodes were judged, where that is how it was found.
    pub n_judged: Option<u64>,
    /// Of those, how many one by one because pruning is unsound.
    pub left_open: Option<u64>,
    /// Nodes with the rows that would be suppressed there, as far as they were counted.
    pub known: Vec<(Vec<u8>, u64)>,
    /// The groups of the node, as far as they are known.
    pub groups: Option<FrequencySet>,
}

impl Answer {
    /// A node that was found by its levels alone.
    pub fn of_levels(task: &Task<'_>, found: Found<Vec<u8>>) -> Result<Self> {
        let (statistics, _) = Statistics::of_node(task.problem, task.attributes, found.recoding)?;
        Ok(Answer::Node(Box::new(NodeAnswer {
            statistics,
            quality: found.quality,
            n_judged: None,
            left_open: None,
            known: Vec::new(),
            groups: None,
        })))
    }

    /// Levels for groups of records.
    pub fn of_groups(found: Found<PerGroup>) -> Self {
        Answer::of_recoding(Recoding::PerGroup(found.recoding), found.quality)
    }

    /// Another recoding, of which there is no more to say.
    pub fn of_recoding(recoding: Recoding, quality: Quality) -> Self {
        Answer::Recoding { recoding: Box::new(recoding), quality, notes: Vec::new() }
    }
}

/// Classifies every node and takes the best of those that hold.
pub(super) fn best_of_all(task: &Task<'_>, traversal: Traversal) -> Result<Option<Answer>> {
    let Task { problem, attributes, aim, progress, .. } = *task;
    let search = Search { algorithm: traversal, ..task.settings.search };
    let outcome = search.run(problem, progress)?;
    progress.enter(Stage::Ranking);
    let (lattice, holding) = (&outcome.lattice, &outcome.holding);
    let best = metric::best(problem, attributes, lattice, holding, aim.costs, aim.metric, progress)?;
    // Incognito's checks are of subsets of the attributes, too.
    let is_of_all = traversal != Traversal::Incognito;
    Ok(best.map(|best| {
        Answer::Node(Box::new(NodeAnswer {
            statistics: best.statistics,
            quality: match outcome.coverage {
                Coverage::Complete => Quality::Optimal,
                Coverage::OneOfMinimalHeight => Quality::Heuristic,
            },
            n_judged: is_of_all.then_some(outcome.work.nodes_checked),
            left_open: outcome.left_open,
            known: Vec::new(),
            groups: None,
        }))
    }))
}

/// What may be claimed of a release, beyond the policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claimed {
    /// Every column stands at one level.
    Levels,
    /// Each record is covered by a released one of its own.
    Local,
    /// The same with intervals.
    Boxes(Overlap),
}

/// Whether intervals or boxes may overlap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overlap {
    /// The intervals of a column are disjoint.
    DisjointLabels,
    /// Boxes are disjoint.
    DisjointBoxes,
    /// They may touch.
    Allowed,
}
