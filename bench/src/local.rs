//! Local recoding: what each algorithm loses, and how long it takes.
//!
//! Adult with its nine quasi-identifiers, and Lands End with eight, 100,000 rows and all of them (`--landsend-rows`). *Plain rounds* are the
//! stand-in for ARX: full-domain generalizations of what is left, round by round, published as they are. Other algorithms run up to 100,000 rows. Times are in
//! times of base, of one run each: what takes seconds is not noisy.

use std::path::Path;
use std::time::Instant;

use incog_core::algorithm::{ALL, Aim, Family, Limits, LocalOptions, local};
use incog_core::frequency::Rows;
use incog_core::hierarchy::Attributes;
use incog_core::judge::Problem;
use incog_core::metric::{self, Costs, Metric};
use incog_core::privacy::Policy;
use incog_core::registry::find;
use incog_core::{Error, Progress, Result};
use serde_json::{Value, json};

use crate::dataset::{self, Dataset};
use crate::models::{self, Answer};
use crate::{Arguments, say, time};

/// Other algorithms run on tables of up to this many rows.
const OTHERS: usize = 100_000;

pub(crate) fn suite(arguments: &Arguments) -> Result<()> {
    let mut figures = Vec::new();
    say("\n### Local recoding, by loss\n");
    say("| table | k | algorithm | loss | geometric loss | s | times base |");
    say("|---|---|---|---|---|---|---|");
    run(arguments, "adult", &Dataset::adult()?, 9, &[2, 5, 10, 50], &mut figures)?;
    if arguments.only != "adult" {
        run(
            arguments,
            "landsend",
            &Dataset::landsend(OTHERS.min(arguments.landsend_rows))?,
            8,
            &[2, 5, 10, 50],
            &mut figures,
        )?;
        if arguments.landsend_rows > OTHERS {
            run(arguments, "landsend", &Dataset::landsend(arguments.landsend_rows)?, 8, &[10], &mut figures)?;
        }
    }
    if let Some(path) = &arguments.json {
        write(path, &figures)?;
    }
    Ok(())
}

fn write(path: &Path, figures: &[Value]) -> Result<()> {
    let text = serde_json::to_string_pretty(figures).map_err(|error| Error::input(error.to_string()))?;
    std::fs::write(path, text).map_err(|error| Error::input(format!("{}: {error}", path.display())))
}

fn run(
    arguments: &Arguments,
    name: &str,
    data: &Dataset,
    n_attributes: usize,
    ks: &[u64],
    figures: &mut Vec<Value>,
) -> Result<()> {
    let attributes = Attributes::new(data.attributes[..n_attributes].to_vec())?;
    let rows = Rows::new(&data.table, &attributes)?;
    let keys = data.plain_keys(n_attributes);
    let n_rows = data.table.n_rows();
    let base =
        (0..arguments.rounds.max(1)).map(|_| time(|| dataset::group_by(&keys))).min().unwrap_or_default();
    let metric = |name: &str| -> Result<&'static dyn Metric> {
        Ok(find(metric::ALL, name).ok_or_else(|| Error::input("there is no such metric"))?.item)
    };
    let (loss, geometric) = (metric("loss")?, metric("geometric-loss")?);
    for &k in ks {
        let policy = Policy::k_anonymity(k)?;
        let problem = Problem { source: &rows, policy: &policy };
        let costs = Costs::new(problem, &attributes)?;
        let aim = Aim { metric: loss, costs: &costs };
        let of_local = |polish: bool| {
            let options = LocalOptions { aim, limits: Limits::default(), polish };
            let found = local(problem, &attributes, options, &Progress::new())?;
            Ok(found.map(|found| Answer::Groups(found.recoding)))
        };
        let of_entry = |name: &str| match find(ALL, name) {
            Some(entry) => models::run(entry, problem, &attributes, aim),
            None => Err(Error::input("there is no such algorithm")),
        };
        let others = ALL.iter().filter(|entry| {
            entry.item.family == Family::MultiDimension && entry.name != "local" && n_rows <= OTHERS
        });
        let names = ["plain rounds", "local"].into_iter().chain(others.map(|entry| entry.name));
        for algorithm in names {
            let start = Instant::now();
            let answer = match algorithm {
                "plain rounds" => of_local(false),
                "local" => of_local(true),
                name => of_entry(name),
            };
            let seconds = start.elapsed().as_secs_f64();
            let answer = answer?.ok_or_else(|| Error::input("nothing satisfies the policy"))?;
            let score =
                |metric| models::score(&answer, data, &attributes, problem, Aim { metric, costs: &costs });
            let (loss, geometric) = (score(loss)?, score(geometric)?);
            let times_base = seconds / base.as_secs_f64();
            say(&format!(
                "| {name}, {n_rows} rows | {k} | {algorithm} | {loss:.4} | {geometric:.4} | {seconds:.2} | {times_base:.0} |"
            ));
            figures.push(json!({
                "table": name,
                "rows": n_rows,
                "k": k,
                "algorithm": algorithm,
                "loss": loss,
                "geometric_loss": geometric,
                "seconds": seconds,
                "times_base": times_base,
            }));
        }
    }
    Ok(())
}
