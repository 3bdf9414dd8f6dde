//! Flags that say where a release goes, in the place of what its job says.

use std::path::{Path, PathBuf};

use incog::unstable::job::{Output, OutputOrder, RecordJob};
use incog::{AnyJob, Error, Result};

use crate::overrides::from_here;

/// Where the release goes.
#[derive(Debug, clap::Args)]
pub(crate) struct OutputArguments {
    /// Where to write the release; `-` is standard output, a name that ends in / is a folder; of a database, the folder
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// In which order rows are released [default: shuffle]
    #[arg(long, value_enum, value_name = "ORDER")]
    order: Option<OrderFlag>,
    /// Where to write the release record [default: the release's name with .incog.json]
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Write no release record
    #[arg(long, conflicts_with = "record")]
    no_record: bool,
    /// The file with the publisher's key, made if it is not there [default: incog.key beside the job]
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// The file with the private key that signs the record; `incog key new` makes one
    #[arg(long, value_name = "FILE", conflicts_with = "no_record")]
    sign: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum OrderFlag {
    Shuffle,
    Input,
}

impl OutputArguments {
    /// Says where the release goes, if a flag does.
    pub(crate) fn apply(self, job: &mut AnyJob) -> Result<()> {
        match job {
            AnyJob::Table(job) => {
                let output = job.output.get_or_insert_with(Output::default);
                if let Some(record) = self.record {
                    output.record = Some(RecordJob::Path(from_here(record)?));
                }
            }
            AnyJob::Database(_) => {
                if self.record.is_some() {
                    return Err(Error::input("--record is for one table, and the job is about a database")
                        .with_hint("the record of a database stands in the folder of its release"));
                }
                if self.output.as_deref() == Some(Path::new("-")) {
                    return Err(Error::input("the release of a database is a folder, not standard output")
                        .with_hint("name a folder: --output release/"));
                }
            }
        }
        if let Some(path) = self.output {
            job.set_output(from_here(path)?);
        }
        if let Some(order) = self.order {
            job.set_order(order.into());
        }
        if self.no_record {
            job.set_no_record();
        }
        if let Some(key) = self.key {
            job.set_key(from_here(key)?);
        }
        if let Some(key) = self.sign {
            job.set_sign(from_here(key)?);
        }
        Ok(())
    }
}

impl From<OrderFlag> for OutputOrder {
    fn from(flag: OrderFlag) -> Self {
        match flag {
            OrderFlag::Shuffle => OutputOrder::Shuffle,
            OrderFlag::Input => OutputOrder::Input,
        }
    }
}
