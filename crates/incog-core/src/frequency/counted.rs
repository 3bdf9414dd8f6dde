//! Groups that somebody else has counted.
//!
//! **Promise.** A set made from plain data ([`CountedGroup`]) is the one that the same records in memory would give, or an
//! error that says what is wrong with the data. It never panics.
//!
//! **Essence.** Labels become packed keys by a table for each attribute; equal keys are merged like groups in a roll-up. So a
//! source need not have one entry a group: whatever it counted more finely, say by group and sensitive value, or by
//! group, person and value, can be handed over as it comes. One query that groups by labels, person and sensitive values
//! is enough for everything that a [`Demand`] can ask for.
//!
//! **Cost.** Linear in the entries and what they list, and in the values of each attribute that is grouped by; sorting of
//! the lists of each group. Memory: the entries twice.

use std::sync::Arc;

use crate::error::{Error, ErrorKind, Result};
use crate::frequency::key::BitKey;
use crate::frequency::layout::Packed;
use crate::frequency::regroup::{Assignment, regroup};
use crate::frequency::{FrequencySet, KeyLayout, KeyWidth, Method, Scratch};
use crate::group::{Demand, Facts, Measures, NOBODY};
use crate::lattice::Grouping;

/// Some records of one group, counted: all of them, or as many as a finer count puts together.
///
/// What was not demanded is left empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CountedGroup {
    /// The code of the label of each attribute that is grouped by, in the order of the attributes: a code of its hierarchy's
    /// [labels](crate::hierarchy::Hierarchy::labels) at the level of the grouping. Where a source has values instead,
    /// [`Attribute::labels_at`](crate::hierarchy::Attribute::labels_at) has the label of each.
    pub labels: Vec<u32>,
    /// How many records. Entries without any are passed over if they say nothing else.
    pub rows: u64,
    /// The numbers of the persons whom those records are about, each once, where [persons](Demand::persons) are demanded.
    /// Any numbers will do as long as a person has the same in all sets. Records about nobody have no person here.
    pub persons: Vec<u32>,
    /// For each of the [histograms](Demand::histograms) demanded, in order, value codes with the number of records that have
    /// them. Where a table has a unit column, records about nobody have no values.
    pub histograms: Vec<Vec<(u32, u64)>>,
    /// For each of the [columns](Demand::persons_by_value) demanded, in order, value codes with the numbers of persons who
    /// have them in those records, each pair once.
    pub persons_by_value: Vec<Vec<(u32, u32)>>,
}

impl FrequencySet {
    /// A set from groups that somebody else has counted. Equal groups may come several times, for different records: rows
    /// and histograms add, persons unite.
    ///
    /// Fails when an entry has not one label for each attribute of `grouping`, or a label that no value of the layout has;
    /// when it has not what `demand` asks for, or more; when it has more persons or values than rows; when there are more
    /// rows or entries than can be counted; and when `grouping` is not of this layout.
    pub fn from_counted(
        layout: &Arc<KeyLayout>,
        grouping: &Grouping,
        demand: &Demand,
        groups: impl IntoIterator<Item = CountedGroup>,
    ) -> Result<FrequencySet> {
        match layout.width() {
            KeyWidth::U64 => collect(layout, layout.packed_u64(), grouping, demand, groups),
            KeyWidth::U128 => collect(layout, layout.packed_u128(), grouping, demand, groups),
            KeyWidth::Wide => collect(layout, layout.packed_wide(), grouping, demand, groups),
        }
    }

    /// The same of numbers of rows only, without a list for each group: for each entry the labels' codes and its rows.
    pub fn from_groups<'a>(
        layout: &Arc<KeyLayout>,
        grouping: &Grouping,
        groups: impl IntoIterator<Item = (&'a [u32], u64)>,
    ) -> Result<FrequencySet> {
        match layout.width() {
            KeyWidth::U64 => collect_rows(layout, layout.packed_u64(), grouping, groups),
            KeyWidth::U128 => collect_rows(layout, layout.packed_u128(), grouping, groups),
            KeyWidth::Wide => collect_rows(layout, layout.packed_wide(), grouping, groups),
        }
    }
}

fn collect<K: BitKey>(
    layout: &Arc<KeyLayout>,
    packed: &Packed<K>,
    grouping: &Grouping,
    demand: &Demand,
    groups: impl IntoIterator<Item = CountedGroup>,
) -> Result<FrequencySet> {
    let mut entries = Entries::new(layout, packed, grouping)?;
    let mut facts = Facts::new(demand);
    for group in groups {
        check(&group, demand)?;
        if let Some(entry) = entries.add(&group.labels, group.rows)? {
            facts.add(entry, &group.persons, &group.histograms, &group.persons_by_value);
        }
    }
    entries.into_set(facts)
}

fn collect_rows<'a, K: BitKey>(
    layout: &Arc<KeyLayout>,
    packed: &Packed<K>,
    grouping: &Grouping,
    groups: impl IntoIterator<Item = (&'a [u32], u64)>,
) -> Result<FrequencySet> {
    let mut entries = Entries::new(layout, packed, grouping)?;
    for (labels, rows) in groups {
        entries.add(labels, rows)?;
    }
    entries.into_set(Facts::new(&Demand::default()))
}

/// Has an entry what is demanded, and is it possible?
fn check(group: &CountedGroup, demand: &Demand) -> Result<()> {
    if group.histograms.len() != demand.histograms.len()
        || group.persons_by_value.len() != demand.persons_by_value.len()
        || !(demand.persons || group.persons.is_empty())
    {
        return Err(broken("other measures than were demanded"));
    }
    let is_too_many = |n: usize| n as u64 > group.rows;
    if is_too_many(group.persons.len()) || group.persons_by_value.iter().any(|pairs| is_too_many(pairs.len()))
    {
        return Err(broken("a group of more persons than rows"));
    }
    for histogram in &group.histograms {
        let sum = histogram.iter().try_fold(0_u64, |sum, &(_, n)| sum.checked_add(n));
        if sum.is_none_or(|sum| sum > group.rows) {
            return Err(broken("a group of more sensitive values than rows"));
        }
    }
    let values = group.histograms.iter().flatten().map(|&(value, _)| value);
    let pairs = group.persons_by_value.iter().flatten().flat_map(|&(value, person)| [value, person]);
    if group.persons.iter().copied().chain(values).chain(pairs).any(|code| code >= NOBODY) {
        return Err(Error::new(ErrorKind::Limit, format!("persons and values are numbered below {NOBODY}")));
    }
    Ok(())
}

/// What was counted so far, as keys with rows.
struct Entries<'a, K> {
    layout: &'a Arc<KeyLayout>,
    packed: &'a Packed<K>,
    grouping: &'a Grouping,
    /// For each attribute of the grouping, its number and the key of each label's code.
    label_keys: Vec<(usize, Vec<Option<K>>)>,
    keys: Vec<K>,
    rows: Vec<u64>,
    n_rows: u64,
}

impl<'a, K: BitKey> Entries<'a, K> {
    fn new(layout: &'a Arc<KeyLayout>, packed: &'a Packed<K>, grouping: &'a Grouping) -> Result<Self> {
        let heights = layout.heights();
        let label_keys = |(attribute, level): (usize, u8)| match heights.get(attribute) {
            Some(&height) if level <= height => {
                Ok((attribute, packed.keys_of_labels(layout, attribute, level)))
            }
            _ => Err(broken("groups by an attribute or a level that the layout does not have")),
        };
        Ok(Entries {
            layout,
            packed,
            grouping,
            label_keys: grouping.iter().map(label_keys).collect::<Result<_>>()?,
            keys: Vec::new(),
            rows: Vec::new(),
            n_rows: 0,
        })
    }

    /// Adds some records of a group. Returns the number of the entry; there is none if there are no records.
    fn add(&mut self, labels: &[u32], rows: u64) -> Result<Option<u32>> {
        if labels.len() != self.label_keys.len() {
            return Err(broken("a group that has not one label for each attribute"));
        }
        let mut key = K::zeros(self.layout.n_bits());
        for (&label, (attribute, keys)) in labels.iter().zip(&self.label_keys) {
            let Some(of_label) = keys.get(label as usize).and_then(Option::as_ref) else {
                let name = self.layout.name(*attribute);
                let message = format!("column `{name}`: a source counted a label that no known value has");
                return Err(Error::input(message).with_hint(
                    "the table must not change while it is searched, and the layout must know all its values",
                ));
            };
            key.unite(of_label);
        }
        if rows == 0 {
            return Ok(None);
        }
        let too_many =
            |what: &str| Error::new(ErrorKind::Limit, format!("there are more {what} than can be counted"));
        self.n_rows = self.n_rows.checked_add(rows).ok_or_else(|| too_many("rows"))?;
        let entry = u32::try_from(self.keys.len()).ok().filter(|&entry| entry < NOBODY);
        let entry = entry.ok_or_else(|| too_many("groups"))?;
        self.keys.push(key);
        self.rows.push(rows);
        Ok(Some(entry))
    }

    /// Merges equal groups.
    fn into_set(self, facts: Facts<'_>) -> Result<FrequencySet> {
        let target = self.packed.target(self.layout, self.grouping);
        let assignment = if facts.is_rows_only() { Assignment::Skip } else { Assignment::Record };
        let scratch = &mut Scratch::default();
        let grouped = regroup(&self.keys, Some(&self.rows), &target, Method::Auto, assignment, scratch);
        let measures = match &grouped.assignment {
            None => Measures::of_rows(grouped.rows),
            Some(assignment) => facts.into_measures(grouped.rows, assignment)?,
        };
        Ok(FrequencySet {
            layout: Arc::clone(self.layout),
            grouping: *self.grouping,
            keys: K::wrap(grouped.keys),
            measures,
        })
    }
}

fn broken(what: &str) -> Error {
    Error::new(ErrorKind::Internal, format!("a source answered with {what}"))
}
