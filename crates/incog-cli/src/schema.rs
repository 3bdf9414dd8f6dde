//! `incog schema`: by which rules a job file and the output of commands are written.

use std::process::ExitCode;

use incog::unstable::cli::{schema_of, schemas};
use incog::unstable::job::AnyJob;
use incog::{Error, Result};

use crate::explain::ExplainJson;
use crate::hierarchy::{HierarchiesJson, MadeJson, ShownJson};
use crate::init_json::InitJson;
use crate::key::KeyJson;
use crate::list::ListJson;
use crate::output::print;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Whose output: anonymize, search, search-k, search-subsets, search-trace, compare, verify, init, hierarchy-show, hierarchy-check,
    /// hierarchy-make, key, list or explain; without it, job files
    name: Option<String>,
}

/// Every schema of an output, with its name.
pub(crate) fn all() -> Vec<(&'static str, String)> {
    let mut all = schemas();
    all.extend([
        ("init", schema_of::<InitJson>()),
        ("hierarchy-show", schema_of::<ShownJson>()),
        ("hierarchy-check", schema_of::<HierarchiesJson>()),
        ("hierarchy-make", schema_of::<MadeJson>()),
        ("key", schema_of::<KeyJson>()),
        ("list", schema_of::<ListJson>()),
        ("explain", schema_of::<ExplainJson>()),
    ]);
    all
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let Some(name) = arguments.name.as_deref().filter(|name| *name != "job") else {
        print(&(AnyJob::schema() + "\n"))?;
        return Ok(ExitCode::SUCCESS);
    };
    let all = all();
    let Some((_, schema)) = all.iter().find(|(other, _)| *other == name) else {
        let names: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
        return Err(Error::input(format!("there is no schema named `{name}`"))
            .with_hint(format!("there are: job, {}", names.join(", "))));
    };
    print(&format!("{schema}\n"))?;
    Ok(ExitCode::SUCCESS)
}
