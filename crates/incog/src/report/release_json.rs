//! What came of a job, for programs: the same as its text, as one JSON object.
//!
//! Every field is there in every object; what a release does not have is null or an empty list.

use incog_core::algorithm::Quality;
use serde_json::{Value, json};

use crate::claim::measured::LocalColumn;
use crate::find::Better;
use crate::publish::places::from_here;
use crate::report::findings::finding_fields;
use crate::report::release::{Published, ReleaseReport, TableSummary};

impl Published {
    /// As one JSON object: the fields of [`ReleaseReport::to_json`], `path` and `record`.
    pub fn to_json(&self) -> String {
        let mut fields = self.report.fields();
        fields["path"] = json!(from_here(&self.path).display().to_string());
        fields["record"] = json!(self.record.as_deref().map(|path| from_here(path).display().to_string()));
        written(&fields)
    }
}

impl ReleaseReport {
    /// As one JSON object. Columns, levels and counts; no label and no cell value.
    pub fn to_json(&self) -> String {
        written(&self.fields())
    }

    fn fields(&self) -> Value {
        let (quality, gap, bound) = match self.quality {
            Quality::Optimal => ("optimal", Some(0.0), Some(self.score)),
            Quality::Within { gap, bound } => ("within", Some(gap), Some(bound)),
            Quality::Heuristic => ("heuristic", None, None),
        };
        let level = |(name, level, highest): &(String, u8, u8)| json!({"name": name, "level": level, "highest": highest});
        let local = self.local.as_ref();
        json!({
            "rows": self.rows,
            "released_rows": self.rows - self.suppressed_rows,
            "suppressed_rows": self.suppressed_rows,
            "budget": self.budget,
            "algorithm": self.algorithm,
            "model": self.model,
            "metric": self.metric,
            "score": self.score,
            "loss": self.loss,
            // A JSON number of many digits is not what most programs read.
            "discernibility": self.discernibility.map(|sum| sum.to_string()),
            "distortion": local.map(|(_, distortion)| distortion),
            "quality": quality,
            "gap": gap,
            "bound": bound,
            "nodes_judged": self.judged.map(|judged| judged.nodes),
            "columns": self.levels.iter().map(level).collect::<Vec<_>>(),
            "local_columns": local.map_or(Vec::new(), |(columns, _)| columns.iter().map(local_column).collect()),
            "tables": self.tables.iter().map(table).collect::<Vec<_>>(),
            "groups": self.n_groups(),
            "smallest_group": self.checked.smallest_group,
            "fewest_persons": self.checked.fewest_persons,
            "verified": self.checked.holds(),
            "findings": self.checked.findings.iter().map(finding_fields).collect::<Vec<_>>(),
            "notes": self.notes,
            "better": self.better.iter().map(better).collect::<Vec<_>>(),
        })
    }
}

fn written(fields: &Value) -> String {
    serde_json::to_string_pretty(fields).expect("fields are text, numbers and lists of them")
}

fn local_column(column: &LocalColumn) -> Value {
    let rows = column.rows.iter().map(|(level, rows)| json!({"level": level, "rows": rows}));
    json!({
        "name": column.name,
        "highest": column.highest,
        "levels": rows.collect::<Vec<_>>(),
        "intervals": column.intervals,
        "distortion": column.distortion,
    })
}

fn table(TableSummary { name, rows, removed_rows, loss }: &TableSummary) -> Value {
    json!({"name": name, "rows": rows, "removed_rows": removed_rows, "loss": loss})
}

fn better(Better { column, level, suppressed_rows }: &Better) -> Value {
    json!({"column": column, "level": level, "suppressed_rows": suppressed_rows})
}
