//! Where do prefix codes lie in the columns of a packed key?
//!
//! A database's number has 63 bits that can be used. Attributes are put side by side until one does not fit any more; it begins the next
//! word. A code never spans two words, so a mask and a label are always of one word.

use incog_core::frequency::KeyLayout;
use incog_core::hash::Map;
use incog_core::hierarchy::Attributes;
use incog_core::lattice::Grouping;
use incog_core::{Error, ErrorKind, Result};

/// The bits of a word that can be used.
const WORD: u32 = 63;

/// Labels are looked up in an array where their codes have at most this number of bits.
const FEW_BITS: u32 = 20;

/// Where the code of each attribute lies, and what it stands for.
#[derive(Debug)]
pub(crate) struct Words {
    places: Vec<Place>,
    n_words: usize,
}

#[derive(Debug)]
struct Place {
    word: usize,
    shift: u32,
    bits: u32,
    /// The code of each value.
    codes: Vec<u64>,
    /// For each level, the label of each code's leading bits.
    labels: Vec<Labels>,
    /// For each level, the leading bits of each label's code.
    prefixes: Vec<Map<u32, u64>>,
    /// For each level, how many leading bits tell labels apart.
    kept: Vec<u32>,
}

#[derive(Debug)]
enum Labels {
    Few(Vec<u32>),
    Many(Map<u64, u32>),
}

/// No label.
const NONE: u32 = u32::MAX;

impl Words {
    pub(crate) fn new(attributes: &Attributes, layout: &KeyLayout) -> Result<Self> {
        let (mut word, mut used) = (0, 0);
        let mut places = Vec::new();
        for (at, attribute) in attributes.iter().enumerate() {
            let codes = layout.prefix_codes(at).ok_or_else(|| {
                let message =
                    format!("column `{}`: its hierarchy takes more than {WORD} bits", attribute.name());
                Error::new(ErrorKind::Limit, message).with_hint("use `engine = \"memory\"` in [input]")
            })?;
            let bits = layout.n_bits_of(at, 0);
            if used + bits > WORD {
                (word, used) = (word + 1, 0);
            }
            let kept: Vec<u32> = (0..=attribute.height()).map(|level| layout.n_bits_of(at, level)).collect();
            let pairs = |level: u8| {
                let down = bits - kept[usize::from(level)];
                codes.iter().map(move |code| code >> down).zip(attribute.labels_at(level).iter().copied())
            };
            let labels =
                (0..=attribute.height()).map(|level| Labels::new(kept[usize::from(level)], pairs(level)));
            let prefixes = (0..=attribute.height())
                .map(|level| pairs(level).map(|(code, label)| (label, code)).collect());
            let (labels, prefixes) = (labels.collect(), prefixes.collect());
            places.push(Place { word, shift: used, bits, codes, labels, prefixes, kept });
            used += bits;
        }
        Ok(Words { places, n_words: word + 1 })
    }

    pub(crate) fn n_words(&self) -> usize {
        self.n_words
    }

    /// The word of an attribute; nothing where all its values are alike.
    pub(crate) fn word(&self, attribute: usize) -> Option<usize> {
        Some(&self.places[attribute]).filter(|place| place.bits > 0).map(|place| place.word)
    }

    /// The bits of a value in its word.
    pub(crate) fn key(&self, attribute: usize, value: usize) -> u64 {
        let place = &self.places[attribute];
        place.codes[value] << place.shift
    }

    /// For each word the bits by which a grouping tells groups apart.
    pub(crate) fn masks(&self, grouping: &Grouping) -> Vec<u64> {
        let mut masks = vec![0; self.n_words];
        for (attribute, level) in grouping.iter() {
            let place = &self.places[attribute];
            let kept = place.kept[usize::from(level)];
            let ones = (1_u64 << kept) - 1;
            masks[place.word] |= ones << (place.bits - kept) << place.shift;
        }
        masks
    }

    /// The labels of a group, given its words.
    pub(crate) fn labels(&self, words: &[u64], grouping: &Grouping, to: &mut Vec<u32>) -> Result<()> {
        to.clear();
        for (attribute, level) in grouping.iter() {
            let place = &self.places[attribute];
            let kept = place.kept[usize::from(level)];
            let code = (words[place.word] >> place.shift >> (place.bits - kept)) & ((1 << kept) - 1);
            to.push(place.labels[usize::from(level)].of(code)?);
        }
        Ok(())
    }

    /// The words of a group, given its labels.
    pub(crate) fn words(&self, labels: &[u32], grouping: &Grouping) -> Result<Vec<u64>> {
        let mut words = vec![0; self.n_words];
        for ((attribute, level), label) in grouping.iter().zip(labels) {
            let place = &self.places[attribute];
            let prefix = place.prefixes[usize::from(level)].get(label).copied().ok_or_else(unknown)?;
            words[place.word] |= prefix << (place.bits - place.kept[usize::from(level)]) << place.shift;
        }
        Ok(words)
    }
}

impl Labels {
    fn new(bits: u32, pairs: impl Iterator<Item = (u64, u32)>) -> Self {
        if bits > FEW_BITS {
            return Labels::Many(pairs.collect());
        }
        let mut labels = vec![NONE; 1 << bits];
        pairs.for_each(|(code, label)| labels[code as usize] = label);
        Labels::Few(labels)
    }

    fn of(&self, code: u64) -> Result<u32> {
        let label = match self {
            Labels::Few(labels) => labels.get(code as usize).copied().filter(|&label| label != NONE),
            Labels::Many(labels) => labels.get(&code).copied(),
        };
        label.ok_or_else(unknown)
    }
}

fn unknown() -> Error {
    Error::input("the database answered with a group that no known value is in")
        .with_hint("a table or view must give the same rows each time it is read")
}
