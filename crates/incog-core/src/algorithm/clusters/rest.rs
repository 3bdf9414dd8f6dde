//! Rows that no cluster could take.

use crate::algorithm::groups::{RowGroups, n_rows};
use crate::algorithm::vectors::{Ground, Tree};
use crate::error::Result;
use crate::progress::Progress;

/// Merges rows that are in no group with whole groups, nearest first, until the policy admits that; or leaves them out, if
/// the budget allows and it is better or the only way. All must have a label in common. `None` if neither is possible.
pub(in crate::algorithm) fn merge_rest(
    ground: &Ground<'_>,
    groups: RowGroups,
    rest: &[(u32, u32)],
    budget: u64,
    progress: &Progress,
) -> Result<Option<RowGroups>> {
    if rest.is_empty() {
        return Ok(Some(groups));
    }
    let may_leave_out = n_rows(rest) <= budget;
    let (mut steps, mut rows) = (lowest_steps(ground, rest), rest.to_vec());
    let mut is_merged = vec![false; groups.len()];
    let mut measured = ground.no_rows();
    let is_admitted = loop {
        progress.spend(1 + groups.len() as u64 / 8)?;
        measured.clear();
        for &(cell, rows) in &rows {
            measured.push(ground.facts(cell), u64::from(rows));
        }
        measured.settle();
        if ground.admits_measured(&measured)? {
            break true;
        }
        let cost = |steps: &[u8], leaves: &[u32]| -> f64 {
            let columns = ground.trees.iter().zip(steps).zip(leaves);
            columns.map(|((tree, &step), &leaf)| tree.cost(step, leaf)).sum()
        };
        let leaves = ground.leaves(rows[0].0);
        let mut nearest: Option<(f64, usize, Box<[u8]>)> = None;
        for (number, (their_steps, theirs)) in groups.iter().enumerate() {
            if is_merged[number] {
                continue;
            }
            let their_leaves = ground.leaves(theirs[0].0);
            let meet = |(at, tree): (usize, &Tree)| {
                tree.meet(steps[at].max(their_steps[at]), leaves[at], their_leaves[at])
            };
            let Some(joint) = ground.trees.iter().enumerate().map(meet).collect::<Option<Box<[u8]>>>() else {
                continue;
            };
            let (mine, others) = (n_rows(&rows) as f64, n_rows(theirs) as f64);
            let added = cost(&joint, leaves) * (mine + others)
                - cost(&steps, leaves) * mine
                - cost(their_steps, their_leaves) * others;
            if nearest.as_ref().is_none_or(|(least, ..)| added < *least) {
                nearest = Some((added, number, joint));
            }
        }
        let Some((_, number, joint)) = nearest else { break false };
        steps = joint;
        rows.extend_from_slice(groups.members(number));
        is_merged[number] = true;
    };
    if !is_admitted {
        return Ok(may_leave_out.then_some(groups));
    }
    let mut merged = RowGroups::new(ground.trees.len());
    for ((steps, rows), _) in groups.iter().zip(&is_merged).filter(|(_, is_merged)| !**is_merged) {
        merged.push(steps, rows.iter().copied());
    }
    merged.push(&steps, rows);
    let is_better = may_leave_out && ground.compare(&ground.sums(&groups), &ground.sums(&merged)).is_lt();
    Ok(Some(if is_better { groups } else { merged }))
}

/// The lowest steps at which some cells have their labels in common; the top where they have none.
pub(in crate::algorithm) fn lowest_steps(ground: &Ground<'_>, rows: &[(u32, u32)]) -> Box<[u8]> {
    let mut steps = vec![0; ground.trees.len()];
    let Some(&(first, _)) = rows.first() else { return steps.into() };
    let of = ground.leaves(first);
    for &(cell, _) in rows {
        let with = ground.leaves(cell);
        for (at, tree) in ground.trees.iter().enumerate() {
            steps[at] = tree.meet(steps[at], of[at], with[at]).unwrap_or(tree.top());
        }
    }
    steps.into()
}
