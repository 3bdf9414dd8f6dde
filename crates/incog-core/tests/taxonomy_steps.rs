//! No recoding model is another one under a new name: for each step of the taxonomy a table on which the freer model is
//! strictly better (`testdata/cases/models`).
//!
//! Both optima are found by brute force: every row is given every image that the model knows, a set of leaves for each
//! column, and what the model forbids is struck out pair by pair. The searches of the engine reach them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use incog_core::Progress;
use incog_core::algorithm::{
    self, Aim, Answer, CutChoice, CutMethod, Cuts, Extent, Gain, Limits, MondrianOptions, OrderedSetOptions,
    Settings, mondrian, optimum, ordered_set,
};
use incog_core::frequency::Rows;
use incog_core::judge::Problem;
use incog_core::metric::{self, Costs, LabelCounts, Statistics};
use incog_core::privacy::Policy;
use incog_core::recoding::{Domain, Domains, Order, PerBox, Recoding};
use incog_core::registry::find;
use incog_testkit::case::ModelCase;
use incog_testkit::{Sample, algorithms};

/// What a row becomes: for each column a set of leaves, and the level it comes from, where there are levels.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Image {
    sets: Vec<BTreeSet<usize>>,
    levels: Vec<usize>,
}

struct BruteForce<'a> {
    sample: &'a Sample,
    model: &'a str,
    k: usize,
}

impl BruteForce<'_> {
    fn leaf(&self, row_idx: usize, at: usize) -> usize {
        let column = &self.sample.columns[at];
        column.hierarchy.iter().position(|path| path[0] == column.cells[row_idx]).unwrap()
    }

    fn leaves(&self, row_idx: usize) -> Vec<usize> {
        (0..self.sample.columns.len()).map(|at| self.leaf(row_idx, at)).collect()
    }

    /// What a cell may become.
    fn choices(&self, row_idx: usize, at: usize) -> Vec<(BTreeSet<usize>, usize)> {
        let hierarchy = &self.sample.columns[at].hierarchy;
        let (leaf, n) = (self.leaf(row_idx, at), hierarchy.len());
        if ["ordered-set", "mondrian"].contains(&self.model) {
            let ends = (0..=leaf).flat_map(|start| (leaf + 1..=n).map(move |end| (start, end)));
            return ends.map(|(start, end)| ((start..end).collect(), 0)).collect();
        }
        let under =
            |level: usize| (0..n).filter(move |&other| hierarchy[other][level] == hierarchy[leaf][level]);
        (0..hierarchy[0].len()).map(|level| (under(level).collect(), level)).collect()
    }

    fn images(&self, row_idx: usize) -> Vec<Image> {
        let none = Image { sets: Vec::new(), levels: Vec::new() };
        (0..self.sample.columns.len()).fold(vec![none], |images, at| {
            let with = |image: &Image, (set, level): (BTreeSet<usize>, usize)| {
                let mut image = image.clone();
                image.sets.push(set);
                image.levels.push(level);
                image
            };
            images
                .iter()
                .flat_map(|image| {
                    self.choices(row_idx, at).into_iter().map(move |choice| with(image, choice))
                })
                .collect()
        })
    }

    /// May two rows have these images?
    fn allows(&self, a: (&[usize], &Image), b: (&[usize], &Image)) -> bool {
        let columns = 0..a.0.len();
        let meets = |at: usize| !a.1.sets[at].is_disjoint(&b.1.sets[at]);
        let equal = |at: usize| a.1.sets[at] == b.1.sets[at];
        let is_function = a.0 != b.0 || a.1 == b.1;
        match self.model {
            "full-domain" => a.1.levels == b.1.levels,
            // Sets that meet are one: subtrees or intervals that cut the column.
            "full-subtree" | "ordered-set" => columns.clone().all(|at| equal(at) || !meets(at)),
            "unrestricted" => columns.clone().all(|at| a.0[at] != b.0[at] || equal(at)),
            // Boxes that meet are one.
            "full-subgraph" | "mondrian" => columns.clone().all(equal) || !columns.clone().all(meets),
            "unrestricted-multi" => is_function,
            "cell-generalization" => true,
            other => panic!("no brute force for `{other}`"),
        }
    }

    fn loss(&self, image: &Image) -> f64 {
        let columns = image.sets.iter().zip(&self.sample.columns);
        let shares =
            columns.map(|(set, column)| (set.len() - 1) as f64 / (column.hierarchy.len() - 1) as f64);
        shares.sum::<f64>() / (image.sets.len() * self.sample.n_rows()) as f64
    }

    fn optimum(&self) -> f64 {
        let mut best = f64::INFINITY;
        self.place(&mut Vec::new(), 0.0, &mut best);
        best
    }

    fn place(&self, placed: &mut Vec<(Vec<usize>, Image)>, loss: f64, best: &mut f64) {
        if loss >= *best {
            return;
        }
        let row_idx = placed.len();
        if row_idx == self.sample.n_rows() {
            let mut sizes: BTreeMap<&Vec<BTreeSet<usize>>, usize> = BTreeMap::new();
            placed.iter().for_each(|(_, image)| *sizes.entry(&image.sets).or_default() += 1);
            if sizes.values().all(|&size| size >= self.k) {
                *best = loss;
            }
            return;
        }
        let leaves = self.leaves(row_idx);
        for image in self.images(row_idx) {
            if placed.iter().all(|(other, known)| self.allows((&leaves, &image), (other, known))) {
                let loss = loss + self.loss(&image);
                placed.push((leaves.clone(), image));
                self.place(placed, loss, best);
                placed.pop();
            }
        }
    }
}

/// The loss of what the engine finds.
fn loss_of_engine(sample: &Sample, model: &str, k: u64) -> f64 {
    let table = sample.table();
    let attributes = sample.attributes(&table);
    let rows = Rows::new(&table, &attributes).unwrap();
    let policy = Policy::k_anonymity(k).unwrap();
    let problem = Problem { source: &rows, policy: &policy };
    let costs = Costs::new(problem, &attributes).unwrap();
    let metric = find(metric::ALL, "loss").unwrap().item;
    let (aim, progress) = (Aim { metric, costs: &costs }, Progress::new());
    let domain = |column: &incog_testkit::SampleColumn| {
        let order = Order::Categories(column.hierarchy.iter().map(|path| path[0].clone()).collect());
        Some(Arc::new(Domain::new(table.column(&column.name).unwrap(), &order).unwrap()))
    };
    let domains: Domains = sample.columns.iter().map(domain).collect();
    let of_boxes = |boxes: &PerBox| {
        metric.score(&costs.clone().with_domains(&domains), &Statistics::of_boxes(boxes, &attributes))
    };
    let weights = Vec::new();
    if model == "full-domain" {
        let best = optimum(problem, &attributes, &costs, metric, &progress).unwrap().best.unwrap();
        return metric.score(&costs, &best.statistics);
    }
    if model == "ordered-set" {
        let options = OrderedSetOptions {
            domains: domains.clone(),
            cost: Gain::Loss,
            weights,
            start: None,
            method: CutMethod::Enumerate,
            limits: Limits { max_steps: Some(u64::MAX), deadline: None },
        };
        return of_boxes(&ordered_set(problem, &attributes, options, &progress).unwrap().unwrap().recoding);
    }
    if model == "mondrian" {
        let (choice, extent) = (CutChoice::Best(Gain::Loss), Extent::Covering);
        let options =
            MondrianOptions { domains: domains.clone(), cuts: Cuts::Strict, choice, extent, weights };
        return of_boxes(&mondrian(problem, &attributes, options, &progress).unwrap().unwrap().recoding);
    }
    let entry = find(algorithm::ALL, model).unwrap();
    let found = algorithms::run(entry, problem, &attributes, aim, &Settings::default(), &progress).unwrap();
    let Some(Answer::Recoding { recoding, .. }) = found else { panic!("{model} answers with levels") };
    let groups = match *recoding {
        Recoding::PerValue(values) => {
            return metric.score(&costs, &Statistics::of_values(problem, &attributes, &values).unwrap());
        }
        Recoding::PerGroup(groups) => groups,
        other => panic!("{other:?}"),
    };
    let cells = LabelCounts::of_recoding(&groups, &table, &attributes).unwrap();
    let sizes = (0..groups.n_groups()).map(|group| (groups.rows(group), 1));
    metric.score(&costs, &Statistics::of_cells(&cells, &attributes, sizes, table.n_rows() as u64))
}

/// `1/3` as a number.
fn number(fraction: &str) -> f64 {
    let mut parts = fraction.split('/').map(|part| part.parse::<f64>().unwrap());
    parts.next().unwrap() / parts.next().unwrap_or(1.0)
}

#[test]
fn a_freer_model_is_strictly_better_on_the_table_of_its_step() {
    let mut steps = BTreeSet::new();
    for case in ModelCase::all() {
        let sample = case.sample();
        let expected = [number(&case.expect.stricter), number(&case.expect.freer)];
        assert!(expected[1] < expected[0], "{}: the step is not strict", case.name);
        for (model, expected) in [&case.stricter, &case.freer].into_iter().zip(expected) {
            let best = BruteForce { sample: &sample, model, k: case.k as usize }.optimum();
            assert!((best - expected).abs() < 1e-12, "{}: {model} can reach {best}", case.name);
            let found = loss_of_engine(&sample, model, case.k);
            assert!((found - expected).abs() < 1e-12, "{}: {model} reaches {found}", case.name);
        }
        steps.insert((case.stricter, case.freer));
    }
    let steps: Vec<(&str, &str)> = steps.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    let expected = [
        ("full-domain", "full-subtree"),
        ("full-subgraph", "unrestricted-multi"),
        ("full-subtree", "full-subgraph"),
        ("full-subtree", "unrestricted"),
        ("ordered-set", "mondrian"),
        ("unrestricted", "unrestricted-multi"),
        ("unrestricted-multi", "cell-generalization"),
    ];
    assert_eq!(steps, expected, "every step of the taxonomy has its case");
}
