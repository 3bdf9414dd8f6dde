//! Disjoint intervals or labels for each attribute by itself (Bayardo, Agrawal: Data privacy through optimal k-anonymization, ICDE
//! 2005).
//!
//! *Promise*: in each attribute two records with the same value have the same interval, intervals are disjoint and leave
//! nothing out, and the policy admits every group that is released. [`Quality::Optimal`]: no such recoding costs less.
//!
//! A recoding is a set of *cuts*. In an attribute with an order each is between two neighbouring slots of an attribute that have values, in the middle of
//! the empty slots between them. (Elsewhere in there it could cost less, and would tell which slots are empty: *optimal* is
//! among cuts in the middle.) In an attribute without one, whose values are leaves of a hierarchy in the order of its labels, a cut specializes a
//! label: it divides the leaves of each child from those of the next, and so does it for all labels above. Whatever cuts are made, every part has
//! the leaves of one label: a full-subtree recoding (Iyengar, KDD 2002). No cut at all is everything in one group, or what stands
//! under each label at the top.
//!
//! 1. *Greedy*: make the cut that lowers the cost most, then the next one, until none is left that the policy allows; once from no cut, and
//!    once from a stricter recoding, if there is one ([`OrderedSetOptions::start`]).
//! 2. *Enumeration*: every set of cuts once, as a tree. A node has a *head* (cuts made) and a *tail* (cuts that may still
//!    be made below it); its children move one cut of the tail to the head and keep the cuts after that one.
//! 3. *Useless cuts*: a cut that makes the policy refuse the head stays refused with more cuts made, and leaves the tail.
//! 4. *Bound*: with all cuts of the tail made at once, no record can come to stand in a smaller group or in a narrower
//!    interval. If that costs no less than the best recoding so far, all below the node is skipped. A group is never
//!    smaller than the least that the policy admits.
//! 5. *Reordering*: cuts of the tail that cost least come last, where they are in most tails; so bounds rise early.
//!
//! With [`CutMethod::Genetic`] steps 2 to 5 are a genetic search ([`breed`]), for more cuts than can be enumerated.
//!
//! Differs from the paper: (1) any policy that is closed under merging; (2) any cost that cuts never raise, loss and
//! discernibility here; (3) it starts from the greedy answers and not from nothing; (4) the limit is a number of nodes, or a time; (5)
//! attributes with hierarchies take part.
//! Sound (3) because more cuts only divide groups, and if all parts of a group are admitted, so is the group; with
//! suppression, under absorbing policies, because the records in refused groups only become more.
//!
//! A missing value is an interval of its own, or (if that is refused) the whole attribute becomes `*`; both are tried for
//! each attribute that has missing values.
//!
//! Suppression: groups that the policy refuses are left out, within the budget, if the policy is absorbing; none under
//! others. A record that is left out costs as much as the metrics say: 1 a cell in loss, all records in discernibility.
//!
//! Cost: a node costs a pass over the cells for each cut of its tail and each attribute. The number of nodes is exponential
//! in that of cuts at worst. Memory: some numbers a cell.

mod breed;
mod splits;

use crate::algorithm::contract::Setting;
use crate::algorithm::contract::{Algorithm, Answer, Claimed, ColumnNeeds, Family, Overlap, Task};
use crate::algorithm::mondrian::Gain;
use crate::algorithm::mondrian::of_boxes;
use crate::algorithm::positions::{Positions, checked_weights, least_admitted};
use crate::algorithm::quality::{Found, Limits, Quality};
use crate::algorithm::single::genetic::Random;
use crate::algorithm::single::{FullSubtreeOptions, full_subtree};
use crate::error::{Error, ErrorKind, Result};
use crate::group::Measures;
use crate::hierarchy::Attributes;
use crate::judge::Problem;
use crate::privacy::{Closure, Policy};
use crate::progress::Progress;
use crate::recoding::{Domain, Domains, PerBox, PerValue, Side};
use crate::registry::{Entry, Status};
use splits::Splits;

/// How better cuts than the greedy ones are looked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CutMethod {
    /// One set after the other, as a tree with bounds: the best is known at its end.
    #[default]
    Enumerate,
    /// At random, from the greedy set on: the best is never known.
    Genetic {
        /// Where chance starts.
        seed: u64,
    },
}

/// How to search.
#[derive(Debug, Clone)]
pub struct OrderedSetOptions {
    /// The order of each attribute's values; attributes without one are recoded by their hierarchies.
    pub domains: Domains,
    /// What is to be least.
    pub cost: Gain,
    /// What the loss of each attribute counts; all alike where empty.
    pub weights: Vec<f64>,
    /// A recoding of each value by its hierarchy, such as [`full_subtree`](crate::algorithm::single::full_subtree)'s, to begin with: where no attribute
    /// has an order, and no two labels are spelled alike, the answer costs no more than it.
    pub start: Option<PerValue>,
    /// How better cuts than the greedy ones are looked for.
    pub method: CutMethod,
    /// Steps are nodes (sets of cuts) looked at after the greedy search; 1 is as good as none. Time counts after the greedy search only.
    pub limits: Limits,
}

/// Nodes that are looked at unless the caller sets another limit.
const MAX_NODES: u64 = 1_000;

/// Attributes with missing values beyond this number are not tried both ways: their missing values stay intervals.
const MOST_OPEN: usize = 10;

/// Finds intervals for each attribute.
///
/// `None` if the policy refuses more rows than its budget even where everything is in one group. An attribute without an order is
/// recoded by its hierarchy. Fails when the policy is not closed under merging, when the source has counts only, or when it is cancelled.
pub fn ordered_set(
    problem: Problem<'_>,
    attributes: &Attributes,
    options: OrderedSetOptions,
    progress: &Progress,
) -> Result<Option<Found<PerBox>>> {
    let OrderedSetOptions { domains, cost, weights, start, method, limits } = options;
    if limits.max_steps == Some(0) {
        return Err(Error::input("a limit of 0 nodes leaves nothing to look at")
            .with_hint("1 gives what the greedy search finds; mondrian needs no limit"));
    }
    let weights = checked_weights(&weights, attributes.len())?;
    let Positions { axes, mut cells } = Positions::new(problem, attributes, &domains, "ordered-set")?;
    let n_axes = axes.len();
    let labels = std::mem::take(&mut cells.labels);
    let columns: Vec<Vec<u32>> =
        (0..n_axes).map(|at| labels.iter().skip(at).step_by(n_axes).copied().collect()).collect();
    drop(labels);
    let n_rows: u64 = cells.rows.iter().map(|&rows| u64::from(rows)).sum();
    let rows: Vec<u64> = cells.rows.iter().map(|&rows| rows.into()).collect();
    let measures = if problem.policy.demand().is_rows_only() {
        Measures::of_rows(rows.clone())
    } else {
        let of_records = |codes: &Vec<u32>| -> Vec<u32> {
            cells.of_record.iter().map(|&cell| codes[cell as usize]).collect()
        };
        let persons = cells.persons.as_ref().map(of_records);
        let sensitive: Vec<Vec<u32>> = cells.sensitive.iter().map(of_records).collect();
        let positions = problem.policy.demand().histograms;
        let sensitive = positions.iter().copied().zip(sensitive.iter().map(Vec::as_slice));
        Measures::of_assignment(rows.clone(), &cells.of_record, persons.as_deref(), sensitive, [])
    };
    let absorbs = problem.policy.closure() == Closure::Absorbing;
    let missing: Vec<u32> = axes.iter().map(|axis| axis.missing().unwrap_or(u32::MAX)).collect();
    let n_positions: Vec<u32> = axes.iter().map(super::positions::Axis::n_positions).collect();
    // What a record costs in an attribute, by the first and last position between two cuts. A side reaches over the slots
    // without values beside it, up to the middle, so this is that of the side and not of the values.
    let width = |at: usize, start: u32, end: u32| {
        let side = axes[at].covering_side(start, end);
        let domain = domains[at].as_deref();
        let n_leaves = domain.map_or_else(|| attributes[at].hierarchy().n_leaves(), Domain::n_leaves);
        let others = n_leaves.saturating_sub(1);
        let leaves = side.leaves(&attributes[at], domain);
        if others == 0 { 0.0 } else { (leaves - 1) as f64 / others as f64 }
    };
    let splits: Vec<Option<Splits>> = axes.iter().map(|axis| axis.labels().map(Splits::of)).collect();
    let mut search = CutSearch {
        splits: &splits,
        columns: &columns,
        rows: &rows,
        measures: &measures,
        policy: problem.policy,
        budget: if absorbs { problem.policy.budget() } else { 0 },
        least: least_admitted(problem.policy, n_rows)?,
        n_rows,
        cost,
        weights: &weights,
        width: &width,
        n_positions: &n_positions,
        best: None,
        nodes_left: limits.steps(MAX_NODES),
        limits,
        is_complete: true,
        progress,
    };
    let open: Vec<usize> =
        (0..n_axes).filter(|&at| n_positions[at] > missing[at] && missing[at] > 0).collect();
    let n_tried = open.len().min(MOST_OPEN);
    // Leaving rows out within the budget might be better, and is not tried under such a policy.
    let may_suppress = absorbs || problem.policy.budget() == 0;
    search.is_complete = open.len() <= MOST_OPEN && may_suppress && method == CutMethod::Enumerate;
    let mut random = match method {
        CutMethod::Enumerate => None,
        CutMethod::Genetic { seed } => Some(Random::new(seed)),
    };
    if let Some(start) = start {
        if start.n_attributes() != n_axes {
            return Err(Error::new(ErrorKind::Internal, "a recoding is of other attributes"));
        }
        let cuts: Cuts =
            axes.iter().enumerate().map(|(at, axis)| axis.cuts_of_levels(start.levels(at))).collect();
        search.improve(cuts)?;
    }
    // Each attribute with missing values as `*` or not. Not comes first.
    let n_ways = 1_u64 << n_tried;
    for closed in 0..n_ways {
        let is_closed = |at: usize| {
            open.iter()
                .position(|&other| other == at)
                .is_some_and(|bit| bit < n_tried && closed >> bit & 1 == 1)
        };
        let mut head: Vec<Vec<u32>> = vec![Vec::new(); n_axes];
        let mut tail = Vec::new();
        for at in (0..n_axes).filter(|&at| !is_closed(at)) {
            if let Some(splits) = &splits[at] {
                head[at].clone_from(&splits.tops);
                tail.extend((0..splits.below.len() as u32).map(|label| (at, label)));
                continue;
            }
            if open.contains(&at) {
                head[at].push(missing[at]);
            }
            let in_order = missing[at].min(n_positions[at]);
            tail.extend((1..in_order).map(|position| (at, position)));
        }
        search.run(&head, tail, random.as_mut().map(|random| (random, n_ways - closed)))?;
    }
    let CutSearch { best, is_complete, .. } = search;
    let Some(best) = best else { return Ok(None) };

    // The boxes are the groups of cells.
    let groups = group(&columns, &best.cuts);
    let n_groups = groups.iter().max().map_or(0, |&most| most as usize + 1);
    let mut sides = vec![Side::Everything; n_groups * n_axes];
    for (cell, &number) in groups.iter().enumerate() {
        for (at, axis) in axes.iter().enumerate() {
            let (start, end) = between(&best.cuts[at], columns[at][cell], n_positions[at]);
            sides[number as usize * n_axes + at] = axis.covering_side(start, end);
        }
    }
    let of_record = cells.of_record.iter().map(|&cell| {
        let number = groups[cell as usize];
        (!best.refused[number as usize]).then_some(number)
    });
    let recoding = PerBox::new(domains.clone(), sides, of_record)?;
    let quality = if is_complete { Quality::Optimal } else { Quality::Heuristic };
    Ok(Some(Found { recoding, quality }))
}

/// The best recoding so far.
struct Best {
    cost: f64,
    /// For each attribute the positions before which is a cut, ascending.
    cuts: Vec<Vec<u32>>,
    /// Which groups are left out.
    refused: Vec<bool>,
}

/// What a set of cuts costs.
struct Judged {
    cost: f64,
    refused: Vec<bool>,
    refused_rows: u64,
}

struct CutSearch<'a> {
    /// What a cut is in attributes with hierarchies.
    splits: &'a [Option<Splits>],
    /// The position of each cell, attribute by attribute.
    columns: &'a [Vec<u32>],
    rows: &'a [u64],
    /// Of each cell.
    measures: &'a Measures,
    policy: &'a Policy,
    budget: u64,
    /// A group of fewer rows is refused.
    least: u64,
    n_rows: u64,
    cost: Gain,
    weights: &'a [f64],
    /// The loss of the side between two cuts of an attribute.
    width: &'a dyn Fn(usize, u32, u32) -> f64,
    n_positions: &'a [u32],
    best: Option<Best>,
    nodes_left: u64,
    limits: Limits,
    is_complete: bool,
    progress: &'a Progress,
}

type Cuts = Vec<Vec<u32>>;

impl CutSearch<'_> {
    /// All sets of cuts with these and some of the tail; at random, if chance is given, with how many such searches share the nodes that are left.
    fn run(
        &mut self,
        head: &Cuts,
        tail: Vec<(usize, u32)>,
        chance: Option<(&mut Random, u64)>,
    ) -> Result<()> {
        let Some(judged) = self.judge(head)? else { return Ok(()) };
        self.offer(head, judged);
        let start = self.greedy(head.clone(), tail.clone())?;
        let Some((random, n_ways)) = chance else {
            return self.enumerate(head, tail);
        };
        // The first of them is the greedy set again.
        let share = (self.nodes_left / n_ways).max(1);
        self.nodes_left = self.nodes_left.saturating_sub(share);
        breed::breed(self, random, (head, &tail), &start, share)
    }

    /// Begins with these cuts, and cuts where it gains most.
    fn improve(&mut self, cuts: Cuts) -> Result<()> {
        let Some(judged) = self.judge(&cuts)? else { return Ok(()) };
        self.offer(&cuts, judged);
        let cuts_at = |at: usize| match &self.splits[at] {
            Some(splits) => 0..splits.below.len() as u32,
            None => 1..self.n_positions[at],
        };
        let tail = (0..cuts.len()).flat_map(|at| cuts_at(at).map(move |cut| (at, cut))).collect();
        self.greedy(cuts, tail).map(|_| ())
    }

    /// Cuts where it gains most, and tells where it ended.
    fn greedy(&mut self, mut head: Cuts, mut tail: Vec<(usize, u32)>) -> Result<Cuts> {
        loop {
            self.progress.check()?;
            let mut best: Option<(f64, (usize, u32))> = None;
            let mut useful = Vec::with_capacity(tail.len());
            for cut in tail {
                let more = self.with(&head, cut);
                if more == head {
                    continue;
                }
                let Some(judged) = self.judge(&more)? else { continue };
                useful.push(cut);
                if best.is_none_or(|(cost, _)| judged.cost < cost) {
                    best = Some((judged.cost, cut));
                }
            }
            let Some((_, cut)) = best else { return Ok(head) };
            head = self.with(&head, cut);
            useful.retain(|&other| other != cut);
            tail = useful;
            if let Some(judged) = self.judge(&head)? {
                self.offer(&head, judged);
            }
        }
    }

    /// The nodes below a head that is known to hold.
    fn enumerate(&mut self, head: &Cuts, tail: Vec<(usize, u32)>) -> Result<()> {
        // Not recursive: a branch may be as long as there are cuts.
        let mut waiting = vec![(head.clone(), tail)];
        while let Some((head, tail)) = waiting.pop() {
            self.progress.check()?;
            if self.nodes_left == 0 || self.limits.is_time_up() {
                self.is_complete = false;
                return Ok(());
            }
            self.nodes_left -= 1;
            if self.bound(&head, &tail)? >= self.best_cost() {
                continue;
            }
            let mut useful: Vec<(f64, (usize, u32))> = Vec::with_capacity(tail.len());
            for cut in tail {
                let more = self.with(&head, cut);
                // Made already, by one below it.
                if more == head {
                    continue;
                }
                if let Some(judged) = self.judge(&more)? {
                    useful.push((judged.cost, cut));
                    self.offer(&more, judged);
                }
            }
            // Those that cost least come last, and are in the most tails.
            useful.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            // Without what turned out useless, all below may be too dear.
            let tail: Vec<(usize, u32)> = useful.into_iter().map(|(_, cut)| cut).collect();
            if self.bound(&head, &tail)? >= self.best_cost() {
                continue;
            }
            for (at, &cut) in tail.iter().enumerate() {
                if at + 1 < tail.len() {
                    waiting.push((self.with(&head, cut), tail[at + 1..].to_vec()));
                }
            }
        }
        Ok(())
    }

    fn best_cost(&self) -> f64 {
        // Costs are sums of fractions: what differs by less than this is equal.
        self.best.as_ref().map_or(f64::INFINITY, |best| best.cost - 1e-12 * best.cost.abs())
    }

    fn offer(&mut self, cuts: &Cuts, judged: Judged) {
        if judged.cost < self.best_cost() {
            self.best = Some(Best { cost: judged.cost, cuts: cuts.clone(), refused: judged.refused });
        }
    }

    /// What a set of cuts costs; `None` if the policy refuses it.
    fn judge(&self, cuts: &Cuts) -> Result<Option<Judged>> {
        let judged = self.weigh(cuts)?;
        Ok((judged.refused_rows <= self.budget).then_some(judged))
    }

    /// The same, with how many records the policy refuses. What it refuses has no cost.
    fn weigh(&self, cuts: &Cuts) -> Result<Judged> {
        self.progress.spend(self.rows.len() as u64)?;
        let groups = group(self.columns, cuts);
        let judged = self.refused(&groups)?;
        if judged.refused_rows > self.budget {
            return Ok(judged);
        }
        let cost = self.cost_of(cuts, &groups, &judged, None);
        Ok(Judged { cost, ..judged })
    }

    /// The cuts and one more.
    fn with(&self, cuts: &Cuts, (at, cut): (usize, u32)) -> Cuts {
        let mut cuts = cuts.clone();
        match &self.splits[at] {
            None => cuts[at].push(cut),
            Some(splits) => cuts[at].extend_from_slice(&splits.below[cut as usize]),
        }
        cuts[at].sort_unstable();
        cuts[at].dedup();
        cuts
    }

    /// At least what every set of cuts costs that has those of the head and some of the tail.
    fn bound(&self, head: &Cuts, tail: &[(usize, u32)]) -> Result<f64> {
        let groups = group(self.columns, head);
        let judged = self.refused(&groups)?;
        let mut all = head.clone();
        for &(at, cut) in tail {
            match &self.splits[at] {
                None => all[at].push(cut),
                Some(splits) => all[at].extend_from_slice(&splits.below[cut as usize]),
            }
        }
        for cuts in &mut all {
            cuts.sort_unstable();
            cuts.dedup();
        }
        Ok(self.cost_of(&all, &group(self.columns, &all), &judged, Some(&groups)))
    }

    /// Which groups the policy refuses.
    fn refused(&self, groups: &[u32]) -> Result<Judged> {
        let sizes = self.sizes(groups);
        let merged;
        let measures = if self.policy.demand().is_rows_only() {
            &Measures::of_rows(sizes)
        } else {
            merged = self.measures.merge(sizes, groups);
            &merged
        };
        let mut judged =
            Judged { cost: 0.0, refused: Vec::with_capacity(measures.n_groups()), refused_rows: 0 };
        for group in measures.groups() {
            let is_refused = !self.policy.admits(group)?;
            judged.refused_rows += if is_refused { group.rows() } else { 0 };
            judged.refused.push(is_refused);
        }
        Ok(judged)
    }

    fn sizes(&self, groups: &[u32]) -> Vec<u64> {
        let mut sizes = vec![0; groups.iter().max().map_or(0, |&most| most as usize + 1)];
        for (&group, &rows) in groups.iter().zip(self.rows) {
            sizes[group as usize] += rows;
        }
        sizes
    }

    /// The cost of some cuts. What is refused is told for `of_refused`, if that is another grouping.
    fn cost_of(&self, cuts: &Cuts, groups: &[u32], judged: &Judged, of_refused: Option<&[u32]>) -> f64 {
        let is_refused = |cell: usize| judged.refused[of_refused.unwrap_or(groups)[cell] as usize];
        match self.cost {
            Gain::Discernibility => {
                let sizes = self.sizes(groups);
                let cell_cost = |cell: usize| {
                    let alike = if is_refused(cell) {
                        self.n_rows
                    } else {
                        sizes[groups[cell] as usize].max(self.least)
                    };
                    u128::from(alike) * u128::from(self.rows[cell])
                };
                (0..groups.len()).map(cell_cost).sum::<u128>() as f64
            }
            Gain::Loss => {
                let mut cost = 0.0;
                for (at, positions) in self.columns.iter().enumerate() {
                    let mut rows_at = vec![0_u64; self.n_positions[at] as usize];
                    for (cell, &position) in positions.iter().enumerate() {
                        if !is_refused(cell) {
                            rows_at[position as usize] += self.rows[cell];
                        }
                    }
                    let ends = cuts[at].iter().copied().chain([self.n_positions[at]]);
                    let mut start = 0;
                    let mut sum = judged.refused_rows as f64;
                    for end in ends {
                        let rows: u64 = rows_at[start as usize..end as usize].iter().sum();
                        if rows > 0 {
                            sum += (self.width)(at, start, end) * rows as f64;
                        }
                        start = end;
                    }
                    cost += self.weights[at] * sum;
                }
                cost
            }
        }
    }
}

/// The positions between the cuts around a position.
fn between(cuts: &[u32], position: u32, n_positions: u32) -> (u32, u32) {
    let at = cuts.partition_point(|&cut| cut <= position);
    (if at == 0 { 0 } else { cuts[at - 1] }, cuts.get(at).copied().unwrap_or(n_positions))
}

/// The group of each cell: equal where no cut is between them, numbered without gaps.
fn group(columns: &[Vec<u32>], cuts: &Cuts) -> Vec<u32> {
    let n_cells = columns.first().map_or(0, Vec::len);
    let mut groups = vec![0_u32; n_cells];
    let mut n_groups = usize::from(n_cells > 0);
    for (positions, cuts) in columns.iter().zip(cuts).filter(|(_, cuts)| !cuts.is_empty()) {
        let n_intervals = cuts.len() + 1;
        let most = positions.iter().max().map_or(0, |&most| most as usize + 1);
        let interval: Vec<u32> =
            (0..most as u32).map(|position| cuts.partition_point(|&cut| cut <= position) as u32).collect();
        let mut new = vec![u32::MAX; n_groups * n_intervals];
        n_groups = 0;
        for (group, &position) in groups.iter_mut().zip(positions) {
            let number = &mut new[*group as usize * n_intervals + interval[position as usize] as usize];
            if *number == u32::MAX {
                *number = n_groups as u32;
                n_groups += 1;
            }
            *group = *number;
        }
    }
    groups
}

/// How it is listed and run.
pub(super) const ENTRY: Entry<Algorithm> = Entry {
    name: "ordered-set",
    summary: "disjoint intervals or labels for each attribute; optimal within a limit of nodes",
    reference: "Bayardo, Agrawal: Data privacy through optimal k-anonymization, ICDE 2005",
    doc: include_str!("ordered_set.md"),
    status: Status::Preview,
    item: Algorithm {
        family: Family::Boxes,
        columns: ColumnNeeds::Nothing,
        settings: &[Setting::CutMethod, Setting::Seed, Setting::TimeLimit, Setting::MaxSteps],
        claim: |_| Claimed::Boxes(Overlap::DisjointLabels),
        traversal: None,
        run,
    },
};

fn run(task: &Task<'_>) -> Result<Option<Answer>> {
    // Otherwise it is refused below, and nothing need be searched.
    let is_possible =
        task.problem.policy.closure() != Closure::None && task.problem.source.records().is_some();
    let start = if is_possible && task.attributes.heights().iter().any(|&height| height > 1) {
        full_subtree(task.problem, task.attributes, FullSubtreeOptions::new(task.aim), task.progress)?
    } else {
        None
    };
    let options = OrderedSetOptions {
        start: start.map(|found| found.recoding),
        domains: task.domains.clone(),
        cost: Gain::of_metric(task.metric),
        weights: task.aim.costs.weights.clone(),
        method: task.settings.cut_method,
        limits: task.settings.limits,
    };
    let found = ordered_set(task.problem, task.attributes, options, task.progress)?;
    Ok(found.map(|found| of_boxes(task, found)))
}
