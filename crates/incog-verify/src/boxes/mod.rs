//! Is a release by boxes what it claims to be: intervals on the grid, and boxes that do not overlap?
//!
//! Each record of such a release is in a box: an interval of each ordered column, a label of each hierarchy. What is
//! found out from the labels alone, and the input:
//!
//! 1. Every released row can be assigned an input row of its own that lies inside of its box ([`crate::local`], with the
//!    edges of [`join`]).
//! 2. Every interval has its ends on the step or the bounds ([`order`]): labels tell nothing of the data's own extremes.
//! 3. Boxes are disjoint ([`disjoint`]), or the labels of each column are, if that is claimed. Judged by all values that
//!    labels may stand for, not only those of the input: nobody could be in two groups.
//!
//! What is not checked: that the boxes leave nothing out, and that no box could have been cut further.

mod order;
mod sides;
mod join;
mod disjoint;
#[cfg(test)]
mod tests;

use crate::against_input::Source;
use crate::keys::Groups;
use crate::local::{Unassigned, unassigned_by};
use crate::{ClaimKind, Finding, Labels};

use disjoint::Overlap;
use join::Columns;
use order::Order;
use sides::{Sides, occurring};

use crate::written::Style;

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
        /// How the column's numbers are written, and those in labels. Step and bounds are plain.
        style: Style,
    },
    /// The same with dates (YYYY-MM-DD).
    Dates {
        /// The width of the grid in days, above 0; multiples are counted from 1970-01-01.
        step: u64,
        /// The first day that can occur, and the first that cannot any more.
        bounds: Option<[String; 2]>,
        /// How the column's dates are written. Those in labels and bounds are YYYY-MM-DD.
        style: Style,
    },
    /// All categories, lowest first.
    Categories(Vec<String>),
}

/// The places of values are numbered by 32 bits, and each row may bring two.
const MAX_ROWS: usize = 1 << 30;

/// A release by boxes, its claim, and what it is said to be made from.
pub(crate) struct Boxes<'a> {
    pub(crate) release: &'a dyn Labels,
    pub(crate) source: &'a Source<'a>,
    pub(crate) claim: &'a BoxesClaim,
    /// The quasi-identifiers among the released columns, and their names.
    pub(crate) quasi: &'a [usize],
    pub(crate) names: &'a [String],
    /// Where each released column stands in the input.
    pub(crate) origins: &'a [usize],
    /// The released rows by their quasi-identifiers.
    pub(crate) groups: &'a Groups,
}

impl<'a> Boxes<'a> {
    /// Adds what is found of the boxes, and what cannot be told. Returns which rows have no input row; `None` if the claim
    /// means nothing.
    pub(crate) fn check(
        &self,
        findings: &mut Vec<Finding>,
        undecided: &mut Vec<Finding>,
    ) -> Option<Unassigned> {
        let n_rows = self.release.n_rows() + self.source.input.n_rows();
        if n_rows > MAX_ROWS {
            undecided.push(Finding {
                kind: ClaimKind::Recoding,
                claim: format!("there are at most {MAX_ROWS} rows, input and release together"),
                found: format!("{n_rows} rows, more than can be checked"),
                holds: false,
            });
            return None;
        }
        let orders = match self.orders() {
            Ok(orders) => orders,
            Err(finding) => {
                findings.push(finding);
                return None;
            }
        };
        let columns = Columns(self.sides(&orders));
        if orders.iter().any(Option::is_some) {
            findings.push(self.on_the_grid(&orders));
        }
        match self.claim.overlap {
            OverlapClaim::Allowed => {}
            OverlapClaim::DisjointLabels => findings.push(self.disjoint_labels(&columns.0)),
            OverlapClaim::DisjointBoxes => match self.disjoint_boxes(&columns.0) {
                Ok(finding) => findings.push(finding),
                Err(finding) => undecided.push(finding),
            },
        }
        Some(unassigned_by(self.release, self.source.input, self.quasi, &columns, self.origins))
    }

    /// The order of each quasi-identifier, or what is wrong with the claim.
    fn orders(&self) -> Result<Vec<Option<Order<'a>>>, Finding> {
        let wrong = |claim: &str, found| Finding {
            kind: ClaimKind::Recoding,
            claim: claim.into(),
            found,
            holds: false,
        };
        let n_orders = self.claim.orders.len();
        if n_orders != self.quasi.len() {
            let found = format!("{n_orders} of {} are told", self.quasi.len());
            return Err(wrong("of every quasi-identifier it is told whether it is ordered", found));
        }
        let mut orders = Vec::with_capacity(n_orders);
        for ((claim, &at), name) in self.claim.orders.iter().zip(self.quasi).zip(self.names) {
            let read = |claim| Order::new(claim, &self.source.input.column(self.origins[at]).labels);
            let order = claim.as_ref().map(read).transpose();
            let order = order
                .map_err(|problem| wrong("every order has a meaning", format!("column {name}: {problem}")))?;
            orders.push(order);
        }
        Ok(orders)
    }

    fn sides(&self, orders: &[Option<Order<'_>>]) -> Vec<Sides> {
        let columns = self.quasi.iter().zip(orders).zip(&self.source.hierarchies);
        columns
            .map(|((&at, order), hierarchy)| {
                let released = self.release.column(at);
                let input = self.source.input.column(self.origins[at]);
                match order {
                    Some(order) => Sides::of_order(&released, &input, order),
                    None => Sides::of_hierarchy(&released, &input, hierarchy),
                }
            })
            .collect()
    }

    fn on_the_grid(&self, orders: &[Option<Order<'_>>]) -> Finding {
        let mut strange = Vec::new();
        for ((&at, order), name) in self.quasi.iter().zip(orders).zip(self.names) {
            let Some(order) = order else { continue };
            let (_, labels) = occurring(&self.release.column(at));
            let n = labels.iter().filter(|label| !order.allows(&order.meaning(label))).count();
            if n > 0 {
                strange.push(format!(
                    "column {name} has {n} {} not",
                    if n == 1 { "label that has" } else { "labels that have" }
                ));
            }
        }
        Finding {
            kind: ClaimKind::Recoding,
            claim: "every interval of an ordered column has its ends on the step or the bounds".into(),
            holds: strange.is_empty(),
            found: if strange.is_empty() { "all have".into() } else { strange.join(", ") },
        }
    }

    fn disjoint_labels(&self, columns: &[Sides]) -> Finding {
        let with_names = columns.iter().zip(self.names);
        let overlapping: Vec<&str> =
            with_names.filter(|(column, _)| column.any_overlap()).map(|(_, name)| name.as_str()).collect();
        Finding {
            kind: ClaimKind::Recoding,
            claim: "in each column two labels are equal or disjoint".into(),
            holds: overlapping.is_empty(),
            found: if overlapping.is_empty() {
                "all are".into()
            } else {
                format!("labels overlap in {}", overlapping.join(", "))
            },
        }
    }

    /// Whether boxes are disjoint; an error if that cannot be told.
    fn disjoint_boxes(&self, columns: &[Sides]) -> Result<Finding, Finding> {
        let labels: Vec<Vec<u32>> = self
            .quasi
            .iter()
            .zip(columns)
            .map(|(&at, column)| {
                let codes = self.release.column(at).codes;
                let label = |&row: &u32| column.of_label[codes[row as usize] as usize];
                self.groups.first_rows.iter().map(label).collect()
            })
            .collect();
        let overlap = disjoint::overlap(columns, &labels);
        let row = |number: u32| self.groups.first_rows[number as usize] + 1;
        let is_decided = !matches!(overlap, Overlap::Unknown(_));
        let finding = Finding {
            kind: ClaimKind::Recoding,
            claim: "boxes are disjoint: nobody could be in two groups".into(),
            holds: overlap == Overlap::None,
            found: match overlap {
                Overlap::None => "all are".into(),
                Overlap::Between(a, b) => format!("boxes of rows {} and {} overlap", row(a), row(b)),
                Overlap::Unknown(boxes) => {
                    format!(
                        "no column divides {boxes} of the boxes; boxes that were made by cuts are divided"
                    )
                }
            },
        };
        if is_decided { Ok(finding) } else { Err(finding) }
    }
}
