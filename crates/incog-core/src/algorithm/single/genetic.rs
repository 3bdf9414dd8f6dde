//! A genetic search of the lattice, for lattices that are too large to classify (after Iyengar, KDD 2002, who searched
//! full-subtree recodings so; here the levels of nodes).
//!
//! *Promise*: the node returned holds. The same seed gives the same node, whatever the number of threads, unless there is a
//! deadline. It is the best by the metric of all nodes that were judged, the earlier of equal ones.
//!
//! 1. The first generation: the top, Datafly's node, and nodes at random.
//! 2. A node that holds is better than one that does not; of two that hold, by the metric; of two that do not, the one with
//!    fewer refused rows.
//! 3. A child has each level from one of two parents, each the better of two drawn at random; then some levels move by one.
//!    Nodes that were judged before are not judged again. The better half of parents and children survive.
//! 4. In the end, with the last quarter of the evaluations, or of the time: from the best node go to the best of its neighbours (one level
//!    down in an attribute, or down in one and up in another) as long as that is better.
//!
//! Never looks at the lattice as a whole: 10¹³ nodes are no more to it than a thousand. Cost: a scan for each evaluation,
//! several at a time; memory: a number for each node judged.

use std::cmp::Ordering;
use std::time::Instant;

use rayon::prelude::*;

use crate::algorithm::contract::Setting;
use crate::algorithm::contract::{Algorithm, Answer, Claimed, ColumnNeeds, Family, Task};
use crate::algorithm::quality::{Found, Quality, is_past};
use crate::algorithm::single::{Aim, DataflyOptions, datafly};
use crate::error::Result;
use crate::hash;
use crate::hierarchy::Attributes;
use crate::judge::Problem;
use crate::lattice::Grouping;
use crate::metric::Statistics;
use crate::progress::Progress;
use crate::registry::{Entry, Status};

/// Nodes that are judged unless the caller sets another limit.
pub(super) const MAX_EVALUATIONS: u64 = 2_000;

/// Neighbours that are judged between two looks at the clock.
const BATCH: usize = 64;

/// How to search.
#[derive(Debug, Clone, Copy)]
pub struct GeneticOptions<'a> {
    /// What is better.
    pub aim: Aim<'a>,
    /// Where randomness comes from.
    pub seed: u64,
    /// How many nodes are judged at most; at least one is.
    pub max_evaluations: u64,
    /// When to come to an end.
    pub deadline: Option<Instant>,
    /// How many nodes a generation has; at least two.
    pub population: usize,
}

impl<'a> GeneticOptions<'a> {
    /// Seed 0, 2,000 evaluations, 40 nodes a generation.
    pub fn new(aim: Aim<'a>) -> Self {
        GeneticOptions { aim, seed: 0, max_evaluations: MAX_EVALUATIONS, deadline: None, population: 40 }
    }
}

/// Finds a node that holds, at random. `None` if no node that was judged holds.
pub fn genetic(
    problem: Problem<'_>,
    attributes: &Attributes,
    options: GeneticOptions<'_>,
    progress: &Progress,
) -> Result<Option<Found<Vec<u8>>>> {
    let heights = attributes.heights();
    let end_of_generations = options.deadline.map(|deadline| {
        let now = Instant::now();
        now + deadline.saturating_duration_since(now).mul_f64(0.75)
    });
    let mut search = Genetic {
        problem,
        attributes,
        options,
        progress,
        random: Random(options.seed),
        evaluations_left: options.max_evaluations.max(1),
        seen: hash::Set::default(),
    };
    let size = options.population.max(2);
    let mut first = vec![heights.clone()];
    if options.max_evaluations > 1 {
        first.extend(
            datafly(problem, attributes, DataflyOptions::default(), progress)?.map(|found| found.recoding),
        );
    }
    while first.len() < size {
        first.push(heights.iter().map(|&height| search.random.up_to(height)).collect());
    }
    let mut population = search.judge(first)?;
    search.survive(&mut population, size);
    let for_the_end = options.max_evaluations / 4;
    let mut idle = 0;
    // Small lattices are soon exhausted: then children have all been seen.
    while search.evaluations_left > for_the_end && idle < 20 && !is_past(end_of_generations) {
        progress.check()?;
        let children: Vec<Vec<u8>> = (0..size).map(|_| search.child(&population, &heights)).collect();
        let room = search.evaluations_left - for_the_end;
        let children = search.judge_at_most(children, room)?;
        idle = if children.is_empty() { idle + 1 } else { 0 };
        population.extend(children);
        search.survive(&mut population, size);
    }
    let best = search.descend(population.swap_remove(0), &heights)?;
    Ok(best.statistics.map(|_| Found { recoding: best.levels, quality: Quality::Heuristic }))
}

/// A node that was judged.
#[derive(Debug, Clone)]
struct Judged {
    levels: Vec<u8>,
    refused_rows: u64,
    /// What metrics need, if it holds.
    statistics: Option<Statistics>,
}

struct Genetic<'a> {
    problem: Problem<'a>,
    attributes: &'a Attributes,
    options: GeneticOptions<'a>,
    progress: &'a Progress,
    random: Random,
    evaluations_left: u64,
    seen: hash::Set<Vec<u8>>,
}

impl Genetic<'_> {
    /// Judges those that were not judged before, as long as evaluations are left.
    fn judge(&mut self, nodes: Vec<Vec<u8>>) -> Result<Vec<Judged>> {
        self.judge_at_most(nodes, u64::MAX)
    }

    fn judge_at_most(&mut self, mut nodes: Vec<Vec<u8>>, room: u64) -> Result<Vec<Judged>> {
        let seen = &mut self.seen;
        let mut room = room.min(self.evaluations_left);
        nodes.retain(|node| {
            let is_new = room > 0 && seen.insert(node.clone());
            room -= u64::from(is_new);
            is_new
        });
        self.evaluations_left -= nodes.len() as u64;
        let policy = self.problem.policy;
        let judge = |levels: Vec<u8>| {
            self.progress.judged()?;
            let set = self.problem.count(&Grouping::of_levels(&levels))?;
            let judgement = policy.judge(&set)?;
            let statistics = judgement
                .holds
                .then(|| Statistics::new(self.problem, self.attributes, levels.clone(), &set))
                .transpose()?;
            Ok(Judged { levels, refused_rows: judgement.refused_rows, statistics })
        };
        nodes.into_par_iter().map(judge).collect()
    }

    /// `Less` if the first is better.
    fn compare(&self, a: &Judged, b: &Judged) -> Ordering {
        match (&a.statistics, &b.statistics) {
            (Some(a), Some(b)) => self.options.aim.compare(a, b),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => a.refused_rows.cmp(&b.refused_rows),
        }
    }

    /// Keeps the best, best first; of equal ones those that were there before.
    fn survive(&self, population: &mut Vec<Judged>, size: usize) {
        population.sort_by(|a, b| self.compare(a, b));
        population.truncate(size);
    }

    fn child(&mut self, population: &[Judged], heights: &[u8]) -> Vec<u8> {
        // The population is sorted: of two, the earlier is the better.
        let mut parent = || {
            let at = self.random.below(population.len()).min(self.random.below(population.len()));
            &population[at].levels
        };
        let (one, other) = (parent(), parent());
        let mut child: Vec<u8> = (0..heights.len())
            .map(|at| if self.random.below(2) == 0 { one[at] } else { other[at] })
            .collect();
        let n_moves = 1 + self.random.below(2);
        for _ in 0..n_moves {
            let at = self.random.below(heights.len());
            child[at] = match self.random.below(3) {
                0 => child[at].saturating_add(1).min(heights[at]),
                _ => child[at].saturating_sub(1),
            };
        }
        child
    }

    /// From a node to better neighbours.
    fn descend(&mut self, mut best: Judged, heights: &[u8]) -> Result<Judged> {
        loop {
            let mut neighbours = Vec::new();
            for down in (0..heights.len()).filter(|&at| best.levels[at] > 0) {
                let mut lower = best.levels.clone();
                lower[down] -= 1;
                for up in (0..heights.len()).filter(|&at| at != down && best.levels[at] < heights[at]) {
                    let mut other = lower.clone();
                    other[up] += 1;
                    neighbours.push(other);
                }
                neighbours.push(lower);
            }
            // Single steps first: there are fewer, and evaluations may run out.
            let height = |levels: &Vec<u8>| levels.iter().map(|&level| u64::from(level)).sum::<u64>();
            neighbours.sort_by_key(height);
            let mut next: Option<Judged> = None;
            let mut is_time_up = false;
            for batch in neighbours.chunks(BATCH) {
                is_time_up = is_past(self.options.deadline);
                if is_time_up {
                    break;
                }
                let judged = next.into_iter().chain(self.judge(batch.to_vec())?);
                next = judged
                    .reduce(|best, other| if self.compare(&other, &best).is_lt() { other } else { best });
            }
            match next {
                Some(next) if self.compare(&next, &best).is_lt() => best = next,
                _ => return Ok(best),
            }
            if is_time_up {
                return Ok(best);
            }
        }
    }
}

/// Numbers that look random and follow from the seed (SplitMix64: Steele, Lea, Flood, OOPSLA 2014).
#[derive(Debug, Clone, Copy)]
pub(in crate::algorithm) struct Random(u64);

impl Random {
    pub(in crate::algorithm) fn new(seed: u64) -> Self {
        Random(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `n`, which is small.
    pub(in crate::algorithm) fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    fn up_to(&mut self, height: u8) -> u8 {
        self.below(usize::from(height) + 1) as u8
    }
}

/// How it is listed and run.
pub(in crate::algorithm) const ENTRY: Entry<Algorithm> = Entry {
    name: "genetic",
    summary: "full-domain, at random: for lattices too large to classify",
    reference: "Iyengar: Transforming data to satisfy privacy constraints, KDD 2002",
    doc: include_str!("genetic.md"),
    status: Status::Preview,
    item: Algorithm {
        family: Family::SingleDimension,
        columns: ColumnNeeds::Nothing,
        settings: &[Setting::Seed, Setting::TimeLimit, Setting::MaxSteps],
        claim: |_| Claimed::Levels,
        traversal: None,
        run,
    },
};

fn run(task: &Task<'_>) -> Result<Option<Answer>> {
    let limits = task.settings.limits;
    let options = GeneticOptions {
        seed: task.settings.seed.unwrap_or(0),
        max_evaluations: limits.steps(MAX_EVALUATIONS),
        deadline: limits.deadline,
        ..GeneticOptions::new(task.aim)
    };
    let found = genetic(task.problem, task.attributes, options, task.progress)?;
    found.map(|found| Answer::of_levels(task, found)).transpose()
}
