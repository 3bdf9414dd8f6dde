//! Arrow IPC files and streams, also called Feather: in and out.
//!
//! The same cells and the same promises as for record batches ([`read_batches`]); compressed with lz4 or zstd or not, in. A release is a file
//! that is not compressed, fresh as a Parquet file of ours is.
//!
//! A file is not trusted. Where it says that a part is longer than the file, or becomes longer than any packing allows, nothing is decoded:
//! the decoder would ask for as much memory. What it trips over after that is caught, and told like any other damage.

use std::io::{Cursor, Write};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_ipc::writer::FileWriter;
use arrow_ipc::{Message, root_as_footer, root_as_message};
use incog_core::decoder::undisturbed;
use incog_core::table::Column;
use incog_core::{Error, ErrorKind, Result};

use crate::{ColumnType, Released, TextLayout, read_batches, to_batches};

/// What an IPC file starts with; a stream does not.
const MAGIC: &[u8] = b"ARROW1";

/// What stands before the length of a message, but in old files.
const CONTINUES: [u8; 4] = [0xff; 4];

/// No packing makes less of bytes: zstd has 4 for as many as 131,072 equal ones.
const MOST_PACKED: usize = 1 << 16;

/// The columns of a file or a stream, and their types. The file is not trusted: whatever its reader trips over is an error.
pub fn read_ipc(bytes: Vec<u8>) -> Result<(Vec<Column>, Vec<ColumnType>)> {
    let damaged = || {
        Error::input("it is no Arrow IPC file, or damaged")
            .with_hint("Feather of version 1 is not read: write it as version 2")
    };
    if parts_fit(&bytes) != Some(true) {
        return Err(damaged());
    }
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
    undisturbed(|| read_batches(&read()?)).unwrap_or_else(|| Err(damaged()))
}

/// Do all parts that a file or a stream announces lie in it? `None` if it is neither.
fn parts_fit(bytes: &[u8]) -> Option<bool> {
    if !bytes.starts_with(MAGIC) {
        return messages_fit(bytes);
    }
    let end = bytes.len().checked_sub(MAGIC.len() + 4)?;
    let n_bytes = i32::from_le_bytes(bytes.get(end..end + 4)?.try_into().ok()?);
    let start = end.checked_sub(usize::try_from(n_bytes).ok()?)?;
    let footer = root_as_footer(bytes.get(start..end)?).ok()?;
    let mut blocks =
        footer.dictionaries().into_iter().flatten().chain(footer.recordBatches().into_iter().flatten());
    Some(blocks.all(|block| {
        let part = || {
            let start = usize::try_from(block.offset()).ok()?;
            let body = start.checked_add(usize::try_from(block.metaDataLength()).ok()?)?;
            let end = body.checked_add(usize::try_from(block.bodyLength()).ok()?)?;
            let message = bytes.get(start..body)?;
            // The length stands before a message, after a mark in newer files.
            let message = message.strip_prefix(&CONTINUES).unwrap_or(message);
            Some(body_fits(root_as_message(message.get(4..)?).ok()?, bytes.get(body..end)?))
        };
        part() == Some(true)
    }))
}

/// The same of a stream: messages, each with its length before it and its body after it.
fn messages_fit(mut bytes: &[u8]) -> Option<bool> {
    while !bytes.is_empty() {
        bytes = bytes.strip_prefix(&CONTINUES).unwrap_or(bytes);
        let (length, rest) = bytes.split_at_checked(4)?;
        let n_bytes = usize::try_from(u32::from_le_bytes(length.try_into().ok()?)).ok()?;
        if n_bytes == 0 {
            break;
        }
        let (message, rest) = rest.split_at_checked(n_bytes)?;
        let message = root_as_message(message).ok()?;
        let (body, rest) = rest.split_at_checked(usize::try_from(message.bodyLength()).ok()?)?;
        if !body_fits(message, body) {
            return Some(false);
        }
        bytes = rest;
    }
    Some(true)
}

/// Do the buffers of a message lie in its body, and do they say nothing impossible of how long they are unpacked?
fn body_fits(message: Message<'_>, body: &[u8]) -> bool {
    let dictionary = message.header_as_dictionary_batch().and_then(|dictionary| dictionary.data());
    let Some(batch) = message.header_as_record_batch().or(dictionary) else { return true };
    let is_packed = batch.compression().is_some();
    batch.buffers().into_iter().flatten().all(|buffer| {
        let range = || {
            let start = usize::try_from(buffer.offset()).ok()?;
            body.get(start..start.checked_add(usize::try_from(buffer.length()).ok()?)?)
        };
        let Some(packed) = range() else { return false };
        match packed.first_chunk::<8>() {
            // -1 says that it is not packed.
            Some(length) if is_packed => {
                let most = packed.len().saturating_mul(MOST_PACKED);
                i64::from_le_bytes(*length) <= i64::try_from(most).unwrap_or(i64::MAX)
            }
            _ => true,
        }
    })
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
        let batches = to_batches(columns, &none, &vec![TextLayout::Plain; columns.len()])?;
        let schema =
            batches.first().map(RecordBatch::schema).ok_or_else(|| broken("a release has no columns"))?;
        let writer = FileWriter::try_new(to, &Arc::clone(&schema)).map_err(|error| failed(&error))?;
        Ok(IpcWriter { writer })
    }

    /// Appends rows: for each column the codes of their labels.
    pub fn write(&mut self, columns: &[Released<'_>], codes: &[Vec<u32>]) -> Result<()> {
        let plain = vec![TextLayout::Plain; columns.len()];
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
