//! `incog search`: every generalization that satisfies the policy.

use std::time::Instant;

use incog_core::metric;
use incog_core::{Result, Watch};

use crate::decide::{Settled, judged_one_by_one};
use crate::plan::Plan;
use crate::report::SearchReport;

/// Which nodes a report lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listing {
    /// The minimal ones.
    Minimal,
    /// Every node that holds, too.
    All,
}

impl Plan {
    /// Fails where the job's algorithm finds one release.
    pub(crate) fn refuse_what_finds_one(&self) -> Result<()> {
        let name = self.local.map(|local| local.name).or(self.node.map(|node| node.name));
        let Some(name) = name else {
            return self.refuse_limits("lists every generalization, and cannot be cut short");
        };
        let mistake = format!("`{name}` finds one release: there are no generalizations to list");
        Err(self
            .job
            .mistake(&["search", "algorithm"], mistake)
            .with_hint("use `incog anonymize`, or a full-domain algorithm such as incognito"))
    }

    /// Fails where the job has a limit that would have no effect.
    pub(crate) fn refuse_limits(&self, why: &str) -> Result<()> {
        let search = &self.job.search;
        let set = [("max_steps", search.max_steps.is_some()), ("time_limit", search.time_limit.is_some())];
        let Some((key, _)) = set.into_iter().find(|(_, is_set)| *is_set) else {
            return Ok(());
        };
        let mistake = format!("`{key}` has no effect here: this {why}");
        Err(self.job.mistake(&["search", key], mistake).with_hint("leave it out"))
    }

    /// Searches, and looks at the nodes to be listed.
    pub fn search(&self, listing: Listing, watch: &Watch) -> Result<SearchReport> {
        self.refuse_what_finds_one()?;
        let problem = self.deciding_problem();
        let start = Instant::now();
        let outcome = self.search.run(problem, watch)?;
        let search_time = start.elapsed();
        let costs = self.costs()?;
        let describe =
            |nodes: &[usize]| metric::describe(problem, &self.attributes, &outcome.lattice, nodes, watch);
        let minimal = describe(&outcome.minimal)?;
        let all = match listing {
            Listing::Minimal => None,
            Listing::All => Some(describe(&outcome.holding.iter().collect::<Vec<_>>())?),
        };
        let (lattice, holding) = (&outcome.lattice, &outcome.holding);
        let best = metric::best(problem, &self.attributes, lattice, holding, &costs, self.metric, watch)?;
        let mut report =
            SearchReport::new(self, &outcome, &costs, search_time, &minimal, all.as_deref(), best.as_ref());
        match &best {
            None => report.obstacle = Some(self.obstacle(watch)?),
            Some(best) => match self.settle(&best.statistics)? {
                Settled::Fails(obstacle) => report.obstacle = Some(obstacle),
                Settled::Holds(released) => {
                    let (chosen, released) = (best.statistics.suppressed_rows, released.suppressed_rows);
                    report.notes = self.notes(outcome.left_open, chosen, released);
                }
            },
        }
        if report.notes.is_empty() {
            report.notes = outcome.left_open.map(judged_one_by_one).into_iter().collect();
        }
        Ok(report)
    }
}
