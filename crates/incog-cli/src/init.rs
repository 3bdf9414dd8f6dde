//! `incog init`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use incog::unstable::cli::written;
use incog::unstable::engine::registry::nearest;
use incog::unstable::job::{Input, Paths};
use incog::{Error, FirstLine, Init, Preset, Replace, Result};

use crate::init_json::InitJson;
use crate::output::{Format, eprint_text, print};
use crate::signals::show_progress;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The data: text with a header line, a workbook, JSON lines, Arrow or Parquet; a folder is one table, `-` is standard input
    data: PathBuf,
    /// Where to write the job; `-` is standard output
    #[arg(short, long, value_name = "FILE", default_value = "incog.toml")]
    output: PathBuf,
    /// Replace a job file that is there already
    #[arg(long)]
    force: bool,
    /// Size of the smallest group to ask for in the job
    ///
    /// Unless given, 5 or what the preset asks for.
    #[arg(short, long)]
    k: Option<u64>,
    /// Follow a policy that others have written down: hipaa-safe-harbor, public-use, scientific-use, cell-size-11
    #[arg(long, value_name = "NAME")]
    preset: Option<String>,
    /// The first line does hold the names of the columns
    ///
    /// Names are printed and written into the job. Without this flag, a text file is refused, and nothing of it printed, unless
    /// its first line is evidently a header: a name that columns usually have (age, zip, birth_date), words above numbers or dates, or words that are written
    /// in another way than the cells below; and no more entries that look like cells of their column.
    #[arg(long)]
    header: bool,
    /// What separates the fields [default: the header's most frequent of , ; tab |]
    #[arg(long, value_name = "CHAR")]
    delimiter: Option<char>,
    /// How the data are written, as it will stand in [input] of the job: encoding=windows-1252, sheet=People, skip_rows=2 or
    /// missing=NA,-9. Can be given several times
    #[arg(long, value_name = "KEY=VALUE")]
    read: Vec<String>,
    /// How to print what was found: text goes to standard error, JSON to standard output
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    if arguments.format == Format::Json && arguments.output.as_os_str() == "-" {
        return Err(Error::input("the job and the JSON cannot both go to standard output")
            .with_hint("say with --output where the job goes"));
    }
    let progress = show_progress()?;
    let first_line = if arguments.header { FirstLine::Names } else { FirstLine::Unknown };
    let path = Paths::One(arguments.data.clone());
    let input = Input { path, delimiter: arguments.delimiter, ..Input::default() };
    let input = arguments.read.iter().try_fold(input, |input, given| input.with(given))?;
    let init = Init::of_input(&input, first_line, &progress)?;
    progress.done();
    let preset = arguments.preset.as_deref().map(preset).transpose()?;
    let init = match preset {
        Some(preset) => init.with_preset(preset),
        None => init,
    };
    let k = arguments.k.unwrap_or_else(|| preset.map_or(5, |preset| preset.least_k().max(5)));
    let replace = if arguments.force { Replace::Allowed } else { Replace::Never };
    init.write(&arguments.output, k, replace)?;
    if arguments.format == Format::Json {
        print(&(written(&InitJson::of(&init, &arguments.output)) + "\n"))?;
        return Ok(ExitCode::SUCCESS);
    }
    eprint_text(init.to_string().trim_end());
    eprint_text(&next(&init, arguments));
    Ok(ExitCode::SUCCESS)
}

/// The preset of a name.
fn preset(name: &str) -> Result<Preset> {
    Preset::named(name).ok_or_else(|| {
        let names = Preset::ALL.map(Preset::name);
        let near = nearest(names, name).map_or(String::new(), |near| format!("; did you mean `{near}`?"));
        Error::input(format!("unknown preset `{name}`{near}"))
            .with_hint(format!("there are: {}", names.join(", ")))
    })
}

/// What to do now.
fn next(init: &Init, arguments: &Arguments) -> String {
    let is_standard = |path: &Path| path.as_os_str() == "-";
    let (wrote, job) = if is_standard(&arguments.output) {
        ("the job is on standard output".to_owned(), "JOB".to_owned())
    } else {
        let job = arguments.output.display().to_string();
        (format!("wrote {job}"), job)
    };
    let data = if is_standard(&arguments.data) { " < DATA" } else { "" };
    match init.n_decisions() {
        0 => format!("\n{wrote}: read its reasons, then run\n  incog anonymize {job}{data}"),
        n => format!(
            "\n{wrote}: give the {n} marked `decide` a role (the comment above each says why), then run\n  \
             incog anonymize {job}{data}"
        ),
    }
}
