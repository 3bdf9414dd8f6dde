//! For every node the largest k that it satisfies, and for every k the best node.
//!
//! Choosing k is a trade: how much detail does one more person a group cost? [`every_k`] answers for a whole range of k with
//! one walk over the lattice, [`EveryK::frontier`] says what each k costs at least.
//!
//! *Promise.* [`EveryK::largest`] of a node is the largest k of the range for which k-anonymity holds there within the budget:
//! the end of the range for nodes that satisfy even more, nothing for nodes that do not satisfy its start. The frontier has
//! for each k the node that [`metric::best`](crate::metric::best) picks among those that hold, ties included.
//!
//! *Essence.* The sizes of a node's groups answer for all k at once. And generalizing only merges groups, so the largest k of
//! a node is at most that of any node above it and at least that of any below.
//!
//! 1. Every node has a least and a greatest k that it could satisfy; at first all that is asked about.
//! 2. Count the groups of a node: its k raises the least of all nodes above and lowers the greatest of all below. Where both
//!    meet, nothing is left to count.
//! 3. First along the border of those that satisfy the start of the range, then along the border of its end: what
//!    lies outside both is settled by few nodes. Then what is left in between, in column order.
//!
//! For the frontier, nodes come in the order of what their levels cost with nothing suppressed; for each k those that hold
//! are looked at until one costs more that way than the best does with its suppressed rows.
//!
//! *Cost.* A count for nearly every node whose k lies inside the range, by merging the groups of a node below
//! ([`Snapshots`](crate::judge::JudgeKind::Snapshots)); ten bytes a node. On Adult with nine attributes and k from 2 to 100, 351 of
//! 12,960 nodes are counted where nothing may be suppressed, 9,845 where 5 % may: there most nodes satisfy some k of the range.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use crate::algorithm::cover::{bits_of_all, by_distance, first_holding, least_change_up, path_up};
use crate::error::{Error, ErrorKind, Result};
use crate::frequency::{FrequencySet, FrequencySource, Method, counted};
use crate::hierarchy::Attributes;
use crate::judge::{Detail, Keep, NodeJudge, Problem, node_judge};
use crate::lattice::Lattice;
use crate::metric::{Costs, Metric, Needs, Ranking, Scored, Statistics};
use crate::privacy::{KAnonymity, Policy, Unit};
use crate::progress::Progress;

/// Lattices with more nodes are refused.
const MAX_NODES: usize = 1 << 24;
/// Sets of groups are kept for the frontier as long as they have no more groups together, or no more than there are rows; where
/// memory is limited, as long as they take half of the room.
const MAX_KEPT: u64 = 1 << 22;

/// A question about a range of k.
#[derive(Clone)]
pub struct KRange<'a> {
    /// Where counts come from.
    pub source: &'a dyn FrequencySource,
    /// What k counts.
    pub unit: Unit,
    /// How many rows may be suppressed.
    pub budget: u64,
    /// The values of k.
    pub k: RangeInclusive<u64>,
}

impl KRange<'_> {
    fn policy(&self, k: u64) -> Result<Policy> {
        let model = match self.unit {
            Unit::Rows => KAnonymity::new(k)?,
            Unit::Persons => KAnonymity::of_persons(k)?,
        };
        Policy::new(vec![Box::new(model)], self.budget)
    }
}

/// The largest k of every node.
#[derive(Debug, Clone)]
pub struct EveryK {
    /// The lattice of all attributes.
    pub lattice: Lattice,
    /// How many nodes' groups were counted.
    pub n_counted: u64,
    /// The first k of the range.
    start: u32,
    /// One less than the start where the node does not satisfy even that.
    largest: Vec<u32>,
}

/// The best node for one k.
#[derive(Debug, Clone)]
pub struct AtK {
    /// The k.
    pub k: u64,
    /// How many nodes hold.
    pub n_holding: u64,
    /// The best of them, if there is one.
    pub best: Option<Scored>,
}

/// Finds the largest k of every node.
///
/// Fails when the range is empty, starts at 0 or ends beyond what can be counted, when there are too many nodes, when it is
/// cancelled or when the source cannot count.
pub fn every_k(question: &KRange<'_>, progress: &Progress) -> Result<EveryK> {
    let (start, end) = (*question.k.start(), *question.k.end());
    if start == 0 {
        return Err(Error::input("k is 0").with_hint("the smallest k that asks for anything is 2"));
    }
    if start > end {
        return Err(Error::input("the range of k ends before it starts").with_hint("write it as 2..100"));
    }
    let too_large = |_| Error::new(ErrorKind::Limit, "k is larger than any table");
    let (first, last) = (u32::try_from(start).map_err(too_large)?, u32::try_from(end).map_err(too_large)?);
    let lattice = Lattice::new(&question.source.layout().heights())?;
    if lattice.n_nodes() > MAX_NODES {
        return Err(Error::new(ErrorKind::Limit, format!("the lattice has more than {MAX_NODES} nodes"))
            .with_hint("use fewer quasi-identifiers or levels"));
    }
    // For the largest k: counters that can tell that can tell all.
    let policy = question.policy(end)?;
    let problem = Problem { source: question.source, policy: &policy };
    let n_nodes = lattice.n_nodes();
    progress.expect(n_nodes as u64);
    let n_bits = bits_of_all(question.source.layout(), &lattice);
    let mut walk = Walk {
        progress,
        lattice: &lattice,
        judge: node_judge(problem, Keep::Everything, Detail::Verdicts)?,
        least: vec![first - 1; n_nodes],
        greatest: vec![last; n_nodes],
        range: first..=last,
        n_bits,
        n_counted: 0,
    };
    for k in [first, last] {
        let middle = walk.bisect(k)?;
        for node in by_distance(&walk.n_bits, middle) {
            walk.along_the_border(node as usize, k)?;
        }
    }
    for node in 0..n_nodes {
        if walk.least[node] < walk.greatest[node] {
            walk.count(node)?;
        }
    }
    progress.expect(0);
    debug_assert_eq!(walk.least, walk.greatest);
    let (n_counted, largest) = (walk.n_counted, std::mem::take(&mut walk.least));
    drop(walk);
    Ok(EveryK { n_counted, start: first, largest, lattice })
}

impl EveryK {
    /// The largest k of the range that a node satisfies, if it satisfies any.
    pub fn largest(&self, node: usize) -> Option<u64> {
        Some(self.largest[node]).filter(|&k| k >= self.start).map(u64::from)
    }

    /// The best node for each k of the question, by a metric that needs levels and suppression alone.
    pub fn frontier(
        &self,
        question: &KRange<'_>,
        attributes: &Attributes,
        costs: &Costs,
        metric: &dyn Metric,
        progress: &Progress,
    ) -> Result<Vec<AtK>> {
        if metric.needs() == Needs::Groups {
            return Err(Error::input("the metric has no bound that the levels give")
                .with_hint("use loss, geometric-loss, precision, distortion or height"));
        }
        let bounds = Ranking::new(costs, metric).bounds(&self.lattice);
        let mut order: Vec<u32> = (0..self.lattice.n_nodes() as u32).collect();
        order.retain(|&node| self.largest[node as usize] >= self.start);
        let bound = |node: u32| bounds[node as usize];
        order.sort_by(|&a, &b| bound(a).total_cmp(&bound(b)).then(a.cmp(&b)));
        let n_holding = self.n_holding(*question.k.end());
        let mut sets = Sets { question, n_groups: 0, sets: HashMap::new() };
        let mut frontier = Vec::new();
        for k in question.k.clone() {
            let policy = question.policy(k)?;
            let problem = Problem { source: question.source, policy: &policy };
            let mut ranking = Ranking::new(costs, metric);
            let at = order.iter().map(|&node| node as usize);
            for node in at.filter(|&node| u64::from(self.largest[node]) >= k) {
                if ranking.is_beyond(bounds[node]) {
                    break;
                }
                if !ranking.can_win(bounds[node], || self.lattice.levels(node).collect()) {
                    continue;
                }
                progress.check()?;
                let levels = self.lattice.levels(node).collect();
                let set = sets.of(node, &self.lattice, &policy)?;
                ranking.offer(&Statistics::new(problem, attributes, levels, set)?);
            }
            let n_holding = n_holding[(k - u64::from(self.start)) as usize];
            frontier.push(AtK { k, n_holding, best: ranking.into_best(&self.lattice) });
        }
        Ok(frontier)
    }

    /// How many nodes hold, for each k.
    fn n_holding(&self, end: u64) -> Vec<u64> {
        let mut n_holding = vec![0; (end - u64::from(self.start)) as usize + 1];
        for &k in self.largest.iter().filter(|&&k| k >= self.start) {
            n_holding[(k - self.start) as usize] += 1;
        }
        // Who satisfies a larger k satisfies a smaller one.
        for at in (1..n_holding.len()).rev() {
            n_holding[at - 1] += n_holding[at];
        }
        n_holding
    }
}

/// The groups of nodes that more than one k asks about.
struct Sets<'a> {
    question: &'a KRange<'a>,
    n_groups: usize,
    sets: HashMap<usize, FrequencySet>,
}

impl Sets<'_> {
    fn of(&mut self, node: usize, lattice: &Lattice, policy: &Policy) -> Result<&FrequencySet> {
        if !self.sets.contains_key(&node) {
            let source = self.question.source;
            let set = counted(source, &lattice.grouping(node), &policy.demand(), Method::Auto)?;
            self.n_groups += set.n_groups();
            let most = match source.room() {
                Some(room) => room / 2 / (set.n_bytes() / (set.n_groups() as u64).max(1)).max(1),
                None => source.n_rows().max(MAX_KEPT),
            };
            if self.n_groups as u64 > most {
                self.sets.clear();
                self.n_groups = set.n_groups();
            }
            self.sets.insert(node, set);
        }
        Ok(&self.sets[&node])
    }
}

struct Walk<'a> {
    progress: &'a Progress,
    lattice: &'a Lattice,
    judge: Box<dyn NodeJudge + 'a>,
    range: RangeInclusive<u32>,
    /// The largest k of each node is at least this,
    least: Vec<u32>,
    /// and at most this.
    greatest: Vec<u32>,
    n_bits: Vec<u16>,
    n_counted: u64,
}

impl Walk<'_> {
    /// Is it open whether a node satisfies k?
    fn is_open(&self, node: usize, k: u32) -> bool {
        self.least[node] < k && k <= self.greatest[node]
    }

    /// Counts the groups of a node, and draws the conclusions. Returns its largest k.
    fn count(&mut self, node: usize) -> Result<u32> {
        self.progress.judged()?;
        self.n_counted += 1;
        let (start, end) = (*self.range.start(), *self.range.end());
        let found = self.judge.largest_k(&self.lattice.grouping(node), u64::from(end))?;
        let k = (found as u32).clamp(start - 1, end);
        debug_assert!(self.least[node] <= k && k <= self.greatest[node]);
        let (least, greatest) = (&mut self.least, &mut self.greatest);
        self.lattice.visit_above(node, |above| least[above] = least[above].max(k));
        self.lattice.visit_below(node, |below| greatest[below] = greatest[below].min(k));
        Ok(k)
    }

    /// Finds on one path where nodes begin to satisfy k; returns the bits of the first that does, 0 if none does.
    fn bisect(&mut self, k: u32) -> Result<u16> {
        let path = path_up(self.lattice, &self.n_bits);
        let border = first_holding(&path, |node| {
            Ok(if self.is_open(node, k) { self.count(node)? >= k } else { self.least[node] >= k })
        })?;
        Ok(path.get(border).map_or(0, |&node| self.n_bits[node]))
    }

    fn along_the_border(&mut self, start: usize, k: u32) -> Result<()> {
        let mut next = Some(start).filter(|&node| self.is_open(node, k));
        while let Some(node) = next {
            next = if self.count(node)? >= k {
                let below = self.lattice.specializations(node).filter(|&node| self.is_open(node, k));
                below.min_by_key(|&node| self.n_bits[node])
            } else {
                least_change_up(self.lattice, &self.n_bits, node, |node| self.is_open(node, k))
            };
        }
        Ok(())
    }
}
