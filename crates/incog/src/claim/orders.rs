//! The orders of columns in the checker's terms.

use incog_core::hierarchy::spec::{Decimal, IntervalKind};
use incog_core::recoding::{Domain, Domains, Order};
use incog_core::value::Notation;
use incog_verify::{OrderClaim, Style};

/// The orders in the checker's terms.
pub(crate) fn claims(domains: &Domains) -> Vec<Option<OrderClaim>> {
    let claim = |domain: &Domain| claim(&domain.order(), style(domain.notation()));
    domains.iter().map(|domain| domain.as_deref().map(claim)).collect()
}

fn claim(order: &Order, style: Style) -> OrderClaim {
    match order {
        Order::Categories(categories) => OrderClaim::Categories(categories.clone()),
        Order::Grid { kind, step, bounds } => {
            let show = |bound: &Decimal| kind.show(bound, &Notation::PLAIN);
            let bounds = bounds.as_ref().map(|(least, end)| [least, end].map(show));
            let step = step.as_ref().map_or("1".to_owned(), Decimal::to_string);
            match kind {
                IntervalKind::Numbers => OrderClaim::Numbers { step, bounds, style },
                // Steps of dates are whole days.
                IntervalKind::Dates => OrderClaim::Dates { step: step.parse().unwrap_or(1), bounds, style },
            }
        }
    }
}

/// How a column writes numbers and dates, in the checker's terms.
pub(crate) fn style(notation: &Notation) -> Style {
    Style {
        decimal: notation.decimal(),
        thousands: notation.thousands(),
        dates: notation.dates().map(|format| format.as_str().to_owned()),
    }
}
