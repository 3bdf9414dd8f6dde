//! At which levels was a release made, if its labels alone do not tell?
//!
//! A hierarchy may repeat a label on several levels: with the paths `b;b;*` and `c;b;*` a released `b` is of level 0 or 1.
//! Counting the labels of a column then leaves it several levels, and all columns together a product of them. A
//! combination *fits* if the input, recoded at it, has every released group exactly as it was released: each released row is
//! an input row of its own, and no other input row is in a released group. This search finds every combination
//! that fits, finest first, up to those that cannot be told apart, until the caller accepts one.
//!
//! 1. Levels that give every value of the input the same label are one.
//! 2. Columns with one level left, and those released as collected, cut input and release into *bases*. Input rows that
//!    have one label in every other column are settled: they are in a released group, or they were left out.
//!    What is released beyond them must come from the others, the *open* rows, and those are mostly few.
//! 3. Columns are decided one after the other, which divides the rows into classes of equal labels so far. What is still
//!    to be released of a class must be there as open rows. A level at which it is not is left out, for each
//!    undecided column, after each decision: counts of labels in the first round, of pairs and of whole rows later.
//! 4. Levels of a column that divide the classes alike are one from here on, and a division that was seen before is not
//!    looked at again. So what only divides the few rows that were left out does not multiply.
//! 5. Where every column is decided, each class with a released group must have as many open rows as are to be released.
//!
//! Sound, whoever made the release: the search only proposes. What it proposes is compared row by row, like levels that
//! somebody claims. It does not matter at which combination that succeeds: the claim is that there is one, and a file that is
//! equal to an honest release at these levels is that release, however it came about.
//!
//! Complete: every step leaves out only what cannot fit. In general there may be exponentially many divisions; after
//! [`MAX_WORK`] looks at a row the search stops, and says that nothing is decided.

use crate::Labels;
use crate::hash;
use crate::keys::{Groups, Keys, Numbers};

/// Looks at a row until the search gives up: about half a minute.
pub(crate) const MAX_WORK: u64 = 1 << 30;

/// Numbers that are kept of divisions seen before (256 MiB).
const MAX_SEEN: usize = 1 << 26;

/// A quasi-identifier, with the levels that it may be at.
pub(crate) struct LevelColumn {
    /// The levels, no two of which give all values the same labels.
    levels: Vec<usize>,
    /// The number of each label code of the release.
    of_label: Vec<u32>,
    /// For each of the levels, the number of the label that each value code of the input is recoded to.
    of_value: Vec<Vec<u32>>,
    n_numbers: usize,
}

impl LevelColumn {
    /// `label` tells what a value of the input is recoded to at a level; `occurs` tells whether it stands in a row.
    pub(crate) fn new<'a>(
        possible: &[usize],
        released: &[&'a str],
        collected: &[&'a str],
        occurs: impl Fn(&str) -> bool,
        label: impl Fn(&'a str, usize) -> &'a str,
    ) -> Self {
        let mut numbers = Numbers::default();
        let of_label = numbers.all(released.iter().copied());
        let occurs: Vec<bool> = collected.iter().map(|value| occurs(value)).collect();
        let (mut levels, mut of_value) = (Vec::new(), Vec::new());
        for &level in possible {
            let labels = collected.iter().zip(&occurs);
            // What stands in no row makes no difference.
            let here: Vec<u32> = labels
                .map(|(value, &occurs)| if occurs { numbers.number(label(value, level)) } else { 0 })
                .collect();
            if !of_value.contains(&here) {
                levels.push(level);
                of_value.push(here);
            }
        }
        LevelColumn { levels, of_label, of_value, n_numbers: numbers.len() }
    }

    /// The levels, one for all that give the same labels.
    pub(crate) fn levels(&self) -> &[usize] {
        &self.levels
    }

    /// Are all its levels alike?
    pub(crate) fn is_decided(&self) -> bool {
        self.levels.len() == 1
    }
}

/// Where the columns of a release stand.
#[derive(Clone, Copy)]
pub(crate) struct Tables<'a> {
    pub(crate) release: &'a dyn Labels,
    pub(crate) input: &'a dyn Labels,
    /// The quasi-identifiers among the released columns.
    pub(crate) quasi: &'a [usize],
    /// Where each released column stands in the input.
    pub(crate) origins: &'a [usize],
}

/// What came of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// A combination was accepted.
    Accepted,
    /// No combination fits and is accepted.
    None,
    /// That was not decided within the work allowed.
    Exceeded,
}

/// Proposes combinations of levels that fit until one is accepted. `most_left_out` is the size that groups which were
/// left out have at most, where that is all that is asked of them. `cost` is the work that it takes to judge a proposal.
pub(crate) fn search(
    tables: Tables<'_>,
    columns: &[LevelColumn],
    most_left_out: Option<u64>,
    mut work: u64,
    cost: u64,
    mut accepts: impl FnMut(&[usize]) -> bool,
) -> Outcome {
    let open: Vec<usize> = (0..columns.len()).filter(|&at| !columns[at].is_decided()).collect();
    let Some(items) = Items::new(tables, columns, &open) else {
        return Outcome::None;
    };
    let mut seen: hash::Set<(Vec<OpenColumn>, Vec<u32>)> = hash::Set::default();
    let mut n_seen = 0;
    let all = |(at, &column): (usize, &usize)| OpenColumn {
        at,
        levels: (0..columns[column].levels.len()).collect(),
    };
    let mut nodes = vec![Node {
        classes: items.bases.clone(),
        undecided: open.iter().enumerate().map(all).collect(),
        decided: vec![0; open.len()],
    }];
    // No recursion: there may be many columns.
    while let Some(mut node) = nodes.pop() {
        match items.propagate(&mut node, &mut work) {
            Ok(true) => {}
            Ok(false) => continue,
            Err(Exceeded) => return Outcome::Exceeded,
        }
        let Some(branch) = (0..node.undecided.len()).min_by_key(|&at| node.undecided[at].levels.len()) else {
            if !items.fits(&node.classes, most_left_out) {
                continue;
            }
            let Some(rest) = work.checked_sub(cost) else {
                return Outcome::Exceeded;
            };
            work = rest;
            let mut levels: Vec<usize> = columns.iter().map(|column| column.levels[0]).collect();
            for (&column, &chosen) in open.iter().zip(&node.decided) {
                levels[column] = columns[column].levels[chosen];
            }
            if accepts(&levels) {
                return Outcome::Accepted;
            }
            continue;
        };
        n_seen += node.classes.len();
        if n_seen > MAX_SEEN {
            // What was forgotten is only looked at again.
            seen.clear();
            n_seen = node.classes.len();
        }
        if !seen.insert((node.undecided.clone(), node.classes.clone())) {
            continue;
        }
        let OpenColumn { at, levels } = node.undecided.remove(branch);
        // The last is taken first: the finest.
        for &level in levels.iter().rev() {
            let mut decided = node.decided.clone();
            decided[at] = level;
            let classes = items.divide(&node.classes, at, level);
            nodes.push(Node { classes, undecided: node.undecided.clone(), decided });
        }
    }
    Outcome::None
}

/// The work allowed is done.
struct Exceeded;

/// Some columns are decided.
struct Node {
    /// The class of each item by what is decided.
    classes: Vec<u32>,
    undecided: Vec<OpenColumn>,
    /// For each open column which of its levels was chosen, once it is.
    decided: Vec<usize>,
}

/// An open column, and which of its levels are left.
#[derive(Clone, PartialEq, Eq, Hash)]
struct OpenColumn {
    at: usize,
    levels: Vec<usize>,
}

/// What the search divides: open input rows first, then settled rows that were left out, then released groups.
struct Items {
    /// How many are rows of the input.
    n_rows: usize,
    /// The base of each, without the columns released as collected.
    bases: Vec<u32>,
    /// For each open column and level, the label of each.
    labels: Vec<Vec<Vec<u32>>>,
    /// How many rows of the input each is; 0 for released groups.
    counts: Vec<u64>,
    /// What each open row has in the columns released as collected.
    others: Vec<u32>,
    /// What is to be released beyond the settled rows: the released group, what it has in the columns released as
    /// collected, and how many rows.
    demands: Vec<(u32, u32, u64)>,
}

/// Distinct rows of a table: the numbers of the columns released as collected, of the base and in each open column.
struct Distinct {
    others: Vec<u32>,
    bases: Vec<u32>,
    columns: Vec<Vec<u32>>,
    counts: Vec<u64>,
}

impl Distinct {
    fn len(&self) -> usize {
        self.counts.len()
    }
}

impl Items {
    /// `None` if nothing fits, whatever the levels.
    fn new(tables: Tables<'_>, columns: &[LevelColumn], open: &[usize]) -> Option<Self> {
        let Tables { release, input, quasi, origins } = tables;
        let n_released = release.n_rows();
        let n_all = n_released + input.n_rows();
        let mut keys = Keys::new(n_all);
        for at in (0..origins.len()).filter(|at| !quasi.contains(at)) {
            let (released, collected) = (release.column(at), input.column(origins[at]));
            let mut numbers = Numbers::default();
            let of_released = numbers.all(released.labels.iter().copied());
            let of_collected = numbers.all(collected.labels.iter().copied());
            keys.fold(&[(&released.codes, &of_released), (&collected.codes, &of_collected)], numbers.len());
        }
        let others = keys.into_groups();
        let mut keys = Keys::new(n_all);
        for (&at, column) in quasi.iter().zip(columns).filter(|(_, column)| column.is_decided()) {
            let (released, collected) = (release.column(at), input.column(origins[at]));
            let parts =
                [(&*released.codes, &*column.of_label), (&*collected.codes, column.of_value[0].as_slice())];
            keys.fold(&parts, column.n_numbers);
        }
        let bases = keys.into_groups();

        // Values with the same labels at all levels are one.
        let variants: Vec<Variants> = open.iter().map(|&at| Variants::of(&columns[at])).collect();
        let released: Vec<(usize, &[u32], usize)> = open
            .iter()
            .map(|&at| (quasi[at], columns[at].of_label.as_slice(), columns[at].n_numbers))
            .collect();
        let collected: Vec<(usize, &[u32], usize)> = open
            .iter()
            .zip(&variants)
            .map(|(&at, variants)| (origins[quasi[at]], variants.of_value.as_slice(), variants.labels.len()))
            .collect();
        let released = distinct(release, &others, &bases, 0, &released);
        let collected = distinct(input, &others, &bases, n_released, &collected);
        Items::of(&released, &collected, &variants)
    }

    fn of(released: &Distinct, collected: &Distinct, variants: &[Variants]) -> Option<Self> {
        // A released group is a base with labels.
        let mut groups: hash::Map<Vec<u32>, u32> = hash::Map::default();
        let mut demands: hash::Map<(u32, u32), u64> = hash::Map::default();
        let labels_of = |row: usize| -> Vec<u32> {
            let labels = released.columns.iter().map(|column| column[row]);
            std::iter::once(released.bases[row]).chain(labels).collect()
        };
        for row in 0..released.len() {
            let next = groups.len() as u32;
            let group = *groups.entry(labels_of(row)).or_insert(next);
            demands.insert((group, released.others[row]), released.counts[row]);
        }
        // Settled rows of released groups are released. Those of other groups were left out.
        let mut left_out: hash::Map<Vec<u32>, u64> = hash::Map::default();
        let mut open = Vec::new();
        for row in 0..collected.len() {
            let variant = |at: usize| &variants[at].labels[collected.columns[at][row] as usize];
            if (0..variants.len()).any(|at| variant(at).iter().any(|label| *label != variant(at)[0])) {
                open.push(row);
                continue;
            }
            let labels = (0..variants.len()).map(|at| variant(at)[0]);
            let key: Vec<u32> = std::iter::once(collected.bases[row]).chain(labels).collect();
            match groups.get(&key) {
                None => *left_out.entry(key).or_insert(0) += collected.counts[row],
                Some(&group) => {
                    let demand = demands.get_mut(&(group, collected.others[row]))?;
                    *demand = demand.checked_sub(collected.counts[row])?;
                }
            }
        }
        // Of the released groups those matter that an open row could be in.
        let bases: hash::Set<u32> = open.iter().map(|&row| collected.bases[row]).collect();
        let mut groups: Vec<(Vec<u32>, u32)> =
            groups.into_iter().filter(|(key, _)| bases.contains(&key[0])).collect();
        groups.sort_unstable_by_key(|&(_, group)| group);
        let place: hash::Map<u32, usize> =
            groups.iter().enumerate().map(|(at, &(_, group))| (group, at)).collect();
        let mut left_out: Vec<(Vec<u32>, u64)> = left_out.into_iter().collect();
        left_out.sort_unstable();
        let n_rows = open.len() + left_out.len();
        let mut rest = Vec::new();
        for ((group, other), demand) in demands.into_iter().filter(|&(_, demand)| demand > 0) {
            rest.push(((n_rows + place.get(&group)?) as u32, other, demand));
        }
        let keys = || left_out.iter().map(|(key, _)| key).chain(groups.iter().map(|(key, _)| key));
        let labels = variants.iter().enumerate().map(|(at, variants)| {
            let at_level = |level: usize| {
                let of_open =
                    open.iter().map(|&row| variants.labels[collected.columns[at][row] as usize][level]);
                of_open.chain(keys().map(|key| key[1 + at])).collect()
            };
            (0..variants.n_levels).map(at_level).collect()
        });
        let labels = labels.collect();
        let of_open = open.iter().map(|&row| collected.bases[row]);
        let counts = open.iter().map(|&row| collected.counts[row]);
        Some(Items {
            n_rows,
            bases: of_open.chain(keys().map(|key| key[0])).collect(),
            labels,
            counts: counts
                .chain(left_out.iter().map(|&(_, rows)| rows))
                .chain(groups.iter().map(|_| 0))
                .collect(),
            others: open.iter().map(|&row| collected.others[row]).collect(),
            demands: rest,
        })
    }

    /// Divides classes by the labels of a column at a level. Equal divisions have equal numbers.
    fn divide(&self, classes: &[u32], at: usize, level: usize) -> Vec<u32> {
        let mut numbers: hash::Map<u64, u32> = hash::Map::default();
        let divided = classes.iter().zip(&self.labels[at][level]).map(|(&class, &label)| {
            let next = numbers.len() as u32;
            *numbers.entry(u64::from(class) << 32 | u64::from(label)).or_insert(next)
        });
        divided.collect()
    }

    /// For each class and what stands beside it: open rows, and how many of them are to be released.
    fn balances(&self, classes: &[u32]) -> hash::Map<(u32, u32), (u64, u64)> {
        let mut balances: hash::Map<(u32, u32), (u64, u64)> = hash::Map::default();
        for ((&class, &other), rows) in classes.iter().zip(&self.others).zip(&self.counts) {
            balances.entry((class, other)).or_default().0 += rows;
        }
        for &(group, other, rows) in &self.demands {
            balances.entry((classes[group as usize], other)).or_default().1 += rows;
        }
        balances
    }

    /// Leaves out levels at which something could not be released, and decides columns with one level left. Tells whether
    /// every column has a level.
    fn propagate(&self, node: &mut Node, work: &mut u64) -> Result<bool, Exceeded> {
        let is_possible =
            |classes: &[u32]| self.balances(classes).values().all(|(rows, demand)| demand <= rows);
        if !is_possible(&node.classes) {
            return Ok(false);
        }
        loop {
            let mut decided = None;
            for (place, choice) in node.undecided.iter_mut().enumerate() {
                let mut divisions: Vec<Vec<u32>> = Vec::new();
                let mut left = Vec::new();
                for &level in &choice.levels {
                    *work = work.checked_sub(1 + 2 * self.bases.len() as u64).ok_or(Exceeded)?;
                    let divided = self.divide(&node.classes, choice.at, level);
                    // Of levels that divide alike the first is enough.
                    if !divisions.contains(&divided) && is_possible(&divided) {
                        divisions.push(divided);
                        left.push(level);
                    }
                }
                choice.levels = left;
                match (choice.levels.as_slice(), divisions.pop()) {
                    ([], _) => return Ok(false),
                    (&[level], Some(divided)) => {
                        decided = Some((place, level, divided));
                        break;
                    }
                    _ => {}
                }
            }
            let Some((place, level, divided)) = decided else {
                return Ok(true);
            };
            let OpenColumn { at, .. } = node.undecided.remove(place);
            node.decided[at] = level;
            node.classes = divided;
        }
    }

    /// Does the combination fit? And are groups that were left out small enough, as far as that can be told?
    fn fits(&self, classes: &[u32], most_left_out: Option<u64>) -> bool {
        let released: hash::Set<u32> = classes[self.n_rows..].iter().copied().collect();
        let is_whole = |(&(class, _), &(rows, demand)): (&(u32, u32), &(u64, u64))| {
            rows == demand || !released.contains(&class)
        };
        if !self.balances(classes).iter().all(is_whole) {
            return false;
        }
        let Some(most) = most_left_out else {
            return true;
        };
        let mut sizes: hash::Map<u32, u64> = hash::Map::default();
        for (class, rows) in classes[..self.n_rows].iter().zip(&self.counts) {
            if !released.contains(class) {
                *sizes.entry(*class).or_insert(0) += rows;
            }
        }
        sizes.values().all(|&rows| rows <= most)
    }
}

/// The values of an open column by their labels at its levels.
struct Variants {
    n_levels: usize,
    /// The number of each value code of the input.
    of_value: Vec<u32>,
    /// For each number the label at every level.
    labels: Vec<Vec<u32>>,
}

impl Variants {
    fn of(column: &LevelColumn) -> Self {
        let mut known: hash::Map<Vec<u32>, u32> = hash::Map::default();
        let mut labels: Vec<Vec<u32>> = Vec::new();
        let n_values = column.of_value.first().map_or(0, Vec::len);
        let mut of_value = Vec::with_capacity(n_values);
        for value in 0..n_values {
            let here: Vec<u32> = column.of_value.iter().map(|of_value| of_value[value]).collect();
            let next = labels.len() as u32;
            of_value.push(*known.entry(here).or_insert_with_key(|here| {
                labels.push(here.clone());
                next
            }));
        }
        Variants { n_levels: column.levels.len(), of_value, labels }
    }
}

/// The distinct rows of a table that stands from `first` on among all rows. Of each column its place, the number of each
/// code, and how many numbers there are.
fn distinct(
    table: &dyn Labels,
    others: &Groups,
    bases: &Groups,
    first: usize,
    columns: &[(usize, &[u32], usize)],
) -> Distinct {
    let rows = first..first + table.n_rows();
    let (of_others, of_bases) = (&others.of_row[rows.clone()], &bases.of_row[rows]);
    let mut keys = Keys::from_numbers(of_others.iter().copied(), others.len());
    let same: Vec<u32> = (0..bases.len() as u32).collect();
    keys.fold(&[(of_bases, &same)], bases.len());
    for &(at, numbers, n_numbers) in columns {
        keys.fold(&[(&table.column(at).codes, numbers)], n_numbers);
    }
    let groups = keys.into_groups();
    let pick = |numbers: &[u32]| groups.first_rows.iter().map(|&row| numbers[row as usize]).collect();
    let of_column = |&(at, numbers, _): &(usize, &[u32], usize)| {
        let codes = table.column(at).codes;
        groups.first_rows.iter().map(|&row| numbers[codes[row as usize] as usize]).collect()
    };
    Distinct {
        others: pick(of_others),
        bases: pick(of_bases),
        columns: columns.iter().map(of_column).collect(),
        counts: groups.sizes().into_iter().map(u64::from).collect(),
    }
}

#[cfg(test)]
mod tests;
