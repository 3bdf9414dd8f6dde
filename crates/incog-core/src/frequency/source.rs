//! Where do counts come from?
//!
//! **Promise.** A search asks for the groups of all records at one [`Grouping`] and gets them exactly. It sees records in
//! no other way, so whatever can count can be searched: rows in memory ([`Rows`](super::Rows)), keys on a disk
//! ([`Stored`](super::Stored)), or a database that answers with a `GROUP BY`.
//!
//! **Essence.** [`FrequencySource`] is what every engine can answer: how groups are named, how many records there are, and
//! [`count`](FrequencySource::count). What only some can offer is in two more traits, each of them there as a whole or not at
//! all:
//!
//! | reached by | trait | who has it | used by |
//! |---|---|---|---|
//! | [`keys`](FrequencySource::keys) | [`RecordKeys`] | rows in memory with keys of at most 128 bits, keys on a disk | the judge `snapshots`, to count with small counters: speed only |
//! | [`records`](FrequencySource::records) | [`Records`] | rows in memory | the judge `bitmap`, recodings of groups of records and of boxes: without it they refuse |
//!
//! Traversals, the other judges, metrics, the search for the best node, for every k, and recodings of single attributes'
//! values work from counts alone.
//!
//! **Cost.** Of a source that counts only: one `count` wherever rows in memory would be scanned ([`Work::table_scans`]). All
//! else is merging of groups that are there already ([`FrequencySet::roll_up`]). Where the groups of the whole table at level 0
//! fit the memory, [`Bottom`](super::Bottom) asks for those and nothing more.
//!
//! [`Work::table_scans`]: crate::judge::Work::table_scans

use std::sync::Arc;

use crate::error::{Error, ErrorKind, Result};
use crate::frequency::{FrequencySet, KeyLayout, Method};
use crate::group::Demand;
use crate::lattice::Grouping;

/// Where counts come from: the only door between a search and the records.
///
/// # Contract
/// - The records do not change as long as a search lasts. Rows that no longer add up to [`n_rows`](Self::n_rows) are an
///   error, but other changes are not noticed.
/// - All sets are made with the source's own [`layout`](Self::layout), the same object each time.
/// - Persons have the same numbers in all answers, and sensitive values the codes of their column's dictionary, since
///   privacy models know values by those.
/// - Threads may ask at the same time, and the same question may come again.
///
/// # Example
/// A table that is kept elsewhere, as the number of rows for each zip code and sex:
/// ```
/// use std::sync::Arc;
/// use incog_core::algorithm::Search;
/// use incog_core::judge::Problem;
/// use incog_core::frequency::{CountedGroup, FrequencySet, FrequencySource, KeyLayout, Method};
/// use incog_core::group::Demand;
/// use incog_core::hierarchy::{Attribute, Attributes, ExplicitHierarchy};
/// use incog_core::lattice::Grouping;
/// use incog_core::privacy::Policy;
/// use incog_core::table::{Column, Role};
/// use incog_core::Progress;
///
/// struct Elsewhere {
///     attributes: Attributes,
///     layout: Arc<KeyLayout>,
///     /// The codes of zip and sex, and how many rows have them.
///     cells: Vec<([usize; 2], u64)>,
/// }
///
/// impl FrequencySource for Elsewhere {
///     fn layout(&self) -> &Arc<KeyLayout> {
///         &self.layout
///     }
///
///     fn n_rows(&self) -> u64 {
///         self.cells.iter().map(|(_, rows)| rows).sum()
///     }
///
///     fn count(&self, grouping: &Grouping, demand: &Demand, _: Method) -> incog_core::Result<FrequencySet> {
///         // Equal groups are merged, so cells may be handed over as they are.
///         let groups = self.cells.iter().map(|(values, rows)| CountedGroup {
///             labels: grouping.iter().map(|(at, level)| self.attributes[at].labels_at(level)[values[at]]).collect(),
///             rows: *rows,
///             ..CountedGroup::default()
///         });
///         FrequencySet::from_counted(&self.layout, grouping, demand, groups)
///     }
/// }
///
/// # fn main() -> incog_core::Result<()> {
/// let attribute = |name: &str, rows: &[[&str; 2]]| {
///     let column = Column::from_cells(name, Role::QuasiIdentifier, rows.iter().map(|row| row[0]))?;
///     let mut hierarchy = ExplicitHierarchy::new(name, "example");
///     for (line, row) in (1..).zip(rows) {
///         hierarchy.push(line, row.iter().copied())?;
///     }
///     Attribute::bind(&column, hierarchy.finish()?, "example")
/// };
/// let attributes = Attributes::new(vec![
///     attribute("zip", &[["53715", "5371*"], ["53710", "5371*"]])?,
///     attribute("sex", &[["f", "*"], ["m", "*"]])?,
/// ])?;
/// let source = Elsewhere {
///     layout: Arc::new(KeyLayout::new(&attributes)),
///     attributes,
///     cells: vec![([0, 0], 2), ([0, 1], 1), ([1, 1], 1)],
/// };
/// let policy = Policy::k_anonymity(2)?;
/// let found = Search::default().run(Problem { source: &source, policy: &policy }, &Progress::new())?;
/// let minimal: Vec<Vec<u8>> = found.minimal.iter().map(|&node| found.lattice.levels(node).collect()).collect();
/// assert_eq!(minimal, [[1, 0]], "zip codes masked, sex as collected");
/// # Ok(())
/// # }
/// ```
pub trait FrequencySource: Send + Sync {
    /// How groups are named. Made from the attributes, and the values that occur, by [`KeyLayout::new`].
    fn layout(&self) -> &Arc<KeyLayout>;

    /// How many records there are.
    fn n_rows(&self) -> u64;

    /// Groups all records once and counts what `demand` asks for.
    ///
    /// The answer has exactly the groups that records are in, at exactly `grouping`, with exactly the measures of `demand`:
    /// [`FrequencySet::from_counted`] makes it from plain data. Without an attribute there is one group of all records, and
    /// without records there is none. It may be [rolled up](FrequencySet::roll_up) from any set whose grouping it generalizes
    /// and that has the same measures: rows and histograms add, persons unite. Groups come in any order.
    ///
    /// `method` is a wish of judges that compare kernels; whoever does not group with them leaves it alone.
    fn count(&self, grouping: &Grouping, demand: &Demand, method: Method) -> Result<FrequencySet>;

    /// How many bytes of groups a search may keep, if that is limited.
    fn room(&self) -> Option<u64> {
        None
    }

    /// Would it rather tell how large groups are ([`sizes`](Self::sizes)) than hand them all over?
    fn tells_sizes(&self) -> bool {
        false
    }

    /// How many groups have how many records, or persons, at a grouping: pairs of both. `None` where groups are as cheap. Judges ask it to
    /// refuse nodes for their small groups.
    fn sizes(&self, grouping: &Grouping, by_persons: bool) -> Result<Option<Vec<(u64, u64)>>> {
        let _ = (grouping, by_persons);
        Ok(None)
    }

    /// How many records have each value of an attribute, by value code, where the lowest level is ruled out: then no counts of
    /// groups say it. `None` where it is not, and where the source has counts only.
    fn rows_of_values(&self, attribute: usize) -> Option<&[u64]> {
        let _ = attribute;
        None
    }

    /// Frequency sets that were computed before, for the judge `cube` to begin with: of these records, with nothing but rows.
    fn kept_sets(&self) -> &[Arc<FrequencySet>] {
        &[]
    }

    /// The records' packed keys, where they can be read. For speed: whoever asks has another way.
    fn keys(&self) -> Option<&dyn RecordKeys> {
        None
    }

    /// The records themselves, where they are at hand. Whoever has no other way refuses a source without them, with an error
    /// of [`ErrorKind::Policy`].
    fn records(&self) -> Option<&dyn Records> {
        None
    }
}

/// The packed key of every record, for searches that count by themselves. The bits are those of the source's layout.
pub trait RecordKeys: Sync {
    /// All keys, where they are in memory and few enough to be looked at together.
    fn at_once(&self) -> Option<PackedKeys<'_>>;

    /// Shows all keys, many at a time. Those that are not in memory are read anew each time.
    fn visit(&self, visit: &mut dyn FnMut(PackedKeys<'_>) -> Result<()>) -> Result<()>;
}

/// A key for each record.
#[derive(Debug, Clone, Copy)]
pub enum PackedKeys<'a> {
    /// Of 64 bits.
    U64(&'a [u64]),
    /// Of 128 bits.
    U128(&'a [u128]),
}

/// Every record, one by one and in order: for what counts cannot answer.
pub trait Records: Sync {
    /// Shows a code of each record for an attribute, in order, many at a time: equal where labels at level 0 are equal, and
    /// known to the layout.
    fn visit_codes(&self, attribute: usize, visit: &mut dyn FnMut(&[u32]));

    /// Shows the code of each record's value in a sensitive column, in order, many at a time. Fails where the column was not
    /// loaded.
    fn visit_sensitive(&self, column: usize, visit: &mut dyn FnMut(&[u32])) -> Result<()>;

    /// The records as cells, for searches that recode some of the records of a group and not others.
    fn cells(&self, demand: &Demand) -> Result<DistinctRecords>;

    /// The records that are to be kept, in order, as a source of its own with the same layout.
    fn some_records(&self, is_kept: &[bool]) -> Box<dyn FrequencySource>;
}

/// All records, with equal ones merged into one *cell*: its records have equal labels at level 0 and are equal in
/// everything that was demanded.
///
/// # Invariants
/// Cells are numbered in the order of their first records, and none is empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DistinctRecords {
    /// The cell of each record.
    pub of_record: Vec<u32>,
    /// How many records each cell has.
    pub rows: Vec<u32>,
    /// The label at level 0 of each cell in each attribute: those of the first cell, then those of the second, ...
    pub labels: Vec<u32>,
    /// The code of each cell's person, where persons were demanded.
    pub persons: Option<Vec<u32>>,
    /// For each histogram demanded, in order, the code of each cell.
    pub sensitive: Vec<Vec<u32>>,
}

/// The records for somebody who cannot do without, called `who` in the message; `instead` says what to do where the source
/// has counts only.
pub(crate) fn records_for<'a>(
    source: &'a dyn FrequencySource,
    who: &str,
    instead: &str,
) -> Result<&'a dyn Records> {
    source.records().ok_or_else(|| {
        let message = format!("{who} needs the records, and this source has counts only");
        Error::new(ErrorKind::Policy, message).with_hint(instead)
    })
}

/// Asks a source, and refuses what is no answer: a set with another layout or grouping, without what was demanded or with
/// more (a group's size is its persons where they are counted, and else its rows), or whose rows do not add up.
pub(crate) fn counted(
    source: &dyn FrequencySource,
    grouping: &Grouping,
    demand: &Demand,
    method: Method,
) -> Result<FrequencySet> {
    let set = source.count(grouping, demand, method)?;
    let broken = |what: &str| Err(Error::new(ErrorKind::Internal, format!("a source answered with {what}")));
    if !Arc::ptr_eq(&set.layout, source.layout()) {
        return broken("groups that are named by another layout");
    }
    if set.grouping != *grouping {
        return broken("groups at other levels than were asked for");
    }
    if !set.measures.are_what(demand) {
        return broken("other measures than were demanded");
    }
    let rows = set.measures.rows().iter().try_fold(0_u64, |sum, &rows| sum.checked_add(rows));
    if rows != Some(source.n_rows()) {
        return Err(Error::input(format!(
            "the groups of the table have {} rows, and the table has {}",
            rows.map_or_else(|| "too many".to_owned(), |rows| rows.to_string()),
            source.n_rows()
        ))
        .with_hint("the table must not change while it is searched"));
    }
    Ok(set)
}
