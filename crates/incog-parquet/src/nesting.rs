//! How deep are the columns of a file nested?
//!
//! The decoder builds the tree of a schema by calling itself for each level, so a file of some kilobytes that nests a hundred thousand times
//! overflows the stack, which ends the process at once: nothing can be caught. So the footer is looked through first, in a loop.
//!
//! Only as much of Thrift's compact protocol is read as that takes. Whatever is odd is left to the decoder, which says what is wrong.

/// Deeper than any table, and no depth for the decoder.
const MOST: usize = 64;

/// What fields are, in the compact protocol.
mod kind {
    pub(super) const STOP: u8 = 0;
    pub(super) const TRUE: u8 = 1;
    pub(super) const FALSE: u8 = 2;
    pub(super) const BYTE: u8 = 3;
    pub(super) const I16: u8 = 4;
    pub(super) const I64: u8 = 6;
    pub(super) const DOUBLE: u8 = 7;
    pub(super) const BINARY: u8 = 8;
    pub(super) const LIST: u8 = 9;
    pub(super) const SET: u8 = 10;
    pub(super) const STRUCT: u8 = 12;
}

/// The field of a file's metadata that is its schema: a list, each group before its children.
const SCHEMA: i64 = 2;
/// The field of a schema's entry that says how many children follow.
const N_CHILDREN: i64 = 5;

/// Are columns nested deeper than can be decoded? Given the metadata at the end of a file.
pub(crate) fn is_too_deep(metadata: &[u8]) -> bool {
    depth(&mut Compact { bytes: metadata }).is_some_and(|depth| depth > MOST)
}

/// How deep the schema is; `None` if it cannot be found.
fn depth(compact: &mut Compact<'_>) -> Option<usize> {
    let mut field = 0;
    loop {
        let kind = compact.field(&mut field)?;
        if field == SCHEMA && kind == kind::LIST {
            break;
        }
        compact.skip(kind, 0)?;
    }
    let (n_entries, kind) = compact.list()?;
    if kind != kind::STRUCT {
        return None;
    }
    // The children that each open group still waits for.
    let mut open: Vec<u64> = Vec::new();
    let mut deepest = 0;
    for _ in 0..n_entries {
        let n_children = compact.n_children()?;
        if let Some(waiting) = open.last_mut() {
            *waiting = waiting.saturating_sub(1);
        }
        if n_children > 0 {
            open.push(n_children);
            deepest = deepest.max(open.len());
        }
        while open.last() == Some(&0) {
            open.pop();
        }
    }
    Some(deepest)
}

struct Compact<'a> {
    bytes: &'a [u8],
}

impl Compact<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (&first, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(first)
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    /// Whole numbers alternate in their sign.
    fn signed(&mut self) -> Option<i64> {
        self.number().map(|number| (number >> 1) as i64 ^ -((number & 1) as i64))
    }

    /// The kind of the next field, whose number is counted on from the one before. `None` at the end.
    fn field(&mut self, number: &mut i64) -> Option<u8> {
        let header = self.byte()?;
        if header == kind::STOP {
            return None;
        }
        *number = match header >> 4 {
            0 => self.signed()?,
            more => number.checked_add(i64::from(more))?,
        };
        Some(header & 0xF)
    }

    /// How many items a list has, and their kind.
    fn list(&mut self) -> Option<(u64, u8)> {
        let header = self.byte()?;
        let n_items = match header >> 4 {
            15 => self.number()?,
            n_items => u64::from(n_items),
        };
        Some((n_items, header & 0xF))
    }

    /// Reads an entry of the schema: how many children does it have?
    fn n_children(&mut self) -> Option<u64> {
        let (mut field, mut n_children) = (0, 0);
        loop {
            let at_end = self.bytes.first() == Some(&kind::STOP);
            let Some(kind) = self.field(&mut field) else {
                return at_end.then_some(n_children);
            };
            if field == N_CHILDREN && (kind::I16..=kind::I64).contains(&kind) {
                n_children = u64::try_from(self.signed()?).unwrap_or(0);
            } else {
                self.skip(kind, 0)?;
            }
        }
    }

    /// Passes over a value; `None` where that is nested too deep itself.
    fn skip(&mut self, kind: u8, depth: usize) -> Option<()> {
        if depth > MOST {
            return None;
        }
        match kind {
            kind::TRUE | kind::FALSE => {}
            kind::BYTE => _ = self.byte()?,
            kind::I16..=kind::I64 => _ = self.number()?,
            kind::DOUBLE => self.bytes = self.bytes.get(8..)?,
            kind::BINARY => {
                let n_bytes = usize::try_from(self.number()?).ok()?;
                self.bytes = self.bytes.get(n_bytes..)?;
            }
            kind::LIST | kind::SET => {
                let (n_items, kind) = self.list()?;
                for _ in 0..n_items {
                    // In a list, a truth value takes a byte.
                    let kind = if matches!(kind, kind::TRUE | kind::FALSE) { kind::BYTE } else { kind };
                    self.skip(kind, depth + 1)?;
                }
            }
            kind::STRUCT => {
                let mut field = 0;
                while self.bytes.first() != Some(&kind::STOP) {
                    let kind = self.field(&mut field)?;
                    self.skip(kind, depth + 1)?;
                }
                self.byte()?;
            }
            _ => return None,
        }
        Some(())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The metadata of a file whose schema nests groups this deep, with one column inside.
    pub(crate) fn nested(depth: usize) -> Vec<u8> {
        // Version 1; then the schema, a list of structs.
        let mut bytes = vec![0x15, 0x02, 0x19, 0xFC];
        let mut n_entries = depth + 1;
        while n_entries >= 0x80 {
            bytes.push(n_entries as u8 | 0x80);
            n_entries >>= 7;
        }
        bytes.push(n_entries as u8);
        for _ in 0..depth {
            // Field 3 (required), 4 (a name) and 5 (one child).
            bytes.extend([0x35, 0x00, 0x18, 1, b'g', 0x15, 0x02, 0x00]);
        }
        // Field 1 (64 bits), 3 and 4.
        bytes.extend([0x15, 0x04, 0x25, 0x00, 0x18, 1, b'c', 0x00]);
        // No rows, and no row groups.
        bytes.extend([0x16, 0x00, 0x19, 0x0C, 0x00]);
        bytes
    }

    #[test]
    fn groups_are_counted_however_deep_they_are() {
        for deep in [1, 2, 64, 65, 1000, 1_000_000] {
            let metadata = nested(deep);
            assert_eq!(depth(&mut Compact { bytes: &metadata }), Some(deep));
            assert_eq!(is_too_deep(&metadata), deep > 64);
        }
    }

    #[test]
    fn whatever_is_odd_is_left_to_the_decoder() {
        for bytes in
            [&[][..], &[0], &[0x15], &[0x19, 0xFC, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F], &[0x2D; 50], &[0x1C; 500]]
        {
            assert!(!is_too_deep(bytes));
        }
    }
}
