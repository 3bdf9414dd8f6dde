//! Where do releases go?
//!
//! **Nothing leaves unverified**: a sink takes a [`Verified`](incog_verify::Verified) release and nothing else.
//! **Whole or absent**: a file is written beside its target under another name, flushed to the disk, and renamed.
//! If anything fails or the run is cancelled, the unfinished file is removed and the target is as it was. **Together or not at
//! all**: a release and its record appear both, or neither does ([`appear`]).

mod buckets;
mod csv;
mod folder;
mod hidden;
mod json_lines;
mod layout;
#[cfg(feature = "parquet")]
mod parquet;
mod rows;
#[cfg(feature = "sheets")]
mod sheet;
mod shuffle;
mod standard;
mod together;

pub(crate) use folder::{TargetFolder, UnfinishedFolder};
pub use hidden::{LeftNothing, leave_nothing, leave_nothing_at_once};
pub(crate) use layout::{Form, Layout, Types};
use layout::{TypedColumn, Wanted};
use rows::WritingOrder;
pub use standard::check_standard_output;
pub(crate) use together::{NewFolder, appear};

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

#[cfg(feature = "parquet")]
use incog_core::table::Table;
use incog_core::{Error, ErrorKind, Progress, Result, Stage};
use incog_verify::{Labels, Verified};
use sha2::{Digest, Sha256};

use crate::file::{self, FileFormat, Packing, STANDARD};
use crate::job::OutputOrder;
use crate::publish::sink::hidden::HiddenFile;
#[cfg(feature = "parquet")]
use crate::source::CellType;
#[cfg(feature = "parquet")]
use crate::source::Format;
use crate::source::spill::Memory;
use crate::system::{is_of_process, usual_file};

/// What is shorter is collected before it is written.
const BUFFER: usize = 1 << 17;

/// What is longer is written by one thread while another computes its digest.
const SHARED: usize = 1 << 16;

/// Which rows of a release a file holds: those of a table, or of one of its sensitive columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Part {
    /// The table.
    pub(crate) table: usize,
    /// The sensitive column, in an anatomized database.
    pub(crate) sensitive: Option<usize>,
}

impl Part {
    /// The rows of the first table: the release, where it is one table.
    pub(crate) const FIRST: Part = Part { table: 0, sensitive: None };

    /// What it is in a release.
    pub(crate) fn of<R>(self, verified: &Verified<R>) -> &R {
        let table = &verified.tables()[self.table];
        self.sensitive.map_or(&table.rows, |at| &table.sensitive[at].1)
    }
}

/// Writes a part of a verified release; the file is yet to be finished, and appears after that. Row order is the input's, or drawn
/// from the operating system's randomness and recorded nowhere. With `memory` rows are shuffled in a temporary file.
pub(crate) fn write<R: Labels>(
    verified: &Verified<R>,
    part: Part,
    file: Unfinished,
    layout: &Layout,
    order: OutputOrder,
    memory: Option<&Memory>,
    progress: &Progress,
) -> Result<Unfinished> {
    // In the order of the rows, every sensitive value would be next to its row.
    let order = if part.sensitive.is_some() { OutputOrder::Shuffle } else { order };
    let rows: &R = part.of(verified);
    write_labels(rows, file, layout, WritingOrder::new(order, memory), progress)
}

/// A part of a release as Arrow record batches, in an order of its rows unless they are to come as they are. `released` are the places
/// of its columns in the table, and whether they are as collected.
#[cfg(feature = "parquet")]
pub(crate) fn to_record_batches<R: Labels>(
    verified: &Verified<R>,
    part: Part,
    order: Option<&[u32]>,
    format: &Format,
    table: &Table,
    released: &[(usize, bool)],
) -> Result<Vec<incog_parquet::RecordBatch>> {
    let form = Form { format: FileFormat::Arrow, types: Types::AsCollected };
    let Layout::Typed { columns, .. } = Layout::new(form, format, table, released) else {
        return Err(Error::new(ErrorKind::Internal, "typed columns have no types"));
    };
    // Categories stay categories, and views views, whether they are generalized or not.
    let layout = |&(at, _): &(usize, bool)| {
        if at < table.columns().len()
            && let CellType::Kept(of) = format.type_of(at)
        {
            of.text_layout()
        } else {
            incog_parquet::TextLayout::Plain
        }
    };
    let layouts: Vec<_> = released.iter().map(layout).collect();
    let rows: &R = part.of(verified);
    parquet::to_record_batches(rows, order, &columns, &layouts)
}

fn write_labels(
    release: &dyn Labels,
    file: Unfinished,
    layout: &Layout,
    rows: WritingOrder<'_>,
    progress: &Progress,
) -> Result<Unfinished> {
    progress.enter(Stage::Writing);
    match layout {
        Layout::Csv(layout) => {
            let mut file = file;
            csv::write(release, rows, layout, &mut file, progress)?;
            Ok(file)
        }
        Layout::Typed { format, columns } => write_typed(release, file, *format, columns, rows, progress),
    }
}

/// Writes a release in a format that has types.
fn write_typed(
    release: &dyn Labels,
    file: Unfinished,
    format: FileFormat,
    wanted: &[Wanted],
    rows: WritingOrder<'_>,
    progress: &Progress,
) -> Result<Unfinished> {
    let columns = TypedColumn::all(release, wanted, format)?;
    match format {
        #[cfg(feature = "parquet")]
        FileFormat::Parquet => parquet::write(release, rows, &columns, file, progress),
        #[cfg(feature = "parquet")]
        FileFormat::Arrow => parquet::write_ipc(release, rows, &columns, file, progress),
        #[cfg(feature = "sheets")]
        FileFormat::Xlsx => sheet::write(release, rows, &columns, file, progress),
        FileFormat::Jsonl => json_lines::write(release, rows, &columns, file, progress),
        _ => {
            let problem = format!("this incog was built without {}", format.called());
            Err(cannot_write(&file.place.name, &problem))
        }
    }
}

/// An output that is being written, under another name than its own.
pub(crate) struct Unfinished {
    place: FilePlace,
    writer: Writer,
}

/// Where a file is to appear.
#[derive(Debug, Clone)]
struct FilePlace {
    path: PathBuf,
    /// What it is called in messages.
    name: PathBuf,
    access: Access,
    folder: InFolder,
}

/// Who else writes to the folder that a file appears in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum InFolder {
    /// Whoever likes.
    Shared,
    /// Nobody: it is hidden itself, and this process has it locked.
    Own,
}

impl FilePlace {
    fn new(path: &Path, access: Access) -> Self {
        FilePlace { path: path.to_owned(), name: path.to_owned(), access, folder: InFolder::Shared }
    }

    /// Nothing but a file may be there.
    fn check(&self) -> Result<()> {
        if self.path.is_dir() {
            return Err(cannot_write(&self.name, "it is a folder"));
        }
        // None of these would be written to; the renamed file would take their place.
        let hint = "to write to a pipe, give `-` and redirect";
        if std::fs::metadata(&self.path).is_ok_and(|metadata| !metadata.is_file()) {
            return Err(cannot_write(&self.name, "it is a device or a pipe").with_hint(hint));
        }
        if is_of_process(&self.path) {
            return Err(cannot_write(&self.name, "it is what a process has open, not a file").with_hint(hint));
        }
        Ok(())
    }
}

/// Who may read a file, once it is finished.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Access {
    /// Like any other new file: what the user's mask allows.
    Usual,
    /// It is nobody else's business.
    Owner,
}

enum Writer {
    Plain(Hashed),
    Gzip(Box<flate2::write::GzEncoder<Hashed>>),
    Zstd(Box<zstd::stream::write::Encoder<'static, Hashed>>),
}

/// Where the bytes go, and their digest so far.
struct Hashed {
    to: Target,
    digest: Sha256,
}

enum Target {
    /// Only the digest is wanted.
    Nowhere,
    File(BufWriter<HiddenFile>),
    Standard(BufWriter<File>),
}

impl Unfinished {
    /// An output of which only the digest is wanted.
    pub(crate) fn nowhere() -> Self {
        let writer = Writer::Plain(Hashed { to: Target::Nowhere, digest: Sha256::new() });
        Unfinished { place: FilePlace::new(Path::new(STANDARD), Access::Usual), writer }
    }

    /// Starts an output; compressed if its name ends in `.gz` or `.zst`, and `-` is standard output.
    pub(crate) fn create(path: &Path) -> Result<Self> {
        Unfinished::create_in(path, None)
    }

    /// The same, where the folder may be one that is yet to be made.
    pub(crate) fn create_in(path: &Path, new_folder: Option<&NewFolder>) -> Result<Self> {
        let place = FilePlace::new(path, Access::Usual);
        match new_folder.filter(|folder| folder.holds(path)) {
            Some(folder) => {
                Unfinished::start(place, folder.parent()).map_err(|error| folder.cannot_make(&error))
            }
            None => Unfinished::start(place, folder_of(path)),
        }
    }

    /// The same for a file that is nobody else's business.
    pub(crate) fn create_private(path: &Path) -> Result<Self> {
        Unfinished::start(FilePlace::new(path, Access::Owner), folder_of(path))
    }

    /// The same for a file of a folder that has yet to appear, and is called otherwise in messages.
    fn create_as(path: &Path, name: &Path) -> Result<Self> {
        let place = FilePlace::new(path, Access::Usual);
        let place = FilePlace { name: name.to_owned(), folder: InFolder::Own, ..place };
        Unfinished::start(place, folder_of(path))
    }

    /// Starts an output which is in another folder until it appears.
    fn start(place: FilePlace, folder: &Path) -> Result<Self> {
        let failed = |error: std::io::Error| write_failed(&place.name, &error);
        if place.path.as_os_str() == STANDARD {
            let to = Target::Standard(BufWriter::with_capacity(BUFFER, standard::output()?));
            let writer = Writer::Plain(Hashed { to, digest: Sha256::new() });
            return Ok(Unfinished { place, writer });
        }
        place.check()?;
        if !folder.is_dir() {
            return Err(
                cannot_write(&place.name, "its folder does not exist").with_hint("create the folder first")
            );
        }
        let file = match place.folder {
            InFolder::Shared => HiddenFile::create_in(folder),
            InFolder::Own => HiddenFile::create_in_own(folder),
        };
        let file = file.map_err(failed)?;
        let to = Target::File(BufWriter::with_capacity(BUFFER, file));
        let hashed = Hashed { to, digest: Sha256::new() };
        let writer = match Packing::of(&place.path) {
            Packing::Gzip => {
                Writer::Gzip(Box::new(flate2::write::GzEncoder::new(hashed, flate2::Compression::default())))
            }
            Packing::Zstd => {
                Writer::Zstd(Box::new(zstd::stream::write::Encoder::new(hashed, 0).map_err(failed)?))
            }
            Packing::None => Writer::Plain(hashed),
        };
        Ok(Unfinished { place, writer })
    }

    /// Appends bytes.
    pub(crate) fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.write_all(bytes).map_err(|error| write_failed(&self.place.name, &error))
    }

    /// Ends the output and brings it to the disk.
    pub(crate) fn finish(self) -> Result<Finished> {
        let Unfinished { place, writer } = self;
        let failed = |error: std::io::Error| write_failed(&place.name, &error);
        let Hashed { to, digest } = match writer {
            Writer::Plain(hashed) => hashed,
            Writer::Gzip(encoder) => encoder.finish().map_err(failed)?,
            Writer::Zstd(encoder) => encoder.finish().map_err(failed)?,
        };
        let file = match to {
            Target::Nowhere => None,
            Target::Standard(mut stdout) => {
                stdout.flush().map_err(failed)?;
                None
            }
            Target::File(file) => {
                let file = file.into_inner().map_err(|error| failed(error.into_error()))?;
                file.as_file().sync_all().map_err(failed)?;
                Some(file)
            }
        };
        Ok(Finished { place, file, sha256: digest.finalize().into() })
    }
}

/// The folder that a path is in.
fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// An output that is whole and on disk, but not yet under its own name. Dropped, it is gone.
pub(crate) struct Finished {
    place: FilePlace,
    /// `None` if it went to standard output, or nowhere.
    file: Option<HiddenFile>,
    sha256: [u8; 32],
}

/// What came of a file that was to appear only where there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Appeared {
    /// It is there.
    New,
    /// Another one is there; this one is gone.
    NotNew,
}

impl Finished {
    /// The digest of its bytes.
    pub(crate) fn sha256(&self) -> [u8; 32] {
        self.sha256
    }

    /// Makes it appear.
    pub(crate) fn appear(self) -> Result<()> {
        appear(vec![self], None)
    }

    /// Makes it appear unless a file is there.
    pub(crate) fn appear_new(mut self) -> Result<Appeared> {
        let failed = |error: std::io::Error| write_failed(&self.place.name, &error);
        let Some(file) = &mut self.file else {
            return Ok(Appeared::New);
        };
        let _changing = hidden::changing();
        match file.rename_new(&self.place.path).and_then(|()| open_up(&self.place.path, self.place.access)) {
            Ok(()) => Ok(Appeared::New),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(Appeared::NotNew),
            Err(error) => Err(failed(error)),
        }
    }
}

/// Lets those read a file who may, once it has appeared: a kill before that leaves nothing that others could read.
fn open_up(file: &Path, access: Access) -> std::io::Result<()> {
    if access == Access::Usual { usual_file(file) } else { Ok(()) }
}

impl Write for Unfinished {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match &mut self.writer {
            Writer::Plain(hashed) => hashed.write(bytes),
            Writer::Gzip(encoder) => encoder.write(bytes),
            Writer::Zstd(encoder) => encoder.write(bytes),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        match &mut self.writer {
            Writer::Plain(hashed) => hashed.flush(),
            Writer::Gzip(encoder) => encoder.flush(),
            Writer::Zstd(encoder) => encoder.flush(),
        }
    }
}

impl Write for Hashed {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let Hashed { to, digest } = self;
        if bytes.len() < SHARED {
            to.write_all(bytes)?;
            digest.update(bytes);
        } else {
            // If not all can be written, there is no output, and the digest does not matter.
            rayon::join(|| to.write_all(bytes), || digest.update(bytes)).0?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        match &mut self.to {
            Target::Nowhere => Ok(()),
            Target::File(file) => file.flush(),
            Target::Standard(stdout) => stdout.flush(),
        }
    }
}

impl Target {
    fn write_all(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        match self {
            Target::Nowhere => Ok(()),
            Target::File(file) => file.write_all(bytes),
            Target::Standard(stdout) => stdout.write_all(bytes),
        }
    }
}

fn cannot_write(path: &Path, problem: &str) -> Error {
    not_written(path, Error::new(ErrorKind::Io, problem))
}

/// The same because of the system. Nobody cares for the name that a file has before it is finished.
fn write_failed(path: &Path, error: &std::io::Error) -> Error {
    not_written(path, file::cause(error))
}

fn not_written(path: &Path, cause: Error) -> Error {
    Error::new(ErrorKind::Io, format!("cannot write `{}`: {cause}", path.display())).with_source(cause)
}
