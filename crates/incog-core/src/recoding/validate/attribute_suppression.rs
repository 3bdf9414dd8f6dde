//! Attribute suppression: a column is as collected, or one label throughout.

use crate::hierarchy::Attributes;

/// Is every attribute as collected or at a level with a single label?
///
/// An attribute whose hierarchy has several labels at its top cannot be suppressed. Says what is wrong, and where.
pub fn check_attribute_suppression(levels: &[u8], attributes: &Attributes) -> Result<(), String> {
    if levels.len() != attributes.len() {
        return Err(format!("{} levels for {} attributes", levels.len(), attributes.len()));
    }
    for (&level, attribute) in levels.iter().zip(attributes.iter()) {
        let name = attribute.name();
        if level > attribute.height() {
            return Err(format!("column `{name}`: there is no level {level}"));
        }
        let is_suppressed = level == attribute.height() && attribute.hierarchy().labels(level).len() <= 1;
        if attribute.level_number(level) != 0 && !is_suppressed {
            return Err(format!("column `{name}` is neither as collected nor suppressed"));
        }
    }
    Ok(())
}
