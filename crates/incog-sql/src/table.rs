//! A table in an engine, as whoever plans a release sees it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use incog_core::frequency::FrequencySource;
use incog_core::table::Column;
use incog_core::{Error, ErrorKind, Progress, Result};

use crate::counts::Counts;
use crate::engine::{SharedEngine, lock};
use crate::release::{self, Recoded};
use crate::star::{Dimensions, Star, column};
use crate::{Engine, From, Kind, Relation, fetch};

/// A column with more values than this is a name or a number of its own, and nothing that is generalized by a hierarchy.
pub(crate) const MAX_VALUES: u64 = 1 << 22;

/// How many bytes of groups may be here, unless somebody says so.
pub(crate) const ROOM: u64 = 2 << 30;

/// A table in an engine.
#[derive(Debug)]
pub struct Table {
    engine: SharedEngine,
    relation: Relation,
    room: u64,
    star: Mutex<Option<Arc<Star>>>,
    /// The rows of each value of the columns that were asked for, in the order in which the values were told.
    rows_of_values: Mutex<BTreeMap<String, Vec<u64>>>,
}

impl Table {
    /// Finds a table. `room` is how many bytes of groups may be kept here.
    pub fn open(mut engine: Box<dyn Engine>, from: &From, room: Option<u64>) -> Result<Self> {
        let relation = engine.relation(from)?;
        Ok(Table {
            engine: Arc::new(Mutex::new(engine)),
            relation,
            room: room.unwrap_or(ROOM),
            star: Mutex::default(),
            rows_of_values: Mutex::default(),
        })
    }

    /// The engine, for whoever has more to say to it. Everybody else waits meanwhile.
    pub fn engine(&self) -> MutexGuard<'_, Box<dyn Engine>> {
        lock(&self.engine)
    }

    /// The same for whoever keeps it.
    pub fn shared(&self) -> SharedEngine {
        Arc::clone(&self.engine)
    }

    /// Which table it is.
    pub fn relation(&self) -> &Relation {
        &self.relation
    }

    /// How many rows there are.
    pub fn n_rows(&self) -> Result<u64> {
        self.number("counting rows", &format!("SELECT count(*) FROM {}", self.relation.from()))
    }

    fn number(&self, doing: &str, query: &str) -> Result<u64> {
        let mut number = 0;
        self.engine().rows(doing, query, &[Kind::Number], &mut |cells| {
            number = cells[0].count()?;
            Ok(())
        })?;
        Ok(number)
    }

    /// The distinct values of a column with the rows of each; `None` is null.
    pub fn values(&self, name: &str) -> Result<Vec<(Option<String>, u64)>> {
        let mut engine = self.engine();
        let text = engine.dialect().text(&column(&**engine, name));
        let query = format!(
            "SELECT {text}, count(*) FROM {} GROUP BY 1 LIMIT {}",
            self.relation.from(),
            MAX_VALUES + 1
        );
        let mut values = Vec::new();
        engine.rows(
            "asking for the values of a column",
            &query,
            &[Kind::Text, Kind::Number],
            &mut |cells| {
                values.push((cells[0].text().map(str::to_owned), cells[1].count()?));
                Ok(())
            },
        )?;
        if values.len() as u64 > MAX_VALUES {
            return Err(Error::new(
                ErrorKind::Limit,
                format!("column `{name}` has more than {MAX_VALUES} distinct values"),
            )
            .with_hint("is it an identifier? Otherwise read fewer digits of it by a `query`"));
        }
        // The same order each time, whatever the engine's.
        values.sort_unstable();
        let rows = values.iter().map(|(_, rows)| *rows).collect();
        self.rows_of_values().insert(name.to_owned(), rows);
        Ok(values)
    }

    fn rows_of_values(&self) -> MutexGuard<'_, BTreeMap<String, Vec<u64>>> {
        self.rows_of_values.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// How many rows do not say whom they are about.
    pub fn rows_about_nobody(&self, unit: &str) -> Result<u64> {
        let query = {
            let engine = self.engine();
            let text = engine.dialect().text(&column(&**engine, unit));
            format!(
                "SELECT count(*) FILTER (WHERE {text} IS NULL OR {}) FROM {}",
                engine.dialect().is_blank(&text),
                self.relation.from()
            )
        };
        self.number("counting rows about nobody", &query)
    }

    /// Makes the star schema, and what counts it.
    pub fn source(&self, dimensions: &Dimensions<'_>) -> Result<Box<dyn FrequencySource>> {
        let mut engine = self.engine();
        engine.check_temporary()?;
        let star = Arc::new(Star::make(&mut **engine, &self.relation, dimensions)?);
        drop(engine);
        *self.star.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(Arc::clone(&star));
        let layout = Arc::clone(&dimensions.layout);
        // Where the lowest level is ruled out, no counts of groups say how many rows a value has.
        let known = self.rows_of_values();
        let values = dimensions.attributes.iter().map(|attribute| {
            let rows = known.get(attribute.name()).filter(|_| attribute.level_number(0) > 0);
            rows.cloned()
        });
        let values = values.collect();
        Ok(Box::new(Counts::new(Arc::clone(&self.engine), star, layout, values, self.room)))
    }

    /// Writes the release into a new table, whose name is written as SQL has it. It is not committed.
    pub fn write(&self, table: &str, recoded: Recoded<'_>) -> Result<()> {
        let star = self.star.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone();
        let star = star
            .ok_or_else(|| Error::new(ErrorKind::Internal, "a release was written before it was counted"))?;
        release::write(&mut **self.engine(), &star, &self.relation, table, recoded)
    }

    /// All rows, copied here into columns that are empty.
    pub fn fetch(&self, columns: &mut [Column], unit: Option<&str>, progress: &Progress) -> Result<()> {
        fetch::rows(&mut **self.engine(), &self.relation, columns, unit, progress)
    }
}
