//! The best node and the complete classification, as ratios to one hash group-by of all rows in the same run.
//!
//! What `incog anonymize` and `incog search` do where the job names no algorithm, on one thread, k = 5. *Best node*
//! includes counting the values of each attribute, which the metrics need. Packing the rows' keys is in no figure,
//! neither base's nor the searches'. *Judged* is how many nodes were looked at, of how many.
//!
//! With `--json FILE` the same figures are written as a list of objects, one a row, for `bench/run.py` and `bench/anjana.py`.

use std::time::{Duration, Instant};

use incog_core::algorithm::{self, Search, optimum};
use incog_core::frequency::Rows;
use incog_core::hierarchy::Attributes;
use incog_core::judge::{JudgeKind, Problem};
use incog_core::metric::{self, Costs};
use incog_core::privacy::{Budget, Policy};
use incog_core::registry::find;
use incog_core::{Error, ErrorKind, Progress, Result};
use serde_json::{Value, json};

use crate::dataset::{self, Dataset};
use crate::{Arguments, say, time};

const K: u64 = 5;

/// One way to search, with what it found: how many nodes were judged, and what the answer is.
pub(crate) struct Contest<'a> {
    pub(crate) name: String,
    run: Box<dyn Fn() -> Result<(u64, String)> + Send + Sync + 'a>,
}

impl Contest<'_> {
    /// Runs it once.
    pub(crate) fn run(&self) -> Result<(u64, String)> {
        (self.run)()
    }
}

/// How a contest went: its fastest round.
#[derive(Clone)]
pub(crate) struct Outcome {
    pub(crate) time: Duration,
    judged: u64,
    answer: String,
}

pub(crate) fn suite(arguments: &Arguments) -> Result<()> {
    let mut figures = Vec::new();
    one_thread()?.install(|| {
        if "adult".contains(&arguments.only) || arguments.only.starts_with("adult") {
            figures.extend(one_table(arguments, "adult", &Dataset::adult()?)?);
        }
        if "landsend".contains(&arguments.only) || arguments.only.starts_with("landsend") {
            let data = Dataset::landsend(arguments.landsend_rows)?;
            figures.extend(one_table(arguments, "landsend", &data)?);
        }
        Ok::<(), Error>(())
    })?;
    let Some(path) = &arguments.json else { return Ok(()) };
    let failed =
        |problem: String| Error::new(ErrorKind::Io, format!("cannot write `{}`: {problem}", path.display()));
    let text = serde_json::to_string_pretty(&figures).map_err(|error| failed(error.to_string()))?;
    std::fs::write(path, text).map_err(|error| failed(error.to_string()))
}

/// Where searches are timed: threads that would help each other are another question.
pub(crate) fn one_thread() -> Result<rayon::ThreadPool> {
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    one.map_err(|error| Error::new(ErrorKind::Limit, format!("cannot start a thread: {error}")))
}

fn one_table(arguments: &Arguments, table: &str, data: &Dataset) -> Result<Vec<Value>> {
    let n_attributes = arguments.attributes.unwrap_or(data.attributes.len());
    let attributes = Attributes::new(data.attributes[..n_attributes].to_vec())?;
    let rows = Rows::new(&data.table, &attributes)?;
    let keys = data.plain_keys(n_attributes);
    say(&format!("\n### {}, {n_attributes} quasi-identifiers, k = {K}: one node and all nodes\n", data.name));
    say("| suppression | what | ms | times base | judged | answer |");
    say("|---|---|---|---|---|---|");
    let mut figures = Vec::new();
    for percent in ["0%", "5%"] {
        let budget = Budget::parse(percent)?.rows(data.table.n_rows() as u64);
        let policy = Policy::k_anonymity(K)?.with_budget(budget);
        let problem = Problem { source: &rows, policy: &policy };
        let mut contests = vec![complete(problem, &attributes)];
        for name in ["loss", "geometric-loss"] {
            contests.push(best(problem, &attributes, name));
        }
        let (base, outcomes) = race(arguments.rounds, Duration::from_secs(2), &keys, &contests)?;
        for (contest, outcome) in contests.iter().zip(&outcomes) {
            let Outcome { time, judged, answer } = outcome;
            let (name, times_base) = (&contest.name, time.as_secs_f64() / base.as_secs_f64());
            let milliseconds = 1000.0 * time.as_secs_f64();
            say(&format!(
                "| {percent} | {name} | {milliseconds:.2} | {times_base:.1} | {judged} | {answer} |"
            ));
            figures.push(json!({
                "table": table,
                "rows": data.table.n_rows(),
                "quasi_identifiers": n_attributes,
                "k": K,
                "suppression": percent,
                "what": name,
                "seconds": time.as_secs_f64(),
                "base_seconds": base.as_secs_f64(),
                "times_base": times_base,
                "judged": judged,
                "answer": answer,
            }));
        }
        say(&format!("| {percent} | base | {:.2} | 1 | | |", 1000.0 * base.as_secs_f64()));
    }
    Ok(figures)
}

pub(crate) fn best<'a>(problem: Problem<'a>, attributes: &'a Attributes, name: &'static str) -> Contest<'a> {
    let run = move || {
        let metric = find(metric::ALL, name).ok_or_else(|| Error::input("no such metric"))?.item;
        let costs = Costs::new(problem, attributes)?;
        let found = optimum(problem, attributes, &costs, metric, &Progress::new())?;
        let answer = found.best.map_or("none".to_owned(), |best| {
            format!("{:?}, {:.6}", best.statistics.levels, metric.score(&costs, &best.statistics))
        });
        Ok((found.judged.len() as u64, answer))
    };
    Contest { name: format!("best by {name}"), run: Box::new(run) }
}

pub(crate) fn complete<'a>(problem: Problem<'a>, attributes: &'a Attributes) -> Contest<'a> {
    let run = move || {
        let algorithm = algorithm::choose(&attributes.heights());
        let judge = match algorithm {
            algorithm::Traversal::Cover => JudgeKind::Snapshots,
            _ => JudgeKind::RollUp,
        };
        let outcome = Search { algorithm, judge, ..Search::incognito() }.run(problem, &Progress::new())?;
        let answer = format!("{} hold, {} minimal", outcome.holding.len(), outcome.minimal.len());
        Ok((outcome.work.nodes_checked, answer))
    };
    Contest { name: "complete".to_owned(), run: Box::new(run) }
}

/// The fastest round of base and of each contest. They take turns for some rounds, and on until `at_least` is over: what takes
/// a millisecond needs more rounds for a fastest one that is no accident.
pub(crate) fn race(
    rounds: usize,
    at_least: Duration,
    keys: &[u64],
    contests: &[Contest<'_>],
) -> Result<(Duration, Vec<Outcome>)> {
    let mut base = Duration::MAX;
    let mut outcomes =
        vec![Outcome { time: Duration::MAX, judged: 0, answer: String::new() }; contests.len()];
    let begin = Instant::now();
    for round in 0..200 {
        if round >= rounds.max(1) && begin.elapsed() > at_least {
            break;
        }
        base = base.min(time(|| dataset::group_by(keys)));
        for (contest, outcome) in contests.iter().zip(&mut outcomes) {
            let start = Instant::now();
            (outcome.judged, outcome.answer) = contest.run()?;
            outcome.time = outcome.time.min(start.elapsed());
        }
    }
    Ok((base, outcomes))
}
