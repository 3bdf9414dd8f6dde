//! Rows that are copied here after all.
//!
//! **Promise.** The columns have the texts that the engine would count by ([`Dialect::text`](crate::Dialect::text)), so that a table in memory
//! and the same table in its engine give the same release. Columns that name persons are not fetched; whom a row is about is
//! fetched as a number that stands for the text.

use incog_core::table::{Column, Role};
use incog_core::{Progress, Result};

use crate::star::column;
use crate::{Engine, Kind, Relation};

/// How often progress is told.
const ROWS: u64 = 1 << 14;

/// All rows of a relation, with a role for each column. Identifiers have nothing but missing values.
pub(crate) fn rows(
    engine: &mut dyn Engine,
    of: &Relation,
    columns: &mut [Column],
    unit: Option<&str>,
    progress: &Progress,
) -> Result<()> {
    let dialect = engine.dialect();
    let is_fetched = |data: &Column| data.role() != Role::Identifier && Some(data.name()) != unit;
    let mut selected = Vec::new();
    let mut places = Vec::new();
    for (at, data) in columns.iter().enumerate() {
        let text = dialect.text(&column(engine, data.name()));
        if is_fetched(data) {
            selected.push(text);
            places.push(at);
        } else if Some(data.name()) == unit {
            // Nobody's rows are about nobody.
            let number = format!("(dense_rank() OVER (ORDER BY {text}))::text");
            selected.push(format!("CASE WHEN NOT ({}) THEN {number} END", dialect.is_blank(&text)));
            places.push(at);
        }
    }
    let others: Vec<usize> = (0..columns.len()).filter(|at| !places.contains(at)).collect();
    // A table of identifiers alone has rows, too.
    if selected.is_empty() {
        selected.push("CAST(NULL AS text)".to_owned());
    }
    let query = format!("SELECT {} FROM {}", selected.join(", "), of.from());
    let kinds = vec![Kind::Text; selected.len()];
    let mut n_rows = 0_u64;
    engine.rows("fetching rows", &query, &kinds, &mut |cells| {
        for (&at, cell) in places.iter().zip(cells) {
            match cell.text() {
                Some(text) => columns[at].push_text(text)?,
                None => columns[at].push("")?,
            };
        }
        for &at in &others {
            columns[at].push("")?;
        }
        n_rows += 1;
        if n_rows.is_multiple_of(ROWS) {
            progress.count_rows(ROWS);
            progress.check()?;
        }
        Ok(())
    })?;
    progress.count_rows(n_rows % ROWS);
    columns.iter_mut().for_each(Column::shrink);
    Ok(())
}
