//! Who finds it?
//!
//! The full-domain searches: traversals of the lattice. A traversal decides which node to judge next and what
//! follows from the verdict; it never sees a record or a group (that is the [judge](crate::judge)'s job). The
//! answer is the complete classification: which nodes hold, and which of them are minimal.
//!
//! | name | walks | answers |
//! |---|---|---|
//! | `exhaustive` | every node | all |
//! | `bottom-up` | breadth-first from the bottom, skipping what lies above a node that holds | all |
//! | `incognito` | the same, on ever larger subsets of the attributes | all |
//! | `cover` | along the border between what holds and what fails | all |
//! | `samarati` | binary search on the height | one node of minimal height |
//!
//! [`Policy::pruning`](crate::privacy::Policy::pruning) decides whether skipping is sound. Where it is not, `bottom-up`,
//! `incognito` and `cover` search with the absorbing part of the policy alone, for which it always is. A node that fails there fails for
//! the whole policy; the others are left open, and each of them is judged for itself. [`Outcome::left_open`] says so.
//! `samarati` refuses.
//!
//! Local recoding does not walk the lattice: [`top_down`] moves groups of records, each to levels of its own. So do the
//! other recodings of the taxonomy that see combinations of values ([`full_subgraph`], [`unrestricted_multi`]) or single
//! records ([`cell_generalization`], [`local()`], [`cell_suppression`]); their answers say [how good](quality) they are.
//! Recoding by boxes, [`ordered_set`] and [`mondrian`], cuts ordered domains.

pub mod quality;
mod contract;
mod breadth_first;
mod exhaustive;
mod bottom_up;
mod samarati;
mod incognito;
mod subsets;
mod cover;
pub(crate) mod optimum;
mod best;
mod every_k;
mod top_down;
mod groups;
mod vectors;
pub mod single;
mod full_subgraph;
mod unrestricted_multi;
mod clusters;
mod cell_generalization;
mod local;
mod cell_suppression;
mod positions;
mod mondrian;
mod ordered_set;

pub use best::has_best;
pub use cell_generalization::{CellGeneralizationOptions, CellMethod, cell_generalization};
pub use cell_suppression::{
    CellSuppressionOptions, SuppressionMethod, bound as suppression_bound, cell_suppression,
};
pub use contract::{
    Algorithm, Answer, Claimed, ColumnNeeds, Family, NodeAnswer, Overlap, Setting, Settings, Task, Traversal,
};
pub use every_k::{AtK, EveryK, KRange, every_k};
pub use full_subgraph::{FullSubgraphOptions, full_subgraph};
pub use local::{LocalOptions, local};
pub use mondrian::{CutChoice, Cuts, Extent, Gain, MondrianOptions, mondrian};
pub(crate) use optimum::has_quick_optimum_search;
pub use optimum::{
    BestFirst, Optimum, best_first, has_best_first_search, has_optimum_search, is_quicker_best_first, optimum,
};
pub use ordered_set::{CutMethod, OrderedSetOptions, ordered_set};
pub use quality::{Aim, Judged, Limits, Quality};
pub use subsets::{Subset, Subsets, subsets};
pub use top_down::{LookAhead, TopDownOptions, top_down};
pub use unrestricted_multi::{UnrestrictedMultiOptions, unrestricted_multi};

use crate::algorithm::breadth_first::judge_each;
use crate::error::Result;
use crate::judge::{JudgeKind, Judges, Keep, Problem, Work};
use crate::lattice::{Lattice, NodeSet};
use crate::privacy::Pruning;
use crate::progress::Progress;
use crate::registry::{Entry, Status};

/// Every algorithm that a job can name, family by family.
pub const ALL: &[Entry<Algorithm>] = &[
    best::ENTRY,
    cover::ENTRY,
    exhaustive::ENTRY,
    bottom_up::ENTRY,
    samarati::ENTRY,
    incognito::ENTRY,
    single::attribute_suppression::ENTRY,
    single::datafly::ENTRY,
    single::genetic::ENTRY,
    single::full_subtree::ENTRY,
    single::unrestricted::ENTRY,
    full_subgraph::ENTRY,
    unrestricted_multi::ENTRY,
    cell_generalization::ENTRY,
    local::ENTRY,
    cell_suppression::ENTRY,
    ordered_set::ENTRY,
    mondrian::ENTRY,
    top_down::ENTRY,
];

/// A traversal of the lattice, with its name.
#[derive(Debug, Clone, Copy)]
pub struct NamedTraversal {
    /// Its name in [`ALL`].
    pub name: &'static str,
    /// The traversal.
    pub item: Traversal,
}

/// The traversals among [`ALL`].
pub fn traversals() -> impl Iterator<Item = NamedTraversal> {
    ALL.iter().filter_map(|entry| Some(NamedTraversal { name: entry.name, item: entry.item.traversal? }))
}

/// Incognito refuses more candidates over all subsets than this: it would be at them for minutes.
const MAX_CANDIDATES: u64 = 1 << 30;

/// How many nodes the families of all subsets of attributes have together: Incognito's candidates at most.
fn n_candidates(heights: &[u8]) -> u64 {
    heights.iter().fold(1_u64, |n, &height| n.saturating_mul(u64::from(height) + 2))
}

/// In lattices with more nodes, two bytes for each are too much.
const MAX_COVER_NODES: usize = 1 << 26;

/// The traversal to use when nobody names one: `cover`, unless there are too many nodes.
pub fn choose(heights: &[u8]) -> Traversal {
    let fits = Lattice::new(heights).is_ok_and(|lattice| lattice.n_nodes() <= MAX_COVER_NODES);
    if fits { Traversal::Cover } else { Traversal::BottomUp }
}

/// The traversal to use with a judge that somebody named: Incognito, for which most are made, unless there are too many
/// subsets of attributes.
pub fn choose_for(judge: JudgeKind, heights: &[u8]) -> Traversal {
    match judge {
        JudgeKind::Snapshots => choose(heights),
        _ if n_candidates(heights) <= MAX_CANDIDATES => Traversal::Incognito,
        _ => Traversal::BottomUp,
    }
}

/// What a node that holds says of those above it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Marking {
    /// Marks its direct generalizations; a marked node is skipped and passes nothing on. Figure 8 of the paper to
    /// the letter: a node above a marked one may be judged although its status is implied.
    Direct,
    /// Marks all its generalizations. The same answer with fewer checks.
    Transitive,
}

/// Both ways to mark.
pub const MARKINGS: &[Entry<Marking>] = &[
    Entry {
        name: "transitive",
        summary: "a node that holds marks all its generalizations",
        reference: "the paper on bitmap-based Incognito, figure 9 (indirect skip marks)",
        doc: include_str!("transitive.md"),
        status: Status::Preview,
        item: Marking::Transitive,
    },
    Entry {
        name: "direct",
        summary: "a node that holds marks its direct generalizations only",
        reference: "LeFevre, DeWitt, Ramakrishnan, SIGMOD 2005, figure 8",
        doc: include_str!("direct.md"),
        status: Status::Preview,
        item: Marking::Direct,
    },
];

/// What Incognito does with a candidate that has an attribute at a level of a single label. It has the groups of the
/// node without that attribute, which is known to hold.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OneLabel {
    /// Takes over the verdict of the smaller subset: the node is checked, and not grouped.
    #[default]
    TakeOver,
    /// Groups the node like any other, as the paper does.
    Group,
}

/// How to search.
#[derive(Debug, Clone, Copy)]
pub struct Search {
    /// The traversal.
    pub algorithm: Traversal,
    /// How nodes are judged.
    pub judge: JudgeKind,
    /// What a node that holds says of others.
    pub marking: Marking,
    /// What Incognito does with attributes at a level of a single label.
    pub one_label: OneLabel,
    /// How many families Incognito works on at a time. Results do not depend on it; memory does.
    pub threads: usize,
    /// Whether to keep the course of the search.
    pub trace: Trace,
}

/// How much of the course of a search to keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trace {
    /// Counters only.
    Counters,
    /// Each family's candidates, checks and results too.
    Families,
}

/// What is recommended: `cover` with the judge that is made for it.
impl Default for Search {
    fn default() -> Self {
        Search {
            algorithm: Traversal::Cover,
            judge: JudgeKind::Snapshots,
            marking: Marking::Transitive,
            one_label: OneLabel::TakeOver,
            threads: 1,
            trace: Trace::Counters,
        }
    }
}

/// Which question a search has answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coverage {
    /// Every node is classified.
    Complete,
    /// One node of minimal height that holds, if there is any.
    OneOfMinimalHeight,
}

/// What a search found, and what it took.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The lattice of all attributes.
    pub lattice: Lattice,
    /// The nodes found to hold: all of them, if the coverage is complete.
    pub holding: NodeSet,
    /// The members of `holding` with no other member below them, in column order of their levels.
    pub minimal: Vec<usize>,
    /// Whether every node is classified.
    pub coverage: Coverage,
    /// How many nodes were judged one by one because pruning is unsound: those that the absorbing part of the policy
    /// leaves open (all, if it has none). `None` where pruning is sound.
    pub left_open: Option<u64>,
    /// What it took, preparation included.
    pub work: Work,
    /// Of that, what the judge did before the first node was judged.
    pub preparation: Work,
    /// The most bytes that sets of records took (`bitmap`).
    pub set_bytes: u64,
    /// What happened subset size by subset size; one entry for traversals of the whole lattice. Where nodes were left
    /// open, this is about the absorbing part of the policy, and one more entry about the open nodes.
    pub iterations: Vec<Iteration>,
    /// What happened family by family, if it was recorded.
    pub families: Vec<FamilyRecord>,
}

/// One iteration of a search: all families of one size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Iteration {
    /// How many attributes the families have.
    pub subset_size: usize,
    /// Nodes that could hold, judging by smaller subsets.
    pub candidates: u64,
    /// Nodes that hold.
    pub holding: u64,
    /// Nodes checked.
    pub checked: u64,
    /// Of those, nodes whose groups were counted.
    pub grouped: u64,
}

/// The course of the search in one family. Nodes are indexes of the family's own lattice.
#[derive(Debug, Clone)]
pub struct FamilyRecord {
    /// The family.
    pub family: Lattice,
    /// Nodes that could hold, judging by smaller subsets.
    pub candidates: Vec<usize>,
    /// Candidates with no candidate below them.
    pub roots: Vec<usize>,
    /// Edges between candidates.
    pub edges: Vec<(usize, usize)>,
    /// Nodes checked, in order, with their verdict.
    pub checked: Vec<(usize, bool)>,
    /// Nodes that hold.
    pub holding: Vec<usize>,
}

impl Search {
    /// Incognito with super-roots, as in the paper.
    pub fn incognito() -> Self {
        Search { algorithm: Traversal::Incognito, judge: JudgeKind::SuperRoots, ..Search::default() }
    }

    /// Classifies the lattice of `problem`.
    ///
    /// Fails when it is cancelled, when the policy and the traversal do not go together, or when the
    /// source cannot count.
    pub fn run(&self, problem: Problem<'_>, progress: &Progress) -> Result<Outcome> {
        let judges = self.judge.prepare(problem, progress)?;
        self.run_with(&*judges, problem, progress)
    }

    /// The same with judges that were prepared for this problem before, whatever `self.judge` says. (That one is used
    /// where a part of the policy is searched first.)
    pub fn run_with(
        &self,
        judges: &dyn Judges,
        problem: Problem<'_>,
        progress: &Progress,
    ) -> Result<Outcome> {
        let lattice = Lattice::new(&problem.source.layout().heights())?;
        let run = Run { search: self, problem, judges, progress, lattice: &lattice };
        let mut preparation = judges.preparation();
        let (found, left_open) = match (problem.policy.pruning(), self.algorithm) {
            (Pruning::Unsound, Traversal::BottomUp | Traversal::Incognito | Traversal::Cover) => {
                let (found, n_open, before) = search_open(&run)?;
                preparation += before;
                (found, Some(n_open))
            }
            (Pruning::Unsound, _) => (run.traverse()?, Some(lattice.n_nodes() as u64)),
            (Pruning::Sound, _) => (run.traverse()?, None),
        };
        let mut work = preparation;
        work += found.work;
        // Whatever was marked or never reached needs no judgement any more.
        progress.expect(0);
        let minimal = match problem.policy.pruning() {
            Pruning::Sound => found.holding.lowest(&lattice),
            Pruning::Unsound => found.holding.minimal(&lattice),
        };
        Ok(Outcome {
            holding: found.holding,
            minimal,
            coverage: match self.algorithm {
                Traversal::Samarati => Coverage::OneOfMinimalHeight,
                _ => Coverage::Complete,
            },
            left_open,
            work,
            preparation,
            set_bytes: judges.peak_bytes(),
            iterations: found.iterations,
            families: found.families,
            lattice,
        })
    }
}

/// What every traversal is given.
struct Run<'a> {
    search: &'a Search,
    problem: Problem<'a>,
    judges: &'a dyn Judges,
    progress: &'a Progress,
    lattice: &'a Lattice,
}

impl Run<'_> {
    fn traverse(&self) -> Result<Traversed> {
        match self.search.algorithm {
            Traversal::Exhaustive => exhaustive::search(self),
            Traversal::BottomUp => bottom_up::search(self),
            Traversal::Samarati => samarati::search(self),
            Traversal::Incognito => incognito::search(self),
            Traversal::Cover => cover::search(self),
        }
    }
}

/// Searches with the absorbing part of a policy, then judges what that leaves open; also says how many nodes those were, and
/// what a judge for the absorbing part did beforehand.
fn search_open(run: &Run<'_>) -> Result<(Traversed, u64, Work)> {
    let mut before = Work::default();
    let mut found = match run.problem.policy.absorbing() {
        None => Traversed {
            holding: NodeSet::all(run.lattice),
            work: Work::default(),
            iterations: Vec::new(),
            families: Vec::new(),
        },
        Some(policy) => {
            debug_assert_eq!(policy.pruning(), Pruning::Sound);
            let problem = Problem { source: run.problem.source, policy: &policy };
            let judges = run.search.judge.prepare(problem, run.progress)?;
            before = judges.preparation();
            Run { problem, judges: &*judges, ..*run }.traverse()?
        }
    };
    let open = found.holding;
    let n_open = open.len() as u64;
    run.progress.expect(n_open);
    // Closed upward: every open node but a root has an open one directly below it to be rolled up from.
    let mut judge = run.judges.open(run.lattice, &open.lowest(run.lattice), Keep::Everything)?;
    found.holding = judge_each(run.lattice, &open, &mut *judge, run.progress)?;
    let work = judge.work();
    found.work += work;
    found.iterations.push(Iteration {
        subset_size: run.lattice.attributes().len(),
        candidates: n_open,
        holding: found.holding.len() as u64,
        checked: work.nodes_checked,
        grouped: work.nodes_grouped,
    });
    Ok((found, n_open, before))
}

/// What every traversal returns.
struct Traversed {
    holding: NodeSet,
    work: Work,
    iterations: Vec<Iteration>,
    families: Vec<FamilyRecord>,
}

impl Traversed {
    /// The result of a traversal of the whole lattice, which has a single iteration.
    fn in_one_iteration(lattice: &Lattice, holding: NodeSet, work: Work) -> Self {
        let iteration = Iteration {
            subset_size: lattice.attributes().len(),
            candidates: lattice.n_nodes() as u64,
            holding: holding.len() as u64,
            checked: work.nodes_checked,
            grouped: work.nodes_grouped,
        };
        Traversed { holding, work, iterations: vec![iteration], families: Vec::new() }
    }
}
