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
//! Where memory is limited: (4) the sets of all families together take at most half of the source's room, and what would exceed
//! that is not kept; (5) a node that has more groups than fit is judged in parts, a scan each, and a super-root that has is
//! given up for scans at the roots.
//!
//! Cost: one merge per node, linear in the groups of the specialization; scans as in step 2. Memory: the groups
//! of the failing nodes of two adjacent heights of one family.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::Result;
use crate::frequency::{FrequencySet, Scratch, TooMany};
use crate::hash;
use crate::judge::{Judge, Judges, Keep, Problem, Work};
use crate::lattice::{Grouping, Lattice};

/// Scans the records for every root.
pub(super) struct RollUp<'a> {
    problem: Problem<'a>,
    shared: Shared,
}

impl<'a> RollUp<'a> {
    pub(super) fn new(problem: Problem<'a>) -> Self {
        RollUp { problem, shared: Shared::new(problem, 0) }
    }
}

impl Judges for RollUp<'_> {
    fn open<'a>(&'a self, family: &'a Lattice, _: &[usize], keep: Keep) -> Result<Box<dyn Judge + 'a>> {
        Ok(Box::new(RollUpJudge::new(self.problem, &self.shared, family, keep, Origin::Records)))
    }
}

/// Scans the records once per family.
pub(super) struct SuperRoots<'a> {
    problem: Problem<'a>,
    shared: Shared,
}

impl<'a> SuperRoots<'a> {
    pub(super) fn new(problem: Problem<'a>) -> Self {
        SuperRoots { problem, shared: Shared::new(problem, 0) }
    }
}

impl Judges for SuperRoots<'_> {
    fn open<'a>(&'a self, family: &'a Lattice, roots: &[usize], keep: Keep) -> Result<Box<dyn Judge + 'a>> {
        let super_root = roots.iter().copied().reduce(|a, b| family.meet(a, b)).unwrap_or(0);
        let origin = Origin::SuperRoot { grouping: family.grouping(super_root), set: None };
        Ok(Box::new(RollUpJudge::new(self.problem, &self.shared, family, keep, origin)))
    }
}

/// What the judges of all families share: the memory of the sets that they keep, where it is limited.
pub(super) struct Shared {
    most: u64,
    kept: AtomicU64,
    is_limited: bool,
    counting: Mutex<()>,
}

impl Shared {
    /// `taken` is what others have of the same memory.
    pub(super) fn new(problem: Problem<'_>, taken: u64) -> Self {
        let room = problem.source.room();
        Shared {
            most: room.map_or(u64::MAX, |room| (room / 2).saturating_sub(taken)),
            kept: AtomicU64::new(0),
            is_limited: room.is_some(),
            counting: Mutex::default(),
        }
    }

    /// Is there room for a set? Then it is taken.
    fn take(&self, set: &FrequencySet) -> bool {
        let n_bytes = set.n_bytes();
        let add = |kept: u64| kept.checked_add(n_bytes).filter(|&kept| kept <= self.most);
        self.kept.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add).is_ok()
    }

    fn give_back(&self, set: &FrequencySet) {
        self.kept.fetch_sub(set.n_bytes(), Ordering::Relaxed);
    }

    /// Where memory is limited, one thread counts at a time.
    fn turn(&self) -> Option<MutexGuard<'_, ()>> {
        self.is_limited.then(|| self.counting.lock().unwrap_or_else(PoisonError::into_inner))
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
    shared: &'a Shared,
    family: &'a Lattice,
    keep: Keep,
    origin: Origin<'a>,
    kept: hash::Map<usize, Arc<FrequencySet>>,
    scratch: Scratch,
    work: Work,
}

impl<'a> RollUpJudge<'a> {
    pub(super) fn new(
        problem: Problem<'a>,
        shared: &'a Shared,
        family: &'a Lattice,
        keep: Keep,
        origin: Origin<'a>,
    ) -> Self {
        RollUpJudge {
            problem,
            shared,
            family,
            keep,
            origin,
            kept: hash::Map::default(),
            scratch: Scratch::default(),
            work: Work::default(),
        }
    }

    fn groups_of(&mut self, node: usize) -> Result<std::result::Result<Arc<FrequencySet>, TooMany>> {
        let grouping = self.family.grouping(node);
        // Ties go to the first attribute in column order: `min_by_key` returns the first minimum.
        let finer = self
            .family
            .specializations(node)
            .filter_map(|down| self.kept.get(&down))
            .min_by_key(|set| set.n_groups());
        if let Some(set) = finer {
            self.work.groups_touched += set.n_groups() as u64;
            return Ok(Ok(Arc::new(set.roll_up(&grouping, &mut self.scratch))));
        }
        if let Origin::SuperRoot { grouping, set: set @ None } = &mut self.origin {
            match scan(self.problem, &mut self.work, grouping)? {
                Ok(scanned) if self.shared.take(&scanned) => *set = Some(Arc::new(scanned)),
                _ => self.origin = Origin::Records,
            }
        }
        let set = match &self.origin {
            Origin::Records | Origin::SuperRoot { set: None, .. } => {
                return Ok(scan(self.problem, &mut self.work, &grouping)?.map(Arc::new));
            }
            Origin::SuperRoot { set: Some(set), .. } => set,
            Origin::Stored(sets) => sets
                .iter()
                .filter(|set| grouping.generalizes(set.grouping()))
                .min_by_key(|set| set.n_groups())
                .expect("a stored set lies below every node of the family"),
        };
        if *set.grouping() == grouping {
            return Ok(Ok(Arc::clone(set)));
        }
        self.work.groups_touched += set.n_groups() as u64;
        Ok(Ok(Arc::new(set.roll_up(&grouping, &mut self.scratch))))
    }
}

impl Drop for RollUpJudge<'_> {
    fn drop(&mut self) {
        self.kept.values().for_each(|set| self.shared.give_back(set));
        if let Origin::SuperRoot { set: Some(set), .. } = &self.origin {
            self.shared.give_back(set);
        }
    }
}

fn scan(
    problem: Problem<'_>,
    work: &mut Work,
    grouping: &Grouping,
) -> Result<std::result::Result<FrequencySet, TooMany>> {
    work.table_scans += 1;
    problem.count_within(grouping)
}

impl Judge for RollUpJudge<'_> {
    fn judge(&mut self, node: usize) -> Result<bool> {
        let _turn = self.shared.turn();
        self.work.count_node();
        let set = match self.groups_of(node)? {
            Ok(set) => set,
            Err(too_many) => {
                let grouping = self.family.grouping(node);
                let (holds, n_scans) = self.problem.judge_parts(&grouping, too_many, "the search")?;
                self.work.table_scans += n_scans;
                return Ok(holds);
            }
        };
        let holds = self.problem.policy.judge(&set)?.holds;
        let is_kept = match self.keep {
            Keep::Nothing => false,
            Keep::Failing => !holds,
            Keep::Everything => true,
        };
        // A node may be asked about again: its groups are kept once.
        if is_kept
            && self.shared.take(&set)
            && let Some(before) = self.kept.insert(node, set)
        {
            self.shared.give_back(&before);
        }
        Ok(holds)
    }

    fn forget_below(&mut self, height: usize) {
        let (family, shared) = (self.family, self.shared);
        self.kept.retain(|&node, set| {
            let stays = family.height(node) >= height;
            if !stays {
                shared.give_back(set);
            }
            stays
        });
    }

    fn work(&self) -> Work {
        self.work
    }
}
