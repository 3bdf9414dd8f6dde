//! The positions of an entry in all attributes, in as few bytes as they fit into: what is moved about and compared most.

/// One position for each attribute.
pub(super) trait Place: Clone + Send + Sync {
    /// The first so many attributes at the given positions.
    fn new(positions: impl ExactSizeIterator<Item = u32>) -> Self;
    /// The position in one attribute.
    fn at(&self, axis: usize) -> u32;
    /// Another position in one attribute.
    fn set(&mut self, axis: usize, position: u32);
    /// In each attribute the lower position of both.
    fn lower(&mut self, other: &Self);
    /// In each attribute the higher position of both.
    fn raise(&mut self, other: &Self);
}

/// Arrays: attributes that are not there are at position 0. The compiler makes one instruction of a minimum of eight.
macro_rules! place {
    ($number:ty, $length:literal) => {
        impl Place for [$number; $length] {
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

            fn lower(&mut self, other: &Self) {
                for (own, &other) in self.iter_mut().zip(other) {
                    *own = other.min(*own);
                }
            }

            fn raise(&mut self, other: &Self) {
                for (own, &other) in self.iter_mut().zip(other) {
                    *own = other.max(*own);
                }
            }
        }
    };
}

place!(u8, 8);
place!(u16, 8);
place!(u32, 8);
place!(u16, 16);

/// Anything else.
impl Place for Box<[u32]> {
    fn new(positions: impl ExactSizeIterator<Item = u32>) -> Self {
        positions.collect()
    }

    fn at(&self, axis: usize) -> u32 {
        self[axis]
    }

    fn set(&mut self, axis: usize, position: u32) {
        self[axis] = position;
    }

    fn lower(&mut self, other: &Self) {
        for (own, &other) in self.iter_mut().zip(other) {
            *own = other.min(*own);
        }
    }

    fn raise(&mut self, other: &Self) {
        for (own, &other) in self.iter_mut().zip(other) {
            *own = other.max(*own);
        }
    }
}
