//! A set of records for every label of every level of every attribute.
//!
//! A label of the data has the records that have it; one further up has the union of its children's (the paper: OR
//! generalizes). A level takes at most 4 bytes a record and never more than its bits: an attribute with 31,953 values
//! over 4.6 million records takes 18 MB at level 0, not 18 GB. How much that will be follows from counts alone
//! ([`need`]), before anything is built.

use std::sync::Arc;

use incog_kernels::Bits;

use super::codes::Codes;
use super::ledger::{Ledger, Set};
use super::records::{Records, n_bytes};
use crate::error::{Error, ErrorKind, Result};
use crate::frequency::{self, FrequencySource, KeyLayout, Method};
use crate::group::Demand;
use crate::lattice::Grouping;

/// The sets of all labels.
pub(super) struct Index {
    attributes: Vec<Attribute>,
    pub(super) n_records: usize,
    /// Unions that building it took.
    pub(super) n_unions: u64,
}

struct Attribute {
    /// The code of each record.
    codes: Codes,
    levels: Vec<LevelIndex>,
}

/// One level of an attribute.
pub(super) struct LevelIndex {
    /// The labels that occur, the rarest first.
    pub(super) labels: Vec<Labelled>,
    /// The label here of each code.
    pub(super) up: Vec<u32>,
    /// All labels are below this.
    pub(super) end: usize,
}

/// A label and the records that have it.
#[derive(Clone)]
pub(super) struct Labelled {
    pub(super) label: u32,
    pub(super) set: Arc<Set>,
}

/// How many bytes the sets of each attribute take, and its records' labels.
fn need(source: &dyn FrequencySource) -> Result<Vec<u64>> {
    let n_records = source.n_rows() as usize;
    let heights = source.layout().heights();
    let needs = heights.iter().enumerate().map(|(attribute, &height)| {
        let mut need = Codes::n_bytes(source.layout().labels_of_codes(attribute, 0).len(), n_records);
        for level in 0..=height {
            let counts = counts(source, attribute, level)?;
            need += counts.into_iter().map(|count| n_bytes(count, n_records)).sum::<u64>();
        }
        Ok(need)
    });
    needs.collect()
}

/// How many bytes all sets and labels take at most, whatever the records are.
fn need_at_most(source: &dyn FrequencySource) -> u64 {
    let (layout, n_records) = (source.layout(), source.n_rows() as usize);
    let of_attribute = |(attribute, height): (usize, u8)| {
        let codes = Codes::n_bytes(layout.labels_of_codes(attribute, 0).len(), n_records);
        let of_level = |level: u8| {
            // The most is where all labels have equally many records.
            let n_labels = layout.n_labels(attribute, level) as u64;
            n_labels * n_bytes(source.n_rows().div_ceil(n_labels.max(1)), n_records)
        };
        codes + (0..=height).map(of_level).sum::<u64>()
    };
    layout.heights().into_iter().enumerate().map(of_attribute).sum()
}

/// Do the sets fit into `memory` bytes? Counts records only where it depends on them.
pub(in crate::judge) fn fits(source: &dyn FrequencySource, memory: u64) -> Result<bool> {
    Ok(need_at_most(source) <= memory || need(source)?.iter().sum::<u64>() <= memory)
}

/// How many records each label of a level has.
fn counts(source: &dyn FrequencySource, attribute: usize, level: u8) -> Result<Vec<u64>> {
    let mut grouping = Grouping::NOTHING;
    grouping.set(attribute, level);
    Ok(frequency::counted(source, &grouping, &Demand::default(), Method::Auto)?.measures().rows().to_vec())
}

impl Index {
    /// Reads the records of the source once for each attribute. Fails when the sets would take more than `memory` bytes.
    pub(super) fn build(
        source: &dyn FrequencySource,
        records: &dyn frequency::Records,
        memory: Option<u64>,
        ledger: &Arc<Ledger>,
    ) -> Result<Self> {
        if let Some(memory) = memory
            && !fits(source, memory)?
        {
            return Err(too_much(&need(source)?, source, memory));
        }
        let n_records = source.n_rows() as usize;
        let mut index = Index { attributes: Vec::new(), n_records, n_unions: 0 };
        for (attribute, &height) in source.layout().heights().iter().enumerate() {
            let attribute = index.attribute(source.layout(), records, attribute, height, ledger);
            index.attributes.push(attribute);
        }
        Ok(index)
    }

    fn attribute(
        &mut self,
        layout: &KeyLayout,
        records: &dyn frequency::Records,
        attribute: usize,
        height: u8,
        ledger: &Arc<Ledger>,
    ) -> Attribute {
        let ups: Vec<Vec<u32>> = (0..=height).map(|level| layout.labels_of_codes(attribute, level)).collect();
        let n_codes = ups[0].len();
        let mut codes = Codes::with_room(n_codes, self.n_records);
        records.visit_codes(attribute, &mut |some| codes.extend(some));
        ledger.add(Codes::n_bytes(n_codes, self.n_records));
        let mut below: Vec<Labelled> = sets_of_codes(&codes, n_codes, self.n_records)
            .into_iter()
            .enumerate()
            .filter(|(_, set)| set.count() > 0)
            .map(|(code, set)| Labelled { label: ups[0][code], set: ledger.enter(set) })
            .collect();
        let mut levels = Vec::new();
        for (level, up) in ups.iter().enumerate() {
            if level > 0 {
                below = self.generalize(&below, &between(&ups[level - 1], up), ledger);
            }
            let mut labels = below.clone();
            // A rare label refuses a node sooner.
            labels.sort_by_key(|labelled| labelled.set.count());
            levels.push(LevelIndex { labels, up: up.clone(), end: end(up) });
        }
        Attribute { codes, levels }
    }

    /// The sets one level up, by OR.
    fn generalize(&mut self, below: &[Labelled], up: &[u32], ledger: &Arc<Ledger>) -> Vec<Labelled> {
        let mut children: Vec<(u32, &Labelled)> =
            below.iter().map(|child| (up[child.label as usize], child)).collect();
        children.sort_by_key(|(label, _)| *label);
        let parents = children.chunk_by(|a, b| a.0 == b.0).map(|siblings| {
            if let [(label, only)] = siblings {
                return Labelled { label: *label, set: Arc::clone(&only.set) };
            }
            self.n_unions += siblings.len() as u64 - 1;
            let sets: Vec<&Records> = siblings.iter().map(|(_, child)| &**child.set).collect();
            Labelled { label: siblings[0].0, set: ledger.enter(Records::union(&sets, self.n_records)) }
        });
        parents.collect()
    }

    /// A level of an attribute.
    pub(super) fn level(&self, attribute: usize, level: u8) -> &LevelIndex {
        &self.attributes[attribute].levels[usize::from(level)]
    }

    /// The code of each record.
    pub(super) fn codes(&self, attribute: usize) -> &Codes {
        &self.attributes[attribute].codes
    }

    /// The label at the higher level of each label at the lower one.
    pub(super) fn labels_between(&self, attribute: usize, lower: u8, higher: u8) -> Vec<u32> {
        between(&self.level(attribute, lower).up, &self.level(attribute, higher).up)
    }
}

/// The records of each code.
pub(super) fn sets_of_codes(codes: &Codes, n_codes: usize, n_records: usize) -> Vec<Records> {
    match codes {
        // A byte a record: comparing all of them with a code is faster than dealing them out.
        Codes::U8(codes) => {
            (0..n_codes).map(|code| Records::from_bits(Bits::equal(codes, code as u8))).collect()
        }
        Codes::U32(codes) => {
            let mut counts = vec![0_u64; n_codes];
            codes.iter().for_each(|&code| counts[code as usize] += 1);
            let mut sets: Vec<Records> =
                counts.iter().map(|&count| Records::with_room(count, n_records)).collect();
            for (record, &code) in codes.iter().enumerate() {
                sets[code as usize].push(record as u32);
            }
            sets
        }
    }
}

/// One more than the largest label.
fn end(labels: &[u32]) -> usize {
    labels.iter().max().map_or(0, |&most| most as usize + 1)
}

/// Codes that no value has count as label 0 of every level. That is harmless: the first label of a level lies below the
/// first of the next.
fn between(lower: &[u32], higher: &[u32]) -> Vec<u32> {
    let mut up = vec![0; end(lower)];
    for (&label, &parent) in lower.iter().zip(higher) {
        up[label as usize] = parent;
    }
    up
}

fn too_much(needs: &[u64], source: &dyn FrequencySource, memory: u64) -> Error {
    let total: u64 = needs.iter().sum();
    let largest = needs.iter().enumerate().max_by_key(|(attribute, need)| (**need, usize::MAX - attribute));
    let (attribute, most) = largest.map_or((0, 0), |(attribute, &most)| (attribute, most));
    let message = format!(
        "bitmaps of all columns take {total} bytes, those of column `{}` alone {most}; the bound is {memory}",
        source.layout().name(attribute)
    );
    Error::new(ErrorKind::Limit, message).with_hint("raise the bound, or set checker = \"roll-up\"")
}
