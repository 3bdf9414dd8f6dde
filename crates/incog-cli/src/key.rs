//! `incog key`.

use std::path::PathBuf;
use std::process::ExitCode;

use incog::unstable::cli::{Described, written};
use incog::{PrivateKey, Result};
use schemars::JsonSchema;
use serde::Serialize;

use crate::output::{Format, print};

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
        /// How to print where they are
        #[arg(long, value_enum, default_value_t = Format::Text)]
        format: Format,
    },
}

/// A pair of keys that was made.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct KeyJson {
    private_path: String,
    public_path: String,
    /// The public key.
    public: String,
}

impl Described for KeyJson {
    const NAME: &'static str = "key";
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let Command::New { path, format } = &arguments.command;
    let (public, public_path) = PrivateKey::make(path)?;
    if *format == Format::Json {
        let made = KeyJson {
            private_path: path.display().to_string(),
            public_path: public_path.display().to_string(),
            public: public.to_string(),
        };
        print(&(written(&made) + "\n"))?;
        return Ok(ExitCode::SUCCESS);
    }
    print(&format!(
        "private key: {} (keep it, and give it to nobody)\npublic key: {} (give it to whoever receives your releases)\n{public}\n",
        path.display(),
        public_path.display()
    ))?;
    Ok(ExitCode::SUCCESS)
}
