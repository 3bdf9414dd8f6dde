//! How does time grow with rows, quasi-identifiers, k, suppression and the size of the lattice?
//!
//! Each question is a chart of milliseconds, with a table beside it: base (one hash group-by of all rows at level 0), the best
//! node by loss and all nodes as in the suite `fast`, on one thread; and the whole process `incog anonymize`, from a CSV file
//! to a verified release on all cores, if the binary stands beside this one. One thing grows, the rest stays:
//!
//! | chart | table | what grows |
//! |---|---|---|
//! | `growth-rows` | Lands End | rows, evenly spread over the whole table |
//! | `growth-rows-adult` | rows drawn from Adult | rows, and k with them: with the same k, rows drawn many times over would hold as they are |
//! | `growth-attributes` | Adult | quasi-identifiers, the first ones |
//! | `growth-k` | Adult | k |
//! | `growth-suppression` | Adult | the share of rows that may be suppressed |
//! | `growth-lattice` | made up | levels to choose from, of the same hierarchies |
//!
//! What took longer than `--patience` times base is not asked for more: its line ends.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use incog_core::frequency::Rows;
use incog_core::hierarchy::{Attribute, Attributes};
use incog_core::judge::Problem;
use incog_core::lattice::Lattice;
use incog_core::privacy::{Budget, Policy};
use incog_core::{Error, ErrorKind, Result};

use crate::dataset::{self, Dataset};
use crate::fast::{self, Contest};
use crate::plot::{Axis, Scale, Series, chart, milliseconds, number, write_chart};
use crate::{Arguments, say, time};

const K: u64 = 5;
const BUDGETS: [&str; 2] = ["0%", "5%"];
/// The budget of whole runs where it does not grow.
const USUAL: [&str; 1] = ["5%"];
const BASE: &str = "base: one group-by";

pub(crate) fn suite(arguments: &Arguments) -> Result<()> {
    type Draw = fn(&Arguments) -> Result<()>;
    let charts: [(&str, Draw); 6] = [
        ("rows", by_rows),
        ("rows-adult", by_rows_of_adult),
        ("attributes", by_attributes),
        ("k", by_k),
        ("suppression", by_suppression),
        ("lattice", by_lattice),
    ];
    let one = fast::one_thread()?;
    for (name, draw) in charts {
        if arguments.only.is_empty() || arguments.only == name {
            one.install(|| draw(arguments))?;
        }
    }
    Ok(())
}

fn by_rows(arguments: &Arguments) -> Result<()> {
    let all = Dataset::landsend(arguments.landsend_rows)?;
    let n_all = all.table.n_rows();
    let title = format!("Time by rows: Lands End, {} quasi-identifiers, k = {K}", all.attributes.len());
    let mut growth = Growth::new(arguments, title, "rows", Scale::Log);
    let sizes = [10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000];
    for n_rows in sizes.into_iter().filter(|&n_rows| n_rows < n_all).chain([n_all]) {
        let data = all.thinned(n_rows)?;
        growth.measure(n_rows as f64, &Case::of(&data, K), &BUDGETS, &USUAL)?;
    }
    growth.draw("growth-rows.svg")
}

fn by_rows_of_adult(arguments: &Arguments) -> Result<()> {
    let adult = Dataset::adult()?;
    let n_adult = adult.table.n_rows();
    let names: Vec<&str> = adult.attributes.iter().map(Attribute::name).collect();
    let title = format!(
        "Time by rows drawn from Adult: {} quasi-identifiers, k = {K} for each {n_adult} rows",
        names.len()
    );
    let mut growth = Growth::new(arguments, title, "rows", Scale::Log);
    for times in [1, 2, 5, 10, 20, 50, 100] {
        let data = Dataset::adult_of(&names, Some(times * n_adult))?;
        let case = Case::of(&data, K * times as u64);
        growth.measure((times * n_adult) as f64, &case, &BUDGETS, &USUAL)?;
    }
    growth.draw("growth-rows-adult.svg")
}

fn by_attributes(arguments: &Arguments) -> Result<()> {
    let data = Dataset::adult()?;
    let title = format!("Time by quasi-identifiers: {}, k = {K}", data.name);
    let mut growth = Growth::new(arguments, title, "quasi-identifiers", Scale::Linear);
    for n_attributes in 3..=data.attributes.len() {
        growth.measure(
            n_attributes as f64,
            &Case { n_attributes, ..Case::of(&data, K) },
            &BUDGETS,
            &USUAL,
        )?;
    }
    growth.draw("growth-attributes.svg")
}

fn by_k(arguments: &Arguments) -> Result<()> {
    let data = Dataset::adult()?;
    let title = format!("Time by k: {}, {} quasi-identifiers", data.name, data.attributes.len());
    let mut growth = Growth::new(arguments, title, "k", Scale::Log);
    for k in [2, 3, 5, 10, 20, 50, 100] {
        growth.measure(k as f64, &Case::of(&data, k), &BUDGETS, &USUAL)?;
    }
    growth.draw("growth-k.svg")
}

fn by_suppression(arguments: &Arguments) -> Result<()> {
    let data = Dataset::adult()?;
    let n_attributes = data.attributes.len();
    let title = format!("Time by suppression: {}, {n_attributes} quasi-identifiers, k = {K}", data.name);
    let x_axis = "rows that may be suppressed, in percent";
    let mut growth = Growth { single: true, ..Growth::new(arguments, title, x_axis, Scale::Linear) };
    for percent in [0, 1, 2, 5, 10, 15, 20] {
        let budget = [format!("{percent}%")];
        let budget = budget.each_ref().map(String::as_str);
        growth.measure(f64::from(percent), &Case::of(&data, K), &budget, &budget)?;
    }
    growth.draw("growth-suppression.svg")
}

fn by_lattice(arguments: &Arguments) -> Result<()> {
    let n_rows = 45_222;
    let title = format!("Time by size of the lattice: {n_rows} rows made up, 7 quasi-identifiers, k = {K}");
    let mut growth = Growth::new(arguments, title, "nodes of the lattice", Scale::Log);
    for n_levels in [2, 3, 4, 5, 6, 7, 8, 10] {
        let data = Dataset::of_levels(n_rows, n_levels)?;
        let n_nodes = Lattice::new(&data.attributes.heights())?.n_nodes();
        growth.measure(n_nodes as f64, &Case::of(&data, K), &BUDGETS, &USUAL)?;
    }
    growth.draw("growth-lattice.svg")
}

/// What is searched at one point of a chart.
struct Case<'a> {
    data: &'a Dataset,
    n_attributes: usize,
    k: u64,
}

impl<'a> Case<'a> {
    fn of(data: &'a Dataset, k: u64) -> Self {
        Case { data, n_attributes: data.attributes.len(), k }
    }
}

/// A chart in the making.
struct Growth<'a> {
    arguments: &'a Arguments,
    title: String,
    x_axis: &'static str,
    x_scale: Scale,
    /// Is there one budget a point, which then is not told in the names of the lines?
    single: bool,
    series: Vec<Series>,
}

impl<'a> Growth<'a> {
    fn new(arguments: &'a Arguments, title: String, x_axis: &'static str, x_scale: Scale) -> Self {
        Growth { arguments, title, x_axis, x_scale, single: false, series: Vec::new() }
    }

    /// All lines at one point, the searches under each budget and whole runs under each of theirs.
    fn measure(&mut self, x: f64, case: &Case<'_>, budgets: &[&str], whole: &[&str]) -> Result<()> {
        let data = case.data;
        let attributes = Attributes::new(data.attributes[..case.n_attributes].to_vec())?;
        let rows = Rows::new(&data.table, &attributes)?;
        let keys = data.plain_keys(case.n_attributes);
        let mut base = (0..5).map(|_| time(|| dataset::group_by(&keys))).min().unwrap_or_default();
        for percent in budgets {
            let budget = Budget::parse(percent)?.rows(data.table.n_rows() as u64);
            let policy = Policy::k_anonymity(case.k)?.with_budget(budget);
            let problem = Problem { source: &rows, policy: &policy };
            let contests = [
                ("all nodes", fast::complete(problem, &attributes)),
                ("best node", fast::best(problem, &attributes, "loss")),
            ];
            for (name, contest) in contests {
                let name = self.name(name, percent);
                if self.gave_up(&name) {
                    continue;
                }
                let (round, best) = self.time(&keys, contest)?;
                base = base.min(round);
                self.point(&name, x, best);
            }
        }
        self.point(BASE, x, base);
        for percent in whole {
            let name = self.name("whole run", percent);
            if self.gave_up(&name) {
                continue;
            }
            if let Some(time) = whole_run(self.arguments, case, percent)? {
                self.point(&name, x, time);
            }
        }
        Ok(())
    }

    fn time(&self, keys: &[u64], contest: Contest<'_>) -> Result<(Duration, Duration)> {
        // A curve needs less care than a claim.
        let rounds = self.arguments.rounds.min(3);
        let (base, outcomes) = fast::race(rounds, Duration::from_millis(200), keys, &[contest])?;
        Ok((base, outcomes[0].time))
    }

    fn name(&self, what: &str, percent: &str) -> String {
        let percent = percent.trim_end_matches('%');
        if self.single { what.to_owned() } else { format!("{what}, {percent} % suppressed") }
    }

    fn gave_up(&self, name: &str) -> bool {
        let points = |name| self.series.iter().find(|series| series.name == name).map(|one| &one.points);
        let Some(&(x, time)) = points(name).and_then(|points| points.last()) else { return false };
        let base = points(BASE).and_then(|points| points.iter().find(|point| point.0 == x));
        base.is_some_and(|base| time > self.arguments.patience * base.1)
    }

    fn point(&mut self, name: &str, x: f64, time: Duration) {
        let point = (x, 1000.0 * time.as_secs_f64());
        match self.series.iter_mut().find(|series| series.name == name) {
            Some(series) => series.points.push(point),
            None => self.series.push(Series { name: name.to_owned(), points: vec![point] }),
        }
    }

    /// The table to standard output, the chart to its file.
    fn draw(self, file: &str) -> Result<()> {
        say(&format!("\n### {} (milliseconds)\n", self.title));
        let names: Vec<&str> = self.series.iter().map(|series| series.name.as_str()).collect();
        say(&format!("| {} | {} |", self.x_axis, names.join(" | ")));
        say(&format!("|---{}|", "|---".repeat(names.len())));
        let longest = self.series.iter().max_by_key(|series| series.points.len());
        for &(x, _) in longest.iter().flat_map(|series| &series.points) {
            let cells = self.series.iter().map(|series| {
                let point = series.points.iter().find(|point| point.0 == x);
                point.map_or("–".to_owned(), |point| format!("{:.2}", point.1))
            });
            say(&format!("| {x} | {} |", cells.collect::<Vec<_>>().join(" | ")));
        }
        let x_axis = Axis { name: self.x_axis, scale: self.x_scale, mark: number };
        let y_axis = Axis { name: "time", scale: Scale::Log, mark: milliseconds };
        write_chart(self.arguments, file, &chart(&self.title, &x_axis, &y_axis, None, &self.series))
    }
}

/// The fastest of some runs of `incog anonymize` on the same rows and hierarchies, from file to file. Nothing where that
/// binary was not built.
fn whole_run(arguments: &Arguments, case: &Case<'_>, percent: &str) -> Result<Option<Duration>> {
    let failed = |what: &str, error: String| Error::new(ErrorKind::Io, format!("cannot {what}: {error}"));
    let program = std::env::current_exe().map_err(|error| failed("find incog", error.to_string()))?;
    let program = program.with_file_name("incog");
    if !program.exists() {
        return Ok(None);
    }
    let folder = dataset::project().join("target/bench/growth");
    std::fs::create_dir_all(&folder).map_err(|error| failed("make a folder", error.to_string()))?;
    let job = write_files(&folder, case, percent)
        .map_err(|error| failed("write the files of a whole run", error.to_string()))?;
    let mut best = Duration::MAX;
    for _ in 0..arguments.rounds.clamp(1, 3) {
        let start = Instant::now();
        let run = Command::new(&program).arg("anonymize").arg(&job).output();
        let run = run.map_err(|error| failed("start incog", error.to_string()))?;
        best = best.min(start.elapsed());
        if !run.status.success() {
            return Err(failed("anonymize", String::from_utf8_lossy(&run.stderr).into_owned()));
        }
    }
    Ok(Some(best))
}

/// The table, its hierarchies and a job, all anew in a folder; the job's path.
fn write_files(folder: &Path, case: &Case<'_>, percent: &str) -> std::io::Result<PathBuf> {
    let columns = &case.data.table.columns()[..case.n_attributes];
    let mut text = columns.iter().map(|column| quoted(column.name())).collect::<Vec<_>>().join(",");
    text.push('\n');
    for row_idx in 0..case.data.table.n_rows() {
        for (at, column) in columns.iter().enumerate() {
            text.push_str(if at > 0 { "," } else { "" });
            text.push_str(&quoted(column.cell(row_idx)));
        }
        text.push('\n');
    }
    std::fs::write(folder.join("table.csv"), text)?;
    let mut job = format!(
        "[input]\npath = \"table.csv\"\n[output]\npath = \"table.release.csv\"\n\
         [policy]\nk = {}\nsuppression = \"{percent}\"\n",
        case.k
    );
    for (at, attribute) in case.data.attributes[..case.n_attributes].iter().enumerate() {
        let hierarchy = attribute.hierarchy();
        let mut text = String::new();
        for leaf in 0..hierarchy.labels(0).len() as u32 {
            for level in 0..=hierarchy.height() {
                text.push_str(if level > 0 { ";" } else { "" });
                text.push_str(hierarchy.labels(level).value(hierarchy.generalize(leaf, 0, level)));
            }
            text.push('\n');
        }
        std::fs::write(folder.join(format!("{at}.csv")), text)?;
        let _ = write!(
            job,
            "[columns.\"{}\"]\nrole = \"quasi-identifier\"\nhierarchy = {{ file = \"{at}.csv\" }}\n",
            attribute.name()
        );
    }
    let path = folder.join("job.toml");
    std::fs::write(&path, job)?;
    Ok(path)
}

/// A cell as CSV has it.
fn quoted(cell: &str) -> std::borrow::Cow<'_, str> {
    if cell.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", cell.replace('"', "\"\"")).into()
    } else {
        cell.into()
    }
}
