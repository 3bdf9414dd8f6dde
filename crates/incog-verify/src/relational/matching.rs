//! As many as possible of the ones to as many of the others, none used twice.
//!
//! Maximum bipartite matching by augmenting paths (Kuhn 1955, Munkres 1957; with capacities: Ford, Fulkerson 1956),
//! each a shortest one, found in breadth. Edges are asked for as the search gets to them. What a search in vain has
//! seen can reach no free place, then or later, and is not looked at again: all searches in vain together see every
//! edge once. No recursion, since a path may be as long as there are nodes.

/// Left nodes with what is to be assigned, right nodes with what can be taken.
pub(super) struct Matching {
    supply: Vec<u32>,
    capacity: Vec<u32>,
    /// For each right node, from which left nodes how much it has taken.
    inflow: Vec<Vec<(u32, u32)>>,
}

/// In which search a right node was seen last.
const IN_VAIN: u32 = u32::MAX;

impl Matching {
    pub(super) fn new(supply: Vec<u32>, capacity: Vec<u32>) -> Self {
        let inflow = vec![Vec::new(); capacity.len()];
        Matching { supply, capacity, inflow }
    }

    /// What is still to be assigned of a left node.
    pub(super) fn supply(&self, left: u32) -> u32 {
        self.supply[left as usize]
    }

    /// What can still be taken by a right node.
    pub(super) fn capacity(&self, right: u32) -> u32 {
        self.capacity[right as usize]
    }

    /// What could not be assigned so far.
    pub(super) fn left_over(&self) -> u64 {
        self.supply.iter().map(|&supply| u64::from(supply)).sum()
    }

    /// Assigns as much as a neighbour can take.
    pub(super) fn take(&mut self, left: u32, right: u32) {
        let amount = self.supply(left).min(self.capacity(right));
        if amount > 0 {
            self.supply[left as usize] -= amount;
            self.capacity[right as usize] -= amount;
            self.add(left, right, amount);
        }
    }

    fn add(&mut self, left: u32, right: u32, amount: u32) {
        let inflow = &mut self.inflow[right as usize];
        match inflow.iter_mut().find(|(other, _)| *other == left) {
            Some((_, so_far)) => *so_far += amount,
            None => inflow.push((left, amount)),
        }
    }

    fn remove(&mut self, left: u32, right: u32, amount: u32) {
        let inflow = &mut self.inflow[right as usize];
        if let Some(at) = inflow.iter().position(|(other, _)| *other == left) {
            inflow[at].1 = inflow[at].1.saturating_sub(amount);
            if inflow[at].1 == 0 {
                inflow.swap_remove(at);
            }
        }
    }

    /// Assigns as much as can be assigned at all. `edges` appends the right neighbours of a left node.
    pub(super) fn maximize<E>(
        &mut self,
        mut edges: impl FnMut(u32, &mut Vec<u32>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut search = AlternatingWalk {
            seen: vec![0; self.capacity.len()],
            reached_from: vec![0; self.capacity.len()],
            seen_left: vec![0; self.supply.len()],
            came_by: vec![0; self.supply.len()],
            round: 0,
        };
        for start in 0..self.supply.len() as u32 {
            while self.supply(start) > 0 {
                let Some(end) = search.find(self, start, &mut edges)? else {
                    break;
                };
                self.augment(&search, start, end);
            }
        }
        Ok(())
    }

    /// Sends as much along a path as all of its steps allow.
    fn augment(&mut self, search: &AlternatingWalk, start: u32, end: u32) {
        let mut steps = vec![(search.reached_from[end as usize], end)];
        let mut amount = self.supply(start).min(self.capacity(end));
        while let Some(&(left, _)) = steps.last().filter(|(left, _)| *left != start) {
            let right = search.came_by[left as usize];
            let taken = self.inflow[right as usize].iter().find(|(other, _)| *other == left);
            amount = amount.min(taken.map_or(0, |&(_, taken)| taken));
            steps.push((search.reached_from[right as usize], right));
        }
        for &(left, right) in &steps {
            self.add(left, right, amount);
            if left != start {
                self.remove(left, search.came_by[left as usize], amount);
            }
        }
        self.supply[start as usize] -= amount;
        self.capacity[end as usize] -= amount;
    }
}

/// A walk in breadth.
struct AlternatingWalk {
    /// In which round each right node was seen.
    seen: Vec<u32>,
    /// By which left node it was.
    reached_from: Vec<u32>,
    seen_left: Vec<u32>,
    /// From which right node a left node was reached, because it has taken some of it.
    came_by: Vec<u32>,
    round: u32,
}

impl AlternatingWalk {
    /// A right node with room that can be reached from a left one.
    fn find<E>(
        &mut self,
        matching: &Matching,
        start: u32,
        edges: &mut impl FnMut(u32, &mut Vec<u32>) -> Result<(), E>,
    ) -> Result<Option<u32>, E> {
        self.round += 1;
        let mut lefts = vec![start];
        let mut rights: Vec<u32> = Vec::new();
        let mut neighbours = Vec::new();
        self.seen_left[start as usize] = self.round;
        let mut at = 0;
        while let Some(&left) = lefts.get(at) {
            at += 1;
            neighbours.clear();
            edges(left, &mut neighbours)?;
            for &right in &neighbours {
                let seen = &mut self.seen[right as usize];
                if *seen == self.round || *seen == IN_VAIN {
                    continue;
                }
                *seen = self.round;
                self.reached_from[right as usize] = left;
                if matching.capacity(right) > 0 {
                    return Ok(Some(right));
                }
                rights.push(right);
                for &(next, _) in &matching.inflow[right as usize] {
                    let seen = &mut self.seen_left[next as usize];
                    if *seen != self.round {
                        *seen = self.round;
                        self.came_by[next as usize] = right;
                        lefts.push(next);
                    }
                }
            }
        }
        for right in rights {
            self.seen[right as usize] = IN_VAIN;
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use proptest::prelude::*;

    use super::*;

    /// The most that can be assigned, one unit after the other in all ways.
    fn most(units: &[u32], capacity: &mut [u32], edges: &[Vec<u32>]) -> u32 {
        let Some((&left, rest)) = units.split_first() else {
            return 0;
        };
        let mut best = most(rest, capacity, edges);
        for &right in &edges[left as usize] {
            if capacity[right as usize] > 0 {
                capacity[right as usize] -= 1;
                best = best.max(1 + most(rest, capacity, edges));
                capacity[right as usize] += 1;
            }
        }
        best
    }

    proptest! {
        #[test]
        fn as_much_is_assigned_as_by_trying_all_ways(
            supply in proptest::collection::vec(0..3_u32, 0..5),
            capacity in proptest::collection::vec(0..3_u32, 0..5),
            is_edge in proptest::collection::vec(any::<bool>(), 25),
            greedy in proptest::collection::vec((0..5_u32, 0..5_u32), 0..4),
        ) {
            let edges: Vec<Vec<u32>> = (0..supply.len())
                .map(|left| (0..capacity.len() as u32).filter(|&right| is_edge[5 * left + right as usize]).collect())
                .collect();
            let mut matching = Matching::new(supply.clone(), capacity.clone());
            for (left, right) in greedy {
                if edges.get(left as usize).is_some_and(|edges| edges.contains(&right)) {
                    matching.take(left, right);
                }
            }
            let list = |left: u32, found: &mut Vec<u32>| -> Result<(), Infallible> {
                found.extend(&edges[left as usize]);
                Ok(())
            };
            matching.maximize(list).unwrap();
            let units: Vec<u32> = (0..supply.len() as u32).flat_map(|left| vec![left; supply[left as usize] as usize]).collect();
            let expected = units.len() as u64 - u64::from(most(&units, &mut capacity.clone(), &edges));
            prop_assert_eq!(matching.left_over(), expected);
            for (right, inflow) in matching.inflow.iter().enumerate() {
                let taken: u32 = inflow.iter().map(|&(_, amount)| amount).sum();
                prop_assert_eq!(taken + matching.capacity[right], capacity[right]);
                prop_assert!(inflow.iter().all(|&(left, _)| edges[left as usize].contains(&(right as u32))));
            }
        }
    }
}
