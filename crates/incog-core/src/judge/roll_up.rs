//! Groups by merging those of a specialization (Incognito, sections 3.1.1 and 3.3.1).
//!
//! 1. If a direct specialization of the node was judged and kept, merge its groups. Of several, the one with the
//!    fewest groups is taken.
//! 2. Otherwise the node is a root. `roll-up` scans the records for it. `super-roots` scans them once per family,
//!    at the component-wise minimum of the family's roots, and merges those groups for each root.
//! 3. A traversal that prunes asks above failing nodes only, so only their groups are kept, and only until it
//!    has left their height.
//!
//! Differs from the paper: (1) it calls the super-root the *least upper bound* of the roots, but means the
//! component-wise minimum, as its example shows; (2) the paper does not say which parent's frequency set a node
//! is rolled up from: here the smallest. Nothing depends on the order of questions except speed: a node whose
//! specializations were not kept is treated as a root.
//!
//! Cost: one merge per node, linear in the groups of the specialization; scans as in step 2. Memory: the groups
//! of the failing nodes of two adjacent heights of one family.

use std::sync::Arc;

use crate::error::Result;
use crate::frequency::{FrequencySet, Scratch};
use crate::hash;
use crate::judge::{Judge, Judges, Keep, Problem, Work};
use crate::lattice::{Grouping, Lattice};

/// Scans the records for every root.
pub(super) struct RollUp<'a> {
    pub(super) problem: Problem<'a>,
}

impl Judges for RollUp<'_> {
    fn open<'a>(&'a self, family: &'a Lattice, _: &[usize], keep: Keep) -> Result<Box<dyn Judge + 'a>> {
        Ok(Box::new(RollUpJudge::new(self.problem, family, keep, Origin::Records)))
    }
}

/// Scans the records once per family.
pub(super) struct SuperRoots<'a> {
    pub(super) problem: Problem<'a>,
}

impl Judges for SuperRoots<'_> {
    fn open<'a>(&'a self, family: &'a Lattice, roots: &[usize], keep: Keep) -> Result<Box<dyn Judge + 'a>> {
        let super_root = roots.iter().copied().reduce(|a, b| family.meet(a, b)).unwrap_or(0);
        let origin = Origin::SuperRoot { grouping: family.grouping(super_root), set: None };
        Ok(Box::new(RollUpJudge::new(self.problem, family, keep, origin)))
    }
}

/// Where the groups of a root come from.
pub(super) enum Origin<'a> {
    /// A scan of the records at the root.
    Records,
    /// A scan of the records at this grouping, made when first needed.
    SuperRoot { grouping: Grouping, set: Option<Arc<FrequencySet>> },
    /// Sets computed beforehand; the root generalizes at least one of them.
    Stored(Vec<&'a Arc<FrequencySet>>),
}

/// Judges the nodes of one family by merging groups.
pub(super) struct RollUpJudge<'a> {
    problem: Problem<'a>,
    family: &'a Lattice,
    keep: Keep,
    origin: Origin<'a>,
    kept: hash::Map<usize, Arc<FrequencySet>>,
    scratch: Scratch,
    work: Work,
}

impl<'a> RollUpJudge<'a> {
    pub(super) fn new(problem: Problem<'a>, family: &'a Lattice, keep: Keep, origin: Origin<'a>) -> Self {
        RollUpJudge {
            problem,
            family,
            keep,
            origin,
            kept: hash::Map::default(),
            scratch: Scratch::default(),
            work: Work::default(),
        }
    }

    fn groups_of(&mut self, node: usize) -> Result<Arc<FrequencySet>> {
        let grouping = self.family.grouping(node);
        // Ties go to the first attribute in column order: `min_by_key` returns the first minimum.
        let finer = self
            .family
            .specializations(node)
            .filter_map(|down| self.kept.get(&down))
            .min_by_key(|set| set.n_groups());
        if let Some(set) = finer {
            self.work.groups_touched += set.n_groups() as u64;
            return Ok(Arc::new(set.roll_up(&grouping, &mut self.scratch)));
        }
        let set = match &mut self.origin {
            Origin::Records => return Ok(Arc::new(scan(self.problem, &mut self.work, &grouping)?)),
            Origin::SuperRoot { grouping, set: Some(set) } => {
                debug_assert_eq!(set.grouping(), grouping);
                set
            }
            Origin::SuperRoot { grouping, set } => {
                &*set.insert(Arc::new(scan(self.problem, &mut self.work, grouping)?))
            }
            Origin::Stored(sets) => sets
                .iter()
                .filter(|set| grouping.generalizes(set.grouping()))
                .min_by_key(|set| set.n_groups())
                .expect("a stored set lies below every node of the family"),
        };
        if *set.grouping() == grouping {
            return Ok(Arc::clone(set));
        }
        self.work.groups_touched += set.n_groups() as u64;
        Ok(Arc::new(set.roll_up(&grouping, &mut self.scratch)))
    }
}

fn scan(problem: Problem<'_>, work: &mut Work, grouping: &Grouping) -> Result<FrequencySet> {
    work.table_scans += 1;
    problem.count(grouping)
}

impl Judge for RollUpJudge<'_> {
    fn judge(&mut self, node: usize) -> Result<bool> {
        let set = self.groups_of(node)?;
        self.work.count_node();
        let holds = self.problem.policy.judge(&set)?.holds;
        let is_kept = match self.keep {
            Keep::Nothing => false,
            Keep::Failing => !holds,
            Keep::Everything => true,
        };
        if is_kept {
            self.kept.insert(node, set);
        }
        Ok(holds)
    }

    fn forget_below(&mut self, height: usize) {
        self.kept.retain(|&node, _| self.family.height(node) >= height);
    }

    fn work(&self) -> Work {
        self.work
    }
}
