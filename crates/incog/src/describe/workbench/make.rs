//! A hierarchy as a file: what a rule makes, written out.
//!
//! `value;level 1;...;*`, one row per distinct value of the data, quoted where necessary, as
//! [`read_hierarchy`](crate::source::read_hierarchy) and ARX read it. Where the rule declares its own values (a tree, or
//! intervals with bounds), those that do not occur get a row too: loss is measured against them. So the file gives
//! the same hierarchy as the rule; where it cannot, a note says so.

use std::path::Path;

use incog_core::table::label::EMPTY_TEXT;
use incog_core::{Error, ErrorKind, Result};

use crate::describe::workbench::{Subject, paths};
use crate::publish::places::is_same_file;
use crate::publish::sink::Unfinished;

/// A hierarchy as the text of a file.
#[derive(Debug)]
pub struct HierarchyFile {
    /// The text.
    pub csv: String,
    /// What the file cannot say, for people.
    pub notes: Vec<String>,
}

impl Subject<'_> {
    /// The hierarchy as a file.
    pub fn make(&self) -> Result<HierarchyFile> {
        let hierarchy = self.hierarchy()?;
        let paths = paths(&hierarchy);
        if paths.is_empty() {
            return Err(Error::input(format!("column `{}` has no values", self.name)));
        }
        // A reader drops a byte order mark at the start of a file; inside quotes it stays.
        let quotes = match paths[0][0].starts_with('\u{FEFF}') {
            true => csv::QuoteStyle::Always,
            false => csv::QuoteStyle::Necessary,
        };
        let mut writer =
            csv::WriterBuilder::new().delimiter(b';').quote_style(quotes).from_writer(Vec::new());
        let broken = |problem: String| Error::new(ErrorKind::Internal, problem);
        for path in &paths {
            // No file can name the empty text; it has the row of the missing value.
            let path = match (path[0] == EMPTY_TEXT, paths[0][0].is_empty()) {
                (false, _) => path.clone(),
                (true, true) => continue,
                (true, false) => std::iter::once("").chain(path.iter().copied().skip(1)).collect(),
            };
            writer.write_record(&path).map_err(|error| broken(error.to_string()))?;
        }
        let bytes = writer.into_inner().map_err(|error| broken(error.to_string()))?;
        let mut notes = Vec::new();
        if paths.iter().any(|path| path[0] == EMPTY_TEXT) {
            notes.push("the row of the missing value is that of the empty text, too".to_owned());
        }
        if hierarchy.n_leaves() != paths.len() as u64 {
            notes.push(format!(
                "the file has {} values, the rule declares {}: loss will be measured against those of the file",
                paths.len(),
                hierarchy.n_leaves()
            ));
        }
        if self.spec.levels.is_some() {
            notes.push("the file has all levels: keep `levels` beside `file` in the job".to_owned());
        }
        Ok(HierarchyFile { csv: String::from_utf8(bytes).map_err(|error| broken(error.to_string()))?, notes })
    }

    /// Writes the hierarchy to a file, whole or not at all. Neither the data nor the job can be replaced by it.
    pub fn write(&self, made: &HierarchyFile, path: &Path) -> Result<()> {
        let inputs = self.job.inputs();
        let data = inputs.iter().map(|file| ("the data", file.as_path()));
        for (what, file) in data.chain([("the job", self.job.path.as_path())]) {
            if is_same_file(path, file) {
                return Err(Error::input(format!("the hierarchy would replace {what}"))
                    .with_hint("choose another output path"));
            }
        }
        let mut file = Unfinished::create(path)?;
        file.put(made.csv.as_bytes())?;
        file.finish()?.appear()
    }
}
