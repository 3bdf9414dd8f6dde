//! In which order do the values of a column stand, and where may they be cut?
//!
//! A [`Domain`] divides a line into *slots*: for numbers and dates all of one width, the *step*, with their ends on
//! multiples of it; for categories one for each, in the order that the user gives. A range is some slots in a row, so that
//! ranges that have no slot in common have disjoint labels.
//!
//! **Labels never show the data's own extremes.** The ends of a range are multiples of the step, or the declared bounds.
//! A step that is not given is the least of 1, 2, 5, 10, ... units that makes at most [`MAX_SLOTS`] slots out of the
//! declared bounds, or out of the least and greatest value of the whole column where none are declared; for dates
//! 1, 7, 28, 91, 364, ... days. It tells their order of magnitude and nothing else. A step may be as fine as the data; so
//! where no bounds are declared, the ends of the whole domain are rounded to 10 units, or 28 days, at least. (Cuts
//! in between are on the step.)
//!
//! A range of a single unit (one whole number, where all numbers of the column are whole) is shown as that number, `37`
//! and not `[37, 38)`. That tells no more, since its ends are on the grid or are bounds, like those of any other range.
//! Categories are `low..mid`; a single one is shown as itself.
//!
//! **A missing value** (an empty cell) is a value of its own outside the order: never inside a range. The empty text of a
//! Parquet file is not missing, and has no place in an order of numbers.
//!
//! **Leaves**, for loss: numbers count in units, one in the last decimal place that values, step or bounds have; so the
//! share of a range is its width by the width of the declared bounds, or of the domain rounded outward to the step. Where that
//! are more than [`MAX_LEAVES`], they count in tens, hundreds, ... of units.

use crate::error::{Error, ErrorKind, Result};
use crate::hash;
use crate::hierarchy::SUPPRESSED;
use crate::hierarchy::spec::{Decimal, IntervalKind};
use crate::hierarchy::spelling::spelled_otherwise;
use crate::recoding::Side;
use crate::table::Column;
use crate::table::label::EMPTY_TEXT;
use crate::value::{MOST_DIGITS, Notation};

/// A step that nobody has given makes at most this many slots between the least and the greatest value, or the bounds.
pub const MAX_SLOTS: u64 = 32;

/// A domain has at most this many leaves: loss adds them up over the rows of a table.
const MAX_LEAVES: u64 = 1_000_000_000_000_000_000;

/// What stands between the ends of a range of categories.
const DOTS: &str = "..";

/// How a column is ordered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Order {
    /// As numbers or dates, on a grid.
    Grid {
        /// Which of the two.
        kind: IntervalKind,
        /// The width of a slot; days for dates.
        step: Option<Decimal>,
        /// The least value that can occur, and the first that cannot any more.
        bounds: Option<(Decimal, Decimal)>,
    },
    /// As the user says: all values that can occur, lowest first.
    Categories(Vec<String>),
}

impl Order {
    /// Numbers with neither step nor bounds.
    pub const NUMBERS: Order = Order::Grid { kind: IntervalKind::Numbers, step: None, bounds: None };
    /// Dates with neither step nor bounds.
    pub const DATES: Order = Order::Grid { kind: IntervalKind::Dates, step: None, bounds: None };
}

/// The slots of a column, and which of them each value is in.
///
/// # Invariants
/// Every value but the missing one has a slot below `n_slots`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Domain {
    slots: Slots,
    n_slots: u64,
    /// The slot of each value code; `None` for the missing value.
    of_value: Vec<Option<u64>>,
    has_missing: bool,
    /// Without the missing value.
    n_leaves: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Slots {
    Grid(Box<Grid>),
    Categories(Vec<String>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Grid {
    kind: IntervalKind,
    notation: Notation,
    start: Decimal,
    step: Decimal,
    unit: Decimal,
    /// The width of a leaf: the unit, or some power of ten times that.
    leaf: Decimal,
    bounds: (Decimal, Decimal),
}

impl Domain {
    /// The domain of a column in some order. Fails when values are not of that kind, out of bounds, or not in the list.
    pub fn new(column: &Column, order: &Order) -> Result<Self> {
        match order {
            Order::Grid { kind, step, bounds } => Domain::grid(column, *kind, step.clone(), bounds.as_ref()),
            Order::Categories(categories) => Domain::categories(column, categories),
        }
    }

    fn grid(
        column: &Column,
        kind: IntervalKind,
        step: Option<Decimal>,
        bounds: Option<&(Decimal, Decimal)>,
    ) -> Result<Self> {
        let wrong = |what: &str| Error::input(format!("column `{}`: {what}", column.name()));
        if step.as_ref().is_some_and(|step| !step.is_positive()) {
            return Err(wrong("the step is not positive"));
        }
        if kind == IntervalKind::Dates && step.as_ref().is_some_and(|step| !step.is_whole()) {
            return Err(wrong("the step is not a whole number of days"));
        }
        if bounds.is_some_and(|(least, end)| least >= end) {
            return Err(wrong("the lower bound is not below the upper one"));
        }
        let notation = column.notation();
        let is_within = |value: &Decimal| bounds.is_none_or(|(least, end)| least <= value && value < end);
        let read = |value: &str| kind.read(value, notation).filter(is_within);
        let values: Vec<Option<Decimal>> = column.dictionary().values().map(read).collect();
        let within = match bounds {
            None => String::new(),
            Some((least, end)) => format!(" in {}", kind.label(least, end, notation)),
        };
        refuse_strange(
            column,
            |code| values[code].is_none(),
            &format!("{}{within}", kind.describe(notation)),
        )?;
        let numbers = || values.iter().flatten();
        let of_bounds = bounds.iter().flat_map(|(least, end)| [least, end]);
        let Some(unit) = numbers().chain(of_bounds).chain(&step).map(Decimal::unit).min() else {
            // No values and nothing declared.
            return Ok(Domain::of_nothing(column, kind));
        };
        let ends = (
            numbers().min().cloned().unwrap_or(Decimal::ZERO),
            numbers().max().cloned().unwrap_or(Decimal::ZERO),
        );
        let too_wide = || {
            Error::new(
                ErrorKind::Limit,
                format!("column `{}`: the domain has too many slots to be numbered", column.name()),
            )
            .with_hint("give a wider `step`, or bounds")
        };
        let step = match step {
            Some(step) => step,
            None => {
                let fits =
                    |step: &Decimal| reach(&ends, bounds, step, step).is_some_and(|(_, n)| n <= MAX_SLOTS);
                steps(kind, &unit).find(fits).ok_or_else(too_wide)?
            }
        };
        let outer = outer(kind, &unit, &step).ok_or_else(too_wide)?;
        let (start, n_slots) = reach(&ends, bounds, &step, &outer).ok_or_else(too_wide)?;
        let end = start.plus_steps(&step, n_slots);
        let bounds = bounds.cloned().unwrap_or_else(|| (start.clone(), end));
        // Ends that nobody could write down, such as the day after 9999-12-31.
        let is_readable = |end: &Decimal| {
            kind == IntervalKind::Numbers
                || kind.read(&kind.show(end, &Notation::PLAIN), &Notation::PLAIN).as_ref() == Some(end)
        };
        if ![&bounds.0, &bounds.1].into_iter().all(is_readable) {
            return Err(wrong(
                "a date is too near the first or last day of the calendar for an interval to end beyond it",
            )
            .with_hint("give `bounds`; what stands for a missing value should be an empty cell"));
        }
        let leaf = leaf(&bounds, &unit);
        let n_leaves = bounds.1.steps_from(&bounds.0, &leaf).ok_or_else(too_wide)?.max(1);
        let slot = |value: &Option<Decimal>| value.as_ref().and_then(|value| value.steps_from(&start, &step));
        Ok(Domain {
            of_value: values.iter().map(slot).collect(),
            n_slots,
            has_missing: column.dictionary().code("").is_some(),
            n_leaves,
            slots: Slots::Grid(Box::new(Grid {
                kind,
                notation: notation.clone(),
                start,
                step,
                unit,
                leaf,
                bounds,
            })),
        })
    }

    fn of_nothing(column: &Column, kind: IntervalKind) -> Self {
        let one = Decimal::whole(1);
        let grid = Grid {
            kind,
            notation: column.notation().clone(),
            start: Decimal::ZERO,
            step: one.clone(),
            unit: one.clone(),
            leaf: one.clone(),
            bounds: (Decimal::ZERO, one),
        };
        Domain {
            slots: Slots::Grid(Box::new(grid)),
            n_slots: 1,
            of_value: vec![None; column.dictionary().len()],
            has_missing: !column.dictionary().is_empty(),
            n_leaves: 1,
        }
    }

    fn categories(column: &Column, categories: &[String]) -> Result<Self> {
        let wrong = |what: String| Error::input(format!("column `{}`: {what}", column.name()));
        let mut slots: hash::Map<&str, u64> = hash::Map::default();
        for (at, category) in categories.iter().enumerate() {
            let has_dots = category.contains(DOTS) || category.starts_with('.') || category.ends_with('.');
            if category.is_empty() || category == SUPPRESSED || has_dots {
                return Err(wrong(format!(
                    "category {} of the order is empty, `{SUPPRESSED}`, contains `{DOTS}`, or begins or ends with a dot, \
                     which mean something in labels",
                    at + 1
                ))
                .with_hint("call it something else; an empty cell is a missing value and needs no category"));
            }
            if slots.insert(category.as_str(), at as u64).is_some() {
                return Err(wrong(format!("category {} of the order stands there twice", at + 1)));
            }
        }
        let slot = |value: &str| slots.get(value).copied();
        let mut of_value: Vec<Option<u64>> = column.dictionary().values().map(slot).collect();
        let names = categories.iter().map(String::as_str);
        for (code, at) in spelled_otherwise(column, names, |value| slots.contains_key(value)) {
            of_value[code as usize] = Some(at as u64);
        }
        refuse_strange(column, |code| of_value[code].is_none(), "in the order of its categories")?;
        Ok(Domain {
            of_value,
            n_slots: categories.len().max(1) as u64,
            n_leaves: categories.len().max(1) as u64,
            slots: Slots::Categories(categories.to_vec()),
            has_missing: column.dictionary().code("").is_some(),
        })
    }

    /// How many slots there are, whether or not they have values.
    pub fn n_slots(&self) -> u64 {
        self.n_slots
    }

    /// The slot of a value code of the column; `None` for the missing value.
    pub fn slot(&self, value: u32) -> Option<u64> {
        self.of_value[value as usize]
    }

    /// How many values the column has.
    pub(crate) fn n_values(&self) -> usize {
        self.of_value.len()
    }

    /// Does the missing value occur?
    pub fn has_missing(&self) -> bool {
        self.has_missing
    }

    /// How many leaves the domain has; the missing value is one more, if it occurs.
    pub fn n_leaves(&self) -> u64 {
        self.n_leaves + u64::from(self.has_missing)
    }

    /// How many leaves lie in the slots from `start` up to but not including `end`.
    pub fn leaves(&self, start: u64, end: u64) -> u64 {
        match &self.slots {
            Slots::Categories(_) => end - start,
            Slots::Grid(grid) => {
                let (start, end) = grid.ends(start, end);
                end.steps_from(&start, &grid.leaf).unwrap_or(self.n_leaves).max(1)
            }
        }
    }

    /// The label of the slots from `start` up to but not including `end`.
    pub fn label(&self, start: u64, end: u64) -> String {
        match &self.slots {
            Slots::Categories(categories) => {
                let category = |slot: u64| categories.get(slot as usize).map_or("", String::as_str);
                if end - start <= 1 {
                    category(start).to_owned()
                } else {
                    format!("{}{DOTS}{}", category(start), category(end - 1))
                }
            }
            Slots::Grid(grid) => {
                let (start, end) = grid.ends(start, end);
                let is_single = end.minus(&start) == grid.unit;
                let Grid { kind, notation, .. } = &**grid;
                if is_single { kind.show(&start, notation) } else { kind.label(&start, &end, notation) }
            }
        }
    }

    /// The side of a box that has this label: what [`Side::name`] says, read backwards. `None` if none has.
    pub fn side(&self, label: &str) -> Option<Side> {
        match label {
            "" => return Some(Side::Missing),
            SUPPRESSED => return Some(Side::Everything),
            _ => {}
        }
        let (start, end) = match &self.slots {
            Slots::Categories(categories) => {
                let slot = |category: &str| categories.iter().position(|other| other == category);
                let (first, last) = label.split_once(DOTS).unwrap_or((label, label));
                (slot(first)? as u64, slot(last)? as u64 + 1)
            }
            Slots::Grid(grid) => {
                let slot = |text: &str| grid.read(text)?.steps_from(&grid.start, &grid.step);
                match label.strip_prefix('[').and_then(|label| label.strip_suffix(')')) {
                    None => (slot(label)?, slot(label)? + 1),
                    Some(ends) => {
                        let (first, end) = ends.split_once(grid.kind.separator(&grid.notation))?;
                        let is_last = grid.read(end)? == grid.bounds.1;
                        (slot(first)?, if is_last { self.n_slots } else { slot(end)? })
                    }
                }
            }
        };
        let is_range = start < end && end <= self.n_slots;
        (is_range && self.label(start, end) == label).then_some(Side::Range { start, end })
    }

    /// How the column is ordered, with the step and the bounds that were settled on.
    pub fn order(&self) -> Order {
        match &self.slots {
            Slots::Categories(categories) => Order::Categories(categories.clone()),
            Slots::Grid(grid) => Order::Grid {
                kind: grid.kind,
                step: Some(grid.step.clone()),
                bounds: Some(grid.bounds.clone()),
            },
        }
    }

    /// How numbers are written in the column and in its labels.
    pub fn notation(&self) -> &Notation {
        match &self.slots {
            Slots::Categories(_) => &Notation::PLAIN,
            Slots::Grid(grid) => &grid.notation,
        }
    }
}

impl Grid {
    /// The ends of a range of slots, cut off at the bounds.
    fn ends(&self, from: u64, to: u64) -> (Decimal, Decimal) {
        let at = |slot: u64| self.start.plus_steps(&self.step, slot);
        (at(from).max(self.bounds.0.clone()), at(to).min(self.bounds.1.clone()))
    }

    /// Reads an end as labels have it: a number in the column's notation, or a date as 2003-04-17.
    fn read(&self, text: &str) -> Option<Decimal> {
        let notation = if self.kind == IntervalKind::Dates { &Notation::PLAIN } else { &self.notation };
        self.kind.read(text, notation)
    }
}

/// What a domain reaches over with some step, if its ends are bounds, or else multiples of `outer` around the least and the greatest
/// value: where it starts, and its number of slots.
fn reach(
    (least, greatest): &(Decimal, Decimal),
    bounds: Option<&(Decimal, Decimal)>,
    step: &Decimal,
    outer: &Decimal,
) -> Option<(Decimal, u64)> {
    let Some((from, to)) = bounds else {
        let start = least.floor_to(&Decimal::ZERO, outer);
        let end = greatest.floor_to(&Decimal::ZERO, outer).plus(outer);
        let n_slots = end.steps_from(&start, step)?;
        return Some((start, n_slots));
    };
    let start = from.floor_to(&Decimal::ZERO, step);
    let whole = to.steps_from(&start, step)?;
    let is_full = start.plus_steps(step, whole) == *to;
    Some((start, if is_full { whole } else { whole.checked_add(1)? }))
}

/// The least of 1, 10, 100, ... units that makes at most [`MAX_LEAVES`] leaves.
fn leaf((least, end): &(Decimal, Decimal), unit: &Decimal) -> Decimal {
    let mut leaf = unit.clone();
    while end.steps_from(least, &leaf).is_none_or(|n| n > MAX_LEAVES) {
        leaf = leaf.times(10);
    }
    leaf
}

/// A step may be as fine as the data. So the ends of the domain are rounded further than its cuts, and are not the least and
/// the greatest value: to the least multiple of the step that is 10 units, or 28 days, or more.
fn outer(kind: IntervalKind, unit: &Decimal, step: &Decimal) -> Option<Decimal> {
    let least = match kind {
        IntervalKind::Numbers => unit.times(10),
        IntervalKind::Dates => unit.times(28),
    };
    let times = least.steps_from(&Decimal::ZERO, step)?;
    let rounded = Decimal::ZERO.plus_steps(step, times);
    Some(if rounded < least { rounded.plus(step) } else { rounded })
}

/// Steps to choose from, ascending: as many as numbers of the greatest length need.
fn steps(kind: IntervalKind, unit: &Decimal) -> impl Iterator<Item = Decimal> {
    let first: &[u32] = match kind {
        IntervalKind::Numbers => &[1, 2, 5],
        IntervalKind::Dates => &[1, 7, 28, 91, 364, 728, 1820],
    };
    let powers = std::iter::successors(Some(unit.clone()), |ten| Some(ten.times(10)));
    powers.take(2 * MOST_DIGITS).enumerate().flat_map(move |(power, ten)| {
        // Days: only years are counted in tens.
        let some = if power > 0 && kind == IntervalKind::Dates { &first[4..] } else { first };
        some.iter().map(move |&times| ten.times(times))
    })
}

/// Fails when values (not the missing one) are strange, saying how many and where the first is.
fn refuse_strange(column: &Column, is_strange: impl Fn(usize) -> bool, kind: &str) -> Result<()> {
    let missing = column.dictionary().code("");
    let is_strange = |code: u32| Some(code) != missing && is_strange(code as usize);
    let n_values = column.dictionary().len() as u32;
    let n_strange = (0..n_values).filter(|&code| is_strange(code)).count();
    if n_strange == 0 {
        return Ok(());
    }
    let first = column.codes().iter().position(|&code| is_strange(code)).map_or(0, |row_idx| row_idx + 1);
    if n_strange == 1 && column.dictionary().code(EMPTY_TEXT).is_some() {
        return Err(Error::input(format!(
            "column `{}` has no order: empty texts are not {kind} (first in record {first})",
            column.name()
        ))
        .with_hint("an empty text is a value of its own: make it null where the value is missing"));
    }
    Err(Error::input(format!(
        "column `{}` has no order: {n_strange} of {n_values} values are not {kind} (first in record {first})",
        column.name()
    ))
    .with_hint(
        "clean them, list all categories in order, or give the column a hierarchy and choose mondrian, or a model that \
         needs no order: full-domain, full-subtree, unrestricted, full-subgraph, unrestricted-multi, \
         cell-generalization",
    ))
}

#[cfg(test)]
mod tests;
