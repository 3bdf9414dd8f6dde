//! Is a hierarchy sound? All problems at once.
//!
//! A search refuses a file at its first problem ([`read_hierarchy`](crate::source::read_hierarchy)). Here the rows are
//! read as they are, and every check is made on all of them. Findings speak of lines, levels and counts, never of labels.
//!
//! | check | fails when | warns when |
//! |---|---|---|
//! | `total` | a value of the data has no row, or is none the rule is made for | |
//! | `one row a value` | a value has several rows | |
//! | `no gaps` | rows have unequally many levels; a label above level 0 is empty; there are too few or too many levels | |
//! | `nested` | equal labels of a level have different parents | |
//! | `labels contain their values` | a number, date or code lies outside its label; a label is another value, which it does not cover | a value cannot be compared with its label; a label is a value and covers others, too |
//! | `levels of the job` | the job allows a level that does not exist | |
//! | `every level merges` | | a level is no vaguer than the one below |
//! | `leading zeros` | | a mask without `pad` is over numbers of different lengths |
//! | `one root` | | the highest level has several labels |
//! | `one label, one meaning` | | a label stands for different values at two levels |
//! | `values without data` | never: a count, for information | |
//!
//! The same label with different contents on two levels is a warning, not a failure: levels are chosen for a whole
//! column, so a release is unambiguous to those who know the level; but the label does not say it.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt;

use incog_core::hierarchy::Hierarchy;
use incog_core::table::label::EMPTY_TEXT;
use incog_core::{ErrorKind, Result};

use crate::describe::workbench::containment::{Containment, containment, is_mask};
use crate::describe::workbench::{Subject, paths};
use crate::plan::by_counts;
use crate::plan::hierarchies;
use crate::source::HierarchyRows;

/// Line numbers that are printed, at most; the others are counted.
const MAX_LINES: usize = 10;

/// Levels of a hierarchy, at most, level 0 included.
const MAX_LEVELS: usize = 254;

/// What was found about a hierarchy.
#[derive(Debug)]
pub struct HierarchyReport {
    /// The column.
    pub column: String,
    /// Where the hierarchy comes from.
    pub origin: String,
    /// One finding per check, or one per problem.
    pub findings: Vec<Finding>,
}

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The check's name.
    pub check: &'static str,
    /// How it ended.
    pub verdict: Verdict,
    /// Counts, levels and lines.
    pub says: String,
}

/// How a check ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// As it should be.
    Pass,
    /// For information.
    Note,
    /// Usable, but probably not meant so.
    Warning,
    /// Must be mended.
    Fail,
}

impl HierarchyReport {
    /// Does no check fail? Warnings are allowed.
    pub fn holds(&self) -> bool {
        self.findings.iter().all(|finding| finding.verdict != Verdict::Fail)
    }
}

impl fmt::Display for HierarchyReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "column `{}`, hierarchy of {}", self.column, self.origin)?;
        for Finding { check, verdict, says } in &self.findings {
            let verdict = match verdict {
                Verdict::Pass => "pass",
                Verdict::Note => "note",
                Verdict::Warning => "warn",
                Verdict::Fail => "FAIL",
            };
            writeln!(f, "  {verdict}  {check}: {says}")?;
        }
        Ok(())
    }
}

impl Subject<'_> {
    /// Checks the hierarchy. Fails only where there is nothing to check: a file that cannot be read, or a rule that is
    /// none.
    pub fn check(&self) -> Result<HierarchyReport> {
        let mut findings = Findings::default();
        if let Some(rows) = self.rows(&mut findings)? {
            findings.judge(&rows, self);
        }
        if let Some(warning) =
            self.data.and_then(|data| hierarchies::uneven_digits(self.name, &self.spec, data))
        {
            let says = warning.split_once(": ").and_then(|(_, rest)| rest.split_once(": "));
            let says = says.map_or(warning.clone(), |(_, says)| says.to_owned());
            findings.add("leading zeros", Verdict::Warning, says);
        }
        Ok(HierarchyReport { column: self.name.to_owned(), origin: self.origin(), findings: findings.0 })
    }

    /// The rows of the file, or what the rule makes; nothing but a finding where the rule cannot make them.
    fn rows(&self, findings: &mut Findings) -> Result<Option<PathRows>> {
        if by_counts::is_by_counts(&self.spec) {
            return made(self.hierarchy(), findings);
        }
        let Some(file) = &self.spec.file else {
            let rule = hierarchies::rule(self.job, self.name, &self.spec, self.shared)?;
            if self.data.is_none() && rule.declared_values(super::MAX_DECLARED).is_none() {
                self.build(&rule)?;
            }
            return made(self.build(&rule), findings);
        };
        let path = self.job.resolve(file);
        let mut reader = HierarchyRows::open(&path, self.name)?;
        let mut rows = PathRows { labels: Vec::new(), lines: Vec::new() };
        while let Some((line, row)) = reader.next_row()? {
            rows.labels.push(owned(row));
            rows.lines.push(line);
        }
        if rows.labels.is_empty() {
            // The builder has the words for it.
            crate::source::read_hierarchy(&path, self.name)?;
        }
        Ok(Some(rows))
    }
}

fn owned(row: Vec<&str>) -> Vec<String> {
    row.into_iter().map(str::to_owned).collect()
}

/// Rows as they stand in a file, whatever they are, or as a rule makes them.
struct PathRows {
    /// Not empty, and no row is.
    labels: Vec<Vec<String>>,
    /// The line of each row of a file.
    lines: Vec<u64>,
}

impl PathRows {
    /// The label of a row at a level, if the row goes that far.
    fn label(&self, row_idx: usize, level: usize) -> Option<&str> {
        self.labels[row_idx].get(level).map(String::as_str)
    }

    /// All rows that have a label at a level, with it.
    fn at(&self, level: usize) -> impl Iterator<Item = (usize, &str)> {
        (0..self.labels.len()).filter_map(move |row_idx| Some((row_idx, self.label(row_idx, level)?)))
    }

    fn distinct(&self, level: usize) -> usize {
        self.at(level).map(|(_, label)| label).collect::<HashSet<_>>().len()
    }

    /// ` (lines 3, 7 and 2 more)`; nothing where there are no lines.
    fn places(&self, rows: &BTreeSet<usize>) -> String {
        if self.lines.is_empty() || rows.is_empty() {
            return String::new();
        }
        let lines: Vec<String> =
            rows.iter().take(MAX_LINES).map(|&row_idx| self.lines[row_idx].to_string()).collect();
        let more = match rows.len().saturating_sub(MAX_LINES) {
            0 => String::new(),
            n => format!(" and {n} more"),
        };
        let plural = if rows.len() == 1 { "" } else { "s" };
        format!(" (line{plural} {}{more})", lines.join(", "))
    }
}

#[derive(Default)]
struct Findings(Vec<Finding>);

impl Findings {
    fn add(&mut self, check: &'static str, verdict: Verdict, says: String) {
        self.0.push(Finding { check, verdict, says });
    }

    /// What is said of a check that found nothing.
    fn pass_unless_found(&mut self, check: &'static str, says: &str) {
        if !self.0.iter().any(|finding| finding.check == check) {
            self.add(check, Verdict::Pass, says.to_owned());
        }
    }

    fn judge(&mut self, rows: &PathRows, subject: &Subject<'_>) {
        // The number of levels that most rows have; of equally many, the first row's.
        let mut widths: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
        for (row_idx, row) in rows.labels.iter().enumerate() {
            widths.entry(row.len()).or_insert((0, row_idx)).0 += 1;
        }
        let most = widths.iter().max_by_key(|(_, (n, first))| (*n, std::cmp::Reverse(*first)));
        let width = most.map_or(0, |(&width, _)| width);

        self.total(rows, subject);
        self.one_row_a_value(rows);
        self.no_gaps(rows, width);
        self.nested(rows, width);
        self.contained(rows, subject, width);
        self.allowed_levels(subject, width);
        self.every_level_merges(rows, width);
        self.one_root(rows, width);
        self.one_meaning(rows, width);
        self.without_data(rows, subject);
    }

    fn total(&mut self, rows: &PathRows, subject: &Subject<'_>) {
        let Some(data) = subject.data else {
            self.add("total", Verdict::Note, "not checked without data (--against)".into());
            return;
        };
        let known: HashSet<&str> = rows.at(0).map(|(_, value)| value).collect();
        // The empty text takes the row of the missing value.
        let is_known = |value: &str| known.contains(value) || (value == EMPTY_TEXT && known.contains(""));
        let is_missing: Vec<bool> = data.dictionary().values().map(|value| !is_known(value)).collect();
        let n_missing = is_missing.iter().filter(|&&is_missing| is_missing).count();
        if n_missing == 0 {
            self.add(
                "total",
                Verdict::Pass,
                format!("every one of {} values of the data has a row", is_missing.len()),
            );
            return;
        }
        let mut records = data.codes().iter().enumerate().filter(|(_, code)| is_missing[**code as usize]);
        let first = records.next().map_or(0, |(row_idx, _)| row_idx + 1);
        let lacks = |label: &str| data.dictionary().code(label).is_some_and(|code| is_missing[code as usize]);
        let empty = match (lacks(""), lacks(EMPTY_TEXT)) {
            (true, _) => "; one is the missing value: its row starts with an empty field",
            (false, true) => "; one is the empty text: its row starts with an empty field",
            (false, false) => "",
        };
        self.add(
            "total",
            Verdict::Fail,
            format!(
                "{n_missing} of {} values of the data have no row ({} records, first in record {first}){}",
                is_missing.len(),
                records.count() + 1,
                empty
            ),
        );
    }

    fn one_row_a_value(&mut self, rows: &PathRows) {
        let mut seen = HashSet::new();
        let repeated: BTreeSet<usize> =
            rows.at(0).filter(|(_, value)| !seen.insert(*value)).map(|(row_idx, _)| row_idx).collect();
        if repeated.is_empty() {
            self.add("one row a value", Verdict::Pass, format!("{} rows", rows.labels.len()));
            return;
        }
        let says =
            format!("{} rows repeat the value of an earlier one{}", repeated.len(), rows.places(&repeated));
        self.add("one row a value", Verdict::Fail, says);
    }

    fn no_gaps(&mut self, rows: &PathRows, width: usize) {
        let check = "no gaps";
        if width < 2 {
            self.add(check, Verdict::Fail, "rows have a single field: separate the levels by `;`".into());
        }
        if width > MAX_LEVELS {
            self.add(
                check,
                Verdict::Fail,
                format!("there are {width} levels, at most {MAX_LEVELS} are possible"),
            );
        }
        let ragged: BTreeSet<usize> =
            (0..rows.labels.len()).filter(|&row_idx| rows.labels[row_idx].len() != width).collect();
        if !ragged.is_empty() {
            let says = format!(
                "{} of {} rows do not have the {width} fields that the others have{}",
                ragged.len(),
                rows.labels.len(),
                rows.places(&ragged)
            );
            self.add(check, Verdict::Fail, says);
        }
        for level in 1..width {
            let empty: BTreeSet<usize> =
                rows.at(level).filter(|(_, label)| label.is_empty()).map(|(row_idx, _)| row_idx).collect();
            if !empty.is_empty() {
                let says =
                    format!("{} labels of level {level} are empty{}", empty.len(), rows.places(&empty));
                self.add(check, Verdict::Fail, says);
            }
        }
        self.pass_unless_found(check, &format!("levels 0 to {} in every row", width.saturating_sub(1)));
    }

    fn nested(&mut self, rows: &PathRows, width: usize) {
        let check = "nested";
        // Level 0 is left to `one row a value`.
        for level in 1..width.saturating_sub(1) {
            let mut parents: HashMap<&str, &str> = HashMap::new();
            let mut labels = HashSet::new();
            let mut torn = BTreeSet::new();
            for (row_idx, label) in rows.at(level) {
                let Some(parent) = rows.label(row_idx, level + 1) else {
                    continue;
                };
                if *parents.entry(label).or_insert(parent) != parent {
                    labels.insert(label);
                    torn.insert(row_idx);
                }
            }
            if !torn.is_empty() {
                let says = format!(
                    "{} labels of level {level} have another parent at level {} than on an earlier line{}",
                    labels.len(),
                    level + 1,
                    rows.places(&torn)
                );
                self.add(check, Verdict::Fail, says);
            }
        }
        self.pass_unless_found(check, "equal labels of a level have equal parents");
    }

    fn contained(&mut self, rows: &PathRows, subject: &Subject<'_>, width: usize) {
        let check = "labels contain their values";
        self.labels_that_are_values(check, rows, width);
        // Values that are longer than a mask have a branch of their own and no label with stars.
        let is_masked = |row_idx| (1..width).any(|level| rows.label(row_idx, level).is_some_and(is_mask));
        let masked = rows.at(0).filter(|(row_idx, _)| is_masked(*row_idx));
        let longest = masked.map(|(_, value)| value.chars().count()).max().unwrap_or(0);
        let longest = subject.spec.length.unwrap_or(longest);
        let mut n_checked = 0_u64;
        for level in 1..width {
            let (mut outside, mut unclear) = (BTreeSet::new(), BTreeSet::new());
            for (row_idx, label) in rows.at(level) {
                let value = rows.label(row_idx, 0).unwrap_or_default();
                match containment(label, value, longest) {
                    Containment::Nothing => continue,
                    Containment::Inside => {}
                    Containment::Outside => _ = outside.insert(row_idx),
                    Containment::Unclear => _ = unclear.insert(row_idx),
                }
                n_checked += 1;
            }
            if !outside.is_empty() {
                let says = format!(
                    "{} values lie outside their label at level {level}{}",
                    outside.len(),
                    rows.places(&outside)
                );
                self.add(check, Verdict::Fail, says);
            }
            if !unclear.is_empty() {
                let says = format!(
                    "{} values cannot be compared with their interval at level {level}{}",
                    unclear.len(),
                    rows.places(&unclear)
                );
                self.add(check, Verdict::Warning, says);
            }
        }
        self.pass_unless_found(
            check,
            &match n_checked {
                0 => "no label is an interval, a mask or a date".to_owned(),
                n => format!("{n} intervals, masks and dates compared with their values"),
            },
        );
    }

    fn labels_that_are_values(&mut self, check: &'static str, rows: &PathRows, width: usize) {
        let row_of: HashMap<&str, usize> = rows.at(0).map(|(row_idx, value)| (value, row_idx)).collect();
        for level in 1..width {
            let (mut wrong, mut ambiguous) = (BTreeSet::new(), BTreeSet::new());
            for (row_idx, label) in rows.at(level) {
                match row_of.get(label) {
                    Some(&value) if rows.label(value, level) != Some(label) => _ = wrong.insert(row_idx),
                    Some(&value) if value != row_idx => _ = ambiguous.insert(row_idx),
                    _ => {}
                }
            }
            if !wrong.is_empty() {
                let says = format!(
                    "{} values have another value as label of level {level}, which it does not cover{}",
                    wrong.len(),
                    rows.places(&wrong)
                );
                self.add(check, Verdict::Fail, says);
            }
            if !ambiguous.is_empty() {
                let says = format!(
                    "{} values have another value as label of level {level}, which covers it, too: a release cannot tell them \
                     apart{}",
                    ambiguous.len(),
                    rows.places(&ambiguous)
                );
                self.add(check, Verdict::Warning, says);
            }
        }
    }

    fn allowed_levels(&mut self, subject: &Subject<'_>, width: usize) {
        let Some(levels) = &subject.spec.levels else {
            return;
        };
        let top = width.saturating_sub(1);
        let highest = levels.iter().copied().max().map(usize::from);
        let (verdict, says) = match highest {
            None => (Verdict::Fail, "no level is allowed".to_owned()),
            Some(highest) if highest > top => {
                (Verdict::Fail, format!("there is no level {highest}; the highest is {top}"))
            }
            Some(_) => (Verdict::Pass, "all exist".to_owned()),
        };
        self.add("levels of the job", verdict, says);
    }

    fn every_level_merges(&mut self, rows: &PathRows, width: usize) {
        let check = "every level merges";
        let (mut below, n_rows) = (rows.distinct(0), rows.labels.len());
        for level in 1..width {
            let here = rows.distinct(level);
            let is_same =
                rows.at(level).all(|(row_idx, label)| rows.label(row_idx, level - 1) == Some(label));
            // A hierarchy of one value has nothing to merge.
            if n_rows > 1 && is_same {
                let says = format!("level {level} is the same as level {}", level - 1);
                self.add(check, Verdict::Warning, says);
            } else if n_rows > 1 && here >= below {
                let says = format!("level {level} has {here} labels, level {} has {below}", level - 1);
                self.add(check, Verdict::Warning, says);
            }
            below = here;
        }
        self.pass_unless_found(check, "each has fewer labels than the one below");
    }

    fn one_root(&mut self, rows: &PathRows, width: usize) {
        let top = width.saturating_sub(1);
        let (verdict, says) = match rows.distinct(top) {
            1 => (Verdict::Pass, format!("level {top} has one label")),
            n => (
                Verdict::Warning,
                format!("level {top}, the highest, has {n} labels: values cannot all be merged"),
            ),
        };
        self.add("one root", verdict, says);
    }

    fn one_meaning(&mut self, rows: &PathRows, width: usize) {
        let check = "one label, one meaning";
        // For each label, the rows it stands for at each level where it occurs.
        let mut meanings: HashMap<&str, BTreeMap<usize, Vec<usize>>> = HashMap::new();
        for level in 0..width {
            for (row_idx, label) in rows.at(level) {
                meanings.entry(label).or_default().entry(level).or_default().push(row_idx);
            }
        }
        let mut levels = BTreeSet::new();
        let mut n_ambiguous = 0;
        for meaning in meanings.values() {
            let mut sets = meaning.values();
            let first = sets.next();
            if sets.any(|set| Some(set) != first) {
                n_ambiguous += 1;
                levels.extend(meaning.keys().copied());
            }
        }
        if n_ambiguous == 0 {
            self.add(check, Verdict::Pass, "a label means the same at every level where it occurs".into());
            return;
        }
        let levels: Vec<String> = levels.iter().map(ToString::to_string).collect();
        let says = format!(
            "{n_ambiguous} labels stand for different values at different levels (levels {}); a released label does \
             not say its level",
            levels.join(", ")
        );
        self.add(check, Verdict::Warning, says);
    }

    fn without_data(&mut self, rows: &PathRows, subject: &Subject<'_>) {
        let Some(data) = subject.data else {
            return;
        };
        let values: HashSet<&str> = rows.at(0).map(|(_, value)| value).collect();
        let n = values.iter().filter(|value| data.dictionary().code(value).is_none()).count();
        let says =
            format!("{n} of {} values do not occur in the data; loss counts them all the same", values.len());
        self.add("values without data", Verdict::Note, says);
    }
}
/// The rows that a rule makes; a finding where it cannot make them.
fn made(hierarchy: Result<Hierarchy>, findings: &mut Findings) -> Result<Option<PathRows>> {
    match hierarchy {
        Ok(hierarchy) => Ok(Some(PathRows {
            labels: paths(&hierarchy).into_iter().map(owned).collect(),
            lines: Vec::new(),
        })),
        Err(error) if error.kind() == ErrorKind::Input => {
            findings.add("total", Verdict::Fail, error.to_string());
            Ok(None)
        }
        Err(error) => Err(error),
    }
}
