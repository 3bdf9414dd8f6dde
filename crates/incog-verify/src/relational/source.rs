//! Was the release made from this original?
//!
//! Every released tree must be an original one with subtrees removed: no person is invented, none is used twice, and
//! no child is moved to another parent. Columns are equal, quasi-identifiers equal or generalized. If the release
//! comes with the original row of every released one, that is a walk over the rows ([`check_origins`]); if not, an
//! assignment has to be found ([`super::assignment`]).

use super::assignment::{ClassedForest, MAX_WORK, Outcome, assign};
use super::comparison::{Compared, Pair};
use super::copies::{self, COINCIDENCE};
use super::forest::Forest;
use super::places::{Places, places};
use super::shape::{Columns, Shape, Sought, find_columns};
use super::{DatabaseClaims, Report, TableSource, Tally, names};
use crate::hash;
use crate::words::counted;
use crate::{ClaimKind, Finding, Labels};

/// The released tables, as far as they were understood.
pub(super) struct Released<'a> {
    pub(super) tables: &'a [&'a dyn Labels],
    pub(super) columns: &'a [Columns],
    pub(super) shape: &'a Shape,
    pub(super) forest: &'a Forest,
    /// A column of each table that the original cannot have.
    pub(super) added: Vec<Option<usize>>,
    /// Columns that are released apart from their tables: the table, the column's name, and the table with its values in the
    /// second column.
    pub(super) apart: Vec<(usize, &'a str, &'a dyn Labels)>,
    pub(super) recoding: Recoding,
}

/// What was done to quasi-identifiers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Recoding {
    /// Each label is on the path of its value.
    Generalized,
    /// They are as collected.
    Exact,
}

/// Which original rows the released ones come from.
pub(super) enum Origins<'a> {
    /// They are known.
    Known(Vec<&'a [u32]>),
    /// They are among those with the same place; for exact quasi-identifiers only.
    Places(Vec<Places>),
    /// Nothing is known.
    Unknown,
}

/// Checks the release against the original. The origins of all rows come back if they were given and are right.
pub(super) fn check<'a>(
    release: &Released<'_>,
    claims: &DatabaseClaims<'_>,
    sources: &[TableSource<'a>],
    report: &mut Report,
) -> Result<Origins<'a>, Finding> {
    let names = names(&claims.tables);
    let pairs = pair_columns(release, claims, sources)?;
    account(&names, sources, report);
    report.findings.extend(left_out(release.shape.root, claims, report));
    let originals: Vec<&dyn Labels> = sources.iter().map(|source| source.input).collect();
    let columns = find_columns(&originals, &claims.tables, Sought::Keys, "original")?;
    let planted =
        Forest::plant(&originals, &columns, release.shape, &names, "original", &mut report.findings);
    let Some(forest) = planted else {
        return Ok(Origins::Unknown);
    };
    let given: Vec<&[u32]> = sources.iter().filter_map(|source| source.origins).collect();
    report.findings.push(new_keys(release, &originals, &columns, &given, &names));
    let released = released_columns(release, claims, &originals, &pairs);
    let copied = copies::check(&released, &originals, &columns, release.shape, &forest, &names);
    report.findings.push(copied);
    let tables = release.tables.iter().zip(&originals).zip(&pairs);
    let compared: Vec<Compared> =
        tables.map(|((table, original), pairs)| Compared::new(*table, *original, pairs)).collect();

    if !given.is_empty() {
        if given.len() < sources.len() {
            return Err(Finding {
                kind: ClaimKind::Rows,
                claim: "it is said of the rows of every table where they come from, or of none".into(),
                found: format!("it is said of {} of {} tables", given.len(), sources.len()),
                holds: false,
            });
        }
        let holds = check_origins(release, &compared, &forest, &given, &names, report)?;
        return Ok(if holds { Origins::Known(given) } else { Origins::Unknown });
    }
    let released = ClassedForest::of_release(release.forest, release.shape, &compared);
    let original = ClassedForest::of_original(&forest, release.shape, &compared);
    let outcome = assign(release.shape, &compared, &released, &original, MAX_WORK);
    let n_persons = release.forest.n_rows[release.shape.root];
    let finding = Finding {
        kind: ClaimKind::Rows,
        claim: match release.recoding {
            Recoding::Generalized => {
                "every released person can be assigned an original one, with rows removed and labels generalized"
            }
            Recoding::Exact => "every released person can be assigned an original one, with rows removed",
        }
        .into(),
        found: match outcome {
            Outcome::Assigned => "all can".into(),
            Outcome::Unassigned(persons) => format!("{persons} of {n_persons} cannot"),
            Outcome::Exceeded => "it could not be decided within a bounded amount of work whose rows the released \
                                  ones are; more columns that are released as collected tell rows apart"
                .into(),
        },
        holds: outcome == Outcome::Assigned,
    };
    match outcome {
        Outcome::Exceeded => report.undecided.push(finding),
        Outcome::Assigned | Outcome::Unassigned(_) => report.findings.push(finding),
    }
    Ok(match release.recoding {
        Recoding::Generalized => Origins::Unknown,
        Recoding::Exact => {
            let tables = [release.tables, originals.as_slice()];
            Origins::Places(places(release.shape, tables, [release.forest, &forest], &pairs))
        }
    })
}

/// Are no more persons left out than was declared, if it was?
fn left_out(root: usize, claims: &DatabaseClaims<'_>, report: &Report) -> Option<Finding> {
    let limit = claims.suppression?;
    let removed = report.tables[root].removed_rows;
    Some(Finding {
        kind: ClaimKind::Rows,
        claim: format!("at most {} left out", counted(limit, "person is", "persons are")),
        found: removed.map_or("more are released than there are".into(), |n| format!("{n} are")),
        holds: removed.is_some_and(|removed| removed <= limit),
    })
}

/// All columns of the release that are no keys, with those of the original.
fn released_columns<'a>(
    release: &Released<'a>,
    claims: &DatabaseClaims<'_>,
    originals: &[&'a dyn Labels],
    pairs: &[Vec<Pair<'_>>],
) -> Vec<copies::Released<'a>> {
    let mut all = Vec::new();
    for (table, pairs) in pairs.iter().enumerate() {
        let header = release.tables[table].header();
        // A quasi-identifier may stand there twice, by two hierarchies.
        for pair in pairs
            .iter()
            .enumerate()
            .filter(|(at, pair)| pairs[..*at].iter().all(|other| other.released != pair.released))
        {
            let Pair { released, original, .. } = *pair.1;
            all.push(copies::Released {
                table,
                // Who declared no columns may have a file without a header line, with cells in its place.
                name: match &claims.tables[table].columns {
                    Some(_) => header[released].to_owned(),
                    None => format!("number {}", released + 1),
                },
                labels: release.tables[table].column(released),
                original: originals[table].column(original),
            });
        }
    }
    for &(table, name, values) in &release.apart {
        if let Some(at) = originals[table].header().iter().position(|column| *column == name) {
            let (labels, original) = (values.column(1), originals[table].column(at));
            all.push(copies::Released { table, name: name.to_owned(), labels, original });
        }
    }
    all
}

/// Are keys new? The numbers from 1 up say nothing, unless they are where they were; any other key of the original does.
fn new_keys(
    release: &Released<'_>,
    originals: &[&dyn Labels],
    columns: &[Columns],
    origins: &[&[u32]],
    names: &[&str],
) -> Finding {
    let mut kept = Tally::new(names.len());
    for (table, original) in originals.iter().enumerate() {
        let (Some(here), Some(there)) = (release.columns[table].key, columns[table].key) else {
            continue;
        };
        let (keys, old) = (release.tables[table].column(here), original.column(there));
        let is_number = |key: &str| {
            let number = key.parse::<usize>().ok().filter(|number| number.to_string() == key);
            number.is_some_and(|number| (1..=keys.codes.len()).contains(&number))
        };
        let used: hash::Set<&str> = old.codes.iter().map(|&code| old.labels[code as usize]).collect();
        let of_label: Vec<bool> =
            keys.labels.iter().map(|key| !is_number(key) && used.contains(key)).collect();
        for (row_idx, &code) in keys.codes.iter().enumerate() {
            if of_label[code as usize] {
                kept.add(table, row_idx);
            }
        }
        let Some(origins) = origins.get(table).filter(|origins| origins.len() == keys.codes.len()) else {
            continue;
        };
        let is_same = |(row_idx, &origin): (usize, &u32)| {
            let old = old.codes.get(origin as usize).map(|&code| old.labels[code as usize]);
            old == Some(keys.labels[keys.codes[row_idx] as usize])
        };
        let same: Vec<usize> =
            origins.iter().enumerate().filter(|&pair| is_same(pair)).map(|(row_idx, _)| row_idx).collect();
        // That many rows that keep their number are no coincidence, if they are also half of all.
        if same.len() >= COINCIDENCE && 2 * same.len() >= keys.codes.len() {
            same.into_iter().for_each(|row_idx| kept.add(table, row_idx));
        }
    }
    kept.finding(
        "keys are new ones".into(),
        names,
        ["has a key of the original", "have a key of the original"],
        "all are",
    )
}

/// Which released columns are compared with which original ones.
fn pair_columns<'a>(
    release: &Released<'_>,
    claims: &DatabaseClaims<'_>,
    sources: &'a [TableSource<'_>],
) -> Result<Vec<Vec<Pair<'a>>>, Finding> {
    let (mut missing, mut twice) = (Vec::new(), Vec::new());
    let mut all = Vec::with_capacity(sources.len());
    for (table, source) in sources.iter().enumerate() {
        let (name, columns) = (&claims.tables[table].name, &release.columns[table]);
        if release.recoding == Recoding::Generalized && source.hierarchies.len() != columns.quasi.len() {
            return Err(Finding {
                kind: ClaimKind::Rows,
                claim: "every quasi-identifier has a hierarchy".into(),
                found: format!(
                    "{} quasi-identifiers of {name}, {} hierarchies",
                    columns.quasi.len(),
                    source.hierarchies.len()
                ),
                holds: false,
            });
        }
        let (header, original_header) = (release.tables[table].header(), source.input.header());
        let is_compared = |at: &usize| !columns.is_key(*at) && release.added[table] != Some(*at);
        let mut pairs = Vec::new();
        for released in (0..header.len()).filter(is_compared) {
            let places =
                |header: &[&str], column: &str| header.iter().filter(|name| **name == column).count();
            let column = header[released];
            match (places(&header, column), places(&original_header, column)) {
                (1, 1) => {}
                (_, 0) => missing.push(format!("{name}.{column}")),
                _ => twice.push(format!("{name}.{column}")),
            }
            let original = original_header.iter().position(|name| *name == column).unwrap_or(0);
            // A quasi-identifier that was named twice must be right by both of its hierarchies.
            let hierarchies =
                columns.quasi.iter().zip(&source.hierarchies).filter(|(at, _)| **at == released);
            let mut hierarchies = hierarchies.map(|(_, hierarchy)| hierarchy).peekable();
            if release.recoding == Recoding::Exact || hierarchies.peek().is_none() {
                pairs.push(Pair { released, original, hierarchy: None });
            } else {
                pairs.extend(hierarchies.map(|hierarchy| Pair {
                    released,
                    original,
                    hierarchy: Some(hierarchy),
                }));
            }
        }
        all.push(pairs);
    }
    // Names of released columns were not declared by anybody: how many is enough, and says no cell of a file
    // without a header line.
    if !missing.is_empty() {
        return Err(Finding {
            kind: ClaimKind::Rows,
            claim: "every released column is a column of its original".into(),
            found: format!("{} are not", missing.len()),
            holds: false,
        });
    }
    if !twice.is_empty() {
        return Err(Finding {
            kind: ClaimKind::Rows,
            claim: "no name of a released column stands twice, there or in the original".into(),
            found: format!("{} do", twice.len()),
            holds: false,
        });
    }
    Ok(all)
}

/// Rows in = rows released + rows removed, table by table.
fn account(names: &[&str], sources: &[TableSource<'_>], report: &mut Report) {
    let mut found = Vec::new();
    let mut holds = true;
    for ((table, source), name) in report.tables.iter_mut().zip(sources).zip(names) {
        let n_input = source.input.n_rows() as u64;
        table.removed_rows = n_input.checked_sub(table.rows);
        holds &= table.removed_rows.is_some();
        found.push(match table.removed_rows {
            Some(removed) => format!("{name}: {} of {n_input} released, {removed} removed", table.rows),
            None => format!("{name}: {} of {n_input} released, more than there are", table.rows),
        });
    }
    report.findings.push(Finding {
        kind: ClaimKind::Rows,
        claim: "released and removed rows of every table are its input rows".into(),
        found: found.join("; "),
        holds,
    });
}

/// Do all rows come from where they are said to come from?
fn check_origins(
    release: &Released<'_>,
    compared: &[Compared],
    original: &Forest,
    origins: &[&[u32]],
    names: &[&str],
    report: &mut Report,
) -> Result<bool, Finding> {
    let n_rows = &release.forest.n_rows;
    if let Some(table) = (0..origins.len()).find(|&table| origins[table].len() != n_rows[table]) {
        return Err(Finding {
            kind: ClaimKind::Rows,
            claim: "every released row is said to come from an original one".into(),
            found: format!("{} rows of {}, {} origins", n_rows[table], names[table], origins[table].len()),
            holds: false,
        });
    }
    let tally = || Tally::new(origins.len());
    let (mut unfounded, mut changed, mut strange, mut moved) = (tally(), tally(), tally(), tally());
    for (table, origins_here) in origins.iter().enumerate() {
        let mut is_used = vec![false; original.n_rows[table]];
        for (row_idx, &origin) in origins_here.iter().enumerate() {
            match is_used.get_mut(origin as usize) {
                Some(is_used) if !*is_used => *is_used = true,
                _ => unfounded.add(table, row_idx),
            }
            if origin as usize >= original.n_rows[table] {
                continue;
            }
            if !compared[table].is_same(row_idx as u32, origin) {
                changed.add(table, row_idx);
            }
            if !compared[table].generalizes(row_idx as u32, origin) {
                strange.add(table, row_idx);
            }
            if let Some(parent) = release.shape.parents[table] {
                let released_parent = release.forest.parent_rows[table][row_idx];
                let original_parent = original.parent_rows[table][origin as usize];
                if origins[parent][released_parent as usize] != original_parent {
                    moved.add(table, row_idx);
                }
            }
        }
    }
    let all = [
        unfounded.finding(
            "every released row comes from an original row of its own".into(),
            names,
            ["does not", "do not"],
            "all do",
        ),
        changed.finding(
            match release.recoding {
                Recoding::Generalized => {
                    "columns that are no quasi-identifiers are those of the original row"
                }
                Recoding::Exact => "columns are those of the original row",
            }
            .into(),
            names,
            ["differs", "differ"],
            "all are",
        ),
        strange.finding(
            "every quasi-identifier is a generalization of the original value".into(),
            names,
            ["has one that is not", "have one that is not"],
            "all are",
        ),
        moved.finding(
            "the parent of the original row is the original of the parent row".into(),
            names,
            ["has another", "have another"],
            "all are",
        ),
    ];
    let holds = all.iter().all(|finding| finding.holds);
    let is_meant = |at: usize| at != 2 || release.recoding == Recoding::Generalized;
    report
        .findings
        .extend(all.into_iter().enumerate().filter(|(at, _)| is_meant(*at)).map(|(_, finding)| finding));
    Ok(holds)
}
