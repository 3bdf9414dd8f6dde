//! Where do the files of a release go?
//!
//! What is written must replace neither what was read nor each other, and everything has its place before anything is
//! written.

use std::path::{Path, PathBuf};

use incog_core::{Error, Result};

use crate::job::{Job, RecordJob};
use crate::plan::Plan;
use crate::record::{ENDING, Key, PrivateKey};
use crate::requirements;
use crate::source;

impl Plan {
    /// Where the release goes, and the folder that is yet to be made for it. In a folder it is called like the data.
    pub(crate) fn output_path(&self) -> Result<(PathBuf, Option<PathBuf>)> {
        let Some(path) = self.job.output.as_ref().and_then(|output| output.path.as_ref()) else {
            return Err(self
                .job
                .mistake(&["output"], "the job does not say where to write the release")
                .with_hint("give [output] path = \"release.csv\", or --output"));
        };
        let mut path = self.job.resolve(path);
        let is_folder = path.is_dir() || path.to_string_lossy().ends_with(std::path::MAIN_SEPARATOR);
        let missing_folder = (is_folder && !path.exists()).then(|| path.clone());
        if is_folder {
            let name = self.files[0].file_name().filter(|name| *name != source::STANDARD);
            path.push(name.unwrap_or("release.csv".as_ref()));
        }
        Ok((path, missing_folder))
    }

    /// What is written must replace neither what was read nor each other.
    pub(crate) fn check_places(&self, release: &Path, record: Option<&Path>) -> Result<()> {
        let mut taken: Vec<(&str, PathBuf)> = Vec::new();
        let is_file = |file: &&PathBuf| file.as_os_str() != source::STANDARD;
        taken.extend(self.files.iter().filter(is_file).map(|file| ("data", place_of(file))));
        if !self.job.path.as_os_str().is_empty() {
            taken.push(("job", place_of(&self.job.path)));
        }
        for hierarchy in self.job.columns.values().filter_map(|column| column.hierarchy.as_ref()) {
            taken.extend(hierarchy.file().map(|file| ("hierarchy", place_of(&self.job.resolve(file)))));
        }
        for (_, hierarchy) in requirements::hierarchies_of(&self.job) {
            taken.extend(hierarchy.file().map(|file| ("hierarchy", place_of(&self.job.resolve(file)))));
        }
        if let Some(sign) = self.job.output.as_ref().and_then(|output| output.sign.as_ref()) {
            taken.push(("private key", place_of(&self.job.resolve(sign))));
        }
        let key = self.key_path();
        let mut written = vec![("release", "path", release)];
        if let Some(record) = record {
            written.extend([("key", "key", key.as_path()), ("record", "record", record)]);
        }
        for (what, setting, path) in written {
            if what == "key" && path.as_os_str() == source::STANDARD {
                let mistake = "the key cannot go to standard output";
                return Err(self.job.mistake(&["output", setting], mistake).with_hint("name a file"));
            }
            let place = place_of(path);
            if let Some((other, _)) = taken.iter().find(|(_, other)| *other == place) {
                let mistake = format!("the {what} would replace the {other}");
                return Err(self.job.mistake(&["output", setting], mistake).with_hint("choose another path"));
            }
            taken.push((what, place));
        }
        Ok(())
    }

    /// Where the record goes, if there is to be one: a release on standard output has none unless it is asked for.
    pub(crate) fn record_path(&self, release: &Path) -> Option<PathBuf> {
        match self.job.output.as_ref().and_then(|output| output.record.as_ref()) {
            Some(RecordJob::Wanted(false)) => None,
            Some(RecordJob::Path(path)) => Some(self.job.resolve(path)),
            Some(RecordJob::Wanted(true)) | None => record_of(release),
        }
    }

    /// The key that the record is signed with, if the job names one. It is read before anything is searched.
    pub(crate) fn signing_key(&self, has_record: bool) -> Result<Option<PrivateKey>> {
        let Some(path) = self.job.output.as_ref().and_then(|output| output.sign.as_ref()) else {
            return Ok(None);
        };
        let at = |error: Error| self.job.at(&["output", "sign"], &error);
        if !has_record {
            return Err(at(nothing_to_sign()));
        }
        PrivateKey::read(&self.job.resolve(path)).map(Some).map_err(at)
    }

    pub(crate) fn key_path(&self) -> PathBuf {
        self.job.key_path()
    }
}

impl Job {
    fn key_path(&self) -> PathBuf {
        let key = self.output.as_ref().and_then(|output| output.key.clone());
        self.resolve(&key.unwrap_or_else(|| KEY.into()))
    }

    /// The publisher's key, if it is there.
    pub fn key(&self) -> Result<Option<Key>> {
        let path = self.key_path();
        if path.exists() { Key::read(&path).map(Some) } else { Ok(None) }
    }
}

/// Why a release without a record is not signed.
pub(crate) fn nothing_to_sign() -> Error {
    Error::input("a signature stands in the record, and none is to be written")
        .with_hint("leave out `sign`, or write the record")
}

/// The publisher's key, beside the job.
pub(crate) const KEY: &str = "incog.key";

/// The record that belongs to a release.
pub fn record_of(release: &Path) -> Option<PathBuf> {
    if release.as_os_str() == source::STANDARD {
        return None;
    }
    let mut name = release.as_os_str().to_owned();
    name.push(ENDING);
    Some(name.into())
}

/// Where a path leads, whether or not a file is there.
pub(crate) fn place_of(path: &Path) -> PathBuf {
    if path.as_os_str() == source::STANDARD {
        return path.to_owned();
    }
    let in_folder = || {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Some(folder.canonicalize().ok()?.join(path.file_name()?))
    };
    let place = path.canonicalize().ok().or_else(in_folder);
    place.or_else(|| std::path::absolute(path).ok()).unwrap_or_else(|| path.to_owned())
}

/// Do both paths lead to one file?
pub(crate) fn is_same_file(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

/// A path as seen from the current folder, if it lies there.
pub(crate) fn from_here(path: &Path) -> &Path {
    let folder = std::env::current_dir().ok();
    folder.and_then(|folder| path.strip_prefix(folder).ok()).unwrap_or(path)
}
