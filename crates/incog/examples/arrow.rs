//! Arrow record batches in, Arrow record batches out: columns that are not generalized keep their types.
//!
//! `cargo run -p incog --example arrow --features parquet`
#![allow(clippy::print_stdout, reason = "that is what it is for")]

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use incog::{Anonymizer, Hierarchy, Result};

/// Releases a record batch and prints the schema of what comes out.
pub(crate) fn main() -> Result<()> {
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("age", Arc::new(Int64Array::from(vec![Some(34), Some(36), None, Some(51), Some(58), None]))),
        ("town", Arc::new(StringArray::from(vec!["Ulm", "Ulm", "Ulm", "Jena", "Jena", "Jena"]))),
        ("pay", Arc::new(Float64Array::from(vec![1800.5, 2100.0, 950.25, 3100.0, 2700.75, 1200.0]))),
    ];
    let batch = RecordBatch::try_from_iter(columns).expect("equally long columns");
    let release = Anonymizer::new(batch)
        .quasi_identifier("age", Hierarchy::intervals([10, 20, 40, 80]))
        .quasi_identifier("town", Hierarchy::suppress())
        .sensitive("pay")
        .k(2)
        .anonymize()?;
    let batches = release.to_record_batches()?;
    for field in batches[0].schema().fields() {
        println!("{}: {}", field.name(), field.data_type());
    }
    assert_eq!(batches[0].schema().field(2).data_type(), &arrow_schema::DataType::Float64);
    Ok(())
}
