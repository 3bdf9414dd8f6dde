//! Flags that say where a release goes, in the place of what its job says.

use std::path::PathBuf;

use incog::unstable::job::{DatabaseJob, Output, OutputOrder, RecordJob};
use incog::{Error, Job, Result};

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
    pub(crate) fn apply(self, job: &mut Job) -> Result<()> {
        let output = job.output.get_or_insert_with(Output::default);
        if let Some(path) = self.output {
            output.path = Some(from_here(path)?);
            job.lines.forget(&["output", "path"]);
        }
        if let Some(order) = self.order {
            output.order = order.into();
        }
        if let Some(record) = self.record {
            output.record = Some(RecordJob::Path(from_here(record)?));
        }
        if self.no_record {
            output.record = Some(RecordJob::Wanted(false));
        }
        if let Some(key) = self.key {
            output.key = Some(from_here(key)?);
        }
        if let Some(key) = self.sign {
            output.sign = Some(from_here(key)?);
            job.lines.forget(&["output", "sign"]);
        }
        Ok(())
    }

    /// The same for a database, whose release is a folder.
    pub(crate) fn apply_to_database(self, job: &mut DatabaseJob) -> Result<()> {
        if self.record.is_some() {
            return Err(Error::input("--record is for one table, and the job is about a database")
                .with_hint("the record of a database stands in the folder of its release"));
        }
        if let Some(path) = self.output {
            if path.as_os_str() == "-" {
                return Err(Error::input("the release of a database is a folder, not standard output")
                    .with_hint("name a folder: --output release/"));
            }
            job.database.output = Some(from_here(path)?);
            job.lines.forget(&["database", "output"]);
        }
        if let Some(order) = self.order {
            job.database.order = order.into();
        }
        if self.no_record {
            job.database.record = Some(false);
        }
        if let Some(key) = self.key {
            job.database.key = Some(from_here(key)?);
        }
        if let Some(key) = self.sign {
            job.database.sign = Some(from_here(key)?);
            job.lines.forget(&["database", "sign"]);
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
