//! The recoding models on Adult: what their searches cost in group-bys, and how much memory they take.
//!
//! Time is in times of base, one presized hash group-by of all rows at level 0 in the same run; base and searches take turns,
//! and the median of all rounds counts. Memory is what a search has allocated at its peak beyond what was there before
//! (table, hierarchies and coded rows), in times of the coded table (rows × quasi-identifiers × 4 bytes). An allocator counts
//! it; that costs time, so it is built in on request only (`--features memory`). A block that grows counts twice while it
//! moves.

use std::time::{Duration, Instant};

use incog_core::algorithm::{
    self, ALL, Aim, Algorithm, CutChoice, Cuts, Extent, Family, MondrianOptions, Settings, Task, mondrian,
    optimum,
};
use incog_core::frequency::Rows;
use incog_core::hierarchy::Attributes;
use incog_core::judge::Problem;
use incog_core::metric::{self, Costs, LabelCounts, Statistics};
use incog_core::privacy::Policy;
use incog_core::recoding::{PerBox, PerGroup, PerValue, Recoding};
use incog_core::registry::{Entry, find};
use incog_core::{Error, Progress, Result};

use crate::dataset::{self, Dataset};
use crate::mondrian::{Ordered, domains};
use crate::{Arguments, say, time};

#[cfg(feature = "memory")]
#[global_allocator]
static MEMORY: peak_alloc::PeakAlloc = peak_alloc::PeakAlloc;

/// What a search answers with.
pub(crate) enum Answer {
    Node(Statistics),
    Values(Box<PerValue>),
    Groups(PerGroup),
    Boxes(PerBox),
}

/// A search by name.
struct NamedSearch<'a> {
    name: &'static str,
    run: Box<dyn Fn() -> Result<Option<Answer>> + 'a>,
}

pub(crate) fn suite(arguments: &Arguments) -> Result<()> {
    let data = Dataset::adult()?;
    let attributes = Attributes::new(data.attributes[..8].to_vec())?;
    let rows = Rows::new(&data.table, &attributes)?;
    let keys = data.plain_keys(8);
    let coded = (data.table.n_rows() * 8 * size_of::<u32>()) as f64;
    say(&format!("\n### {}, 8 quasi-identifiers: recoding models, by loss\n", data.name));
    say("| k | budget | model | ms | times base | loss | peak memory in coded tables |");
    say("|---|---|---|---|---|---|---|");
    for (k, percent) in [0, 1].into_iter().flat_map(|percent| [2, 5, 10, 100].map(|k| (k, percent))) {
        let policy = Policy::k_anonymity(k)?.with_budget(data.table.n_rows() as u64 * percent / 100);
        let problem = Problem { source: &rows, policy: &policy };
        let costs = Costs::new(problem, &attributes)?;
        let loss = find(metric::ALL, "loss").ok_or_else(|| Error::input("there is no metric `loss`"))?;
        let aim = Aim { metric: loss.item, costs: &costs };
        let mut searches = searches(&data, &attributes, problem, aim)?;
        searches.retain(|search| search.name.contains(&arguments.only));
        let (base, times) = take_turns(arguments.rounds, &keys, &searches)?;
        for (search, time) in searches.iter().zip(times) {
            let (answer, memory) = with_peak(|| (search.run)());
            let answer = answer?.ok_or_else(|| Error::input("nothing satisfies the policy"))?;
            let memory = memory.map_or("–".to_owned(), |bytes| format!("{:.1}", bytes as f64 / coded));
            say(&format!(
                "| {k} | {percent} % | {} | {:.2} | {:.1} | {:.6} | {memory} |",
                search.name,
                1000.0 * time.as_secs_f64(),
                time.as_secs_f64() / base.as_secs_f64(),
                score(&answer, &data, &attributes, problem, aim)?,
            ));
        }
    }
    Ok(())
}

/// The median time of base, and of each search.
fn take_turns(
    rounds: usize,
    keys: &[u64],
    searches: &[NamedSearch<'_>],
) -> Result<(Duration, Vec<Duration>)> {
    let mut bases = Vec::new();
    let mut times = vec![Vec::new(); searches.len()];
    for _ in 0..rounds.max(1) {
        for (search, times) in searches.iter().zip(&mut times) {
            bases.push(time(|| dataset::group_by(keys)));
            // What takes long is measured once: noise is small against it.
            if times.first().is_none_or(|first: &Duration| first.as_secs() == 0) {
                let start = Instant::now();
                (search.run)()?;
                times.push(start.elapsed());
            }
        }
    }
    Ok((median(bases), times.into_iter().map(median).collect()))
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// The most bytes that were allocated meanwhile beyond those before, if an allocator counts them.
#[cfg(feature = "memory")]
fn with_peak<T>(run: impl FnOnce() -> T) -> (T, Option<usize>) {
    MEMORY.reset_peak_usage();
    let before = MEMORY.current_usage();
    let answer = run();
    (answer, Some(MEMORY.peak_usage() - before))
}

#[cfg(not(feature = "memory"))]
fn with_peak<T>(run: impl FnOnce() -> T) -> (T, Option<usize>) {
    (run(), None)
}

fn searches<'a>(
    data: &Dataset,
    attributes: &'a Attributes,
    problem: Problem<'a>,
    aim: Aim<'a>,
) -> Result<Vec<NamedSearch<'a>>> {
    let mut all = Vec::new();
    let mut add = |name, run| all.push(NamedSearch { name, run });
    add(
        "full-domain",
        Box::new(move || {
            let found = optimum(problem, attributes, aim.costs, aim.metric, &Progress::new())?;
            Ok(found.best.map(|best| Answer::Node(best.statistics)))
        }) as Box<dyn Fn() -> _>,
    );
    let is_single = |name: &str| ["full-subtree", "unrestricted"].contains(&name);
    for entry in ALL.iter().filter(|entry| is_single(entry.name)) {
        add(entry.name, Box::new(move || run(entry, problem, attributes, aim)));
    }
    for (name, cuts) in [("mondrian strict", Cuts::Strict), ("mondrian relaxed", Cuts::Relaxed)] {
        let domains = domains(data, attributes, Ordered::Numbers)?;
        add(
            name,
            Box::new(move || {
                let (choice, extent, domains) = (CutChoice::Median, Extent::Covering, domains.clone());
                let options = MondrianOptions { domains, cuts, choice, extent, weights: Vec::new() };
                let found = mondrian(problem, attributes, options, &Progress::new())?;
                Ok(found.map(|found| Answer::Boxes(found.recoding)))
            }),
        );
    }
    for entry in ALL.iter().filter(|entry| entry.item.family == Family::MultiDimension) {
        add(entry.name, Box::new(move || run(entry, problem, attributes, aim)));
    }
    Ok(all)
}

/// What an algorithm of the list answers.
pub(crate) fn run(
    entry: &Entry<Algorithm>,
    problem: Problem<'_>,
    attributes: &Attributes,
    aim: Aim<'_>,
) -> Result<Option<Answer>> {
    let (domains, settings, progress) = (vec![None; attributes.len()], Settings::default(), Progress::new());
    let task = Task {
        problem,
        attributes,
        aim,
        metric: "loss",
        domains: &domains,
        settings: &settings,
        progress: &progress,
    };
    let Some(algorithm::Answer::Recoding { recoding, .. }) = (entry.item.run)(&task)? else {
        return Ok(None);
    };
    Ok(match *recoding {
        Recoding::PerValue(values) => Some(Answer::Values(Box::new(values))),
        Recoding::PerGroup(groups) => Some(Answer::Groups(groups)),
        Recoding::PerLevel(_) | Recoding::PerBox(_) => None,
    })
}

/// The score of an answer.
pub(crate) fn score(
    answer: &Answer,
    data: &Dataset,
    attributes: &Attributes,
    problem: Problem<'_>,
    aim: Aim<'_>,
) -> Result<f64> {
    let costs = aim.costs;
    Ok(match answer {
        Answer::Node(statistics) => aim.metric.score(costs, statistics),
        Answer::Values(values) => {
            aim.metric.score(costs, &Statistics::of_values(problem, attributes, values)?)
        }
        Answer::Groups(groups) => {
            let cells = LabelCounts::of_recoding(groups, &data.table, attributes)?;
            let sizes = (0..groups.n_groups()).map(|group| (groups.rows(group), 1));
            let n_rows = problem.source.n_rows();
            aim.metric.score(costs, &Statistics::of_cells(&cells, attributes, sizes, n_rows))
        }
        Answer::Boxes(boxes) => {
            let costs = costs.clone().with_domains(boxes.domains());
            aim.metric.score(&costs, &Statistics::of_boxes(boxes, attributes))
        }
    })
}
