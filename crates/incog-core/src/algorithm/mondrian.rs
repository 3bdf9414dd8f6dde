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
//!    if no attribute can be cut like that, in the very middle, through records of equal values: those go down that are
//!    most like the lower half. A missing value is cut off first. A hierarchy: into the children of the lowest label that
//!    all records share. Relaxed: children that the policy refuses stay behind at that label, with as many of the smallest
//!    others as they need.
//! 4. A cut is made if the policy admits all parts; otherwise the next attribute is tried.
//!
//! [`CutChoice::Best`] replaces 2 and 3: of all cuts of all attributes the one that gains most, of those that the policy
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
//! Cost: a pass over the entries of a part for each cut and a pass over their values in each attribute tried, so about
//! n · attributes · log(n / k) where cuts are even. Entries are cells, equal records with a count; a cut through equal records
//! divides the count. Memory: a byte, two or four a cell and attribute, which are moved in place, and some numbers a cell.

mod cut;
mod part;
mod point;
mod scratch;
mod search;

use std::sync::{Mutex, PoisonError};

use crate::algorithm::contract::{
    Algorithm, Answer, Claimed, ColumnNeeds, Family, Overlap, Setting, Settings, Task,
};
use crate::algorithm::groups::Shares;
use crate::algorithm::mondrian::part::{Part, SpareEntries};
use crate::algorithm::mondrian::point::{PartEntry, Point};
use crate::algorithm::mondrian::search::Mondrian;
use crate::algorithm::positions::{Axis, Positions, checked_weights, least_admitted};
use crate::algorithm::quality::{Found, Quality};
use crate::error::Result;
use crate::hierarchy::Attributes;
use crate::judge::Problem;
use crate::progress::Progress;
use crate::recoding::{Domains, PerBox, Recoding};
use crate::registry::{self, Status};

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
pub enum CutChoice {
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
    pub choice: CutChoice,
    /// How far sides reach.
    pub extent: Extent,
    /// What the width of each attribute counts; all alike where empty.
    pub weights: Vec<f64>,
}

/// Puts the records into boxes.
///
/// `None` if the policy refuses more rows than its budget before anything is cut. Fails when the policy is not closed under
/// merging, when the source has counts only, or when it is cancelled.
pub fn mondrian(
    problem: Problem<'_>,
    attributes: &Attributes,
    options: MondrianOptions,
    progress: &Progress,
) -> Result<Option<Found<PerBox>>> {
    run(problem, attributes, options, None, progress)
}

/// How positions are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Width {
    EightBytes,
    EightWords,
    EightNumbers,
    SixteenWords,
    Any,
}

impl Width {
    /// The narrowest into which all positions fit.
    fn of(axes: &[Axis<'_>]) -> Width {
        let n_positions = axes.iter().map(Axis::n_positions).max().unwrap_or(0);
        match (axes.len(), n_positions) {
            (..=8, ..=0x100) => Width::EightBytes,
            (..=8, ..=0x1_0000) => Width::EightWords,
            (..=8, _) => Width::EightNumbers,
            (..=16, ..=0x1_0000) => Width::SixteenWords,
            _ => Width::Any,
        }
    }
}

fn run(
    problem: Problem<'_>,
    attributes: &Attributes,
    options: MondrianOptions,
    width: Option<Width>,
    progress: &Progress,
) -> Result<Option<Found<PerBox>>> {
    let MondrianOptions { domains, cuts, choice, extent, weights } = options;
    let weights = checked_weights(&weights, attributes.len())?;
    let Positions { axes, mut cells } = Positions::new(problem, attributes, &domains, "mondrian")?;
    let positions = std::mem::take(&mut cells.labels);
    let search = Mondrian {
        axes: &axes,
        weights,
        policy: problem.policy,
        cells: &cells,
        cuts,
        choice,
        extent,
        progress,
        is_rows_only: problem.policy.demand().is_rows_only(),
        least: least_admitted(problem.policy, problem.source.n_rows())?,
    };
    let recoding = match width.unwrap_or_else(|| Width::of(&axes)) {
        Width::EightBytes => boxes::<[u8; 8]>(&search, positions, &domains),
        Width::EightWords => boxes::<[u16; 8]>(&search, positions, &domains),
        Width::EightNumbers => boxes::<[u32; 8]>(&search, positions, &domains),
        Width::SixteenWords => boxes::<[u16; 16]>(&search, positions, &domains),
        Width::Any => boxes::<Box<[u32]>>(&search, positions, &domains),
    };
    Ok(recoding?.map(|recoding| Found { recoding, quality: Quality::Heuristic }))
}

/// The search with positions in as few bytes as they fit into.
fn boxes<P: Point>(search: &Mondrian<'_>, positions: Vec<u32>, domains: &Domains) -> Result<Option<PerBox>> {
    let Mondrian { axes, cells, .. } = search;
    let n_cells = cells.rows.len();
    let room = match search.cuts {
        Cuts::Strict => SpareEntries::None,
        Cuts::Relaxed => SpareEntries::PartsOf(search.least),
    };
    let n_slots = n_cells + room.of(n_cells, cells.of_record.len() as u64);
    let mut slots: Vec<PartEntry<P>> = Vec::with_capacity(n_slots);
    for ((of_cell, &rows), cell) in positions.chunks_exact(axes.len()).zip(&cells.rows).zip(0..) {
        slots.push(PartEntry { place: P::new(of_cell.iter().copied()), cell, rows });
    }
    drop(positions);
    slots.resize_with(n_slots, || PartEntry { place: P::new([].into_iter()), cell: 0, rows: 0 });

    let first = P::new(axes.iter().map(|_| 0));
    let last = P::new(axes.iter().map(|axis| axis.n_positions().saturating_sub(1)));
    let Some(parts) = search.first_parts(Part::new(&mut slots, n_cells, room, first, last))? else {
        return Ok(None);
    };
    let finished = Mutex::new(Ok(Vec::new()));
    rayon::scope(|scope| {
        for part in parts {
            scope.spawn(|scope| search.work(scope, part, &finished));
        }
    });
    let mut finished = finished.into_inner().unwrap_or_else(PoisonError::into_inner)?;
    // Which task was ready first must not decide which of equal records are in which box.
    finished.sort_unstable_by_key(|part| part.from);
    let shares = finished.iter().zip(0..).flat_map(|(part, number)| {
        let entries = &slots[part.from as usize..][..part.n_entries as usize];
        entries.iter().map(move |entry| (entry.cell, number, entry.rows))
    });
    let mut shares = Shares::new(n_cells, shares);
    drop(slots);
    let sides = finished.iter().flat_map(|part| (0..axes.len()).map(|at| search.side(part, at)));
    let of_record = cells.of_record.iter().map(move |&cell| shares.next(cell));
    Ok(Some(PerBox::new(domains.clone(), sides, of_record)?))
}

/// How it is listed and run.
pub(super) const ENTRY: registry::Entry<Algorithm> = registry::Entry {
    name: "mondrian",
    summary: "boxes by recursive cuts of ordered attributes and hierarchies",
    reference: "LeFevre, DeWitt, Ramakrishnan: Mondrian multidimensional k-anonymity, ICDE 2006",
    doc: include_str!("mondrian.md"),
    status: Status::Preview,
    item: Algorithm {
        family: Family::Boxes,
        columns: ColumnNeeds::OrderOrHierarchy,
        settings: &[Setting::MondrianCuts, Setting::MondrianChoice, Setting::MondrianSides],
        claim: |settings| {
            Claimed::Boxes(match settings.cuts {
                Cuts::Strict => Overlap::DisjointBoxes,
                Cuts::Relaxed => Overlap::Allowed,
            })
        },
        traversal: None,
        run: run_task,
    },
};

fn run_task(task: &Task<'_>) -> Result<Option<Answer>> {
    let Settings { cuts, best_cuts, extent, .. } = *task.settings;
    let gain = Gain::of_metric(task.metric);
    let options = MondrianOptions {
        domains: task.domains.clone(),
        cuts,
        choice: if best_cuts { CutChoice::Best(gain) } else { CutChoice::Median },
        extent,
        weights: task.aim.costs.weights.clone(),
    };
    let found = mondrian(task.problem, task.attributes, options, task.progress)?;
    Ok(found.map(|found| of_boxes(task, found)))
}

impl Gain {
    /// What cuts gain by, where this metric is aimed at.
    pub(super) fn of_metric(name: &str) -> Self {
        match name {
            "discernibility" | "average-group-size" => Gain::Discernibility,
            _ => Gain::Loss,
        }
    }
}

/// Boxes as an answer. The best by another metric than the one that was asked for is not known to be the best.
pub(super) fn of_boxes(task: &Task<'_>, found: Found<PerBox>) -> Answer {
    let is_aimed_at = matches!(task.metric, "loss" | "discernibility");
    let quality = if is_aimed_at { found.quality } else { Quality::Heuristic };
    Answer::of_recoding(Recoding::PerBox(found.recoding), quality)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::frequency::Rows;
    use crate::hierarchy::spec::{Decimal, IntervalKind};
    use crate::hierarchy::{Attribute, Hierarchy};
    use crate::privacy::Policy;
    use crate::recoding::{Domain, Order};
    use crate::table::{Column, Role, Table};

    /// Three columns of whole numbers, all ordered, with many equal values.
    fn table(n_rows: u32) -> (Table, Attributes, Domains) {
        let column = |at: u32| {
            let cell = |row: u32| ((row * (7 + 4 * at) + row * row % 5) % (4 + 9 * at)).to_string();
            let cells: Vec<String> = (0..n_rows).map(cell).collect();
            Column::from_cells(format!("q{at}"), Role::QuasiIdentifier, cells.iter().map(String::as_str))
                .unwrap()
        };
        let columns: Vec<Column> = (0..3).map(column).collect();
        let bind = |column: &Column| {
            let hierarchy = Hierarchy::suppression(column.dictionary().values());
            Attribute::bind(column, hierarchy, "test").unwrap()
        };
        let attributes = columns.iter().map(bind).collect();
        let order = Order::Grid { kind: IntervalKind::Numbers, step: Some(Decimal::whole(1)), bounds: None };
        let domain = |column| Some(Arc::new(Domain::new(column, &order).unwrap()));
        let domains = columns.iter().map(domain).collect();
        (Table::new(columns).unwrap(), Attributes::new(attributes).unwrap(), domains)
    }

    #[test]
    fn boxes_do_not_depend_on_how_positions_are_kept() {
        let (table, attributes, domains) = table(500);
        let rows = Rows::new(&table, &attributes).unwrap();
        for (k, cuts) in [(2, Cuts::Strict), (7, Cuts::Strict), (2, Cuts::Relaxed), (7, Cuts::Relaxed)] {
            let policy = Policy::k_anonymity(k).unwrap();
            let problem = Problem { source: &rows, policy: &policy };
            let boxes = |width| {
                let options =
                    MondrianOptions { domains: domains.clone(), cuts, ..MondrianOptions::default() };
                run(problem, &attributes, options, width, &Progress::new()).unwrap().unwrap().recoding
            };
            let narrowest = boxes(None);
            assert!(narrowest.n_boxes() > 10);
            assert!((0..narrowest.n_boxes()).all(|number| narrowest.rows(number) >= k));
            for width in
                [Width::EightBytes, Width::EightWords, Width::EightNumbers, Width::SixteenWords, Width::Any]
            {
                assert_eq!(boxes(Some(width)), narrowest, "{width:?}, {k}, {cuts:?}");
            }
        }
    }
}
