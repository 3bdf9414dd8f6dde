//! Finds every node that holds by walking along the border between those that hold and those that fail.
//!
//! The least that any search must judge are the lowest nodes that hold and the highest that fail: all others lie above one of
//! the former or below one of the latter. So it pays to stay near them.
//!
//! 1. On one path from the bottom to the top, find by bisection where failing turns to holding; remember how many bits
//!    tell apart the groups there.
//! 2. Take an undecided node with about as many bits. If it holds, all above it hold; go on to an undecided node directly
//!    below. If it fails, all below it fail; go on to an undecided node directly above. In both cases to the one that
//!    changes the number of bits least.
//! 3. If there is none, begin anew at another undecided node, until there is none left.
//!
//! Bits guide the walk and nothing else: they may be far off without changing the answer. Nodes jump, so the judge should
//! be [`Snapshots`](crate::judge::JudgeKind::Snapshots).
//! Only run where [`Policy::pruning`](crate::privacy::Policy::pruning) is sound.
//!
//! Cost: about 1.2 checks for every node on the border (Adult, k = 5: 217 for 139 at no suppression, 2,569 for 2,120 at
//! 5 %); memory: two bits and two bytes a node.

use crate::algorithm::contract::{Algorithm, Traversal, best_of_all};
use crate::algorithm::{Run, Traversed};
use crate::error::Result;
use crate::frequency::KeyLayout;
use crate::judge::{Judge, Keep};
use crate::lattice::{Grid, Lattice, Marks};
use crate::registry::{Entry, Status};

pub(super) fn search(run: &Run<'_>) -> Result<Traversed> {
    run.progress.expect(run.lattice.n_nodes() as u64);
    let grid = Grid::new(run.lattice);
    let mut walk = Walk {
        run,
        undecided: grid.all(),
        holding: grid.none(),
        grid,
        n_bits: bits_of_all(run.problem.source.layout(), run.lattice),
        judge: run.judges.open(run.lattice, &[0], Keep::Nothing)?,
    };
    let n_bits = walk.bisect()?;
    for start in by_distance(&walk.n_bits, n_bits) {
        walk.along_the_border(start as usize)?;
    }
    let holding = walk.grid.node_set(run.lattice, &walk.holding);
    Ok(Traversed::in_one_iteration(run.lattice, holding, walk.judge.work()))
}

struct Walk<'a> {
    run: &'a Run<'a>,
    grid: Grid,
    undecided: Marks,
    holding: Marks,
    /// How many bits tell apart the groups of each node.
    n_bits: Vec<u16>,
    judge: Box<dyn Judge + 'a>,
}

impl Walk<'_> {
    fn is_undecided(&self, node: usize) -> bool {
        self.grid.contains(&self.undecided, node)
    }

    fn judge(&mut self, node: usize) -> Result<bool> {
        self.run.progress.judged()?;
        let holds = self.judge.judge(node)?;
        if holds {
            self.grid.insert_above(&mut self.holding, node);
            self.grid.remove_above(&mut self.undecided, node);
        } else {
            self.grid.remove_below(&mut self.undecided, node);
        }
        Ok(holds)
    }

    /// Finds the border on one path; returns the bits of the lowest node that holds there, 0 if none does.
    fn bisect(&mut self) -> Result<u16> {
        let path = path_up(self.run.lattice, &self.n_bits);
        let border = first_holding(&path, |node| self.judge(node))?;
        Ok(path.get(border).map_or(0, |&node| self.n_bits[node]))
    }

    fn along_the_border(&mut self, start: usize) -> Result<()> {
        let mut next = Some(start).filter(|&node| self.is_undecided(node));
        while let Some(node) = next {
            next = if self.judge(node)? {
                let below = self.run.lattice.specializations(node).filter(|&node| self.is_undecided(node));
                below.min_by_key(|&node| self.n_bits[node])
            } else {
                least_change_up(self.run.lattice, &self.n_bits, node, |node| self.is_undecided(node))
            };
        }
        Ok(())
    }
}

/// On a path upward, where the first node is that holds, given that all above it do; the path's length if none does.
pub(super) fn first_holding(path: &[usize], mut holds: impl FnMut(usize) -> Result<bool>) -> Result<usize> {
    let (mut low, mut high) = (0, path.len());
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(path[middle])? {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Ok(high)
}

/// From the bottom to the top, always by the step that changes the fewest bits.
pub(super) fn path_up(lattice: &Lattice, n_bits: &[u16]) -> Vec<usize> {
    std::iter::successors(Some(0), |&node| least_change_up(lattice, n_bits, node, |_| true)).collect()
}

/// Of the nodes right above one that are wanted, the one with the most bits.
pub(super) fn least_change_up(
    lattice: &Lattice,
    n_bits: &[u16],
    node: usize,
    is_wanted: impl Fn(usize) -> bool,
) -> Option<usize> {
    lattice.generalizations(node).filter(|&node| is_wanted(node)).max_by_key(|&node| n_bits[node])
}

/// How many bits tell apart the groups of each node.
pub(super) fn bits_of_all(layout: &KeyLayout, lattice: &Lattice) -> Vec<u16> {
    let bits = |attribute: usize, level: usize| layout.n_bits_of(attribute, level as u8) as u16;
    lattice.sums(0_u16, |position, level| bits(lattice.attributes()[position], level), |a, b| a + b)
}

/// All nodes, those first whose number of bits is nearest.
pub(super) fn by_distance(n_bits: &[u16], to: u16) -> Vec<u32> {
    let distance = |bits: u16| usize::from(bits.abs_diff(to));
    let most = n_bits.iter().map(|&bits| distance(bits)).max().unwrap_or(0);
    // Dealt out by distance: sorting would take longer than some searches.
    let mut next = vec![0; most + 2];
    for &bits in n_bits {
        next[distance(bits) + 1] += 1;
    }
    for at in 1..next.len() {
        next[at] += next[at - 1];
    }
    let mut order = vec![0; n_bits.len()];
    for (node, &bits) in n_bits.iter().enumerate() {
        let next = &mut next[distance(bits)];
        order[*next] = node as u32;
        *next += 1;
    }
    order
}

/// How it is listed and run.
pub(super) const ENTRY: Entry<Algorithm> = Entry {
    name: "cover",
    summary: "along the border between what holds and what fails; finds every node",
    reference: "own",
    doc: include_str!("cover.md"),
    status: Status::Preview,
    item: Algorithm::of_traversal(Traversal::Cover, |task| best_of_all(task, Traversal::Cover)),
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_come_nearest_first_and_in_order() {
        assert_eq!(by_distance(&[5, 3, 4, 9, 4], 4), [2, 4, 0, 1, 3]);
        assert_eq!(by_distance(&[], 4), [0_u32; 0]);
    }
}
