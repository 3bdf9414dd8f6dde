//! Is there an original person for every released one, if nobody says which?
//!
//! A released tree embeds in an original one if the rows of the persons fit ([`Compared`]) and the children of each table can be
//! matched with different children there whose trees embed again. What can be decided: is there an assignment of
//! released persons to original ones, none used twice, each tree embedding in the one it is assigned?
//!
//! 1. Trees that are equal in everything are one class, released and original ones apart, with a number of persons. They
//!    may be exchanged freely. Original values that no released label can tell apart are equal.
//! 2. For each released class, candidates are found by their rarest rows ([`super::candidates`]).
//! 3. Whether a tree embeds is decided top-down: rows first, then the children, token by token, by bipartite matching
//!    where several could take several. What was decided of two classes below persons is kept.
//! 4. Each released class takes the first candidates that it embeds in and that have room. For what is left,
//!    augmenting paths are looked for ([`super::matching`]); only then all edges of a class are needed.
//!
//! Exact: "all can" and "n cannot" are proven, the latter since no augmenting path is left. Cost: a pass to number the
//! rows, and mostly one embedding for each person where columns as collected tell persons apart; where nothing does,
//! all pairs of classes. It is bounded by [`MAX_WORK`] comparisons and [`MAX_EDGES`] edges; beyond, nothing is decided, and
//! the claim does not hold. Memory: some 40 bytes a row.

use super::candidates::Index;
use super::comparison::Compared;
use super::forest::Forest;
use super::matching::Matching;
use super::shape::Shape;
use super::signatures::Classes;
use crate::hash;
use crate::keys::{Groups, Keys};

/// Comparisons of rows or candidates that are made, at most.
pub(super) const MAX_WORK: u64 = 1 << 32;

/// Edges between persons that are stored, at most.
const MAX_EDGES: usize = 1 << 26;

/// Candidates that are remembered; beyond, they are found again.
const MAX_REMEMBERED: usize = 1 << 24;

/// Decisions on classes of a table that are kept before they are forgotten.
const MAX_KEPT: usize = 1 << 22;

/// What came out.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Every released person has an original one.
    Assigned,
    /// The number of released persons that have none, however they are assigned.
    Unassigned(u64),
    /// Not decided.
    Exceeded,
}

/// There was too much to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Exceeded;

/// How much may still be done.
pub(super) struct Work(u64);

impl Work {
    pub(super) fn spend(&mut self, steps: u64) -> Result<(), Exceeded> {
        self.0 = self.0.checked_sub(steps).ok_or(Exceeded)?;
        Ok(())
    }
}

/// The released or the original database, by classes of trees that are equal in all compared columns.
pub(super) struct ClassedForest<'a> {
    pub(super) forest: &'a Forest,
    pub(super) classes: Classes,
    /// For each table, the token of each class.
    tokens: Vec<Vec<u32>>,
}

impl<'a> ClassedForest<'a> {
    pub(super) fn of_release(forest: &'a Forest, shape: &Shape, compared: &[Compared]) -> Self {
        let own = compared.iter().map(|table| {
            let columns = table.generalized.iter().map(|column| (column.labels.as_slice(), column.n_labels));
            group(&table.released, table.n_tokens, columns)
        });
        let tokens: Vec<&[u32]> = compared.iter().map(|table| table.released.as_slice()).collect();
        ClassedForest::new(forest, shape, own.collect(), &tokens)
    }

    pub(super) fn of_original(forest: &'a Forest, shape: &Shape, compared: &[Compared]) -> Self {
        let own = compared.iter().map(|table| {
            let columns =
                table.generalized.iter().map(|column| (column.values.as_slice(), column.paths.len()));
            group(&table.original, table.n_tokens, columns)
        });
        let tokens: Vec<&[u32]> = compared.iter().map(|table| table.original.as_slice()).collect();
        ClassedForest::new(forest, shape, own.collect(), &tokens)
    }

    fn new(forest: &'a Forest, shape: &Shape, own: Vec<Groups>, tokens: &[&[u32]]) -> Self {
        // Sorted by token first, the children that can be matched with each other stand side by side.
        let classes = Classes::new(forest, shape, own, |table, row| tokens[table][row as usize]);
        let of_classes =
            classes.of_rows.iter().zip(tokens).map(|(classes, tokens)| {
                classes.first_rows.iter().map(|&row| tokens[row as usize]).collect()
            });
        ClassedForest { forest, tokens: of_classes.collect(), classes }
    }

    /// A row of a class.
    fn row(&self, table: usize, class: u32) -> u32 {
        self.classes.of_rows[table].first_rows[class as usize]
    }

    fn below(&self, table: usize, parent_row: u32) -> &[u32] {
        self.classes.below(self.forest, table, parent_row)
    }
}

fn group<'a>(tokens: &[u32], n_tokens: usize, columns: impl Iterator<Item = (&'a [u32], usize)>) -> Groups {
    let mut keys = Keys::from_numbers(tokens.iter().copied(), n_tokens);
    for (numbers, n_numbers) in columns {
        let same: Vec<u32> = (0..n_numbers as u32).collect();
        keys.fold(&[(numbers, &same)], n_numbers);
    }
    keys.into_groups()
}

/// Assigns released persons to original ones.
pub(super) fn assign(
    shape: &Shape,
    compared: &[Compared],
    released: &ClassedForest<'_>,
    original: &ClassedForest<'_>,
    max_work: u64,
) -> Outcome {
    let sizes = |side: &ClassedForest<'_>| side.classes.of_rows[shape.root].sizes();
    let mut matching = Matching::new(sizes(released), sizes(original));
    if released.forest.n_rows[shape.root] == 0 {
        return Outcome::Assigned;
    }
    let index = Index::new(shape, compared, released, original);
    let kept = vec![hash::Map::default(); compared.len()];
    let mut embedding = Embedding { shape, compared, released, original, kept, work: Work(max_work) };
    match embedding.assign(&index, &mut matching) {
        Err(Exceeded) => Outcome::Exceeded,
        Ok(()) if matching.left_over() == 0 => Outcome::Assigned,
        Ok(()) => Outcome::Unassigned(matching.left_over()),
    }
}

/// Which trees embed in which.
struct Embedding<'a> {
    shape: &'a Shape,
    compared: &'a [Compared],
    released: &'a ClassedForest<'a>,
    original: &'a ClassedForest<'a>,
    /// For each table, what was decided of a released and an original class.
    kept: Vec<hash::Map<(u32, u32), bool>>,
    work: Work,
}

impl<'a> Embedding<'a> {
    fn assign(&mut self, index: &Index<'_>, matching: &mut Matching) -> Result<(), Exceeded> {
        let root = self.shape.root;
        let n_classes = self.released.classes.of_rows[root].len();
        // Who has the least choice chooses first, so that few have to give way later.
        let mut choices: Vec<(u32, u32, Option<Vec<u32>>)> = Vec::with_capacity(n_classes);
        let mut n_remembered = 0;
        for left in 0..n_classes as u32 {
            let candidates = index.candidates(self.released.row(root, left), &mut self.work)?;
            let n_candidates = candidates.len() as u32;
            let remembered = Some(candidates).filter(|some| n_remembered + some.len() <= MAX_REMEMBERED);
            n_remembered += remembered.as_ref().map_or(0, Vec::len);
            choices.push((n_candidates, left, remembered));
        }
        choices.sort_unstable_by_key(|&(n_candidates, left, _)| (n_candidates, left));
        for (_, left, candidates) in choices {
            let candidates = match candidates {
                Some(candidates) => candidates,
                None => index.candidates(self.released.row(root, left), &mut self.work)?,
            };
            for right in candidates {
                if matching.supply(left) == 0 {
                    break;
                }
                if matching.capacity(right) > 0 && self.embeds(root, left, right)? {
                    matching.take(left, right);
                }
            }
        }
        if matching.left_over() == 0 {
            return Ok(());
        }
        let mut edges: Vec<Option<Vec<u32>>> = vec![None; n_classes];
        let mut n_edges = 0;
        matching.maximize(|left, found| {
            if edges[left as usize].is_none() {
                let mut candidates = index.candidates(self.released.row(root, left), &mut self.work)?;
                let mut result = Ok(());
                candidates.retain(|&right| {
                    let embeds = if result.is_ok() { self.embeds(root, left, right) } else { Ok(false) };
                    embeds.unwrap_or_else(|exceeded| {
                        result = Err(exceeded);
                        false
                    })
                });
                result?;
                n_edges += candidates.len();
                if n_edges > MAX_EDGES {
                    return Err(Exceeded);
                }
                edges[left as usize] = Some(candidates);
            }
            let here = edges[left as usize].as_deref().unwrap_or_default();
            self.work.spend(here.len() as u64)?;
            found.extend(here);
            Ok(())
        })
    }

    /// Does the tree of a released class embed in that of an original one?
    fn embeds(&mut self, table: usize, left: u32, right: u32) -> Result<bool, Exceeded> {
        let (shape, released, original) = (self.shape, self.released, self.original);
        let compared = &self.compared[table];
        self.work.spend(1 + compared.generalized.len() as u64)?;
        let (row, origin) = (released.row(table, left), original.row(table, right));
        if !compared.is_same(row, origin) || !compared.generalizes(row, origin) {
            return Ok(false);
        }
        let children = &shape.children[table];
        if children.is_empty() {
            return Ok(true);
        }
        if children
            .iter()
            .any(|&child| released.below(child, row).len() > original.below(child, origin).len())
        {
            return Ok(false);
        }
        if let Some(&embeds) = self.kept[table].get(&(left, right)) {
            return Ok(embeds);
        }
        let mut embeds = true;
        for &child in children {
            embeds =
                embeds && self.all_embed(child, released.below(child, row), original.below(child, origin))?;
        }
        // Persons are compared once, or twice.
        if table != shape.root {
            let kept = &mut self.kept[table];
            if kept.len() >= MAX_KEPT {
                kept.clear();
            }
            kept.insert((left, right), embeds);
        }
        Ok(embeds)
    }

    /// Can children be matched with different ones? Both are sorted by token, then by class.
    fn all_embed(&mut self, table: usize, lefts: &'a [u32], rights: &'a [u32]) -> Result<bool, Exceeded> {
        let (left_tokens, right_tokens) = (&self.released.tokens[table], &self.original.tokens[table]);
        let mut lefts = lefts;
        let mut rights = rights;
        while let Some(&first) = lefts.first() {
            let token = left_tokens[first as usize];
            let n_lefts = lefts.partition_point(|&class| left_tokens[class as usize] == token);
            rights = &rights[rights.partition_point(|&class| right_tokens[class as usize] < token)..];
            let n_rights = rights.partition_point(|&class| right_tokens[class as usize] == token);
            if n_lefts > n_rights || !self.run_embeds(table, &lefts[..n_lefts], &rights[..n_rights])? {
                return Ok(false);
            }
            (lefts, rights) = (&lefts[n_lefts..], &rights[n_rights..]);
        }
        Ok(true)
    }

    /// The same for children with equal tokens.
    fn run_embeds(&mut self, table: usize, lefts: &[u32], rights: &[u32]) -> Result<bool, Exceeded> {
        let (lefts, supply) = runs(lefts);
        let (rights, capacity) = runs(rights);
        let mut matching = Matching::new(supply, capacity);
        let mut edges: Vec<Vec<u32>> = Vec::with_capacity(lefts.len());
        for (left, &left_class) in lefts.iter().enumerate() {
            let mut here = Vec::new();
            for (right, &right_class) in rights.iter().enumerate() {
                // If all have what they need, nobody has to give way, and no edge is needed any more.
                if left + 1 == lefts.len() && matching.left_over() == 0 {
                    return Ok(true);
                }
                if self.embeds(table, left_class, right_class)? {
                    matching.take(left as u32, right as u32);
                    here.push(right as u32);
                }
            }
            if here.is_empty() {
                return Ok(false);
            }
            edges.push(here);
        }
        let work = &mut self.work;
        matching.maximize(|left, found| {
            work.spend(edges[left as usize].len() as u64)?;
            found.extend(&edges[left as usize]);
            Ok(())
        })?;
        Ok(matching.left_over() == 0)
    }
}

/// Different numbers of a sorted list, and how often they stand there.
fn runs(sorted: &[u32]) -> (Vec<u32>, Vec<u32>) {
    sorted.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as u32)).unzip()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Labels;
    use crate::relational::comparison::Pair;
    use crate::relational::shape::{Sought, find_columns};
    use crate::relational::tests::{claims, table};

    /// Persons with their own values, released in another order.
    fn outcome(released: &str, original: &str, max_work: u64) -> Outcome {
        let claims = claims(1, &["p(id): q"]);
        let shape = Shape::of(&claims).unwrap();
        let (released, original) = (table(released), table(original));
        let plant = |table: &dyn Labels| {
            let columns = find_columns(&[table], &claims.tables, Sought::Keys, "").unwrap();
            Forest::plant(&[table], &columns, &shape, &["p"], "", &mut Vec::new()).unwrap()
        };
        let (released_forest, original_forest) = (plant(&released), plant(&original));
        let pairs = [Pair { released: 1, original: 1, hierarchy: None }];
        let compared = [Compared::new(&released, &original, &pairs)];
        let released = ClassedForest::of_release(&released_forest, &shape, &compared);
        let original = ClassedForest::of_original(&original_forest, &shape, &compared);
        assign(&shape, &compared, &released, &original, max_work)
    }

    #[test]
    fn what_takes_too_much_work_is_not_decided() {
        let (released, original) = ("id,q\n1,c\n2,a\n", "id,q\n1,a\n2,b\n3,c\n");
        assert_eq!(outcome(released, original, 100), Outcome::Assigned);
        assert_eq!(outcome(released, original, 2), Outcome::Exceeded);
        assert_eq!(outcome("id,q\n1,a\n2,a\n3,d\n", original, 100), Outcome::Unassigned(2));
        assert_eq!(outcome("id,q\n1,a\n2,a\n3,d\n", original, 5), Outcome::Exceeded);
        assert_eq!(outcome("id,q\n", original, 0), Outcome::Assigned, "nobody is nobody");
    }
}
