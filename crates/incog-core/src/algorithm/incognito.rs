//! Finds every node that holds, subset by subset
//! (Incognito: LeFevre, DeWitt, Ramakrishnan, SIGMOD 2005, section 3 and Figure 8).
//!
//! 1. Search the generalizations of single attributes, then of pairs, and so on up to all attributes. What fails
//!    for a subset fails for every superset, so only combinations of survivors are candidates
//!    ([`lattice::generate`](crate::lattice::generate)).
//! 2. Within a family (one subset), search breadth-first from the roots; a node that holds marks those above it.
//! 3. The survivors of the last iteration are the answer.
//!
//! The paper's variants are this traversal with a judge each: Basic is `roll-up`, Super-roots `super-roots`,
//! Cube `cube`.
//!
//! Differs from the paper: (1) any policy for which pruning is sound, not only k-anonymity (for (α,k)-anonymity this is
//! eIncognito of Wong, Li, Fu, Wang, KDD 2006); (2) families are searched one by one (no edge connects them), or several
//! at a time; (3) a candidate with an attribute at a level of a single label has the groups of the smaller
//! subset's node, which is a survivor: it holds without being regrouped. It counts as checked, not as grouped.
//! [`OneLabel::Group`] regroups it all the same, as the paper does; (4) where the policy is about
//! [combinations](crate::privacy::combinations) of at most m attributes and nothing may be left out, larger subsets follow from smaller
//! ones and are not regrouped either.
//!
//! Sound because generalizing and dropping attributes only merge groups; see [`Closure`](crate::privacy::Closure).
//! Cost: one check for every candidate that fails and for the lowest that hold.

use rayon::prelude::*;

use crate::algorithm::breadth_first::breadth_first;
use crate::algorithm::contract::{Algorithm, Setting, Traversal, best_of_all};
use crate::algorithm::{
    FamilyRecord, Iteration, MAX_CANDIDATES, OneLabel, Run, Trace, Traversed, n_candidates,
};
use crate::error::{Error, ErrorKind, Result};
use crate::frequency::KeyLayout;
use crate::judge::{Judge, Judges, Keep, Work};
use crate::lattice::{Candidates, Lattice, NodeSet, generate};
use crate::registry::{Entry, Status};

pub(super) fn search(run: &Run<'_>) -> Result<Traversed> {
    let mut found = Traversed {
        holding: NodeSet::empty(run.lattice),
        work: Work::default(),
        iterations: Vec::new(),
        families: Vec::new(),
    };
    let n_attributes = run.lattice.attributes().len();
    by_size(run, n_attributes, |iteration, searched| {
        for family in searched {
            found.work += family.work;
            found.families.extend(family.record.take());
            if family.family.attributes().len() == n_attributes {
                found.holding.clone_from(&family.holding);
            }
        }
        found.iterations.push(iteration);
    })?;
    Ok(found)
}

/// Searches the families of one attribute, of two, and so on up to `most`, as long as there are any to search; tells what came of
/// all families of one size.
pub(super) fn by_size(
    run: &Run<'_>,
    most: usize,
    mut tell: impl FnMut(Iteration, &mut [Searched]),
) -> Result<()> {
    let n_attributes = run.lattice.attributes().len();
    let heights = run.problem.source.layout().heights();
    if n_candidates(&heights) > MAX_CANDIDATES {
        return Err(Error::new(
            ErrorKind::Limit,
            format!("`incognito` has too many subsets of {n_attributes} quasi-identifiers to search"),
        )
        .with_hint("use the algorithm `bottom-up`, fewer quasi-identifiers, or fewer levels"));
    }
    let pool = match run.search.threads {
        0 | 1 => None,
        n => Some(rayon::ThreadPoolBuilder::new().num_threads(n).build().map_err(|error| {
            Error::new(ErrorKind::Limit, format!("cannot start {n} threads: {error}"))
                .with_hint("use fewer threads")
        })?),
    };
    let mut survivors: Vec<(Lattice, NodeSet)> = Vec::new();
    for subset_size in 1..=most {
        let candidates = generate(&survivors, &heights, run.progress)?;
        let n_candidates = candidates.iter().map(|family| family.nodes.len() as u64).sum();
        run.progress.expect(n_candidates);
        let mut searched: Vec<Searched> = match &pool {
            None => candidates.into_iter().map(|family| search_family(run, family)).collect::<Result<_>>()?,
            // Collecting keeps the families' order: nothing depends on which thread was first.
            Some(pool) => pool.install(|| {
                candidates.into_par_iter().map(|family| search_family(run, family)).collect::<Result<_>>()
            })?,
        };
        let mut work = Work::default();
        searched.iter().for_each(|family| work += family.work);
        let iteration = Iteration {
            subset_size,
            candidates: n_candidates,
            holding: searched.iter().map(|family| family.holding.len() as u64).sum(),
            checked: work.nodes_checked,
            grouped: work.nodes_grouped,
        };
        tell(iteration, &mut searched);
        survivors.clear();
        let survived = searched.into_iter().map(|family| (family.family, family.holding));
        survivors.extend(survived.filter(|(_, holding)| !holding.is_empty()));
        if survivors.is_empty() {
            break;
        }
    }
    Ok(())
}

/// A family after its search.
pub(super) struct Searched {
    pub(super) family: Lattice,
    /// The nodes that hold.
    pub(super) holding: NodeSet,
    pub(super) work: Work,
    record: Option<FamilyRecord>,
}

fn search_family(run: &Run<'_>, candidates: Candidates) -> Result<Searched> {
    let roots = candidates.roots();
    let n_candidates = candidates.nodes.len() as u64;
    let mut record = (run.search.trace == Trace::Families).then(|| FamilyRecord {
        family: candidates.family.clone(),
        candidates: candidates.nodes.iter().collect(),
        roots: roots.clone(),
        edges: candidates.edges().collect(),
        checked: Vec::new(),
        holding: Vec::new(),
    });
    let Candidates { family, nodes: mut holding } = candidates;
    let mut judge = TakingOver {
        judges: run.judges,
        layout: run.problem.source.layout(),
        takes_over: run.search.one_label == OneLabel::TakeOver && !run.problem.policy.demand().labels,
        is_implied: is_implied(run, &family),
        family: &family,
        roots: &roots,
        regrouping: None,
        taken_over: 0,
        checked: record.as_mut().map(|record| &mut record.checked),
    };
    let progress = run.progress;
    breadth_first(&family, &mut holding, &roots, run.search.marking, &mut judge, progress)?;
    let work = judge.work();
    drop(judge);
    progress.done(n_candidates.saturating_sub(work.nodes_checked))?;
    if let Some(record) = &mut record {
        record.holding = holding.iter().collect();
    }
    Ok(Searched { holding, work, record, family })
}

/// Does every candidate of a family hold because its subsets do? So it is where only combinations of fewer attributes
/// are asked about and nothing may be left out.
fn is_implied(run: &Run<'_>, family: &Lattice) -> bool {
    let policy = run.problem.policy;
    let is_larger = policy.combinations().is_some_and(|most| family.attributes().len() > most);
    is_larger && policy.budget() == 0 && run.search.one_label == OneLabel::TakeOver
}

/// Takes over the verdict of the smaller subset where an attribute has a single label, and has the judge
/// regroup elsewhere.
struct TakingOver<'a, 'r> {
    judges: &'a dyn Judges,
    layout: &'a KeyLayout,
    /// May verdicts be taken over? Not where the policy sees labels: then an attribute with a single label says something.
    takes_over: bool,
    /// Does every candidate hold because its subsets do?
    is_implied: bool,
    family: &'a Lattice,
    roots: &'a [usize],
    /// Opened for the first node that needs it: many families have none.
    regrouping: Option<Box<dyn Judge + 'a>>,
    taken_over: u64,
    checked: Option<&'r mut Vec<(usize, bool)>>,
}

impl TakingOver<'_, '_> {
    /// Is the node grouped exactly like its projection to fewer attributes, which survived?
    fn is_decided(&self, node: usize) -> bool {
        let attributes = self.family.attributes();
        let has_one_label = || {
            let mut levels = attributes.iter().zip(self.family.levels(node));
            levels.any(|(&attribute, level)| self.layout.is_one_valued(attribute, level))
        };
        self.is_implied || self.takes_over && attributes.len() > 1 && has_one_label()
    }
}

impl Judge for TakingOver<'_, '_> {
    fn judge(&mut self, node: usize) -> Result<bool> {
        let holds = if self.is_decided(node) {
            self.taken_over += 1;
            true
        } else {
            if self.regrouping.is_none() {
                // Whatever lies above a decided root is decided too (a single label stays single), so judges need
                // not reach down to those roots: super-roots become higher and smaller.
                let roots: Vec<usize> =
                    self.roots.iter().copied().filter(|&root| !self.is_decided(root)).collect();
                self.regrouping = Some(self.judges.open(self.family, &roots, Keep::Failing)?);
            }
            self.regrouping.as_mut().expect("just opened").judge(node)?
        };
        if let Some(checked) = &mut self.checked {
            checked.push((node, holds));
        }
        Ok(holds)
    }

    fn forget_below(&mut self, height: usize) {
        if let Some(judge) = &mut self.regrouping {
            judge.forget_below(height);
        }
    }

    fn work(&self) -> Work {
        let mut work = self.regrouping.as_ref().map_or(Work::default(), |judge| judge.work());
        work.nodes_checked += self.taken_over;
        work
    }
}

/// Those of every traversal, and what only this one knows.
const SETTINGS: &[Setting] = &[
    Setting::Judge,
    Setting::Marking,
    Setting::OneLabel,
    Setting::Memory,
    Setting::CubeLevels,
    Setting::CubeFile,
    Setting::BitmapSets,
    Setting::BitmapPruning,
    Setting::Decide,
];

/// How it is listed and run.
pub(super) const ENTRY: Entry<Algorithm> = Entry {
    name: "incognito",
    summary: "breadth-first on ever larger subsets of the attributes; finds every node",
    reference: "LeFevre, DeWitt, Ramakrishnan: Incognito, SIGMOD 2005",
    doc: include_str!("incognito.md"),
    status: Status::Preview,
    item: Algorithm {
        settings: SETTINGS,
        ..Algorithm::of_traversal(Traversal::Incognito, |task| best_of_all(task, Traversal::Incognito))
    },
};
