//! What format does a file have?
//!
//! Its name's ending says so, unless somebody says otherwise (`format` in a job). An ending that nobody knows is an error with the list of
//! those that are known: a table that is read or written as something else than its name says would surprise whoever comes next.
//!
//! | ending | format |
//! |---|---|
//! | `.csv`, `.txt`, `.dat`, `.data`, none | delimited text |
//! | `.tsv`, `.tab` | delimited text, by tabs |
//! | `.jsonl`, `.ndjson` | JSON lines |
//! | `.parquet` | Parquet |
//! | `.arrow`, `.feather`, `.ipc` | Arrow IPC (Feather) |
//! | `.xlsx`, `.xlsm` | Excel workbook |
//! | `.xls`, `.ods` | older Excel workbook, OpenDocument spreadsheet (these are read only) |
//!
//! Text and JSON lines may be compressed (`.gz`, `.zst`). A `.zip` is read if there is one table in it.

use std::path::Path;

use incog_core::{Error, ErrorKind, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::file::{Packing, STANDARD};

/// A format of tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum FileFormat {
    /// Delimited text, in UTF-8 unless `encoding` says otherwise.
    Csv,
    /// Delimited text, by tabs.
    Tsv,
    /// One JSON object a line.
    Jsonl,
    /// Parquet.
    Parquet,
    /// Arrow IPC, also called Feather.
    Arrow,
    /// Excel workbook.
    Xlsx,
    /// Older Excel workbook; read only.
    Xls,
    /// OpenDocument spreadsheet; read only.
    Ods,
}

/// Each format's endings, as they are told.
const ENDINGS: [(FileFormat, &[&str]); 8] = [
    (FileFormat::Csv, &["csv", "txt", "dat", "data"]),
    (FileFormat::Tsv, &["tsv", "tab"]),
    (FileFormat::Jsonl, &["jsonl", "ndjson"]),
    (FileFormat::Parquet, &["parquet"]),
    (FileFormat::Arrow, &["arrow", "feather", "ipc"]),
    (FileFormat::Xlsx, &["xlsx", "xlsm"]),
    (FileFormat::Xls, &["xls"]),
    (FileFormat::Ods, &["ods"]),
];

/// What is done to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    Read,
    Write,
}

impl FileFormat {
    /// The format of a file: the given one, or by its name. Standard input and output are text.
    pub(crate) fn of(path: &Path, given: Option<FileFormat>, to: Use) -> Result<Self> {
        let format = match given {
            Some(format) => format,
            None => FileFormat::by_name(path).ok_or_else(|| unknown(path, to))?,
        };
        if to == Use::Write && matches!(format, FileFormat::Xls | FileFormat::Ods) {
            return Err(cannot(path, to, &format!("{} is a format that is only read", format.called()))
                .with_hint("write .xlsx instead"));
        }
        if Packing::of(path) != Packing::None && !format.is_text() && path.as_os_str() != STANDARD {
            let problem = match to {
                Use::Read => format!("it is {}, compressed once more", format.called()),
                Use::Write => format!("{} is not compressed once more", format.called()),
            };
            return Err(cannot(path, to, &problem).with_hint(format!(
                "{} is compressed inside; leave the second ending out",
                format.called()
            )));
        }
        Ok(format)
    }

    /// The same, if the name's ending is known.
    pub(crate) fn by_name(path: &Path) -> Option<Self> {
        if path.as_os_str() == STANDARD {
            return Some(FileFormat::Csv);
        }
        let name = match Packing::of(path) {
            Packing::None => path,
            _ => Path::new(path.file_stem()?),
        };
        let Some(ending) = name.extension() else {
            return Some(FileFormat::Csv);
        };
        let ending = ending.to_str()?.to_ascii_lowercase();
        let known = ENDINGS.iter().find(|(_, endings)| endings.contains(&ending.as_str()));
        known.map(|(format, _)| *format)
    }

    /// Is it text, which may be compressed?
    pub(crate) fn is_text(self) -> bool {
        matches!(self, FileFormat::Csv | FileFormat::Tsv | FileFormat::Jsonl)
    }

    /// Is it delimited text?
    pub(crate) fn is_delimited(self) -> bool {
        matches!(self, FileFormat::Csv | FileFormat::Tsv)
    }

    /// What it is called in messages.
    pub(crate) fn called(self) -> &'static str {
        match self {
            FileFormat::Csv | FileFormat::Tsv => "delimited text",
            FileFormat::Jsonl => "JSON lines",
            FileFormat::Parquet => "Parquet",
            FileFormat::Arrow => "Arrow IPC",
            FileFormat::Xlsx | FileFormat::Xls => "an Excel workbook",
            FileFormat::Ods => "an OpenDocument spreadsheet",
        }
    }
}

/// All endings that data files may have, for people.
pub(crate) fn endings(to: Use) -> String {
    let is_written = |format: FileFormat| !matches!(format, FileFormat::Xls | FileFormat::Ods);
    let formats = ENDINGS.iter().filter(|(format, _)| to == Use::Read || is_written(*format));
    let mut all: Vec<String> =
        formats.flat_map(|(_, endings)| endings.iter().map(|ending| format!(".{ending}"))).collect();
    if to == Use::Read {
        all.push(".zip".to_owned());
    }
    all.join(", ")
}

fn unknown(path: &Path, to: Use) -> Error {
    let ending = path.extension().map(|ending| ending.to_string_lossy().into_owned()).unwrap_or_default();
    let table = if to == Use::Read { "input" } else { "output" };
    let error = cannot(path, to, &format!("nobody knows the format of a name that ends in .{ending}"));
    let first = match ending.to_ascii_lowercase().as_str() {
        "sav" | "zsav" | "por" | "dta" | "sas7bdat" | "rds" | "rdata" if to == Use::Read => {
            "save it as .parquet or .csv first; the page of formats says how. "
        }
        "json" => "JSON lines, one object a line, end in .jsonl. ",
        _ => "",
    };
    error.with_hint(format!(
        "{first}known are {}; .gz and .zst behind those of text; or say `format` in [{table}]",
        endings(to)
    ))
}

fn cannot(path: &Path, to: Use, problem: &str) -> Error {
    let what = if to == Use::Read { "read the data file" } else { "write" };
    Error::new(ErrorKind::Input, format!("cannot {what} `{}`: {problem}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_the_format_or_is_refused_with_the_list() {
        for (name, format) in [
            ("a.csv", FileFormat::Csv),
            ("a.CSV.gz", FileFormat::Csv),
            ("a", FileFormat::Csv),
            ("a.gz", FileFormat::Csv),
            ("-", FileFormat::Csv),
            ("a.b.tsv.zst", FileFormat::Tsv),
            ("a.feather", FileFormat::Arrow),
            ("a.xls", FileFormat::Xls),
        ] {
            assert_eq!(FileFormat::of(Path::new(name), None, Use::Read).unwrap(), format, "{name}");
        }
        for name in ["a.doc", "a.json", "a.sav", "a.parquet.gz", "a.xlsx.zst", "a.2023"] {
            assert!(FileFormat::of(Path::new(name), None, Use::Read).is_err(), "{name}");
            assert!(FileFormat::of(Path::new(name), None, Use::Write).is_err(), "{name}");
        }
        assert!(FileFormat::of(Path::new("a.ods"), None, Use::Write).is_err());
        let given = FileFormat::of(Path::new("a.doc"), Some(FileFormat::Csv), Use::Write).unwrap();
        assert_eq!(given, FileFormat::Csv);
        for name in ["a.doc", "a.sav", "a.json", "a.dta"] {
            let error = FileFormat::of(Path::new(name), None, Use::Read).unwrap_err();
            let hint = error.hint().unwrap();
            assert!(
                [".csv", ".jsonl", ".parquet", ".xlsx", ".zip"].iter().all(|known| hint.contains(known)),
                "{hint}"
            );
        }
        let error = FileFormat::of(Path::new("a.doc"), None, Use::Write).unwrap_err();
        assert!(!format!("{error:?}").contains(".ods"), "what cannot be written is not in its list");
    }
}
