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
#[cfg(feature = "parquet")]
mod parquet;
mod shuffle;
mod standard;
mod together;

pub(crate) use folder::{TargetFolder, UnfinishedFolder};
pub use hidden::{LeftNothing, leave_nothing, leave_nothing_at_once};
pub use standard::check_standard_output;
pub(crate) use together::{NewFolder, appear};

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use incog_core::table::{Role, Table};
use incog_core::{Error, ErrorKind, Progress, Result, Stage};
use incog_verify::{Labels, Verified};
use sha2::{Digest, Sha256};

use crate::file::{self, PACKED_PARQUET, Packing, STANDARD, is_packed_parquet, is_parquet};
use crate::job::OutputOrder;
use crate::publish::sink::hidden::HiddenFile;
use crate::source::Format;
use crate::source::spill::Memory;
use crate::system::usual_file;

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

/// In which order rows are written.
#[derive(Clone, Copy)]
enum WritingOrder<'a> {
    /// The input's.
    AsTheyCome,
    /// Shuffled in memory.
    Shuffled,
    /// Shuffled on the disk.
    Dealt(&'a Memory),
}

impl<'a> WritingOrder<'a> {
    fn new(order: OutputOrder, memory: Option<&'a Memory>) -> Self {
        match (order, memory) {
            (OutputOrder::Input, _) => WritingOrder::AsTheyCome,
            (OutputOrder::Shuffle, None) => WritingOrder::Shuffled,
            (OutputOrder::Shuffle, Some(memory)) => WritingOrder::Dealt(memory),
        }
    }
}

/// A release as Arrow record batches. `released` are the places of its columns in the data, and whether they are as collected.
#[cfg(feature = "parquet")]
pub(crate) fn to_record_batches<R: Labels>(
    verified: &Verified<R>,
    format: &Format,
    released: &[(usize, bool)],
) -> Result<Vec<incog_parquet::RecordBatch>> {
    let Layout::Parquet { types } = Layout::parquet(Path::new(""), format, released)? else {
        return Err(Error::new(ErrorKind::Internal, "typed columns have no types"));
    };
    parquet::to_record_batches(verified.release(), &types)
}

fn write_labels(
    release: &dyn Labels,
    mut file: Unfinished,
    layout: &Layout,
    rows: WritingOrder<'_>,
    progress: &Progress,
) -> Result<Unfinished> {
    progress.enter(Stage::Writing);
    match layout {
        Layout::Csv { delimiter } => csv::write(release, rows, *delimiter, &mut file, progress)?,
        #[cfg(feature = "parquet")]
        Layout::Parquet { types } => file = parquet::write(release, rows, types, file, progress)?,
    }
    Ok(file)
}

/// How the cells of a release are written.
#[derive(Debug)]
pub(crate) enum Layout {
    Csv {
        delimiter: u8,
    },
    /// With the type of each column that is as collected; the others are text.
    #[cfg(feature = "parquet")]
    Parquet {
        types: Vec<Option<incog_parquet::ColumnType>>,
    },
}

impl Layout {
    /// Fails where a file of that name could not tell apart what the columns of a table do that are to be released.
    pub(crate) fn check(path: &Path, table: &Table) -> Result<()> {
        if is_parquet(path) {
            return Ok(());
        }
        let mut released = table.columns().iter().filter(|column| column.role() != Role::Identifier);
        released.try_for_each(|column| csv::refuse_loss(column.name(), column.dictionary().values()))
    }

    /// The layout of a file of that name, made from data of that format. `released` are the places of its columns in
    /// the data, and whether they are as collected.
    pub(crate) fn new(path: &Path, format: &Format, released: &[(usize, bool)]) -> Result<Self> {
        if is_parquet(path) {
            return Layout::parquet(path, format, released);
        }
        if is_packed_parquet(path) {
            return Err(cannot_write(path, "Parquet is not compressed once more").with_hint(PACKED_PARQUET));
        }
        Ok(match format {
            Format::Csv { delimiter } => Layout::Csv { delimiter: *delimiter },
            #[cfg(feature = "parquet")]
            Format::Parquet { .. } => Layout::Csv { delimiter: b',' },
        })
    }

    #[cfg(feature = "parquet")]
    #[expect(clippy::unnecessary_wraps, reason = "without Parquet it fails")]
    fn parquet(_: &Path, format: &Format, released: &[(usize, bool)]) -> Result<Self> {
        let type_of = |&(at, is_as_collected): &(usize, bool)| match format {
            Format::Csv { .. } => None,
            Format::Parquet { types } => types.get(at).filter(|_| is_as_collected).cloned(),
        };
        Ok(Layout::Parquet { types: released.iter().map(type_of).collect() })
    }

    #[cfg(not(feature = "parquet"))]
    fn parquet(path: &Path, _: &Format, _: &[(usize, bool)]) -> Result<Self> {
        Err(cannot_write(path, "this incog was built without Parquet"))
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
        // A device or pipe would not be written to but replaced by the renamed file.
        if std::fs::metadata(&self.path).is_ok_and(|metadata| !metadata.is_file()) {
            return Err(cannot_write(&self.name, "it is a device or a pipe")
                .with_hint("to write to a pipe, give `-` and redirect"));
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
