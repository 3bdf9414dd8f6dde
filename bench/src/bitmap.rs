//! Section 5 of the paper on bitmap-based Incognito, and where roll-up overtakes bitmaps.
//!
//! The paper: census data of 5 and 60 MB, four quasi-identifiers of 3, 3, 2 and 4 levels, k from small to large;
//! traditional Incognito has a database sort at every node ([`Tuples`]; `sort of packed keys` is our own judge, which
//! sorts one machine word a row). Here: Adult (3.7 MB) and 16 times as many rows drawn from it (60 MB), with
//! marital status, occupation, race and education. All times include building the index.

use incog_core::Result;
use incog_core::algorithm::Traversal;
use incog_core::frequency::Rows;
use incog_core::judge::{BitmapOptions, CubeOptions, Intersect, JudgeKind, Problem, Stop};
use incog_core::privacy::Policy;

use crate::dataset::Dataset;
use crate::plot::{Series, log_log, write_chart};
use crate::tuples::Tuples;
use crate::{Arguments, Contestant, Measured, race, say};

const NAMES: [&str; 4] = ["marital_status", "occupation", "race", "education"];

const fn incognito(name: &'static str, judge: JudgeKind) -> Contestant {
    Contestant::new(name, Traversal::Incognito, judge)
}

const fn bitmap(name: &'static str, intersect: Intersect, stop: Stop) -> Contestant {
    incognito(name, JudgeKind::Bitmap(BitmapOptions { intersect, stop, memory: None }))
}

const FIELD: [Contestant; 11] = [
    incognito("sort of packed keys", JudgeKind::Sort),
    incognito("hash scan", JudgeKind::Scan),
    incognito("roll-up", JudgeKind::RollUp),
    incognito("super-roots", JudgeKind::SuperRoots),
    incognito("cube", JudgeKind::Cube(CubeOptions::ZERO_LEVEL)),
    bitmap("bitmap, 1-level", Intersect::OneLevel, Stop::AtTheEnd),
    bitmap("bitmap, reusing", Intersect::Reusing, Stop::AtTheEnd),
    bitmap("bitmap, pruning", Intersect::OneLevel, Stop::Early),
    bitmap("bitmap, reusing and pruning", Intersect::Reusing, Stop::Early),
    bitmap("bitmap, depth-first", Intersect::DepthFirst, Stop::AtTheEnd),
    bitmap("bitmap, all (depth-first and pruning)", Intersect::DepthFirst, Stop::Early),
];

pub(crate) fn section_5(arguments: &Arguments) -> Result<()> {
    for n_rows in [None, Some(16 * 45_222)] {
        let data = Dataset::adult_of(&NAMES, n_rows)?;
        let rows = Rows::new(&data.table, &data.attributes)?;
        let keys = data.plain_keys(NAMES.len());
        let mut series: Vec<Series> = Vec::new();
        for k in [2, 10, 50, 250, 1000] {
            let policy = Policy::k_anonymity(k)?;
            let problem = Problem { source: &rows, policy: &policy };
            let field: Vec<Contestant> =
                FIELD.iter().copied().filter(|one| one.name.contains(&arguments.only)).collect();
            // Sorting tuples runs on a source of its own.
            let tuples = Tuples::new(&data);
            let traditional = race(
                arguments.rounds.min(3),
                Problem { source: &tuples, policy: &policy },
                &keys,
                &[incognito("traditional", JudgeKind::Sort)],
            )?;
            let mut measured = race(arguments.rounds, problem, &keys, &field)?;
            measured.splice(0..0, traditional);
            let names = ["traditional: tuples sorted"].into_iter().chain(field.iter().map(|one| one.name));
            say(&format!("\n### {}, {}, k = {k}\n", data.name, NAMES.join(", ")));
            say(
                "| | ms | times faster than traditional | than packed sort | set memory, KiB | AND | OR | count | look-ups |",
            );
            say("|---|---|---|---|---|---|---|---|---|");
            let of = |at: usize| measured[at].as_ref().map_or(0.0, Measured::milliseconds);
            for (at, (name, measured)) in names.zip(measured.iter().flatten()).enumerate() {
                if series.len() == at {
                    series.push(Series { name: name.to_owned(), points: Vec::new() });
                }
                series[at].points.push((k as f64, measured.milliseconds()));
                let (time, work) = (measured.milliseconds(), measured.work);
                say(&format!(
                    "| {name} | {time:.2} | {:.1} | {:.1} | {} | {} | {} | {} | {} |",
                    of(0) / time,
                    of(1) / time,
                    measured.set_bytes / 1024,
                    work.ands,
                    work.ors,
                    work.counts,
                    work.look_ups
                ));
            }
            let holding: Vec<usize> = measured.iter().flatten().map(|measured| measured.holding).collect();
            assert!(holding.windows(2).all(|pair| pair[0] == pair[1]), "they disagree: {holding:?}");
        }
        let chart = log_log(
            &format!("Incognito on {}: time by k", data.name),
            "k",
            "milliseconds, index included",
            &series,
        );
        let file = if n_rows.is_none() { "bitmap-adult.svg" } else { "bitmap-60mb.svg" };
        write_chart(arguments, file, &chart)?;
    }
    Ok(())
}

/// How many times as long bitmaps take as roll-up, by rows and by values a column.
pub(crate) fn crossover(arguments: &Arguments) -> Result<()> {
    const ROWS: [usize; 6] = [1_000, 4_000, 16_000, 64_000, 256_000, 1_024_000];
    let contestants =
        [incognito("roll-up", JudgeKind::RollUp), bitmap("bitmap, all", Intersect::DepthFirst, Stop::Early)];
    say("\n### Bitmaps against roll-up: 4 columns, k = 5, time of bitmaps by that of roll-up\n");
    let heads: Vec<String> = ROWS.iter().map(|n_rows| format!("{n_rows} rows")).collect();
    say(&format!("| values a column | {} |", heads.join(" | ")));
    say(&format!("|---{}|", "|---".repeat(ROWS.len())));
    let mut series = Vec::new();
    for n_values in [2, 4, 8, 16, 32, 64, 128] {
        let mut points = Vec::new();
        for n_rows in ROWS {
            let data = Dataset::made_up(n_rows, 4, n_values)?;
            let rows = Rows::new(&data.table, &data.attributes)?;
            let policy = Policy::k_anonymity(5)?;
            let problem = Problem { source: &rows, policy: &policy };
            let measured = race(arguments.rounds, problem, &data.plain_keys(4), &contestants)?;
            let times: Vec<f64> = measured.iter().flatten().map(Measured::milliseconds).collect();
            points.push((n_rows as f64, times[1] / times[0]));
        }
        let cells: Vec<String> = points.iter().map(|(_, ratio)| format!("{ratio:.2}")).collect();
        say(&format!("| {n_values} | {} |", cells.join(" | ")));
        series.push(Series { name: format!("{n_values} values"), points });
    }
    let chart = log_log(
        "Bitmaps against roll-up: 4 columns, k = 5",
        "rows",
        "time of bitmaps / time of roll-up",
        &series,
    );
    write_chart(arguments, "bitmap-crossover.svg", &chart)
}
