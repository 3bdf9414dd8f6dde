//! Unrestricted single-dimension recoding: each value goes to itself or to an ancestor.

use crate::hierarchy::Attributes;
use crate::recoding::PerValue;

/// Has every value of every attribute one level, and one that exists?
///
/// A label at a level of the hierarchy is the value itself or its ancestor, so that is all. Says what is wrong, and where.
pub fn check_unrestricted(recoding: &PerValue, attributes: &Attributes) -> Result<(), String> {
    if recoding.n_attributes() != attributes.len() {
        return Err(format!("a recoding of {} attributes for {}", recoding.n_attributes(), attributes.len()));
    }
    for (at, attribute) in attributes.iter().enumerate() {
        let levels = recoding.levels(at);
        if levels.len() != attribute.n_values() {
            return Err(format!("column `{}`: not one level for each value", attribute.name()));
        }
        if let Some(level) = levels.iter().find(|&&level| level > attribute.height()) {
            return Err(format!("column `{}`: there is no level {level}", attribute.name()));
        }
    }
    Ok(())
}
