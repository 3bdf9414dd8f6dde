//! Every judge on every case of the benchmarks, against the one that `judge::choose` picks.

use std::time::Instant;

use incog_core::Result;
use incog_core::algorithm::Traversal;
use incog_core::frequency::Rows;
use incog_core::hierarchy::Attributes;
use incog_core::judge::{self, BitmapOptions, CubeOptions, JudgeKind, Materialize, Problem};
use incog_core::privacy::Policy;

use crate::dataset::Dataset;
use crate::{Arguments, Contestant, Measured, race, say};

/// What may be chosen. Sorting and scanning at every node never pay; `scan` is here to show it.
const FIELD: [Contestant; 5] = [
    contestant("scan", JudgeKind::Scan),
    contestant("roll-up", JudgeKind::RollUp),
    contestant("super-roots", JudgeKind::SuperRoots),
    contestant(
        "cube",
        JudgeKind::Cube(CubeOptions { materialize: Materialize::ZeroLevel, memory: Some(1 << 30) }),
    ),
    contestant("bitmap", JudgeKind::Bitmap(BitmapOptions { memory: Some(1 << 30), ..BitmapOptions::BEST })),
];

const fn contestant(name: &'static str, judge: JudgeKind) -> Contestant {
    Contestant::new(name, Traversal::Incognito, judge)
}

pub(crate) fn suite(arguments: &Arguments) -> Result<()> {
    say("\n### The chosen judge against the others (ms, Incognito)\n");
    let names: Vec<&str> = FIELD.iter().map(|one| one.name).collect();
    say(&format!(
        "| case | k | suppression | {} | chosen | choosing | to the best | estimates (roll-up, cube, bitmap) |",
        names.join(" | ")
    ));
    say(&format!("|---|---|---{}|---|---|---|---|", "|---".repeat(FIELD.len())));
    let mut worst = 0.0_f64;
    let mut cases = |data: &Dataset, n_attributes: usize, settings: &[(u64, u64)]| -> Result<()> {
        if !format!("{}, {n_attributes}", data.name).contains(&arguments.only) {
            return Ok(());
        }
        for &(k, percent) in settings {
            worst = worst.max(case(arguments, data, n_attributes, k, percent)?);
        }
        Ok(())
    };
    let adult = Dataset::adult()?;
    for n_attributes in 3..=9 {
        cases(&adult, n_attributes, &[(2, 0), (10, 0), (5, 1)])?;
    }
    let census = ["marital_status", "occupation", "race", "education"];
    for n_rows in [None, Some(16 * 45_222)] {
        cases(&Dataset::adult_of(&census, n_rows)?, 4, &[(2, 0), (50, 0), (1000, 0)])?;
    }
    for (n_rows, n_attributes, n_values) in [
        (1_000, 4, 4),
        (1_000, 4, 64),
        (1_000, 12, 2),
        (50_000, 12, 2),
        (50_000, 16, 2),
        (50_000, 8, 4),
        (500_000, 12, 2),
        (500_000, 6, 8),
    ] {
        cases(&Dataset::made_up(n_rows, n_attributes, n_values)?, n_attributes, &[(5, 0), (50, 0)])?;
    }
    if arguments.landsend_rows > 0 && "Lands End".contains(&arguments.only) {
        let landsend = Dataset::landsend(arguments.landsend_rows)?;
        for n_attributes in 3..=8 {
            cases(&landsend, n_attributes, &[(2, 0), (10, 0)])?;
        }
    }
    say(&format!("\nthe chosen judge took at most {worst:.2} times as long as the best"));
    Ok(())
}

/// Prints a line and says how many times as long as the best the chosen one took.
fn case(arguments: &Arguments, data: &Dataset, n_attributes: usize, k: u64, percent: u64) -> Result<f64> {
    let attributes = Attributes::new(data.attributes[..n_attributes].to_vec())?;
    let rows = Rows::new(&data.table, &attributes)?;
    let policy = Policy::k_anonymity(k)?.with_budget(data.table.n_rows() as u64 * percent / 100);
    let problem = Problem { source: &rows, policy: &policy };
    let start = Instant::now();
    let chosen = judge::choose(problem, None)?;
    let choosing = start.elapsed().as_secs_f64() * 1000.0;
    let is_large = data.table.n_rows() > 1_000_000;
    // What cannot win on millions of rows would take minutes.
    let field: Vec<Contestant> = FIELD
        .iter()
        .copied()
        .filter(|one| !is_large || matches!(one.judge, JudgeKind::RollUp | JudgeKind::SuperRoots))
        .collect();
    let measured = race(arguments.rounds, problem, &data.plain_keys(n_attributes), &field)?;
    let times: Vec<f64> = measured.iter().flatten().map(Measured::milliseconds).collect();
    let is_chosen = |one: &Contestant| std::mem::discriminant(&one.judge) == std::mem::discriminant(&chosen);
    let at = field.iter().position(is_chosen).expect("what is chosen is in the field");
    let best = times.iter().copied().fold(f64::INFINITY, f64::min);
    let cells: Vec<String> = FIELD
        .iter()
        .map(|one| {
            let at = field.iter().position(|other| other.name == one.name);
            at.map_or("–".to_owned(), |at| format!("{:.2}", times[at]))
        })
        .collect();
    let ratio = times[at] / best;
    let estimates = judge::estimate(problem, None)?;
    let estimates: Vec<String> = [estimates.roll_up, estimates.cube, estimates.bitmap]
        .into_iter()
        .map(|cost| cost.map_or("–".to_owned(), |cost| format!("{:.2}", cost / 1e6)))
        .collect();
    say(&format!(
        "| {}, {n_attributes} | {k} | {percent} % | {} | {} | {choosing:.3} | {ratio:.2} | {} |",
        data.name,
        cells.join(" | "),
        field[at].name,
        estimates.join(", ")
    ));
    Ok(ratio)
}
