//! How values become bits.
//!
//! The code of a value is written from the top of its hierarchy down: first which label of the highest level,
//! then which child of that, and so on. Each level takes as many bits as its largest number of siblings needs,
//! counting only labels that occur in the data. The label at level ℓ is thus a prefix of the code, and a level
//! with a single label takes no bits at all: grouping by it is the same as leaving the attribute out.
//!
//! Attributes stand side by side in one key, the first one in the most significant bits.

use std::sync::OnceLock;

use incog_kernels::{Field, Numbering};
use rayon::prelude::*;

use crate::error::{Error, ErrorKind, Result};
use crate::frequency::key::{BitKey, Wide};
use crate::frequency::tuning;
use crate::hierarchy::{Attribute, Attributes};
use crate::lattice::Grouping;

/// Which key type to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum KeyWidth {
    /// 64 bits.
    U64,
    /// 128 bits.
    U128,
    /// Any number of bits.
    Wide,
}

/// Where each attribute's levels lie in a key.
#[derive(Debug)]
pub struct KeyLayout {
    names: Vec<String>,
    attributes: Vec<Bits>,
    n_bits: u32,
    packing: Packing,
    /// For each attribute and level, its bits and which values they have. Made when first asked for; `None` where they are too many.
    fields: Vec<Vec<OnceLock<Option<Field>>>>,
}

/// The bits of one attribute.
#[derive(Debug)]
struct Bits {
    /// The first bit after this attribute's, so the end of every prefix.
    end: u32,
    /// How many leading bits tell apart the labels of each level; falls with the level.
    kept: Vec<u32>,
    /// For each level, the label of each value code.
    labels: Vec<Vec<u32>>,
    /// For each level, the index among its siblings of each label that occurs.
    siblings: Vec<Vec<u32>>,
}

#[derive(Debug)]
enum Packing {
    U64(Packed<u64>),
    U128(Packed<u128>),
    Wide(Packed<Wide>),
}

impl KeyLayout {
    /// The layout for these attributes, in the narrowest key type that holds it.
    pub fn new(attributes: &Attributes) -> Self {
        KeyLayout::at_least(attributes, KeyWidth::U64)
    }

    /// The same with keys no narrower than `width`, so that tests can compare key types.
    pub fn at_least(attributes: &Attributes, width: KeyWidth) -> Self {
        let mut bits: Vec<Bits> = attributes.iter().map(Bits::new).collect();
        let mut n_bits = 0;
        for attribute in bits.iter_mut().rev() {
            n_bits += attribute.kept[0];
            attribute.end = n_bits;
        }
        let needed = match n_bits {
            0..=64 => KeyWidth::U64,
            65..=128 => KeyWidth::U128,
            _ => KeyWidth::Wide,
        };
        let packing = match needed.max(width) {
            KeyWidth::U64 => Packing::U64(Packed::new(&bits, n_bits)),
            KeyWidth::U128 => Packing::U128(Packed::new(&bits, n_bits)),
            KeyWidth::Wide => Packing::Wide(Packed::new(&bits, n_bits)),
        };
        let names = attributes.iter().map(|attribute| attribute.name().to_owned()).collect();
        let fields = bits.iter().map(|bits| bits.kept.iter().map(|_| OnceLock::new()).collect()).collect();
        KeyLayout { names, attributes: bits, n_bits, packing, fields }
    }

    /// What an attribute's column is called.
    pub fn name(&self, attribute: usize) -> &str {
        &self.names[attribute]
    }

    /// How many bits a key has.
    pub fn n_bits(&self) -> u32 {
        self.n_bits
    }

    /// The height of each attribute's hierarchy.
    pub fn heights(&self) -> Vec<u8> {
        self.attributes.iter().map(|attribute| (attribute.kept.len() - 1) as u8).collect()
    }

    /// The key type in use.
    pub fn width(&self) -> KeyWidth {
        match self.packing {
            Packing::U64(_) => KeyWidth::U64,
            Packing::U128(_) => KeyWidth::U128,
            Packing::Wide(_) => KeyWidth::Wide,
        }
    }

    /// How many bits tell apart the groups of a grouping; its groups are at most 2 to this power.
    pub fn n_bits_at(&self, grouping: &Grouping) -> u32 {
        grouping.iter().map(|(attribute, level)| self.attributes[attribute].kept[usize::from(level)]).sum()
    }

    /// How many bits tell apart an attribute's labels at a level.
    ///
    /// # Panics
    /// When there is no such attribute or level.
    pub fn n_bits_of(&self, attribute: usize, level: u8) -> u32 {
        self.attributes[attribute].kept[usize::from(level)]
    }

    /// The prefix code of each value of an attribute, by the value's code: [`n_bits_of`](Self::n_bits_of) its lowest level bits, of
    /// which the leading ones of a level name the label there. For engines that pack keys of their own, however many bits all
    /// attributes have together. `None` where one alone has more than 63, so that its codes are no numbers of a database.
    pub fn prefix_codes(&self, attribute: usize) -> Option<Vec<u64>> {
        let bits = self.attributes.get(attribute)?;
        if bits.kept[0] > 63 {
            return None;
        }
        let code = |value: usize| {
            bits.labels.iter().enumerate().fold(0_u64, |code, (level, labels)| {
                let sibling = u64::from(bits.siblings[level][labels[value] as usize]);
                code | sibling << (bits.kept[0] - bits.kept[level])
            })
        };
        Some((0..bits.labels[0].len()).map(code).collect())
    }

    /// Have all records the same label at this level? Then grouping by it changes nothing.
    pub fn is_one_valued(&self, attribute: usize, level: u8) -> bool {
        self.attributes[attribute].kept[usize::from(level)] == 0
    }

    /// How many labels the values have at a level.
    pub fn n_labels(&self, attribute: usize, level: u8) -> usize {
        let mut labels = self.attributes[attribute].labels[usize::from(level)].clone();
        labels.sort_unstable();
        labels.dedup();
        labels.len()
    }

    /// The key of each value of an attribute, by its code; the bits of other attributes are zero. The key of a record is the OR of
    /// those of its values. `None` where keys have more than 64 bits.
    ///
    /// With these in a table of values, an engine that is not ours groups by `key & mask` ([`mask`](Self::mask)), and names a group
    /// by what that leaves ([`labels_of_key`](Self::labels_of_key)).
    pub fn value_keys(&self, attribute: usize) -> Option<&[u64]> {
        match &self.packing {
            Packing::U64(packed) => packed.values.get(attribute).map(Vec::as_slice),
            Packing::U128(_) | Packing::Wide(_) => None,
        }
    }

    /// The bits of keys that a grouping tells groups apart by; `None` where keys have more than 64 bits, or no such attribute or
    /// level.
    pub fn mask(&self, grouping: &Grouping) -> Option<u64> {
        let Packing::U64(packed) = &self.packing else { return None };
        grouping.iter().try_fold(0, |mask, (attribute, level)| {
            Some(mask | packed.masks.get(attribute)?.get(usize::from(level))?)
        })
    }

    /// The codes of the labels of a group, in the order of its attributes, given what the [`mask`](Self::mask) leaves of the key of one
    /// of its records. Fails where no value has such a key.
    pub fn labels_of_key(&self, key: u64, grouping: &Grouping) -> Result<Vec<u32>> {
        let unknown = || Error::new(ErrorKind::Internal, "a key is of no value of the table");
        let Packing::U64(packed) = &self.packing else { return Err(unknown()) };
        let label = |(attribute, level): (usize, u8)| {
            let masks = packed.masks.get(attribute).ok_or_else(unknown)?;
            let mask = masks.get(usize::from(level)).ok_or_else(unknown)?;
            packed.find_label(self, &(key & mask), attribute, level).ok_or_else(unknown)
        };
        grouping.iter().map(label).collect()
    }

    /// The label at a level of each label that values have at level 0; 0 for those that no value has.
    pub(crate) fn labels_up(&self, attribute: usize, level: u8) -> Vec<u32> {
        let labels = &self.attributes[attribute].labels;
        let mut up = vec![0; labels[0].iter().max().map_or(0, |&most| most as usize + 1)];
        for (&label, &at_level) in labels[0].iter().zip(&labels[usize::from(level)]) {
            up[label as usize] = at_level;
        }
        up
    }

    /// For each code that an attribute's records can have, its label at a level; 0 for codes
    /// that no value has.
    pub(crate) fn labels_of_codes(&self, attribute: usize, level: u8) -> Vec<u32> {
        let bits = &self.attributes[attribute];
        let codes = (0..bits.labels[0].len()).map(|value| bits.code_of_value(value));
        let mut labels = vec![0; codes.clone().max().map_or(0, |most| most as usize + 1)];
        for (code, &label) in codes.zip(&bits.labels[usize::from(level)]) {
            labels[code as usize] = label;
        }
        labels
    }

    /// Numbers without gaps for the groups of a grouping. `None` if it takes more than `most`, if keys have more than 64 bits, or where
    /// [`Numbering`] cannot.
    pub(crate) fn numbering(&self, grouping: &Grouping, most: usize) -> Option<Numbering<'_>> {
        let Packing::U64(packed) = &self.packing else { return None };
        let field = |(attribute, level): (usize, u8)| {
            let made = self.fields[attribute][usize::from(level)].get_or_init(|| {
                let mask = packed.masks[attribute][usize::from(level)];
                Field::new(mask, packed.values[attribute].iter().copied())
            });
            made.as_ref()
        };
        Numbering::new(&grouping.iter().map(field).collect::<Option<Vec<_>>>()?, most)
    }

    pub(crate) fn packed_u64(&self) -> &Packed<u64> {
        match &self.packing {
            Packing::U64(packed) => packed,
            _ => unreachable!("a layout's keys have its own width"),
        }
    }

    pub(crate) fn packed_u128(&self) -> &Packed<u128> {
        match &self.packing {
            Packing::U128(packed) => packed,
            _ => unreachable!("a layout's keys have its own width"),
        }
    }

    pub(crate) fn packed_wide(&self) -> &Packed<Wide> {
        match &self.packing {
            Packing::Wide(packed) => packed,
            _ => unreachable!("a layout's keys have its own width"),
        }
    }
}

impl Bits {
    /// A small number that tells the labels at level 0 apart: the attribute's bits in a key where they are few, else the
    /// label.
    fn code_of_value(&self, value: usize) -> u32 {
        if self.kept[0] > tuning::CODE_BITS.get() {
            return self.labels[0][value];
        }
        let mut code = 0;
        for (level, labels) in self.labels.iter().enumerate() {
            code |= self.siblings[level][labels[value] as usize] << (self.kept[0] - self.kept[level]);
        }
        code
    }

    fn new(attribute: &Attribute) -> Self {
        let height = attribute.height();
        let mut kept = vec![0; usize::from(height) + 1];
        let mut siblings = vec![Vec::new(); usize::from(height) + 1];
        let mut n_bits = 0;
        for level in (0..=height).rev() {
            let mut present: Vec<u32> = attribute.labels_at(level).to_vec();
            present.sort_unstable();
            present.dedup();
            let hierarchy = attribute.hierarchy();
            let n_parents = if level == height { 1 } else { hierarchy.labels(level + 1).len() };
            let mut n_children = vec![0_u32; n_parents];
            let mut index = vec![0; hierarchy.labels(level).len()];
            for label in present {
                let parent = if level == height { 0 } else { hierarchy.parent(level, label) };
                index[label as usize] = n_children[parent as usize];
                n_children[parent as usize] += 1;
            }
            let most = n_children.into_iter().max().unwrap_or(0);
            n_bits += u32::BITS - most.saturating_sub(1).leading_zeros();
            kept[usize::from(level)] = n_bits;
            siblings[usize::from(level)] = index;
        }
        let labels = (0..=height).map(|level| attribute.labels_at(level).to_vec()).collect();
        Bits { end: 0, kept, labels, siblings }
    }
}

/// A layout spelled out for one key type.
#[derive(Debug)]
pub(crate) struct Packed<K> {
    n_bits: u32,
    /// The key of each attribute's value codes; other attributes' bits are zero.
    values: Vec<Vec<K>>,
    /// The bits of each attribute that stay at each level.
    masks: Vec<Vec<K>>,
    /// For each attribute and level, the labels sorted by key. Made when first asked for.
    labels: Vec<Vec<OnceLock<SortedLabels<K>>>>,
}

type SortedLabels<K> = Vec<(K, u32)>;

/// The bits that a grouping keeps.
pub(crate) struct Target<K> {
    /// What to keep of a key.
    pub(crate) mask: K,
    /// How many bits are kept.
    pub(crate) n_bits: u32,
    /// How many bits a key has.
    pub(crate) n_key_bits: u32,
    /// Every run has a bit at least, so 32 are enough. No allocation: there is one target per node.
    runs: [Run; 32],
    n_runs: usize,
}

impl<K> Target<K> {
    #[cfg(test)]
    pub(crate) fn for_tests(mask: K, n_bits: u32, n_key_bits: u32, some_runs: &[Run]) -> Self {
        let mut runs = [Run::default(); 32];
        runs[..some_runs.len()].copy_from_slice(some_runs);
        Target { mask, n_bits, n_key_bits, runs, n_runs: some_runs.len() }
    }

    /// How to push the kept bits together; none if they are more than 32.
    pub(crate) fn runs(&self) -> &[Run] {
        &self.runs[..self.n_runs]
    }
}

/// Kept bits that stand together: moved down by `down`, they are the bits of `mask` of a cell number.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Run {
    pub(crate) down: u32,
    pub(crate) mask: u32,
}

impl<K: BitKey> Packed<K> {
    fn new(attributes: &[Bits], n_bits: u32) -> Self {
        let value_key = |attribute: &Bits, code: usize| {
            let mut key = K::zeros(n_bits);
            for (level, labels) in attribute.labels.iter().enumerate() {
                let offset = attribute.end - attribute.kept[level];
                key.put(offset, attribute.siblings[level][labels[code] as usize]);
            }
            key
        };
        let values = attributes
            .iter()
            .map(|attribute| (0..attribute.labels[0].len()).map(|code| value_key(attribute, code)).collect())
            .collect();
        let masks = attributes
            .iter()
            .map(|attribute| {
                attribute.kept.iter().map(|&kept| ones(n_bits, attribute.end - kept, kept)).collect()
            })
            .collect();
        let labels = attributes
            .iter()
            .map(|attribute| attribute.kept.iter().map(|_| OnceLock::new()).collect())
            .collect();
        Packed { n_bits, values, masks, labels }
    }

    /// The key of a record with these value codes, one per attribute.
    pub(crate) fn pack(&self, codes: impl Iterator<Item = u32>) -> K {
        let mut key = K::zeros(self.n_bits);
        for (values, code) in self.values.iter().zip(codes) {
            key.unite(&values[code as usize]);
        }
        key
    }

    /// The keys of all records, given a column of value codes per attribute.
    pub(crate) fn pack_columns(&self, n_rows: usize, columns: &[&[u32]]) -> Vec<K> {
        // Column by column within a block: each value table stays in cache while the block's keys do too.
        let n_block = tuning::PACK_BLOCK.get();
        let mut keys = vec![K::zeros(self.n_bits); n_rows];
        keys.par_chunks_mut(n_block).with_min_len(tuning::PACK_BLOCKS_PER_TASK.get()).enumerate().for_each(
            |(block, keys)| {
                for (values, codes) in self.values.iter().zip(columns) {
                    for (key, &code) in keys.iter_mut().zip(&codes[block * n_block..]) {
                        key.unite(&values[code as usize]);
                    }
                }
            },
        );
        keys
    }

    /// The same where `read` brings the codes: of an attribute, for the records from a number on.
    pub(crate) fn pack_parts(
        &self,
        n_rows: usize,
        read: &(impl Fn(usize, usize, &mut [u32]) -> Result<()> + Sync),
    ) -> Result<Vec<K>> {
        // Large enough to be worth reading, and small enough for the cache.
        let n_part = tuning::PACK_PART.get();
        let mut keys = vec![K::zeros(self.n_bits); n_rows];
        keys.par_chunks_mut(n_part).enumerate().try_for_each_init(
            || vec![0_u32; n_part],
            |codes, (part, keys)| {
                let codes = &mut codes[..keys.len()];
                for (attribute, values) in self.values.iter().enumerate() {
                    read(attribute, part * n_part, codes)?;
                    for (key, &code) in keys.iter_mut().zip(&*codes) {
                        key.unite(&values[code as usize]);
                    }
                }
                Ok(())
            },
        )?;
        Ok(keys)
    }

    /// The bits that a grouping keeps.
    pub(crate) fn mask(&self, grouping: &Grouping) -> K {
        let mut mask = K::zeros(self.n_bits);
        for (attribute, level) in grouping.iter() {
            mask.unite(&self.masks[attribute][usize::from(level)]);
        }
        mask
    }

    /// What a grouping keeps of a key.
    pub(crate) fn target(&self, layout: &KeyLayout, grouping: &Grouping) -> Target<K> {
        let mut mask = K::zeros(self.n_bits);
        let mut runs = [Run::default(); 32];
        let mut n_runs = 0;
        let n_bits = layout.n_bits_at(grouping);
        let mut n_packed = n_bits;
        // First attributes stand highest, in the key as in the cell, so every run moves down.
        for (attribute, level) in grouping.iter() {
            mask.unite(&self.masks[attribute][usize::from(level)]);
            let bits = &layout.attributes[attribute];
            let kept = bits.kept[usize::from(level)];
            n_packed -= kept;
            if kept > 0 && n_bits <= 32 {
                let ones = (u64::MAX >> (64 - kept)) as u32;
                runs[n_runs] = Run { down: bits.end - kept - n_packed, mask: ones << n_packed };
                n_runs += 1;
            }
        }
        Target { mask, n_bits, n_key_bits: self.n_bits, runs, n_runs }
    }

    /// For each label code of a level, the attribute's bits of a key; `None` for labels that no value has.
    pub(crate) fn keys_of_labels(&self, layout: &KeyLayout, attribute: usize, level: u8) -> Vec<Option<K>> {
        let labels = &layout.attributes[attribute].labels[usize::from(level)];
        let mask = &self.masks[attribute][usize::from(level)];
        let mut keys = vec![None; labels.iter().max().map_or(0, |&most| most as usize + 1)];
        for (&label, value) in labels.iter().zip(&self.values[attribute]) {
            keys[label as usize].get_or_insert_with(|| value.masked(mask));
        }
        keys
    }

    /// The code of an attribute in each of the keys, some thousand at a time.
    pub(crate) fn visit_codes(
        &self,
        layout: &KeyLayout,
        keys: &[K],
        attribute: usize,
        visit: &mut dyn FnMut(&[u32]),
    ) {
        let n_block = tuning::CODES_BLOCK.get();
        let bits = &layout.attributes[attribute];
        let (offset, kept) = (bits.end - bits.kept[0], bits.kept[0]);
        let mut codes = Vec::with_capacity(n_block);
        for keys in keys.chunks(n_block) {
            codes.clear();
            if kept > tuning::CODE_BITS.get() {
                codes.extend(keys.iter().map(|key| self.label(layout, key, attribute, 0)));
            } else if kept == 0 {
                codes.resize(keys.len(), 0);
            } else {
                let mask = (1_u32 << kept) - 1;
                codes.extend(keys.iter().map(|key| key.extract(offset, mask)));
            }
            visit(&codes);
        }
    }

    /// The label code of an attribute at a level, read from a key.
    pub(crate) fn label(&self, layout: &KeyLayout, key: &K, attribute: usize, level: u8) -> u32 {
        self.find_label(layout, key, attribute, level).expect("the key was packed from a value")
    }

    /// The same of a key that may be packed from no value.
    fn find_label(&self, layout: &KeyLayout, key: &K, attribute: usize, level: u8) -> Option<u32> {
        let mask = &self.masks[attribute][usize::from(level)];
        let sorted = self.labels[attribute][usize::from(level)].get_or_init(|| {
            let labels = &layout.attributes[attribute].labels[usize::from(level)];
            let keys = self.values[attribute].iter().map(|value| value.masked(mask));
            let mut sorted: SortedLabels<K> = keys.zip(labels.iter().copied()).collect();
            sorted.sort_unstable();
            sorted.dedup();
            sorted
        });
        let key = key.masked(mask);
        let at = sorted.binary_search_by(|(prefix, _)| prefix.cmp(&key)).ok()?;
        Some(sorted[at].1)
    }
}

/// A key with `width` ones from `offset` on.
fn ones<K: BitKey>(n_bits: u32, offset: u32, width: u32) -> K {
    let mut key = K::zeros(n_bits);
    let mut done = 0;
    while done < width {
        let step = (width - done).min(32);
        key.put(offset + done, (u64::MAX >> (64 - step)) as u32);
        done += step;
    }
    key
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::hierarchy::spec::{Mask, MaskFrom, Spec};
    use crate::lattice::Lattice;
    use crate::table::{Column, Role, Table};
    use std::collections::BTreeMap;

    /// Columns of numbers with `n_digits` digits each, of which levels mask the last ones; only every third number occurs.
    pub(crate) fn masked_numbers(n_rows: u64, n_digits: &[u32]) -> (Table, Attributes) {
        let columns = n_digits.iter().zip(1..).map(|(&n_digits, at)| {
            let mut column = Column::new(format!("c{at}"), Role::QuasiIdentifier);
            for row in 0..n_rows {
                let drawn = (row * at + 7).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
                let value = drawn % 10_u64.pow(n_digits) / 3 * 3;
                column.push(&format!("{value:0width$}", width = n_digits as usize)).unwrap();
            }
            column
        });
        let table = Table::new(columns.collect()).unwrap();
        let bind = |column| {
            let hierarchy = Spec::Mask(Mask::new(MaskFrom::Right)).build(column, None).unwrap();
            Attribute::bind(column, hierarchy, "rule").unwrap()
        };
        let attributes = table.columns().iter().map(bind).collect();
        (table, Attributes::new(attributes).unwrap())
    }

    #[test]
    fn every_group_has_a_number_and_no_two_the_same() {
        let n_rows = 400;
        let (table, attributes) = masked_numbers(n_rows, &[2, 1, 1, 3]);
        let layout = KeyLayout::new(&attributes);
        let columns: Vec<&[u32]> = table.columns().iter().map(Column::codes).collect();
        let keys = layout.packed_u64().pack_columns(n_rows as usize, &columns);
        let lattice = Lattice::new(&layout.heights()).unwrap();
        for node in 0..lattice.n_nodes() {
            let grouping = lattice.grouping(node);
            let mut expected: BTreeMap<u64, u8> = BTreeMap::new();
            let mask = layout.packed_u64().mask(&grouping);
            keys.iter().for_each(|key| {
                let rows = expected.entry(key & mask).or_default();
                *rows = rows.saturating_add(1);
            });
            let n_labels: usize = grouping.iter().map(|(at, level)| layout.n_labels(at, level)).product();
            let numbering = layout.numbering(&grouping, n_labels).unwrap();
            assert_eq!(numbering.n_numbers(), n_labels);
            assert!(layout.numbering(&grouping, n_labels - 1).is_none());
            let mut cells = vec![0; n_labels];
            numbering.count(&keys, None, &mut cells);
            let numbers: Vec<u32> =
                (0..n_labels as u32).filter(|&number| cells[number as usize] > 0).collect();
            let mut words = vec![0; numbers.len()];
            numbering.words(&numbers, &mut words);
            let found = words.into_iter().zip(numbers.iter().map(|&number| cells[number as usize]));
            assert_eq!(found.collect::<BTreeMap<u64, u8>>(), expected);
        }
        let wide = KeyLayout::at_least(&attributes, KeyWidth::U128);
        assert!(wide.numbering(&lattice.grouping(0), usize::MAX).is_none());
    }
}
