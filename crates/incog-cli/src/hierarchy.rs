//! `incog hierarchy`: what a hierarchy says, whether it is sound, and how it is written down.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use incog::unstable::cli::{Described, written};
use incog::unstable::describe::workbench::{self, Bench, HierarchyReport};
use incog::{Error, Job, Progress, Result};
use schemars::JsonSchema;
use serde::Serialize;

use crate::output::{Format, eprint_text, print, print_text};
use crate::signals::show_progress;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Print a hierarchy: labels per level, and each value's labels. Prints values of the data
    ///
    /// Prints values of the data to standard output, which is its purpose. Exit code 0 if shown, 2 on errors.
    Show(Show),
    /// Check hierarchies: total, nested, without gaps, labels contain their values. Prints no values
    ///
    /// Reports every problem with counts and line numbers, never a value: every value of the data has a row; a value
    /// has one row; all rows have as many levels; no label above level 0 is empty; equal labels have equal parents;
    /// intervals, masks and dates contain their values. Warns where a level merges nothing, where there is no one
    /// root, and where a label stands for different values at different levels. Exit code 0 if no check fails (warnings are
    /// allowed), 1 if one fails, 2 if it could not be checked.
    Check(Check),
    /// Write what a rule makes as a hierarchy file. Writes values of the data
    ///
    /// One row per distinct value: value;level 1;...;*, separated by `;`, as `{ file = ... }` and ARX read it. Values that the
    /// rule declares (of a tree, or within bounds) have rows too. A mask without `length` is as long as in a release of the job; by
    /// --rule, where there is no k, as the longest value. Exit code 0 if written, 2 on errors.
    Make(Make),
}

/// Which hierarchy.
#[derive(Debug, clap::Args)]
struct Subject {
    /// A job file (its name ends in .toml) or a hierarchy file (value;level 1;...;*)
    #[arg(required_unless_present = "rule", conflicts_with = "rule")]
    file: Option<PathBuf>,
    /// A rule as in a job file: '{ intervals = [5, 10, 20], top = 90 }'
    #[arg(long, value_name = "RULE", requires = "column")]
    rule: Option<String>,
    /// The data that a hierarchy file or a rule is for; a job names its own
    #[arg(long, value_name = "DATA")]
    against: Option<PathBuf>,
    /// The column [default: all quasi-identifiers of a job; the name of a hierarchy file]
    #[arg(long, value_name = "NAME")]
    column: Option<String>,
}

#[derive(Debug, clap::Args)]
struct Show {
    #[command(flatten)]
    subject: Subject,
    /// How to print it
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// How many values to print
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
}

#[derive(Debug, clap::Args)]
struct Check {
    #[command(flatten)]
    subject: Subject,
    /// How to print what was found
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Debug, clap::Args)]
struct Make {
    #[command(flatten)]
    subject: Subject,
    /// How to print the hierarchy to standard output, and notes on it
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Where to write the hierarchy [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Subject {
    fn bench(&self, progress: &Progress) -> Result<Bench> {
        let (column, against) = (self.column.as_deref(), self.against.as_deref());
        match (&self.file, &self.rule) {
            (Some(file), _) if is_job(file) => {
                if against.is_some() {
                    return Err(Error::input(
                        "--against is for hierarchy files and rules; the job names its own data",
                    ));
                }
                Bench::of_job(&Job::read(file)?, column, progress)
            }
            (Some(file), _) => Bench::of_file(file, column, against, progress),
            (None, rule) => Bench::of_rule(
                rule.as_deref().unwrap_or_default(),
                column.unwrap_or_default(),
                against,
                progress,
            ),
        }
    }
}

fn is_job(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml"))
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let progress = show_progress()?;
    match &arguments.action {
        Action::Show(Show { subject, limit, format }) => {
            let bench = subject.bench(&progress)?;
            let subjects = bench.subjects()?;
            if *format == Format::Json {
                let shown: Result<Vec<ShownHierarchyJson>> =
                    subjects.iter().map(|subject| ShownHierarchyJson::of(subject, *limit)).collect();
                print(&(written(&ShownJson { hierarchies: shown? }) + "\n"))?;
                return Ok(ExitCode::SUCCESS);
            }
            let shown: Result<Vec<String>> = subjects.iter().map(|subject| subject.show(*limit)).collect();
            print(&shown?.join("\n"))?;
            Ok(ExitCode::SUCCESS)
        }
        Action::Check(Check { subject, format }) => {
            let bench = subject.bench(&progress)?;
            let reports: Result<Vec<_>> = bench.subjects()?.iter().map(workbench::Subject::check).collect();
            let reports = reports?;
            let texts: Vec<String> = reports.iter().map(ToString::to_string).collect();
            let all_hold = reports.iter().all(HierarchyReport::holds);
            match format {
                Format::Json => print(&(written(&HierarchiesJson::of(&reports)) + "\n"))?,
                Format::Text => print_text(&texts.join("\n"))?,
            }
            Ok(if all_hold { ExitCode::SUCCESS } else { ExitCode::from(1) })
        }
        Action::Make(Make { subject, output, format }) => {
            let bench = subject.bench(&progress)?;
            let subject = bench.only_subject()?;
            let made = subject.make()?;
            let path = output.as_deref().filter(|path| path.as_os_str() != "-");
            if let Some(path) = path {
                subject.write(&made, path)?;
            }
            if *format == Format::Json {
                let made = MadeJson {
                    path: path.map(|path| path.display().to_string()),
                    csv: path.is_none().then(|| made.csv.clone()),
                    notes: made.notes.clone(),
                };
                print(&(written(&made) + "\n"))?;
                return Ok(ExitCode::SUCCESS);
            }
            match path {
                Some(_) => {}
                None => {
                    incog::unstable::cli::check_standard_output()?;
                    print(&made.csv)?;
                }
            }
            for note in &made.notes {
                eprint_text(&format!("note: {note}"));
            }
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// Hierarchies as they are. Holds values of the data, which is its purpose.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ShownJson {
    hierarchies: Vec<ShownHierarchyJson>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ShownHierarchyJson {
    column: String,
    /// How many values there are.
    values: usize,
    /// The labels of up to --limit values, from the value itself up.
    paths: Vec<Vec<String>>,
}

/// What was found about hierarchies: counts, levels and lines, no value.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct HierarchiesJson {
    /// Does no check fail?
    holds: bool,
    hierarchies: Vec<CheckedJson>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct CheckedJson {
    column: String,
    /// Where the hierarchy comes from.
    origin: String,
    holds: bool,
    findings: Vec<HierarchyFindingJson>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct HierarchyFindingJson {
    check: &'static str,
    /// pass, note, warning or fail.
    verdict: String,
    says: String,
}

/// A hierarchy that was made: in the file, or here.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct MadeJson {
    path: Option<String>,
    csv: Option<String>,
    notes: Vec<String>,
}

impl Described for ShownJson {
    const NAME: &'static str = "hierarchy-show";
}

impl Described for HierarchiesJson {
    const NAME: &'static str = "hierarchy-check";
}

impl Described for MadeJson {
    const NAME: &'static str = "hierarchy-make";
}

impl ShownHierarchyJson {
    fn of(subject: &workbench::Subject<'_>, limit: usize) -> Result<Self> {
        let paths = subject.paths()?;
        Ok(ShownHierarchyJson {
            column: subject.name().to_owned(),
            values: paths.len(),
            paths: paths.into_iter().take(limit).collect(),
        })
    }
}

impl HierarchiesJson {
    fn of(reports: &[HierarchyReport]) -> Self {
        let finding = |finding: &workbench::Finding| HierarchyFindingJson {
            check: finding.check,
            verdict: format!("{:?}", finding.verdict).to_lowercase(),
            says: finding.says.clone(),
        };
        let checked = |report: &HierarchyReport| CheckedJson {
            column: report.column.clone(),
            origin: report.origin.clone(),
            holds: report.holds(),
            findings: report.findings.iter().map(finding).collect(),
        };
        HierarchiesJson {
            holds: reports.iter().all(HierarchyReport::holds),
            hierarchies: reports.iter().map(checked).collect(),
        }
    }
}
