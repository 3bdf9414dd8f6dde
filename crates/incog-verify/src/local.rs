//! Can every released row be assigned an input row of its own, if each cell may be generalized by itself?
//!
//! With local recoding a label does not tell which value it came from at which level, so rows cannot be recoded and
//! compared. What can be decided: is there an assignment of released rows to input rows, none used twice, with equal
//! untouched columns, and every released label on the path of the input's value?
//!
//! 1. Both tables are cut into parts by the untouched columns; rows of different parts never match.
//! 2. Within a part equal released rows are one node with a supply, and input rows that the released labels cannot
//!    tell apart are one node with a capacity. An edge goes from a released row to each input row that it may stand for.
//! 3. The greatest flow (Dinic 1970) assigns as many rows as can be assigned at all. Taking the first input row that
//!    fits would not: `*` could take the only row that `1*` may stand for.
//!
//! Edges are found by dividing both sides together ([`join`]), and stored as far as they are few; otherwise they are found
//! again each time, along the shortest list of input rows that share a label with the released one. Cost: that of the
//! join, and some passes over the edges; memory: the distinct rows, their paths, the edges.
//!
//! What a label may stand for need not be said by paths: releases by boxes bring their own rules ([`Fits`]).

mod join;

use self::join::Join;
use crate::hash;
use crate::keys::{Keys, Numbers, count};
use crate::{Hierarchy, Labels};

/// In smaller parts every released row looks at all input rows.
const SMALL_PART: usize = 1 << 10;

/// Edges that are stored; beyond, they are found again each time.
pub(crate) const MAX_EDGES: usize = 1 << 25;

/// Released rows for which no input row is left.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Unassigned {
    pub(crate) rows: u64,
    /// The first of them, by one of the best assignments.
    pub(crate) first_row: Option<usize>,
}

/// What the released labels of each quasi-identifier may stand for. Labels and values are numbered.
pub(crate) trait Fits {
    /// The number of each label code of the release, and how many numbers there are.
    fn of_label(&self, column: usize) -> (&[u32], usize);
    /// The number of each label code of the input, and how many there are. Values with the same are not told apart.
    fn of_value(&self, column: usize) -> (&[u32], usize);
    /// May a label stand for a value?
    fn stands_for(&self, column: usize, label: u32, value: u32) -> bool;
    /// For each left node all right nodes that it may stand for, and possibly others. `labels` are those of the left
    /// nodes in each column, `values` those of the right nodes. There is at least one column.
    fn lists(&self, labels: &[Vec<u32>], values: &[Vec<u32>]) -> Lists;
}

/// Lists of right nodes.
pub(crate) struct Lists {
    pub(crate) lists: Vec<Vec<u32>>,
    /// The part of a list that each left node has.
    pub(crate) slices: Vec<Slice>,
    /// Is everything in a left node's list its neighbour?
    pub(crate) are_edges: bool,
}

/// A part of a list.
#[derive(Clone, Copy)]
pub(crate) struct Slice {
    pub(crate) list: u32,
    pub(crate) start: u32,
    pub(crate) end: u32,
}

impl Lists {
    /// The neighbours of each left node.
    pub(crate) fn of_edges(edges: Vec<Vec<u32>>) -> Self {
        let whole = |(list, edges): (usize, &Vec<u32>)| Slice::whole(list, edges);
        Lists { slices: edges.iter().enumerate().map(whole).collect(), lists: edges, are_edges: true }
    }

    /// All right nodes among which the left one's neighbours are.
    pub(crate) fn of(&self, left: u32) -> &[u32] {
        let Slice { list, start, end } = self.slices[left as usize];
        &self.lists[list as usize][start as usize..end as usize]
    }
}

impl Slice {
    fn whole(list: usize, nodes: &[u32]) -> Self {
        Slice { list: list as u32, start: 0, end: nodes.len() as u32 }
    }
}

/// How many released rows have no input row of their own; `origins` says where each released column stands in the input.
pub(crate) fn unassigned(
    release: &dyn Labels,
    input: &dyn Labels,
    quasi: &[usize],
    hierarchies: &[Hierarchy],
    origins: &[usize],
) -> Unassigned {
    let columns: Vec<PathColumn> = quasi
        .iter()
        .zip(hierarchies)
        .map(|(&at, hierarchy)| {
            let (released, collected) = (release.column(at), input.column(origins[at]));
            PathColumn::new(&released.labels, &collected.labels, hierarchy)
        })
        .collect();
    unassigned_by(release, input, quasi, &columns, origins)
}

/// The same by other rules than those of hierarchies.
pub(crate) fn unassigned_by(
    release: &dyn Labels,
    input: &dyn Labels,
    quasi: &[usize],
    fits: &(impl Fits + ?Sized),
    origins: &[usize],
) -> Unassigned {
    let n_released = release.n_rows();
    let mut keys = Keys::new(n_released + input.n_rows());
    for at in (0..origins.len()).filter(|at| !quasi.contains(at)) {
        let (released, collected) = (release.column(at), input.column(origins[at]));
        let mut numbers = Numbers::default();
        let of_released = numbers.all(released.labels.iter().copied());
        let of_collected = numbers.all(collected.labels.iter().copied());
        keys.fold(&[(&released.codes, &of_released), (&collected.codes, &of_collected)], numbers.len());
    }
    let parts = keys.into_groups();
    let (released_parts, input_parts) = parts.of_row.split_at(n_released);

    let mut released_keys = Keys::from_numbers(released_parts.iter().copied(), parts.len());
    let mut input_keys = Keys::from_numbers(input_parts.iter().copied(), parts.len());
    for (column, &at) in quasi.iter().enumerate() {
        let ((of_label, n_labels), (of_value, n_values)) = (fits.of_label(column), fits.of_value(column));
        released_keys.fold(&[(&release.column(at).codes, of_label)], n_labels);
        input_keys.fold(&[(&input.column(origins[at]).codes, of_value)], n_values);
    }
    let (released_groups, input_groups) = (released_keys.into_groups(), input_keys.into_groups());
    let mut released =
        DistinctRows::new(released_groups.sizes(), &released_groups.first_rows, released_parts);
    let mut collected = DistinctRows::new(input_groups.sizes(), &input_groups.first_rows, input_parts);
    for (column, &at) in quasi.iter().enumerate() {
        let (of_label, of_value) = (fits.of_label(column).0, fits.of_value(column).0);
        released.add_column(&release.column(at).codes, of_label, &released_groups.first_rows);
        collected.add_column(&input.column(origins[at]).codes, of_value, &input_groups.first_rows);
    }

    let mut left_over = released.counts.clone();
    let (released_by_part, input_by_part) = (released.by_part(parts.len()), collected.by_part(parts.len()));
    for (supplies, capacities) in released_by_part.iter().zip(&input_by_part) {
        if !supplies.is_empty() && !capacities.is_empty() {
            let mut flow = Flow::new(&released, &collected, supplies, capacities, fits);
            flow.maximize();
            for (&node, &supply) in supplies.iter().zip(&flow.supply) {
                left_over[node as usize] = supply;
            }
        }
    }
    let rows = left_over.iter().map(|&rows| u64::from(rows)).sum();
    let mut assigned: Vec<u32> =
        released.counts.iter().zip(&left_over).map(|(all, left)| all - left).collect();
    let first_row = released_groups.of_row.iter().position(|&node| match &mut assigned[node as usize] {
        0 => true,
        n => {
            *n -= 1;
            false
        }
    });
    Unassigned { rows, first_row }
}

/// A quasi-identifier: its released labels, and which of them each input value may become.
pub(crate) struct PathColumn {
    pub(crate) n_labels: usize,
    /// The number of each released label.
    pub(crate) of_label: Vec<u32>,
    /// The path of each input value.
    pub(crate) of_value: Vec<u32>,
    /// Released labels on a path, ascending. Values with the same are not told apart.
    pub(crate) paths: Vec<Vec<u32>>,
}

impl PathColumn {
    pub(crate) fn new<'a>(released: &[&'a str], collected: &[&'a str], hierarchy: &'a Hierarchy) -> Self {
        let mut numbers = Numbers::default();
        let of_label = numbers.all(released.iter().copied());
        let mut known: hash::Map<Vec<u32>, u32> = hash::Map::default();
        let mut paths: Vec<Vec<u32>> = Vec::new();
        let mut of_value = Vec::with_capacity(collected.len());
        for &value in collected {
            let mut path: Vec<u32> = match hierarchy.paths.get(value) {
                Some(labels) => {
                    let allowed = hierarchy.levels.iter().filter_map(|&level| labels.get(level));
                    allowed.filter_map(|label| numbers.find(label)).collect()
                }
                // What is in no hierarchy can only stay as it is.
                None => numbers.find(value).into_iter().collect(),
            };
            path.sort_unstable();
            path.dedup();
            let next = paths.len() as u32;
            let number = *known.entry(path).or_insert_with_key(|path| {
                paths.push(path.clone());
                next
            });
            of_value.push(number);
        }
        PathColumn { n_labels: numbers.len(), of_label, of_value, paths }
    }
}

impl Fits for Vec<PathColumn> {
    fn of_label(&self, column: usize) -> (&[u32], usize) {
        (&self[column].of_label, self[column].n_labels)
    }

    fn of_value(&self, column: usize) -> (&[u32], usize) {
        (&self[column].of_value, self[column].paths.len())
    }

    fn stands_for(&self, column: usize, label: u32, value: u32) -> bool {
        self[column].paths[value as usize].contains(&label)
    }

    fn lists(&self, labels: &[Vec<u32>], values: &[Vec<u32>]) -> Lists {
        if let Some(lists) = (Join { columns: self, labels, values }).pairs(MAX_EDGES) {
            return lists;
        }
        // Which right nodes have a label on their path, for each column and label. The first list is empty.
        let mut lists = vec![Vec::new()];
        let mut index: hash::Map<(usize, u32), u32> = hash::Map::default();
        for (column, values) in values.iter().enumerate() {
            for (right, &value) in values.iter().enumerate() {
                for &label in &self[column].paths[value as usize] {
                    let list = *index.entry((column, label)).or_insert(lists.len() as u32) as usize;
                    if list == lists.len() {
                        lists.push(Vec::new());
                    }
                    lists[list].push(right as u32);
                }
            }
        }
        let slice = |left: usize| {
            let columns = labels.iter().enumerate();
            let of_labels =
                columns.map(|(column, labels)| index.get(&(column, labels[left])).copied().unwrap_or(0));
            let list = of_labels.min_by_key(|&list| lists[list as usize].len()).unwrap_or(0) as usize;
            Slice::whole(list, &lists[list])
        };
        let n_left = labels.first().map_or(0, Vec::len);
        Lists { slices: (0..n_left).map(slice).collect(), lists, are_edges: false }
    }
}

/// Distinct rows of a table.
struct DistinctRows {
    counts: Vec<u32>,
    parts: Vec<u32>,
    /// For each column, what each row has there.
    columns: Vec<Vec<u32>>,
}

impl DistinctRows {
    fn new(counts: Vec<u32>, first_rows: &[u32], parts: &[u32]) -> Self {
        let parts = first_rows.iter().map(|&row_idx| parts[row_idx as usize]).collect();
        DistinctRows { counts, parts, columns: Vec::new() }
    }

    fn add_column(&mut self, codes: &[u32], numbers: &[u32], first_rows: &[u32]) {
        let number = |&row_idx: &u32| numbers[codes[row_idx as usize] as usize];
        self.columns.push(first_rows.iter().map(number).collect());
    }

    fn by_part(&self, n_parts: usize) -> Vec<Vec<u32>> {
        let mut rows: Vec<Vec<u32>> =
            count(&self.parts, n_parts).iter().map(|&n| Vec::with_capacity(n as usize)).collect();
        for (row, &part) in self.parts.iter().enumerate() {
            rows[part as usize].push(row as u32);
        }
        rows
    }
}

const UNSEEN: u32 = u32::MAX;

/// The flow within a part. Left nodes are released rows, right nodes input rows.
struct Flow<'a, F: ?Sized> {
    fits: &'a F,
    /// The label of each left node in each column.
    labels: Vec<Vec<u32>>,
    /// The number of each right node's value in each column.
    values: Vec<Vec<u32>>,
    /// The list of each left node holds all its neighbours, and possibly others.
    lists: Lists,
    /// What is still to be assigned.
    supply: Vec<u32>,
    /// What can still be taken.
    capacity: Vec<u32>,
    /// For each right node, from which left nodes how much flows into it.
    inflow: Vec<Vec<(u32, u32)>>,
    /// Distances from the left nodes that have supply, in steps there and back.
    left_depth: Vec<u32>,
    right_depth: Vec<u32>,
}

impl<'a, F: Fits + ?Sized> Flow<'a, F> {
    fn new(
        released: &DistinctRows,
        collected: &DistinctRows,
        supplies: &[u32],
        capacities: &[u32],
        fits: &'a F,
    ) -> Self {
        let pick = |column: &Vec<u32>, rows: &[u32]| -> Vec<u32> {
            rows.iter().map(|&row| column[row as usize]).collect()
        };
        let labels: Vec<Vec<u32>> = released.columns.iter().map(|column| pick(column, supplies)).collect();
        let values: Vec<Vec<u32>> = collected.columns.iter().map(|column| pick(column, capacities)).collect();
        Flow {
            lists: lists(fits, &labels, &values, supplies.len(), capacities.len()),
            fits,
            labels,
            values,
            supply: pick(&released.counts, supplies),
            capacity: pick(&collected.counts, capacities),
            inflow: vec![Vec::new(); capacities.len()],
            left_depth: vec![UNSEEN; supplies.len()],
            right_depth: vec![UNSEEN; capacities.len()],
        }
    }

    /// May the released row stand for the input row?
    fn is_edge(&self, left: u32, right: u32) -> bool {
        if self.lists.are_edges {
            return true;
        }
        let (left, right) = (left as usize, right as usize);
        let columns = self.labels.iter().zip(&self.values).enumerate();
        columns
            .into_iter()
            .all(|(column, (labels, values))| self.fits.stands_for(column, labels[left], values[right]))
    }

    fn maximize(&mut self) {
        while self.find_depths() {
            let mut at_left = vec![0; self.supply.len()];
            let mut at_right = vec![0; self.capacity.len()];
            for left in 0..self.supply.len() as u32 {
                while self.supply[left as usize] > 0 && self.augment(left, &mut at_left, &mut at_right) {}
            }
            for inflow in &mut self.inflow {
                inflow.retain(|&(_, rows)| rows > 0);
            }
        }
    }

    /// Walks in breadth from all supply until there is capacity; `false` if none can be reached.
    fn find_depths(&mut self) -> bool {
        self.left_depth.fill(UNSEEN);
        self.right_depth.fill(UNSEEN);
        let mut frontier: Vec<u32> =
            (0..self.supply.len() as u32).filter(|&left| self.supply[left as usize] > 0).collect();
        for &left in &frontier {
            self.left_depth[left as usize] = 0;
        }
        let mut found = false;
        for depth in 0.. {
            let mut reached = Vec::new();
            for &left in &frontier {
                for &right in self.lists.of(left) {
                    if self.right_depth[right as usize] == UNSEEN && self.is_edge(left, right) {
                        self.right_depth[right as usize] = depth;
                        found |= self.capacity[right as usize] > 0;
                        reached.push(right);
                    }
                }
            }
            if found || reached.is_empty() {
                break;
            }
            frontier.clear();
            for right in reached {
                for &(left, rows) in &self.inflow[right as usize] {
                    if rows > 0 && self.left_depth[left as usize] == UNSEEN {
                        self.left_depth[left as usize] = depth + 1;
                        frontier.push(left);
                    }
                }
            }
        }
        found
    }

    /// Sends flow along one shortest path from `start`, if there is any. What was tried in vain is not tried again in
    /// this round: `at_left` and `at_right` say how far each node's edges were followed.
    fn augment(&mut self, start: u32, at_left: &mut [usize], at_right: &mut [usize]) -> bool {
        let mut path: Vec<(u32, u32)> = Vec::new();
        let mut left = start;
        'walk: loop {
            let depth = self.left_depth[left as usize];
            while let Some(&right) = self.lists.of(left).get(at_left[left as usize]) {
                if self.right_depth[right as usize] == depth && self.is_edge(left, right) {
                    if self.capacity[right as usize] > 0 {
                        path.push((left, right));
                        self.send(&path, at_right);
                        return true;
                    }
                    while let Some(&(next, rows)) = self.inflow[right as usize].get(at_right[right as usize])
                    {
                        if rows > 0 && self.left_depth[next as usize] == depth + 1 {
                            path.push((left, right));
                            left = next;
                            continue 'walk;
                        }
                        at_right[right as usize] += 1;
                    }
                }
                at_left[left as usize] += 1;
            }
            let Some((before, right)) = path.pop() else {
                return false;
            };
            at_right[right as usize] += 1;
            left = before;
        }
    }

    /// Each left node of the path takes from its right node what the next one gives up.
    fn send(&mut self, path: &[(u32, u32)], at_right: &[usize]) {
        let Some((&(first, _), &(_, last))) = path.first().zip(path.last()) else {
            return;
        };
        let given_up = path[..path.len() - 1]
            .iter()
            .map(|&(_, right)| self.inflow[right as usize][at_right[right as usize]].1);
        let rows =
            given_up.fold(self.supply[first as usize].min(self.capacity[last as usize]), std::cmp::Ord::min);
        self.supply[first as usize] -= rows;
        self.capacity[last as usize] -= rows;
        for (step, &(left, right)) in path.iter().enumerate() {
            let inflow = &mut self.inflow[right as usize];
            if step + 1 < path.len() {
                inflow[at_right[right as usize]].1 -= rows;
            }
            match inflow.iter_mut().find(|(from, _)| *from == left) {
                Some((_, flow)) => *flow += rows,
                None => inflow.push((left, rows)),
            }
        }
    }
}

/// Where to look for the neighbours of each left node: anywhere, if there are few nodes.
fn lists(
    fits: &(impl Fits + ?Sized),
    labels: &[Vec<u32>],
    values: &[Vec<u32>],
    n_left: usize,
    n_right: usize,
) -> Lists {
    if n_left * n_right > SMALL_PART && !labels.is_empty() {
        return fits.lists(labels, values);
    }
    let all: Vec<u32> = (0..n_right as u32).collect();
    Lists { slices: vec![Slice::whole(0, &all); n_left], lists: vec![all], are_edges: labels.is_empty() }
}

#[cfg(test)]
mod tests;
