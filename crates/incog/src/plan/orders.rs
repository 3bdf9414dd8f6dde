//! In which order do the values of a quasi-identifier stand?
//!
//! A job says so by a column's `order`: numbers, dates, a list, or the lines of its hierarchy. A hierarchy of `intervals` says it too: its narrowest width that may be chosen is the
//! step, its bounds are the bounds. (Not if values are pooled at the ends, or counted from an origin: an order has
//! neither.) All other columns have none; `mondrian` then uses their hierarchies.

use std::sync::Arc;

use incog_core::hierarchy::spec::{Decimal, IntervalKind, Intervals};
use incog_core::hierarchy::{Attribute, Attributes};
use incog_core::recoding::{Domain, Domains, Order};
use incog_core::table::Table;
use incog_core::table::label::EMPTY_TEXT;
use incog_core::{Error, ErrorKind, Result};

use crate::job::Mistakes;
use crate::job::{
    ColumnJob, GridJob, HierarchyJob, IntervalsOf, Job, NumberOrText, OrderJob, OrderWord, RoleJob,
};

/// Checks what can be checked of the orders without the data.
pub(crate) fn check(job: &Job, mistakes: &mut Mistakes) {
    for (name, column) in job.columns.iter().filter(|(_, column)| column.order.is_some()) {
        if column.role != RoleJob::QuasiIdentifier {
            let mistake = format!("column `{name}` has an order and is no quasi-identifier");
            let error = job.mistake(&key(name), mistake);
            mistakes.note::<()>(Err(error.with_hint("only quasi-identifiers are put into intervals")));
            continue;
        }
        mistakes.note(order(job, name, column));
    }
}

/// Databases are recoded by hierarchies.
pub(crate) fn refuse(job: &Job, mistakes: &mut Mistakes) {
    for (name, _) in job.columns.iter().filter(|(_, column)| column.order.is_some()) {
        let mistake = format!("column `{name}` has an order, which is for jobs about one table");
        mistakes.note::<()>(Err(job.mistake(&key(name), mistake).with_hint("leave it out")));
    }
}

/// The order of each attribute's values; `None` where nobody gives one.
pub(crate) fn domains(job: &Job, table: &Table, attributes: &Attributes) -> Result<Domains> {
    let domain = |attribute: &Attribute| {
        let name = attribute.name();
        let column = job.columns.get(name).zip(table.column(name));
        let (column, data) =
            column.ok_or_else(|| Error::new(ErrorKind::Internal, "an attribute is in no column"))?;
        let order = match order(job, name, column)? {
            None => return Ok(None),
            Some(OrderBy::Itself(order)) => order,
            Some(OrderBy::Hierarchy) => {
                let values = attribute.hierarchy().labels(0).values();
                // The empty text has no place in a hierarchy's lines, so it has none in their order.
                let in_order = values.filter(|value| !value.is_empty() && *value != EMPTY_TEXT);
                Order::Categories(in_order.map(str::to_owned).collect())
            }
        };
        let domain = Domain::new(data, &order).map_err(|error| job.at(&key(name), &error))?;
        Ok(Some(Arc::new(domain)))
    };
    attributes.iter().map(domain).collect()
}

fn key(name: &str) -> [&str; 3] {
    ["columns", name, "order"]
}

/// What an order goes by.
enum OrderBy {
    Itself(Order),
    /// The lines of the column's hierarchy.
    Hierarchy,
}

/// The order that a job gives a column.
fn order(job: &Job, name: &str, column: &ColumnJob) -> Result<Option<OrderBy>> {
    let wrong = |error: Error| job.at(&key(name), &error.prefixed(&format!("column `{name}`: ")));
    let order = match &column.order {
        Some(OrderJob::Word(OrderWord::Numbers)) => Some(Order::NUMBERS),
        Some(OrderJob::Word(OrderWord::Dates)) => Some(Order::DATES),
        Some(OrderJob::Word(OrderWord::Hierarchy)) => {
            let hierarchy = column.hierarchy.as_ref();
            let has_lines = hierarchy.is_some_and(|it| it.file.is_some() || it.tree.is_some());
            let has_values =
                hierarchy.is_none_or(|it| it.levels.as_ref().is_none_or(|levels| levels.contains(&0)));
            if !has_lines || !has_values {
                let error =
                    Error::input("the order of its hierarchy takes one from a file or a tree, with level 0");
                return Err(wrong(
                    error.with_hint("write \"numbers\", \"dates\" or a list of all values instead"),
                ));
            }
            return Ok(Some(OrderBy::Hierarchy));
        }
        Some(OrderJob::Categories(categories)) if categories.is_empty() => {
            let error = Error::input("the order lists no categories");
            return Err(wrong(error.with_hint("list all values that can occur, lowest first")));
        }
        Some(OrderJob::Categories(categories)) => Some(Order::Categories(categories.clone())),
        Some(OrderJob::Grid(grid)) => Some(of_grid(grid).map_err(wrong)?),
        None => match &column.hierarchy {
            Some(hierarchy) => of_intervals(hierarchy).map_err(wrong)?,
            None => None,
        },
    };
    Ok(order.map(OrderBy::Itself))
}

fn of_grid(grid: &GridJob) -> Result<Order> {
    let kind = kind(grid.of);
    let step = grid.step.as_ref().map(|step| positive("step", step)).transpose()?;
    Ok(Order::Grid { kind, step, bounds: bounds(kind, grid.bounds.as_ref())? })
}

/// The order that a hierarchy of intervals implies.
fn of_intervals(hierarchy: &HierarchyJob) -> Result<Option<Order>> {
    let Some(widths) = &hierarchy.intervals else {
        return Ok(None);
    };
    if hierarchy.bottom.is_some() || hierarchy.top.is_some() || hierarchy.origin.is_some() {
        return Ok(None);
    }
    // Level 1 has the first width.
    let is_allowed = |level: usize| {
        hierarchy.levels.as_ref().is_none_or(|levels| levels.iter().any(|&other| usize::from(other) == level))
    };
    let narrowest = (1..).zip(widths).find(|&(level, _)| is_allowed(level));
    let Some((_, width)) = narrowest else {
        return Ok(None);
    };
    let kind = kind(hierarchy.of.unwrap_or(IntervalsOf::Numbers));
    let step = Some(positive("intervals", width)?);
    Ok(Some(Order::Grid { kind, step, bounds: bounds(kind, hierarchy.bounds.as_ref())? }))
}

fn kind(of: IntervalsOf) -> IntervalKind {
    match of {
        IntervalsOf::Numbers => IntervalKind::Numbers,
        IntervalsOf::Dates => IntervalKind::Dates,
    }
}

fn positive(key: &str, number: &NumberOrText) -> Result<Decimal> {
    Decimal::parse(&number.to_string()).filter(Decimal::is_positive).ok_or_else(|| {
        Error::input(format!("`{key}` is not a number above 0")).with_hint("a step of dates is in days")
    })
}

fn bounds(kind: IntervalKind, bounds: Option<&[NumberOrText; 2]>) -> Result<Option<(Decimal, Decimal)>> {
    let Some([least, end]) = bounds else {
        return Ok(None);
    };
    let read = |bound: &NumberOrText| {
        Intervals::parse(kind, &bound.to_string()).ok_or_else(|| {
            Error::input(match kind {
                IntervalKind::Numbers => "`bounds` are not two numbers",
                IntervalKind::Dates => "`bounds` are not two dates like 2003-04-17",
            })
        })
    };
    let (least, end) = (read(least)?, read(end)?);
    if least >= end {
        return Err(Error::input("the lower bound is not below the upper one"));
    }
    Ok(Some((least, end)))
}
