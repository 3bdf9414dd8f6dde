//! Is a release by boxes what it claims to be: intervals on the grid, and boxes that do not overlap?

/// What is claimed of a release whose records are in boxes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoxesClaim {
    /// How each quasi-identifier is ordered, in the order of the claims; `None` where its hierarchy is used.
    pub orders: Vec<Option<OrderClaim>>,
    /// What boxes have in common.
    pub overlap: OverlapClaim,
}

/// What boxes are said to have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OverlapClaim {
    /// Anything (relaxed Mondrian).
    Allowed,
    /// Boxes are disjoint: nobody could be in two groups (strict Mondrian).
    DisjointBoxes,
    /// In each column two labels are equal or disjoint (ordered-set).
    DisjointLabels,
}

/// How the values of a column are said to be ordered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OrderClaim {
    /// On a grid of numbers: ends of intervals are multiples of the step, or the bounds.
    Numbers {
        /// The width of the grid, a decimal above 0.
        step: String,
        /// The least value that can occur, and the first that cannot any more.
        bounds: Option<[String; 2]>,
    },
    /// The same with dates (YYYY-MM-DD).
    Dates {
        /// The width of the grid in days, above 0; multiples are counted from 1970-01-01.
        step: u64,
        /// The first day that can occur, and the first that cannot any more.
        bounds: Option<[String; 2]>,
    },
    /// All categories, lowest first.
    Categories(Vec<String>),
}
