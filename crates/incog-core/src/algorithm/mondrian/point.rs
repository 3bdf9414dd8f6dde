//! The positions of an entry in all attributes, in as few bytes as they fit into: what is moved about and compared most.

/// Some rows of a cell.
#[derive(Debug, Clone)]
pub(super) struct PartEntry<P> {
    /// Where the cell is in each attribute.
    pub(super) place: P,
    pub(super) cell: u32,
    pub(super) rows: u32,
}

/// A point: one position for each attribute.
pub(super) trait Point: Clone + Send + Sync {
    /// The first attributes at the given positions, the others at position 0.
    fn new(positions: impl ExactSizeIterator<Item = u32>) -> Self;
    /// The position in one attribute.
    fn at(&self, axis: usize) -> u32;
    /// Another position in one attribute.
    fn set(&mut self, axis: usize, position: u32);
    /// The least and the greatest position in each attribute, of at least one entry.
    fn extents(entries: &[PartEntry<Self>]) -> (Self, Self);
}

/// Entries that are looked at together.
const BLOCK: usize = 16;

/// Arrays: attributes that are not there are at position 0.
macro_rules! place {
    ($number:ty, $length:literal) => {
        impl Point for [$number; $length] {
            fn new(positions: impl ExactSizeIterator<Item = u32>) -> Self {
                debug_assert!(positions.len() <= $length);
                let mut place = [0; $length];
                for (own, position) in place.iter_mut().zip(positions) {
                    debug_assert!(<$number>::try_from(position).is_ok());
                    *own = position as $number;
                }
                place
            }

            fn at(&self, axis: usize) -> u32 {
                u32::from(self[axis])
            }

            fn set(&mut self, axis: usize, position: u32) {
                debug_assert!(<$number>::try_from(position).is_ok());
                self[axis] = position as $number;
            }

            // Positions side by side in a block, so that the compiler sees that it is one minimum of many numbers.
            fn extents(entries: &[PartEntry<Self>]) -> (Self, Self) {
                let mut least = [entries[0].place; BLOCK];
                let mut greatest = least;
                for entries in entries.chunks(BLOCK) {
                    let mut block = [entries[0].place; BLOCK];
                    for (place, entry) in block.iter_mut().zip(entries) {
                        *place = entry.place;
                    }
                    for (own, &other) in least.as_flattened_mut().iter_mut().zip(block.as_flattened()) {
                        *own = other.min(*own);
                    }
                    for (own, &other) in greatest.as_flattened_mut().iter_mut().zip(block.as_flattened()) {
                        *own = other.max(*own);
                    }
                }
                let (mut low, mut high) = (least[0], greatest[0]);
                for (least, greatest) in least.iter().zip(&greatest) {
                    for at in 0..$length {
                        low[at] = low[at].min(least[at]);
                        high[at] = high[at].max(greatest[at]);
                    }
                }
                (low, high)
            }
        }
    };
}

place!(u8, 8);
place!(u16, 8);
place!(u32, 8);
place!(u16, 16);

/// Anything else.
impl Point for Box<[u32]> {
    fn new(positions: impl ExactSizeIterator<Item = u32>) -> Self {
        positions.collect()
    }

    fn at(&self, axis: usize) -> u32 {
        self[axis]
    }

    fn set(&mut self, axis: usize, position: u32) {
        self[axis] = position;
    }

    fn extents(entries: &[PartEntry<Self>]) -> (Self, Self) {
        let (mut least, mut greatest) = (entries[0].place.clone(), entries[0].place.clone());
        for entry in entries {
            for ((least, greatest), &position) in least.iter_mut().zip(&mut greatest).zip(&entry.place) {
                *least = position.min(*least);
                *greatest = position.max(*greatest);
            }
        }
        (least, greatest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extents<P: Point>(places: &[[u32; 3]]) -> Vec<[u32; 2]> {
        let entry = |place: &[u32; 3]| PartEntry { place: P::new(place.iter().copied()), cell: 0, rows: 1 };
        let entries: Vec<PartEntry<P>> = places.iter().map(entry).collect();
        let (least, greatest) = P::extents(&entries);
        (0..3).map(|at| [least.at(at), greatest.at(at)]).collect()
    }

    #[test]
    fn every_kind_of_place_finds_the_same_extents() {
        for n in [1, 2, 15, 16, 17, 33] {
            let places: Vec<[u32; 3]> = (0..n).map(|at| [at * 7 % 31, 255 - at, 5]).collect();
            let of = |at: usize| places.iter().map(move |place| place[at]);
            let naive: Vec<[u32; 2]> =
                (0..3).map(|at| [of(at).min().unwrap(), of(at).max().unwrap()]).collect();
            assert_eq!(extents::<[u8; 8]>(&places), naive);
            assert_eq!(extents::<[u16; 8]>(&places), naive);
            assert_eq!(extents::<[u32; 8]>(&places), naive);
            assert_eq!(extents::<[u16; 16]>(&places), naive);
            assert_eq!(extents::<Box<[u32]>>(&places), naive);
        }
    }
}
