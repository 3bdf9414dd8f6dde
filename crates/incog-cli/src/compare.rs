//! `incog compare`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use incog::unstable::cli::MODELS;
use incog::{Anonymizer, Comparing, Error, Result};

use crate::output::{Format, print};
use crate::overrides::JobArguments;
use crate::signals::{beside_the_line, name_what_runs, show_progress};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    job: JobArguments,
    /// The models, separated by commas: full-domain, mondrian-relaxed, or names that `incog list` prints under recoding
    /// [default: all that are fast enough]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    models: Vec<String>,
    /// How to print the result
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Where to write a chart of the losses: as PNG where the name ends in .png, as SVG otherwise
    #[arg(long, value_name = "FILE")]
    chart: Option<PathBuf>,
}

pub(crate) fn run(arguments: Arguments) -> Result<ExitCode> {
    // Found out before rows are printed that nobody could then plot.
    if let Some(folder) = arguments.chart.as_deref().and_then(Path::parent)
        && !folder.as_os_str().is_empty()
        && !folder.is_dir()
    {
        let path = arguments.chart.as_deref().unwrap_or(folder).display();
        return Err(Error::input(format!(
            "cannot write `{path}`: there is no folder `{}`",
            folder.display()
        ))
        .with_hint("make the folder first"));
    }
    let progress = show_progress()?;
    let models: Vec<&str> = match arguments.models.as_slice() {
        [] => MODELS.to_vec(),
        models => models.iter().map(String::as_str).collect(),
    };
    let anonymizer = Anonymizer::from_job(arguments.job.job()?).progress(progress.shared());
    let mut printed = Ok(());
    let comparison = anonymizer.compare_telling(&models, &mut |step| {
        let text = match step {
            Comparing::Begins(head) => head.to_owned(),
            Comparing::Came(model) => model.to_string(),
            Comparing::Runs(model) => return name_what_runs(model),
            // A step of a later library.
            _ => return,
        };
        // A row is there as soon as it is known: who ends the command keeps it.
        if arguments.format == Format::Text && printed.is_ok() {
            printed = beside_the_line(|| print(&text));
        }
    })?;
    progress.done();
    printed?;
    if let Some(path) = &arguments.chart {
        comparison.write_chart(path)?;
    }
    if arguments.format == Format::Json {
        print(&(comparison.to_json() + "\n"))?;
    }
    let is_any = comparison.models.iter().any(|model| model.release.is_some());
    Ok(if is_any { ExitCode::SUCCESS } else { ExitCode::from(1) })
}
