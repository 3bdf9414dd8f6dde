//! Recodings by boxes: `ordered-set` and `mondrian`, where columns have an order.
//!
//! From what a job says of them to a search, and to what is claimed of its answer. Loss is measured by the width of an
//! interval in the column's domain where the column has an order, by its hierarchy elsewhere.

use incog_core::algorithm::found::Found;
use incog_core::algorithm::{
    Boxes, Choice, Cuts, Extent, Gain, MondrianOptions, OrderedSetOptions, Quality, mondrian, ordered_set,
};
use incog_core::recoding::{Domains, PerBox};
use incog_core::{Error, Result, Watch};
use incog_verify::{BoxesClaim, OverlapClaim, RecodingClaim};

use crate::job::{Job, MondrianChoice, MondrianCuts, MondrianSides, RoleJob};
use crate::orders;
use crate::plan::Plan;
use crate::settings::LimitSettings;

/// How boxes are to be found.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BoxSearch {
    item: Boxes,
    cuts: Cuts,
    is_best_cut: bool,
    extent: Extent,
    limits: LimitSettings,
}

impl BoxSearch {
    /// What the job says, if each column has what the search needs.
    pub(crate) fn new(job: &Job, item: Boxes) -> Result<Self> {
        let quasi = job.columns.iter().filter(|(_, column)| column.role == RoleJob::QuasiIdentifier);
        for (name, column) in quasi {
            if item == Boxes::Mondrian && column.order.is_none() && column.hierarchy.is_none() {
                let mistake = format!("column `{name}` has neither an order nor a hierarchy to be cut by");
                return Err(job.mistake(&["columns", name], mistake).with_hint(
                    "mondrian needs order = \"numbers\", \"dates\" or a list, or a hierarchy ({ suppress = true } for \
                     kept or `*`); attribute-suppression and cell-suppression need neither",
                ));
            }
        }
        let search = &job.search;
        Ok(BoxSearch {
            item,
            cuts: match search.mondrian_cuts {
                Some(MondrianCuts::Relaxed) => Cuts::Relaxed,
                Some(MondrianCuts::Strict) | None => Cuts::Strict,
            },
            is_best_cut: search.mondrian_choice == Some(MondrianChoice::Best),
            extent: match search.mondrian_sides {
                Some(MondrianSides::Tight) => Extent::Tight,
                Some(MondrianSides::Covering) | None => Extent::Covering,
            },
            limits: LimitSettings::new(job)?,
        })
    }

    /// Can the same search find something else another time?
    pub(crate) fn depends_on_time(self) -> bool {
        self.limits.depends_on_time()
    }

    /// What is claimed of its answer.
    pub(crate) fn claim(self, domains: &Domains) -> RecodingClaim {
        let overlap = match (self.item, self.cuts) {
            (Boxes::OrderedSet, _) => OverlapClaim::DisjointLabels,
            (Boxes::Mondrian, Cuts::Strict) => OverlapClaim::DisjointBoxes,
            (Boxes::Mondrian, Cuts::Relaxed) => OverlapClaim::Allowed,
        };
        RecodingClaim::Boxes(BoxesClaim { orders: orders::claims(domains), overlap })
    }

    /// Finds boxes; `None` if nothing satisfies the policy.
    pub(crate) fn run(self, plan: &Plan, domains: Domains, watch: &Watch) -> Result<Option<Found<PerBox>>> {
        let cost = match plan.names.metric {
            "discernibility" | "average-group-size" => Gain::Discernibility,
            _ => Gain::Loss,
        };
        let (problem, attributes, weights) = (plan.problem(), &plan.attributes, plan.weights.clone());
        let mut found = match self.item {
            Boxes::OrderedSet => {
                let limits = self.limits.starting_now();
                let options = OrderedSetOptions { domains, cost, weights, limits };
                ordered_set(problem, attributes, options, watch)
            }
            Boxes::Mondrian => {
                let choice = if self.is_best_cut { Choice::Best(cost) } else { Choice::Median };
                let options =
                    MondrianOptions { domains, cuts: self.cuts, choice, extent: self.extent, weights };
                mondrian(problem, attributes, options, watch)
            }
        }?;
        // The best by another metric than the one that was asked for.
        if let Some(found) = &mut found
            && !matches!(plan.names.metric, "loss" | "discernibility")
        {
            found.quality = Quality::Heuristic;
        }
        Ok(found)
    }
}

/// Fails if a model that goes by hierarchies has none to go by.
pub(crate) fn check_hierarchies(job: &Job, name: &str) -> Result<()> {
    let mut quasi = job.columns.values().filter(|column| column.role == RoleJob::QuasiIdentifier);
    if quasi.any(|column| column.hierarchy.is_some()) {
        return Ok(());
    }
    Err(Error::input(format!(
        "no quasi-identifier has a hierarchy, and `{name}` generalizes values along hierarchies"
    ))
    .with_hint(
        "give columns a `hierarchy` (`incog hierarchy` makes them); attribute-suppression and cell-suppression need \
         none, ordered-set and mondrian take columns with an `order` instead",
    ))
}
