//! How good is an answer?

/// An answer, and whether there is a better one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found<R> {
    /// The answer.
    pub recoding: R,
    /// How good it is.
    pub quality: Quality,
}

/// How good an answer is, within its model and by its metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quality {
    /// There is no better one.
    Optimal,
    /// There may be a better one.
    Heuristic,
}
