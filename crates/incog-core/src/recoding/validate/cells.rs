//! Local recoding: cells of the same value may become different labels.

use super::{Image, images, values};
use crate::hierarchy::Attributes;
use crate::recoding::PerGroup;
use crate::table::Table;

/// Cell generalization: every cell becomes itself or an ancestor, and the records of a group look alike.
pub fn check_cell_generalization(
    recoding: &PerGroup,
    table: &Table,
    attributes: &Attributes,
) -> Result<(), String> {
    let values = values(recoding, table, attributes)?;
    let mut of_group: Vec<Option<Image>> = vec![None; recoding.n_groups()];
    for (record, image) in images(recoding, &values, attributes)?.into_iter().enumerate() {
        let (Some(group), Some(image)) = (recoding.group_of(record), image) else { continue };
        match &of_group[group] {
            Some(first) if *first != image => {
                return Err(format!("record {} looks unlike the first of its group", record + 1));
            }
            Some(_) => {}
            None => of_group[group] = Some(image),
        }
    }
    Ok(())
}

/// Cell suppression: every cell becomes itself or the top of its hierarchy.
pub fn check_cell_suppression(
    recoding: &PerGroup,
    table: &Table,
    attributes: &Attributes,
) -> Result<(), String> {
    check_cell_generalization(recoding, table, attributes)?;
    for group in 0..recoding.n_groups() {
        for (attribute, &level) in attributes.iter().zip(recoding.levels(group)) {
            if level != 0 && level != attribute.height() {
                return Err(format!(
                    "column `{}`: level {level} is neither the value nor the top",
                    attribute.name()
                ));
            }
        }
    }
    Ok(())
}
