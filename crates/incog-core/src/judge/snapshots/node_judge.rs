//! What a search for one node asks, and what it is told.

use crate::error::Result;
use crate::frequency::FrequencySet;
use crate::judge::Work;
use crate::lattice::Grouping;

/// What a policy says of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// Does it hold?
    pub(crate) holds: bool,
    /// The rows that would be suppressed, if all were counted.
    pub(crate) refused_rows: Option<u64>,
    /// How many groups there are; about as many, if not all were counted.
    pub(crate) n_groups: usize,
}

/// The sizes of a node's groups, added up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Sizes {
    /// How many groups are released,
    pub(crate) n_released: u64,
    /// and the sum of their squares.
    pub(crate) squares: u128,
    /// For each row, released or not, the rows of its group, or `least` if that is more; added up.
    pub(crate) floor: u128,
    /// For each group, released or not, its rows, or `least` if that is less; added up.
    pub(crate) capped: u64,
}

impl Sizes {
    /// Adds `n_groups` groups of `rows` rows each.
    pub(super) fn add(&mut self, rows: u64, n_groups: u64, least: u64) {
        self.floor += u128::from(rows) * u128::from(rows.max(least)) * u128::from(n_groups);
        self.capped += rows.min(least) * n_groups;
    }

    /// Counts `n_groups` groups of `rows` rows each as released.
    pub(super) fn release(&mut self, rows: u64, n_groups: u64) {
        self.n_released += n_groups;
        self.squares += u128::from(rows) * u128::from(rows) * u128::from(n_groups);
    }
}

/// What a search expects to ask about.
#[derive(Debug)]
pub(crate) struct Forecast<'a> {
    /// Nodes such as it will ask about, one as likely as the other.
    pub(crate) nodes: Vec<Grouping>,
    /// About how many it will ask about.
    pub(crate) n_asked: f32,
    /// For each attribute what each level adds to a node's extent, which grows with the logarithm of its groups.
    pub(crate) extents: &'a [Vec<f32>],
}

impl Forecast<'_> {
    pub(super) fn extent(&self, node: &Grouping) -> f32 {
        node.iter().map(|(attribute, level)| self.extents[attribute][usize::from(level)]).sum()
    }
}

/// A judge that also says what would be suppressed. Nodes are groupings of all its attributes: it knows no lattice.
pub(crate) trait NodeJudge {
    /// Is it of any use to tell what will be asked?
    fn uses_forecasts(&self) -> bool;

    /// Prepares for what will be asked, most likely. Verdicts are the same without.
    fn expect(&mut self, forecast: &Forecast<'_>) -> Result<()>;

    /// What the policy says of a node.
    fn verdict(&mut self, node: &Grouping) -> Result<Verdict>;

    /// The largest k up to `most` that the node satisfies within the policy's budget, whatever k that asks for; `most` must not
    /// be larger than that.
    fn largest_k(&mut self, node: &Grouping, most: u64) -> Result<u64>;

    /// The groups that are left out at the node that was judged last, which must hold.
    fn refused(&self) -> Result<FrequencySet>;

    /// The sizes of the groups of the node that was judged last, if they were all counted, and sizes were to be. `least` is
    /// the fewest rows of a group that is released.
    fn sizes(&self, least: u64) -> Result<Sizes>;

    /// What was done so far.
    fn work(&self) -> Work;
}
