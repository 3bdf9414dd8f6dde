//! The models spelled out on strings: every recoding of a tiny table, one by one.

use std::collections::{BTreeMap, BTreeSet};

use incog_testkit::Sample;

/// A table of few rows with what a release costs.
pub(crate) struct Tiny<'a> {
    sample: &'a Sample,
    weights: &'a [f64],
    budget: usize,
    admits: &'a dyn Fn(&[usize]) -> bool,
}

/// For each attribute the leaves that a label stands for.
type Image = Vec<BTreeSet<usize>>;

/// The best of all recodings of a model: its loss.
pub(crate) type Best = Option<f64>;

/// Is this a function of the model, given the image of each vector?
type IsAllowed = dyn Fn(&[(&Vec<usize>, Option<&Image>)]) -> bool;

fn better(best: &mut Best, loss: f64) {
    if best.is_none_or(|best| loss < best) {
        *best = Some(loss);
    }
}

impl<'a> Tiny<'a> {
    pub(crate) fn new(
        sample: &'a Sample,
        weights: &'a [f64],
        budget: u64,
        admits: &'a dyn Fn(&[usize]) -> bool,
    ) -> Self {
        Tiny { sample, weights, budget: budget as usize, admits }
    }

    fn n_rows(&self) -> usize {
        self.sample.n_rows()
    }

    fn q(&self) -> usize {
        self.sample.columns.len()
    }

    fn leaf(&self, row_idx: usize, at: usize) -> usize {
        let column = &self.sample.columns[at];
        column.hierarchy.iter().position(|path| path[0] == column.cells[row_idx]).unwrap()
    }

    fn leaves(&self, row_idx: usize) -> Vec<usize> {
        (0..self.q()).map(|at| self.leaf(row_idx, at)).collect()
    }

    /// The leaves that share a leaf's label at a level.
    fn under(&self, at: usize, leaf: usize, level: usize) -> BTreeSet<usize> {
        let hierarchy = &self.sample.columns[at].hierarchy;
        (0..hierarchy.len()).filter(|&other| hierarchy[other][level] == hierarchy[leaf][level]).collect()
    }

    fn height(&self, at: usize) -> usize {
        self.sample.columns[at].hierarchy[0].len() - 1
    }

    /// What a row costs at an image, as part of the loss of the whole table.
    fn cost(&self, image: Option<&Image>) -> f64 {
        let column = |at: usize| {
            let leaves = self.sample.columns[at].hierarchy.len() as f64;
            match image {
                None => 1.0,
                Some(_) if leaves == 1.0 => 0.0,
                Some(image) => (image[at].len() as f64 - 1.0) / (leaves - 1.0),
            }
        };
        let sum: f64 = (0..self.q()).map(|at| self.weights[at] * column(at)).sum();
        sum / self.weights[..self.q()].iter().sum::<f64>() / self.n_rows().max(1) as f64
    }

    /// All images of a vector, without those that are equal as sets.
    fn images(&self, leaves: &[usize]) -> Vec<Image> {
        let mut images: Vec<Image> = vec![Vec::new()];
        for (at, &leaf) in leaves.iter().enumerate() {
            let mut sets: Vec<BTreeSet<usize>> =
                (0..=self.height(at)).map(|level| self.under(at, leaf, level)).collect();
            sets.dedup();
            images = images
                .iter()
                .flat_map(|image| sets.iter().map(|set| [image.clone(), vec![set.clone()]].concat()))
                .collect();
        }
        images
    }

    fn vectors(&self) -> BTreeMap<Vec<usize>, Vec<usize>> {
        let mut vectors: BTreeMap<Vec<usize>, Vec<usize>> = BTreeMap::new();
        for row_idx in 0..self.n_rows() {
            vectors.entry(self.leaves(row_idx)).or_default().push(row_idx);
        }
        vectors
    }

    /// How many recodings would be tried.
    pub(crate) fn n_recodings(&self) -> f64 {
        self.vectors().keys().map(|vector| self.images(vector).len() as f64 + 1.0).product()
    }

    /// Single-dimension full-subtree: each attribute's leaves are cut into subtrees; refused groups are left out.
    pub(crate) fn full_subtree(&self) -> Best {
        let mut best = None;
        let cuts: Vec<Vec<Vec<BTreeSet<usize>>>> = (0..self.q())
            .map(|at| {
                let all: BTreeSet<usize> = (0..self.sample.columns[at].hierarchy.len()).collect();
                self.cuts(at, &all, self.height(at) + 1)
            })
            .collect();
        self.choose_cuts(&cuts, &mut Vec::new(), &mut best);
        best
    }

    /// All ways to cut some leaves, which are those of one label at `level`, into subtrees below `level`.
    fn cuts(&self, at: usize, leaves: &BTreeSet<usize>, level: usize) -> Vec<Vec<BTreeSet<usize>>> {
        let children: BTreeSet<BTreeSet<usize>> =
            leaves.iter().map(|&leaf| self.under(at, leaf, level - 1)).collect();
        let mut all: Vec<Vec<BTreeSet<usize>>> = vec![Vec::new()];
        for child in children {
            let mut of_child = vec![vec![child.clone()]];
            if level > 1 {
                of_child.extend(self.cuts(at, &child, level - 1));
            }
            of_child.sort();
            of_child.dedup();
            all = all
                .iter()
                .flat_map(|cut| of_child.iter().map(|more| [cut.clone(), more.clone()].concat()))
                .collect();
        }
        all
    }

    fn choose_cuts<'c>(
        &self,
        cuts: &'c [Vec<Vec<BTreeSet<usize>>>],
        chosen: &mut Vec<&'c Vec<BTreeSet<usize>>>,
        best: &mut Best,
    ) {
        if let Some(of_column) = cuts.get(chosen.len()) {
            for cut in of_column {
                chosen.push(cut);
                self.choose_cuts(cuts, chosen, best);
                chosen.pop();
            }
            return;
        }
        let mut groups: BTreeMap<Image, Vec<usize>> = BTreeMap::new();
        for row_idx in 0..self.n_rows() {
            let set = |(at, cut): (usize, &&Vec<BTreeSet<usize>>)| {
                cut.iter().find(|set| set.contains(&self.leaf(row_idx, at))).unwrap().clone()
            };
            groups.entry(chosen.iter().enumerate().map(set).collect()).or_default().push(row_idx);
        }
        let (mut loss, mut suppressed) = (0.0, 0);
        for (image, rows) in &groups {
            let is_admitted = (self.admits)(rows);
            loss += rows.len() as f64 * self.cost(is_admitted.then_some(image));
            suppressed += if is_admitted { 0 } else { rows.len() };
        }
        if suppressed <= self.budget {
            better(best, loss);
        }
    }

    /// Every function of value vectors; `is_allowed` sees the image of each vector.
    fn functions(&self, is_allowed: &IsAllowed) -> Best {
        let vectors = self.vectors();
        let choices: Vec<(&Vec<usize>, &Vec<usize>, Vec<Image>)> =
            vectors.iter().map(|(vector, rows)| (vector, rows, self.images(vector))).collect();
        let mut best = None;
        self.choose_images(&choices, &mut Vec::new(), 0.0, is_allowed, &mut best);
        best
    }

    fn choose_images<'c>(
        &self,
        choices: &'c [(&'c Vec<usize>, &'c Vec<usize>, Vec<Image>)],
        chosen: &mut Vec<(&'c Vec<usize>, Option<&'c Image>)>,
        loss: f64,
        is_allowed: &IsAllowed,
        best: &mut Best,
    ) {
        if best.is_some_and(|best| loss >= best) {
            return;
        }
        let Some((vector, rows, images)) = choices.get(chosen.len()) else {
            let mut groups: BTreeMap<Option<&Image>, Vec<usize>> = BTreeMap::new();
            for ((_, rows, _), (_, image)) in choices.iter().zip(chosen.iter()) {
                groups.entry(*image).or_default().extend(*rows);
            }
            let suppressed = groups.remove(&None).map_or(0, |rows| rows.len());
            if suppressed <= self.budget
                && groups.values().all(|rows| (self.admits)(rows))
                && is_allowed(chosen)
            {
                better(best, loss);
            }
            return;
        };
        for image in images.iter().map(Some).chain([None]) {
            chosen.push((vector, image));
            let loss = loss + rows.len() as f64 * self.cost(image);
            self.choose_images(choices, chosen, loss, is_allowed, best);
            chosen.pop();
        }
    }

    /// Unrestricted multi-dimension recoding.
    pub(crate) fn unrestricted_multi(&self) -> Best {
        self.functions(&|_| true)
    }

    /// Multi-dimension full-subgraph recoding.
    pub(crate) fn full_subgraph(&self) -> Best {
        self.functions(&|chosen| {
            chosen.iter().all(|(_, image)| {
                let Some(image) = image else { return true };
                chosen.iter().all(|(vector, other)| {
                    let lies_below = image.iter().zip(*vector).all(|(set, leaf)| set.contains(leaf));
                    let meet = |other: &Image| image.iter().zip(other).all(|(a, b)| !a.is_disjoint(b));
                    match other {
                        Some(other) => other == image || !meet(other),
                        None => !lies_below,
                    }
                })
            })
        })
    }

    /// The lowest labels that some rows have in common, if they have any; only values and tops where `ends` says so.
    fn meet(&self, rows: &[usize], ends: bool) -> Option<Image> {
        (0..self.q())
            .map(|at| {
                let first = self.leaf(rows[0], at);
                let levels =
                    (0..=self.height(at)).filter(|&level| !ends || level == 0 || level == self.height(at));
                let mut sets = levels.map(|level| self.under(at, first, level));
                sets.find(|set| rows.iter().all(|&row_idx| set.contains(&self.leaf(row_idx, at))))
            })
            .collect()
    }

    /// All partitions of the records into groups, some of them left out.
    fn partitions(&self, cost: &dyn Fn(&[usize]) -> Option<f64>, budget: usize, left_out: f64) -> Best {
        let mut best = None;
        self.place(0, &mut Vec::new(), 0, budget, left_out, cost, &mut best);
        best
    }

    #[expect(clippy::too_many_arguments, reason = "a recursion that carries its state")]
    fn place(
        &self,
        row_idx: usize,
        blocks: &mut Vec<Vec<usize>>,
        out: usize,
        budget: usize,
        left_out: f64,
        cost: &dyn Fn(&[usize]) -> Option<f64>,
        best: &mut Best,
    ) {
        if row_idx == self.n_rows() {
            if blocks.iter().all(|rows| (self.admits)(rows)) {
                let costs: Option<Vec<f64>> = blocks.iter().map(|rows| cost(rows)).collect();
                if let Some(costs) = costs {
                    better(best, costs.iter().sum::<f64>() + out as f64 * left_out);
                }
            }
            return;
        }
        for at in 0..=blocks.len() {
            if at == blocks.len() {
                blocks.push(Vec::new());
            }
            blocks[at].push(row_idx);
            self.place(row_idx + 1, blocks, out, budget, left_out, cost, best);
            blocks[at].pop();
            if blocks[at].is_empty() {
                blocks.pop();
            }
        }
        if out < budget {
            self.place(row_idx + 1, blocks, out + 1, budget, left_out, cost, best);
        }
    }

    /// Cell generalization.
    pub(crate) fn cell_generalization(&self) -> Best {
        let cost = |rows: &[usize]| Some(rows.len() as f64 * self.cost(Some(&self.meet(rows, false)?)));
        self.partitions(&cost, self.budget, self.cost(None))
    }

    /// Cell suppression with every record released: the weight of all `*`, not a loss.
    pub(crate) fn stars(&self) -> Best {
        let cost = |rows: &[usize]| {
            self.meet(rows, true)?;
            let differs = |&at: &usize| rows.iter().any(|&row| self.leaf(row, at) != self.leaf(rows[0], at));
            let weight: f64 = (0..self.q()).filter(differs).map(|at| self.weights[at]).sum();
            Some(rows.len() as f64 * weight)
        };
        self.partitions(&cost, 0, 0.0)
    }

    /// Cell suppression: the loss, with records left out.
    pub(crate) fn cell_suppression(&self) -> Best {
        let cost = |rows: &[usize]| Some(rows.len() as f64 * self.cost(Some(&self.meet(rows, true)?)));
        self.partitions(&cost, self.budget, self.cost(None))
    }
}
