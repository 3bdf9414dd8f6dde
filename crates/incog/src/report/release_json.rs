//! What came of a job, for programs: the same as its text, as one JSON object.
//!
//! Every field is there in every object; what a release does not have is null or an empty list.

use incog_core::algorithm::Quality;
use incog_verify::{Finding, Measured, Report};
use schemars::JsonSchema;
use serde::Serialize;

use crate::claim::measured::LocalColumn;
use crate::publish::places::from_here;
use crate::report::json::{Described, written};
use crate::report::release::{Published, ReleaseReport, TableSummary};

/// What came of a job: columns, levels and counts; no label and no cell value.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ReleaseJson {
    /// Rows of the input; of a database, persons.
    rows: u64,
    released_rows: u64,
    suppressed_rows: u64,
    /// How many rows could have been left out.
    budget: u64,
    /// What the release satisfies, in words.
    policy: String,
    quasi_identifiers: Vec<String>,
    /// The column that says whom a row is about, where persons are counted.
    unit: Option<String>,
    /// What found it.
    algorithm: &'static str,
    /// Its kind: full-domain, or the algorithm of another recoding; of a database, generalized or anatomized.
    model: &'static str,
    /// What it is the best by.
    metric: &'static str,
    score: f64,
    loss: f64,
    /// A whole number as text: it may have more digits than most programs read.
    discernibility: Option<String>,
    distortion: Option<f64>,
    /// optimal, within (a gap of it), heuristic, or given: the levels are those of a record that was replayed.
    quality: &'static str,
    gap: Option<f64>,
    bound: Option<f64>,
    nodes_judged: Option<u64>,
    columns: Vec<ColumnJson>,
    local_columns: Vec<LocalColumnJson>,
    tables: Vec<TableJson>,
    groups: u64,
    smallest_group: Option<u64>,
    median_group: Option<f64>,
    mean_group: Option<f64>,
    largest_group: Option<u64>,
    /// Persons of the group with the fewest, where persons are counted.
    fewest_persons: Option<u64>,
    /// The chance to pick the right one of a group, for who knows that somebody is in the release.
    prosecutor_risk: Option<RiskJson>,
    /// Where the suppressed rows stood, the most unevenly hit column first.
    suppression: Vec<SuppressionJson>,
    verified: bool,
    findings: Vec<FindingJson>,
    /// What sensitive columns reach.
    sensitive: Vec<SensitiveJson>,
    notes: Vec<String>,
    warnings: Vec<String>,
    /// What it would take to keep one column more detailed.
    better: Vec<BetterJson>,
    verdict: String,
}

/// The same, with the files that were written.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PublishedJson {
    /// Where the release is: a file, or the folder of a database.
    path: String,
    /// Where its record is, if one was written.
    record: Option<String>,
    #[serde(flatten)]
    release: ReleaseJson,
}

impl Described for PublishedJson {
    const NAME: &'static str = "anonymize";
}

impl Described for ReleaseJson {
    const NAME: &'static str = "release";
}

#[derive(Debug, Serialize, JsonSchema)]
struct ColumnJson {
    name: String,
    level: u8,
    highest: u8,
    /// What the level is, in words.
    meaning: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct LocalColumnJson {
    name: String,
    highest: u8,
    levels: Vec<LocalLevelJson>,
    intervals: Option<u64>,
    distortion: f64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct LocalLevelJson {
    level: u8,
    rows: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct TableJson {
    name: String,
    rows: u64,
    removed_rows: u64,
    loss: Option<f64>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct RiskJson {
    largest: f64,
    mean: f64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct SuppressionJson {
    column: String,
    /// How many rows of the table have the labels that half of the suppressed rows have.
    rows: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct BetterJson {
    column: String,
    level: u8,
    /// What the level is, in words.
    meaning: String,
    suppressed_rows: u64,
}

/// One claim, and what was found.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FindingJson {
    /// What it is about: columns, anonymity, persons, sensitive, rows, recoding, structure, keys, files, record, signature.
    kind: &'static str,
    claim: String,
    found: String,
    holds: bool,
}

/// What a release reaches on a sensitive column, in its worst group.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SensitiveJson {
    column: String,
    /// The greatest share of one value in a group.
    alpha: Option<f64>,
    distinct_l: Option<u64>,
    entropy_l: Option<f64>,
    t: Option<f64>,
    ordered_t: Option<f64>,
    /// Groups in which everybody has the same value.
    uniform_groups: u64,
    /// Those in which the value is one that nobody should learn, and their rows.
    telling_groups: u64,
    telling_rows: u64,
}

impl Published {
    /// As one JSON object: the fields of [`ReleaseReport::to_json`], `path` and `record`.
    pub fn to_json(&self) -> String {
        written(&PublishedJson {
            path: from_here(&self.path).display().to_string(),
            record: self.record.as_deref().map(|path| from_here(path).display().to_string()),
            release: self.report.fields(),
        })
    }
}

impl ReleaseReport {
    /// As one JSON object. Columns, levels and counts; no label and no cell value.
    pub fn to_json(&self) -> String {
        written(&self.fields())
    }

    fn fields(&self) -> ReleaseJson {
        let (quality, gap, bound) = match self.quality {
            _ if self.is_replayed => ("given", None, None),
            Quality::Optimal => ("optimal", Some(0.0), Some(self.score)),
            Quality::Within { gap, bound } => ("within", Some(gap), Some(bound)),
            Quality::Heuristic => ("heuristic", None, None),
        };
        let local = self.local.as_ref();
        let groups = self.groups();
        ReleaseJson {
            rows: self.rows,
            released_rows: self.rows - self.suppressed_rows,
            suppressed_rows: self.suppressed_rows,
            budget: self.budget,
            policy: self.policy.clone(),
            quasi_identifiers: self.quasi_identifiers.clone(),
            unit: self.unit.clone(),
            algorithm: self.algorithm,
            model: self.model,
            metric: self.metric,
            score: self.score,
            loss: self.loss,
            discernibility: self.discernibility.map(|sum| sum.to_string()),
            distortion: local.map(|(_, distortion)| *distortion),
            quality,
            gap,
            bound,
            nodes_judged: self.judged.map(|judged| judged.nodes),
            columns: self.columns(),
            local_columns: local
                .map_or(Vec::new(), |(columns, _)| columns.iter().map(LocalColumnJson::of).collect()),
            tables: self.tables.iter().map(TableJson::of).collect(),
            groups: self.n_groups(),
            smallest_group: self.checked.smallest_group,
            median_group: groups.map(|groups| groups.median()),
            mean_group: groups.map(|groups| groups.mean()),
            largest_group: groups.map(|groups| groups.largest),
            fewest_persons: self.checked.fewest_persons,
            prosecutor_risk: groups
                .map(|groups| RiskJson { largest: groups.largest_risk(), mean: groups.mean_risk() }),
            suppression: self.hits(),
            verified: self.checked.holds(),
            findings: findings(&self.checked.findings),
            sensitive: sensitive(&self.checked),
            notes: self.notes.clone(),
            warnings: self.warnings(),
            better: self.more_detail(),
            verdict: self.verdict(),
        }
    }

    fn columns(&self) -> Vec<ColumnJson> {
        let column = |((name, level, highest), meaning): (&(String, u8, u8), &String)| ColumnJson {
            name: name.clone(),
            level: *level,
            highest: *highest,
            meaning: meaning.clone(),
        };
        self.levels.iter().zip(&self.level_names).map(column).collect()
    }

    fn hits(&self) -> Vec<SuppressionJson> {
        let hits = self.suppression.iter();
        hits.map(|hit| SuppressionJson { column: hit.column.clone(), rows: hit.rows }).collect()
    }

    fn more_detail(&self) -> Vec<BetterJson> {
        let better = self.better.iter().map(|better| BetterJson {
            column: better.column.clone(),
            level: better.level,
            meaning: better.name.clone(),
            suppressed_rows: better.suppressed_rows,
        });
        better.collect()
    }
}

impl LocalColumnJson {
    fn of(column: &LocalColumn) -> Self {
        LocalColumnJson {
            name: column.name.clone(),
            highest: column.highest,
            levels: column.rows.iter().map(|&(level, rows)| LocalLevelJson { level, rows }).collect(),
            intervals: column.intervals,
            distortion: column.distortion,
        }
    }
}

impl TableJson {
    fn of(table: &TableSummary) -> Self {
        TableJson {
            name: table.name.clone(),
            rows: table.rows,
            removed_rows: table.removed_rows,
            loss: table.loss,
        }
    }
}

/// Claims with what was found, as data.
pub(crate) fn findings(findings: &[Finding]) -> Vec<FindingJson> {
    let finding = |finding: &Finding| FindingJson {
        kind: finding.kind.name(),
        claim: finding.claim.clone(),
        found: finding.found.clone(),
        holds: finding.holds,
    };
    findings.iter().map(finding).collect()
}

/// What sensitive columns reach, as data; those of a database with the names of their tables.
pub(crate) fn sensitive(report: &Report) -> Vec<SensitiveJson> {
    let own = report.measured.iter().map(|measured| (measured, measured.column.clone()));
    let of_tables = report.tables.iter().flat_map(|table| {
        table.measured.iter().map(|measured| (measured, format!("{}.{}", table.name, measured.column)))
    });
    let column = |(measured, column): (&Measured, String)| SensitiveJson {
        column,
        alpha: measured.alpha.map(|(n, of)| n as f64 / of as f64),
        distinct_l: measured.distinct_l,
        entropy_l: measured.entropy_l,
        t: measured.t.map(incog_verify::Fraction::to_f64),
        ordered_t: measured.ordered_t.map(incog_verify::Fraction::to_f64),
        uniform_groups: measured.uniform_groups,
        telling_groups: measured.telling_groups,
        telling_rows: measured.telling_size,
    };
    own.chain(of_tables).map(column).collect()
}
