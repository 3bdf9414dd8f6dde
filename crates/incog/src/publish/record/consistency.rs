//! Is a record what its release alone can tell? For whoever has neither the job nor the data.
//!
//! Everything that follows from the released file or from other parts of the record is computed anew and compared: files,
//! groups and what sensitive columns reach from the release; k, quasi-identifiers, requirements and the budget from the record's
//! job; suppressed rows from rows in and out; scores from levels and group sizes. What is bounded by something else is
//! compared with its bound.
//!
//! Not checked, because it takes the job, its hierarchies and the data: how many rows the data have, whether the levels are those
//! of the labels, how many persons a group has, losses, precision and distortion, and what is required of listed values or
//! of persons. Not checked without the publisher's key: the digests of data, job, hierarchies and seed.

use std::collections::BTreeMap;

use incog_core::metric;
use incog_core::registry::find;

use crate::job::{AnyJob, Job, RoleJob};
use crate::plan;
use crate::plan::requirements;
use crate::publish::record::job_text::{JobText, hierarchies};
use crate::publish::record::{
    FilePart, LocalPart, Observed, RecodingPart, Record, TablePart, hex, sensitive,
};

/// Scores that lie between 0 and 1.
const SHARES: [&str; 4] = ["loss", "geometric-loss", "precision", "distortion"];

impl Record {
    /// The first thing in this record that contradicts the release or another part of it. `labels` tells how many different
    /// labels a released column has.
    pub(crate) fn against_release(
        &self,
        seen: &Observed<'_>,
        labels: impl Fn(&str) -> Option<u64>,
    ) -> Option<String> {
        let (Ok(AnyJob::Table(job)), Some(table)) = (self.job(), self.table()) else {
            return Some("job: it cannot be read".to_owned());
        };
        self.contradiction(&job, table, seen)
            .or_else(|| self.first_difference(&self.with_seen(&job, table, seen, &labels)))
    }

    /// The same record with everything that can be recomputed put in its place.
    fn with_seen(
        &self,
        job: &Job,
        table: &TablePart,
        seen: &Observed<'_>,
        labels: impl Fn(&str) -> Option<u64>,
    ) -> Self {
        let mut record = self.clone();
        let rows = seen.report.group_sizes.iter().map(|(rows, groups)| rows.saturating_mul(*groups)).sum();
        record.job = JobText::of_table(job, |_| None, None).map(|job| job.text).unwrap_or_default();
        let claims = &mut record.claims;
        claims.k = job.policy.k.unsigned_abs();
        claims.combinations = job.policy.combinations.map(i64::unsigned_abs);
        claims.requires = requirements::parts(job).unwrap_or_default();
        claims.unit.clone_from(&job.policy.unit);
        if let Ok(budget) = plan::budget(job) {
            claims.suppression_budget = Some(budget.rows(table.input_rows));
        }
        claims.smallest_group = seen.report.smallest_group;
        record.group_sizes.clone_from(&seen.report.group_sizes);
        record.suppressed = table.input_rows.saturating_sub(rows);
        let quasi_identifiers = job.quasi_identifiers();
        match &mut record.recoding {
            RecodingPart::Levels(levels) => {
                let level = |name: &String| (name.clone(), levels.get(name).copied().unwrap_or_default());
                *levels = quasi_identifiers.iter().map(level).collect();
            }
            RecodingPart::Local(local) => {
                local.algorithm = job.search.algorithm.clone().unwrap_or_default();
                for (name, column) in &mut local.columns {
                    // A column that is recoded by its order says how many intervals there are.
                    column.intervals = column.intervals.and_then(|_| labels(name));
                }
            }
            RecodingPart::Clusters { .. } => {}
        }
        record.hierarchies = hierarchies(job, None, None).unwrap_or_default();
        record.scores.extend(self.known_scores(job, table, seen, rows));
        let file = FilePart {
            name: None,
            sha256: seen.sha256.as_ref().map_or_else(String::new, |digest| hex::hex(digest)),
            rows,
            columns: seen.columns.clone(),
        };
        for part in record.tables.values_mut() {
            part.file = file.clone();
            part.quasi_identifiers.clone_from(&quasi_identifiers);
            part.sensitive = sensitive(&seen.report.measured);
        }
        record
    }

    /// The scores that follow from levels and group sizes.
    fn known_scores(
        &self,
        job: &Job,
        table: &TablePart,
        seen: &Observed<'_>,
        rows: u64,
    ) -> BTreeMap<String, String> {
        let quasi_identifiers = job.quasi_identifiers();
        let climbed = |name: &String| -> Option<f64> {
            let by_level = match &self.recoding {
                RecodingPart::Levels(levels) => return levels.get(name).map(|&level| f64::from(level)),
                RecodingPart::Local(local) => &local.columns.get(name)?.rows,
                RecodingPart::Clusters { .. } => return None,
            };
            let sum: u128 = by_level.iter().map(|&(level, rows)| u128::from(level) * u128::from(rows)).sum();
            Some(if rows == 0 { 0.0 } else { sum as f64 / rows as f64 })
        };
        let climbed: Option<Vec<f64>> = quasi_identifiers.iter().map(climbed).collect();
        let weight = |name: &String| job.search.weights.get(name).copied().unwrap_or(1.0);
        let sizes = &seen.report.group_sizes;
        let n_groups: u64 = sizes.iter().map(|(_, groups)| groups).sum();
        let discernibility = discernibility(sizes, table.input_rows.saturating_sub(rows), table.input_rows);
        let mean = if n_groups == 0 { table.input_rows as f64 } else { rows as f64 / n_groups as f64 };
        let mut scores = vec![("discernibility", discernibility as f64), ("average-group-size", mean)];
        if let Some(climbed) = climbed {
            let weighted =
                quasi_identifiers.iter().zip(&climbed).map(|(name, climbed)| climbed * weight(name));
            scores.extend([("height", climbed.iter().sum()), ("weighted-height", weighted.sum())]);
        }
        let scores = scores.into_iter().filter(|(name, _)| self.scores.contains_key(*name));
        scores.map(|(name, score)| (name.to_owned(), format!("{score:.9}"))).collect()
    }

    /// What is out of the bounds that other parts give.
    fn contradiction(&self, job: &Job, table: &TablePart, seen: &Observed<'_>) -> Option<String> {
        let says = |key: &str, problem: String| Some(format!("{key}: {problem}"));
        let claims = &self.claims;
        if table.input_rows < table.file.rows {
            return says("input.rows", format!("fewer than the {} of the release", table.file.rows));
        }
        if let Some(budget) = claims.suppression_budget.filter(|&budget| self.suppressed > budget) {
            return says("suppressed_rows", format!("more than the {budget} that could be left out"));
        }
        match (&claims.unit, claims.fewest_persons, claims.smallest_group) {
            (None, None, _) | (Some(_), None, None) => {}
            (Some(_), Some(persons), Some(_)) if persons < claims.k => {
                return says("claims.fewest_persons", format!("fewer than k = {}", claims.k));
            }
            (Some(_), Some(persons), Some(rows)) if persons > rows => {
                return says("claims.fewest_persons", "more than rows of the smallest group".into());
            }
            (Some(_), Some(_), Some(_)) => {}
            _ => return says("claims.fewest_persons", "persons are counted, or they are not".into()),
        }
        let is_unit = |name: &String| job.policy.unit.as_ref() == Some(name);
        let released = job.columns.iter().filter(|(name, column)| {
            column.replace.is_some() || (column.role != RoleJob::Identifier && !is_unit(name))
        });
        if released.clone().count() != seen.columns.len()
            || !released.clone().all(|(name, _)| seen.columns.contains(name))
        {
            return says("release.columns", "the columns are not those that the job releases".into());
        }
        let seed = self.local().and_then(|local| local.seed_hmac_sha256.as_ref());
        // Rows that stay in a database are read by nobody who could make a digest of them.
        let is_in_database = self.places.as_ref().is_some_and(|places| places.input.is_some());
        let digests = [("input.hmac_sha256".to_owned(), &table.input_hmac_sha256)].into_iter();
        let digests = digests.filter(|(_, digest)| !(is_in_database && digest.is_empty()));
        self.contradiction_in_digests(
            digests.chain(seed.map(|digest| ("local.seed_hmac_sha256".to_owned(), digest))),
        )
        .or_else(|| match &self.recoding {
            RecodingPart::Levels(levels) => contradiction_in_levels(job, levels),
            RecodingPart::Local(local) => contradiction_in(local, table),
            RecodingPart::Clusters { .. } => None,
        })
        .or_else(|| self.contradiction_in_scores(table))
    }

    /// A digest that is none: of these, of hierarchies, or of the job.
    pub(crate) fn contradiction_in_digests<'a>(
        &'a self,
        others: impl Iterator<Item = (String, &'a String)>,
    ) -> Option<String> {
        let hierarchies = self.hierarchies.iter();
        let hierarchies = hierarchies.map(|(name, digest)| (format!("hierarchies.{name}"), digest));
        let mut digests =
            others.chain([("job_hmac_sha256".to_owned(), &self.job_hmac_sha256)]).chain(hierarchies);
        digests.find_map(|(key, digest)| {
            let is_digest = hex::bytes::<32>(digest).is_some_and(|bytes| hex::hex(&bytes) == *digest);
            (!is_digest).then(|| format!("{key}: it is no digest"))
        })
    }

    /// Scores that are missing, that no release can have, or not this one.
    fn contradiction_in_scores(&self, table: &TablePart) -> Option<String> {
        if !self
            .scores
            .keys()
            .eq(sorted(&metric::ALL.iter().map(|entry| entry.name.to_owned()).collect::<Vec<_>>()))
        {
            return Some("scores: they are not by all metrics, or by others".to_owned());
        }
        if let Some(problem) = self.scores.iter().find_map(|(name, text)| contradiction_in_score(name, text))
        {
            return Some(problem);
        }
        // A suppressed row costs something, whatever else does.
        let worst = [("loss", "0.0000"), ("precision", "1.000000000"), ("distortion", "0.000000000")];
        let cheap =
            worst.iter().find(|(name, free)| self.scores.get(*name).is_some_and(|score| score == free));
        // Few suppressed rows of many may cost less than the digits of a loss can tell.
        let is_told = self.suppressed.saturating_mul(10_000) > table.input_rows;
        let cheap = cheap.filter(|(name, _)| self.suppressed > 0 && (is_told || *name != "loss"));
        cheap.map(|(name, _)| format!("scores.{name}: as if no row were suppressed"))
    }
}

fn sorted(names: &[String]) -> impl Iterator<Item = &String> {
    let mut names: Vec<&String> = names.iter().collect();
    names.sort();
    names.into_iter()
}

/// A level that the rule of its column does not have, as far as rules in the job tell.
fn contradiction_in_levels(job: &Job, levels: &BTreeMap<String, u8>) -> Option<String> {
    levels.iter().find_map(|(name, &level)| {
        let rule = job.columns.get(name)?.hierarchy.clone().unwrap_or_default();
        let is_allowed = rule.levels.as_ref().is_none_or(|levels| levels.contains(&level));
        let height = match (&rule.file, &rule.tree, &rule.intervals, &rule.dates, rule.mask) {
            (None, None, None, None, None) => Some(1),
            (None, None, Some(widths), None, None) => Some(widths.len() + 1),
            (None, None, None, Some(units), None) => Some(units.len() + 1),
            (None, None, None, None, Some(_)) => rule.length,
            _ => None,
        };
        let is_there = height.is_none_or(|height| usize::from(level) <= height);
        (!is_allowed || !is_there).then(|| format!("levels.{name}: its rule has no level {level}"))
    })
}

/// What is out of bounds in what is known of a local recoding.
fn contradiction_in(local: &LocalPart, table: &TablePart) -> Option<String> {
    if !local.columns.keys().eq(sorted(&table.quasi_identifiers)) {
        return Some("local.columns: they are not the quasi-identifiers".to_owned());
    }
    local.columns.iter().find_map(|(name, column)| {
        let is_ascending = column.rows.windows(2).all(|pair| pair[0].0 < pair[1].0);
        // By an order, a value is as collected or it is not.
        let is_by_level = column.intervals.is_none() || column.rows.iter().all(|(level, _)| *level <= 1);
        let rows: u128 = column.rows.iter().map(|(_, rows)| u128::from(*rows)).sum();
        let problem = if rows != u128::from(table.file.rows) || column.rows.iter().any(|(_, rows)| *rows == 0)
        {
            "its rows are not those of the release"
        } else if !is_ascending || !is_by_level {
            "its levels are in disorder"
        } else if !is_share(&column.distortion) {
            return Some(format!("local.columns.{name}.distortion: it is not between 0 and 1"));
        } else {
            return None;
        };
        Some(format!("local.columns.{name}.rows: {problem}"))
    })
}

/// The sum of the squares of groups of such sizes, where each of those who were left out costs as much as all.
pub(crate) fn discernibility(sizes: &[(u64, u64)], left_out: u64, of: u64) -> u128 {
    let in_groups: u128 =
        sizes.iter().map(|&(size, groups)| u128::from(size) * u128::from(size) * u128::from(groups)).sum();
    in_groups.saturating_add(u128::from(left_out) * u128::from(of))
}

/// Whether a score is between 0 and 1.
pub(crate) fn is_share(score: &str) -> bool {
    score.parse().is_ok_and(|score: f64| (0.0..=1.0).contains(&score))
}

/// A score that no release can have.
fn contradiction_in_score(name: &str, text: &str) -> Option<String> {
    if SHARES.contains(&name) && !is_share(text) {
        return Some(format!("scores.{name}: it is not between 0 and 1"));
    }
    let is_as_written =
        |score: f64| find(metric::ALL, name).is_none_or(|entry| super::score(entry.item, score) == text);
    if text.parse().is_ok_and(|score: f64| !is_as_written(score)) {
        return Some(format!("scores.{name}: it is not written as incog writes it"));
    }
    let is_number = text.parse().is_ok_and(|score: f64| score.is_finite() && score >= 0.0);
    (!is_number).then(|| format!("scores.{name}: it is no number of at least 0"))
}
