//! Section 6 of the paper on multirelational k-anonymity: MiRaCle and MiRaCleX against clustered bitmaps.
//!
//! 1,000 students with their courses and books, made by `bench/gen_students.py`; at most 150 clusters open at a time. LM and DM
//! are means over five such databases: up to k - 1 persons may be left over in the end, and as each costs 1,000 in DM, the
//! DM of a single one says more about that remainder than about the clusters.
//! Figure 4: LM and DM by k and LM by threshold, the database taken as incomplete. Figure 5: DM by k, taken as complete (which
//! makes a difference to bitmaps only). Figure 6: time by k, as ratios to the fastest in the same run: contestants take
//! turns, the fastest round of each counts. Reading the files is in no figure.
//!
//! Bitmaps run twice in Figure 6: as the sets of bits of `baseline::bitmap` (conversion included), and, as the paper did it, as
//! a table of one column a path that a clustering for tables works through cell by cell (conversion not included). The
//! latter is MiRaCle itself on the one table, so that both sides pay the same for a label.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use incog::unstable::source::{Csv, read_hierarchy};
use incog_core::hierarchy::{Attribute, Hierarchy};
use incog_core::privacy::Fraction;
use incog_core::relational::{Database, ForeignKey, Options, Pairing, Relation, measure, miracle};
use incog_core::table::{Column, Role, Table};
use incog_core::{Error, ErrorKind, Progress, Result};
use incog_testkit::baseline::{Completeness, Parameters, bitmap};

use crate::plot::{Series, linear, log_log, write_chart};
use crate::{Arguments, dataset, say};

const N_STUDENTS: usize = 1_000;
/// Of the generator. The first is its own default, and the one whose runs are timed.
const SEEDS: [u64; 5] = [2009, 1, 2, 3, 4];
const CLUSTER_LIMIT: usize = 150;
const KS: [usize; 9] = [2, 5, 10, 20, 30, 40, 50, 75, 100];
/// Tenths.
const THRESHOLD: u64 = 3;

/// Who clusters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Contestant {
    Trees(Pairing),
    /// Trees of one node: the bitmap as a table.
    Cells,
    Bitmap(Completeness),
}

impl Contestant {
    fn name(self) -> &'static str {
        match self {
            Contestant::Trees(Pairing::Record) => "MiRaCleX",
            Contestant::Trees(_) => "MiRaCle",
            Contestant::Cells => "bitmap as a table",
            Contestant::Bitmap(Completeness::Incomplete) => "bitmap",
            Contestant::Bitmap(Completeness::Complete) => "bitmap, complete",
        }
    }
}

const TREES: Contestant = Contestant::Trees(Pairing::Subtree);
const TREES_BY_RECORD: Contestant = Contestant::Trees(Pairing::Record);
const INCOMPLETE: Contestant = Contestant::Bitmap(Completeness::Incomplete);
const COMPLETE: Contestant = Contestant::Bitmap(Completeness::Complete);

/// What one run gave.
#[derive(Debug, Clone, Copy)]
struct Outcome {
    loss: f64,
    discernibility: f64,
    /// DM if clusters with the same tree were told apart.
    apart: f64,
    suppressed: f64,
    time: Duration,
}

/// DM of groups of these sizes; the others of the database are removed.
fn discernibility_of(sizes: impl Iterator<Item = usize>, n_suppressed: usize, n_persons: usize) -> f64 {
    sizes.map(|size| (size * size) as f64).sum::<f64>() + (n_suppressed * n_persons) as f64
}

/// Clusters once. Measuring what it cost is not timed, except for bitmaps, where it takes one pass over the clusters.
fn run(data: &Students, contestant: Contestant, k: usize, threshold: Fraction) -> Result<Outcome> {
    let progress = Progress::new();
    let database = if contestant == Contestant::Cells { &data.bitmap } else { &data.database };
    match contestant {
        Contestant::Trees(_) | Contestant::Cells => {
            let pairing = if let Contestant::Trees(pairing) = contestant { pairing } else { Pairing::Record };
            let options = Options { threshold, cluster_limit: CLUSTER_LIMIT, pairing, ..Options::new(k) };
            let start = Instant::now();
            let clustering = miracle(database, &options, &progress)?;
            let time = start.elapsed();
            let measured = measure(database, &clustering);
            let sizes = clustering.clusters.iter().map(|cluster| cluster.records().len());
            let n_suppressed = clustering.suppressed.len();
            Ok(Outcome {
                loss: measured.loss,
                discernibility: measured.discernibility as f64,
                apart: discernibility_of(sizes, n_suppressed, database.n_persons()),
                suppressed: n_suppressed as f64,
                time,
            })
        }
        Contestant::Bitmap(completeness) => {
            let parameters = Parameters { k, threshold, cluster_limit: CLUSTER_LIMIT };
            let start = Instant::now();
            let found = bitmap(database, completeness, &parameters, &progress)?;
            let time = start.elapsed();
            let sizes = found.clusters.iter().map(|cluster| cluster.members.len());
            let n_suppressed = found.suppressed.len();
            Ok(Outcome {
                loss: found.loss,
                discernibility: found.discernibility as f64,
                apart: discernibility_of(sizes, n_suppressed, database.n_persons()),
                suppressed: n_suppressed as f64,
                time,
            })
        }
    }
}

/// The means over several databases.
fn mean(data: &[Students], contestant: Contestant, k: usize, threshold: Fraction) -> Result<Outcome> {
    let outcomes = data.iter().map(|data| run(data, contestant, k, threshold));
    let outcomes = outcomes.collect::<Result<Vec<Outcome>>>()?;
    let mean = |of: fn(&Outcome) -> f64| outcomes.iter().map(of).sum::<f64>() / outcomes.len() as f64;
    Ok(Outcome {
        loss: mean(|one| one.loss),
        discernibility: mean(|one| one.discernibility),
        apart: mean(|one| one.apart),
        suppressed: mean(|one| one.suppressed),
        time: Duration::from_secs_f64(mean(|one| one.time.as_secs_f64())),
    })
}

pub(crate) fn suite(arguments: &Arguments) -> Result<()> {
    let read = |hierarchies: Hierarchies| {
        SEEDS.iter().map(|&seed| Students::read(N_STUDENTS, seed, hierarchies)).collect::<Result<Vec<_>>>()
    };
    let data = read(Hierarchies::AsMade)?;
    for data in &data {
        let relations = data.database.relations().iter();
        let sizes: Vec<String> =
            relations.map(|relation| format!("{} {}", relation.table.n_rows(), relation.name)).collect();
        let alone = Parameters { k: 1, threshold: fraction(0), cluster_limit: 1 };
        let columns = bitmap(&data.database, Completeness::Incomplete, &alone, &Progress::new())?;
        say(&format!(
            "\nrows: {}; {} bitmap columns, {} rows that a bitmap cannot express",
            sizes.join(", "),
            columns.n_columns,
            columns.surplus_rows
        ));
    }
    let incomplete = [TREES, TREES_BY_RECORD, INCOMPLETE];
    by_k(arguments, &data, "incomplete data", "lm-incomplete", &incomplete, Figure::Loss)?;
    by_threshold(arguments, &data, &incomplete)?;
    by_k(arguments, &data, "incomplete data", "dm-incomplete", &incomplete, Figure::Discernibility)?;
    let complete = [TREES, TREES_BY_RECORD, COMPLETE];
    by_k(arguments, &data, "complete data", "dm-complete", &complete, Figure::Discernibility)?;
    let flat = read(Hierarchies::Flat)?;
    by_k(arguments, &flat, "incomplete data without hierarchies", "lm-flat", &incomplete, Figure::Loss)?;
    time_by_k(arguments, &data[0], &[TREES, TREES_BY_RECORD, Contestant::Cells, INCOMPLETE, COMPLETE])
}

fn fraction(tenths: u64) -> Fraction {
    Fraction::new(tenths, 10).expect("tenths are a fraction")
}

/// What is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Figure {
    Loss,
    Discernibility,
}

impl Figure {
    fn of(self, outcome: &Outcome) -> f64 {
        match self {
            Figure::Loss => outcome.loss,
            Figure::Discernibility => outcome.discernibility,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Figure::Loss => "LM",
            Figure::Discernibility => "DM",
        }
    }

    fn show(self, value: f64) -> String {
        match self {
            Figure::Loss => format!("{value:.3}"),
            Figure::Discernibility => format!("{value:.0}"),
        }
    }
}

/// A table and a chart of all contestants, one row a setting; the last contestant is what the others are compared with.
fn compare(
    arguments: &Arguments,
    figure: Figure,
    (title, x_axis, file): (&str, &str, &str),
    contestants: &[Contestant],
    rows: &[(f64, Vec<Outcome>)],
) -> Result<()> {
    say(&format!("\n### {title}\n"));
    let names: Vec<&str> = contestants.iter().map(|contestant| contestant.name()).collect();
    let (last, others) = names.split_last().expect("there are contestants");
    let shares: Vec<String> = others.iter().map(|name| format!("{name} to {last}")).collect();
    let (last_head, n_more) = match figure {
        Figure::Loss => ("", 0),
        Figure::Discernibility => (" DM if clusters were told apart |", 1),
    };
    say(&format!("| {x_axis} | {} | {} | suppressed |{last_head}", names.join(" | "), shares.join(" | ")));
    say(&format!("|---{}|", "|---".repeat(2 * names.len() + n_more)));
    let mut series: Vec<Series> =
        names.iter().map(|&name| Series { name: name.to_owned(), points: Vec::new() }).collect();
    for (x, outcomes) in rows {
        let values: Vec<f64> = outcomes.iter().map(|outcome| figure.of(outcome)).collect();
        let cells: Vec<String> = values.iter().map(|&value| figure.show(value)).collect();
        let last = values[values.len() - 1];
        let shares: Vec<String> = values[..values.len() - 1]
            .iter()
            .map(|value| format!("{:+.0} %", 100.0 * (value / last - 1.0)))
            .collect();
        let list = |of: &dyn Fn(&Outcome) -> String| outcomes.iter().map(of).collect::<Vec<_>>().join(" / ");
        let suppressed = list(&|one| format!("{:.1}", one.suppressed));
        let last_cell = match figure {
            Figure::Loss => String::new(),
            Figure::Discernibility => format!(" {} |", list(&|one| format!("{:.0}", one.apart))),
        };
        say(&format!("| {x} | {} | {} | {suppressed} |{last_cell}", cells.join(" | "), shares.join(" | ")));
        for (series, value) in series.iter_mut().zip(values) {
            series.points.push((*x, value));
        }
    }
    write_chart(arguments, file, &linear(title, x_axis, figure.name(), &series))
}

fn by_k(
    arguments: &Arguments,
    data: &[Students],
    what: &str,
    file: &str,
    contestants: &[Contestant],
    figure: Figure,
) -> Result<()> {
    let mut rows = Vec::new();
    for k in KS {
        let outcomes = contestants.iter().map(|&contestant| mean(data, contestant, k, fraction(THRESHOLD)));
        rows.push((k as f64, outcomes.collect::<Result<Vec<Outcome>>>()?));
    }
    let title = format!("{} by k, {what}, threshold {:.1}", figure.name(), THRESHOLD as f64 / 10.0);
    let file = format!("relational-{file}.svg");
    compare(arguments, figure, (&title, "k", &file), contestants, &rows)
}

fn by_threshold(arguments: &Arguments, data: &[Students], contestants: &[Contestant]) -> Result<()> {
    let mut rows = Vec::new();
    for tenths in 0..=10 {
        let outcomes = contestants.iter().map(|&contestant| mean(data, contestant, 50, fraction(tenths)));
        rows.push((tenths as f64 / 10.0, outcomes.collect::<Result<Vec<Outcome>>>()?));
    }
    let title = "LM by threshold, incomplete data, k = 50";
    compare(arguments, Figure::Loss, (title, "threshold", "relational-threshold.svg"), contestants, &rows)
}

/// Time of each contestant, which take turns.
fn time_by_k(arguments: &Arguments, data: &Students, contestants: &[Contestant]) -> Result<()> {
    let threshold = fraction(THRESHOLD);
    let title = "Time by k, as ratios to the fastest of the run";
    say(&format!("\n### {title}\n"));
    let names: Vec<&str> = contestants.iter().map(|contestant| contestant.name()).collect();
    say(&format!("| k | fastest | {} |", names.join(" | ")));
    say(&format!("|---{}|", "|---".repeat(names.len() + 1)));
    let mut series: Vec<Series> =
        names.iter().map(|&name| Series { name: name.to_owned(), points: Vec::new() }).collect();
    for k in KS {
        let mut best = vec![Duration::MAX; contestants.len()];
        for _ in 0..arguments.rounds {
            for (best, &contestant) in best.iter_mut().zip(contestants) {
                *best = (*best).min(run(data, contestant, k, threshold)?.time);
            }
        }
        let (table, sets) = (run(data, Contestant::Cells, k, threshold)?, run(data, COMPLETE, k, threshold)?);
        assert_eq!(table.discernibility, sets.discernibility, "the bitmap as a table and as sets disagree");
        let fastest = best.iter().min().copied().unwrap_or_default();
        let ratios: Vec<f64> = best.iter().map(|time| time.as_secs_f64() / fastest.as_secs_f64()).collect();
        let cells: Vec<String> = ratios.iter().map(|ratio| format!("{ratio:.2}")).collect();
        say(&format!("| {k} | {:.2} ms | {} |", fastest.as_secs_f64() * 1000.0, cells.join(" | ")));
        for (series, ratio) in series.iter_mut().zip(ratios) {
            series.points.push((k as f64, ratio));
        }
    }
    let chart = log_log(title, "k", "time / the fastest", &series);
    write_chart(arguments, "relational-time.svg", &chart)
}

/// Which hierarchies are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hierarchies {
    /// Course, department, area; book, course, department, area.
    AsMade,
    /// A value or `*`.
    Flat,
}

/// The students, and their bitmap as a database of one table.
struct Students {
    database: Database,
    bitmap: Database,
}

impl Students {
    /// student → takes → book, made in the target folder, once.
    fn read(n_students: usize, seed: u64, hierarchies: Hierarchies) -> Result<Self> {
        let folder = dataset::project().join(format!("target/bench/students-{n_students}-{seed}"));
        if !folder.exists() {
            make(n_students, seed, &folder)?;
        }
        let relation =
            |name: &str, key: &str, refers_to: Option<(&str, &str)>, quasi_identifier: Option<&str>| {
                let role = |column: &str| {
                    if Some(column) == quasi_identifier { Role::QuasiIdentifier } else { Role::Other }
                };
                let file = folder.join(format!("{name}.csv"));
                let table = Csv::open(&file, Some(b','))?.read(role, &Progress::new())?;
                let mut attributes = Vec::new();
                if let Some(name) = quasi_identifier {
                    let file = folder.join(format!("dgh/{name}.csv"));
                    let column = table.column(name).ok_or_else(|| Error::input("a column is missing"))?;
                    let hierarchy = match hierarchies {
                        Hierarchies::AsMade => read_hierarchy(&file, name)?,
                        Hierarchies::Flat => Hierarchy::suppression(column.dictionary().values()),
                    };
                    attributes.push(Attribute::bind(column, hierarchy, &file.display().to_string())?);
                }
                let foreign_keys = refers_to
                    .map(|(column, table)| ForeignKey { column: column.into(), table: table.into() });
                let foreign_keys = foreign_keys.into_iter().collect();
                Ok(Relation { name: name.into(), table, key: Some(key.into()), foreign_keys, attributes })
            };
        let relations = vec![
            relation("student", "sid", None, None)?,
            relation("takes", "scid", Some(("sid", "student")), Some("course"))?,
            relation("book", "bid", Some(("scid", "takes")), Some("book"))?,
        ];
        let database = Database::new(relations, "student")?;
        Ok(Students { bitmap: bitmap_table(&database)?, database })
    }
}

/// A row a student, and a column of 0 and 1 for each course and each book of a course.
fn bitmap_table(database: &Database) -> Result<Database> {
    let (of_takes, of_books) = (database.parent_rows(1), database.parent_rows(2));
    let course = |row: usize| database.column(1, 0).cell(row);
    let takes = of_takes.iter().enumerate().map(|(row, &student)| (course(row).to_owned(), student));
    let books = of_books.iter().enumerate().map(|(row, &takes)| {
        let path = format!("{}/{}", course(takes as usize), database.column(2, 0).cell(row));
        (path, of_takes[takes as usize])
    });
    let mut paths: BTreeMap<String, Vec<bool>> = BTreeMap::new();
    for (path, student) in takes.chain(books) {
        paths.entry(path).or_insert_with(|| vec![false; database.n_persons()])[student as usize] = true;
    }
    let keys: Vec<String> = (0..database.n_persons()).map(|student| student.to_string()).collect();
    let mut columns = vec![Column::from_cells("sid", Role::Other, keys.iter().map(String::as_str))?];
    let mut attributes = Vec::new();
    for (path, bits) in paths {
        let cells = bits.iter().map(|&bit| if bit { "1" } else { "0" });
        let column = Column::from_cells(path, Role::QuasiIdentifier, cells)?;
        attributes.push(Attribute::bind(&column, Hierarchy::suppression(["0", "1"]), "0 or 1")?);
        columns.push(column);
    }
    let (table, key) = (Table::new(columns)?, Some("sid".to_owned()));
    let relation = Relation { name: "bitmap".into(), table, key, foreign_keys: Vec::new(), attributes };
    Database::new(vec![relation], "bitmap")
}

fn make(n_students: usize, seed: u64, folder: &Path) -> Result<()> {
    let failed = |problem: String| Error::new(ErrorKind::Io, format!("cannot make the students: {problem}"));
    let unfinished: PathBuf = folder.with_extension("part");
    std::fs::create_dir_all(&unfinished).map_err(|error| failed(error.to_string()))?;
    let made = Command::new("python3")
        .arg(dataset::project().join("bench/gen_students.py"))
        .args(["--students", &n_students.to_string(), "--seed", &seed.to_string(), "--out"])
        .arg(&unfinished)
        .status()
        .map_err(|error| failed(error.to_string()))?;
    if !made.success() {
        return Err(failed("bench/gen_students.py failed".into()));
    }
    std::fs::rename(&unfinished, folder).map_err(|error| failed(error.to_string()))
}
