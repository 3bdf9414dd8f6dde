//! The benchmark: one table per run, all ratios to one plain group-by of the same run.
//!
//! The machine is noisy, so seconds mean little; a ratio to the same work done by the same process means more.
//! *Base* is a hash table, presized to the number of rows, that counts the distinct keys of all rows at level 0.
//! Every figure is the least of several rounds in which base and all contestants take turns.
#![forbid(unsafe_code)]

mod alpha;
mod bitmap;
mod choose;
mod dataset;
mod fast;
mod growth;
mod local;
mod models;
mod mondrian;
mod plot;
mod relational;
mod table;
mod tuning;
mod tuples;

use std::hint::black_box;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::{Parser, ValueEnum};
use dataset::Dataset;
use incog_core::algorithm::{Marking, OneLabel, Search, Traversal};
use incog_core::frequency::Rows;
use incog_core::hierarchy::Attributes;
use incog_core::judge::{CubeOptions, JudgeKind, Materialize, Problem, Work};
use incog_core::privacy::Policy;
use incog_core::{Progress, Result};
use table::Table;

/// Benchmarks of incog: ratios to one hash group-by of all rows in the same run.
#[derive(Debug, Clone, Parser)]
struct Arguments {
    /// What to run
    #[arg(value_enum, default_value_t = Suite::All)]
    suite: Suite,
    /// Rows of the Lands End table
    #[arg(long, default_value_t = 4_591_581)]
    landsend_rows: usize,
    /// Rounds, of which the fastest counts
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Only contestants whose name contains this
    #[arg(long, default_value = "")]
    only: String,
    /// Only this number of attributes, where attributes vary
    #[arg(long)]
    attributes: Option<usize>,
    /// Where charts go
    #[arg(long, default_value = "bench/results")]
    plots: PathBuf,
    /// Where `fast` and `tuning` write their figures as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Skip contestants that took longer than this many times base with fewer attributes, or rows, or nodes
    #[arg(long, default_value_t = 100_000.0)]
    patience: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Suite {
    /// Everything below
    All,
    /// Figure 10: Adult, 3 to 9 attributes, k = 2 and 10
    Adult,
    /// Figure 11: Adult, 8 attributes, k = 2 to 50
    AdultK,
    /// Figure 10: Lands End, 3 to 8 attributes, k = 2 and 10
    Landsend,
    /// Figure 11: Lands End, 6 attributes unless `--attributes` says otherwise, k = 2 to 50
    LandsendK,
    /// Figure 12: the cube's build cost apart, and materialized levels
    Cube,
    /// Section 5 of the paper on bitmap-based Incognito: Adult, and Adult resampled to 60 MB
    Bitmap,
    /// Where roll-up overtakes bitmaps, by rows and values
    Crossover,
    /// Figures 2 and 3 of the paper on (α,k)-anonymity: eIncognito and Top-Down
    Alpha,
    /// Section 6 of the paper on multirelational k-anonymity: MiRaCle, MiRaCleX and bitmaps on 1,000 students
    Relational,
    /// Mondrian: Adult and Lands End, 8 attributes, k = 10 (`--only adult` leaves Lands End out)
    Mondrian,
    /// Recoding models on Adult: time, loss and, with `--features memory`, peak memory
    Models,
    /// The best node and all nodes, Adult and Lands End, k = 5 (`--only adult` leaves Lands End out)
    Fast,
    /// How time grows with rows, quasi-identifiers, k, suppression and lattice (`--only k` is one of them)
    Growth,
    /// Local recoding on Adult and Lands End: loss and time (`--only adult` leaves Lands End out)
    Local,
    /// Every judge on every case against the one that is chosen
    Choose,
    /// One short case, named by `--only`, for `bench/tuning.py`; no part of `all`
    Tuning,
}

/// An algorithm of the paper: a traversal with a judge.
#[derive(Debug, Clone, Copy)]
struct Contestant {
    name: &'static str,
    algorithm: Traversal,
    judge: JudgeKind,
    /// What Incognito does with an attribute at a level of a single label.
    one_label: OneLabel,
}

impl Contestant {
    const fn new(name: &'static str, algorithm: Traversal, judge: JudgeKind) -> Self {
        Contestant { name, algorithm, judge, one_label: OneLabel::TakeOver }
    }

    /// The same under another name, every candidate grouped as the paper does.
    const fn to_the_letter(self, name: &'static str) -> Self {
        Contestant { name, one_label: OneLabel::Group, ..self }
    }
}

const BOTTOM_UP: Contestant = Contestant::new("bottom-up", Traversal::BottomUp, JudgeKind::Scan);
const BOTTOM_UP_SORT: Contestant = Contestant::new("bottom-up sort", Traversal::BottomUp, JudgeKind::Sort);
const BOTTOM_UP_ROLL_UP: Contestant =
    Contestant::new("bottom-up roll-up", Traversal::BottomUp, JudgeKind::RollUp);
const BINARY: Contestant = Contestant::new("binary search", Traversal::Samarati, JudgeKind::Scan);
const BASIC: Contestant = Contestant::new("basic Incognito", Traversal::Incognito, JudgeKind::RollUp);
const SUPER_ROOTS: Contestant =
    Contestant::new("super-roots Incognito", Traversal::Incognito, JudgeKind::SuperRoots);
const CUBE: Contestant =
    Contestant::new("cube Incognito", Traversal::Incognito, JudgeKind::Cube(CubeOptions::ZERO_LEVEL));

const PAPER: [Contestant; 10] = [
    BOTTOM_UP,
    BOTTOM_UP_SORT,
    BOTTOM_UP_ROLL_UP,
    BINARY,
    BASIC,
    CUBE,
    SUPER_ROOTS,
    BASIC.to_the_letter("basic, to the letter"),
    CUBE.to_the_letter("cube, to the letter"),
    SUPER_ROOTS.to_the_letter("super-roots, to the letter"),
];

/// On Lands End contestants that took longer, in times base, are not measured with more attributes.
const LANDSEND_PATIENCE: f64 = 300.0;

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    if arguments.suite == Suite::Tuning {
        return tuning::suite(&arguments);
    }
    let runs = |suite| arguments.suite == suite || arguments.suite == Suite::All;
    say(&dataset::machine());
    if runs(Suite::Adult) || runs(Suite::AdultK) || runs(Suite::Cube) {
        let adult = Dataset::adult()?;
        if runs(Suite::Adult) {
            for k in [2, 10] {
                by_attributes(&arguments, &adult, k, &PAPER)?;
            }
        }
        if runs(Suite::AdultK) {
            by_k(&arguments, &adult, 8, &PAPER)?;
        }
        if runs(Suite::Cube) {
            cube(&arguments, &adult, None)?;
        }
    }
    if runs(Suite::Landsend) || runs(Suite::LandsendK) || runs(Suite::Cube) {
        let landsend = Dataset::landsend(arguments.landsend_rows)?;
        // All zero-level sets of the eight attributes would take over 8 GiB.
        let bound = 1 << 30;
        let options = CubeOptions { materialize: Materialize::ZeroLevel, memory: Some(bound) };
        let bounded = Contestant { name: "cube Incognito (1 GiB)", judge: JudgeKind::Cube(options), ..CUBE };
        let field = [BOTTOM_UP_ROLL_UP, BINARY, BASIC, bounded, SUPER_ROOTS];
        if runs(Suite::Landsend) {
            // A base is a quarter of a second: those without pruning by subsets are left out once they are not bearable.
            let bearable =
                Arguments { patience: arguments.patience.min(LANDSEND_PATIENCE), ..arguments.clone() };
            for k in [2, 10] {
                by_attributes(&bearable, &landsend, k, &field)?;
            }
        }
        if runs(Suite::LandsendK) {
            by_k(&arguments, &landsend, arguments.attributes.unwrap_or(6), &field)?;
        }
        if runs(Suite::Cube) {
            cube(&arguments, &landsend, Some(bound))?;
        }
    }
    if runs(Suite::Bitmap) {
        bitmap::section_5(&arguments)?;
    }
    if runs(Suite::Crossover) {
        bitmap::crossover(&arguments)?;
    }
    if runs(Suite::Alpha) {
        alpha::suite(&arguments)?;
    }
    if runs(Suite::Relational) {
        relational::suite(&arguments)?;
    }
    if runs(Suite::Mondrian) {
        mondrian::suite(&arguments)?;
    }
    if runs(Suite::Models) {
        models::suite(&arguments)?;
    }
    if runs(Suite::Fast) {
        fast::suite(&arguments)?;
    }
    if runs(Suite::Growth) {
        growth::suite(&arguments)?;
    }
    if runs(Suite::Local) {
        local::suite(&arguments)?;
    }
    if runs(Suite::Choose) {
        choose::suite(&arguments)?;
    }
    say(&format!("\npeak memory of the whole run: {}", dataset::peak_memory()));
    Ok(())
}

#[expect(clippy::print_stdout, reason = "the report is the output")]
fn say(text: &str) {
    println!("{text}");
}

/// The best of several rounds: base, then each contestant, over and over.
fn compare(
    arguments: &Arguments,
    data: &Dataset,
    n_attributes: usize,
    k: u64,
    contestants: &[Contestant],
) -> Result<Vec<Option<Measured>>> {
    let attributes = Attributes::new(data.attributes[..n_attributes].to_vec())?;
    let rows = Rows::new(&data.table, &attributes)?;
    let policy = Policy::k_anonymity(k)?;
    let keys = data.plain_keys(n_attributes);
    let problem = Problem { source: &rows, policy: &policy };
    race(arguments.rounds, problem, &keys, contestants)
}

/// The same for any problem; `keys` are what base groups.
fn race(
    rounds: usize,
    problem: Problem<'_>,
    keys: &[u64],
    contestants: &[Contestant],
) -> Result<Vec<Option<Measured>>> {
    let mut base = Duration::MAX;
    let mut best: Vec<Option<Measured>> = contestants.iter().map(|_| None).collect();
    let begin = Instant::now();
    // What takes microseconds needs more rounds for a fastest one that is no accident.
    for round in 0..1000 {
        if round >= rounds && begin.elapsed() > Duration::from_millis(100) {
            break;
        }
        base = base.min(time(|| dataset::group_by(keys)));
        for (contestant, best) in contestants.iter().zip(&mut best) {
            // What takes long is measured once: noise is small against it.
            if best
                .as_ref()
                .is_some_and(|best| round > 0 && best.time > 20 * base && best.time.as_secs() >= 1)
            {
                continue;
            }
            let search = Search {
                algorithm: contestant.algorithm,
                judge: contestant.judge,
                marking: Marking::Transitive,
                one_label: contestant.one_label,
                ..Search::incognito()
            };
            let start = Instant::now();
            let judge = contestant.judge.prepare(problem, &Progress::new())?;
            let outcome = search.run_with(&*judge, problem, &Progress::new())?;
            let time = start.elapsed();
            if best.as_ref().is_none_or(|best| time < best.time) {
                *best = Some(Measured {
                    time,
                    base: Duration::ZERO,
                    work: outcome.work,
                    set_bytes: judge.peak_bytes(),
                    holding: outcome.holding.len(),
                });
            }
        }
    }
    for best in best.iter_mut().flatten() {
        best.base = base;
    }
    Ok(best)
}

#[derive(Debug, Clone)]
struct Measured {
    time: Duration,
    base: Duration,
    work: Work,
    /// The most bytes that sets of records took.
    set_bytes: u64,
    holding: usize,
}

impl Measured {
    fn ratio(&self) -> f64 {
        self.time.as_secs_f64() / self.base.as_secs_f64()
    }

    fn milliseconds(&self) -> f64 {
        self.time.as_secs_f64() * 1000.0
    }
}

fn time<T>(work: impl FnOnce() -> T) -> Duration {
    let start = Instant::now();
    black_box(work());
    start.elapsed()
}

/// The contestants that were asked for.
fn field(arguments: &Arguments, contestants: &[Contestant]) -> Vec<Contestant> {
    contestants.iter().copied().filter(|contestant| contestant.name.contains(&arguments.only)).collect()
}

/// The numbers of attributes that were asked for.
fn sizes(arguments: &Arguments, data: &Dataset) -> Vec<usize> {
    (3..=data.attributes.len()).filter(|&n| arguments.attributes.is_none_or(|only| only == n)).collect()
}

fn by_attributes(arguments: &Arguments, data: &Dataset, k: u64, contestants: &[Contestant]) -> Result<()> {
    let contestants = &field(arguments, contestants);
    say(&format!("\n### {}, k = {k}, by number of quasi-identifiers (times base)\n", data.name));
    let mut table = Table::new("attributes", contestants);
    let mut last = vec![0.0; contestants.len()];
    for n_attributes in sizes(arguments, data) {
        // A contestant out of patience stays out: it only gets slower.
        let field: Vec<Contestant> = contestants
            .iter()
            .zip(&last)
            .filter(|(_, last)| **last <= arguments.patience)
            .map(|(c, _)| *c)
            .collect();
        let measured = compare(arguments, data, n_attributes, k, &field)?;
        let mut measured = measured.into_iter();
        let row: Vec<Option<Measured>> = last
            .iter()
            .map(|last| if *last <= arguments.patience { measured.next().flatten() } else { None })
            .collect();
        for (last, cell) in last.iter_mut().zip(&row) {
            *last = cell.as_ref().map_or(*last, Measured::ratio);
        }
        table.row(&n_attributes.to_string(), &row);
    }
    say(&table.render());
    Ok(())
}

fn by_k(
    arguments: &Arguments,
    data: &Dataset,
    n_attributes: usize,
    contestants: &[Contestant],
) -> Result<()> {
    let contestants = &field(arguments, contestants);
    say(&format!("\n### {}, {n_attributes} quasi-identifiers, by k (times base)\n", data.name));
    let mut table = Table::new("k", contestants);
    for k in [2, 5, 10, 25, 50] {
        table.row(&k.to_string(), &compare(arguments, data, n_attributes, k, contestants)?);
    }
    say(&table.render());
    Ok(())
}

/// Figure 12: building the cube and searching with it, apart; then with higher levels materialized too.
fn cube(arguments: &Arguments, data: &Dataset, memory: Option<u64>) -> Result<()> {
    say(&format!("\n### {}, k = 2, cost of the cube (times base)\n", data.name));
    say("| attributes | materialized | build | search | together | groups touched | super-roots |");
    say("|---|---|---|---|---|---|---|");
    for n_attributes in sizes(arguments, data) {
        let attributes = Attributes::new(data.attributes[..n_attributes].to_vec())?;
        let rows = Rows::new(&data.table, &attributes)?;
        let policy = Policy::k_anonymity(2)?;
        let problem = Problem { source: &rows, policy: &policy };
        let super_roots =
            compare(arguments, data, n_attributes, 2, &[SUPER_ROOTS])?.remove(0).expect("measured");
        for (name, materialize) in
            [("level 0", Materialize::ZeroLevel), ("every level", Materialize::EveryLevel)]
        {
            let judge = JudgeKind::Cube(CubeOptions { materialize, memory });
            let search = Search { algorithm: Traversal::Incognito, judge, ..Search::incognito() };
            let (mut build, mut walk) = (Duration::MAX, Duration::MAX);
            let mut work = Work::default();
            for _ in 0..arguments.rounds.min(3) {
                let start = Instant::now();
                let prepared = judge.prepare(problem, &Progress::new())?;
                build = build.min(start.elapsed());
                let start = Instant::now();
                work = search.run_with(&*prepared, problem, &Progress::new())?.work;
                walk = walk.min(start.elapsed());
            }
            let base = super_roots.base.as_secs_f64();
            let (build, walk) = (build.as_secs_f64() / base, walk.as_secs_f64() / base);
            say(&format!(
                "| {n_attributes} | {name} | {build:.1} | {walk:.1} | {:.1} | {} | {:.1} |",
                build + walk,
                work.groups_touched,
                super_roots.ratio()
            ));
        }
    }
    Ok(())
}
