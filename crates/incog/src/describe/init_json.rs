//! What is in a table and what is proposed, for programs: plain data as one JSON object.

use serde_json::json;

use crate::describe::init::{Init, role_name};
use crate::recognize::propose::ProposedHierarchy;

impl Init {
    /// As one JSON object: `rows`, `columns` with what was counted and what is proposed, and `exposures`, the sets of columns on which
    /// most rows are alone. Names, kinds and counts; no cell.
    pub fn to_json(&self) -> String {
        let columns = self.profile.columns.iter().zip(&self.proposals).map(|(column, proposal)| {
            json!({
                "name": column.name,
                "kind": column.kind.to_string(),
                "distinct": column.distinct,
                "missing": column.missing,
                "unique": column.once,
                "longest": column.longest,
                "role": role_name(proposal.role),
                "hierarchy": hierarchy(&proposal.hierarchy),
                "reason": proposal.reason,
                "may_be_unit": proposal.may_be_unit,
            })
        });
        let name = |&at: &usize| self.profile.columns[at].name.as_str();
        let exposures = self.exposures.worst.iter().map(
            |set| json!({"columns": set.columns.iter().map(name).collect::<Vec<_>>(), "alone": set.alone}),
        );
        let fields = json!({
            "rows": self.profile.rows,
            "columns": columns.collect::<Vec<_>>(),
            "considered": self.exposures.considered.len(),
            "exposures": exposures.collect::<Vec<_>>(),
        });
        serde_json::to_string_pretty(&fields).expect("fields are text, numbers and lists of them")
    }
}

/// What a job would say behind `hierarchy =`; nothing where a value is kept or suppressed. Widths are text, as exact as they were written.
fn hierarchy(proposed: &ProposedHierarchy) -> serde_json::Value {
    match proposed {
        ProposedHierarchy::Intervals { widths, top: None } => json!({"intervals": widths}),
        ProposedHierarchy::Intervals { widths, top: Some(top) } => json!({"intervals": widths, "top": top}),
        other => {
            let rule = other
                .to_toml()
                .and_then(|rule| toml::from_str::<toml::Table>(&format!("rule = {rule}")).ok());
            rule.and_then(|rule| serde_json::to_value(rule.get("rule")?).ok()).unwrap_or_default()
        }
    }
}
