//! Breadth-first search of one family, from its roots up (Incognito, section 3.1.1 and Figure 8).
//!
//! 1. The roots are queued by height.
//! 2. The lowest node is taken from the queue; if it is marked, it is skipped.
//! 3. A node that holds marks its generalizations (direct ones, or all).
//! 4. A node that fails is deleted, and its direct generalizations are queued.
//!
//! Differs from the paper: nodes of equal height are visited in column order, so that nothing depends on
//! insertion order. All nodes of a height are judged before the next, hence marks are complete when a height
//! begins and the order within it changes no verdict and no count.

use crate::algorithm::Marking;
use crate::error::Result;
use crate::judge::Judge;
use crate::lattice::{Lattice, NodeSet};
use crate::progress::Progress;

/// Deletes from `nodes`, which must be closed upward, those that do not hold; what is left holds.
pub(super) fn breadth_first(
    family: &Lattice,
    nodes: &mut NodeSet,
    roots: &[usize],
    marking: Marking,
    judge: &mut dyn Judge,
    progress: &Progress,
) -> Result<()> {
    let mut queued = NodeSet::empty(family);
    let mut marked = NodeSet::empty(family);
    // Nodes that hold and have not marked anything yet.
    let mut unspread = Vec::new();
    let mut stack = Vec::new();
    let mut n_failing = 0;
    let mut by_height: Vec<Vec<usize>> = vec![Vec::new(); family.max_height() + 1];
    for &root in roots {
        queued.insert(root);
        by_height[family.height(root)].push(root);
    }
    for height in 0..by_height.len() {
        let mut queue = std::mem::take(&mut by_height[height]);
        queue.sort_unstable();
        // Nodes of this height are rolled up from the height below, nothing later is.
        judge.forget_below(height.saturating_sub(1));
        // Marks matter only to what a failing node has queued: in most families nothing fails.
        if n_failing > 0 {
            for node in unspread.drain(..) {
                match marking {
                    Marking::Direct => family.generalizations(node).for_each(|up| _ = marked.insert(up)),
                    Marking::Transitive => marked.spread_above(family, node, &mut stack),
                }
            }
        }
        for node in queue {
            if marked.contains(node) {
                continue;
            }
            progress.judged()?;
            if judge.judge(node)? {
                unspread.push(node);
            } else {
                nodes.remove(node);
                n_failing += 1;
                for up in family.generalizations(node) {
                    debug_assert!(nodes.contains(up), "candidates are closed upward");
                    if queued.insert(up) {
                        by_height[height + 1].push(up);
                    }
                }
            }
        }
    }
    Ok(())
}

/// Judges every node of `open`, lowest first; returns those that hold. The only sound way where pruning is not.
pub(super) fn judge_each(
    family: &Lattice,
    open: &NodeSet,
    judge: &mut dyn Judge,
    progress: &Progress,
) -> Result<NodeSet> {
    let mut holding = NodeSet::empty(family);
    for height in 0..=family.max_height() {
        judge.forget_below(height.saturating_sub(1));
        for node in family.nodes_at_height(height).filter(|&node| open.contains(node)) {
            progress.judged()?;
            if judge.judge(node)? {
                holding.insert(node);
            }
        }
    }
    Ok(holding)
}
