//! What stands in the file of a record, version 2.
//!
//! A release of one table and the release of a database have files of two layouts, which are older than their common type. This
//! is the only place that knows them. Which of the two a file has is told by `tables`, which only a database's has.
//!
//! | one table | database | [`Record`] |
//! |---|---|---|
//! | `release` (a file), `input`, `quasi_identifiers`, `claims.sensitive` | `tables` | `tables` |
//! | `levels`, `local` | `release` (a kind), `algorithm` | `recoding` |
//! | `claims.smallest_group`, `group_sizes`, `suppressed_rows` | `claims.smallest_class`, `class_sizes`, `suppressed_persons` | `claims.smallest_group`, `group_sizes`, `suppressed` |
//!
//! Reading is lenient here: whoever reads a file compares what was read, written again, with the file.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use crate::job::ReleaseKind;
use crate::plan::requirements::RequirePart;
use crate::publish::record::{
    ClaimsPart, FilePart, LocalPart, PlacesPart, RecodingPart, Record, SensitivePart, TablePart,
};

/// The parts that both layouts have.
#[derive(Deserialize)]
struct Shared {
    record: u32,
    tool: String,
    scores: BTreeMap<String, String>,
    hierarchies: BTreeMap<String, String>,
    job: String,
    job_hmac_sha256: String,
    places: Option<PlacesPart>,
    publisher: Option<String>,
}

/// The parts that the file of one table has beside those.
#[derive(Deserialize)]
struct OfTable {
    release: FilePart,
    quasi_identifiers: Vec<String>,
    claims: TableClaims,
    group_sizes: Vec<(u64, u64)>,
    input: Input,
    suppressed_rows: u64,
    levels: BTreeMap<String, u8>,
    local: Option<LocalPart>,
}

#[derive(Deserialize)]
struct TableClaims {
    k: u64,
    combinations: Option<u64>,
    unit: Option<String>,
    suppression_budget: u64,
    #[serde(default)]
    requires: Vec<RequirePart>,
    smallest_group: Option<u64>,
    fewest_persons: Option<u64>,
    sensitive: BTreeMap<String, SensitivePart>,
}

#[derive(Deserialize)]
struct Input {
    rows: u64,
    hmac_sha256: String,
}

/// The parts that the file of a database has beside those.
#[derive(Deserialize)]
struct OfDatabase {
    release: ReleaseKind,
    algorithm: String,
    tables: BTreeMap<String, TablePart>,
    claims: DatabaseClaims,
    class_sizes: Vec<(u64, u64)>,
    suppressed_persons: u64,
}

#[derive(Deserialize)]
struct DatabaseClaims {
    k: u64,
    #[serde(default)]
    requires: Vec<RequirePart>,
    smallest_class: Option<u64>,
}

impl Record {
    /// The content of its file.
    pub(crate) fn to_value(&self) -> Json {
        let mut parts = match &self.recoding {
            RecodingPart::Clusters { release, algorithm } => self.parts_of_database(*release, algorithm),
            RecodingPart::Levels(levels) => self.parts_of_table(levels, None),
            RecodingPart::Local(local) => self.parts_of_table(&BTreeMap::new(), Some(local)),
        };
        for (key, part) in [
            ("record", json!(self.record)),
            ("tool", json!(self.tool)),
            ("scores", json!(self.scores)),
            ("hierarchies", json!(self.hierarchies)),
            ("job", json!(self.job)),
            ("job_hmac_sha256", json!(self.job_hmac_sha256)),
        ] {
            parts[key] = part;
        }
        put_if_any(&mut parts, "places", &self.places, self.places.is_some());
        put_if_any(&mut parts, "publisher", &self.publisher, self.publisher.is_some());
        parts
    }

    fn parts_of_table(&self, levels: &BTreeMap<String, u8>, local: Option<&LocalPart>) -> Json {
        let ClaimsPart {
            k,
            combinations,
            unit,
            suppression_budget,
            requires,
            smallest_group,
            fewest_persons,
        } = &self.claims;
        let mut parts = json!({
            "claims": {
                "k": k,
                "unit": unit,
                "suppression_budget": suppression_budget.unwrap_or_default(),
                "smallest_group": smallest_group,
                "fewest_persons": fewest_persons,
            },
            "group_sizes": self.group_sizes,
            "suppressed_rows": self.suppressed,
            "levels": levels,
        });
        put_if_any(&mut parts["claims"], "combinations", combinations, combinations.is_some());
        put_if_any(&mut parts["claims"], "requires", requires, !requires.is_empty());
        if let Some(table) = self.table() {
            parts["release"] = json!(table.file);
            parts["quasi_identifiers"] = json!(table.quasi_identifiers);
            parts["claims"]["sensitive"] = json!(table.sensitive);
            parts["input"] = json!({ "rows": table.input_rows, "hmac_sha256": table.input_hmac_sha256 });
        }
        put_if_any(&mut parts, "local", &local, local.is_some());
        parts
    }

    fn parts_of_database(&self, release: ReleaseKind, algorithm: &str) -> Json {
        let ClaimsPart { k, requires, smallest_group, .. } = &self.claims;
        let mut parts = json!({
            "release": release,
            "algorithm": algorithm,
            "tables": self.tables,
            "claims": { "k": k, "smallest_class": smallest_group },
            "class_sizes": self.group_sizes,
            "suppressed_persons": self.suppressed,
        });
        put_if_any(&mut parts["claims"], "requires", requires, !requires.is_empty());
        parts
    }

    /// The record whose file has this content; nothing if a part is missing or of another kind.
    pub(crate) fn from_value(content: &Json) -> Option<Self> {
        let shared = Shared::deserialize(content).ok()?;
        if content.get("tables").is_some() {
            let parts = OfDatabase::deserialize(content).ok()?;
            let mut tables = parts.tables.values();
            let is_whole = |table: &TablePart| {
                let mut files = std::iter::once(&table.file).chain(table.sensitive_files.values());
                table.loss.is_some() && files.all(|file| file.name.is_some())
            };
            return tables.all(is_whole).then(|| of_database(parts, shared));
        }
        let parts = OfTable::deserialize(content).ok()?;
        parts.release.name.is_none().then(|| of_table(parts, shared))
    }
}

fn of_table(parts: OfTable, shared: Shared) -> Record {
    let TableClaims {
        k,
        combinations,
        unit,
        suppression_budget,
        requires,
        smallest_group,
        fewest_persons,
        sensitive,
    } = parts.claims;
    let table = TablePart {
        file: parts.release,
        sensitive_files: BTreeMap::new(),
        quasi_identifiers: parts.quasi_identifiers,
        smallest_set: smallest_group,
        sensitive,
        input_rows: parts.input.rows,
        input_hmac_sha256: parts.input.hmac_sha256,
        removed_rows: parts.suppressed_rows,
        loss: None,
    };
    let claims = ClaimsPart {
        k,
        combinations,
        unit,
        suppression_budget: Some(suppression_budget),
        requires,
        smallest_group,
        fewest_persons,
    };
    let recoding = parts.local.map_or(RecodingPart::Levels(parts.levels), RecodingPart::Local);
    let tables = BTreeMap::from([(String::new(), table)]);
    with_shared(shared, tables, recoding, claims, parts.group_sizes, parts.suppressed_rows)
}

fn of_database(parts: OfDatabase, shared: Shared) -> Record {
    let DatabaseClaims { k, requires, smallest_class } = parts.claims;
    let claims = ClaimsPart {
        k,
        combinations: None,
        unit: None,
        suppression_budget: None,
        requires,
        smallest_group: smallest_class,
        fewest_persons: None,
    };
    let recoding = RecodingPart::Clusters { release: parts.release, algorithm: parts.algorithm };
    with_shared(shared, parts.tables, recoding, claims, parts.class_sizes, parts.suppressed_persons)
}

fn with_shared(
    shared: Shared,
    tables: BTreeMap<String, TablePart>,
    recoding: RecodingPart,
    claims: ClaimsPart,
    group_sizes: Vec<(u64, u64)>,
    suppressed: u64,
) -> Record {
    let Shared { record, tool, scores, hierarchies, job, job_hmac_sha256, places, publisher } = shared;
    Record {
        record,
        tool,
        tables,
        recoding,
        claims,
        group_sizes,
        suppressed,
        scores,
        hierarchies,
        job,
        job_hmac_sha256,
        places,
        publisher,
    }
}

/// Puts a part where there is something to say; what there is nothing of is left out.
fn put_if_any(parts: &mut Json, key: &str, part: &impl Serialize, is_any: bool) {
    if is_any {
        parts[key] = json!(part);
    }
}
