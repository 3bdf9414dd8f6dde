//! A forest of near neighbours, cut into trees of k to 3k − 3 records (Aggarwal et al., ICDT 2005).
//!
//! 1. *Forest*: every record is a tree. As long as a tree T has fewer than k records, take a record u of T that has no edge
//!    of its own yet (a tree has one edge less than records, so there is one) and connect it with the nearest record
//!    outside T. Fewer than k − 1 records of T can be nearer, so that one is among the k − 1 nearest of u.
//! 2. *Cut*: a tree of more than 3k − 3 records is cut at an edge both sides of which have at least k. If there is none,
//!    some record has only branches of fewer than k records: pack the branches, and that record, into parts of at
//!    least k. A part is closed as soon as it has k, so it has at most 2k − 2; the last, if it is too small, joins the one
//!    before it: at most 3k − 3.
//!
//! *Bound*. In the best solution, u has a `*` wherever it differs from k − 1 others that look like it in the end, so at least
//! as many (by weight) as its edge is long. So all edges together weigh at most the optimum. Records of a part differ only
//! where edges of its tree do (for packed branches with the edges to the record in the middle), so each has at most the
//! weight of these edges in `*`; parts share no edge and have at most 3k − 3 records. Hence 3k − 3 times the optimum.
//!
//! Differs from the paper: its finer packing reaches max(2k − 1, 3k − 5). Cost: n² distances; memory: n.

use super::Points;
use crate::error::Result;
use crate::hash;
use crate::progress::Progress;

pub(super) fn partition(points: &Points<'_>, k: usize, progress: &Progress) -> Result<Vec<Vec<u32>>> {
    let n = points.len();
    if k <= 1 {
        return Ok((0..n as u32).map(|record| vec![record]).collect());
    }
    let edges = forest(points, k, progress)?;
    let mut neighbours: Vec<Vec<u32>> = vec![Vec::new(); n];
    for &(a, b) in &edges {
        neighbours[a as usize].push(b);
        neighbours[b as usize].push(a);
    }
    let mut is_done = vec![false; n];
    let mut parts = Vec::new();
    for record in 0..n as u32 {
        if is_done[record as usize] {
            continue;
        }
        for part in cut(record, &mut neighbours, k) {
            part.iter().for_each(|&record| is_done[record as usize] = true);
            parts.push(part);
        }
    }
    Ok(parts)
}

/// Edges such that every tree has at least k records.
fn forest(points: &Points<'_>, k: usize, progress: &Progress) -> Result<Vec<(u32, u32)>> {
    let n = points.len();
    let mut tree_of: Vec<u32> = (0..n as u32).collect();
    let mut trees: Vec<Vec<u32>> = (0..n as u32).map(|record| vec![record]).collect();
    let mut has_edge = vec![false; n];
    let mut edges = Vec::new();
    let mut small: Vec<u32> = (0..n as u32).rev().collect();
    while let Some(tree) = small.pop() {
        if trees[tree as usize].is_empty() || trees[tree as usize].len() >= k {
            continue;
        }
        progress.check()?;
        let from = trees[tree as usize].iter().copied().find(|&record| !has_edge[record as usize]);
        let from = from.expect("a tree has fewer edges than records");
        let mut nearest: Option<(f64, u32)> = None;
        for to in (0..n as u32).filter(|&to| tree_of[to as usize] != tree) {
            let distance = points.distance(from as usize, to as usize);
            if nearest.is_none_or(|(least, _)| distance < least) {
                nearest = Some((distance, to));
            }
        }
        let Some((_, to)) = nearest else { break };
        has_edge[from as usize] = true;
        edges.push((from, to));
        let other = tree_of[to as usize];
        let moved = std::mem::take(&mut trees[tree as usize]);
        moved.iter().for_each(|&record| tree_of[record as usize] = other);
        trees[other as usize].extend(moved);
        small.push(other);
    }
    Ok(edges)
}

/// Cuts the tree of a record into parts.
fn cut(record: u32, neighbours: &mut [Vec<u32>], k: usize) -> Vec<Vec<u32>> {
    let mut parts = Vec::new();
    let mut waiting = vec![record];
    'trees: while let Some(record) = waiting.pop() {
        let order = walk(record, neighbours);
        let size = order.len();
        if size <= 3 * k - 3 {
            parts.push(order.into_iter().map(|(record, _)| record).collect());
            continue;
        }
        // The records below each, seen from the first.
        let mut below: hash::Map<u32, usize> = order.iter().map(|&(at, _)| (at, 1)).collect();
        for &(at, parent) in order.iter().rev() {
            let n = below[&at];
            if n >= k && size - n >= k && at != parent {
                neighbours[at as usize].retain(|&other| other != parent);
                neighbours[parent as usize].retain(|&other| other != at);
                waiting.extend([at, parent]);
                continue 'trees;
            }
            if at != parent {
                *below.get_mut(&parent).expect("it was walked through") += n;
            }
        }
        // No edge has k records on both sides: walk to where all branches have fewer.
        let mut middle = record;
        let mut from = record;
        while let Some(next) = neighbours[middle as usize]
            .iter()
            .copied()
            .find(|&next| next != from && branch(next, middle, neighbours).len() >= k)
        {
            (from, middle) = (middle, next);
        }
        let mut part = vec![middle];
        let first = parts.len();
        for &next in &neighbours[middle as usize] {
            part.extend(branch(next, middle, neighbours));
            if part.len() >= k {
                parts.push(std::mem::take(&mut part));
            }
        }
        if !part.is_empty() {
            match parts[first..].last_mut() {
                Some(last) => last.extend(part),
                None => parts.push(part),
            }
        }
    }
    parts
}

/// The records of a tree with their parents, from a root on; the root is its own parent.
fn walk(root: u32, neighbours: &[Vec<u32>]) -> Vec<(u32, u32)> {
    let mut order = vec![(root, root)];
    let mut at = 0;
    while let Some(&(record, parent)) = order.get(at) {
        order.extend(
            neighbours[record as usize].iter().filter(|&&next| next != parent).map(|&next| (next, record)),
        );
        at += 1;
    }
    order
}

/// The records of a tree beyond an edge.
fn branch(record: u32, without: u32, neighbours: &[Vec<u32>]) -> Vec<u32> {
    let mut order = vec![(record, without)];
    let mut at = 0;
    while let Some(&(record, parent)) = order.get(at) {
        order.extend(
            neighbours[record as usize].iter().filter(|&&next| next != parent).map(|&next| (next, record)),
        );
        at += 1;
    }
    order.into_iter().map(|(record, _)| record).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cuts a tree given by the parent of each record but the first.
    fn sizes(parents: &[u32], k: usize) -> Vec<usize> {
        let mut neighbours = vec![Vec::new(); parents.len() + 1];
        for (&parent, record) in parents.iter().zip(1_u32..) {
            neighbours[parent as usize].push(record);
            neighbours[record as usize].push(parent);
        }
        let mut parts = cut(0, &mut neighbours, k);
        let mut all: Vec<u32> = parts.iter().flatten().copied().collect();
        all.sort_unstable();
        assert_eq!(all, (0..=parents.len() as u32).collect::<Vec<_>>(), "every record once");
        parts.sort_by_key(Vec::len);
        parts.iter().map(Vec::len).collect()
    }

    #[test]
    fn every_tree_is_cut_into_parts_of_k_to_3k_less_3() {
        // Chains, stars, stars of chains.
        for k in 2..6_usize {
            for n in k as u32..40 {
                let chain: Vec<u32> = (0..n - 1).collect();
                let star = vec![0; n as usize - 1];
                let legs: Vec<u32> = (1..n).map(|record| record.saturating_sub(3)).collect();
                let binary: Vec<u32> = (1..n).map(|record| (record - 1) / 2).collect();
                for parents in [chain, star, legs, binary] {
                    let sizes = sizes(&parents, k);
                    assert!(sizes.iter().all(|&size| size >= k && size <= 3 * k - 3), "{k} {n} {sizes:?}");
                }
            }
        }
    }
}
