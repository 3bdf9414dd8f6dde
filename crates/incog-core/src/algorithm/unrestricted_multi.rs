//! Unrestricted multi-dimension recoding (LeFevre, DeWitt, Ramakrishnan, SIGMOD 2005, section 5.1.3): local search from the
//! full-subgraph answer.
//!
//! *Promise*: the answer is a function of value vectors: equal vectors have equal images, each itself or any of its
//! generalizations. The policy admits every group, at most as many rows as its budget are left out, and the answer is never
//! worse than the [full-subgraph](super::full_subgraph()) answer it starts from.
//!
//! Moves, tried round by round until none of them makes the recoding better (groups that have not changed since are not
//! split again):
//!
//! 1. *Split off*: the vectors of a group that share a label one level down, in one attribute, go down there (to the group
//!    that has that image already, if there is one). If the policy refuses what is left behind, each of those vectors goes to
//!    the cheapest group whose image is above it, if they all can.
//! 2. *Move*: a vector goes to the cheapest image above it that a group has, if its own group can spare it. A vector that
//!    is left out goes back in the same way.
//! 3. *Stand alone*: a vector that the policy admits alone goes to itself, if its group can spare it.
//!
//! Differs from the paper, which defines the model and gives no algorithm. Sound because every move leaves groups that the
//! policy admits; it ends because each makes the recoding better by the metric.
//!
//! Limits: that neighbours of a vector are published as they are while it is not tells something about it (the paper's
//! footnote 3); the entry's text says so.
//!
//! Cost of a round: the vectors of a group once for each attribute; for each vector a look at each combination of levels
//! that some group has. Memory: some numbers a vector and the measures of every group.

use rustc_hash::FxHashMap;

use crate::algorithm::Aim;
use crate::algorithm::found::{Found, Quality};
use crate::algorithm::full_subgraph::{Region, boxes};
use crate::algorithm::vectors::{Ground, Ladder, RowGroup, Sums, check_limit};
use crate::check::Problem;
use crate::error::Result;
use crate::group::ChangingGroup;
use crate::hierarchy::Attributes;
use crate::recoding::PerGroup;
use crate::watch::Watch;

/// How to search.
#[derive(Debug, Clone, Copy)]
pub struct UnrestrictedMultiOptions<'a> {
    /// What makes a move a good one.
    pub aim: Aim<'a>,
    /// At most so many rounds of moves; no limit without.
    pub max_rounds: Option<u64>,
}

/// Recodes every value vector to itself or a generalization.
///
/// `None` where [`full_subgraph`](super::full_subgraph()) finds nothing. Fails when the policy is not closed under merging,
/// when the source has counts only, or when the watch is cancelled.
pub fn unrestricted_multi(
    problem: Problem<'_>,
    attributes: &Attributes,
    options: UnrestrictedMultiOptions<'_>,
    watch: &Watch,
) -> Result<Option<Found<PerGroup>>> {
    let ground = Ground::new(problem, attributes, options.aim, Ladder::All, "unrestricted-multi")?;
    let max_rounds = check_limit("unrestricted-multi", options.max_rounds)?;
    let Some(regions) = regions(&ground, problem, attributes, max_rounds, watch)? else { return Ok(None) };
    let groups: Vec<RowGroup> =
        regions.iter().map(|region| ground.whole(&region.steps, &region.vectors)).collect();
    let quality = if ground.is_untouched(&groups) { Quality::Optimal } else { Quality::Heuristic };
    Ok(Some(Found { recoding: ground.recoding(&groups)?, quality }))
}

/// The groups of the answer.
pub(super) fn regions(
    ground: &Ground<'_>,
    problem: Problem<'_>,
    attributes: &Attributes,
    max_rounds: u64,
    watch: &Watch,
) -> Result<Option<Vec<Region>>> {
    let Some(boxes) = boxes(ground, problem, attributes, u64::MAX, watch)? else { return Ok(None) };
    let mut search = Search {
        ground,
        watch,
        groups: Vec::new(),
        by_image: FxHashMap::default(),
        patterns: FxHashMap::default(),
        n_born: 0,
        looked_at: vec![0; ground.n_vectors() as usize],
        group_of: vec![NOWHERE; ground.n_vectors() as usize],
        place_of: vec![0; ground.n_vectors() as usize],
        sums: Sums::new(ground.trees.len()),
    };
    search.sums.suppressed = ground.n_rows();
    for region in &boxes {
        for &vector in &region.vectors {
            search.put(vector, &region.steps);
        }
    }
    let mut n_rounds = 0;
    while n_rounds < max_rounds && search.round()? {
        n_rounds += 1;
    }
    let groups = search.groups.into_iter().filter(|group| !group.vectors.is_empty());
    Ok(Some(groups.map(|Group { steps, vectors, .. }| Region { steps, vectors }).collect()))
}

const NOWHERE: u32 = u32::MAX;

/// A few vectors that were left behind may find a place each; many would be a search of their own.
const MAX_RELOCATED: usize = 16;

/// The vectors of one image; none where all have left.
struct Group {
    steps: Box<[u8]>,
    vectors: Vec<u32>,
    measured: ChangingGroup,
    /// Has it changed since splits of it were tried?
    is_new: bool,
}

struct Search<'a, 'b> {
    ground: &'a Ground<'b>,
    watch: &'a Watch,
    groups: Vec<Group>,
    /// The group of each image, by steps and labels.
    by_image: FxHashMap<(Box<[u8]>, Vec<u32>), u32>,
    /// Which steps some vectors have.
    patterns: FxHashMap<Box<[u8]>, Pattern>,
    /// How many groups have come into being.
    n_born: u64,
    /// For each vector, how many had when a place for it was last looked for in vain: older ones need no second look.
    looked_at: Vec<u64>,
    /// The group of each vector; [`NOWHERE`] if it is left out.
    group_of: Vec<u32>,
    /// Where each vector stands in its group.
    place_of: Vec<u32>,
    sums: Sums,
}

/// What is known of the groups with the same steps.
#[derive(Default)]
struct Pattern {
    n_vectors: u32,
    /// Which number the latest of them had when it came into being.
    born: u64,
}

/// Where a vector was.
type Before = (u32, Option<Box<[u8]>>);

impl Search<'_, '_> {
    /// Takes a vector out of its group.
    fn take(&mut self, vector: u32) -> Before {
        let number = std::mem::replace(&mut self.group_of[vector as usize], NOWHERE);
        if number == NOWHERE {
            return (vector, None);
        }
        let ground = self.ground;
        let group = &mut self.groups[number as usize];
        let leaves = ground.leaves_of_vector(vector);
        let rows = group.measured.rows();
        self.sums.remove(ground, &group.steps, leaves, rows);
        let at = self.place_of[vector as usize] as usize;
        group.vectors.swap_remove(at);
        if let Some(&other) = group.vectors.get(at) {
            self.place_of[other as usize] = at as u32;
        }
        group.is_new = true;
        for &cell in ground.cells_of(vector) {
            group.measured.remove_rows(ground.facts(cell), u64::from(ground.cells.rows[cell as usize]));
        }
        if let Some(&other) = group.vectors.first() {
            let leaves = ground.leaves_of_vector(other);
            self.sums.add(ground, &group.steps, leaves, group.measured.rows());
        }
        self.sums.suppressed += rows - group.measured.rows();
        let steps = group.steps.clone();
        if let Some(pattern) = self.patterns.get_mut(&steps) {
            pattern.n_vectors -= 1;
            if pattern.n_vectors == 0 {
                self.patterns.remove(&steps);
            }
        }
        (vector, Some(steps))
    }

    /// Puts a vector, which is nowhere, into the group of its image.
    fn put(&mut self, vector: u32, steps: &[u8]) {
        debug_assert_eq!(self.group_of[vector as usize], NOWHERE);
        let ground = self.ground;
        let leaves = ground.leaves_of_vector(vector);
        let next = self.groups.len() as u32;
        let key = (Box::from(steps), ground.labels(leaves, steps));
        let number = *self.by_image.entry(key).or_insert(next);
        if number == next {
            self.groups.push(Group {
                steps: steps.into(),
                vectors: Vec::new(),
                measured: ground.no_rows(),
                is_new: true,
            });
        }
        let group = &mut self.groups[number as usize];
        let rows = group.measured.rows();
        if rows > 0 {
            self.sums.remove(ground, steps, leaves, rows);
        }
        for &cell in ground.cells_of(vector) {
            group.measured.add_rows(ground.facts(cell), u64::from(ground.cells.rows[cell as usize]));
        }
        self.place_of[vector as usize] = group.vectors.len() as u32;
        group.vectors.push(vector);
        group.is_new = true;
        self.sums.add(ground, steps, leaves, group.measured.rows());
        self.sums.suppressed -= group.measured.rows() - rows;
        self.group_of[vector as usize] = number;
        let pattern = self.patterns.entry(steps.into()).or_default();
        pattern.n_vectors += 1;
        if rows == 0 {
            self.n_born += 1;
            pattern.born = self.n_born;
        }
    }

    /// Undoes moves, the last first.
    fn undo(&mut self, moves: Vec<Before>) {
        for (vector, before) in moves.into_iter().rev() {
            self.take(vector);
            if let Some(steps) = before {
                self.put(vector, &steps);
            }
        }
    }

    fn is_admitted(&self, number: u32) -> Result<bool> {
        number_or_none(number).map_or(Ok(true), |at| self.ground.admits_measured(&self.groups[at].measured))
    }

    /// Tries every move once. Was one made?
    fn round(&mut self) -> Result<bool> {
        let mut was_better = false;
        for number in 0..self.groups.len() as u32 {
            self.watch.check()?;
            while self.groups[number as usize].is_new {
                was_better |= self.split_off(number)?;
            }
        }
        for vector in 0..self.ground.n_vectors() {
            if vector % 256 == 0 {
                self.watch.check()?;
            }
            was_better |= self.move_one(vector)?;
        }
        Ok(was_better)
    }

    /// The first split of a group that is an improvement, those that concern most rows first.
    fn split_off(&mut self, number: u32) -> Result<bool> {
        let ground = self.ground;
        let group = &self.groups[number as usize];
        let n_vectors = group.vectors.len();
        let mut splits: Vec<(u64, usize, Vec<u32>)> = Vec::new();
        for (at, tree) in ground.trees.iter().enumerate() {
            let Some(step) = group.steps[at].checked_sub(1) else { continue };
            let mut sorted: Vec<(u32, u32)> = group
                .vectors
                .iter()
                .map(|&vector| (tree.label(step, ground.leaves_of_vector(vector)[at]), vector))
                .collect();
            sorted.sort_unstable();
            for child in sorted.chunk_by(|a, b| a.0 == b.0) {
                let vectors: Vec<u32> = child.iter().map(|&(_, vector)| vector).collect();
                let rows = vectors.iter().map(|&vector| ground.rows_of_vector[vector as usize]).sum();
                splits.push((rows, at, vectors));
            }
        }
        splits.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)).then_with(|| a.2.cmp(&b.2)));
        let mut scratch = ground.no_rows();
        let steps = self.groups[number as usize].steps.clone();
        for (_, at, vectors) in splits {
            let mut lower = steps.clone();
            lower[at] -= 1;
            if self.existing(&lower, vectors[0]).is_none()
                && !ground.admits(vectors.iter().copied(), &mut scratch)?
            {
                continue;
            }
            if n_vectors - vectors.len() > MAX_RELOCATED && !self.can_spare(number, &vectors, &mut scratch)? {
                continue;
            }
            if self.try_split(number, &vectors, &lower)? {
                return Ok(true);
            }
        }
        self.groups[number as usize].is_new = false;
        Ok(false)
    }

    /// Is a group admitted without some of its vectors?
    fn can_spare(&self, number: u32, vectors: &[u32], scratch: &mut ChangingGroup) -> Result<bool> {
        let rest = self.groups[number as usize].vectors.iter().copied();
        // Sorted by the label that they share and by their numbers.
        self.ground.admits(rest.filter(|vector| vectors.binary_search(vector).is_err()), scratch)
    }

    /// The group that has vectors at the image of a vector.
    fn existing(&self, steps: &[u8], vector: u32) -> Option<u32> {
        let labels = self.ground.labels(self.ground.leaves_of_vector(vector), steps);
        let number = *self.by_image.get(&(Box::from(steps), labels))?;
        (!self.groups[number as usize].vectors.is_empty()).then_some(number)
    }

    fn try_split(&mut self, number: u32, vectors: &[u32], lower: &[u8]) -> Result<bool> {
        let before = self.sums.clone();
        let mut moves = Vec::new();
        for &vector in vectors {
            moves.push(self.take(vector));
            self.put(vector, lower);
        }
        let mut is_possible = self.is_admitted(self.group_of[vectors[0] as usize])?;
        if is_possible && !self.is_admitted(number)? {
            let rest = self.groups[number as usize].vectors.clone();
            let steps = self.groups[number as usize].steps.clone();
            let rows = |vector: u32| self.ground.rows_of_vector[vector as usize] as f64;
            // What the split gains; those left behind may not cost more.
            let mut gain: f64 = vectors
                .iter()
                .map(|&vector| rows(vector) * (self.cost(vector, &steps) - self.cost(vector, lower)))
                .sum();
            is_possible = rest.len() <= MAX_RELOCATED;
            for vector in rest {
                if !is_possible {
                    break;
                }
                let cost = self.cost(vector, &steps);
                let n_rows = rows(vector);
                moves.push(self.take(vector));
                let place = self.find_place(vector, number, cost + gain / n_rows)?;
                gain -= place.map_or(0.0, |place| n_rows * (place - cost));
                is_possible = place.is_some();
            }
        }
        if is_possible && self.ground.compare(&self.sums, &before).is_lt() {
            return Ok(true);
        }
        self.undo(moves);
        Ok(false)
    }

    /// Puts a vector that is nowhere into the cheapest group above it that stays admitted, other than `not`, if a row
    /// costs less than `limit` there. Returns what it costs.
    fn find_place(&mut self, vector: u32, not: u32, limit: f64) -> Result<Option<f64>> {
        self.looked_at[vector as usize] = 0;
        for (cost, steps) in self.places(vector, limit) {
            let Some(number) = self.existing(&steps, vector).filter(|&number| number != not) else {
                continue;
            };
            self.put(vector, &steps);
            if self.is_admitted(number)? {
                return Ok(Some(cost));
            }
            self.take(vector);
        }
        Ok(None)
    }

    /// Steps that some group has and that cost a row of the vector less than `limit`, cheapest first.
    fn places(&self, vector: u32, limit: f64) -> Vec<(f64, Box<[u8]>)> {
        let mut places: Vec<(f64, Box<[u8]>)> = self
            .patterns
            .iter()
            .filter(|(_, pattern)| pattern.born > self.looked_at[vector as usize])
            .map(|(steps, _)| (self.cost(vector, steps), steps))
            .filter(|&(cost, _)| cost < limit)
            .map(|(cost, steps)| (cost, steps.clone()))
            .collect();
        places.sort_by(|a, b| a.0.total_cmp(&b.0).then_with(|| a.1.cmp(&b.1)));
        places
    }

    fn cost(&self, vector: u32, steps: &[u8]) -> f64 {
        let leaves = self.ground.leaves_of_vector(vector);
        let columns = self.ground.trees.iter().zip(steps).zip(leaves);
        columns.map(|((tree, &step), &leaf)| tree.cost(step, leaf)).sum()
    }

    /// Moves a vector to a cheaper image, if that makes the recoding better.
    fn move_one(&mut self, vector: u32) -> Result<bool> {
        let ground = self.ground;
        let number = self.group_of[vector as usize];
        let limit = match number_or_none(number) {
            None => f64::INFINITY,
            Some(at) => {
                // Nothing to do for those that cannot be spared.
                let before = self.take(vector);
                let is_spared = self.is_admitted(number)?;
                self.undo(vec![before]);
                if !is_spared {
                    return Ok(false);
                }
                let steps = &self.groups[at].steps;
                if steps.iter().all(|&step| step == 0) {
                    return Ok(false);
                }
                self.cost(vector, steps)
            }
        };
        let mut scratch = ground.no_rows();
        let itself: Box<[u8]> = vec![0; ground.trees.len()].into();
        let mut places = Vec::new();
        if ground.admits([vector], &mut scratch)? {
            places.push((0.0, itself));
        }
        places.extend(self.places(vector, limit));
        let before = self.sums.clone();
        for (at, (_, steps)) in places.into_iter().enumerate() {
            let is_itself = at == 0 && steps.iter().all(|&step| step == 0);
            if !is_itself && self.existing(&steps, vector).is_none() {
                continue;
            }
            let taken = self.take(vector);
            self.put(vector, &steps);
            let is_admitted = self.is_admitted(self.group_of[vector as usize])?;
            if is_admitted && ground.compare(&self.sums, &before).is_lt() {
                return Ok(true);
            }
            self.undo(vec![taken]);
        }
        self.looked_at[vector as usize] = self.n_born;
        Ok(false)
    }
}

fn number_or_none(number: u32) -> Option<usize> {
    (number != NOWHERE).then_some(number as usize)
}
