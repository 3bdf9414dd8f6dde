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

use std::hash::{BuildHasher, Hasher};

use hashbrown::HashTable;

use crate::algorithm::Aim;
use crate::algorithm::contract::{Algorithm, Answer, Claimed, ColumnNeeds, Family, Task};
use crate::algorithm::full_subgraph::{best_node, boxes};
use crate::algorithm::groups::Regions;
use crate::algorithm::quality::Found;
use crate::algorithm::vectors::{Ground, Ladder, Measured, Sums, check, check_limit};
use crate::error::Result;
use crate::group::ChangingGroup;
use crate::hash::{self, State};
use crate::hierarchy::Attributes;
use crate::judge::Problem;
use crate::progress::Progress;
use crate::recoding::PerGroup;
use crate::registry::{Entry, Status};

/// How to search.
#[derive(Debug, Clone, Copy)]
pub struct UnrestrictedMultiOptions<'a> {
    /// What makes a move a good one.
    pub aim: Aim<'a>,
    /// The most rounds of moves; `None` for no limit.
    pub max_rounds: Option<u64>,
}

/// Recodes every value vector to itself or a generalization.
///
/// `None` where [`full_subgraph`](super::full_subgraph()) finds nothing. Fails when the policy is not closed under merging,
/// when the source has counts only, or when it is cancelled.
pub fn unrestricted_multi(
    problem: Problem<'_>,
    attributes: &Attributes,
    options: UnrestrictedMultiOptions<'_>,
    progress: &Progress,
) -> Result<Option<Found<PerGroup>>> {
    let max_rounds = check_limit("unrestricted-multi", options.max_rounds)?;
    check(problem, "unrestricted-multi")?;
    let node = best_node(problem, attributes, options.aim, progress)?;
    let ground = Ground::new(problem, attributes, options.aim, Ladder::All, "unrestricted-multi")?;
    let Some(regions) = regions(&ground, node.as_deref(), max_rounds, progress)? else { return Ok(None) };
    ground.found(&regions).map(Some)
}

/// The groups of the answer. `node` is a full-domain generalization to start from, too.
pub(super) fn regions(
    ground: &Ground<'_>,
    node: Option<&[u8]>,
    max_rounds: u64,
    progress: &Progress,
) -> Result<Option<Regions>> {
    let Some(boxes) = boxes(ground, node, u64::MAX, progress)? else { return Ok(None) };
    let n_vectors = ground.n_vectors() as usize;
    let mut search = RegroupingSearch {
        ground,
        progress,
        groups: Vec::new(),
        by_image: HashTable::new(),
        state: State::default(),
        patterns: Vec::new(),
        by_steps: hash::Map::default(),
        n_born: 0,
        looked_at: vec![0; n_vectors],
        group_of: vec![NOWHERE; n_vectors],
        neighbours: vec![(NOWHERE, NOWHERE); n_vectors],
        sums: Sums::new(ground),
    };
    search.sums.suppressed = ground.n_rows();
    for (steps, vectors) in boxes.iter() {
        let pattern = search.pattern(steps);
        for &vector in vectors {
            search.put(vector, pattern);
        }
    }
    drop(boxes);
    let mut n_rounds = 0;
    while n_rounds < max_rounds && search.round()? {
        n_rounds += 1;
    }
    let mut regions = Regions::new(ground.trees.len());
    for group in search.groups.iter().filter(|group| group.n_vectors > 0) {
        regions.push(search.steps(group), search.vectors(group));
    }
    Ok(Some(regions))
}

const NOWHERE: u32 = u32::MAX;

/// A few vectors that were left behind may find a place each; many would be a search of their own.
const MAX_RELOCATED: usize = 16;

/// The vectors of one image; none where all have left.
struct Group {
    /// Its steps.
    pattern: u32,
    /// A vector that is or was here: its labels at the steps are the image.
    example: u32,
    /// The ends of the list of vectors; see [`RegroupingSearch::neighbours`].
    first: u32,
    last: u32,
    n_vectors: u32,
    /// Has it changed since splits of it were tried?
    is_new: bool,
    measured: Measured,
}

struct RegroupingSearch<'a, 'b> {
    ground: &'a Ground<'b>,
    progress: &'a Progress,
    groups: Vec<Group>,
    /// The group of each image; steps and labels are looked up.
    by_image: HashTable<u32>,
    /// What images hash by.
    state: State,
    /// Which steps some vectors have or had.
    patterns: Vec<Pattern>,
    by_steps: hash::Map<Box<[u8]>, u32>,
    /// How many groups have come into being.
    n_born: u64,
    /// For each vector, how many had when a place for it was last looked for in vain: older ones need no second look.
    looked_at: Vec<u64>,
    /// The group of each vector; [`NOWHERE`] if it is left out.
    group_of: Vec<u32>,
    /// The vectors before and after each in its group: lists in two numbers a vector, whatever the groups are.
    neighbours: Vec<(u32, u32)>,
    sums: Sums,
}

/// Steps, and what is known of the groups that have them.
struct Pattern {
    steps: Box<[u8]>,
    n_vectors: u32,
    /// Which number the latest of them had when it came into being.
    born: u64,
}

/// Where a vector was: the pattern of its group.
type Before = (u32, Option<u32>);

impl RegroupingSearch<'_, '_> {
    fn steps(&self, group: &Group) -> &[u8] {
        &self.patterns[group.pattern as usize].steps
    }

    /// The number of steps.
    fn pattern(&mut self, steps: &[u8]) -> u32 {
        if let Some(&number) = self.by_steps.get(steps) {
            return number;
        }
        let number = self.patterns.len() as u32;
        self.patterns.push(Pattern { steps: steps.into(), n_vectors: 0, born: 0 });
        self.by_steps.insert(steps.into(), number);
        number
    }

    /// The vectors of a group.
    fn vectors(&self, group: &Group) -> impl Iterator<Item = u32> {
        let some = |vector: u32| (vector != NOWHERE).then_some(vector);
        std::iter::successors(some(group.first), move |&vector| some(self.neighbours[vector as usize].1))
    }

    /// Connects two neighbours in a group; either may be its end.
    fn connect(&mut self, number: u32, before: u32, after: u32) {
        match number_or_none(before) {
            Some(before) => self.neighbours[before].1 = after,
            None => self.groups[number as usize].first = after,
        }
        match number_or_none(after) {
            Some(after) => self.neighbours[after].0 = before,
            None => self.groups[number as usize].last = before,
        }
    }

    /// Takes a vector out of the list of its group; the last takes its place.
    fn take_out(&mut self, number: u32, vector: u32) {
        let last = self.groups[number as usize].last;
        let (before_last, _) = self.neighbours[last as usize];
        self.connect(number, before_last, NOWHERE);
        if last != vector {
            let (before, after) = self.neighbours[vector as usize];
            self.connect(number, before, last);
            self.connect(number, last, after);
        }
        self.groups[number as usize].n_vectors -= 1;
    }

    /// Takes a vector out of its group.
    fn take(&mut self, vector: u32) -> Before {
        let number = std::mem::replace(&mut self.group_of[vector as usize], NOWHERE);
        if number == NOWHERE {
            return (vector, None);
        }
        let ground = self.ground;
        self.take_out(number, vector);
        let group = &mut self.groups[number as usize];
        let pattern = &mut self.patterns[group.pattern as usize];
        let leaves = ground.leaves_of_vector(vector);
        let rows = group.measured.rows();
        self.sums.remove(ground, &pattern.steps, leaves, rows);
        group.is_new = true;
        for &cell in ground.cells_of(vector) {
            group.measured.remove_rows(ground.facts(cell), u64::from(ground.cells.rows[cell as usize]));
        }
        if group.n_vectors > 0 {
            // All of the group have the same labels.
            self.sums.add(ground, &pattern.steps, leaves, group.measured.rows());
        }
        self.sums.suppressed += rows - group.measured.rows();
        pattern.n_vectors -= 1;
        if pattern.n_vectors == 0 {
            pattern.born = 0;
        }
        (vector, Some(group.pattern))
    }

    /// Puts a vector, which is nowhere, into the group of its image.
    fn put(&mut self, vector: u32, pattern: u32) {
        debug_assert_eq!(self.group_of[vector as usize], NOWHERE);
        let ground = self.ground;
        let number = self.image(pattern, vector).unwrap_or_else(|| self.add_group(pattern, vector));
        let last = self.groups[number as usize].last;
        self.connect(number, last, vector);
        self.connect(number, vector, NOWHERE);
        let group = &mut self.groups[number as usize];
        let steps = &self.patterns[pattern as usize].steps;
        let leaves = ground.leaves_of_vector(vector);
        let rows = group.measured.rows();
        if rows > 0 {
            self.sums.remove(ground, steps, leaves, rows);
        }
        for &cell in ground.cells_of(vector) {
            group.measured.add_rows(ground.facts(cell), u64::from(ground.cells.rows[cell as usize]));
        }
        group.n_vectors += 1;
        group.is_new = true;
        self.sums.add(ground, steps, leaves, group.measured.rows());
        self.sums.suppressed -= group.measured.rows() - rows;
        self.group_of[vector as usize] = number;
        let pattern = &mut self.patterns[pattern as usize];
        pattern.n_vectors += 1;
        if rows == 0 {
            self.n_born += 1;
            pattern.born = self.n_born;
        }
    }

    fn hash(&self, pattern: u32, vector: u32) -> u64 {
        let leaves = self.ground.leaves_of_vector(vector);
        let columns = self.ground.trees.iter().zip(&self.patterns[pattern as usize].steps).zip(leaves);
        let mut hasher = self.state.build_hasher();
        hasher.write_u32(pattern);
        columns.for_each(|((tree, &step), &leaf)| hasher.write_u32(tree.label(step, leaf)));
        hasher.finish()
    }

    /// The group of the image of a vector, whether or not it has vectors now.
    fn image(&self, pattern: u32, vector: u32) -> Option<u32> {
        let leaves = self.ground.leaves_of_vector(vector);
        let is_same = |number: &u32| {
            let group = &self.groups[*number as usize];
            let theirs = self.ground.leaves_of_vector(group.example);
            let columns = self.ground.trees.iter().zip(self.steps(group)).zip(leaves.iter().zip(theirs));
            group.pattern == pattern
                && columns
                    .into_iter()
                    .all(|((tree, &step), (&a, &b))| tree.label(step, a) == tree.label(step, b))
        };
        self.by_image.find(self.hash(pattern, vector), is_same).copied()
    }

    /// A new group for the image of a vector.
    fn add_group(&mut self, pattern: u32, vector: u32) -> u32 {
        let number = self.groups.len() as u32;
        self.groups.push(Group {
            pattern,
            example: vector,
            first: NOWHERE,
            last: NOWHERE,
            n_vectors: 0,
            is_new: true,
            measured: self.ground.unmeasured(),
        });
        let mut by_image = std::mem::take(&mut self.by_image);
        by_image.insert_unique(self.hash(pattern, vector), number, |&other| {
            let group = &self.groups[other as usize];
            self.hash(group.pattern, group.example)
        });
        self.by_image = by_image;
        number
    }

    /// Undoes moves, the last first.
    fn undo(&mut self, moves: Vec<Before>) {
        for (vector, before) in moves.into_iter().rev() {
            self.take(vector);
            if let Some(pattern) = before {
                self.put(vector, pattern);
            }
        }
    }

    fn is_admitted(&self, number: u32) -> Result<bool> {
        number_or_none(number).map_or(Ok(true), |at| self.ground.admits_changing(&self.groups[at].measured))
    }

    /// Tries every move once. Was one made?
    fn round(&mut self) -> Result<bool> {
        let mut was_better = false;
        for number in 0..self.groups.len() as u32 {
            self.progress.check()?;
            while self.groups[number as usize].is_new {
                was_better |= self.split_off(number)?;
            }
        }
        for vector in 0..self.ground.n_vectors() {
            // A few places are tried for each.
            self.progress.spend(16)?;
            was_better |= self.move_one(vector)?;
        }
        Ok(was_better)
    }

    /// The first split of a group that is an improvement, those that concern most rows first.
    fn split_off(&mut self, number: u32) -> Result<bool> {
        let ground = self.ground;
        let group = &self.groups[number as usize];
        let n_vectors = group.n_vectors as usize;
        self.progress.spend((n_vectors * ground.trees.len()) as u64)?;
        let steps: Box<[u8]> = self.steps(group).into();
        let mut splits: Vec<(u64, usize, Vec<u32>)> = Vec::new();
        for (at, tree) in ground.trees.iter().enumerate() {
            let Some(step) = steps[at].checked_sub(1) else { continue };
            let mut sorted: Vec<(u32, u32)> = self
                .vectors(group)
                .map(|vector| (tree.label(step, ground.leaves_of_vector(vector)[at]), vector))
                .collect();
            sorted.sort_unstable();
            for child in sorted.chunk_by(|a, b| a.0 == b.0) {
                let vectors: Vec<u32> = child.iter().map(|&(_, vector)| vector).collect();
                splits.push((ground.rows_of_all(&vectors), at, vectors));
            }
        }
        splits.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)).then_with(|| a.2.cmp(&b.2)));
        let mut scratch = ground.no_rows();
        for (_, at, vectors) in splits {
            let mut lower = steps.clone();
            lower[at] -= 1;
            let lower = self.pattern(&lower);
            if self.existing(lower, vectors[0]).is_none()
                && !ground.admits(vectors.iter().copied(), &mut scratch)?
            {
                continue;
            }
            if n_vectors - vectors.len() > MAX_RELOCATED && !self.can_spare(number, &vectors, &mut scratch)? {
                continue;
            }
            if self.try_split(number, &vectors, lower)? {
                return Ok(true);
            }
        }
        self.groups[number as usize].is_new = false;
        Ok(false)
    }

    /// Is a group admitted without some of its vectors?
    fn can_spare(&self, number: u32, vectors: &[u32], scratch: &mut ChangingGroup) -> Result<bool> {
        let rest = self.vectors(&self.groups[number as usize]);
        // Sorted by the label that they share and by their numbers.
        self.ground.admits(rest.filter(|vector| vectors.binary_search(vector).is_err()), scratch)
    }

    /// The group that has vectors at the image of a vector.
    fn existing(&self, pattern: u32, vector: u32) -> Option<u32> {
        self.image(pattern, vector).filter(|&number| self.groups[number as usize].n_vectors > 0)
    }

    fn try_split(&mut self, number: u32, vectors: &[u32], lower: u32) -> Result<bool> {
        let before = self.sums.clone();
        let mut moves = Vec::new();
        for &vector in vectors {
            moves.push(self.take(vector));
            self.put(vector, lower);
        }
        let mut is_possible = self.is_admitted(self.group_of[vectors[0] as usize])?;
        if is_possible && !self.is_admitted(number)? {
            let group = &self.groups[number as usize];
            let steps = group.pattern;
            is_possible = group.n_vectors as usize <= MAX_RELOCATED;
            let rest: Vec<u32> = if is_possible { self.vectors(group).collect() } else { Vec::new() };
            let ground = self.ground;
            let rows = |vector: u32| ground.rows_of(vector) as f64;
            // What the split gains; those left behind may not cost more.
            let mut gain: f64 = vectors
                .iter()
                .map(|&vector| rows(vector) * (self.cost(vector, steps) - self.cost(vector, lower)))
                .sum();
            for vector in rest {
                if !is_possible {
                    break;
                }
                let cost = self.cost(vector, steps);
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
        for (cost, pattern) in self.places(vector, limit) {
            let Some(number) = self.existing(pattern, vector).filter(|&number| number != not) else {
                continue;
            };
            self.put(vector, pattern);
            if self.is_admitted(number)? {
                return Ok(Some(cost));
            }
            self.take(vector);
        }
        Ok(None)
    }

    /// Steps that some group has and that cost a row of the vector less than `limit`, cheapest first.
    fn places(&self, vector: u32, limit: f64) -> Vec<(f64, u32)> {
        let mut places: Vec<(f64, u32)> = (0_u32..)
            .zip(&self.patterns)
            .filter(|(_, pattern)| pattern.born > self.looked_at[vector as usize])
            .map(|(number, _)| (self.cost(vector, number), number))
            .filter(|&(cost, _)| cost < limit)
            .collect();
        let steps = |number: u32| &self.patterns[number as usize].steps;
        places.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then_with(|| steps(a.1).cmp(steps(b.1))));
        places
    }

    fn cost(&self, vector: u32, pattern: u32) -> f64 {
        let leaves = self.ground.leaves_of_vector(vector);
        let columns = self.ground.trees.iter().zip(&self.patterns[pattern as usize].steps).zip(leaves);
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
                let group = &self.groups[at];
                if self.steps(group).iter().all(|&step| step == 0) {
                    return Ok(false);
                }
                self.cost(vector, group.pattern)
            }
        };
        let mut scratch = ground.no_rows();
        let itself = self.pattern(&vec![0; ground.trees.len()]);
        let mut places = Vec::new();
        if ground.admits([vector], &mut scratch)? {
            places.push((0.0, itself));
        }
        places.extend(self.places(vector, limit));
        let before = self.sums.clone();
        for (at, (_, pattern)) in places.into_iter().enumerate() {
            let is_itself = at == 0 && pattern == itself;
            if !is_itself && self.existing(pattern, vector).is_none() {
                continue;
            }
            let taken = self.take(vector);
            self.put(vector, pattern);
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

/// How it is listed and run.
pub(super) const ENTRY: Entry<Algorithm> = Entry {
    name: "unrestricted-multi",
    summary: "each combination of values becomes itself or any generalization",
    reference: "LeFevre, DeWitt, Ramakrishnan, SIGMOD 2005, section 5.1.3",
    doc: include_str!("unrestricted_multi.md"),
    status: Status::Preview,
    item: Algorithm {
        family: Family::MultiDimension,
        columns: ColumnNeeds::SomeHierarchy,
        settings: &[],
        claim: |_| Claimed::Local,
        traversal: None,
        run,
    },
};

fn run(task: &Task<'_>) -> Result<Option<Answer>> {
    let options = UnrestrictedMultiOptions { aim: task.aim, max_rounds: None };
    let found = unrestricted_multi(task.problem, task.attributes, options, task.progress)?;
    Ok(found.map(Answer::of_groups))
}
