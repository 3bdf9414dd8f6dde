//! The release record: what was published, how, and what was measured, for everybody to recompute.
//!
//! `<release>.incog.json` is canonical JSON: keys sorted, no white space, whole numbers and text only, so that equal
//! records are equal bytes. It says
//!
//! | key | what | who can recompute it |
//! |---|---|---|
//! | `release` | SHA-256, rows and columns of the released file | anybody |
//! | `claims`, `group_sizes` | k, α, ℓ and t as reached, how many groups have how many rows | anybody |
//! | `levels`, `suppressed_rows`, `scores` | the generalization and what it cost | with the job and the data |
//! | `local` | instead of `levels`: how many rows of a column stand at which level, a *keyed* digest of the seed | with the job and the data; the publisher |
//! | `job`, `job_sha256`, `hierarchies` | the job without paths, the SHA-256 of each hierarchy's file or rule | with the job |
//! | `input` | rows and a *keyed* digest of the data | the publisher, with the key |
//! | `checksum`, `seal` | SHA-256 of all the rest, and the same keyed | anybody; the publisher |
//!
//! A plain hash of a small table would confirm guesses about it, hence the key. A seed is worth something as long as
//! nobody else knows it, so the job stands here without it. It contains no cell. What a record says
//! is believed by nobody: [`Record::first_difference`] compares it with one that was made anew.

use std::collections::BTreeMap;
use std::path::Path;

use hmac::{Hmac, KeyInit, Mac};
use incog_core::hierarchy::Attribute;
use incog_core::metric::{self, Costs, Statistics};
use incog_core::table::{Column, Role, Table};
use incog_core::{Error, ErrorKind, Result};
use incog_verify::{Measured, Report};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use sha2::{Digest, Sha256};

use crate::job::{ColumnJob, HierarchyJob, Job, Lines, Paths, RoleJob, TreeJob};
use crate::local::{LocalColumn, LocalRelease};
use crate::plan::Plan;
use crate::requirements::{self, RequirePart};
use crate::sink::{Finished, Unfinished};
use crate::source;
use crate::spill::{Spilled, TextDigest};

/// The layout of records that this version writes and reads.
pub(crate) const VERSION: u32 = 1;

/// Stands for a tree that is written in the job itself.
pub(crate) const IN_THE_JOB: &str = "in the job";

/// What a record's file name adds to the release's.
pub(crate) const ENDING: &str = ".incog.json";

/// A release record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// The layout of the record.
    pub record: u32,
    /// What made the release.
    pub tool: String,
    /// The released file.
    pub release: ReleasePart,
    /// The columns that all claims are relative to.
    pub quasi_identifiers: Vec<String>,
    /// What the release reaches.
    pub claims: ClaimsPart,
    /// How many groups have how many rows: [rows, groups], ascending.
    pub group_sizes: Vec<(u64, u64)>,
    /// The data.
    pub input: InputPart,
    /// Rows that were left out.
    pub suppressed_rows: u64,
    /// The level of each quasi-identifier; none where recoding is local.
    pub levels: BTreeMap<String, u8>,
    /// What is known of a local recoding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local: Option<LocalPart>,
    /// The score by every metric.
    pub scores: BTreeMap<String, String>,
    /// The SHA-256 of each hierarchy's file, or of its rule.
    pub hierarchies: BTreeMap<String, String>,
    /// The job without paths, as TOML.
    pub job: String,
    /// The SHA-256 of `job`.
    pub job_sha256: String,
}

/// The released file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReleasePart {
    /// SHA-256 of its bytes.
    pub sha256: String,
    /// How many rows it has.
    pub rows: u64,
    /// Its columns.
    pub columns: Vec<String>,
}

/// The data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InputPart {
    /// How many rows it has.
    pub rows: u64,
    /// HMAC-SHA-256 of its columns, with the publisher's key.
    pub hmac_sha256: String,
}

/// A local recoding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LocalPart {
    /// What made it.
    pub algorithm: String,
    /// HMAC-SHA-256 of the seed, with the publisher's key, if ties were broken at random.
    pub seed_hmac_sha256: Option<String>,
    /// Each quasi-identifier.
    pub columns: BTreeMap<String, LocalColumnPart>,
}

/// A column of a local recoding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LocalColumnPart {
    /// How many released rows stand at which level: [level, rows], ascending. By an order: 0 for single values, 1 else.
    pub rows: Vec<(u8, u64)>,
    /// How many different intervals there are, where the column is recoded by its order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intervals: Option<u64>,
    /// The distortion ratio of the column.
    pub distortion: String,
}

/// What a release was asked for, and reaches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClaimsPart {
    /// The k that was asked for.
    pub k: u64,
    /// Who k counts, if not rows.
    pub unit: Option<String>,
    /// How many rows could have been left out.
    pub suppression_budget: u64,
    /// What else was asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requires: Vec<RequirePart>,
    /// Rows of the smallest group.
    pub smallest_group: Option<u64>,
    /// Persons of the group with the fewest, where persons are counted.
    pub fewest_persons: Option<u64>,
    /// What is reached on each sensitive column.
    pub sensitive: BTreeMap<String, SensitivePart>,
}

/// What a release reaches on a sensitive column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SensitivePart {
    /// The greatest share of one value in a group.
    pub alpha: Option<String>,
    /// The least number of distinct values in a group.
    pub distinct_l: Option<u64>,
    /// The least e to the entropy of a group.
    pub entropy_l: Option<String>,
    /// For l = 2, 3, ...: recursive (c, l)-diverse for every c above.
    pub recursive_c: Vec<String>,
    /// The greatest distance of a group's distribution from the release's, all values equally far apart.
    pub t: Option<String>,
    /// The same with numbers in their order.
    pub ordered_t: Option<String>,
    /// Groups in which everybody has the same value.
    pub uniform_groups: u64,
}

impl From<&Measured> for SensitivePart {
    fn from(measured: &Measured) -> Self {
        SensitivePart {
            alpha: measured.alpha.map(|(n, of)| format!("{n}/{of}")),
            distinct_l: measured.distinct_l,
            entropy_l: measured.entropy_l.map(|l| format!("{l:.6}")),
            recursive_c: measured.recursive_c.iter().map(ToString::to_string).collect(),
            t: measured.t.map(|t| t.to_string()),
            ordered_t: measured.ordered_t.map(|t| t.to_string()),
            uniform_groups: measured.uniform_groups,
        }
    }
}

/// What anybody can recompute from the released file.
#[derive(Debug)]
pub struct Seen<'a> {
    /// What the checker found.
    pub report: &'a Report,
    /// The released columns.
    pub columns: Vec<String>,
    /// SHA-256 of the file.
    pub sha256: [u8; 32],
    /// The keyed digest of the input, if it has been made.
    pub(crate) input: Option<[u8; 32]>,
}

impl Record {
    /// The record of a release of this plan.
    pub(crate) fn new(
        plan: &Plan,
        job: &Job,
        seen: &Seen<'_>,
        costs: &Costs,
        statistics: &Statistics,
        key: Option<&Key>,
    ) -> Result<Self> {
        let report = seen.report;
        let job_text = without_paths(job, plan)?;
        Ok(Record {
            record: VERSION,
            tool: format!("incog {}", env!("CARGO_PKG_VERSION")),
            release: ReleasePart {
                sha256: hex(&seen.sha256),
                rows: costs.n_rows - statistics.suppressed_rows,
                columns: seen.columns.clone(),
            },
            quasi_identifiers: plan.attributes.iter().map(|attribute| attribute.name().to_owned()).collect(),
            claims: ClaimsPart {
                k: plan.job.policy.k.unsigned_abs(),
                unit: plan.job.policy.unit.clone(),
                suppression_budget: plan.policy.budget(),
                requires: requirements::parts(&plan.job)?,
                smallest_group: report.smallest_group,
                fewest_persons: report.fewest_persons,
                sensitive: sensitive(&report.measured),
            },
            group_sizes: report.group_sizes.clone(),
            input: InputPart {
                rows: costs.n_rows,
                hmac_sha256: match (seen.input, key) {
                    (Some(digest), _) => hex(&digest),
                    (None, Some(key)) => hex(&key.digest_of(&plan.table, plan.spilled.as_ref())?),
                    (None, None) => String::new(),
                },
            },
            suppressed_rows: statistics.suppressed_rows,
            levels: plan
                .attributes
                .iter()
                .zip(&statistics.levels)
                .map(|(attribute, &level)| (attribute.name().to_owned(), attribute.level_number(level)))
                .collect(),
            local: None,
            scores: metric::ALL
                .iter()
                .map(|entry| (entry.name.to_owned(), format!("{:.9}", entry.item.score(costs, statistics))))
                .collect(),
            hierarchies: hierarchies(job)?,
            job_sha256: hex(&Sha256::digest(&job_text).into()),
            job: job_text,
        })
    }

    /// The same record, of a local recoding.
    #[must_use]
    pub(crate) fn with_local(mut self, plan: &Plan, local: Option<&LocalRelease>, key: Option<&Key>) -> Self {
        let (Some(search), Some(local)) = (&plan.local, local) else {
            return self;
        };
        // Without the key there is nothing to compare the digest with.
        let digest = |seed: u64| key.map_or_else(String::new, |key| hex(&key.seal(&format!("seed {seed}"))));
        let column = |column: &LocalColumn| {
            let part = LocalColumnPart {
                rows: column.rows.clone(),
                intervals: column.intervals,
                distortion: format!("{:.9}", column.distortion),
            };
            (column.name.clone(), part)
        };
        self.local = Some(LocalPart {
            algorithm: search.name.to_owned(),
            seed_hmac_sha256: search.seed.map(digest),
            columns: local.columns.iter().map(column).collect(),
        });
        self
    }

    /// The same record with everything that can be seen from the released file put in its place.
    #[must_use]
    pub fn with_seen(&self, seen: &Seen<'_>) -> Self {
        let mut record = self.clone();
        record.release = ReleasePart {
            sha256: hex(&seen.sha256),
            rows: seen.report.group_sizes.iter().map(|(rows, groups)| rows * groups).sum(),
            columns: seen.columns.clone(),
        };
        if let Ok(job) = Job::parse(&self.job) {
            record.quasi_identifiers = job.quasi_identifiers();
            record.claims.k = job.policy.k.unsigned_abs();
            record.claims.requires = requirements::parts(&job).unwrap_or_default();
            record.claims.unit = job.policy.unit;
        }
        record.claims.smallest_group = seen.report.smallest_group;
        record.claims.sensitive = sensitive(&seen.report.measured);
        record.group_sizes.clone_from(&seen.report.group_sizes);
        record.job_sha256 = hex(&Sha256::digest(&self.job).into());
        record
    }

    /// The first key in which this record, which somebody wrote, differs from one that was made anew. The key of the
    /// input's digest is compared only where it was made anew.
    pub fn first_difference(&self, anew: &Record) -> Option<String> {
        let mut anew = anew.clone();
        if anew.input.hmac_sha256.is_empty() {
            anew.input.hmac_sha256.clone_from(&self.input.hmac_sha256);
        }
        if let (Some(anew), Some(mine)) = (&mut anew.local, &self.local)
            && anew.seed_hmac_sha256.as_deref() == Some("")
            && mine.seed_hmac_sha256.is_some()
        {
            anew.seed_hmac_sha256.clone_from(&mine.seed_hmac_sha256);
        }
        // Another version of incog may have written it; that is no difference.
        anew.tool.clone_from(&self.tool);
        let [mine, theirs] =
            [self, &anew].map(|record| serde_json::to_value(record).expect("a record is plain data"));
        difference(&mine, &theirs, "")
    }

    /// The job that the release was made by, without its paths.
    pub fn job(&self) -> Result<Job> {
        let mut job =
            Job::parse(&self.job).map_err(|error| Error::input(format!("the record's job: {error}")))?;
        // Its lines are in no file that anybody could open.
        job.lines = Lines::default();
        Ok(job)
    }

    /// Fails if a hierarchy is another one than the release was made with.
    pub(crate) fn check_hierarchies(&self, job: &Job) -> Result<()> {
        for (name, digest) in hierarchies(job)? {
            if self.hierarchies.get(&name) != Some(&digest) {
                return Err(Error::input(format!(
                    "the hierarchy of column `{name}` is another one than the record's"
                ))
                .with_hint("use the hierarchies that the release was made with"));
            }
        }
        Ok(())
    }

    /// The file's text, sealed with the publisher's key.
    pub(crate) fn to_json(&self, key: &Key) -> String {
        sealed(serde_json::to_value(self).expect("a record is plain data"), key)
    }

    /// Reads a record. One that was edited is refused: by its checksum, and by its seal where the key is given.
    pub fn read(path: &Path, key: Option<&Key>) -> Result<Self> {
        unsealed(path, key)
    }
}

/// A record's text, with its checksum and its seal.
pub(crate) fn sealed(mut record: Json, key: &Key) -> String {
    let text = canonical(&record);
    record["checksum"] = Json::String(hex(&Sha256::digest(&text).into()));
    record["seal"] = Json::String(hex(&key.seal(&text)));
    canonical(&record) + "\n"
}

/// Reads a record of either kind, if its checksum is right, and its seal where the key is given.
pub(crate) fn unsealed<T: for<'de> Deserialize<'de>>(path: &Path, key: Option<&Key>) -> Result<T> {
    let text = source::read_text(path, "the record")?;
    let broken = |problem: &str| {
        Error::input(format!("record `{}` {problem}", path.display()))
            .with_hint("the publisher can make it anew with `incog anonymize`")
    };
    let mut value: Json = serde_json::from_str(&text).map_err(|_| broken("is not a release record"))?;
    let mut take = |key: &str| match value.as_object_mut().and_then(|object| object.remove(key)) {
        Some(Json::String(text)) => Ok(text),
        _ => Err(broken(&format!("has no `{key}`"))),
    };
    let (checksum, seal) = (take("checksum")?, take("seal")?);
    let version = value.get("record").and_then(Json::as_u64);
    if version != Some(u64::from(VERSION)) {
        return Err(broken("is of another version").with_hint("use the version of incog that wrote it"));
    }
    let plain = canonical(&value);
    if checksum != hex(&Sha256::digest(&plain).into()) {
        return Err(broken("was edited: its checksum is not that of its content"));
    }
    if key.is_some_and(|key| hex(&key.seal(&plain)) != seal) {
        return Err(broken("was not sealed with this key"));
    }
    serde_json::from_value(value).map_err(|_| broken("lacks a part or has one that is unknown"))
}

pub(crate) fn sensitive(measured: &[Measured]) -> BTreeMap<String, SensitivePart> {
    measured.iter().map(|measured| (measured.column.clone(), measured.into())).collect()
}

/// Where two records differ first, as `levels.age: the record says 2, found 1`.
pub(crate) fn difference(mine: &Json, anew: &Json, at: &str) -> Option<String> {
    match (mine, anew) {
        (Json::Object(mine), Json::Object(anew)) => {
            let mut keys: Vec<&String> = mine.keys().chain(anew.keys()).collect();
            keys.sort();
            keys.dedup();
            keys.into_iter().find_map(|key| {
                let at = if at.is_empty() { key.clone() } else { format!("{at}.{key}") };
                let at = at.as_str();
                difference(mine.get(key).unwrap_or(&Json::Null), anew.get(key).unwrap_or(&Json::Null), at)
            })
        }
        (mine, anew) if mine == anew => None,
        // Without a header, what stands in the first line may be somebody's cells.
        _ if at.ends_with(".columns") => Some(format!("{at}: the columns are others")),
        // The job is long; what differs in it is for its own lines to say.
        _ if at == "job" => Some("job: the job is another one".to_owned()),
        (mine, anew) => Some(format!("{at}: the record says {mine}, found {anew}")),
    }
}

/// JSON with sorted keys and without white space.
fn canonical(value: &Json) -> String {
    match value {
        Json::Object(object) => {
            let mut keys: Vec<&String> = object.keys().collect();
            keys.sort();
            let members: Vec<String> = keys
                .iter()
                .map(|key| format!("{}:{}", Json::from(key.as_str()), canonical(&object[*key])))
                .collect();
            format!("{{{}}}", members.join(","))
        }
        Json::Array(list) => format!("[{}]", list.iter().map(canonical).collect::<Vec<_>>().join(",")),
        plain => plain.to_string(),
    }
}

/// The job as TOML, without its paths and its seed, and with whatever a rule took from the data: a replay does the same to others.
fn without_paths(job: &Job, plan: &Plan) -> Result<String> {
    let mut job = job.clone();
    job.input.path = Paths::One("-".into());
    // What is released does not depend on it.
    job.input.memory = None;
    job.output = None;
    job.search.seed = None;
    for (name, column) in &mut job.columns {
        let attribute = plan.attributes.iter().find(|attribute| attribute.name() == name);
        without_path(column, attribute);
    }
    for require in &mut job.policy.require {
        requirements::without_cells(require, IN_THE_JOB);
    }
    toml::to_string(&job)
        .map_err(|error| Error::new(ErrorKind::Internal, format!("the job cannot be written: {error}")))
}

/// Takes the path out of what a job says of a column, and puts in what a rule took from the data.
pub(crate) fn without_path(column: &mut ColumnJob, attribute: Option<&Attribute>) {
    let Some(hierarchy) = &mut column.hierarchy else {
        return;
    };
    if let Some(TreeJob::Branches(_)) = &hierarchy.tree {
        // Its leaves may be values of the data.
        hierarchy.tree = Some(TreeJob::File(IN_THE_JOB.into()));
    } else if let Some(file) = hierarchy.files_mut() {
        *file = file.file_name().unwrap_or_default().into();
    }
    if let (Some(_), None, Some(attribute)) = (hierarchy.mask, hierarchy.length, attribute) {
        hierarchy.length = Some(usize::from(attribute.full_height()));
    }
}

/// The SHA-256 of each hierarchy: of its file, or of its rule.
pub(crate) fn hierarchies(job: &Job) -> Result<BTreeMap<String, String>> {
    let digest = |hierarchy: &HierarchyJob| -> Result<String> {
        let mut sha256 = Sha256::new();
        let mut rule = hierarchy.clone();
        // Which levels may be chosen, and how long values are, is the job's business.
        (rule.levels, rule.length) = (None, None);
        if let Some(file) = rule.files_mut() {
            let path = job.resolve(file);
            *file = "file".into();
            sha256.update(std::fs::read(&path).map_err(|error| {
                Error::new(ErrorKind::Io, format!("cannot read the hierarchy `{}`: {error}", path.display()))
            })?);
        }
        let rule = toml::to_string(&rule)
            .map_err(|error| Error::new(ErrorKind::Internal, format!("a rule cannot be written: {error}")))?;
        sha256.update(rule);
        Ok(hex(&sha256.finalize().into()))
    };
    let required = requirements::hierarchies_of(job).map(|(name, hierarchy)| Ok((name, digest(hierarchy)?)));
    let is_quasi = |(_, column): &(&String, &ColumnJob)| column.role == RoleJob::QuasiIdentifier;
    let quasi_identifiers = job.columns.iter().filter(is_quasi);
    quasi_identifiers
        .map(|(name, column)| Ok((name.clone(), digest(&column.hierarchy.clone().unwrap_or_default())?)))
        .chain(required)
        .collect()
}

impl HierarchyJob {
    /// The file it is in, if it is in one.
    pub(crate) fn file(&self) -> Option<&Path> {
        match (&self.file, &self.tree) {
            (Some(file), _) | (None, Some(TreeJob::File(file))) => Some(file),
            _ => None,
        }
    }

    /// The same, to be changed.
    pub(crate) fn files_mut(&mut self) -> Option<&mut std::path::PathBuf> {
        match (&mut self.file, &mut self.tree) {
            (Some(file), _) | (None, Some(TreeJob::File(file))) => Some(file),
            _ => None,
        }
    }
}

/// The publisher's key: 32 random bytes in a file of their own, readable by its owner only.
pub struct Key([u8; 32]);

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key")
    }
}

impl Key {
    /// Reads a key.
    pub fn read(path: &Path) -> Result<Self> {
        let text = source::read_text(path, "the key")?;
        let text = text.trim();
        let byte = |at: usize| u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok();
        let bytes: Option<Vec<u8>> = (0..32).map(byte).collect();
        match bytes.and_then(|bytes| bytes.try_into().ok()).filter(|_| text.len() == 64) {
            Some(bytes) => Ok(Key(bytes)),
            None => Err(Error::input(format!("`{}` is not a key of incog", path.display()))
                .with_hint("a key is 64 hexadecimal digits; choose another file with --key")),
        }
    }

    /// Reads a key, or makes one if the file is not there; the new file has yet to appear.
    pub(crate) fn read_or_make(path: &Path) -> Result<(Self, Option<Finished>)> {
        if path.exists() {
            return Ok((Key::read(path)?, None));
        }
        let key = Key(rand::random());
        let hint = |error: Error| {
            error.with_hint("the publisher's key goes there; choose another file with --key, or --no-record")
        };
        let mut file = Unfinished::create_private(path).map_err(hint)?;
        file.put((hex(&key.0) + "\n").as_bytes())?;
        Ok((key, Some(file.finish()?)))
    }

    fn mac(&self) -> Hmac<Sha256> {
        Hmac::new_from_slice(&self.0).expect("a key may have any length")
    }

    fn seal(&self, text: &str) -> [u8; 32] {
        let mut mac = self.mac();
        mac.update(text.as_bytes());
        mac.finalize().into_bytes().into()
    }

    /// A keyed digest of a table: its columns' names, their values in order of first appearance, and a digest of which stands
    /// where; of identifiers a digest of their cells, one after the other.
    pub(crate) fn digest_of(&self, table: &Table, spilled: Option<&Spilled>) -> Result<[u8; 32]> {
        let of_codes = |(at, column): (usize, &Column)| -> Result<[u8; 32]> {
            if column.role() == Role::Identifier {
                // Where rows are spilled nobody has the values any more.
                let of_spilled = spilled.and_then(|spilled| spilled.identifiers[at]);
                return Ok(of_spilled.unwrap_or_else(|| {
                    let mut digest = TextDigest::default();
                    digest.push(column);
                    digest.finish()
                }));
            }
            const ROWS: usize = 1 << 14;
            let mut mac = self.mac();
            let mut bytes = Vec::with_capacity(4 * ROWS);
            let mut update = |codes: &[u32]| {
                bytes.clear();
                bytes.extend(codes.iter().flat_map(|code| code.to_le_bytes()));
                mac.update(&bytes);
            };
            match spilled {
                None => column.codes().chunks(ROWS).for_each(&mut update),
                Some(spilled) => {
                    let mut codes = vec![0; ROWS];
                    for first in (0..table.n_rows()).step_by(ROWS) {
                        let codes = &mut codes[..ROWS.min(table.n_rows() - first)];
                        spilled.read(at, first, codes)?;
                        update(codes);
                    }
                }
            }
            Ok(mac.finalize().into_bytes().into())
        };
        let digests = table.columns().par_iter().enumerate().map(of_codes);
        let digests: Vec<[u8; 32]> = digests.collect::<Result<_>>()?;
        let mut mac = self.mac();
        let text = |text: &str, mac: &mut Hmac<Sha256>| {
            mac.update(&(text.len() as u64).to_le_bytes());
            mac.update(text.as_bytes());
        };
        for (column, digest) in table.columns().iter().zip(&digests) {
            text(column.name(), &mut mac);
            if column.role() != Role::Identifier {
                for value in column.dictionary().values() {
                    text(value, &mut mac);
                }
            }
            mac.update(digest);
        }
        Ok(mac.finalize().into_bytes().into())
    }
}

/// The SHA-256 of a file.
pub(crate) fn sha256_of(path: &Path) -> Result<[u8; 32]> {
    if path.as_os_str() == source::STANDARD {
        return Err(Error::input("a release from standard input cannot be compared with its record")
            .with_hint("save it to a file first"));
    }
    let failed = |error: std::io::Error| {
        Error::new(ErrorKind::Io, format!("cannot read the release `{}`: {error}", path.display()))
    };
    let mut file = std::fs::File::open(path).map_err(failed)?;
    let mut sha256 = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        match std::io::Read::read(&mut file, &mut buffer).map_err(failed)? {
            0 => return Ok(sha256.finalize().into()),
            n => sha256.update(&buffer[..n]),
        }
    }
}

pub(crate) fn hex(bytes: &[u8; 32]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_have_equal_canonical_text() {
        let text = |json: &str| canonical(&serde_json::from_str(json).unwrap());
        assert_eq!(
            text("{ \"b\": [1, 2, {\"d\": null, \"c\": true}], \"a\": \"x\\\"y\" }"),
            text("{\"a\":\"x\\\"y\",\"b\":[1,2,{\"c\":true,\"d\":null}]}")
        );
        assert_eq!(text("{\"b\":1, \"a\":2}"), "{\"a\":2,\"b\":1}");
    }

    #[test]
    fn the_first_difference_is_named_by_its_key() {
        let value = |json: &str| serde_json::from_str::<Json>(json).unwrap();
        let [mine, anew] =
            [value("{\"a\":{\"x\":1,\"y\":2},\"b\":3}"), value("{\"a\":{\"x\":1,\"y\":5},\"b\":4}")];
        assert_eq!(difference(&mine, &anew, "").unwrap(), "a.y: the record says 2, found 5");
        assert_eq!(difference(&mine, &mine, ""), None);
    }

    #[test]
    fn a_table_digest_depends_on_every_cell_and_on_the_key() {
        let (one, other) = (Key([1; 32]), Key([2; 32]));
        for role in [Role::Other, Role::Identifier] {
            let digest = |key: &Key, cells: [&str; 3]| {
                let column = Column::from_cells("c", role, cells).unwrap();
                key.digest_of(&Table::new(vec![column]).unwrap(), None).unwrap()
            };
            let first = digest(&one, ["a", "b", "a"]);
            assert_eq!(first, digest(&one, ["a", "b", "a"]));
            assert_ne!(first, digest(&one, ["a", "b", "b"]));
            assert_ne!(first, digest(&one, ["a", "c", "a"]));
            assert_ne!(first, digest(&one, ["ab", "", "a"]));
            assert_ne!(first, digest(&other, ["a", "b", "a"]));
        }
    }
}
