//! The star schema: dimension tables, and the packed key of every row.
//!
//! **Promise.** Every row of the table has one row of keys, made by joins inside of the engine. Where a row has a value that was not
//! there when values were asked for, that is an error and nothing is counted.
//!
//! | temporary table | one row for each | columns |
//! |---|---|---|
//! | `incog_d0`, `incog_d1`, ... | value of a quasi-identifier | its text `v`, the label of each level `l0`, `l1`, ..., its prefix code `key` |
//! | `incog_s0`, ... | value of a sensitive column that something is required of | its text `v`, its number `key` |
//! | `incog_persons` | person, where persons are counted | the text `v`, a number `key` |
//! | `incog_keys` | row | `k0`, `k1`, ...: the OR of its values' codes; `p`: its person, -1 for nobody; `s0`, ...: its sensitive values |
//!
//! Null is in no dimension table: nothing is equal to it. Where a column has missing values, their code and their labels stand in the
//! statement.
//!
//! **Cost.** One scan of the table with a hash join for each dimension. Dimensions are analyzed first: without that the join was twelve
//! times as slow on a busy machine (notes of the project, PostgreSQL 15).

use std::sync::Arc;

use incog_core::frequency::KeyLayout;
use incog_core::hierarchy::Attributes;
use incog_core::table::{Column, label};
use incog_core::{Error, ErrorKind, Result};

use crate::words::Words;
use crate::{Engine, Kind, Relation};

/// The table of keys.
pub(crate) const KEYS: &str = "incog_keys";
const PERSONS: &str = "incog_persons";

/// What keys are made of.
#[derive(Debug, Clone)]
pub struct Dimensions<'a> {
    /// The quasi-identifiers, each tied to its hierarchy.
    pub attributes: &'a Attributes,
    /// How groups are named.
    pub layout: Arc<KeyLayout>,
    /// The column of each attribute; its dictionary has the codes of values.
    pub quasi_identifiers: Vec<&'a Column>,
    /// The sensitive columns that are counted.
    pub sensitive: Vec<&'a Column>,
    /// The column that says whom a row is about, where persons are counted.
    pub unit: Option<&'a str>,
}

/// A star schema in an engine.
#[derive(Debug)]
pub(crate) struct Star {
    pub(crate) words: Arc<Words>,
    quasi: Vec<Dimension>,
    pub(crate) n_sensitive: usize,
    pub(crate) has_persons: bool,
    pub(crate) n_rows: u64,
}

/// The dimension of a quasi-identifier.
#[derive(Debug)]
struct Dimension {
    /// Its column, as it stands in statements.
    column: String,
    /// For each level, the labels of the missing value; nothing where no value is missing.
    missing: Option<(u64, Vec<Option<String>>)>,
    /// For each level, the one label that all values have, where it is one.
    constant: Vec<Option<Option<String>>>,
}

impl Star {
    /// Makes all temporary tables.
    pub(crate) fn make(engine: &mut dyn Engine, of: &Relation, from: &Dimensions<'_>) -> Result<Self> {
        let words = Arc::new(Words::new(from.attributes, &from.layout)?);
        let dialect = engine.dialect();
        let mut star = Star {
            words,
            quasi: Vec::new(),
            n_sensitive: from.sensitive.len(),
            has_persons: from.unit.is_some(),
            n_rows: 0,
        };
        for (at, column) in from.quasi_identifiers.iter().enumerate() {
            let dimension = star.dimension(engine, from, at, column)?;
            star.quasi.push(dimension);
        }
        for (at, column) in from.sensitive.iter().enumerate() {
            let name = format!("incog_s{at}");
            let values = column.dictionary().values().enumerate();
            let mut rows = values.filter_map(|(code, value)| {
                label::text_of(value).map(|text| vec![Some(text.to_owned()), Some(code.to_string())])
            });
            fill(engine, &name, &["v".to_owned()], &mut rows)?;
        }
        if let Some(unit) = from.unit {
            let text = dialect.text(&column(engine, unit));
            let query = format!(
                "SELECT t AS v, row_number() OVER () AS key FROM (SELECT DISTINCT {text} AS t FROM {}) AS u \
                 WHERE t IS NOT NULL AND NOT ({})",
                of.from(),
                dialect.is_blank("t")
            );
            engine.run("numbering persons", &dialect.create_temporary(PERSONS, &query))?;
            analyze(engine, PERSONS)?;
        }
        star.pack(engine, of, from)?;
        Ok(star)
    }

    fn dimension(
        &self,
        engine: &mut dyn Engine,
        from: &Dimensions<'_>,
        at: usize,
        data: &Column,
    ) -> Result<Dimension> {
        let attribute = &from.attributes[at];
        let levels: Vec<u8> = (0..=attribute.height()).collect();
        let label_of = |level: u8, value: usize| {
            let code = attribute.labels_at(level)[value];
            label::text_of(attribute.hierarchy().labels(level).value(code)).map(str::to_owned)
        };
        let values = || data.dictionary().values().enumerate();
        let constant = levels.iter().map(|&level| {
            let is_constant = from.layout.is_one_valued(at, level) && !data.dictionary().is_empty();
            is_constant.then(|| label_of(level, 0))
        });
        let missing = values().find(|(_, value)| label::text_of(value).is_none()).map(|(value, _)| {
            (self.words.key(at, value), levels.iter().map(|&level| label_of(level, value)).collect())
        });
        let dimension =
            Dimension { column: column(engine, data.name()), missing, constant: constant.collect() };
        let mut rows = values().filter_map(|(value, text)| {
            let text = label::text_of(text)?.to_owned();
            let labels = levels.iter().map(|&level| label_of(level, value));
            let key = Some(self.words.key(at, value).to_string());
            Some(std::iter::once(Some(text)).chain(labels).chain([key]).collect())
        });
        let labels = levels.iter().map(|level| format!("l{level}"));
        let texts: Vec<String> = std::iter::once("v".to_owned()).chain(labels).collect();
        fill(engine, &format!("incog_d{at}"), &texts, &mut rows)?;
        Ok(dimension)
    }

    /// Makes the table of keys.
    fn pack(&mut self, engine: &mut dyn Engine, of: &Relation, from: &Dimensions<'_>) -> Result<()> {
        let dialect = engine.dialect();
        let mut parts: Vec<Vec<String>> = vec![Vec::new(); self.words.n_words()];
        let mut joins = String::new();
        for at in 0..self.quasi.len() {
            if let Some(word) = self.words.word(at) {
                parts[word].push(self.key(at));
                joins += &self.join(engine, at);
            }
        }
        let word = |(at, parts): (usize, &Vec<String>)| match parts.is_empty() {
            true => format!("0::bigint AS k{at}"),
            false => format!("({}) AS k{at}", parts.join(" | ")),
        };
        let mut columns: Vec<String> = parts.iter().enumerate().map(word).collect();
        let mut unknown: Vec<String> = (0..parts.len()).map(|at| format!("k{at} IS NULL")).collect();
        if let Some(unit) = from.unit {
            let text = dialect.text(&column(engine, unit));
            joins += &format!(" LEFT JOIN {} AS u ON {text} = u.v", dialect.temporary(PERSONS));
            columns.push("coalesce(u.key, -1) AS p".to_owned());
        }
        for (at, data) in from.sensitive.iter().enumerate() {
            let name = column(engine, data.name());
            let text = dialect.text(&name);
            joins += &format!(
                " LEFT JOIN {} AS s{at} ON {text} = s{at}.v",
                dialect.temporary(&format!("incog_s{at}"))
            );
            let missing = data.dictionary().values().position(|value| label::text_of(value).is_none());
            columns.push(match missing {
                Some(code) => format!("CASE WHEN {name} IS NULL THEN {code} ELSE s{at}.key END AS s{at}"),
                None => format!("s{at}.key AS s{at}"),
            });
            unknown.push(format!("s{at} IS NULL"));
        }
        let query = format!("SELECT {} FROM {}{joins}", columns.join(", "), of.from());
        engine.run("packing keys", &dialect.create_temporary(KEYS, &query))?;
        analyze(engine, KEYS)?;
        let query = format!(
            "SELECT count(*), count(*) FILTER (WHERE {}) FROM {}",
            unknown.join(" OR "),
            dialect.temporary(KEYS)
        );
        let mut found = (0, 0);
        engine.rows("counting keys", &query, &[Kind::Number; 2], &mut |cells| {
            found = (cells[0].count()?, cells[1].count()?);
            Ok(())
        })?;
        self.n_rows = found.0;
        match found.1 {
            0 => Ok(()),
            n => Err(Error::input(format!(
                "{n} rows of {} have values that were not there when values were asked for",
                of.shown
            ))
            .with_hint("a table or view must give the same rows each time it is read")),
        }
    }

    /// The code of a row's value.
    fn key(&self, at: usize) -> String {
        let Dimension { column, missing, .. } = &self.quasi[at];
        match missing {
            Some((key, _)) => format!("CASE WHEN {column} IS NULL THEN {key} ELSE d{at}.key END"),
            None => format!("d{at}.key"),
        }
    }

    /// The label of a row's value at a level, and whether that takes the dimension.
    pub(crate) fn label(&self, engine: &dyn Engine, at: usize, level: u8) -> (String, bool) {
        let dialect = engine.dialect();
        let literal = |text: &Option<String>| match text {
            Some(text) => format!("CAST({} AS text)", dialect.literal(text)),
            None => "CAST(NULL AS text)".to_owned(),
        };
        let Dimension { column, missing, constant } = &self.quasi[at];
        if let Some(text) = &constant[usize::from(level)] {
            return (literal(text), false);
        }
        let label = match missing {
            Some((_, labels)) => {
                let of_missing = literal(&labels[usize::from(level)]);
                format!("CASE WHEN {column} IS NULL THEN {of_missing} ELSE d{at}.l{level} END")
            }
            None => format!("d{at}.l{level}"),
        };
        (label, true)
    }

    /// The words of a row's key, as far as they are looked at by a mask; and the dimensions that they take.
    pub(crate) fn words_of_row(&self, word: usize) -> (String, Vec<usize>) {
        let all = 0..self.quasi.len();
        let there: Vec<usize> = all.filter(|&at| self.words.word(at) == Some(word)).collect();
        let parts: Vec<String> = there.iter().map(|&at| self.key(at)).collect();
        (format!("({})", parts.join(" | ")), there)
    }

    /// The join with a dimension.
    pub(crate) fn join(&self, engine: &dyn Engine, at: usize) -> String {
        let dialect = engine.dialect();
        let text = dialect.text(&self.quasi[at].column);
        format!(" LEFT JOIN {} AS d{at} ON {text} = d{at}.v", dialect.temporary(&format!("incog_d{at}")))
    }
}

/// A column of the table, as it stands in statements.
pub(crate) fn column(engine: &dyn Engine, name: &str) -> String {
    format!("q.{}", engine.dialect().identifier(name))
}

/// Makes and fills a dimension table, whose last column is the number `key`.
fn fill(
    engine: &mut dyn Engine,
    name: &str,
    texts: &[String],
    rows: &mut dyn Iterator<Item = Vec<Option<String>>>,
) -> Result<()> {
    let dialect = engine.dialect();
    engine.run("making a dimension table", &dialect.create_empty(name, texts, &["key".to_owned()]))?;
    engine.fill("filling a dimension table", &dialect.temporary(name), rows)?;
    analyze(engine, name)
}

pub(crate) fn analyze(engine: &mut dyn Engine, name: &str) -> Result<()> {
    match engine.dialect().analyze(name) {
        Some(statement) => engine.run("looking at a temporary table", &statement),
        None => Ok(()),
    }
}

/// Why rows are too many to be counted.
pub(crate) fn too_many(what: &str) -> Error {
    Error::new(ErrorKind::Limit, format!("there are more {what} than can be counted"))
}
