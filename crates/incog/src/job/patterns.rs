//! Names of columns with a `*`, which stand for all columns that fit.
//!
//! `"e0*"` has the columns that begin with `e0`, `"*"` has all. What a job says of a column by its exact name wins; then the longest pattern that
//! fits. A name that a column of the data really has is no pattern. Once the names of the data are known, patterns are replaced by the columns that
//! they have, in the order of the data, so that nothing behind this point knows of them.
//!
//! A pattern that fits no column is a mistake; so are two that are equally long and fit the same column. The unit of a policy needs no role and
//! gets none by a pattern.

use incog_core::hash;
use indexmap::IndexMap;

use super::{ColumnJob, Job, Mistakes, RoleJob};

/// Does a name fit a pattern? A `*` stands for any text, an empty one included.
pub(crate) fn fits(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// May a name be a pattern?
pub(crate) fn is_pattern(name: &str) -> bool {
    name.contains('*')
}

/// Replaces the patterns of a job by the columns of the data that they have.
pub(crate) fn resolve(job: &mut Job, header: &[String], mistakes: &mut Mistakes) {
    if !job.columns.keys().any(|name| is_pattern(name)) {
        return;
    }
    let there: hash::Set<&str> = header.iter().map(String::as_str).collect();
    let patterns: Vec<String> = job
        .columns
        .keys()
        .filter(|name| is_pattern(name) && !there.contains(name.as_str()))
        .cloned()
        .collect();
    if patterns.is_empty() {
        return;
    }
    let mut of_patterns: Vec<Vec<&String>> = vec![Vec::new(); patterns.len()];
    let mut fit = vec![false; patterns.len()];
    let mut equal: IndexMap<(usize, usize), usize> = IndexMap::new();
    for name in header {
        if job.columns.contains_key(name) || job.policy.unit.as_ref() == Some(name) {
            let fitting = (0..patterns.len()).filter(|&at| fits(&patterns[at], name));
            fitting.for_each(|at| fit[at] = true);
            continue;
        }
        let mut best: Option<usize> = None;
        let mut rival = None;
        for at in (0..patterns.len()).filter(|&at| fits(&patterns[at], name)) {
            fit[at] = true;
            let length = |at: usize| patterns[at].chars().count();
            match best {
                Some(other) if length(other) > length(at) => {}
                Some(other) if length(other) == length(at) => rival = Some((other, at)),
                _ => (best, rival) = (Some(at), None),
            }
        }
        if let Some(pair) = rival {
            *equal.entry(pair).or_default() += 1;
        }
        if let Some(at) = best {
            of_patterns[at].push(name);
        }
    }
    tell(job, &patterns, &fit, &equal, mistakes);
    undecided(job, &patterns, &of_patterns, mistakes);
    replace(job, &patterns, &of_patterns);
}

/// Patterns that fit nothing, or as well as others. Names of the data are not repeated: they may be somebody's cells.
fn tell(
    job: &Job,
    patterns: &[String],
    fit: &[bool],
    equal: &IndexMap<(usize, usize), usize>,
    mistakes: &mut Mistakes,
) {
    for (pattern, _) in patterns.iter().zip(fit).filter(|(_, fits)| !**fits) {
        let mistake = format!("the pattern `{pattern}` fits no column of the data");
        mistakes.add(
            job.mistake(&["columns", pattern], mistake)
                .with_hint("correct it, or leave it out; * stands for any text"),
        );
    }
    for (&(one, other), n) in equal {
        let line = job.lines.of(&["columns", &patterns[one]]);
        let line = line.map_or(String::new(), |line| format!(" of line {line}"));
        let columns = if *n == 1 { "a column".to_owned() } else { format!("{n} columns") };
        let mistake = format!(
            "the patterns `{}`{line} and `{}` are equally long and fit the same: {columns} of the data",
            patterns[one], patterns[other]
        );
        mistakes.add(
            job.mistake(&["columns", &patterns[other]], mistake)
                .with_hint("the longest pattern wins: make one longer, or name the columns themselves"),
        );
    }
}

/// A pattern whose role is open is one open decision, not one for each of its columns.
fn undecided(job: &Job, patterns: &[String], of_patterns: &[Vec<&String>], mistakes: &mut Mistakes) {
    for (pattern, columns) in patterns.iter().zip(of_patterns) {
        if job.columns[pattern].role == RoleJob::Decide && !columns.is_empty() {
            let n = columns.len();
            let columns = if n == 1 { "1 column".to_owned() } else { format!("{n} columns") };
            let mistake = format!("the role of `{pattern}` ({columns}) is not decided yet");
            mistakes.add(job.mistake(&["columns", pattern, "role"], mistake).with_hint(
                "write identifier, quasi-identifier, sensitive or other instead of decide; in a job by `incog init` the comment above says \
                 what to think of",
            ));
        }
    }
}

fn replace(job: &mut Job, patterns: &[String], of_patterns: &[Vec<&String>]) {
    let lines = job.lines.clone();
    let mut columns: IndexMap<String, ColumnJob> = IndexMap::with_capacity(job.columns.len());
    let said = std::mem::take(&mut job.columns);
    for (name, column) in said {
        let Some(at) = patterns.iter().position(|pattern| *pattern == name) else {
            columns.insert(name, column);
            continue;
        };
        let below = lines.below(&["columns", &name], &[]);
        // What was told once need not be told again: nothing is released.
        let role = if column.role == RoleJob::Decide { RoleJob::Identifier } else { column.role };
        for of_pattern in &of_patterns[at] {
            job.lines.copy_from(&below, &[], &["columns", of_pattern]);
            columns.insert((*of_pattern).clone(), ColumnJob { role, ..column.clone() });
        }
    }
    job.columns = columns;
}

/// The name itself, or the longest pattern that it fits, among some.
pub(crate) fn longest<'a, T>(said: &'a IndexMap<String, T>, name: &str) -> Option<&'a T> {
    said.get(name).or_else(|| {
        let fitting = said.iter().filter(|(pattern, _)| is_pattern(pattern) && fits(pattern, name));
        fitting.max_by_key(|(pattern, _)| pattern.chars().count()).map(|(_, value)| value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(columns: &str, header: &[&str]) -> Result<Job, String> {
        let text =
            format!("[input]\npath = \"a.csv\"\n[policy]\nk = 2\nunit = \"who\"\n[columns]\n{columns}");
        let mut job = Job::parse(&text).unwrap();
        let header: Vec<String> = header.iter().map(|&name| name.to_owned()).collect();
        let mut mistakes = Mistakes::default();
        resolve(&mut job, &header, &mut mistakes);
        mistakes.stop().map(|()| job).map_err(|error| error.to_string())
    }

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, name, expected) in [
            ("e0*", "e00200", true),
            ("e0*", "e0", true),
            ("e0*", "xe0", false),
            ("*", "", true),
            ("*_id", "patient_id", true),
            ("*_id", "id", false),
            ("a*b*c", "a1b2c", true),
            ("a*b*c", "a1c", false),
            ("ab*ba", "aba", false),
            ("plain", "plain", true),
            ("plain", "plainer", false),
        ] {
            assert_eq!(fits(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn exact_names_win_then_the_longest_pattern() {
        let columns = "\"*\" = { role = \"identifier\" }\n\"e0*\" = { role = \"other\" }\n\"e00*\" = { role = \"sensitive\" }\n\
                       e009 = { role = \"quasi-identifier\" }\n";
        let job = resolved(columns, &["name", "e001", "e012", "e009", "who"]).unwrap();
        let roles: Vec<(&str, RoleJob)> =
            job.columns.iter().map(|(name, column)| (name.as_str(), column.role)).collect();
        assert_eq!(
            roles,
            [
                ("name", RoleJob::Identifier),
                ("e012", RoleJob::Other),
                ("e001", RoleJob::Sensitive),
                ("e009", RoleJob::QuasiIdentifier),
            ]
        );
        assert_eq!(job.lines.of(&["columns", "e001", "role"]), Some(9));
    }

    #[test]
    fn patterns_that_fit_nothing_or_as_well_as_another_are_mistakes_with_lines() {
        let columns = "\"x*\" = { role = \"other\" }\n\"e0*1\" = { role = \"other\" }\n\"e*01\" = { role = \"identifier\" }\n";
        let error = resolved(columns, &["e001", "who"]).unwrap_err();
        assert!(error.contains("line 7: the pattern `x*` fits no column of the data"), "{error}");
        assert!(
            error.contains("line 9: the patterns `e0*1` of line 8 and `e*01` are equally long and fit the same: a column of the data"),
            "{error}"
        );
        let error = resolved("\"e*\" = { role = \"decide\" }\n", &["e1", "e2", "who"]).unwrap_err();
        assert_eq!(error, "line 7: the role of `e*` (2 columns) is not decided yet");
    }

    #[test]
    fn a_name_with_a_star_that_the_data_has_is_no_pattern() {
        let job =
            resolved("\"a*\" = { role = \"other\" }\nab = { role = \"identifier\" }\n", &["a*", "ab", "who"])
                .unwrap();
        assert_eq!(job.columns.len(), 2);
    }
}
