//! Short cases that each take a few seconds, for constants that were found by measuring.
//!
//! `bench/tuning.py` runs a case with a constant as it is, at half and at double, each in a process of its own, because a constant is read
//! once (`INCOG_TUNING`, in a build with `--features tuning`). A case has parts, so that the slowest search does not hide the others; the
//! fastest round of each part is written, as JSON with `--json FILE`. So are the names of the constants that were read: what a case never
//! reads, it does not measure.
//!
//! `--only CASE` names the case. Searches use one thread, but for `landsend-threads` and `packing`.

use std::hint::black_box;
use std::time::{Duration, Instant};

use incog_core::algorithm::{
    Limits, Search, Traversal, best_first, has_best_first_search, is_quicker_best_first, optimum,
};
use incog_core::frequency::{FrequencySource, Method, Rows, Store, Stored};
use incog_core::group::Demand;
use incog_core::hierarchy::Attributes;
use incog_core::judge::{self, BitmapOptions, JudgeKind, Problem};
use incog_core::lattice::Grouping;
use incog_core::metric::{self, Costs};
use incog_core::privacy::{Budget, Policy};
use incog_core::registry::find;
use incog_core::{Error, ErrorKind, Progress, Result};
use serde_json::json;

use crate::dataset::Dataset;
use crate::fast::{best, complete, one_thread};
use crate::{Arguments, say};

/// Rows of the generated Lands End table: more than the constants that tell large tables from small ones.
const LANDSEND_ROWS: usize = 1_200_000;
/// Records of the largest table, which has no more than keys: more than are looked at at once.
const MANY_ROWS: usize = 20_000_000;
/// How long a part is measured, at least.
const AT_LEAST: Duration = Duration::from_millis(500);

/// A case by name.
struct Case {
    name: &'static str,
    run: fn(&mut Timer) -> Result<()>,
}

const CASES: [Case; 13] = [
    Case { name: "adult-best", run: |timer| searches(timer, &Dataset::adult()?, Question::Best) },
    Case { name: "adult-all", run: |timer| searches(timer, &Dataset::adult()?, Question::All) },
    Case { name: "adult-choose", run: adult_choose },
    Case { name: "adult-bitmap", run: adult_bitmap },
    Case { name: "landsend-best", run: |timer| searches(timer, &landsend()?, Question::Best) },
    Case { name: "landsend-all", run: |timer| searches(timer, &landsend()?, Question::All) },
    Case { name: "landsend-choose", run: landsend_choose },
    Case { name: "landsend-threads", run: landsend_threads },
    Case { name: "landsend-memory", run: landsend_memory },
    Case { name: "stored", run: stored },
    Case { name: "packing", run: packing },
    Case { name: "many-rows", run: many_rows },
    Case { name: "lattice", run: lattice },
];

/// What a search looks for.
#[derive(Clone, Copy)]
enum Question {
    Best,
    All,
}

/// The fastest round of each part so far.
struct Timer {
    rounds: usize,
    parts: Vec<(String, Duration)>,
}

impl Timer {
    fn part<T>(&mut self, name: String, mut run: impl FnMut() -> Result<T>) -> Result<()> {
        let begin = Instant::now();
        let mut fastest = Duration::MAX;
        for round in 0..1000 {
            if round >= self.rounds.max(1) && begin.elapsed() > AT_LEAST {
                break;
            }
            let start = Instant::now();
            black_box(run()?);
            fastest = fastest.min(start.elapsed());
        }
        self.parts.push((name, fastest));
        Ok(())
    }
}

pub(crate) fn suite(arguments: &Arguments) -> Result<()> {
    #[cfg(feature = "tuning")]
    incog_core::tuning::check()?;
    let Some(case) = CASES.iter().find(|case| case.name == arguments.only) else {
        let names: Vec<&str> = CASES.iter().map(|case| case.name).collect();
        return Err(Error::input(format!("`--only` names no case; there are {}", names.join(", "))));
    };
    let mut timer = Timer { rounds: arguments.rounds, parts: Vec::new() };
    (case.run)(&mut timer)?;
    #[cfg(feature = "tuning")]
    let read = incog_core::tuning::read();
    #[cfg(not(feature = "tuning"))]
    let read: Vec<&str> = Vec::new();
    say(&format!("\n### {}\n\n| part | ms |\n|---|---|", case.name));
    for (part, time) in &timer.parts {
        say(&format!("| {part} | {:.2} |", 1000.0 * time.as_secs_f64()));
    }
    let Some(path) = &arguments.json else { return Ok(()) };
    let seconds = timer.parts.iter().map(|(part, time)| (part.clone(), json!(time.as_secs_f64())));
    let seconds: serde_json::Map<String, serde_json::Value> = seconds.collect();
    let figures = json!({ "case": case.name, "seconds": seconds, "read": read });
    let failed = |error: std::io::Error| {
        Error::new(ErrorKind::Io, format!("cannot write `{}`: {error}", path.display()))
    };
    std::fs::write(path, figures.to_string()).map_err(failed)
}

fn landsend() -> Result<Dataset> {
    Dataset::landsend(LANDSEND_ROWS)
}

fn first(data: &Dataset, n_attributes: usize) -> Result<Attributes> {
    Attributes::new(data.attributes[..n_attributes].to_vec())
}

fn policy(k: u64, percent: &str, n_rows: u64) -> Result<Policy> {
    Ok(Policy::k_anonymity(k)?.with_budget(Budget::parse(percent)?.rows(n_rows)))
}

/// The search that runs where the job names none, without a budget and with one.
fn searches(timer: &mut Timer, data: &Dataset, question: Question) -> Result<()> {
    let rows = Rows::new(&data.table, &data.attributes)?;
    for percent in ["0%", "5%"] {
        let policy = policy(5, percent, rows.n_rows())?;
        let problem = Problem { source: &rows, policy: &policy };
        let contest = match question {
            Question::Best => best(problem, &data.attributes, "loss"),
            Question::All => complete(problem, &data.attributes),
        };
        one_thread()?.install(|| timer.part(percent.to_owned(), || contest.run()))?;
    }
    Ok(())
}

/// Choosing a judge and Incognito with it.
fn chosen(timer: &mut Timer, data: &Dataset, n_attributes: usize, k: u64, percent: &str) -> Result<()> {
    let attributes = first(data, n_attributes)?;
    let rows = Rows::new(&data.table, &attributes)?;
    let policy = policy(k, percent, rows.n_rows())?;
    let problem = Problem { source: &rows, policy: &policy };
    let name = format!("{n_attributes} attributes, k = {k}, {percent}");
    one_thread()?.install(|| timer.part(name, || incognito(problem, judge::choose(problem, Some(1 << 30))?)))
}

fn incognito(problem: Problem<'_>, judge: JudgeKind) -> Result<usize> {
    let search = Search { algorithm: Traversal::Incognito, judge, ..Search::incognito() };
    Ok(search.run(problem, &Progress::new())?.holding.len())
}

fn adult_choose(timer: &mut Timer) -> Result<()> {
    let adult = Dataset::adult()?;
    for (n_attributes, k, percent) in [(3, 2, "0%"), (5, 10, "0%"), (7, 2, "0%"), (7, 50, "0%"), (5, 5, "1%")]
    {
        chosen(timer, &adult, n_attributes, k, percent)?;
    }
    // More attributes than are estimated with; Incognito would refuse them.
    let wide = Dataset::made_up(2_000, 20, 2)?;
    let rows = Rows::new(&wide.table, &wide.attributes)?;
    let policy = policy(5, "0%", rows.n_rows())?;
    let problem = Problem { source: &rows, policy: &policy };
    one_thread()?.install(|| {
        timer.part("choosing, 20 attributes".to_owned(), || judge::choose(problem, Some(1 << 30)))
    })
}

fn landsend_choose(timer: &mut Timer) -> Result<()> {
    let landsend = landsend()?;
    for (n_attributes, k, percent) in [(3, 2, "0%"), (5, 10, "0%"), (3, 5, "1%")] {
        chosen(timer, &landsend, n_attributes, k, percent)?;
    }
    Ok(())
}

fn adult_bitmap(timer: &mut Timer) -> Result<()> {
    let adult = Dataset::adult()?;
    let attributes = first(&adult, 7)?;
    let rows = Rows::new(&adult.table, &attributes)?;
    for k in [2, 50] {
        let policy = policy(k, "0%", rows.n_rows())?;
        let problem = Problem { source: &rows, policy: &policy };
        let run = || incognito(problem, JudgeKind::Bitmap(BitmapOptions::BEST));
        one_thread()?.install(|| timer.part(format!("k = {k}"), run))?;
    }
    Ok(())
}

/// As many threads as the machine has.
fn landsend_threads(timer: &mut Timer) -> Result<()> {
    let data = landsend()?;
    let rows = Rows::new(&data.table, &data.attributes)?;
    let policy = policy(5, "5%", rows.n_rows())?;
    let problem = Problem { source: &rows, policy: &policy };
    let contest = best(problem, &data.attributes, "loss");
    timer.part("best, 5%".to_owned(), || contest.run())?;
    for (name, levels) in levels_of_interest(&data.attributes) {
        timer.part(format!("count, {name}"), || count(&rows, &levels))?;
    }
    Ok(())
}

/// The bottom of a lattice, and a node in its middle.
fn levels_of_interest(attributes: &Attributes) -> [(&'static str, Vec<u8>); 2] {
    let heights = attributes.heights();
    let middle = heights.iter().map(|height| height.div_ceil(2)).collect();
    [("level 0", vec![0; heights.len()]), ("halfway up", middle)]
}

fn count(source: &dyn FrequencySource, levels: &[u8]) -> Result<usize> {
    let groups = source.count(&Grouping::of_levels(levels), &Demand::default(), Method::Auto)?;
    Ok(groups.n_groups())
}

fn landsend_memory(timer: &mut Timer) -> Result<()> {
    let data = landsend()?;
    for room in [1 << 17, 1 << 24] {
        let rows = Rows::new(&data.table, &data.attributes)?.with_room(room);
        one_thread()?.install(|| {
            timer.part(format!("count, {room} bytes"), || count(&rows, &[0, 0, 0, 0, 1, 1, 1, 1]))
        })?;
    }
    let rows = Rows::new(&data.table, &data.attributes)?.with_room(1 << 24);
    let policy = policy(5, "5%", rows.n_rows())?;
    let problem = Problem { source: &rows, policy: &policy };
    let contest = best(problem, &data.attributes, "loss");
    one_thread()?.install(|| timer.part("best, 5%".to_owned(), || contest.run()))?;
    let attributes = first(&data, 4)?;
    let rows = Rows::new(&data.table, &attributes)?;
    let problem = Problem { source: &rows, ..problem };
    one_thread()?.install(|| {
        timer.part("chosen".to_owned(), || incognito(problem, judge::choose(problem, Some(1 << 26))?))
    })?;
    let limited = Rows::new(&data.table, &attributes)?.with_room(1 << 22);
    let problem = Problem { source: &limited, ..problem };
    one_thread()?.install(|| {
        timer.part("roll-up, 4 MiB".to_owned(), || incognito(problem, JudgeKind::RollUp))?;
        timer.part("bitmap, 4 MiB".to_owned(), || incognito(problem, JudgeKind::Bitmap(BitmapOptions::BEST)))
    })
}

/// A store in memory: what is measured is the work around it.
#[derive(Default)]
struct InMemory(Vec<u8>);

impl Store for InMemory {
    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }

    fn read(&self, place: u64, to: &mut [u8]) -> Result<()> {
        let place = place as usize;
        to.copy_from_slice(&self.0[place..place + to.len()]);
        Ok(())
    }
}

/// Reads value codes out of a table's columns.
fn codes_of(data: &Dataset) -> impl Fn(usize, usize, &mut [u32]) -> Result<()> + Sync {
    |attribute, first, to| {
        to.copy_from_slice(&data.table.columns()[attribute].codes()[first..first + to.len()]);
        Ok(())
    }
}

fn stored(timer: &mut Timer) -> Result<()> {
    let data = landsend()?;
    let n_rows = data.table.n_rows();
    // So little that the least number of keys counts, and so much that the largest does.
    for room in [1 << 15, 1 << 30] {
        let mut middle = levels_of_interest(&data.attributes)[1].1.clone();
        middle[0] = data.attributes.heights()[0];
        timer.part(format!("{room} bytes"), || {
            let store = Box::new(InMemory::default());
            let stored = Stored::new(&data.attributes, n_rows, store, room, codes_of(&data))?;
            count(&stored, &middle)
        })?;
    }
    Ok(())
}

fn packing(timer: &mut Timer) -> Result<()> {
    let data = landsend()?;
    let n_rows = data.table.n_rows();
    timer.part("columns".to_owned(), || Rows::new(&data.table, &data.attributes))?;
    timer
        .part("parts".to_owned(), || Rows::of_parts(&data.attributes, n_rows, Vec::new(), codes_of(&data)))?;
    let lowest = data.attributes.iter().map(|attribute| {
        let numbers: Vec<u8> = (1..=attribute.height()).collect();
        attribute.clone().with_levels(&numbers)
    });
    let lowest = Attributes::new(lowest.collect::<Result<_>>()?)?;
    timer.part("lowest level ruled out".to_owned(), || Rows::new(&data.table, &lowest))?;
    // Distinct records with a sensitive value.
    let adult = Dataset::adult()?;
    for name in ["age", "occupation"] {
        let rows = Rows::new(&adult.table, &first(&adult, 4)?)?.with_sensitive(&adult.table, &[name])?;
        let records = rows.records().ok_or_else(|| Error::input("there are no records"))?;
        let demand = Demand { histograms: vec![0], ..Demand::default() };
        timer.part(format!("distinct records with {name}"), || records.cells(&demand))?;
    }
    Ok(())
}

fn many_rows(timer: &mut Timer) -> Result<()> {
    let data = Dataset::made_up(2_000, 4, 64)?;
    let n_values: Vec<u64> = data.attributes.iter().map(|attribute| attribute.n_values() as u64).collect();
    let read = |attribute: usize, first: usize, to: &mut [u32]| {
        for (to, row_idx) in to.iter_mut().zip(first as u64..) {
            let mixed = (row_idx * 4 + attribute as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
            *to = (mixed % n_values[attribute]) as u32;
        }
        Ok(())
    };
    let rows = Rows::of_parts(&data.attributes, MANY_ROWS, Vec::new(), read)?;
    for (name, levels) in levels_of_interest(&data.attributes) {
        timer.part(format!("count, {name}"), || count(&rows, &levels))?;
    }
    Ok(())
}

/// The best node of lattices that are about as large as those from which on boxes take less time.
fn lattice(timer: &mut Timer) -> Result<()> {
    let loss = find(metric::ALL, "loss").ok_or_else(|| Error::input("there is no metric `loss`"))?.item;
    for (n_levels, n_attributes) in [(6, 7), (8, 6)] {
        let data = Dataset::of_levels(10_000, n_levels)?;
        let attributes = first(&data, n_attributes)?;
        let rows = Rows::new(&data.table, &attributes)?;
        let policy = policy(5, "1%", rows.n_rows())?;
        let problem = Problem { source: &rows, policy: &policy };
        let costs = Costs::new(problem, &attributes)?;
        let run = || {
            if is_quicker_best_first(&attributes.heights()) && has_best_first_search(loss) {
                let found =
                    best_first(problem, &attributes, &costs, loss, Limits::default(), &Progress::new())?;
                return Ok(found.n_judged);
            }
            Ok(optimum(problem, &attributes, &costs, loss, &Progress::new())?.judged.len() as u64)
        };
        one_thread()?.install(|| timer.part(format!("{n_attributes} attributes, {n_levels} levels"), run))?;
    }
    Ok(())
}
