//! The recodings of the taxonomy whose answer is a [`PerGroup`], by name.

use crate::algorithm::found::Found;
use crate::algorithm::{
    Aim, CellGeneralizationOptions, CellMethod, CellSuppressionOptions, FullSubgraphOptions,
    SuppressionMethod, UnrestrictedMultiOptions, cell_generalization, cell_suppression, full_subgraph,
    unrestricted_multi,
};
use crate::check::Problem;
use crate::error::Result;
use crate::hierarchy::Attributes;
use crate::recoding::PerGroup;
use crate::registry::{Entry, Status};
use crate::watch::Watch;

/// Which recoding model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ByGroups {
    /// [`full_subgraph`].
    FullSubgraph,
    /// [`unrestricted_multi`].
    UnrestrictedMulti,
    /// [`cell_generalization`].
    CellGeneralization,
    /// [`cell_suppression`].
    CellSuppression,
}

impl ByGroups {
    /// Finds a recoding, with the options that are best for most. `None` if nothing satisfies the policy.
    pub fn run(
        self,
        problem: Problem<'_>,
        attributes: &Attributes,
        aim: Aim<'_>,
        watch: &Watch,
    ) -> Result<Option<Found<PerGroup>>> {
        match self {
            ByGroups::FullSubgraph => {
                full_subgraph(problem, attributes, FullSubgraphOptions { aim, max_steps: None }, watch)
            }
            ByGroups::UnrestrictedMulti => {
                let options = UnrestrictedMultiOptions { aim, max_rounds: None };
                unrestricted_multi(problem, attributes, options, watch)
            }
            ByGroups::CellGeneralization => {
                let options = CellGeneralizationOptions { aim, method: CellMethod::CLUSTERS };
                cell_generalization(problem, attributes, options, watch)
            }
            ByGroups::CellSuppression => {
                let options = CellSuppressionOptions { aim, method: SuppressionMethod::Auto };
                cell_suppression(problem, attributes, options, watch)
            }
        }
    }
}

/// Multi-dimension and local recodings of the taxonomy.
pub const BY_GROUPS: &[Entry<ByGroups>] = &[
    Entry {
        name: "full-subgraph",
        summary: "cuts the combinations of values into disjoint boxes, each with labels of its own",
        reference: "LeFevre, DeWitt, Ramakrishnan, SIGMOD 2005, section 5.1.3",
        doc: include_str!("full_subgraph.md"),
        status: Status::Preview,
        item: ByGroups::FullSubgraph,
    },
    Entry {
        name: "unrestricted-multi",
        summary: "each combination of values becomes itself or any generalization",
        reference: "LeFevre, DeWitt, Ramakrishnan, SIGMOD 2005, section 5.1.3",
        doc: include_str!("unrestricted_multi.md"),
        status: Status::Preview,
        item: ByGroups::UnrestrictedMulti,
    },
    Entry {
        name: "cell-generalization",
        summary: "local recoding: clusters of similar rows get their lowest common labels",
        reference: "Byun, Kamra, Bertino, Li: Efficient k-anonymization using clustering techniques, DASFAA 2007",
        doc: include_str!("cell_generalization.md"),
        status: Status::Preview,
        item: ByGroups::CellGeneralization,
    },
    Entry {
        name: "cell-suppression",
        summary: "local recoding: cells stay or become `*`, as few as can be found",
        reference: "Aggarwal et al.: Anonymizing tables, ICDT 2005; Meyerson, Williams, PODS 2004",
        doc: include_str!("cell_suppression.md"),
        status: Status::Preview,
        item: ByGroups::CellSuppression,
    },
];
