//! Multi-dimension recoding: one function of value vectors.

use std::collections::{BTreeMap, BTreeSet};

use super::{Image, images, values};
use crate::hierarchy::Attributes;
use crate::recoding::PerGroup;
use crate::table::Table;

/// Unrestricted multi-dimension recoding: records with equal values have equal images, or are all left out.
pub fn check_unrestricted_multi(
    recoding: &PerGroup,
    table: &Table,
    attributes: &Attributes,
) -> Result<(), String> {
    function(recoding, table, attributes).map(|_| ())
}

/// Multi-dimension full-subgraph recoding: a function of value vectors that takes all vectors below an image to that image.
/// Vectors that do not occur could be taken somewhere only if images have none in common.
pub fn check_full_subgraph(
    recoding: &PerGroup,
    table: &Table,
    attributes: &Attributes,
) -> Result<(), String> {
    let function = function(recoding, table, attributes)?;
    let images: Vec<&Image> = function.values().flatten().collect::<BTreeSet<_>>().into_iter().collect();
    for (at, image) in images.iter().enumerate() {
        if images[..at].iter().any(|other| have_common_vectors(image, other, attributes)) {
            return Err("two images have value vectors in common".to_owned());
        }
    }
    for values in function.iter().filter(|(_, image)| image.is_none()).map(|(values, _)| values) {
        let itself: Image = values.iter().map(|&value| (0, value)).collect();
        if images.iter().any(|image| have_common_vectors(image, &itself, attributes)) {
            return Err("a vector is left out that lies below an image".to_owned());
        }
    }
    Ok(())
}

/// The image of each value vector; fails if it is no function.
fn function(
    recoding: &PerGroup,
    table: &Table,
    attributes: &Attributes,
) -> Result<BTreeMap<Vec<u32>, Option<Image>>, String> {
    let values = values(recoding, table, attributes)?;
    let mut function: BTreeMap<Vec<u32>, Option<Image>> = BTreeMap::new();
    for (record, (values, image)) in values.iter().zip(images(recoding, &values, attributes)?).enumerate() {
        match function.get(values) {
            Some(first) if *first != image => {
                return Err(format!("record {} has the values of another, but not its image", record + 1));
            }
            Some(_) => {}
            None => {
                function.insert(values.clone(), image);
            }
        }
    }
    Ok(function)
}

/// Have two products of subtrees a leaf vector in common? They have if in each attribute one subtree lies in the other.
fn have_common_vectors(a: &Image, b: &Image, attributes: &Attributes) -> bool {
    a.iter().zip(b).zip(attributes.iter()).all(|((&(low, label), &(high, other)), attribute)| {
        let ((low, label), (high, other)) =
            if low <= high { ((low, label), (high, other)) } else { ((high, other), (low, label)) };
        attribute.hierarchy().generalize(label, low, high) == other
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hierarchy::{Attribute, Hierarchy};
    use crate::table::{Column, Role};

    /// Two columns of two values each; all four vectors occur, the first twice.
    fn check(groups: &[[u8; 2]], of_record: [Option<u32>; 5]) -> [bool; 2] {
        let cells = [["a", "a", "a", "b", "b"], ["x", "x", "y", "x", "y"]];
        let columns = ["q0", "q1"]
            .into_iter()
            .zip(cells)
            .map(|(name, cells)| Column::from_cells(name, Role::QuasiIdentifier, cells).unwrap());
        let table = Table::new(columns.collect()).unwrap();
        let bind = |column: &Column| {
            let hierarchy = Hierarchy::suppression(column.dictionary().values());
            Attribute::bind(column, hierarchy, "test").unwrap()
        };
        let attributes = Attributes::new(table.columns().iter().map(bind).collect()).unwrap();
        let recoding = PerGroup::new(2, groups, of_record).unwrap();
        [
            check_unrestricted_multi(&recoding, &table, &attributes).is_ok(),
            check_full_subgraph(&recoding, &table, &attributes).is_ok(),
        ]
    }

    #[test]
    fn equal_vectors_have_equal_images() {
        let levels = [[0, 0], [0, 1], [1, 1]];
        assert_eq!(check(&levels, [Some(1), Some(1), Some(1), Some(1), Some(1)]), [true, true]);
        assert_eq!(check(&levels, [Some(0), Some(1), Some(1), Some(1), Some(1)]), [false, false]);
        assert_eq!(check(&levels, [None, Some(1), Some(1), Some(1), Some(1)]), [false, false]);
    }

    #[test]
    fn all_vectors_below_an_image_have_it() {
        let levels = [[0, 0], [0, 1], [1, 1]];
        // <a, *> and <*, *> overlap.
        assert_eq!(check(&levels, [Some(1), Some(1), Some(1), Some(2), Some(2)]), [true, false]);
        // <a, y> as it is, though <a, x> goes to <a, *>.
        assert_eq!(check(&levels, [Some(1), Some(1), Some(0), Some(1), Some(1)]), [true, false]);
        // <b, *> is left out as a whole, or only half of it.
        assert_eq!(check(&levels, [Some(1), Some(1), Some(1), None, None]), [true, true]);
        assert_eq!(check(&levels, [Some(1), Some(1), Some(1), Some(1), None]), [true, false]);
    }
}
