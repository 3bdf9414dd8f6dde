//! `incog completions` and `incog man`: what shells and `man` want to know, from the same definitions as `--help`.

use std::process::ExitCode;

use clap::{Command, ValueEnum};
use clap_complete::aot::{Bash, Fish, Zsh, generate};
use clap_mangen::Man;
use incog::{Error, ErrorKind, Result};

use crate::output::print;

/// The name of the binary.
const NAME: &str = "incog";

#[derive(Debug, clap::Args)]
pub(crate) struct CompletionsArguments {
    /// The shell that reads the script
    shell: Shell,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Shell {
    Bash,
    Zsh,
    Fish,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ManArguments {
    /// A command, such as anonymize or `hierarchy show`; without one, the page of incog itself
    #[arg(num_args = 0..)]
    command: Vec<String>,
}

pub(crate) fn completions(arguments: &CompletionsArguments, mut command: Command) -> Result<ExitCode> {
    let mut script = Vec::new();
    match arguments.shell {
        Shell::Bash => generate(Bash, &mut command, NAME, &mut script),
        Shell::Zsh => generate(Zsh, &mut command, NAME, &mut script),
        Shell::Fish => generate(Fish, &mut command, NAME, &mut script),
    }
    print_bytes(&script)
}

pub(crate) fn man(arguments: &ManArguments, command: Command) -> Result<ExitCode> {
    let mut command = command.name(NAME);
    // Gives every command its full name, such as `incog-hierarchy-show`.
    command.build();
    for name in &arguments.command {
        let below = command.get_subcommands().find(|below| below.get_name() == name);
        let Some(below) = below.cloned() else {
            return Err(Error::input(format!("there is no command `{}`", arguments.command.join(" ")))
                .with_hint("`incog --help` has the commands"));
        };
        command = below;
    }
    let name = command.get_display_name().unwrap_or(NAME).to_owned();
    let mut page = Vec::new();
    let rendered = Man::new(command).title(name.to_uppercase()).source(version()).render(&mut page);
    rendered.map_err(|error| Error::new(ErrorKind::Io, format!("cannot write the manual page: {error}")))?;
    print_bytes(&page)
}

fn version() -> String {
    format!("{NAME} {}", env!("CARGO_PKG_VERSION"))
}

fn print_bytes(text: &[u8]) -> Result<ExitCode> {
    print(&String::from_utf8_lossy(text))?;
    Ok(ExitCode::SUCCESS)
}
