//! A table whose codes are in a temporary file, and a release of it, as the checker and sinks see them.
//!
//! Reading may fail, and those who ask cannot be told: the first failure is remembered, codes are zero from then on, and whoever
//! made the release asks for it before anything appears ([`Spilled::check`]).

use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};

use incog_core::hierarchy::{Attribute, Attributes};
use incog_core::recoding::{PerGroup, PerLevel};
use incog_core::table::{Column, Role, Table};
use incog_core::{Error, ErrorKind, Result};
use incog_verify::{LabelColumn, Labels};
use rayon::prelude::*;

use super::Spilled;
use super::codes::BLOCK;
use super::codes::Codes;

/// The first thing that went wrong.
#[derive(Debug, Default)]
pub(super) struct Failure(Mutex<Option<Error>>);

impl Failure {
    fn note(&self, result: Result<()>) {
        if let Err(error) = result {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        }
    }

    /// Fails if anything could not be read.
    pub(super) fn check(&self) -> Result<()> {
        match &*self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(error) => Err(error.clone()),
            None => Ok(()),
        }
    }
}

/// The table itself.
pub(crate) struct SpilledInput<'a> {
    /// Its values.
    table: &'a Table,
    codes: &'a Codes,
    failure: &'a Failure,
}

impl<'a> SpilledInput<'a> {
    pub(crate) fn new(table: &'a Table, spilled: &'a Spilled) -> Self {
        SpilledInput { table, codes: &spilled.codes, failure: &spilled.failure }
    }
}

impl Labels for SpilledInput<'_> {
    fn header(&self) -> Vec<&str> {
        self.table.columns().iter().map(Column::name).collect()
    }

    fn n_rows(&self) -> usize {
        self.codes.n_rows()
    }

    fn column(&self, column_idx: usize) -> LabelColumn<'_> {
        all_codes(self, column_idx)
    }

    fn labels(&self, column_idx: usize) -> Vec<&str> {
        self.table.columns()[column_idx].dictionary().values().collect()
    }

    fn codes_from(&self, column_idx: usize, first: usize, to: &mut [u32]) {
        if let Err(error) = self.codes.read(column_idx, first, to) {
            to.fill(0);
            self.failure.note(Err(error));
        }
    }
}

/// A column with all its codes, for who cannot do with less.
fn all_codes(table: &dyn Labels, column_idx: usize) -> LabelColumn<'_> {
    let mut codes = vec![0; table.n_rows()];
    table.codes_from(column_idx, 0, &mut codes);
    LabelColumn { labels: table.labels(column_idx), codes: Cow::Owned(codes) }
}

/// A release of it.
pub(crate) struct SpilledRelease {
    /// The values of all columns.
    table: Table,
    attributes: Attributes,
    spilled: Arc<Spilled>,
    columns: Vec<ReleasedColumn>,
    /// Which record is in which group, where groups have levels of their own.
    groups: Option<PerGroup>,
    /// A bit for each row of the table: is it released? Blocks of rows start with a new word.
    is_released: Vec<u64>,
    /// How many rows are released before each block, and in all.
    before: Vec<usize>,
}

#[derive(Clone, Copy)]
struct ReleasedColumn {
    /// Where it stands in the table.
    at: usize,
    /// Which attribute it is, and how it is generalized; `None` if it is as collected.
    generalized: Option<(usize, Generalized)>,
}

/// At which level a column's labels are.
#[derive(Clone, Copy)]
enum Generalized {
    /// All at one level.
    Alike(u8),
    /// Each row at that of its group. The labels of all levels stand one after the other, lowest first.
    ByGroup,
}

/// Words of bits to a block.
const WORDS: usize = BLOCK.div_ceil(64);

impl SpilledRelease {
    /// Finds out which rows are released.
    pub(crate) fn new(
        table: &Table,
        spilled: &Arc<Spilled>,
        attributes: &Attributes,
        recoding: &PerLevel,
    ) -> Result<Self> {
        let codes = &spilled.codes;
        let place = |attribute: &Attribute| {
            table
                .place(attribute.name())
                .ok_or_else(|| Error::input(format!("the table has no column `{}`", attribute.name())))
        };
        let places: Vec<usize> = attributes.iter().map(place).collect::<Result<_>>()?;
        let n_rows = codes.n_rows();
        let blocks: Vec<usize> = (0..n_rows).step_by(BLOCK).collect();
        let bits = blocks.into_par_iter().map(|first| -> Result<Vec<u64>> {
            let n = BLOCK.min(n_rows - first);
            let mut columns = vec![vec![0; n]; places.len()];
            for (codes_of, &place) in columns.iter_mut().zip(&places) {
                codes.read(place, first, codes_of)?;
            }
            let columns: Vec<&[u32]> = columns.iter().map(Vec::as_slice).collect();
            let mut bits = vec![0_u64; WORDS];
            for row in recoding.released(&columns) {
                bits[row as usize / 64] |= 1 << (row % 64);
            }
            Ok(bits)
        });
        let is_released: Vec<u64> = bits.collect::<Result<Vec<_>>>()?.concat();
        let how = |attribute: usize| Generalized::Alike(recoding.levels()[attribute]);
        Ok(SpilledRelease::of_bits(table, spilled, attributes, is_released, how))
    }

    /// The release of a recoding whose groups have levels of their own.
    pub(crate) fn of_groups(
        table: &Table,
        spilled: &Arc<Spilled>,
        attributes: &Attributes,
        recoding: PerGroup,
    ) -> Result<Self> {
        let n_rows = spilled.codes.n_rows();
        if recoding.n_records() != n_rows {
            return Err(Error::new(ErrorKind::Internal, "a recoding is applied to another table"));
        }
        let mut is_released = vec![0_u64; n_rows.div_ceil(BLOCK) * WORDS];
        for row in (0..n_rows).filter(|&row| recoding.group_of(row).is_some()) {
            is_released[row / BLOCK * WORDS + row % BLOCK / 64] |= 1 << (row % BLOCK % 64);
        }
        // A column that is at one level after all has the labels of that level only.
        let how = |attribute: usize| {
            let mut levels = (0..recoding.n_groups()).map(|group| recoding.levels(group)[attribute]);
            match levels.next() {
                Some(first) if levels.all(|level| level == first) => Generalized::Alike(first),
                _ => Generalized::ByGroup,
            }
        };
        let mut release = SpilledRelease::of_bits(table, spilled, attributes, is_released, how);
        release.groups = Some(recoding);
        Ok(release)
    }

    fn of_bits(
        table: &Table,
        spilled: &Arc<Spilled>,
        attributes: &Attributes,
        is_released: Vec<u64>,
        how: impl Fn(usize) -> Generalized,
    ) -> Self {
        let mut before = vec![0];
        let mut n_released = 0;
        for words in is_released.chunks(WORDS) {
            n_released += words.iter().map(|word| word.count_ones() as usize).sum::<usize>();
            before.push(n_released);
        }
        let columns =
            table.columns().iter().enumerate().filter(|(_, column)| column.role() != Role::Identifier);
        let columns = columns
            .map(|(at, column)| {
                let attribute = attributes.iter().position(|attribute| attribute.name() == column.name());
                ReleasedColumn { at, generalized: attribute.map(|number| (number, how(number))) }
            })
            .collect();
        SpilledRelease {
            table: table.clone(),
            attributes: attributes.clone(),
            spilled: Arc::clone(spilled),
            columns,
            groups: None,
            is_released,
            before,
        }
    }

    /// The row of the table that is the released row of this number.
    fn row(&self, number: usize) -> usize {
        let block = self.before.partition_point(|&before| before <= number) - 1;
        let mut left = number - self.before[block];
        let mut row = block * BLOCK;
        for word in &self.is_released[block * WORDS..] {
            let n = word.count_ones() as usize;
            if left < n {
                let mut word = *word;
                for _ in 0..left {
                    word &= word - 1;
                }
                return row + word.trailing_zeros() as usize;
            }
            left -= n;
            row += 64;
        }
        row
    }

    /// The codes of a column whose groups have levels of their own.
    fn read_by_group(
        &self,
        (at, attribute): (usize, usize),
        groups: &PerGroup,
        first: usize,
        to: &mut [u32],
    ) -> Result<()> {
        let attribute_labels = &self.attributes[attribute];
        let hierarchy = attribute_labels.hierarchy();
        // Where the labels of each level begin.
        let mut starts = vec![0_u32];
        for level in 0..attribute_labels.height() {
            starts.push(starts[usize::from(level)] + hierarchy.labels(level).len() as u32);
        }
        let n_rows = self.spilled.codes.n_rows();
        let mut row = if to.is_empty() { n_rows } else { self.row(first) };
        let mut codes = Vec::new();
        let mut to = to.iter_mut();
        while row < n_rows && to.len() > 0 {
            codes.resize((to.len() + to.len() / 16 + 64).min(n_rows - row), 0);
            self.spilled.codes.read(at, row, &mut codes)?;
            for &code in &codes {
                if let Some(group) = groups.group_of(row) {
                    let Some(to) = to.next() else { return Ok(()) };
                    let level = groups.levels(group)[attribute];
                    *to = starts[usize::from(level)] + attribute_labels.labels_at(level)[code as usize];
                }
                row += 1;
            }
        }
        if to.len() > 0 {
            return Err(Error::new(ErrorKind::Internal, "a release has fewer rows than it says"));
        }
        Ok(())
    }

    fn read(&self, column: ReleasedColumn, first: usize, to: &mut [u32]) -> Result<()> {
        if let (Some((attribute, Generalized::ByGroup)), Some(groups)) = (column.generalized, &self.groups) {
            return self.read_by_group((column.at, attribute), groups, first, to);
        }
        if to.is_empty() {
            return Ok(());
        }
        let mut row = self.row(first);
        let mut n_done = 0;
        let mut codes = Vec::new();
        while n_done < to.len() {
            let missing = to.len() - n_done;
            let n = (missing + missing / 16 + 64).min(self.spilled.codes.n_rows() - row);
            if n == 0 {
                return Err(Error::new(ErrorKind::Internal, "a release has fewer rows than it says"));
            }
            codes.resize(n, 0);
            self.spilled.codes.read(column.at, row, &mut codes)?;
            let mut at = 0;
            while at < n && n_done < to.len() {
                let in_block = (row + at) % BLOCK;
                let word = self.is_released[(row + at) / BLOCK * WORDS + in_block / 64];
                // Most rows are released: as many as a word has bits, all at once.
                if word == u64::MAX && in_block.is_multiple_of(64) && n - at >= 64 && to.len() - n_done >= 64
                {
                    to[n_done..n_done + 64].copy_from_slice(&codes[at..at + 64]);
                    n_done += 64;
                    at += 64;
                    continue;
                }
                to[n_done] = codes[at];
                n_done += (word >> (in_block % 64) & 1) as usize;
                at += 1;
            }
            row += n;
        }
        if let Some((attribute, Generalized::Alike(level))) = column.generalized {
            let labels = self.attributes[attribute].labels_at(level);
            to.iter_mut().for_each(|code| *code = labels[*code as usize]);
        }
        Ok(())
    }
}

impl Labels for SpilledRelease {
    fn header(&self) -> Vec<&str> {
        self.columns.iter().map(|released| self.table.columns()[released.at].name()).collect()
    }

    fn n_rows(&self) -> usize {
        self.before.last().copied().unwrap_or(0)
    }

    fn column(&self, column_idx: usize) -> LabelColumn<'_> {
        all_codes(self, column_idx)
    }

    fn labels(&self, column_idx: usize) -> Vec<&str> {
        let ReleasedColumn { at, generalized } = self.columns[column_idx];
        match generalized {
            None => self.table.columns()[at].dictionary().values().collect(),
            Some((attribute, Generalized::Alike(level))) => {
                self.attributes[attribute].hierarchy().labels(level).values().collect()
            }
            Some((attribute, Generalized::ByGroup)) => {
                let attribute = &self.attributes[attribute];
                let levels = 0..=attribute.height();
                levels.flat_map(|level| attribute.hierarchy().labels(level).values()).collect()
            }
        }
    }

    fn codes_from(&self, column_idx: usize, first: usize, to: &mut [u32]) {
        if let Err(error) = self.read(self.columns[column_idx], first, to) {
            to.fill(0);
            self.spilled.failure.note(Err(error));
        }
    }
}
