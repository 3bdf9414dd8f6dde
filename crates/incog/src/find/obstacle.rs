//! Why does nothing satisfy the policy, and how far is it?

use incog_core::hierarchy::Attribute;
use incog_core::judge::Problem;
use incog_core::lattice::Grouping;
use incog_core::privacy::Pruning;
use incog_core::words::{counted, percents};
use incog_core::{Error, ErrorKind, Progress, Result};
use serde_json::{Map, Value, json};

use crate::plan::Plan;

/// What stands in the way: for people, and the same for programs.
pub(crate) struct Obstacle {
    pub(crate) text: String,
    data: Value,
}

/// The error of a job whose policy nothing satisfies; it comes from what stands in the way.
pub(crate) fn impossible(plan: &Plan, obstacle: &Obstacle) -> Error {
    Error::new(ErrorKind::Impossible, format!("nothing satisfies {}", plan.policy.describe()))
        .with_data(obstacle.data.to_string())
        .with_source(Error::new(ErrorKind::Policy, &obstacle.text))
}

/// Why nothing holds: how far even the most general release is from the policy.
pub(crate) fn closest(plan: &Plan, progress: &Progress) -> Result<Obstacle> {
    let problem = plan.deciding_problem();
    let Problem { source, policy } = problem;
    let mut closest = plan.attributes.heights();
    if policy.pruning() == Pruning::Unsound {
        // Something more detailed may need less: only what was looked at can be told.
        return Ok(need(plan, &closest)?.after("the most general: "));
    }
    let needed_at = |levels: &[u8]| -> Result<u64> {
        progress.check()?;
        let set = problem.count(&Grouping::of_levels(levels))?;
        Ok(policy.judge(&set)?.refused_rows)
    };
    // Nothing needs less suppression than the top. Of what needs no more, something more detailed says more.
    let needed = needed_at(&closest)?;
    // Where everything would have to go, no node is closer than another.
    'down: while needed < source.n_rows() {
        for at in (0..closest.len()).filter(|&at| closest[at] > 0) {
            let mut below = closest.clone();
            below[at] -= 1;
            if needed_at(&below)? == needed {
                closest = below;
                continue 'down;
            }
        }
        break;
    }
    Ok(need(plan, &closest)?.after("closest: "))
}

/// Why there is no local recoding: how far the table with everything at its top is from the policy.
pub(crate) fn at_the_top(plan: &Plan) -> Result<Obstacle> {
    let highest = plan.attributes.heights();
    let top = Grouping::of_levels(&highest);
    let set = plan.problem().count(&top)?;
    let needed = plan.policy.judge(&set)?.refused_rows;
    let n_rows = plan.table.n_rows();
    let budget = plan.policy.budget();
    let [share, allowed] = percents([needed, budget], n_rows as u64);
    let text = format!(
        "with every column at its highest level {needed} of {n_rows} rows would have to be suppressed ({share}); the budget is {} \
         ({allowed})",
        counted(budget, "row", "rows"),
    );
    Ok(Obstacle { text, data: data(plan, &highest, needed, &[]) })
}

/// The same for programs.
fn data(plan: &Plan, levels: &[u8], refused_rows: u64, models: &[(String, u64)]) -> Value {
    let level = |(attribute, &level): (&Attribute, &u8)| {
        (attribute.name().to_owned(), json!(attribute.level_number(level)))
    };
    let model = |(model, rows): &(String, u64)| json!({"model": model, "refused_rows": rows});
    json!({
        "requires": plan.policy.describe(),
        "levels": plan.attributes.iter().zip(levels).map(level).collect::<Map<_, _>>(),
        "refused_rows": refused_rows,
        "rows": plan.table.n_rows(),
        "budget": plan.policy.budget(),
        "models": models.iter().map(model).collect::<Vec<_>>(),
    })
}

impl Obstacle {
    /// The same, behind some words.
    pub(super) fn after(mut self, words: &str) -> Self {
        self.text.insert_str(0, words);
        self
    }

    /// The same, with some words behind.
    pub(super) fn and(mut self, words: &str) -> Self {
        self.text.push_str(words);
        self
    }
}

/// How many rows a release at these levels would have to leave out, and which model refuses how many.
pub(super) fn need(plan: &Plan, levels: &[u8]) -> Result<Obstacle> {
    let policy = &plan.policy;
    let set = plan.problem().count(&Grouping::of_levels(levels))?;
    let needed = policy.judge(&set)?.refused_rows;
    let named: Vec<String> = plan
        .attributes
        .iter()
        .zip(levels)
        .map(|(attribute, &level)| format!("{}={}", attribute.name(), attribute.level_number(level)))
        .collect();
    let n_rows = plan.table.n_rows();
    let [share, allowed] = percents([needed, policy.budget()], n_rows as u64);
    let mut text = format!(
        "{} would need {needed} of {n_rows} rows suppressed ({share}); the budget is {} ({allowed})",
        named.join(", "),
        counted(policy.budget(), "row", "rows"),
    );
    let models: Vec<_> = policy.models().collect();
    let mut refusals = Vec::new();
    if models.len() > 1 {
        for model in models {
            let rows = model.refused_rows(&set)?;
            refusals.push((model.describe(), rows));
            let refused = match rows {
                0 => "nothing".to_owned(),
                rows => counted(rows, "row", "rows"),
            };
            text.push_str(&format!("\n  {} refuses {refused} there", model.describe()));
        }
    }
    Ok(Obstacle { text, data: data(plan, levels, needed, &refusals) })
}
