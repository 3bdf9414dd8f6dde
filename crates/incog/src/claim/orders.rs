//! The orders of columns in the checker's terms.

use incog_core::hierarchy::spec::IntervalKind;
use incog_core::recoding::{Domains, Order};
use incog_verify::OrderClaim;

/// The orders in the checker's terms.
pub(crate) fn claims(domains: &Domains) -> Vec<Option<OrderClaim>> {
    domains.iter().map(|domain| domain.as_ref().map(|domain| claim(&domain.order()))).collect()
}

fn claim(order: &Order) -> OrderClaim {
    match order {
        Order::Categories(categories) => OrderClaim::Categories(categories.clone()),
        Order::Grid { kind, step, bounds } => {
            let bounds = bounds.map(|(least, end)| [least, end].map(|bound| kind.show(bound)));
            let step = step.map_or("1".to_owned(), |step| step.to_string());
            match kind {
                IntervalKind::Numbers => OrderClaim::Numbers { step, bounds },
                // Steps of dates are whole days.
                IntervalKind::Dates => OrderClaim::Dates { step: step.parse().unwrap_or(1), bounds },
            }
        }
    }
}
