//! `incog key`.

use std::path::PathBuf;
use std::process::ExitCode;

use incog::{PrivateKey, Result};

use crate::output::print;

/// The private key, unless a name is given.
const NAME: &str = "incog-sign.key";

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Make a pair of keys: a private one that signs records, and a public one that checks them
    ///
    /// The private key stays with you, readable by its owner only; the public one, FILE.pub, goes to whoever receives your
    /// releases, by a way they trust. Neither replaces a file that is there. Sign with `incog anonymize --sign FILE`, check with
    /// `incog verify RELEASE --record RECORD --publisher FILE.pub`.
    New {
        /// Where the private key goes
        #[arg(default_value = NAME, value_name = "FILE")]
        path: PathBuf,
    },
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let Command::New { path } = &arguments.command;
    let (public, public_path) = PrivateKey::make(path)?;
    print(&format!(
        "private key: {} (keep it, and give it to nobody)\npublic key: {} (give it to whoever receives your releases)\n{public}\n",
        path.display(),
        public_path.display()
    ))?;
    Ok(ExitCode::SUCCESS)
}
