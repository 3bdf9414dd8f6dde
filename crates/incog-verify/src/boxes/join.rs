//! Which input rows lie in which boxes?
//!
//! Boxes and rows are divided together until there are few: along the column and at the place where it saves most
//! comparisons, by the count of a sample. A box on both sides of the cut goes to both. Boxes of Mondrian were made by such
//! cuts, so that few or none do.
//!
//! Pairs are stored as far as they are few. Otherwise each box gets the rows that fit it in the column where fewest do;
//! those are neighbours in the order of the column's places, and need no memory of their own.
//!
//! Cost: about n log n for n boxes that hardly overlap, n boxes times m rows at worst.

use super::sides::Sides;
use crate::local::{Fits, Lists, MAX_EDGES, Slice};

/// Pairs that are compared without another cut.
const FEW_PAIRS: usize = 1 << 12;

/// Boxes and rows that are looked at to choose a cut, at most.
const SAMPLE: usize = 64;

/// All columns of a release by boxes.
pub(super) struct Columns(pub(super) Vec<Sides>);

impl Fits for Columns {
    fn of_label(&self, column: usize) -> (&[u32], usize) {
        (&self.0[column].of_label, self.0[column].n_labels)
    }

    fn of_value(&self, column: usize) -> (&[u32], usize) {
        (&self.0[column].of_value, self.0[column].n_places)
    }

    fn stands_for(&self, column: usize, label: u32, value: u32) -> bool {
        self.0[column].stands_for(label, value)
    }

    fn lists(&self, labels: &[Vec<u32>], values: &[Vec<u32>]) -> Lists {
        let join = Join { columns: &self.0, labels, values };
        join.pairs(MAX_EDGES).unwrap_or_else(|| join.by_one_column())
    }
}

impl Columns {
    /// What is done where there are too many pairs.
    #[cfg(test)]
    pub(super) fn lists_by_one_column(&self, labels: &[Vec<u32>], values: &[Vec<u32>]) -> Lists {
        Join { columns: &self.0, labels, values }.by_one_column()
    }
}

struct Join<'a> {
    columns: &'a [Sides],
    /// In each column, the label of each box.
    labels: &'a [Vec<u32>],
    /// In each column, the place of each row.
    values: &'a [Vec<u32>],
}

/// Boxes and rows that may lie in them.
struct Part {
    boxes: Vec<u32>,
    rows: Vec<u32>,
}

impl Part {
    fn n_pairs(&self) -> usize {
        self.boxes.len() * self.rows.len()
    }
}

impl Join<'_> {
    fn n_boxes(&self) -> usize {
        self.labels.first().map_or(0, Vec::len)
    }

    fn n_rows(&self) -> usize {
        self.values.first().map_or(0, Vec::len)
    }

    /// The rows of each box, unless there are more than `most`.
    fn pairs(&self, most: usize) -> Option<Lists> {
        let mut found: Vec<Vec<u32>> = vec![Vec::new(); self.n_boxes()];
        let mut n_found = 0;
        // No recursion: a hostile release could make it deep.
        let mut open = vec![Part {
            boxes: (0..self.n_boxes() as u32).collect(),
            rows: (0..self.n_rows() as u32).collect(),
        }];
        while let Some(part) = open.pop() {
            if let Some((below, above)) = self.divided(&part) {
                open.extend([below, above]);
                continue;
            }
            for &number in &part.boxes {
                let rows = part.rows.iter().copied().filter(|&row| self.contains(number, row));
                let before = found[number as usize].len();
                found[number as usize].extend(rows);
                n_found += found[number as usize].len() - before;
            }
            if n_found > most {
                return None;
            }
        }
        Some(Lists::of_edges(found))
    }

    fn contains(&self, number: u32, row: u32) -> bool {
        let sides = self.labels.iter().zip(self.values).zip(self.columns);
        sides.into_iter().all(|((labels, values), column)| {
            column.stands_for(labels[number as usize], values[row as usize])
        })
    }

    /// Two parts with fewer pairs together, if there are any.
    fn divided(&self, part: &Part) -> Option<(Part, Part)> {
        if part.n_pairs() <= FEW_PAIRS {
            return None;
        }
        let (column, cut) = self.best_cut(part)?;
        let (labels, values, sides) = (&self.labels[column], &self.values[column], &self.columns[column]);
        let reach = |number: &&u32| sides.reach(labels[**number as usize]);
        let mut below = Part { boxes: Vec::new(), rows: Vec::new() };
        let mut above = Part { boxes: Vec::new(), rows: Vec::new() };
        below.boxes.extend(part.boxes.iter().filter(|number| reach(number).start < cut));
        above.boxes.extend(part.boxes.iter().filter(|number| reach(number).end > cut));
        let is_below = |row: &u32| values[*row as usize] < cut;
        (below.rows, above.rows) = part.rows.iter().copied().partition(is_below);
        // What a sample says need not be so.
        (below.n_pairs() + above.n_pairs() < part.n_pairs()).then_some((below, above))
    }

    /// The column and the place where a cut leaves the fewest pairs, if it leaves out one in ten.
    fn best_cut(&self, part: &Part) -> Option<(usize, u32)> {
        let boxes = sample(&part.boxes);
        let rows = sample(&part.rows);
        let mut best = (boxes.len() * rows.len() * 9 / 10, None);
        for (column, sides) in self.columns.iter().enumerate() {
            let reach = |&number: &u32| sides.reach(self.labels[column][number as usize]);
            let mut starts: Vec<u32> = boxes.iter().map(|number| reach(number).start).collect();
            let mut ends: Vec<u32> = boxes.iter().map(|number| reach(number).end).collect();
            let mut places: Vec<u32> = rows.iter().map(|&row| self.values[column][row as usize]).collect();
            starts.sort_unstable();
            ends.sort_unstable();
            places.sort_unstable();
            let mut last = None;
            for &cut in starts.iter().chain(&ends) {
                if last.replace(cut) == Some(cut) {
                    continue;
                }
                let below = starts.partition_point(|&start| start < cut);
                let above = ends.len() - ends.partition_point(|&end| end <= cut);
                let rows_below = places.partition_point(|&place| place < cut);
                let n_pairs = below * rows_below + above * (places.len() - rows_below);
                if n_pairs < best.0 {
                    best = (n_pairs, Some((column, cut)));
                }
            }
        }
        best.1
    }

    /// For each box the rows that fit it in one column.
    fn by_one_column(&self) -> Lists {
        let mut lists = Vec::new();
        let mut slices = vec![Slice { list: 0, start: 0, end: self.n_rows() as u32 }; self.n_boxes()];
        for (column, sides) in self.columns.iter().enumerate() {
            let values = &self.values[column];
            let mut rows: Vec<u32> = (0..values.len() as u32).collect();
            rows.sort_by_key(|&row| values[row as usize]);
            let position = |place: u32| rows.partition_point(|&row| values[row as usize] < place) as u32;
            for (slice, &label) in slices.iter_mut().zip(&self.labels[column]) {
                let reach = sides.reach(label);
                let (start, end) = (position(reach.start), position(reach.end));
                if end - start < slice.end - slice.start {
                    *slice = Slice { list: column as u32, start, end };
                }
            }
            lists.push(rows);
        }
        Lists { lists, slices, are_edges: false }
    }
}

/// Some of the numbers, evenly spread.
fn sample(numbers: &[u32]) -> Vec<u32> {
    let every = numbers.len().div_ceil(SAMPLE).max(1);
    numbers.iter().copied().step_by(every).collect()
}
