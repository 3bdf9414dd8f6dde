//! The paper's *reusing*: groups keep their sets of records, and later nodes are made from them.
//!
//! 1. A node above one whose groups were kept: OR its groups that become one.
//! 2. A node without: the groups of a node of one attribute less, which held, AND the labels of that attribute. In
//!    Incognito there is one for every candidate, or a specialization of one, which is generalized first.
//! 3. Otherwise (a traversal of the whole lattice): the labels of single attributes, one attribute after the other.
//!
//! Kept are, in a family, the groups of failing nodes, since only their generalizations are asked about, and for the next
//! larger subsets those of nodes that hold. A node that was stopped early has no complete groups to keep: with pruning, step
//! 1 seldom finds any.
//!
//! Cost: step 1 one OR a group, step 2 one AND a group and label. Memory: at most 4 bytes a record for every node kept. What
//! would exceed the bound is not kept.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::index::Index;
use super::ledger::{Ledger, Set};
use super::records::Records;
use super::walk::{View, Walk};
use crate::hash;

/// The groups of a node.
#[derive(Clone)]
pub(super) struct Groups {
    levels: Vec<u8>,
    groups: Vec<Group>,
}

#[derive(Clone)]
struct Group {
    /// One label of each attribute.
    labels: Vec<u32>,
    set: Arc<Set>,
}

/// The groups of nodes that hold, for families with one attribute more.
#[derive(Default)]
pub(super) struct Store(Mutex<hash::Map<Vec<usize>, Vec<Arc<Groups>>>>);

impl Store {
    fn lock(&self) -> MutexGuard<'_, hash::Map<Vec<usize>, Vec<Arc<Groups>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn keep(&self, attributes: &[usize], groups: &Arc<Groups>) {
        self.lock().entry(attributes.to_vec()).or_default().push(Arc::clone(groups));
    }

    /// Drops what families of `n_attributes` will not ask for: subsets smaller by more than one.
    pub(super) fn forget_for(&self, n_attributes: usize) {
        self.lock().retain(|attributes, _| attributes.len() + 1 >= n_attributes);
    }

    /// The smallest groups from which the node can be made, and which of its attributes they lack.
    fn base_of(&self, attributes: &[usize], levels: &[u8]) -> Option<(usize, Arc<Groups>)> {
        let store = self.lock();
        let mut best: Option<(usize, &Arc<Groups>)> = None;
        for lacking in 0..attributes.len() {
            let below = |groups: &&Arc<Groups>| {
                let mut there = groups.levels.iter();
                let mut wanted = levels.iter().enumerate().filter(|(at, _)| *at != lacking);
                wanted.all(|(_, level)| there.next().is_some_and(|there| there <= level))
            };
            let families = store.get(&without(attributes, lacking)).into_iter().flatten();
            for groups in families.filter(below) {
                if best.is_none_or(|(_, best)| groups.groups.len() < best.groups.len()) {
                    best = Some((lacking, groups));
                }
            }
        }
        best.map(|(lacking, groups)| (lacking, Arc::clone(groups)))
    }
}

fn without<T: Copy>(items: &[T], at: usize) -> Vec<T> {
    items.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, item)| *item).collect()
}

/// Makes groups from groups.
pub(super) struct Maker<'a> {
    pub(super) index: &'a Index,
    pub(super) ledger: &'a Arc<Ledger>,
    pub(super) store: &'a Store,
    pub(super) attributes: &'a [usize],
}

impl Maker<'_> {
    /// The groups of a node above one with `groups`, by OR; `None` where the walk was stopped.
    pub(super) fn generalize(&self, groups: &Groups, levels: &[u8], walk: &mut Walk<'_>) -> Option<Groups> {
        let made = self.united(groups, self.attributes, levels, walk);
        made.groups.iter().all(|group| walk.set(View::of(&group.set))).then_some(made)
    }

    fn united(&self, groups: &Groups, attributes: &[usize], levels: &[u8], walk: &mut Walk<'_>) -> Groups {
        let ups: Vec<Vec<u32>> = attributes
            .iter()
            .zip(groups.levels.iter().zip(levels))
            .map(|(&attribute, (&from, &to))| self.index.labels_between(attribute, from, to))
            .collect();
        let labels_of = |group: &Group| -> Vec<u32> {
            group.labels.iter().zip(&ups).map(|(&label, up)| up[label as usize]).collect()
        };
        let mut parts: Vec<(Vec<u32>, &Arc<Set>)> =
            groups.groups.iter().map(|group| (labels_of(group), &group.set)).collect();
        parts.sort_by(|a, b| a.0.cmp(&b.0));
        let united = parts.chunk_by(|a, b| a.0 == b.0).map(|same| {
            let set = match same {
                [(_, only)] => Arc::clone(only),
                several => {
                    walk.operations.ors += several.len() as u64 - 1;
                    let sets: Vec<&Records> = several.iter().map(|(_, set)| &****set).collect();
                    self.ledger.enter(Records::union(&sets, self.index.n_records))
                }
            };
            walk.operations.counts += 1;
            Group { labels: same[0].0.clone(), set }
        });
        Groups { groups: united.collect(), levels: levels.to_vec() }
    }

    /// The groups of a node, by AND; `None` where the walk was stopped.
    pub(super) fn intersect(&self, levels: &[u8], walk: &mut Walk<'_>) -> Option<Groups> {
        match self.store.base_of(self.attributes, levels) {
            Some((lacking, mut base)) => {
                let (attributes, wanted) = (without(self.attributes, lacking), without(levels, lacking));
                if base.levels != wanted {
                    base = Arc::new(self.united(&base, &attributes, &wanted, walk));
                }
                self.refine(&base, lacking, levels, Part::Last, walk)
            }
            None => {
                let nothing = Groups { levels: Vec::new(), groups: Vec::new() };
                let mut made = Arc::new(nothing);
                for at in 0..levels.len() {
                    let part = if at + 1 == levels.len() { Part::Last } else { Part::First };
                    made = Arc::new(self.refine(&made, at, &levels[..=at], part, walk)?);
                }
                Arc::into_inner(made)
            }
        }
    }

    /// Each group AND each label of the attribute at position `at`, which the groups lack.
    fn refine(
        &self,
        base: &Groups,
        at: usize,
        levels: &[u8],
        part: Part,
        walk: &mut Walk<'_>,
    ) -> Option<Groups> {
        let labels = &self.index.level(self.attributes[at], levels[at]).labels;
        let mut made = Groups { levels: levels.to_vec(), groups: Vec::new() };
        if base.levels.is_empty() {
            // No attribute yet: the groups are the labels.
            walk.operations.counts += labels.len() as u64;
            let group = |label: &super::index::Labelled| Group {
                labels: vec![label.label],
                set: Arc::clone(&label.set),
            };
            made.groups.extend(labels.iter().map(group));
            let goes_on =
                part == Part::First || made.groups.iter().all(|group| walk.set(View::of(&group.set)));
            return goes_on.then_some(made);
        }
        for group in &base.groups {
            // Groups do not overlap: once all records are accounted for, the other labels have none.
            let mut left = group.set.count();
            for label in labels {
                if left == 0 {
                    break;
                }
                walk.operations.ands += 1;
                walk.operations.counts += 1;
                let both = group.set.and(&label.set);
                let count = both.count();
                left -= count;
                if part == Part::Last && !walk.set(View::of(&both)) {
                    return None;
                }
                if count > 0 {
                    let mut labels = group.labels.clone();
                    labels.insert(at, label.label);
                    made.groups.push(Group { labels, set: self.ledger.enter(both) });
                }
            }
        }
        Some(made)
    }
}

/// Which groups are made: those of the node, or of some of its attributes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    First,
    Last,
}

impl Groups {
    pub(super) fn n_groups(&self) -> usize {
        self.groups.len()
    }
}
