//! What `incog init` found and proposes, for programs.

use std::path::Path;

use incog::unstable::cli::Described;
use incog::{Init, RoleJob};
use schemars::JsonSchema;
use serde::Serialize;

/// What is in a table that nobody described, and what is proposed for it: names of columns and counts, no cell.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct InitJson {
    data: String,
    /// Where the job is; `-` is standard output.
    job: String,
    rows: u64,
    /// Columns that wait for a decision.
    undecided: usize,
    columns: Vec<ColumnJson>,
    /// Column sets that single people out: rows that no other row equals on them.
    singling: Vec<SetJson>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ColumnJson {
    name: String,
    role: RoleJob,
    /// Why.
    reason: String,
    /// Distinct values, the missing one left out.
    distinct: u64,
    /// Rows without a value.
    missing: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct SetJson {
    columns: Vec<String>,
    rows_alone: u64,
}

impl Described for InitJson {
    const NAME: &'static str = "init";
}

impl InitJson {
    pub(crate) fn of(init: &Init, job: &Path) -> Self {
        let profiled = || init.profile.columns.iter();
        let column = |(profile, proposal): (&incog::unstable::describe::profile::ColumnProfile, _)| {
            let proposal: &incog::unstable::describe::propose::Proposal = proposal;
            ColumnJson {
                name: profile.name.clone(),
                role: proposal.role,
                reason: proposal.reason.clone(),
                distinct: profile.distinct,
                missing: profile.missing,
            }
        };
        let set = |set: &incog::unstable::describe::profile::Exposure| SetJson {
            columns: set.columns.iter().map(|&at| init.profile.columns[at].name.clone()).collect(),
            rows_alone: set.alone,
        };
        InitJson {
            data: init.data.display().to_string(),
            job: job.display().to_string(),
            rows: init.profile.rows,
            undecided: init.n_undecided(),
            columns: profiled().zip(&init.proposals).map(column).collect(),
            singling: init.exposures.worst.iter().map(set).collect(),
        }
    }
}
