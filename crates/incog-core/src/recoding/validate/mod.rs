//! Is a recoding one of its model?
//!
//! A model of the taxonomy (LeFevre, DeWitt, Ramakrishnan, SIGMOD 2005, section 5) says which changes are allowed at all;
//! whether a policy is satisfied is another question. Each model has a check that knows nothing of how a recoding was found:
//! it looks at every record's labels and at the definition.

mod cells;
mod vectors;

pub use cells::{check_cell_generalization, check_cell_suppression};
pub use vectors::{check_full_subgraph, check_unrestricted_multi};

use crate::hierarchy::Attributes;
use crate::recoding::PerGroup;
use crate::table::{Column, Table};

/// A level and a label for each attribute.
type Image = Vec<(u8, u32)>;

/// The value of each record in each attribute, as labels at level 0.
fn values(recoding: &PerGroup, table: &Table, attributes: &Attributes) -> Result<Vec<Vec<u32>>, String> {
    if recoding.n_records() != table.n_rows() || recoding.n_attributes() != attributes.len() {
        return Err("the recoding is one of another table".to_owned());
    }
    let mut values = vec![Vec::with_capacity(attributes.len()); table.n_rows()];
    for attribute in attributes.iter() {
        let codes = table
            .column(attribute.name())
            .map(Column::codes)
            .ok_or_else(|| format!("the table has no column `{}`", attribute.name()))?;
        for (row, &code) in values.iter_mut().zip(codes) {
            row.push(attribute.labels_at(0)[code as usize]);
        }
    }
    Ok(values)
}

/// What a vector of values becomes at the levels of a group.
fn image(values: &[u32], levels: &[u8], attributes: &Attributes) -> Result<Image, String> {
    let column = |((at, &value), &level): ((usize, &u32), &u8)| {
        let attribute = &attributes[at];
        if level > attribute.height() {
            return Err(format!("column `{}` has no level {level}", attribute.name()));
        }
        Ok((level, attribute.hierarchy().generalize(value, 0, level)))
    };
    values.iter().enumerate().zip(levels).map(column).collect()
}

/// The image of each record; `None` for one that is left out.
fn images(
    recoding: &PerGroup,
    values: &[Vec<u32>],
    attributes: &Attributes,
) -> Result<Vec<Option<Image>>, String> {
    let one = |(record, values): (usize, &Vec<u32>)| {
        let group = recoding.group_of(record);
        group.map(|group| image(values, recoding.levels(group), attributes)).transpose()
    };
    values.iter().enumerate().map(one).collect()
}
