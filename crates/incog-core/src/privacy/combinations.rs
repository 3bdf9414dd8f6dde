//! Is every combination of a few quasi-identifiers k-anonymous?
//!
//! An attacker rarely knows all quasi-identifiers of a person. Statistical offices therefore often ask for less than
//! k-anonymity of all of them together: that nobody stands out in a table of any three columns. That is the policy
//! `combinations = 3`. It takes the place of k-anonymity of all quasi-identifiers, which would imply it.
//!
//! *Definition.* Rows satisfy (k, m) if, for every set of at most m quasi-identifiers, every combination of their labels that
//! occurs in a row occurs in at least k rows. With m as large as the number of quasi-identifiers this is k-anonymity.
//!
//! *Suppression.* Of rows that satisfy (k, m), two sets that both do have a union that does: each of its combinations occurs in one of
//! the two, k times. So every table has one largest set of rows that satisfies (k, m), and the others are the ones to leave
//! out. They are found in rounds:
//!
//! 1. Leave out each row that has a combination of labels that fewer than k rows have.
//! 2. The rows left have lost some of their like. Repeat until no further row is left out, or the budget is exceeded.
//!
//! Rows that agree in all quasi-identifiers share every combination, so whole groups are left out. A node holds if they are within
//! the budget.
//!
//! *Pruning is sound, with any budget.* Rows that satisfy (k, m) at a node satisfy it at every generalization, whose
//! combinations are unions of the node's, and for every subset of the quasi-identifiers, which has fewer combinations.
//! So the largest set only grows, and what is left out only shrinks.
//!
//! Sets of exactly m quasi-identifiers are enough: a combination of fewer labels occurs wherever one of m labels does that
//! includes it.
//!
//! *Cost.* For each node and round a merge of its groups for each set of m of n quasi-identifiers, of which there are n over m.
//! More than [`MAX_COMBINATIONS`] are refused. What is judged are groups with labels, so recodings that judge
//! groups before they have labels refuse this policy ([`Demand::labels`](crate::group::Demand)).

use crate::error::{Error, ErrorKind, Result};
use crate::frequency::{FrequencySet, Scratch};
use crate::lattice::Grouping;
use crate::privacy::Policy;

/// Sets of quasi-identifiers. More than this many to be counted for each node are refused: a search would take days.
pub const MAX_COMBINATIONS: u128 = 100_000;

/// How many sets of `size` there are of `n`.
fn n_combinations(n: usize, size: usize) -> u128 {
    let size = size.min(n - size.min(n));
    // Each factor leaves a whole number: the product so far is a number of sets itself.
    (0..size as u128).fold(1_u128, |n_sets, at| n_sets.saturating_mul(n as u128 - at) / (at + 1))
}

/// Fails if there are too many sets of quasi-identifiers to count.
pub(super) fn check(n_attributes: usize, most: usize) -> Result<()> {
    if most == 0 {
        return Err(Error::input("`combinations` is 0")
            .with_hint("give how many quasi-identifiers are looked at together, such as 3"));
    }
    if most > n_attributes {
        return Err(Error::input(format!(
            "`combinations` is {most}, and there are {n_attributes} quasi-identifiers"
        ))
        .with_hint(format!(
            "{n_attributes} asks for k-anonymity of all of them together; so does leaving it out"
        )));
    }
    if n_combinations(n_attributes, most) > MAX_COMBINATIONS {
        return Err(Error::new(
            ErrorKind::Limit,
            format!(
                "{n_attributes} quasi-identifiers have more than {MAX_COMBINATIONS} combinations of {most} to count"
            ),
        )
        .with_hint("use smaller combinations or fewer quasi-identifiers"));
    }
    Ok(())
}

/// The groupings by exactly `size` of the attributes of a grouping, in column order; the grouping itself, if it has no more.
fn groupings(all: &Grouping, size: usize) -> Vec<Grouping> {
    let attributes: Vec<(usize, u8)> = all.iter().collect();
    let mut found = Vec::new();
    pick(&attributes, size.min(attributes.len()), Grouping::NOTHING, &mut found);
    found
}

/// Adds to `found` every way to extend `so_far` by `size` of `attributes`.
fn pick(attributes: &[(usize, u8)], size: usize, so_far: Grouping, found: &mut Vec<Grouping>) {
    if size == 0 {
        found.push(so_far);
        return;
    }
    for (at, &(attribute, level)) in attributes.iter().enumerate() {
        if attributes.len() - at < size {
            break;
        }
        let mut next = so_far;
        next.set(attribute, level);
        pick(&attributes[at + 1..], size - 1, next, found);
    }
}

/// Are all combinations of `most` labels admitted by the policy's models, with nothing left out?
pub(super) fn hold(policy: &Policy, set: &FrequencySet, most: usize) -> Result<bool> {
    let mut scratch = Scratch::default();
    for grouping in groupings(set.grouping(), most) {
        let merged = set.roll_up(&grouping, &mut scratch);
        for group in merged.groups() {
            if !policy.admits(group)? {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// The groups of `set` to be left out so that every combination of `most` labels is admitted by the policy's models: all of
/// them, or enough to exceed the budget. Ascending.
pub(super) fn refused(policy: &Policy, set: &FrequencySet, most: usize) -> Result<Vec<u32>> {
    let groupings = groupings(set.grouping(), most);
    let mut scratch = Scratch::default();
    let mut is_refused = vec![false; set.n_groups()];
    let mut kept: Vec<u32> = (0..set.n_groups() as u32).collect();
    let mut refused_rows = 0;
    let mut rest = set.clone();
    loop {
        for grouping in &groupings {
            let (merged, assignment) = rest.roll_up_assigned(grouping, &mut scratch);
            let admitted =
                merged.groups().map(|group| policy.admits(group)).collect::<Result<Vec<bool>>>()?;
            for (&group, &to) in kept.iter().zip(&assignment) {
                if !admitted[to as usize] && !is_refused[group as usize] {
                    is_refused[group as usize] = true;
                    refused_rows += set.measures().rows()[group as usize];
                }
            }
        }
        let n_before = kept.len();
        kept.retain(|&group| !is_refused[group as usize]);
        if kept.len() == n_before || refused_rows > policy.budget() {
            break;
        }
        rest = set.select(&kept);
    }
    let refused = is_refused.iter().zip(0_u32..).filter(|(is_refused, _)| **is_refused);
    Ok(refused.map(|(_, group)| group).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_attributes_are_counted_and_listed_alike() {
        for n in 0..8 {
            let all = Grouping::of_levels(&vec![1; n]);
            for size in 1..=n {
                let listed = groupings(&all, size);
                assert_eq!(listed.len() as u128, n_combinations(n, size), "{size} of {n}");
                assert!(listed.iter().all(|grouping| grouping.iter().count() == size));
            }
            assert_eq!(groupings(&all, n + 3), [all], "more than there are: all together");
        }
        assert_eq!(n_combinations(64, 32), 1_832_624_140_942_590_534);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        assert!(check(3, 0).unwrap_err().to_string().contains("is 0"));
        assert!(check(3, 4).unwrap_err().to_string().contains("there are 3 quasi-identifiers"));
        assert!(check(60, 20).unwrap_err().to_string().contains("more than 100000"));
        assert!((1..=3).all(|most| check(3, most).is_ok()));
    }
}
