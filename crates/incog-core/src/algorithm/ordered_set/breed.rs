//! A genetic search among sets of cuts (after Iyengar, KDD 2002, whose genes are cuts and labels of one recoding, as here).
//!
//! *Promise*: never worse than what the search has found before, since that is in the first generation and the best set of all stays. The
//! same seed finds the same set, unless there is a deadline.
//!
//! 1. A *gene* is a cut of the tail, on or off; in an attribute with a hierarchy it specializes a label. The first generation: no
//!    cut, the greedy set, and sets of cuts drawn at random, few and many.
//! 2. A set that the policy admits is better than one that it refuses; of two that it admits, the one that costs less; of two that it refuses, the
//!    one with fewer refused records.
//! 3. A child has each gene from one of two parents, each the better of two drawn at random; then one or two genes change. The better half of
//!    parents and children survive.
//! 4. With the last quarter of the sets that may be judged: from the best set to better neighbours (a cut more, or one instead of
//!    another), as long as there are any.
//!
//! Cost: a pass over the cells for each set that was not judged before. Memory: a number for each of these, a bit for each gene.

use crate::algorithm::ordered_set::{CutSearch, Cuts};
use crate::algorithm::single::genetic::Random;
use crate::error::Result;
use crate::hash;

/// Sets of a generation.
const POPULATION: usize = 40;

/// Generations without a new set before the search ends: few sets are left that nobody looked at.
const MOST_IDLE: usize = 20;

/// A set of cuts that was judged.
struct Individual {
    genes: Vec<bool>,
    /// Refused records beyond the budget, or none and what it costs.
    fitness: (u64, f64),
}

/// Sets of cuts with those of a head and some of a tail.
struct Breeding<'s, 'a> {
    search: &'s mut CutSearch<'a>,
    random: &'s mut Random,
    head: &'s Cuts,
    tail: &'s [(usize, u32)],
    seen: hash::Set<Vec<Vec<u32>>>,
    evaluations_left: u64,
}

/// Looks for better sets of cuts than `start`, and offers each to the search. Judges at most as many sets as it is told.
pub(super) fn breed(
    search: &mut CutSearch<'_>,
    random: &mut Random,
    (head, tail): (&Cuts, &[(usize, u32)]),
    start: &Cuts,
    evaluations: u64,
) -> Result<()> {
    if tail.is_empty() || evaluations == 0 {
        return Ok(());
    }
    // A gene of the greedy set is on if its cuts are in it already.
    let of_start = tail.iter().map(|&cut| search.with(start, cut) == *start).collect();
    let mut first = vec![of_start, vec![false; tail.len()]];
    while first.len() < POPULATION {
        let density = random.below(tail.len() + 1);
        first.push((0..tail.len()).map(|_| random.below(tail.len()) < density).collect());
    }
    let seen = hash::Set::default();
    let mut breeding = Breeding { search, random, head, tail, seen, evaluations_left: evaluations };
    let mut population = Vec::new();
    breeding.judge(first, 0, &mut population)?;
    let for_the_end = evaluations / 4;
    let mut idle = 0;
    while breeding.evaluations_left > for_the_end && idle < MOST_IDLE && !breeding.search.limits.is_time_up()
    {
        population.truncate(POPULATION);
        let children = (0..POPULATION).map(|_| breeding.child(&population)).collect();
        let n_judged = breeding.judge(children, for_the_end, &mut population)?;
        idle = if n_judged == 0 { idle + 1 } else { 0 };
    }
    breeding.climb(population.swap_remove(0))
}

impl Breeding<'_, '_> {
    /// Judges the sets that were not judged before, as long as more than `spared` evaluations are left, and adds them to a population, the
    /// best first; of equal ones those that were there before. Tells how many it judged.
    fn judge(&mut self, sets: Vec<Vec<bool>>, spared: u64, population: &mut Vec<Individual>) -> Result<u64> {
        let before = self.evaluations_left;
        for genes in sets {
            // The first of all is judged in any case.
            if self.evaluations_left <= spared && !population.is_empty() {
                break;
            }
            if let Some(fitness) = self.fitness(&genes)? {
                population.push(Individual { genes, fitness });
            }
        }
        population.sort_by(|a, b| compare(a.fitness, b.fitness));
        Ok(before - self.evaluations_left)
    }

    /// How good a set is; `None` if it was judged before.
    fn fitness(&mut self, genes: &[bool]) -> Result<Option<(u64, f64)>> {
        self.search.progress.check()?;
        let mut cuts = self.head.clone();
        for (&cut, _) in self.tail.iter().zip(genes).filter(|(_, is_on)| **is_on) {
            cuts = self.search.with(&cuts, cut);
        }
        if !self.seen.insert(cuts.clone()) {
            return Ok(None);
        }
        self.evaluations_left = self.evaluations_left.saturating_sub(1);
        let judged = self.search.weigh(&cuts)?;
        let fitness = (judged.refused_rows.saturating_sub(self.search.budget), judged.cost);
        if fitness.0 == 0 {
            self.search.offer(&cuts, judged);
        }
        Ok(Some(fitness))
    }

    fn child(&mut self, population: &[Individual]) -> Vec<bool> {
        // The population is sorted: of two, the earlier is the better.
        let mut parent = || {
            let at = self.random.below(population.len()).min(self.random.below(population.len()));
            &population[at].genes
        };
        let (one, other) = (parent(), parent());
        let mut child: Vec<bool> =
            one.iter().zip(other).map(|(&a, &b)| if self.random.below(2) == 0 { a } else { b }).collect();
        for _ in 0..1 + self.random.below(2) {
            let at = self.random.below(child.len());
            child[at] = !child[at];
        }
        child
    }

    /// From a set to better neighbours.
    fn climb(&mut self, mut best: Individual) -> Result<()> {
        while self.evaluations_left > 0 && !self.search.limits.is_time_up() {
            let off: Vec<usize> = (0..best.genes.len()).filter(|&at| !best.genes[at]).collect();
            let on: Vec<usize> = (0..best.genes.len()).filter(|&at| best.genes[at]).collect();
            // A cut more first: there are fewer of these, and evaluations may run out.
            let more = off.iter().map(|&add| (add, None));
            let instead = off.iter().flat_map(|&add| on.iter().map(move |&leave| (add, Some(leave))));
            let mut next: Option<Individual> = None;
            for (add, leave) in more.chain(instead) {
                if self.evaluations_left == 0 || self.search.limits.is_time_up() {
                    break;
                }
                let mut genes = best.genes.clone();
                genes[add] = true;
                if let Some(leave) = leave {
                    genes[leave] = false;
                }
                let Some(fitness) = self.fitness(&genes)? else { continue };
                if next.as_ref().is_none_or(|next| compare(fitness, next.fitness).is_lt()) {
                    next = Some(Individual { genes, fitness });
                }
            }
            match next {
                Some(next) if compare(next.fitness, best.fitness).is_lt() => best = next,
                _ => break,
            }
        }
        Ok(())
    }
}

/// `Less` if the first is better.
fn compare(a: (u64, f64), b: (u64, f64)) -> std::cmp::Ordering {
    // What a set costs that is refused says nothing.
    a.0.cmp(&b.0).then_with(|| if a.0 == 0 { a.1.total_cmp(&b.1) } else { std::cmp::Ordering::Equal })
}
