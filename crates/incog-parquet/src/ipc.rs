//! Arrow IPC files and streams, also called Feather: in and out.
//!
//! The same cells and the same promises as for record batches ([`read_batches`]); compressed with lz4 or zstd or not, in. A release is a file
//! that is not compressed, fresh as a Parquet file of ours is.

use std::io::{Cursor, Write};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_ipc::writer::FileWriter;
use incog_core::table::Column;
use incog_core::{Error, ErrorKind, Result};

use crate::{ColumnType, Released, read_batches, to_batches};

/// What an IPC file starts with; a stream does not.
const MAGIC: &[u8] = b"ARROW1";

/// The columns of a file or a stream, and their types. The file is not trusted: whatever its reader trips over is an error.
pub fn read_ipc(bytes: Vec<u8>) -> Result<(Vec<Column>, Vec<ColumnType>)> {
    let damaged = || {
        Error::input("it is no Arrow IPC file, or damaged")
            .with_hint("Feather of version 1 is not read: write it as version 2")
    };
    let read = || -> Result<Vec<RecordBatch>> {
        let bytes = Cursor::new(bytes);
        if bytes.get_ref().starts_with(MAGIC) {
            let reader = FileReader::try_new(bytes, None).map_err(|_| damaged())?;
            let empty = RecordBatch::new_empty(reader.schema());
            let batches: Vec<RecordBatch> =
                reader.collect::<std::result::Result<_, _>>().map_err(|_| damaged())?;
            return Ok(if batches.is_empty() { vec![empty] } else { batches });
        }
        let reader = StreamReader::try_new(bytes, None).map_err(|_| damaged())?;
        let empty = RecordBatch::new_empty(reader.schema());
        let batches: Vec<RecordBatch> =
            reader.collect::<std::result::Result<_, _>>().map_err(|_| damaged())?;
        Ok(if batches.is_empty() { vec![empty] } else { batches })
    };
    let batches =
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(read)).unwrap_or_else(|_| Err(damaged()))?;
    read_batches(&batches)
}

/// An IPC file that is being written.
pub struct IpcWriter<W: Write> {
    writer: FileWriter<W>,
}

impl<W: Write> std::fmt::Debug for IpcWriter<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("IpcWriter").finish_non_exhaustive()
    }
}

impl<W: Write> IpcWriter<W> {
    /// Starts a file with these columns.
    pub fn new(to: W, columns: &[Released<'_>]) -> Result<Self> {
        let none: Vec<Vec<u32>> = vec![Vec::new(); columns.len()];
        let batches = to_batches(columns, &none, &vec![false; columns.len()])?;
        let schema =
            batches.first().map(RecordBatch::schema).ok_or_else(|| broken("a release has no columns"))?;
        let writer = FileWriter::try_new(to, &Arc::clone(&schema)).map_err(|error| failed(&error))?;
        Ok(IpcWriter { writer })
    }

    /// Appends rows: for each column the codes of their labels.
    pub fn write(&mut self, columns: &[Released<'_>], codes: &[Vec<u32>]) -> Result<()> {
        let plain = vec![false; columns.len()];
        for batch in to_batches(columns, codes, &plain)?.iter().filter(|batch| batch.num_rows() > 0) {
            self.writer.write(batch).map_err(|error| failed(&error))?;
        }
        Ok(())
    }

    /// Ends the file, and hands back what it was written to.
    pub fn finish(mut self) -> Result<W> {
        self.writer.finish().map_err(|error| failed(&error))?;
        self.writer.into_inner().map_err(|error| failed(&error))
    }
}

fn broken(what: &str) -> Error {
    Error::new(ErrorKind::Internal, what)
}

fn failed(problem: &arrow_schema::ArrowError) -> Error {
    match problem {
        arrow_schema::ArrowError::IoError(_, error) => {
            Error::new(ErrorKind::Io, format!("cannot write the Arrow file: {error}"))
        }
        _ => broken("the release cannot be encoded as Arrow"),
    }
}
