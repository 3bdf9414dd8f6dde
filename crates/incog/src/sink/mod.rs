//! Where do releases go?
//!
//! **Nothing leaves unverified**: a sink takes a [`Verified`](incog_verify::Verified) release and nothing else.
//! **Whole or absent**: a file is written beside its target under another name, flushed to the disk, and renamed.
//! If anything fails or the run is cancelled, the unfinished file is removed and the target is as it was.

mod csv;

pub use csv::write_csv;

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use incog_core::{Error, ErrorKind, Result};
use tempfile::NamedTempFile;

use crate::source::STANDARD;

/// An output that does not exist until it is finished.
pub(crate) struct Unfinished {
    path: PathBuf,
    writer: Writer,
}

enum Writer {
    Plain(BufWriter<NamedTempFile>),
    Gzip(Box<flate2::write::GzEncoder<BufWriter<NamedTempFile>>>),
    Zstd(Box<zstd::stream::write::Encoder<'static, BufWriter<NamedTempFile>>>),
    Standard(BufWriter<std::io::Stdout>),
}

impl Unfinished {
    /// Starts an output; compressed if its name ends in `.gz` or `.zst`, and `-` is standard output.
    pub(crate) fn create(path: &Path) -> Result<Self> {
        let failed = |problem: &str| cannot_write(path, problem);
        if path.as_os_str() == STANDARD {
            let writer = Writer::Standard(BufWriter::with_capacity(1 << 20, std::io::stdout()));
            return Ok(Unfinished { path: path.to_owned(), writer });
        }
        if path.is_dir() {
            return Err(failed("it is a folder"));
        }
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        if !folder.is_dir() {
            return Err(failed("its folder does not exist").with_hint("create the folder first"));
        }
        let mut builder = tempfile::Builder::new();
        builder.prefix(".incog-");
        // Like any other new file: what the user's mask allows.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let file = builder.tempfile_in(folder).map_err(|error| failed(&error.to_string()))?;
        let file = BufWriter::with_capacity(1 << 20, file);
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        let writer = match extension {
            "gz" => {
                Writer::Gzip(Box::new(flate2::write::GzEncoder::new(file, flate2::Compression::default())))
            }
            "zst" => Writer::Zstd(Box::new(
                zstd::stream::write::Encoder::new(file, 0).map_err(|error| failed(&error.to_string()))?,
            )),
            _ => Writer::Plain(file),
        };
        Ok(Unfinished { path: path.to_owned(), writer })
    }

    /// Makes the output appear, whole.
    pub(crate) fn finish(self) -> Result<()> {
        let Unfinished { path, writer } = self;
        let failed = |error: std::io::Error| cannot_write(&path, &error.to_string());
        let file = match writer {
            Writer::Standard(mut stdout) => return stdout.flush().map_err(failed),
            Writer::Plain(file) => file,
            Writer::Gzip(encoder) => encoder.finish().map_err(failed)?,
            Writer::Zstd(encoder) => encoder.finish().map_err(failed)?,
        };
        let file = file.into_inner().map_err(|error| failed(error.into_error()))?;
        file.as_file().sync_all().map_err(failed)?;
        file.persist(&path).map_err(|error| failed(error.error))?;
        Ok(())
    }
}

impl Write for Unfinished {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match &mut self.writer {
            Writer::Plain(file) => file.write(bytes),
            Writer::Gzip(encoder) => encoder.write(bytes),
            Writer::Zstd(encoder) => encoder.write(bytes),
            Writer::Standard(stdout) => stdout.write(bytes),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        match &mut self.writer {
            Writer::Plain(file) => file.flush(),
            Writer::Gzip(encoder) => encoder.flush(),
            Writer::Zstd(encoder) => encoder.flush(),
            Writer::Standard(stdout) => stdout.flush(),
        }
    }
}

fn cannot_write(path: &Path, problem: &str) -> Error {
    Error::new(ErrorKind::Io, format!("cannot write `{}`: {problem}", path.display()))
}
