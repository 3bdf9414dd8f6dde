//! Is a release what it claims to be, where it is a table in a database beside its input?
//!
//! The same claims as [`check`](crate::check), decided where the rows are: the database regroups the released labels and recodes its input
//! anew, by SQL of this crate's own, and tells counts. No row comes here, and no cell but the distinct values of quasi-identifiers (where
//! levels must be found out) and of sensitive columns.
//!
//! 1. The hierarchies become tables: value, label of each level.
//! 2. *Rows*: input rows, recoded at the levels, and released rows are put together and grouped by all released columns; each
//!    combination has its number of input rows and of released rows. No combination may be released more often than it was collected: every
//!    released row is an input row. The rest of the input is what was left out.
//! 3. *Groups*: the same by the quasi-identifiers. How often each is released says what k is; released in part is a mistake; those
//!    left out must be too small, or refused by a claim.
//! 4. *Values*: of each group and sensitive column how often it has each value. What is decided of those is decided by the code that
//!    decides it for rows in memory.
//! 5. *Persons*: distinct ones of each group, counted in the input. They are numbered there; their names stay.
//!
//! Levels that are claimed are compared first. Where none are, or they do not fit, the levels that labels and their counts leave are
//! tried, [`MAX_COMPARED`] combinations at most; more are undecided.
//!
//! Cost: one grouping of input and release together for each combination of levels, and smaller ones of its result. What is temporary goes
//! with the transaction.

mod claims;
mod sql;

use crate::against_input::{Hierarchy, LEVELS_NOT_FOUND, RecodingClaim, combinations, possible_levels};
use crate::histograms::{GroupValue, GroupValues, Histograms};
use crate::{Claims, Counted, ReleasedTable, Report, SensitiveClaim, Verified, hash};

/// Combinations of levels that are compared.
const MAX_COMPARED: usize = 16;

/// Values of a hierarchy that one statement takes.
const VALUES_AT_ONCE: usize = 500;

/// A connection to a database, on which nobody else speaks meanwhile. What a statement fails with is told as it is.
pub trait Database {
    /// Runs a statement.
    fn run(&mut self, statement: &str) -> Result<(), String>;

    /// Shows every row of an answer, all columns of which are texts.
    fn rows(&mut self, query: &str, each: &mut dyn FnMut(&[Option<&str>])) -> Result<(), String>;
}

/// A released table in a database.
#[derive(Debug, Clone)]
pub struct TableInDatabase {
    /// What stands behind `FROM`.
    pub table: String,
    /// Its columns, in order.
    pub columns: Vec<String>,
    /// How many rows it has, as far as they were counted.
    pub rows: u64,
}

/// What it was made from.
#[derive(Debug)]
pub struct SourceInDatabase {
    /// What stands behind `FROM`, in brackets if it is a query.
    pub table: String,
    /// The columns of the input.
    pub columns: Vec<String>,
    /// The hierarchy of each quasi-identifier, in the order of the claims.
    pub hierarchies: Vec<Hierarchy>,
    /// The column that says whom a row is about.
    pub unit: Option<String>,
    /// How many rows may be left out.
    pub budget: u64,
    /// How the input was generalized.
    pub recoding: RecodingClaim,
}

/// Checks every claim. Fails only where the database does.
pub fn check_in_database(
    database: &mut dyn Database,
    release: &mut TableInDatabase,
    claims: &Claims<'_>,
    source: Option<&SourceInDatabase>,
) -> Result<Report, String> {
    let mut report = Report::default();
    let Some(columns) = claims::columns(release, claims, &mut report) else {
        return Ok(report);
    };
    let source = source.filter(|_| columns.are_declared);
    if source.is_some_and(|source| !source.is_by_columns()) {
        return Err("only recodings of whole columns are checked in a database".to_owned());
    }
    let mut checker = Checker { database, release, claims, source, n_input: 0, quasi: columns.quasi };
    checker.check(&mut report)?;
    Ok(report)
}

/// The same; the table is [`Verified`] if everything holds.
pub fn verify_in_database(
    database: &mut dyn Database,
    mut release: TableInDatabase,
    claims: &Claims<'_>,
    source: &SourceInDatabase,
) -> Result<Result<Verified<TableInDatabase>, Box<Report>>, String> {
    let report = check_in_database(database, &mut release, claims, Some(source))?;
    Ok(Verified::of(vec![ReleasedTable::new(release)], report))
}

struct Checker<'a> {
    database: &'a mut dyn Database,
    release: &'a mut TableInDatabase,
    claims: &'a Claims<'a>,
    source: Option<&'a SourceInDatabase>,
    /// How many rows the input has.
    n_input: u64,
    /// Where the quasi-identifiers stand in the release.
    quasi: Vec<usize>,
}

/// What was found at some levels.
#[derive(Debug, Clone, Default)]
struct Mismatch {
    strange_rows: u64,
    partial_groups: u64,
    needless_groups: u64,
    fewest_persons: Option<u64>,
}

impl Mismatch {
    fn severity(&self, k: u64) -> u64 {
        let too_few = self.fewest_persons.is_some_and(|persons| persons < k);
        self.strange_rows + self.partial_groups + self.needless_groups + u64::from(too_few)
    }
}

impl Checker<'_> {
    fn check(&mut self, report: &mut Report) -> Result<(), String> {
        self.drop_all()?;
        if let Some(source) = self.source {
            self.n_input = self.one(&format!("SELECT CAST(count(*) AS text) FROM {} AS i", source.table))?;
        }
        let levels = match self.source {
            Some(source) if source.hierarchies.len() == self.quasi.len() => self.levels(source)?,
            _ => Levels::None,
        };
        // The groups of the release are the same at whatever levels; without a source there are none.
        let found = match &levels {
            Levels::Some(all) => Some(self.compare(all)?),
            Levels::None | Levels::Impossible(_) | Levels::TooMany => {
                self.make_rows(None)?;
                None
            }
        };
        let sizes = self.sizes()?;
        self.release.rows = sizes.iter().map(|(rows, groups)| rows * groups).sum();
        report.add_group_sizes(self.claims, sizes);
        let claims = self.claims;
        let mut failed = Ok(());
        crate::combinations::check(claims, report, |set, smallest| {
            let places: Vec<usize> = set.iter().map(|&at| self.quasi[at]).collect();
            match self.smallest(&places) {
                Ok(least) => smallest.add(set, least.into_iter()),
                Err(problem) => failed = Err(problem),
            }
        });
        failed?;
        self.by_rows(report)?;
        if let Some(source) = self.source {
            self.against(source, &levels, found.as_ref(), report);
            self.by_persons(source, found.as_ref(), report)?;
        }
        self.drop_all()
    }

    /// Forgets what an earlier check left behind.
    fn drop_all(&mut self) -> Result<(), String> {
        for at in 0..self.quasi.len() {
            self.database.run(&format!("DROP TABLE IF EXISTS pg_temp.incog_check_h{at}"))?;
        }
        for table in ["rows", "groups", "persons", "values"] {
            self.database.run(&format!("DROP TABLE IF EXISTS pg_temp.incog_check_{table}"))?;
        }
        Ok(())
    }

    /// The combinations of levels that are to be compared.
    fn levels(&mut self, source: &SourceInDatabase) -> Result<Levels, String> {
        let hierarchies = &source.hierarchies;
        for (at, hierarchy) in hierarchies.iter().enumerate() {
            self.make_hierarchy(at, hierarchy)?;
        }
        if let RecodingClaim::Levels(levels) = &source.recoding
            && levels.len() == hierarchies.len()
            && levels.iter().zip(hierarchies).all(|(level, hierarchy)| hierarchy.levels.contains(level))
        {
            return Ok(Levels::Some(vec![levels.clone()]));
        }
        let mut possible = Vec::new();
        for (at, hierarchy) in hierarchies.iter().enumerate() {
            let column = self.release.columns[self.quasi[at]].clone();
            let released = self.counts(&self.release.table.clone(), &column)?;
            let collected = self.counts(&source.table, &column)?;
            let levels = possible_levels(&as_map(&released), &as_map(&collected), hierarchy);
            if levels.is_empty() {
                return Ok(Levels::Impossible(at));
            }
            possible.push(levels);
        }
        let n_all = possible.iter().try_fold(1_usize, |n, levels| n.checked_mul(levels.len()));
        if n_all.is_none_or(|n| n > MAX_COMPARED) {
            return Ok(Levels::TooMany);
        }
        Ok(Levels::Some(combinations(&possible, MAX_COMPARED)))
    }

    /// How often each label stands in a column.
    fn counts(&mut self, table: &str, column: &str) -> Result<Vec<(String, u64)>, String> {
        let cell = sql::cell("t", column);
        let mut counts = Vec::new();
        self.database.rows(
            &format!("SELECT {cell}, CAST(count(*) AS text) FROM {table} AS t GROUP BY 1"),
            &mut |cells| counts.push((sql::label_of_cell(cells[0].unwrap_or_default()), number(cells[1]))),
        )?;
        Ok(counts)
    }

    /// A table of a hierarchy.
    fn make_hierarchy(&mut self, at: usize, hierarchy: &Hierarchy) -> Result<(), String> {
        let n_levels = hierarchy.levels.iter().max().map_or(0, |&highest| highest + 1);
        let columns = sql::list((0..n_levels).map(|level| format!("l{level} text COLLATE \"C\"")));
        self.database.run(&format!(
            "CREATE TEMPORARY TABLE incog_check_h{at} (v text COLLATE \"C\", {columns}) ON COMMIT DROP"
        ))?;
        // The same statements each time.
        let mut paths: Vec<(&String, &Vec<String>)> = hierarchy.paths.iter().collect();
        paths.sort_unstable();
        for paths in paths.chunks(VALUES_AT_ONCE) {
            let row = |(value, path): &(&String, &Vec<String>)| {
                let label = |level: usize| path.get(level).unwrap_or(value);
                let labels = (0..n_levels).map(|level| sql::text(&sql::cell_of_label(label(level))));
                let cells = std::iter::once(sql::text(&sql::cell_of_label(value))).chain(labels);
                format!("({})", sql::list(cells))
            };
            let rows: Vec<String> = paths.iter().map(row).collect();
            self.database
                .run(&format!("INSERT INTO pg_temp.incog_check_h{at} VALUES {}", rows.join(", ")))?;
        }
        self.database.run(&format!("ANALYZE pg_temp.incog_check_h{at}"))
    }

    /// The input, recoded: what stands behind `FROM`, and the columns as they are released.
    fn recoded(&self, source: &SourceInDatabase, levels: &[usize]) -> (String, Vec<String>) {
        let mut from = format!("{} AS i", source.table);
        let mut cells: Vec<String> =
            self.release.columns.iter().map(|column| sql::cell("i", column)).collect();
        for (at, (&place, level)) in self.quasi.iter().zip(levels).enumerate() {
            let collected = std::mem::take(&mut cells[place]);
            from += &format!(" LEFT JOIN pg_temp.incog_check_h{at} AS h{at} ON {collected} = h{at}.v");
            cells[place] = format!("coalesce(h{at}.l{level}, {collected})");
        }
        (from, cells)
    }

    /// Groups input and release together by all columns; without levels the release alone.
    fn make_rows(&mut self, at: Option<(&SourceInDatabase, &[usize])>) -> Result<(), String> {
        for table in ["rows", "groups"] {
            self.database.run(&format!("DROP TABLE IF EXISTS pg_temp.incog_check_{table}"))?;
        }
        let all: Vec<usize> = (0..self.release.columns.len()).collect();
        let named = |cells: &[String]| {
            let with_names = cells.iter().enumerate().map(|(at, cell)| format!("{cell} AS c{at}"));
            sql::list(with_names)
        };
        let released: Vec<String> =
            self.release.columns.iter().map(|column| sql::cell("r", column)).collect();
        let mut both =
            format!("SELECT {}, 0 AS a, 1 AS b FROM {} AS r", named(&released), self.release.table);
        if let Some((source, levels)) = at {
            let (from, cells) = self.recoded(source, levels);
            both += &format!(" UNION ALL SELECT {}, 1, 0 FROM {from}", named(&cells));
        }
        let columns = sql::columns(&all);
        self.database.run(&format!(
            "CREATE TEMPORARY TABLE incog_check_rows ON COMMIT DROP AS SELECT {columns}, CAST(sum(a) AS bigint) AS a, \
             CAST(sum(b) AS bigint) AS b FROM ({both}) AS u GROUP BY {columns}"
        ))?;
        let quasi = sql::columns(&self.quasi);
        self.database.run(&format!(
            "CREATE TEMPORARY TABLE incog_check_groups ON COMMIT DROP AS SELECT {quasi}, CAST(sum(a) AS bigint) AS a, \
             CAST(sum(b) AS bigint) AS b FROM pg_temp.incog_check_rows GROUP BY {quasi}"
        ))?;
        self.database.run("ANALYZE pg_temp.incog_check_groups")
    }

    /// Compares at each combination of levels, until everything holds; the closest is what is told.
    fn compare(&mut self, all: &[Vec<usize>]) -> Result<(Mismatch, Vec<usize>), String> {
        let Some(source) = self.source else { return Ok((Mismatch::default(), Vec::new())) };
        let mut closest: Option<(u64, Mismatch, Vec<usize>)> = None;
        let mut made: &[usize] = &[];
        for levels in all {
            let mismatch = self.at(source, levels)?;
            made = levels;
            let severity = mismatch.severity(self.claims.k);
            if closest.as_ref().is_none_or(|(least, ..)| severity < *least) {
                closest = Some((severity, mismatch, levels.clone()));
            }
            if severity == 0 {
                break;
            }
        }
        let (_, mismatch, levels) = closest.unwrap_or_default();
        // What else is asked is asked of the tables of these levels.
        if made != levels {
            self.at(source, &levels)?;
        }
        Ok((mismatch, levels))
    }

    fn at(&mut self, source: &SourceInDatabase, levels: &[usize]) -> Result<Mismatch, String> {
        self.make_rows(Some((source, levels)))?;
        if source.unit.is_some() {
            self.make_persons(source, levels)?;
        }
        let strange_rows = self
            .one("SELECT CAST(coalesce(sum(greatest(b - a, 0)), 0) AS text) FROM pg_temp.incog_check_rows")?;
        let partial_groups = self.one(
            "SELECT CAST(count(*) AS text) FROM pg_temp.incog_check_groups WHERE b > 0 AND a > 0 AND a <> b",
        )?;
        let fewest_persons = match source.unit {
            None => None,
            Some(_) => self.fewest_persons()?,
        };
        let needless_groups = self.needless(source)?;
        Ok(Mismatch { strange_rows, partial_groups, needless_groups, fewest_persons })
    }

    /// Whom each input row is about, beside its group and its sensitive values.
    fn make_persons(&mut self, source: &SourceInDatabase, levels: &[usize]) -> Result<(), String> {
        let Some(unit) = &source.unit else { return Ok(()) };
        self.database.run("DROP TABLE IF EXISTS pg_temp.incog_check_persons")?;
        let (from, cells) = self.recoded(source, levels);
        let kept = (0..cells.len()).filter(|at| self.quasi.contains(at) || self.is_sensitive(*at));
        let columns = sql::list(kept.map(|at| format!("{} AS c{at}", cells[at])));
        let person = sql::cell("i", unit);
        // The missing value, the empty text and white space are nobody.
        let is_nobody = sql::is_blank(&person);
        self.database.run(&format!(
            "CREATE TEMPORARY TABLE incog_check_persons ON COMMIT DROP AS SELECT {columns}, CASE WHEN {is_nobody} \
             THEN NULL ELSE dense_rank() OVER (ORDER BY {person}) END AS p FROM {from}"
        ))?;
        self.database.run("ANALYZE pg_temp.incog_check_persons")
    }

    /// Is something claimed of a released column's values?
    fn is_sensitive(&self, at: usize) -> bool {
        self.claims.sensitive.iter().any(|claim| claim.column == self.release.columns[at])
    }

    /// That a row of one table is in the same group as one of another.
    fn same_group(&self, a: &str, b: &str) -> String {
        let equal: Vec<String> = self.quasi.iter().map(|at| format!("{a}.c{at} = {b}.c{at}")).collect();
        if equal.is_empty() { "true".to_owned() } else { equal.join(" AND ") }
    }

    fn fewest_persons(&mut self) -> Result<Option<u64>, String> {
        let columns = sql::list(self.quasi.iter().map(|at| format!("g.c{at}")));
        let same = self.same_group("g", "p");
        let mut fewest = None;
        self.database.rows(
            &format!(
                "SELECT CAST(min(n) AS text) FROM (SELECT count(DISTINCT p.p) AS n FROM pg_temp.incog_check_groups AS g \
                 JOIN pg_temp.incog_check_persons AS p ON {same} WHERE g.b > 0 GROUP BY {columns}) AS x"
            ),
            &mut |cells| fewest = cells[0].map(|_| number(cells[0])),
        )?;
        Ok(fewest)
    }

    /// How many groups that were left out are large enough, and refused by no claim.
    fn needless(&mut self, source: &SourceInDatabase) -> Result<u64, String> {
        if !claims::judges_groups(self.claims, source) {
            return Ok(0);
        }
        let k = self.claims.k;
        let columns = sql::columns(&self.quasi);
        let large = match source.unit {
            None => format!("SELECT {columns} FROM pg_temp.incog_check_groups WHERE b = 0 AND a >= {k}"),
            Some(_) => {
                let (same, of_group) =
                    (self.same_group("g", "p"), sql::list(self.quasi.iter().map(|at| format!("g.c{at}"))));
                format!(
                    "SELECT {of_group} FROM pg_temp.incog_check_groups AS g JOIN pg_temp.incog_check_persons AS p \
                     ON {same} WHERE g.b = 0 GROUP BY {of_group} HAVING count(DISTINCT p.p) >= {k}"
                )
            }
        };
        let refusals: Vec<&SensitiveClaim> =
            self.claims.sensitive.iter().filter(|claim| claim.has_threshold()).collect();
        let n_large = self.one(&format!("SELECT CAST(count(*) AS text) FROM ({large}) AS x"))?;
        if n_large == 0 || refusals.is_empty() {
            return Ok(n_large);
        }
        let mut is_open = vec![true; usize::try_from(n_large).map_err(|error| error.to_string())?];
        for claim in refusals {
            let Some(at) = self.release.columns.iter().position(|column| *column == claim.column) else {
                continue;
            };
            let values = self.values(at)?;
            let labels: Vec<&str> = values.iter().map(String::as_str).collect();
            // The same order of groups for each claim.
            let groups = match claim.counted {
                Counted::Rows => self.groups_of_rows(at, "a", Some(&large), true)?,
                Counted::Persons | Counted::Labelled(_) => self.groups_of_persons(at, Some(&large), true)?,
            };
            let histograms = Histograms::of_groups(&labels, &groups);
            histograms.each_group(|group| {
                if claim.explains_suppression(group, &histograms.labels)
                    && let Some(is_open) = is_open.get_mut(group.group_idx)
                {
                    *is_open = false;
                }
            });
        }
        Ok(is_open.into_iter().filter(|&is_open| is_open).count() as u64)
    }

    /// Numbers the values of a released column, as input and release have them. Returns their labels in the order of the numbers.
    fn values(&mut self, at: usize) -> Result<Vec<String>, String> {
        self.database.run("DROP TABLE IF EXISTS pg_temp.incog_check_values")?;
        self.database.run(&format!(
            "CREATE TEMPORARY TABLE incog_check_values ON COMMIT DROP AS SELECT v, row_number() OVER (ORDER BY v) - 1 AS n \
             FROM (SELECT DISTINCT c{at} AS v FROM pg_temp.incog_check_rows) AS x"
        ))?;
        self.database.run("ANALYZE pg_temp.incog_check_values")?;
        let mut labels = Vec::new();
        self.database.rows("SELECT v FROM pg_temp.incog_check_values ORDER BY n", &mut |cells| {
            labels.push(sql::label_of_cell(cells[0].unwrap_or_default()));
        })?;
        Ok(labels)
    }

    /// How often each group has each value: of the rows that `counted` counts, and of some groups only, if that is asked. In the order of
    /// the groups' labels, if that matters.
    fn groups_of_rows(
        &mut self,
        at: usize,
        counted: &str,
        only: Option<&str>,
        in_order: bool,
    ) -> Result<Vec<GroupValues>, String> {
        let columns = sql::list(self.quasi.iter().map(|at| format!("r.c{at}")));
        let join = match only {
            Some(only) => format!("JOIN ({only}) AS o ON {}", self.same_group("r", "o")),
            None => String::new(),
        };
        let places = sql::columns(&self.quasi);
        let inner = format!(
            "SELECT {columns}, v.n AS v, sum(r.{counted}) AS n FROM pg_temp.incog_check_rows AS r {join} \
             JOIN pg_temp.incog_check_values AS v ON r.c{at} = v.v WHERE r.{counted} > 0 GROUP BY {columns}, v.n"
        );
        let list = format!(
            "SELECT string_agg(v || ':' || n, ',' ORDER BY v) AS h FROM ({inner}) AS x GROUP BY {places}"
        );
        let query = match in_order {
            true => format!("SELECT h, '1' FROM ({list} ORDER BY {places}) AS y"),
            false => format!("SELECT h, CAST(count(*) AS text) FROM ({list}) AS y GROUP BY h ORDER BY h"),
        };
        self.read_groups(&query, |value, n| GroupValue::Rows { value, n })
    }

    /// Which persons of each released group have each value.
    fn groups_of_persons(
        &mut self,
        at: usize,
        only: Option<&str>,
        in_order: bool,
    ) -> Result<Vec<GroupValues>, String> {
        let places = sql::columns(&self.quasi);
        let columns = sql::list(self.quasi.iter().map(|at| format!("p.c{at}")));
        let only = only.map_or_else(
            || format!("SELECT {places} FROM pg_temp.incog_check_groups WHERE b > 0"),
            str::to_owned,
        );
        let same = self.same_group("p", "o");
        let inner = format!(
            "SELECT DISTINCT {columns}, v.n AS v, p.p AS p FROM pg_temp.incog_check_persons AS p JOIN ({only}) AS o ON {same} \
             JOIN pg_temp.incog_check_values AS v ON p.c{at} = v.v WHERE p.p IS NOT NULL"
        );
        let order = if in_order { format!(" ORDER BY {places}") } else { String::new() };
        let query = format!(
            "SELECT string_agg(v || ':' || p, ',' ORDER BY v, p), '1' FROM ({inner}) AS x GROUP BY {places}{order}"
        );
        self.read_groups(&query, |value, person| GroupValue::Person { value, person: person as u32 })
    }

    /// Reads lists of pairs of numbers, each with how many groups have it.
    fn read_groups(
        &mut self,
        query: &str,
        value: impl Fn(u32, u64) -> GroupValue,
    ) -> Result<Vec<GroupValues>, String> {
        let mut groups = Vec::new();
        self.database.rows(query, &mut |cells| {
            let pair = |pair: &str| {
                let (first, second) = pair.split_once(':').unwrap_or((pair, ""));
                value(number(Some(first)) as u32, number(Some(second)))
            };
            let values: Vec<GroupValue> = cells[0].unwrap_or_default().split(',').map(pair).collect();
            groups.push(GroupValues { values, n_groups: number(cells[1]) });
        })?;
        Ok(groups)
    }

    /// How many groups have how many rows.
    fn sizes(&mut self) -> Result<Vec<(u64, u64)>, String> {
        let mut sizes = Vec::new();
        self.database.rows(
            "SELECT CAST(b AS text), CAST(count(*) AS text) FROM pg_temp.incog_check_groups WHERE b > 0 GROUP BY b",
            &mut |cells| sizes.push((number(cells[0]), number(cells[1]))),
        )?;
        sizes.sort_unstable();
        Ok(sizes)
    }

    /// The released rows of the smallest combination of labels of some columns.
    fn smallest(&mut self, places: &[usize]) -> Result<Option<u64>, String> {
        let columns = sql::columns(places);
        let mut least = None;
        self.database.rows(
            &format!(
                "SELECT CAST(min(n) AS text) FROM (SELECT sum(b) AS n FROM pg_temp.incog_check_groups WHERE b > 0 \
                 GROUP BY {columns}) AS x"
            ),
            &mut |cells| least = cells[0].map(|_| number(cells[0])),
        )?;
        Ok(least)
    }

    fn one(&mut self, query: &str) -> Result<u64, String> {
        let mut found = 0;
        self.database.rows(query, &mut |cells| found = number(cells[0]))?;
        Ok(found)
    }
}

/// Which levels are compared?
enum Levels {
    /// There is nothing to compare with.
    None,
    /// These combinations.
    Some(Vec<Vec<usize>>),
    /// A quasi-identifier has labels of no level.
    Impossible(usize),
    /// There are too many combinations.
    TooMany,
}

fn as_map(counts: &[(String, u64)]) -> hash::Map<&str, u64> {
    counts.iter().map(|(label, n)| (label.as_str(), *n)).collect()
}

/// A number that a database wrote. What is none is counted as what makes claims fail: more rows, more groups.
fn number(cell: Option<&str>) -> u64 {
    cell.and_then(|cell| cell.parse().ok()).unwrap_or(u64::MAX >> 24)
}
