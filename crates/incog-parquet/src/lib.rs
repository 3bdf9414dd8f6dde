//! Reads Parquet files, Arrow IPC files and Arrow record batches into dictionary-coded columns, and writes releases as any of them.
//!
//! **Nothing is lost**: a column that is not generalized comes out with the type and, value by value, the
//! content it went in with. In between, a value is its canonical text, so that a hierarchy can name it:
//!
//! | type | text |
//! |---|---|
//! | boolean | `true`, `false` |
//! | integers | `-17` |
//! | floats | the shortest text that reads back as the same number: `0.1`, `1e300`, `-0.0`, `NaN` |
//! | decimals | all digits of the scale: `12.50` |
//! | dates | `2003-04-17`; a 64-bit date with a time of day `2003-04-17T12:30:00` |
//! | times | `12:30:00`, `12:30:00.250` |
//! | timestamps | `2003-04-17T12:30:00`; of a time zone, in UTC: `2003-04-17T10:30:00Z` |
//! | text | as it is |
//!
//! **Null is the missing value, and the empty text is a value of its own**, on the way in as on the way out
//! ([`incog_core::table::label`]). All NaNs are one, and come out as one.
//!
//! **The release's file is fresh.** It has the columns' names, types and values, and nothing else of the source:
//! no key-value metadata, field metadata, dictionaries or row groups. Statistics are those of the released
//! values. A column may have nulls if a released row has one: what the source allowed is not told. The `ARROW:schema` entry is written anew from names and types alone, so that types come back exactly.
//!
//! Refused by column and type: binary, nested, duration and interval columns.
//!
//! A crate of its own because the format's dependencies would slow down every test of the engine.
#![forbid(unsafe_code)]

mod batches;
mod column_type;
mod ipc;
mod nesting;
mod read;
mod shared_file;
mod text;
mod text_chunk;
mod write;

pub use arrow_array::RecordBatch;
pub use batches::{TextLayout, read_batches, to_batches};
pub use column_type::ColumnType;
pub use ipc::{IpcWriter, read_ipc};
pub use read::Parquet;
pub use write::{Released, Writer};
