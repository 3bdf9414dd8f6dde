//! Where do the files of a release go?
//!
//! What is written must replace neither what was read nor each other, and everything has its place before anything is
//! written.

use std::path::{Path, PathBuf};

use incog_core::{Error, Result};

use crate::file::format::Use;
use crate::file::{self, FileFormat};
use crate::job::{Job, Output, RecordJob, TypesJob};
use crate::plan::Plan;
use crate::plan::requirements;
use crate::publish::record::{ENDING, Key, PrivateKey};
use crate::publish::sink::{Form, Types};

/// Where everything goes that a release consists of. Settled before anything is searched, so that a wrong path costs no time.
#[derive(Debug)]
pub(crate) struct Places {
    /// The release.
    pub(crate) path: PathBuf,
    /// Its format.
    pub(crate) form: Form,
    /// The folder that is yet to be made for it.
    pub(crate) missing_folder: Option<PathBuf>,
    /// The record, if there is to be one.
    pub(crate) record: Option<PathBuf>,
    /// The publisher's key.
    pub(crate) key: PathBuf,
    /// The key that the record is signed with.
    pub(crate) sign: Option<PrivateKey>,
}

impl Places {
    /// What a job says of its output, or what stands in for that.
    pub(crate) fn new(plan: &Plan, output: &Output) -> Result<Self> {
        let (path, missing_folder) = output_path(plan, output)?;
        let record = match &output.record {
            Some(RecordJob::Wanted(false)) => None,
            Some(RecordJob::Path(path)) => Some(plan.job.resolve(path)),
            // A release on standard output has none unless it is asked for.
            Some(RecordJob::Wanted(true)) | None => record_of(&path),
        };
        let key = plan.job.resolve(output.key.as_deref().unwrap_or(Path::new(KEY)));
        let format = FileFormat::of(&path, output.format, Use::Write);
        // A table has no ending that could say anything.
        let format = if output.url.is_some() { Ok(FileFormat::Csv) } else { format };
        let form = Form {
            format: *format.as_ref().unwrap_or(&FileFormat::Csv),
            types: match output.types {
                Some(TypesJob::Text) => Types::Text,
                Some(TypesJob::Found) | None => Types::Found,
            },
        };
        let mut places = Places { path, form, missing_folder, record, key, sign: None };
        // What would be lost is told before an ending that nobody knows.
        places.check(plan, output)?;
        format.map_err(|error| plan.job.at(&["output", "path"], &error))?;
        let sign = output.sign.as_ref().map(|path| plan.job.resolve(path));
        places.sign = signing_key(sign.as_deref(), places.record.is_some())
            .map_err(|error| plan.job.at(&["output", "sign"], &error))?;
        Ok(places)
    }

    /// What is written must replace neither what was read nor each other.
    fn check(&self, plan: &Plan, output: &Output) -> Result<()> {
        let job = &plan.job;
        let mut taken = files_read(plan, output);
        let mut written = vec![("release", "path", self.path.as_path())];
        if let Some(record) = &self.record {
            written.extend([("key", "key", self.key.as_path()), ("record", "record", record.as_path())]);
        }
        for (what, setting, path) in written {
            if what == "key" && path.as_os_str() == file::STANDARD {
                let mistake = "the key cannot go to standard output";
                return Err(job.mistake(&["output", setting], mistake).with_hint("name a file"));
            }
            let place = place_of(path);
            if let Some((other, _)) = taken.iter().find(|(_, other)| *other == place) {
                let mistake = format!("the {what} would replace the {other}");
                return Err(job.mistake(&["output", setting], mistake).with_hint("choose another path"));
            }
            taken.push((what, place));
        }
        Ok(())
    }
}

/// Where the release goes, and the folder that is yet to be made for it. In a folder it is called like the data.
fn output_path(plan: &Plan, output: &Output) -> Result<(PathBuf, Option<PathBuf>)> {
    if let Some(table) = output.table.as_ref().filter(|_| output.url.is_some()) {
        // Nothing is written there; the record stands beside it.
        let name: String = table.chars().filter(|letter| *letter != '"').collect();
        return Ok((plan.job.resolve(Path::new(&name.replace(std::path::is_separator, "_"))), None));
    }
    let Some(path) = &output.path else {
        return Err(plan
            .job
            .mistake(&["output"], "the job does not say where to write the release")
            .with_hint("give [output] path = \"release.csv\", or --output"));
    };
    let mut path = plan.job.resolve(path);
    let is_folder = path.is_dir() || path.to_string_lossy().ends_with(std::path::MAIN_SEPARATOR);
    let missing_folder = (is_folder && !path.exists()).then(|| path.clone());
    if is_folder {
        let data = plan.files.first().and_then(|file| file.file_name());
        let name = data.filter(|name| *name != file::STANDARD);
        path.push(name.unwrap_or("release.csv".as_ref()));
        // What is only read is written as what is nearest.
        let ending = path.extension().map(std::ffi::OsStr::to_ascii_lowercase);
        match ending.as_ref().and_then(|ending| ending.to_str()) {
            Some("xls" | "ods" | "xlsm") => _ = path.set_extension("xlsx"),
            Some("zip") => _ = path.set_extension("csv"),
            _ => {}
        }
    }
    Ok((path, missing_folder))
}

/// The files that a run reads, each with what it is.
fn files_read(plan: &Plan, output: &Output) -> Vec<(&'static str, PathBuf)> {
    let job = &plan.job;
    let mut taken: Vec<(&str, PathBuf)> = Vec::new();
    let is_file = |file: &&PathBuf| file.as_os_str() != file::STANDARD;
    taken.extend(plan.files.iter().filter(is_file).map(|file| ("data", place_of(file))));
    if !job.path.as_os_str().is_empty() {
        taken.push(("job", place_of(&job.path)));
    }
    for hierarchy in job.columns.values().filter_map(|column| column.hierarchy.as_ref()) {
        taken.extend(hierarchy.file().map(|file| ("hierarchy", place_of(&job.resolve(file)))));
    }
    for (_, hierarchy) in requirements::hierarchies_of(job) {
        taken.extend(hierarchy.file().map(|file| ("hierarchy", place_of(&job.resolve(file)))));
    }
    taken.extend(output.sign.as_ref().map(|sign| ("private key", place_of(&job.resolve(sign)))));
    taken
}

/// The key that the record is signed with, if there is to be one. It is read before anything is searched.
pub(crate) fn signing_key(path: Option<&Path>, has_record: bool) -> Result<Option<PrivateKey>> {
    match path {
        Some(_) if !has_record => {
            Err(Error::input("a signature stands in the record, and none is to be written")
                .with_hint("leave out `sign`, or write the record"))
        }
        path => path.map(PrivateKey::read).transpose(),
    }
}

/// The publisher's key of a job, if it is there.
pub fn key_of(job: &Job) -> Result<Option<Key>> {
    let key = job.output.as_ref().and_then(|output| output.key.as_deref());
    let path = job.resolve(key.unwrap_or(Path::new(KEY)));
    if path.exists() { Key::read(&path).map(Some) } else { Ok(None) }
}

/// The publisher's key, beside the job.
pub(crate) const KEY: &str = "incog.key";

/// The record that belongs to a release.
pub fn record_of(release: &Path) -> Option<PathBuf> {
    if release.as_os_str() == file::STANDARD {
        return None;
    }
    let mut name = release.as_os_str().to_owned();
    name.push(ENDING);
    Some(name.into())
}

/// Where a path leads, whether or not a file is there.
pub(crate) fn place_of(path: &Path) -> PathBuf {
    if path.as_os_str() == file::STANDARD {
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
