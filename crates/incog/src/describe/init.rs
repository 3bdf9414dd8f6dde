//! `incog init`: a job file for a table that nobody has described yet.
//!
//! What is written is a proposal: every column with a role, a hierarchy where it needs one, and the reason as a
//! comment. The job runs as it is, unless a column's role is `decide`; then `anonymize` says which columns wait for a
//! word. No cell, no least or greatest value of the data gets into the job or onto the screen: names of columns,
//! kinds, counts and shares only (a file whose first line is not evidently a header is refused), and words like `NA` that stand for no value
//! in a column of numbers or dates. Paths in the job are relative to it.

use std::fmt::{self, Write as _};
use std::path::{Component, Path, PathBuf};

use incog_core::privacy::KAnonymity;
use incog_core::table::Table;
use incog_core::{Error, Progress, Result};

use crate::describe::job_text;
use crate::describe::written::{self, Written};
use crate::file::{FileFormat, Packing, STANDARD};
use crate::job::{Input, Job, Paths, Preset, RoleJob};
use crate::publish::places::is_same_file;
use crate::publish::sink::{Appeared, Unfinished};
use crate::recognize::exposure::{self, Exposures};
use crate::recognize::header::{self, FirstLine};
use crate::recognize::preset;
use crate::recognize::profile::{ColumnProfile, Profile, ValueKind, share};
use crate::recognize::propose::{Proposal, propose};
use crate::report::search::width_of;
use crate::source;

/// May a file that is there be replaced?
///
/// ```
/// use incog::{FirstLine, Init, Progress, Replace};
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let data = folder.path().join("patients.csv");
/// # std::fs::write(&data, "age,zip\n34,53715\n36,53715\n51,53703\n58,53706\n").unwrap();
/// let init = Init::new(&data, None, FirstLine::Names, &Progress::new())?;
/// init.write(&folder.path().join("incog.toml"), 2, Replace::Never)?;
/// # Ok::<(), incog::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replace {
    /// No: it is an error.
    Never,
    /// Yes.
    Allowed,
}

/// A table, profiled, with a proposal for each column.
///
/// ```
/// use incog::{FirstLine, Init, Progress};
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let data = folder.path().join("patients.csv");
/// # std::fs::write(&data, "age,zip\n34,53715\n36,53715\n51,53703\n58,53706\n").unwrap();
/// let init = Init::new(&data, None, FirstLine::Names, &Progress::new())?;
/// assert!(init.to_toml(&folder.path().join("incog.toml"), 2)?.contains("[columns.age]"));
/// # Ok::<(), incog::Error>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Init {
    /// The data file.
    pub data: PathBuf,
    /// The delimiter, if the user named one.
    pub delimiter: Option<u8>,
    /// What is in the table.
    pub profile: Profile,
    /// What each column is likely to be.
    pub proposals: Vec<Proposal>,
    /// Which columns single people out.
    pub exposures: Exposures,
    /// The policy that the proposals follow, if there is one.
    pub preset: Option<Preset>,
    /// How the data are written, as far as somebody says so.
    input: Input,
    /// What was found out of that, column by column.
    pub(super) written: Vec<Written>,
    /// What was found out of the files, a line each.
    notes: Vec<String>,
}

impl Init {
    /// Reads a data file and thinks about it. Stops when it is cancelled.
    pub fn new(
        data: &Path,
        delimiter: Option<char>,
        first_line: FirstLine,
        progress: &Progress,
    ) -> Result<Self> {
        let path = Paths::One(data.to_owned());
        Init::of_input(&Input { path, delimiter, ..Input::default() }, first_line, progress)
    }

    /// The same for data that are written as somebody says.
    ///
    /// ```
    /// use incog::unstable::job::{Input, Paths};
    /// use incog::{FirstLine, Init, Progress};
    ///
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let data = folder.path().join("people.csv");
    /// # std::fs::write(&data, "age;zip\n34;53715\nnone;53715\n51;53703\n58;53706\n").unwrap();
    /// let input = Input { path: Paths::One(data), ..Input::default() }.with("missing=none")?;
    /// let init = Init::of_input(&input, FirstLine::Unknown, &Progress::new())?;
    /// assert_eq!(init.profile.columns[0].missing, 1);
    /// # Ok::<(), incog::Error>(())
    /// ```
    pub fn of_input(input: &Input, first_line: FirstLine, progress: &Progress) -> Result<Self> {
        let job = Job { input: input.clone(), ..Job::default() };
        let (table, notes) = header::read(&job, first_line, progress)?;
        Init::of(table, input, notes, progress)
    }

    /// The same of a table in memory, whose columns have names. Its job reads standard input.
    ///
    /// ```
    /// let init = incog::Init::of_table([("age", vec!["34", "36", "51"])], &incog::Progress::new())?;
    /// assert_eq!((init.profile.rows, init.profile.columns[0].distinct), (3, 3));
    /// # Ok::<(), incog::Error>(())
    /// ```
    pub fn of_table(table: impl Into<source::Input>, progress: &Progress) -> Result<Self> {
        let table = table.into().into_table().map_err(|_| {
            Error::input("a table in memory was announced, and it is in files")
                .with_hint("start with the file: Init::new")
        })?;
        let input = Input { path: Paths::One(STANDARD.into()), ..Input::default() };
        Init::of(table?.0, &input, Vec::new(), progress)
    }

    fn of(table: Table, input: &Input, notes: Vec<String>, progress: &Progress) -> Result<Self> {
        let (table, written) = written::settled(table)?;
        let profile = Profile::of(&table, progress)?;
        let mut proposals = propose(&profile);
        for (proposal, written) in proposals.iter_mut().zip(&written) {
            if let Some(doubt) = written.doubt.as_ref().filter(|_| proposal.role == RoleJob::Decide) {
                proposal.reason.clone_from(doubt);
            }
        }
        // Columns that are dropped single nobody out, and of free text and person numbers it is known that they do.
        let is_candidate = |(column, proposal): (&ColumnProfile, &Proposal)| {
            proposal.role != RoleJob::Identifier
                && !proposal.may_be_unit
                && !matches!(column.kind, ValueKind::FreeText | ValueKind::Empty)
        };
        let candidates: Vec<usize> =
            (0..proposals.len()).filter(|&at| is_candidate((&profile.columns[at], &proposals[at]))).collect();
        let exposures = exposure::exposures(&table, &candidates, progress)?;
        let data = input.path.all().first().cloned().unwrap_or_default();
        let delimiter = input.delimiter.and_then(|delimiter| u8::try_from(delimiter).ok());
        let (input, preset) = (input.clone(), None);
        Ok(Init { data, delimiter, profile, proposals, exposures, preset, input, written, notes })
    }

    /// Follows a policy that others have written down, too.
    #[must_use]
    pub fn with_preset(mut self, preset: Preset) -> Self {
        preset::apply(preset, &self.profile, &mut self.proposals);
        self.preset = Some(preset);
        self
    }

    /// How many columns wait for a decision.
    pub fn n_undecided(&self) -> usize {
        self.proposals.iter().filter(|proposal| proposal.role == RoleJob::Decide).count()
    }

    /// How many decisions that is in the job: columns with like names are decided together where there are very many.
    pub fn n_decisions(&self) -> usize {
        job_text::n_decisions(self)
    }

    /// The job, as it would be written to `job`; `-` stands for a file in the current folder.
    pub fn to_toml(&self, job: &Path, k: u64) -> Result<String> {
        KAnonymity::new(k)?;
        if i64::try_from(k).is_err() {
            return Err(Error::input("k is too large for a job file"));
        }
        if let Some(preset) = self.preset.filter(|preset| k < preset.least_k()) {
            let (name, least) = (preset.name(), preset.least_k());
            return Err(Error::input(format!("the preset `{name}` asks for k of at least {least}, not {k}"))
                .with_hint("choose a larger k, or leave it out"));
        }
        let input = self.path_from(job)?;
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = job_text::write(self, &mut text, &input, k);
        Ok(text)
    }

    /// Writes the job. The data itself is never replaced.
    pub fn write(&self, job: &Path, k: u64, replace: Replace) -> Result<()> {
        let text = self.to_toml(job, k)?;
        if is_same_file(job, &self.data) {
            return Err(Error::input(format!("the job `{}` would replace the data", job.display()))
                .with_hint("choose another file with --output"));
        }
        let is_there = || {
            Error::input(format!("`{}` is there already", job.display()))
                .with_hint("choose another file with --output, or replace it with --force")
        };
        if replace == Replace::Never && job.as_os_str() != STANDARD && job.exists() {
            return Err(is_there());
        }
        let mut file = Unfinished::create(job)?;
        file.put(text.as_bytes())?;
        let file = file.finish()?;
        match replace {
            Replace::Allowed => file.appear(),
            // It may have come to be there just now.
            Replace::Never => match file.appear_new()? {
                Appeared::New => Ok(()),
                Appeared::NotNew => Err(is_there()),
            },
        }
    }

    /// The data's path as seen from the job's folder.
    fn path_from(&self, job: &Path) -> Result<String> {
        let not_text = || {
            Error::input("the path of the data is not UTF-8, so no job file can name it")
                .with_hint("rename the file or its folder")
        };
        if self.data.as_os_str() == STANDARD {
            return Ok(STANDARD.into());
        }
        let folder_of = |path: &Path| match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
            _ => PathBuf::from("."),
        };
        // Only folders are resolved: a data file that is a link keeps its name.
        let (data_folder, job_folder) = (folder_of(&self.data), folder_of(job));
        let path = match (data_folder.canonicalize(), job_folder.canonicalize(), self.data.file_name()) {
            (Ok(data), Ok(job), Some(file)) => relative(&data, &job).join(file),
            _ => self.data.clone(),
        };
        path.to_str().map(str::to_owned).ok_or_else(not_text)
    }

    /// Where the release goes: beside the job, named after the data.
    pub(super) fn release_name(&self) -> String {
        let name = self.data.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let mut stem = if name == STANDARD { "data" } else { name };
        let path = Path::new(stem);
        let is_known = path.extension().is_some_and(|ending| ending == "zip")
            || FileFormat::by_name(path).is_some() && path.extension().is_some();
        if is_known {
            let is_packed = Packing::of(path) != Packing::None;
            let inner = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or(stem);
            let ending = Path::new(inner).extension().filter(|_| is_packed);
            stem = match ending {
                Some(_) => Path::new(inner).file_stem().and_then(|stem| stem.to_str()).unwrap_or(inner),
                None => inner,
            };
        }
        format!("{stem}.release.csv")
    }

    /// Which columns were combined.
    pub(super) fn combined(&self) -> String {
        let names: Vec<String> =
            self.exposures.considered.iter().map(|&at| key(&self.profile.columns[at].name)).collect();
        let more = match self.exposures.left_out {
            0 => String::new(),
            n => format!(" ({n} with fewer values were not combined)"),
        };
        names.join(", ") + &more
    }

    /// What `[input]` says beside the path.
    pub(super) fn input_keys(&self) -> String {
        let input = Input { path: Paths::default(), ..self.input.clone() };
        let mut keys = toml::Table::try_from(&input).unwrap_or_default();
        keys.remove("path");
        toml::to_string(&keys).unwrap_or_default()
    }

    /// The worst sets of columns: their names, and how many rows are alone on them.
    pub(super) fn exposure_lines(&self) -> impl Iterator<Item = (String, String)> {
        self.exposures.worst.iter().map(|set| {
            let names: Vec<String> =
                set.columns.iter().map(|&at| key(&self.profile.columns[at].name)).collect();
            (names.join(" + "), share(set.alone, self.profile.rows))
        })
    }
}

/// A summary for people: a line for each column, and what singles people out.
impl fmt::Display for Init {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Profile { rows, columns } = &self.profile;
        let header = ["column", "type", "distinct", "missing", "unique", "role", "reason"];
        let lines: Vec<[String; 7]> = std::iter::once(header.map(str::to_owned))
            .chain(columns.iter().zip(&self.proposals).map(|(column, proposal)| {
                [
                    key(&column.name),
                    kind_of(column),
                    column.distinct.to_string(),
                    column.missing.to_string(),
                    share(column.once, *rows),
                    role_name(proposal.role).to_owned(),
                    proposal.reason.clone(),
                ]
            }))
            .collect();
        let width = |at: usize| width_of(lines.iter().map(|line| line[at].as_str()));
        let widths: Vec<usize> = (0..6).map(width).collect();
        for note in &self.notes {
            writeln!(f, "{note}")?;
        }
        writeln!(
            f,
            "{} and {}",
            count(*rows, "row", "rows"),
            count(columns.len() as u64, "column", "columns")
        )?;
        for line in &lines {
            let [column, kind, distinct, missing, unique, role, reason] = line;
            writeln!(
                f,
                "  {column:<0$}  {kind:<1$}  {distinct:>2$}  {missing:>3$}  {unique:>4$}  {role:<5$}  {reason}",
                widths[0], widths[1], widths[2], widths[3], widths[4], widths[5]
            )?;
        }
        if self.exposures.worst.is_empty() {
            return Ok(());
        }
        writeln!(f, "\nwhat singles people out, of up to three of {}:", self.combined())?;
        for (set, alone) in self.exposure_lines() {
            writeln!(f, "  {set}: {alone} of rows are alone")?;
        }
        Ok(())
    }
}

pub(super) fn count(n: u64, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// What the values of a column are: by their form, if that is known.
fn kind_of(column: &ColumnProfile) -> String {
    column.content.map_or_else(|| column.kind.to_string(), |recognized| recognized.content.name().to_owned())
}

/// What is known of a column, without a cell.
pub(super) fn describe(column: &ColumnProfile, rows: u64) -> String {
    let missing = match column.missing {
        0 => "none missing".to_owned(),
        missing => format!("{} missing", share(missing, rows)),
    };
    let once = share(column.once, rows);
    let range = column.spread.range.as_ref().map_or(String::new(), |range| format!(" {range}"));
    format!(
        "{}{range}: {} distinct, {missing}, {once} of rows with a value of their own",
        kind_of(column),
        column.distinct
    )
}

pub(super) fn role_name(role: RoleJob) -> &'static str {
    match role {
        RoleJob::Identifier => "identifier",
        RoleJob::QuasiIdentifier => "quasi-identifier",
        RoleJob::Sensitive => "sensitive",
        RoleJob::Other => "other",
        RoleJob::Decide => "decide",
    }
}

/// A column's name as a TOML key: bare if it can be.
pub(super) fn key(name: &str) -> String {
    let is_bare =
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    if is_bare { name.to_owned() } else { quoted(name) }
}

/// A TOML string on one line.
pub(super) fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            character if character.is_control() => {
                let _ = write!(quoted, "\\u{:04X}", u32::from(character));
            }
            character => quoted.push(character),
        }
    }
    quoted.push('"');
    quoted
}

/// The way from one folder to another, both absolute.
fn relative(to: &Path, from: &Path) -> PathBuf {
    let (to_parts, from_parts): (Vec<Component<'_>>, Vec<Component<'_>>) =
        (to.components().collect(), from.components().collect());
    let n_common = to_parts.iter().zip(&from_parts).take_while(|(a, b)| a == b).count();
    if n_common == 0 {
        // Different drives.
        return to.to_owned();
    }
    let up = from_parts[n_common..].iter().map(|_| Component::ParentDir);
    up.chain(to_parts[n_common..].iter().copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_name_is_a_key_and_any_text_a_string() {
        for name in
            ["age", "", "a b", "a.b", "\"", "\\", "größe", "a=b", "[x]", "#", "'", "\t\u{7f}\u{85}", "日本"]
        {
            let text = format!("[columns.{}]\nrole = {}\n", key(name), quoted(name));
            let table: toml::Table = toml::from_str(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
            let columns = table["columns"].as_table().unwrap();
            assert_eq!(columns.keys().collect::<Vec<_>>(), [name]);
            assert_eq!(columns[name]["role"].as_str(), Some(name));
        }
    }

    #[test]
    fn paths_lead_from_folder_to_folder() {
        let check =
            |to: &str, from: &str| relative(Path::new(to), Path::new(from)).to_str().unwrap().to_owned();
        assert_eq!(check("/a/b", "/a/b"), "");
        assert_eq!(check("/a/b/c", "/a/b"), "c");
        assert_eq!(check("/a/x", "/a/b/c"), "../../x");
    }
}
