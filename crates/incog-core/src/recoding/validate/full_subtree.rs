//! Single-dimension full-subtree recoding: who maps a value to a label maps everything below that label to it.

use crate::hierarchy::Attributes;
use crate::recoding::PerValue;
use crate::recoding::validate::check_unrestricted;

/// Does the image of every value cover its whole subtree?
///
/// If a value goes to a label above it, every value below that label goes there, and to no other level. Says what is
/// wrong, and where.
pub fn check_full_subtree(recoding: &PerValue, attributes: &Attributes) -> Result<(), String> {
    check_unrestricted(recoding, attributes)?;
    for (at, attribute) in attributes.iter().enumerate() {
        let levels = recoding.levels(at);
        for (value, &level) in levels.iter().enumerate() {
            let labels = attribute.labels_at(level);
            let strays =
                levels.iter().zip(labels).any(|(&other, &label)| label == labels[value] && other != level);
            // A value that is as collected stands for nothing but itself.
            if strays && attribute.level_number(level) > 0 {
                return Err(format!(
                    "column `{}`: a label of level {level} does not cover its whole subtree",
                    attribute.name()
                ));
            }
        }
    }
    Ok(())
}
