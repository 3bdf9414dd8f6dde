//! A release as JSON lines: an object a line, with every column, in the order of the release.
//!
//! Each label is written as JSON once, not each cell.

use incog_core::table::label;
use incog_core::{Progress, Result};
use incog_verify::Labels;

use crate::publish::sink::Unfinished;
use crate::publish::sink::layout::TypedColumn;
use crate::publish::sink::rows::WritingOrder;
use crate::source::kind::{Kind, is_json_number};

/// Writes a release in the given order of rows.
pub(super) fn write(
    release: &dyn Labels,
    rows: WritingOrder<'_>,
    columns: &[TypedColumn<'_>],
    mut file: Unfinished,
    progress: &Progress,
) -> Result<Unfinished> {
    let fields: Vec<Vec<String>> =
        columns.iter().enumerate().map(|(at, column)| fields(column, at == 0)).collect();
    let mut text = String::new();
    rows.each(release, progress, |batches| {
        for batch in batches {
            text.clear();
            for row in 0..batch.first().map_or(0, Vec::len) {
                for (fields, codes) in fields.iter().zip(batch) {
                    text.push_str(&fields[codes[row] as usize]);
                }
                text.push_str("}\n");
            }
            file.put(text.as_bytes())?;
        }
        Ok(())
    })?;
    Ok(file)
}

/// The key and the value of each label, with what stands in front of them.
fn fields(column: &TypedColumn<'_>, is_first: bool) -> Vec<String> {
    let key = format!("{}{}:", if is_first { "{" } else { "," }, quoted(column.name));
    let value = |text: &str| match column.kind {
        Kind::Boolean => text.to_owned(),
        Kind::Whole | Kind::Number | Kind::Exact if is_json_number(text) => text.to_owned(),
        _ => quoted(text),
    };
    let field = |label: &str| key.clone() + &label::text_of(label).map_or("null".to_owned(), value);
    column.labels.iter().map(|label| field(label)).collect()
}

fn quoted(text: &str) -> String {
    serde_json::Value::String(text.to_owned()).to_string()
}
