//! A greedy cover with small balls (Meyerson, Williams, PODS 2004).
//!
//! 1. *Cover*: as long as a record is in no set, take the set that has the least radius for each record that is new in it.
//!    A set has a center c; with it go the j records nearest to c that are in no set yet (j < 2k) and, if these are fewer
//!    than k, the nearest others.
//! 2. *Reduce*: a record in two sets leaves one that has more than k; if both have k they become one.
//!
//! *Bound*. Let d be the weight of the attributes in which two records differ, the radius of a set the greatest d from its
//! center, its diameter the greatest d of all.
//!
//! - Groups of the optimum with 2k records or more can be split for free, so it consists of sets of k to 2k − 1 records. Each
//!   of these costs at least its size times its diameter, at least its radius k times. So the least sum of radii of a cover
//!   with sets of k to 2k − 1 records is at most OPT / k.
//! - Whatever set S around c with radius r one takes, with j new records: the j new records nearest to c, and the nearest
//!   others up to k, are within r. So step 1 is the greedy algorithm for set cover over all such sets, and its sum of
//!   radii is at most H(2k − 1) times the least (Chvátal 1979).
//! - A diameter is at most twice the radius. Leaving a set makes its diameter no greater, and the union of two sets with a
//!   common record has at most the sum of both; it has at most 2k − 1 records. So the diameters of the partition sum up to
//!   at most 2 H(2k − 1) OPT / k.
//! - A group of s records differs from one of them only where some other does: s (s − 1) times the diameter is enough. With
//!   s ≤ 2k − 1, all cost at most (2k − 1)(2k − 2) · 2 H(2k − 1) OPT / k.
//!
//! Differs from the paper: it covers with all sets of k to 2k − 1 records by diameter (n to the 2k − 1 of them) for
//! O(k log k), or with balls of any size for O(k log m); choosing by radius gives O(k log k) in polynomial time.
//! Cost: n² for each set; memory: n².

use super::Points;
use crate::error::Result;
use crate::progress::Progress;

pub(super) fn partition(points: &Points<'_>, k: usize, progress: &Progress) -> Result<Vec<Vec<u32>>> {
    let n = points.len();
    if k <= 1 {
        return Ok((0..n as u32).map(|record| vec![record]).collect());
    }
    let sets = cover(points, k, progress)?;
    Ok(reduce(n, sets, k))
}

/// Sets of k to 2k − 1 records that together have all; there are at least k.
fn cover(points: &Points<'_>, k: usize, progress: &Progress) -> Result<Vec<Vec<u32>>> {
    let n = points.len();
    // For each center all records, nearest first; the center itself before its equals.
    let nearest: Vec<Vec<(f64, u32)>> = (0..n)
        .map(|center| {
            let mut others: Vec<(f64, u32)> =
                (0..n).map(|other| (points.distance(center, other), other as u32)).collect();
            others.sort_by(|a, b| {
                let is_other = |at: u32| at != center as u32;
                a.0.total_cmp(&b.0).then(is_other(a.1).cmp(&is_other(b.1))).then(a.1.cmp(&b.1))
            });
            others
        })
        .collect();
    let mut is_covered = vec![false; n];
    let mut n_left = n;
    let mut sets = Vec::new();
    while n_left > 0 {
        progress.check()?;
        let mut best: Option<(f64, usize, usize)> = None;
        for (center, others) in nearest.iter().enumerate() {
            let least = others[k - 1].0;
            let mut n_new = 0;
            for &(distance, other) in others {
                if is_covered[other as usize] {
                    continue;
                }
                n_new += 1;
                let price = distance.max(least) / n_new as f64;
                // Of equally good sets the larger one, then the first.
                if best.is_none_or(|(lowest, most, _)| price < lowest || (price == lowest && n_new > most)) {
                    best = Some((price, n_new, center));
                }
                if n_new == 2 * k - 1 {
                    break;
                }
            }
        }
        let Some((_, n_new, center)) = best else { break };
        let others = || nearest[center].iter().map(|&(_, other)| other);
        let mut set: Vec<u32> = others().filter(|&other| !is_covered[other as usize]).take(n_new).collect();
        set.iter().for_each(|&record| is_covered[record as usize] = true);
        n_left -= set.len();
        let missing = k.saturating_sub(set.len());
        let more: Vec<u32> = others().filter(|other| !set.contains(other)).take(missing).collect();
        set.extend(more);
        sets.push(set);
    }
    Ok(sets)
}

/// Makes a cover a partition.
fn reduce(n: usize, sets: Vec<Vec<u32>>, k: usize) -> Vec<Vec<u32>> {
    let mut parts: Vec<Vec<u32>> = Vec::new();
    let mut part_of: Vec<Option<usize>> = vec![None; n];
    for set in sets {
        let mut set = set;
        while let Some(at) = set.iter().position(|&record| part_of[record as usize].is_some()) {
            let record = set[at];
            let Some(part) = part_of[record as usize] else { break };
            if set.len() > k {
                set.swap_remove(at);
            } else if parts[part].len() > k {
                parts[part].retain(|&other| other != record);
                part_of[record as usize] = None;
            } else {
                let other = std::mem::take(&mut parts[part]);
                for record in other {
                    part_of[record as usize] = None;
                    if !set.contains(&record) {
                        set.push(record);
                    }
                }
            }
        }
        set.iter().for_each(|&record| part_of[record as usize] = Some(parts.len()));
        parts.push(set);
    }
    parts.retain(|part| !part.is_empty());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_that_overlap_become_a_partition_of_k_to_2k_less_1() {
        let sets = vec![vec![0, 1, 2], vec![2, 3, 4], vec![4, 5, 6, 7], vec![7, 8, 0], vec![9, 8, 1]];
        let parts = reduce(10, sets, 3);
        let mut all: Vec<u32> = parts.iter().flatten().copied().collect();
        all.sort_unstable();
        assert_eq!(all, (0..10).collect::<Vec<_>>());
        assert!(parts.iter().all(|part| (3..=5).contains(&part.len())), "{parts:?}");
    }
}
