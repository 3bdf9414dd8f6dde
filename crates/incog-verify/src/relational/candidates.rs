//! Which original persons may a released one come from, before their trees are compared?
//!
//! A released row's parents are all released. So the original has a row with the same columns as collected, below a
//! row with the same such columns, and so on up to the person: the same path of tokens. The person's own columns come
//! first in each path, and deep rows are the most telling.
//!
//! 1. For each path of tokens and each number n, the original persons who have it at least n times.
//! 2. Where that are more than [`LONG`] for n = 1, also for each path and each label: those who have at least n such
//!    rows with values that may become the label.
//! 3. A released person has each of its paths, and each label with its path, some number of times. The candidates are
//!    in all those lists: the shortest, cut by the others from short to long until [`FEW`] are left.
//!
//! Nobody is left out who could be assigned: different released rows need different original ones. Cost: sorting the
//! original rows by path, and for each released person the shortest list times the number of lists at worst; lists are
//! cut by galloping search, or by a look at a bit where they are long.

use super::assignment::{ClassedForest, Exceeded, Work};
use super::comparison::Compared;
use super::shape::Shape;
use super::signatures::paths;

/// Longer lists are split by labels.
const LONG: usize = 32;

/// Persons. A list that has more than one in this many is a set of bits, too: that takes no more memory than the list does.
const DENSE: usize = 32;

/// So few candidates are not worth cutting.
const FEW: usize = 4;

/// Original persons by what they have.
pub(super) struct Index<'a> {
    shape: &'a Shape,
    compared: &'a [Compared],
    released: &'a ClassedForest<'a>,
    tables: Vec<TableIndex>,
}

struct TableIndex {
    /// The path of each released row.
    paths: Vec<u32>,
    by_path: Postings,
    /// For each generalized column, by path and label.
    by_label: Vec<Postings>,
}

impl<'a> Index<'a> {
    pub(super) fn new(
        shape: &'a Shape,
        compared: &'a [Compared],
        released: &'a ClassedForest<'a>,
        original: &ClassedForest<'_>,
    ) -> Self {
        // Released and original rows of a table as one, so that equal paths get equal numbers.
        let n_released = &released.forest.n_rows;
        let tokens: Vec<Vec<u32>> =
            compared.iter().map(|table| [table.released.as_slice(), &table.original].concat()).collect();
        let parent_rows = shape.parents.iter().enumerate().map(|(table, parent)| {
            let shift = parent.map_or(0, |parent| n_released[parent] as u32);
            let below = &original.forest.parent_rows[table];
            released.forest.parent_rows[table]
                .iter()
                .copied()
                .chain(below.iter().map(|row| row + shift))
                .collect()
        });
        let parent_rows: Vec<Vec<u32>> = parent_rows.collect();
        let own: Vec<(&[u32], usize)> =
            tokens.iter().zip(compared).map(|(tokens, table)| (tokens.as_slice(), table.n_tokens)).collect();
        let all_paths = paths(shape, &parent_rows, &own);

        let persons = original.forest.persons(shape);
        let classes = &original.classes.of_rows[shape.root];
        let n_classes = classes.len();
        let tables = all_paths.into_iter().enumerate().map(|(table, rows)| {
            let n_paths = rows.len();
            let mut paths = rows.of_row;
            let of_original = paths.split_off(n_released[table]);
            let mut is_released = vec![false; n_paths];
            for &path in &paths {
                is_released[path as usize] = true;
            }
            // Of persons that are equal in everything one is enough.
            let class = |row: usize| {
                let person = persons[table][row];
                let class = classes.of_row[person as usize];
                (classes.first_rows[class as usize] == person).then_some(class)
            };
            let rows = || {
                let all = of_original.iter().enumerate().filter(|(_, path)| is_released[**path as usize]);
                all.filter_map(|(row, &path)| Some((row, path, class(row)?)))
            };
            let by_path =
                Postings::new(rows().map(|(_, path, class)| (key(path, 0), class)).collect(), n_classes);
            let by_label = compared[table].generalized.iter().map(|column| {
                let long = rows().filter(|&(_, path, _)| by_path.get(key(path, 0), 1).persons.len() > LONG);
                let labels = long.flat_map(|(row, path, class)| {
                    let labels = &column.paths[column.values[row] as usize];
                    labels.iter().map(move |&label| (key(path, label), class))
                });
                Postings::new(labels.collect(), n_classes)
            });
            let by_label = by_label.collect();
            TableIndex { paths, by_path, by_label }
        });
        Index { shape, compared, released, tables: tables.collect() }
    }

    /// Classes of original persons among which all are that a released person may come from; ascending.
    pub(super) fn candidates(&self, person: u32, work: &mut Work) -> Result<Vec<u32>, Exceeded> {
        // What the person has: a table, a generalized column or none, a path and a label there.
        let mut facts: Vec<(usize, Option<usize>, u64)> = Vec::new();
        let mut rows = vec![(self.shape.root, person)];
        while let Some((table, row)) = rows.pop() {
            let TableIndex { paths, by_path, .. } = &self.tables[table];
            let path = paths[row as usize];
            facts.push((table, None, key(path, 0)));
            if by_path.get(key(path, 0), 1).persons.len() > LONG {
                let columns = self.compared[table].generalized.iter().enumerate();
                facts.extend(
                    columns.map(|(at, column)| (table, Some(at), key(path, column.labels[row as usize]))),
                );
            }
            for &child in &self.shape.children[table] {
                let below = self.released.forest.children(child, row);
                rows.extend(below.iter().map(|&row| (child, row)));
            }
        }
        facts.sort_unstable();
        let lists = facts.chunk_by(|one, other| one == other).map(|equal| {
            let (table, column, key) = equal[0];
            let TableIndex { by_path, by_label, .. } = &self.tables[table];
            column.map_or(by_path, |at| &by_label[at]).get(key, equal.len() as u32)
        });
        let mut lists: Vec<List<'_>> = lists.collect();
        work.spend(lists.len() as u64)?;
        lists.sort_unstable_by_key(|list| list.persons.len());
        let Some((shortest, others)) = lists.split_first() else {
            return Ok(Vec::new());
        };
        let mut candidates = shortest.persons.to_vec();
        work.spend(candidates.len() as u64)?;
        for list in others {
            if candidates.len() <= FEW {
                break;
            }
            work.spend(candidates.len() as u64)?;
            list.cut(&mut candidates);
        }
        Ok(candidates)
    }
}

/// Persons, ascending.
#[derive(Clone, Copy)]
struct List<'a> {
    persons: &'a [u32],
    /// A bit for each person, if they are many.
    bits: Option<&'a [u64]>,
}

impl List<'_> {
    /// Leaves those who are in the list.
    fn cut(&self, candidates: &mut Vec<u32>) {
        if let Some(bits) = self.bits {
            candidates.retain(|&candidate| bits[candidate as usize / 64] >> (candidate % 64) & 1 == 1);
            return;
        }
        let mut rest = self.persons;
        candidates.retain(|candidate| {
            rest = &rest[gallop(rest, *candidate)..];
            rest.first() == Some(candidate)
        });
    }
}

/// How many numbers of an ascending list are smaller: steps are doubled, so that what is near is found at once.
fn gallop(list: &[u32], number: u32) -> usize {
    let mut step = 1;
    while step < list.len() && list[step - 1] < number {
        step *= 2;
    }
    let (start, end) = (step / 2, step.min(list.len()));
    start + list[start..end].partition_point(|&other| other < number)
}

fn key(path: u32, label: u32) -> u64 {
    u64::from(path) << 32 | u64::from(label)
}

/// Lists of persons by key, and by how often they have it at least.
struct Postings {
    /// Ascending.
    keys: Vec<(u64, u32)>,
    /// Where the list of each key starts, and the end of the last.
    starts: Vec<usize>,
    persons: Vec<u32>,
    /// Which of `bits` are those of each key, if any.
    bits_of: Vec<Option<u32>>,
    bits: Vec<Vec<u64>>,
}

impl Postings {
    /// A pair for each time that a person has a key; persons are below `n_persons`.
    fn new(mut pairs: Vec<(u64, u32)>, n_persons: usize) -> Self {
        pairs.sort_unstable();
        // The n-th time makes a person one who has it at least n times.
        let mut times: Vec<(u64, u32, u32)> = Vec::with_capacity(pairs.len());
        for equal in pairs.chunk_by(|one, other| one == other) {
            let (key, person) = equal[0];
            times.extend((1..=equal.len() as u32).map(|n| (key, n, person)));
        }
        drop(pairs);
        times.sort_unstable();
        let mut postings = Postings {
            keys: Vec::new(),
            starts: Vec::new(),
            persons: Vec::with_capacity(times.len()),
            bits_of: Vec::new(),
            bits: Vec::new(),
        };
        for (key, n, person) in times {
            if postings.keys.last() != Some(&(key, n)) {
                postings.keys.push((key, n));
                postings.starts.push(postings.persons.len());
            }
            postings.persons.push(person);
        }
        postings.starts.push(postings.persons.len());
        for bounds in postings.starts.windows(2) {
            let list = &postings.persons[bounds[0]..bounds[1]];
            let is_dense = list.len() > LONG && list.len() > n_persons / DENSE;
            postings.bits_of.push(is_dense.then_some(postings.bits.len() as u32));
            if is_dense {
                let mut bits = vec![0; n_persons.div_ceil(64)];
                for &person in list {
                    bits[person as usize / 64] |= 1 << (person % 64);
                }
                postings.bits.push(bits);
            }
        }
        postings
    }

    /// Those who have a key at least n times, ascending.
    fn get(&self, key: u64, n: u32) -> List<'_> {
        match self.keys.binary_search(&(key, n)) {
            Ok(at) => List {
                persons: &self.persons[self.starts[at]..self.starts[at + 1]],
                bits: self.bits_of[at].map(|bits| self.bits[bits as usize].as_slice()),
            },
            Err(_) => List { persons: &[], bits: None },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn galloping_finds_what_a_walk_finds() {
        for n_numbers in 0..20_u32 {
            let list: Vec<u32> = (0..n_numbers).map(|number| 2 * number + 1).collect();
            for number in 0..45 {
                assert_eq!(gallop(&list, number), list.iter().filter(|&&other| other < number).count());
            }
        }
    }

    #[test]
    fn persons_are_listed_as_often_as_they_have_something() {
        let postings = Postings::new(vec![(7, 3), (2, 9), (7, 1), (7, 3)], 10);
        let get = |key: u64, n: u32| postings.get(key, n).persons;
        assert_eq!([get(2, 1), get(7, 1), get(7, 2)], [&[9][..], &[1, 3], &[3]]);
        assert_eq!([get(1, 1), get(7, 3), Postings::new(vec![], 0).get(0, 1).persons], [&[0; 0]; 3]);
    }

    #[test]
    fn long_and_short_lists_cut_alike() {
        let multiples = |n: u32| (0..3000).filter(move |person| person % n == 0);
        let pairs = [3, 50].into_iter().flat_map(|n| multiples(n).map(move |person| (u64::from(n), person)));
        let postings = Postings::new(pairs.collect(), 3000);
        for (n, is_dense) in [(3, true), (50, false)] {
            let list = postings.get(u64::from(n), 1);
            assert_eq!(list.bits.is_some(), is_dense);
            let mut candidates: Vec<u32> = multiples(7).collect();
            list.cut(&mut candidates);
            assert_eq!(candidates, multiples(7 * n).collect::<Vec<u32>>());
        }
    }
}
