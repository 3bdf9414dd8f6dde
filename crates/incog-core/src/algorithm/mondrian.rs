//! Boxes by recursive cuts (Mondrian: LeFevre, DeWitt, Ramakrishnan: Mondrian multidimensional k-anonymity, ICDE 2006).
//!
//! *Promise*: the policy admits the records of every box, and no box could be cut further in the way asked for (but relaxed
//! boxes that come to have equal sides are one, and that is not cut again). Boxes of [`Cuts::Strict`] are disjoint. Boxes of [`Cuts::Relaxed`] may touch: ordered sides of two boxes may share the slot in
//! which records were divided, and a label may stand beside a label below it. With [`Extent::Covering`] a side reaches from
//! one cut to the next; where all attributes are ordered and nothing is missing, strict boxes then cover the domain.
//!
//! 1. Start with all records (or one part for each combination of top labels, where hierarchies have several).
//! 2. *Which attribute*: the one in which the part is widest, by the loss of the narrowest side around it times the
//!    attribute's weight; then the first.
//! 3. *Where*: an ordered attribute before or after the median value, whichever is more even, else the other. Relaxed:
//!    if no attribute can be cut like that, in the very middle, through records of equal values. A missing value is cut off first. A hierarchy: into the
//!    children of the lowest label that all records share. Relaxed: children that the policy refuses stay behind at that
//!    label, with as many of the smallest others as they need.
//! 4. A cut is made if the policy admits all parts; otherwise the next attribute is tried.
//!
//! [`Choice::Best`] replaces 2 and 3: of all cuts of all attributes the one that gains most, of those that the policy
//! admits. The gain of a cut is what it takes off the metric in its own attribute.
//!
//! Differs from the paper: (1) any policy that is closed under merging, each part being judged by itself; (2) cuts are on
//! multiples of a step, and labels do not show extremes (see [`Domain`](crate::recoding::Domain)); (3) both cuts beside the
//! median value are tried; (4) relaxed cuts of hierarchies; (5) records of equal values are divided only where no other
//! cut can be made: that leaves sides that touch, and where half of the records have one value, sides as wide as before. Sound because only admitted parts are kept, and boxes that
//! come to have equal sides are admitted together.
//!
//! Suppression: parts refused at the very start are left out if the budget allows, and then so are the records with a
//! missing value of an ordered attribute, where these alone would be refused (otherwise the attribute could not be cut
//! in the part that has them). Never under a policy that compares with all rows, since leaving rows out changes these.
//!
//! Cost: a pass over the records of a part for each cut and a pass over their values in each attribute tried, so about
//! n · attributes · log(n / k) where cuts are even. Memory: a number a record and attribute, which are moved in place.

mod cut;
mod part;
mod scratch;
mod search;

use std::sync::{Mutex, PoisonError};

use crate::algorithm::found::{Found, Quality};
use crate::algorithm::mondrian::part::Part;
use crate::algorithm::mondrian::search::{Boxes, Mondrian};
use crate::algorithm::positions::{Positions, checked_weights, least_admitted};
use crate::check::Problem;
use crate::error::Result;
use crate::hierarchy::Attributes;
use crate::recoding::{Domains, PerBox};
use crate::watch::Watch;

/// Whether records with equal values may be divided.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Cuts {
    /// Never: boxes are disjoint.
    #[default]
    Strict,
    /// They may: boxes may touch.
    Relaxed,
}

/// Which cut is made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Choice {
    /// At the median of the widest attribute.
    #[default]
    Median,
    /// The one that gains most.
    Best(Gain),
}

/// What a cut is to lower.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gain {
    /// LM.
    Loss,
    /// DM.
    Discernibility,
}

/// How far the sides of a box in ordered attributes reach. Sides in hierarchies are lowest common labels.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Extent {
    /// From cut to cut.
    #[default]
    Covering,
    /// No further than the records of the box, rounded outward to the step: less loss. A step as fine as the data then
    /// tells the least and greatest value of every box.
    Tight,
}

/// How to cut.
#[derive(Debug, Clone, Default)]
pub struct MondrianOptions {
    /// The order of each attribute's values; `None` where the hierarchy is used.
    pub domains: Domains,
    /// Strict or relaxed.
    pub cuts: Cuts,
    /// Which cut is made.
    pub choice: Choice,
    /// How far sides reach.
    pub extent: Extent,
    /// What the width of each attribute counts; all alike where empty.
    pub weights: Vec<f64>,
}

/// Puts the records into boxes.
///
/// `None` if the policy refuses more rows than its budget before anything is cut. Fails when the policy is not closed under
/// merging, when the source has counts only, or when the watch is cancelled.
pub fn mondrian(
    problem: Problem<'_>,
    attributes: &Attributes,
    options: MondrianOptions,
    watch: &Watch,
) -> Result<Option<Found<PerBox>>> {
    let MondrianOptions { domains, cuts, choice, extent, weights } = options;
    let weights = checked_weights(&weights, attributes.len())?;
    let Positions { axes, mut cells } = Positions::new(problem, attributes, &domains, "mondrian")?;
    let n_axes = axes.len();
    let mut keys = std::mem::take(&mut cells.labels);
    // A relaxed cut may divide a cell, so there every record is an entry.
    let (mut ids, mut rows): (Vec<u32>, Vec<u32>) = match cuts {
        Cuts::Strict => ((0..cells.rows.len() as u32).collect(), cells.rows.clone()),
        Cuts::Relaxed => {
            let of_record = cells.of_record.iter();
            keys = of_record.flat_map(|&cell| &keys[cell as usize * n_axes..][..n_axes]).copied().collect();
            ((0..cells.of_record.len() as u32).collect(), vec![1; cells.of_record.len()])
        }
    };
    let search = Mondrian {
        axes: &axes,
        weights,
        policy: problem.policy,
        cells: &cells,
        cuts,
        choice,
        extent,
        watch,
        is_rows_only: problem.policy.demand().is_rows_only(),
        least: least_admitted(problem.policy, problem.source.n_rows())?,
        k_only: problem.policy.k_only().filter(|policy| policy.demand().is_rows_only()),
    };
    let all = Part {
        keys: &mut keys,
        ids: &mut ids,
        rows: &mut rows,
        from: 0,
        sides: axes.iter().map(|axis| (0, axis.n_positions())).collect(),
    };
    let Some(parts) = search.first_parts(all)? else { return Ok(None) };
    let boxes = Mutex::new(Ok(Boxes::default()));
    rayon::scope(|scope| {
        for part in parts {
            scope.spawn(|scope| search.work(scope, part, &boxes));
        }
    });
    let boxes = boxes.into_inner().unwrap_or_else(PoisonError::into_inner)?;
    drop((keys, rows));

    let mut of_entry = vec![None; ids.len()];
    for (number, entries) in (0..).zip(boxes.entries) {
        for &id in &ids[entries] {
            of_entry[id as usize] = Some(number);
        }
    }
    drop(ids);
    let recoding = match cuts {
        Cuts::Strict => {
            let of_record = cells.of_record.iter().map(|&cell| of_entry[cell as usize]);
            PerBox::new(domains.clone(), &boxes.sides, of_record)?
        }
        Cuts::Relaxed => PerBox::new(domains.clone(), &boxes.sides, of_entry)?,
    };
    Ok(Some(Found { recoding, quality: Quality::Heuristic }))
}
