//! One row a person, one Boolean column a value path (section 3.3 of the paper), an approach that loses.
//!
//! *Promise*: each person is in exactly one cluster of at least k members or suppressed, and the members of a cluster have
//! the same row of 1, 0 and `*`. *Why it loses*: a cell is kept or starred, and nothing in between. Math and CS have
//! nothing in common though both are science; a book goes with its course; and a person who has a path twice has it once.
//!
//! 1. A *path* names the values of a row and of the rows above it: Math, and Math/Discrete. The person is the row itself:
//!    each of their own quasi-identifiers is a column a value, and no part of the paths below.
//! 2. In an incomplete database an absent row says nothing. A cluster keeps the paths that all members have; a person's
//!    absent path is `*` to begin with and costs nothing. The distance is the share of 1s of both that are lost.
//! 3. In a complete one an absent row is knowledge. A cluster keeps a column where all members agree, on 1 or on 0. The
//!    distance is the share of columns that are starred in what both have in common.
//! 4. Clusters are made as by [`miracle`](incog_core::relational::miracle()): a person joins the nearest open cluster or opens a
//!    new one, clusters close with k members, leftovers are merged, a last remainder is suppressed.
//!
//! LM is measured over the original quasi-identifier cells, so that it can be compared: a kept path keeps the cells of one
//! row of each member, and every other cell costs 1. (A kept 0 is worth nothing in LM, for which reason the paper compares
//! complete databases by DM only.) *Surplus rows*, those that repeat a path of the same person, are lost before anything
//! is anonymized.
//!
//! Differs from the paper: columns are the paths that occur, not all that could; one that nobody has would always be 0.
//!
//! Cost: persons × open clusters comparisons of sets of one bit a path: two words with the paths of the paper's students.

use std::cmp::Ordering;

use fixedbitset::FixedBitSet;

use incog_core::error::{Error, Result};
use incog_core::hash;
use incog_core::privacy::Fraction;
use incog_core::progress::Progress;
use incog_core::relational::{Database, Trees};

/// Is an absent row knowledge?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Completeness {
    /// Yes: who has no row of a path does not have it.
    Complete,
    /// No: nobody knows.
    Incomplete,
}

/// How to cluster, as in [`Options`](incog_core::relational::Options).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameters {
    /// How many persons share a row, at least.
    pub k: usize,
    /// A person farther than this from every open cluster opens a new one; from 0 to 1.
    pub threshold: Fraction,
    /// Clusters that may be open at a time, at least 1.
    pub cluster_limit: usize,
}

/// A clustered bitmap and what it costs.
#[derive(Debug, Clone, PartialEq)]
pub struct Bitmap {
    /// In the order in which they were closed.
    pub clusters: Vec<BitmapCluster>,
    /// Rows of the person table that are in no cluster, fewer than k.
    pub suppressed: Vec<u32>,
    /// How many different paths there are.
    pub n_columns: usize,
    /// LM over the original quasi-identifier cells of all tables, from 0 to 1.
    pub loss: f64,
    /// DM over persons, by equal rows of the bitmap; a suppressed person costs their number.
    pub discernibility: u64,
    /// Rows that repeat a path of the same person, which no bitmap can express.
    pub surplus_rows: u64,
}

/// Persons with the same row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BitmapCluster {
    /// Rows of the person table.
    pub members: Vec<u32>,
    /// How many columns are 1.
    pub n_ones: usize,
    /// How many columns are 0: none in an incomplete database.
    pub n_zeros: usize,
}

/// Clusters the persons of a database by the paths that they have.
pub fn bitmap(
    database: &Database,
    completeness: Completeness,
    parameters: &Parameters,
    progress: &Progress,
) -> Result<Bitmap> {
    check(database, parameters)?;
    let paths = Paths::new(database, progress)?;
    let mut clusters = Vec::new();
    // Oldest first.
    let mut open: Vec<Cluster> = Vec::new();
    for person in 0..database.n_persons() as u32 {
        progress.check()?;
        let alone = paths.person(person);
        let at = match nearest(&open, &alone, completeness) {
            Some((distance, at))
                if !distance.exceeds(parameters.threshold) || open.len() >= parameters.cluster_limit =>
            {
                open[at].take_in(alone);
                at
            }
            _ => {
                open.push(alone);
                open.len() - 1
            }
        };
        if open[at].members.len() >= parameters.k {
            clusters.push(open.remove(at));
        }
    }
    let suppressed = merge_leftovers(open, completeness, parameters.k, &mut clusters, progress)?;
    Ok(paths.measure(completeness, clusters, suppressed))
}

/// Closes what can be closed; the members of a last cluster that cannot are left.
fn merge_leftovers(
    mut open: Vec<Cluster>,
    completeness: Completeness,
    k: usize,
    clusters: &mut Vec<Cluster>,
    progress: &Progress,
) -> Result<Vec<u32>> {
    while !open.is_empty() {
        let mut oldest = open.remove(0);
        while oldest.members.len() < k {
            progress.check()?;
            let Some((_, at)) = nearest(&open, &oldest, completeness) else {
                return Ok(oldest.members);
            };
            oldest.take_in(open.remove(at));
        }
        clusters.push(oldest);
    }
    Ok(Vec::new())
}

fn nearest(open: &[Cluster], one: &Cluster, completeness: Completeness) -> Option<(Share, usize)> {
    open.iter().map(|cluster| cluster.distance(one, completeness)).zip(0..).min()
}

fn check(database: &Database, parameters: &Parameters) -> Result<()> {
    if parameters.k == 0 {
        return Err(Error::input("k is 0").with_hint("k is the least number of persons that share a row"));
    }
    if parameters.cluster_limit == 0 {
        return Err(Error::input("the cluster limit is 0").with_hint("allow at least 1 open cluster"));
    }
    if parameters.threshold > Fraction::ONE {
        return Err(Error::input("the threshold is above 1").with_hint("distances lie between 0 and 1"));
    }
    if database.n_persons() < parameters.k {
        return Err(Error::input(format!(
            "there are {} persons, fewer than k = {}",
            database.n_persons(),
            parameters.k
        ))
        .with_hint("choose a smaller k"));
    }
    Ok(())
}

/// A share of cells.
#[derive(Debug, Clone, Copy)]
struct Share {
    lost: usize,
    /// Not 0.
    of: usize,
}

impl Share {
    fn exceeds(self, threshold: Fraction) -> bool {
        // A fraction's numbers have at most 18 digits, so the products fit.
        self.lost as u128 * u128::from(threshold.denominator())
            > u128::from(threshold.numerator()) * self.of as u128
    }
}

impl Ord for Share {
    fn cmp(&self, other: &Self) -> Ordering {
        let product = |lost: usize, of: usize| lost as u128 * of as u128;
        product(self.lost, other.of).cmp(&product(other.lost, self.of))
    }
}

impl PartialOrd for Share {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Share {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Share {}

/// Some persons and their common row: 1 where all have a path, 0 where none has, else `*`.
struct Cluster {
    members: Vec<u32>,
    /// Paths that all have.
    all: FixedBitSet,
    n_all: usize,
    /// Paths that some have.
    some: FixedBitSet,
}

impl Cluster {
    fn distance(&self, other: &Cluster, completeness: Completeness) -> Share {
        let common = self.all.intersection_count(&other.all);
        let (lost, of) = match completeness {
            Completeness::Incomplete => {
                let of = self.n_all + other.n_all;
                (of - 2 * common, of)
            }
            Completeness::Complete => (self.some.union_count(&other.some) - common, self.some.len()),
        };
        Share { lost, of: of.max(1) }
    }

    fn take_in(&mut self, other: Cluster) {
        self.members.extend(other.members);
        self.all.intersect_with(&other.all);
        self.n_all = self.all.count_ones(..);
        self.some.union_with(&other.some);
    }
}

/// The columns of the bitmap, and who has which.
struct Paths {
    /// How many quasi-identifier cells a row of each path has.
    n_cells: Vec<u64>,
    /// The distinct paths of person p are `of_persons[starts[p]..starts[p + 1]]`.
    starts: Vec<usize>,
    of_persons: Vec<u32>,
    surplus_rows: u64,
    n_original_cells: u64,
}

/// The path above a path of a child table of the person table.
const PERSON: u32 = u32::MAX;

/// Gives every path a number as it comes.
struct Numbering<'a> {
    trees: &'a Trees<'a>,
    /// By table, then the path above and the values; of the person table, attribute and value.
    numbers: hash::Map<Vec<u32>, u32>,
    n_cells: Vec<u64>,
}

impl Numbering<'_> {
    fn number(&mut self, path: Vec<u32>, n_cells: usize) -> u32 {
        let next = self.n_cells.len() as u32;
        let number = *self.numbers.entry(path).or_insert(next);
        if number == next {
            self.n_cells.push(n_cells as u64);
        }
        number
    }

    /// Adds the paths of all rows below a record, one a row.
    fn below(&mut self, table: usize, record: u32, above: u32, paths: &mut Vec<u32>) {
        let trees = self.trees;
        let database = trees.database();
        for &child in database.children(table) {
            let n_attributes = database.attributes(child).len();
            for &row in trees.children(child, record) {
                let mut path = vec![child as u32, above];
                path.extend((0..n_attributes).map(|at| database.column(child, at).codes()[row as usize]));
                let number = self.number(path, n_attributes);
                paths.push(number);
                self.below(child, row, number, paths);
            }
        }
    }
}

impl Paths {
    fn new(database: &Database, progress: &Progress) -> Result<Self> {
        let trees = Trees::new(database);
        let mut numbering = Numbering { trees: &trees, numbers: hash::Map::default(), n_cells: Vec::new() };
        let (mut starts, mut of_persons, mut surplus_rows) = (vec![0], Vec::new(), 0);
        let table = database.person();
        let mut paths = Vec::new();
        for person in 0..database.n_persons() as u32 {
            progress.check()?;
            for at in 0..database.attributes(table).len() {
                let value = database.column(table, at).codes()[person as usize];
                paths.push(numbering.number(vec![table as u32, at as u32, value], 1));
            }
            numbering.below(table, person, PERSON, &mut paths);
            paths.sort_unstable();
            let n_rows = paths.len();
            paths.dedup();
            surplus_rows += (n_rows - paths.len()) as u64;
            of_persons.append(&mut paths);
            starts.push(of_persons.len());
        }
        let relations = database.relations().iter();
        let n_original_cells =
            relations.map(|relation| relation.table.n_rows() as u64 * relation.attributes.len() as u64).sum();
        Ok(Paths { n_cells: numbering.n_cells, starts, of_persons, surplus_rows, n_original_cells })
    }

    fn person(&self, person: u32) -> Cluster {
        let paths = &self.of_persons[self.starts[person as usize]..self.starts[person as usize + 1]];
        let mut all = FixedBitSet::with_capacity(self.n_cells.len());
        all.extend(paths.iter().map(|&path| path as usize));
        Cluster { members: vec![person], some: all.clone(), all, n_all: paths.len() }
    }

    fn measure(&self, completeness: Completeness, clusters: Vec<Cluster>, suppressed: Vec<u32>) -> Bitmap {
        let mut classes: hash::Map<(&FixedBitSet, Option<&FixedBitSet>), u64> = hash::Map::default();
        let mut n_kept = 0;
        for cluster in &clusters {
            let n_members = cluster.members.len() as u64;
            n_kept += n_members * cluster.all.ones().map(|path| self.n_cells[path]).sum::<u64>();
            let some = (completeness == Completeness::Complete).then_some(&cluster.some);
            *classes.entry((&cluster.all, some)).or_default() += n_members;
        }
        let n_persons = self.starts.len() as u64 - 1;
        let discernibility =
            classes.values().map(|size| size * size).sum::<u64>() + suppressed.len() as u64 * n_persons;
        let n_lost = self.n_original_cells - n_kept;
        let summary = |cluster: Cluster| BitmapCluster {
            n_ones: cluster.n_all,
            n_zeros: match completeness {
                Completeness::Complete => cluster.some.count_zeroes(..),
                Completeness::Incomplete => 0,
            },
            members: cluster.members,
        };
        Bitmap {
            loss: if n_lost == 0 { 0.0 } else { n_lost as f64 / self.n_original_cells as f64 },
            discernibility,
            n_columns: self.n_cells.len(),
            surplus_rows: self.surplus_rows,
            suppressed,
            clusters: clusters.into_iter().map(summary).collect(),
        }
    }
}
