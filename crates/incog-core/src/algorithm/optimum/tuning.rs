//! What was measured to find the best node in little time. See [`crate::tuning`].

use crate::tuning::tuned;

// Which node to judge next.
tuned! {
    /// This many nodes are judged in a row in the hope of a better one.
    ///
    /// Unit: nodes. Measured by: `adult-best`.
    HOPES: u32 = 2;

    /// A node that a better one would close counts this much, against 1 for one that a failing node closes.
    ///
    /// Unit: weight. Measured by: `adult-best`.
    HOPE: f32 = 4.0;

    /// With fewer open nodes, no better one is hoped for.
    ///
    /// Unit: nodes. Measured by: `adult-best`.
    FEW_OPEN: usize = 50;

    /// The judge hears of this many nodes beforehand, because they are likely to be asked about.
    ///
    /// Unit: nodes. Measured by: `adult-best`.
    LIKELY: usize = 100;

    /// The judge is told to expect questions about this many nodes.
    ///
    /// Unit: nodes. Measured by: `adult-best`.
    ASKED: f32 = 90.0;

    // What is guessed of a node.

    /// Over this difference the odds that a node holds change e-fold.
    ///
    /// Unit: bits of extent. Measured by: `adult-best`.
    SCALE: f32 = 0.5;

    /// A verdict that was not expected at all moves the threshold this far.
    ///
    /// Unit: bits of extent. Measured by: `adult-best`.
    CORRECTION: f32 = 0.5;

    /// A number of groups is a surprise if it is off by more than this.
    ///
    /// Unit: powers of two. Measured by: `adult-best`.
    SURPRISE: f32 = 2.0;

    /// The logarithm of a level's rarest label counts this much, against 1 for that of its number of labels.
    ///
    /// Unit: weight. Measured by: `adult-best`.
    RARITY: f64 = 0.3;

    /// A power of two of extent is divided into this many steps.
    ///
    /// Unit: steps. Measured by: `adult-best`.
    STEPS: f32 = 8.0;

    /// A node at most this far from the threshold is near it.
    ///
    /// Unit: bits of extent. Measured by: `adult-best`.
    NEAR: f32 = 1.5;

    /// Counting what is open below all nodes takes as long as counting it below this many single ones.
    ///
    /// Unit: nodes. Measured by: `adult-best`.
    COUNTED_NODES: usize = 80;

    // Boxes of nodes.

    /// Lattices of at most this many nodes are searched with a number for each node, which takes less time than boxes do.
    ///
    /// Unit: nodes. Measured by: `lattice`.
    FEW_NODES: u64 = 1 << 18;
}

/// The costs of open nodes are told apart by this many steps. The length of an array: another value needs a rebuild.
///
/// Unit: steps. Measured by: `adult-best`.
pub(super) const BINS: usize = 256;
