//! What exactly is changed?
//!
//! A search changes no table; its answer is a small [`Recoding`] that says what would change. The kinds follow
//! from one question: what is the smallest thing whose new value is decided at once? A level (full-domain
//! generalization), a value (single-dimension recoding), a group of records (local recoding) or a box of records (ordered
//! domains). One [`Recoding::apply`] serves them all. [`validate`] says of an answer whether it keeps to the rules of its
//! model.

mod per_group;
mod value_table;
mod per_value;
mod domain;
mod per_box;
mod release;
pub mod validate;

pub use domain::{Domain, MAX_SLOTS, Order};
pub use per_box::{Domains, PerBox, Side};
pub use per_group::PerGroup;
pub use per_value::PerValue;
pub use release::Release;
pub(crate) use value_table::{CellSums, Levels, Numbers, Sums, ValueDomain, ValueTable};

use release::Generalized;

use crate::error::{Error, ErrorKind, Result};
use crate::frequency::FrequencySet;
use crate::hierarchy::Attributes;
use crate::judge::Problem;
use crate::lattice::Grouping;
use crate::privacy::Policy;
use crate::table::{Column, Table};

/// How a table is to be changed.
#[derive(Debug, Clone)]
pub enum Recoding {
    /// Every value of an attribute goes to the same level.
    PerLevel(PerLevel),
    /// Every value of an attribute has a level of its own.
    PerValue(PerValue),
    /// Every group of records has levels of its own.
    PerGroup(PerGroup),
    /// Every record is in a box.
    PerBox(PerBox),
}

/// A full-domain generalization with suppressed groups.
#[derive(Debug, Clone)]
pub struct PerLevel {
    levels: Vec<u8>,
    /// The groups whose records are left out, sorted.
    suppressed: FrequencySet,
}

impl PerLevel {
    /// Generalizes to `levels` and leaves out the groups that the policy refuses there.
    ///
    /// Fails when those have more rows than the policy's budget.
    pub fn new(problem: Problem<'_>, levels: &[u8]) -> Result<Self> {
        let grouping = Grouping::of_levels(levels);
        let too_many = match problem.count_within(&grouping)? {
            Ok(set) => return PerLevel::of_groups(problem.policy, levels, &set),
            Err(too_many) => too_many,
        };
        let (mut suppressed, mut rows) = (FrequencySet::empty(problem.source.layout(), &grouping), 0);
        problem.visit_parts(&grouping, too_many, "recoding", &mut |set| {
            let refused = set.select(&problem.policy.refused(set)?);
            rows += refused.measures().rows().iter().sum::<u64>();
            suppressed.append(refused);
            Ok(rows <= problem.policy.budget())
        })?;
        if rows > problem.policy.budget() {
            return Err(does_not_hold());
        }
        Ok(PerLevel { levels: levels.to_vec(), suppressed: suppressed.sorted() })
    }

    /// The same, where the groups at `levels` have been counted.
    pub fn of_groups(policy: &Policy, levels: &[u8], groups: &FrequencySet) -> Result<Self> {
        if *groups.grouping() != Grouping::of_levels(levels) {
            return Err(Error::new(ErrorKind::Internal, "the groups are those of other levels"));
        }
        if !policy.judge(groups)?.holds {
            return Err(does_not_hold());
        }
        let suppressed = groups.select(&policy.refused(groups)?).sorted();
        Ok(PerLevel { levels: levels.to_vec(), suppressed })
    }

    /// The level of each attribute.
    pub fn levels(&self) -> &[u8] {
        &self.levels
    }

    /// The groups that are left out.
    pub fn suppressed(&self) -> &FrequencySet {
        &self.suppressed
    }

    /// Which of some records are released, given a column of value codes per attribute: their positions, ascending. For records
    /// that are in no table.
    pub fn released(&self, columns: &[&[u32]]) -> Vec<u32> {
        let n_records = columns.first().map_or(0, |codes| codes.len() as u32);
        self.suppressed.records_outside(n_records, columns)
    }

    /// How many records are left out.
    pub fn suppressed_rows(&self) -> u64 {
        self.suppressed.measures().rows().iter().sum()
    }
}

fn does_not_hold() -> Error {
    Error::new(ErrorKind::Policy, "the generalization does not satisfy the policy")
}

impl Recoding {
    /// The released table: generalized, without suppressed records and without identifiers. Record order is kept.
    pub fn apply(&self, table: &Table, attributes: &Attributes) -> Result<Release> {
        let columns: Vec<&[u32]> = attributes
            .iter()
            .map(|attribute| {
                table
                    .column(attribute.name())
                    .map(Column::codes)
                    .ok_or_else(|| Error::input(format!("the table has no column `{}`", attribute.name())))
            })
            .collect::<Result<_>>()?;
        table.with_codes()?;
        let n_rows = u32::try_from(table.n_rows())
            .map_err(|_| Error::new(ErrorKind::Limit, "the table has more than 4,294,967,295 rows"))?;
        let of_values = match self {
            Recoding::PerValue(recoding) => Some(recoding.groups(table, attributes)?),
            Recoding::PerLevel(_) | Recoding::PerGroup(_) | Recoding::PerBox(_) => None,
        };
        let (rows, levels) = match self {
            Recoding::PerLevel(recoding) => {
                let rows = recoding.suppressed.records_outside(n_rows, &columns);
                (rows, recoding.levels.iter().map(|&level| Generalized::Alike(level)).collect::<Vec<_>>())
            }
            Recoding::PerGroup(_) | Recoding::PerValue(_) => {
                let recoding = match (self, &of_values) {
                    (Recoding::PerGroup(recoding), _) | (_, Some(recoding)) => recoding,
                    _ => return Err(Error::new(ErrorKind::Internal, "a recoding has no groups")),
                };
                if recoding.n_records() != table.n_rows() || recoding.n_attributes() != attributes.len() {
                    return Err(Error::new(ErrorKind::Internal, "a recoding is applied to another table"));
                }
                let rows: Vec<u32> =
                    (0..n_rows).filter(|&row_idx| recoding.group_of(row_idx as usize).is_some()).collect();
                let level = |row_idx: u32, at: usize| {
                    let group =
                        recoding.group_of(row_idx as usize).expect("only released rows are asked for");
                    recoding.levels(group)[at]
                };
                // A column that is at one level after all has the labels of that level only.
                let generalized = |at| {
                    let mut levels = (0..recoding.n_groups()).map(|group| recoding.levels(group)[at]);
                    match levels.next() {
                        Some(first) if levels.all(|level| level == first) => Generalized::Alike(first),
                        _ => Generalized::ByRow(rows.iter().map(|&row_idx| level(row_idx, at)).collect()),
                    }
                };
                let levels = (0..attributes.len()).map(generalized).collect();
                (rows, levels)
            }
            Recoding::PerBox(recoding) => {
                if recoding.n_records() != table.n_rows() || recoding.domains().len() != attributes.len() {
                    return Err(Error::new(ErrorKind::Internal, "a recoding is applied to another table"));
                }
                let boxes = || (0..table.n_rows()).map(|row_idx| recoding.box_of(row_idx));
                let rows = (0..n_rows).zip(boxes()).filter_map(|(row_idx, of_row)| of_row.map(|_| row_idx));
                let rows: Vec<u32> = rows.collect();
                let generalized = |at| {
                    let (labels, of_box) = recoding.labels(attributes, at);
                    let codes = boxes().flatten().map(|number| of_box[number]).collect();
                    Generalized::Named { labels, codes }
                };
                (rows, (0..attributes.len()).map(generalized).collect())
            }
        };
        Ok(Release::new(table, attributes, levels, rows))
    }
}
