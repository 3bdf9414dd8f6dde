//! Laws that hold for every table: roll-up = scan, projection = scan, composed hierarchies, metrics of a node =
//! metrics of its released labels, and every release passes the independent checker.

use std::collections::BTreeMap;

use incog_core::Progress;
use incog_core::algorithm::Search;
use incog_core::frequency::{FrequencySet, FrequencySource, KeyWidth, Method, Rows, Scratch};
use incog_core::group::Demand;
use incog_core::hierarchy::{Attribute, Attributes, Hierarchy};
use incog_core::judge::Problem;
use incog_core::lattice::{Grouping, Lattice};
use incog_core::metric::{self, Costs, Statistics};
use incog_core::privacy::{
    self, Closure, Distance, Fraction, Model, ParameterKind, Parameters, Policy, Sensitive, Unit,
};
use incog_core::recoding::{PerLevel, Recoding, Release};
use incog_core::table::Table;
use incog_testkit::labels::Released;
use incog_testkit::{Sample, naive, random};
use incog_verify::{Claims, LabelColumn, Labels, SensitiveClaim, verify};
use proptest::prelude::*;

/// A level for each attribute, or none, from any numbers.
fn grouping_of(heights: &[u8], picks: &[u8]) -> Vec<Option<u8>> {
    let pick = |(&height, &pick): (&u8, &u8)| (pick % 4 != 0).then(|| pick / 4 % (height + 1));
    heights.iter().zip(picks).map(pick).collect()
}

fn grouping(levels: &[Option<u8>]) -> Grouping {
    let mut grouping = Grouping::NOTHING;
    for (attribute, level) in levels.iter().enumerate() {
        if let Some(level) = level {
            grouping.set(attribute, *level);
        }
    }
    grouping
}

type Named = BTreeMap<Vec<String>, (u64, u64, Vec<(String, u64)>)>;

/// The groups by their labels: rows, persons, and illnesses with counts.
fn by_name(set: &FrequencySet, sample: &Sample, attributes: &Attributes) -> Named {
    let table = sample.table();
    let illness = table.column("illness").unwrap().dictionary();
    (0..set.n_groups())
        .map(|at| {
            let label = |(attribute, level): (usize, u8)| {
                attributes[attribute].hierarchy().labels(level).value(set.label(at, attribute)).to_owned()
            };
            let group = set.measures().group(at);
            let mut histogram: Vec<(String, u64)> = group
                .histogram(0)
                .unwrap()
                .iter()
                .map(|&(code, rows)| (illness.value(code).to_owned(), rows))
                .collect();
            histogram.sort();
            (set.grouping().iter().map(label).collect(), (group.rows(), group.persons().unwrap(), histogram))
        })
        .collect()
}

/// The same from the definition.
fn expected(sample: &Sample, levels: &[Option<u8>]) -> Named {
    naive::groups(sample, levels)
        .into_iter()
        .map(|(labels, rows)| {
            let mut persons: Vec<&String> = rows.iter().map(|&row_idx| &sample.persons[row_idx]).collect();
            persons.sort();
            persons.dedup();
            let mut histogram: BTreeMap<String, u64> = BTreeMap::new();
            for &row_idx in &rows {
                *histogram.entry(sample.illnesses[row_idx].clone()).or_default() += 1;
            }
            (labels, (rows.len() as u64, persons.len() as u64, histogram.into_iter().collect()))
        })
        .collect()
}

fn everything() -> Demand {
    Demand { persons: true, histograms: vec![0], persons_by_value: vec![0], labels: false }
}

/// What a model takes, with values from any numbers.
fn parameters(model: &Model, table: &Table, unit: Unit, numbers: &[u8; 4]) -> Parameters {
    let column = table.column("illness").unwrap();
    let n_values = column.dictionary().len() as u64;
    let [first, second, third, fourth] = numbers.map(u64::from);
    let share = Fraction::new(1 + first % 10, 10).unwrap();
    let values: Vec<u32> =
        (0..n_values as u32).filter(|value| *value == 0 || fourth >> value & 1 == 1).collect();
    let distance = match third % 3 {
        0 => Distance::equal(),
        1 => Distance::ordered((0..n_values as u32).map(|value| (value + numbers[3] as u32) % 3).collect()),
        _ => {
            let hierarchy = Hierarchy::suppression(column.dictionary().values());
            Distance::hierarchical(&Attribute::bind(column, hierarchy, "suppression").unwrap())
        }
    };
    let mut parameters = Parameters::counting(unit);
    for parameter in model.parameters() {
        let name = parameter.name;
        match (name, parameter.kind) {
            (_, ParameterKind::Column) => {
                parameters.sensitive = Some(match unit {
                    Unit::Rows => Sensitive::of_rows(0, column),
                    Unit::Persons => Sensitive::of_persons(0, column, table.column("person").unwrap()),
                });
            }
            ("k", _) => parameters.set(name, 1 + first % 6),
            ("alpha" | "t", _) => parameters.set(name, share),
            ("l", _) => parameters.set(name, 1 + second % n_values.max(1)),
            ("c", _) => parameters.set(name, Fraction::new(1 + first % 20, 5).unwrap()),
            ("delta" | "beta", _) => parameters.set(name, Fraction::new(1 + first % 20, 10).unwrap()),
            (_, ParameterKind::Whole | ParameterKind::Number) => {
                let sample = parameter.samples[first as usize % parameter.samples.len()];
                let number: Fraction = sample.parse().unwrap();
                match parameter.kind {
                    ParameterKind::Whole => parameters.set(name, number.numerator()),
                    _ => parameters.set(name, number),
                }
            }
            (_, ParameterKind::Values) if third % 2 == 0 && n_values > 0 => {
                parameters.set(name, Vec::clone(&values));
            }
            (_, ParameterKind::Values | ParameterKind::Order | ParameterKind::Hierarchy) => {}
            (_, ParameterKind::Distance(_)) => parameters.set(name, distance.clone()),
            (_, ParameterKind::Choice(choice)) => {
                parameters.set(name, choice.names[numbers[1] as usize % choice.names.len()].0);
            }
        }
    }
    parameters
}

fn rows_of(sample: &Sample, width: KeyWidth) -> (Rows, Attributes) {
    let table = sample.table();
    let attributes = sample.attributes(&table);
    let rows = Rows::with_width(&table, &attributes, width).unwrap();
    let rows = rows.with_unit(&table, "person").unwrap().with_sensitive(&table, &["illness"]).unwrap();
    (rows, attributes)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Scans count what the definition says, with every key width and method; merging their groups, one step or
    /// several attributes at once, gives what a scan gives.
    #[test]
    fn scan_roll_up_and_projection_agree_for_all_measures(
        sample in random::sample(4, 40),
        from in proptest::collection::vec(any::<u8>(), 4),
        by in proptest::collection::vec(any::<u8>(), 4),
    ) {
        let heights = sample.heights();
        let fine = grouping_of(&heights, &from);
        // Coarser in every attribute: a higher level, or left out.
        let coarse: Vec<Option<u8>> = fine
            .iter()
            .zip(&heights)
            .zip(&by)
            .map(|((level, &height), &pick)| level.and_then(|level| {
                let level = level + pick / 4 % (height - level + 1);
                (pick % 4 != 0).then_some(level)
            }))
            .collect();
        for width in [KeyWidth::U64, KeyWidth::U128, KeyWidth::Wide] {
            let (rows, attributes) = rows_of(&sample, width);
            prop_assert_eq!(rows.layout().width(), width);
            for method in [Method::Auto, Method::Hash, Method::Sort] {
                let scanned = rows.count(&grouping(&fine), &everything(), method).unwrap();
                prop_assert_eq!(by_name(&scanned, &sample, &attributes), expected(&sample, &fine));
                let rolled = scanned.roll_up(&grouping(&coarse), &mut Scratch::default());
                prop_assert_eq!(by_name(&rolled, &sample, &attributes), expected(&sample, &coarse));
                let sorted = rolled.sorted();
                prop_assert_eq!(by_name(&sorted, &sample, &attributes), expected(&sample, &coarse));
            }
        }
    }

    /// With rows as the only measure, other kernels run: they must give the same counts.
    #[test]
    fn counting_rows_only_changes_no_count(
        sample in random::sample(4, 40),
        picks in proptest::collection::vec(any::<u8>(), 4),
    ) {
        let levels = grouping_of(&sample.heights(), &picks);
        let (rows, _) = rows_of(&sample, KeyWidth::U64);
        for method in [Method::Auto, Method::Hash, Method::Sort] {
            let full = rows.count(&grouping(&levels), &everything(), method).unwrap().sorted();
            let only = rows.count(&grouping(&levels), &Demand::default(), method).unwrap().sorted();
            prop_assert_eq!(full.measures().rows(), only.measures().rows());
        }
    }

    /// γ⁺ composes: the label of a label is the label of the value.
    #[test]
    fn generalizing_in_steps_equals_generalizing_at_once(sample in random::sample(2, 10)) {
        let table = sample.table();
        for (attribute, column) in sample.attributes(&table).iter().zip(&sample.columns) {
            let hierarchy = attribute.hierarchy();
            for (leaf, path) in column.hierarchy.iter().enumerate() {
                for from in 0..=hierarchy.height() {
                    let start = hierarchy.generalize(leaf as u32, 0, from);
                    for to in from..=hierarchy.height() {
                        let label = hierarchy.generalize(start, from, to);
                        prop_assert_eq!(hierarchy.labels(to).value(label), &path[usize::from(to)]);
                    }
                }
            }
        }
    }

    /// Every metric, from the sums over a node's groups and recomputed from the labels of its release, which
    /// passes the independent checker.
    #[test]
    fn metrics_of_a_node_are_those_of_its_verified_release(
        sample in random::sample(3, 30),
        k in 1..=5_u64,
        budget in prop_oneof![Just(0_u64), 1..=30_u64],
        weights in proptest::collection::vec(0.25..4.0_f64, 3),
    ) {
        let table = sample.table();
        let attributes = sample.attributes(&table);
        let rows = Rows::new(&table, &attributes).unwrap();
        let policy = Policy::k_anonymity(k).unwrap().with_budget(budget);
        let problem = Problem { source: &rows, policy: &policy };
        let weights = weights[..attributes.len()].to_vec();
        let costs = Costs::new(problem, &attributes).unwrap().with_weights(weights.clone()).unwrap();
        let outcome = Search::incognito().run(problem, &Progress::new()).unwrap();
        let nodes: Vec<usize> = outcome.holding.iter().collect();
        let described =
            metric::describe(problem, &attributes, &outcome.lattice, &nodes, &Progress::new()).unwrap();
        prop_assert_eq!(described.len(), nodes.len());
        let mut scores = vec![Vec::new(); metric::ALL.len()];
        for node in &described {
            let levels = &node.statistics.levels;
            let out = naive::rows_to_suppress(&sample, levels, k);
            prop_assert_eq!(node.statistics.suppressed_rows, out.len() as u64);
            let mut labels: Vec<Option<Vec<String>>> =
                naive::labels(&sample, &naive::present(levels)).into_iter().map(Some).collect();
            for &row_idx in &out {
                labels[row_idx] = None;
            }
            let least = naive::groups(&sample, &naive::present(levels)).into_values()
                .map(|rows| rows.len() as u64).filter(|&rows| rows >= k).min();
            prop_assert_eq!(node.statistics.smallest_group, least);

            // The release has exactly those labels, in order, without the persons.
            let recoding = Recoding::PerLevel(PerLevel::new(problem, levels).unwrap());
            let release = recoding.apply(&table, &attributes).unwrap();
            let q = attributes.len();
            prop_assert_eq!(release.header().len(), q + 1);
            let released: Vec<Vec<String>> = (0..release.n_rows())
                .map(|row_idx| (0..q).map(|at| release.cell(row_idx, at).to_owned()).collect())
                .collect();
            prop_assert_eq!(&released, &labels.iter().flatten().cloned().collect::<Vec<_>>());
            for at in 0..=q {
                let names: Vec<&str> = release.labels(at).collect();
                let by_code: Vec<&str> = release.codes(at).iter().map(|&code| names[code as usize]).collect();
                let by_cell: Vec<&str> = (0..release.n_rows()).map(|row_idx| release.cell(row_idx, at)).collect();
                prop_assert_eq!(by_code, by_cell);
            }
            let claims = Claims {
                quasi_identifiers: attributes.iter().map(|attribute| attribute.name().to_owned()).collect(),
                k, combinations: None,
                columns: None,
                sensitive: vec![SensitiveClaim::measured("illness")],
                source: None,
            };
            prop_assert!(verify(Released(release), &claims).is_ok());

            for (at, entry) in metric::ALL.iter().enumerate() {
                let score = entry.item.score(&costs, &node.statistics);
                let expected = naive::score(&sample, levels, &labels, &weights, entry.name);
                let scale = expected.abs().max(1.0);
                prop_assert!((score - expected).abs() <= 1e-12 * scale, "{}: {score} {expected}", entry.name);
                scores[at].push((score, node.height, levels.clone()));
            }
        }
        // The best node by each metric; ties by height, then in column order.
        for (entry, mut scores) in metric::ALL.iter().zip(scores) {
            let best =
                metric::best(problem, &attributes, &outcome.lattice, &outcome.holding, &costs, entry.item, &Progress::new())
                    .unwrap();
            // With random weights equal scores are rare; ties have a test of their own.
            scores.sort_by(|a, b| {
                entry.item.direction().compare(a.0, b.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2))
            });
            let expected = scores.into_iter().next().map(|(_, _, levels)| levels);
            prop_assert_eq!(best.map(|best| best.statistics.levels), expected, "{}", entry.name);
        }
    }

    /// A job may rule levels out: what a node costs does not depend on which others may be chosen.
    #[test]
    fn a_node_costs_the_same_whichever_levels_are_ruled_out(
        sample in random::sample(3, 30),
        k in 1..=4_u64,
        picks in proptest::collection::vec(any::<u8>(), 3),
    ) {
        let table = sample.table();
        let policy = Policy::k_anonymity(k).unwrap().with_budget(sample.n_rows() as u64);
        let levels: Vec<u8> =
            sample.heights().iter().zip(&picks).map(|(&height, pick)| pick % (height + 1)).collect();
        let scores = |is_alone: bool| -> Vec<f64> {
            let attributes = sample.attributes(&table);
            let attributes: Vec<Attribute> = attributes
                .iter()
                .zip(&levels)
                .map(|(attribute, &level)| {
                    if is_alone { attribute.clone().with_levels(&[level]).unwrap() } else { attribute.clone() }
                })
                .collect();
            let attributes = Attributes::new(attributes).unwrap();
            let rows = Rows::new(&table, &attributes).unwrap();
            let problem = Problem { source: &rows, policy: &policy };
            let node = if is_alone { vec![0; levels.len()] } else { levels.clone() };
            let set = rows.count(&Grouping::of_levels(&node), &policy.demand(), Method::Auto).unwrap();
            let node = Statistics::new(problem, &attributes, node, &set).unwrap();
            let costs = Costs::new(problem, &attributes).unwrap();
            metric::ALL.iter().map(|entry| entry.item.score(&costs, &node)).collect()
        };
        prop_assert_eq!(scores(true), scores(false));
    }

    /// Equal scores: the lower height wins, then column order. Columns are copies of each other, so that ties abound,
    /// and the scores are compared as exact fractions.
    #[test]
    fn ties_go_to_the_lower_height_then_to_column_order(
        sample in random::sample(1, 12),
        n_copies in 2..=3_usize,
        k in 1..=3_u64,
        budget in 0..=6_u64,
    ) {
        let sample = sample.with_copies(n_copies);
        let table = sample.table();
        let attributes = sample.attributes(&table);
        let rows = Rows::new(&table, &attributes).unwrap();
        let policy = Policy::k_anonymity(k).unwrap().with_budget(budget);
        let problem = Problem { source: &rows, policy: &policy };
        let costs = Costs::new(problem, &attributes).unwrap();
        let outcome = Search::incognito().run(problem, &Progress::new()).unwrap();
        // All columns have the same hierarchy, so the sums of (leaves - 1) and of levels are whole numbers.
        let hierarchy = &sample.columns[0].hierarchy;
        let loss = |levels: &Vec<u8>| -> u64 {
            let out = naive::rows_to_suppress(&sample, levels, k);
            let cost = |row_idx: usize, level: u8| {
                if out.contains(&row_idx) {
                    return (hierarchy.len() as u64 - 1).max(1);
                }
                let label = naive::labels(&sample, &[Some(level)])[row_idx][0].clone();
                hierarchy.iter().filter(|path| path[usize::from(level)] == label).count() as u64 - 1
            };
            levels.iter().map(|&level| (0..sample.n_rows()).map(|row_idx| cost(row_idx, level)).sum::<u64>()).sum()
        };
        let climbed = |levels: &Vec<u8>| -> u64 {
            let out = naive::rows_to_suppress(&sample, levels, k).len() as u64;
            let height = u64::from(sample.heights()[0]).max(1);
            let kept = sample.n_rows() as u64 - out;
            levels.iter().map(|&level| u64::from(level) * kept + out * height).sum()
        };
        let height = |levels: &Vec<u8>| levels.iter().map(|&level| u64::from(level)).sum::<u64>();
        let satisfying = naive::satisfying(&sample, k, budget);
        let by_loss = satisfying.iter().min_by_key(|levels| (loss(levels), height(levels), (*levels).clone()));
        let by_climb = satisfying.iter().min_by_key(|levels| (climbed(levels), height(levels), (*levels).clone()));
        for (name, expected) in [("loss", by_loss), ("precision", by_climb)] {
            let metric = incog_core::registry::find(metric::ALL, name).unwrap().item;
            let best = metric::best(
                problem, &attributes, &outcome.lattice, &outcome.holding, &costs, metric, &Progress::new(),
            ).unwrap();
            prop_assert_eq!(best.map(|best| best.statistics.levels), expected.cloned(), "{}", name);
        }
    }

    /// What a model's closure says of merging is true, for all registered models, by rows and by persons; and a model's
    /// shortcut counts what `admits` refuses.
    #[test]
    fn admitted_groups_stay_admitted_and_the_shortcut_equals_the_definition(
        sample in random::sample(2, 40),
        numbers in any::<[u8; 4]>(),
    ) {
        let (rows, attributes) = rows_of(&sample, KeyWidth::U64);
        let heights = sample.heights();
        let lattice = Lattice::new(&heights).unwrap();
        let table = sample.table();
        for (entry, unit) in privacy::ALL.iter().flat_map(|entry| [(entry, Unit::Rows), (entry, Unit::Persons)]) {
            let model = privacy::build(entry.name, &parameters(&entry.item, &table, unit, &numbers)).unwrap();
            let is_about_rows = unit == Unit::Rows || matches!(entry.name, "k-anonymity" | "distinct-l");
            let expected = match entry.name {
                "k-anonymity" | "distinct-l" => Closure::Absorbing,
                _ if is_about_rows => Closure::Merge,
                _ => Closure::None,
            };
            prop_assert_eq!(model.closure(), expected, "{}", entry.name);
            let fine = rows.count(&lattice.grouping(0), &everything(), Method::Auto).unwrap();
            for node in 0..lattice.n_nodes() {
                let coarse = fine.roll_up(&lattice.grouping(node), &mut Scratch::default());
                let mut refused = 0;
                for group in coarse.measures().groups() {
                    if !model.admits(group).unwrap() {
                        refused += group.rows();
                    }
                }
                prop_assert_eq!(model.refused_rows(&coarse).unwrap(), refused);
                for up in lattice.generalizations(node) {
                    let merged = coarse.roll_up(&lattice.grouping(up), &mut Scratch::default());
                    let names = |set: &FrequencySet, at: usize| -> Vec<u32> {
                        (0..heights.len()).map(|attribute| set.label(at, attribute)).collect()
                    };
                    // Whether the parts of each merged group are admitted.
                    let mut parts = vec![Vec::new(); merged.n_groups()];
                    for (at, group) in coarse.measures().groups().enumerate() {
                        let target: Vec<u32> = (0..heights.len())
                            .map(|attribute| {
                                let (from, to) = (lattice.level(node, attribute), lattice.level(up, attribute));
                                attributes[attribute].hierarchy().generalize(coarse.label(at, attribute), from, to)
                            })
                            .collect();
                        let into = (0..merged.n_groups()).find(|&into| names(&merged, into) == target).unwrap();
                        parts[into].push(model.admits(group).unwrap());
                    }
                    for (into, parts) in parts.iter().enumerate() {
                        let must_hold = match model.closure() {
                            Closure::Absorbing => parts.contains(&true),
                            Closure::Merge => !parts.contains(&false),
                            Closure::None => false,
                        };
                        let holds = model.admits(merged.measures().group(into)).unwrap();
                        prop_assert!(holds || !must_hold, "{}", model.describe());
                    }
                }
            }
        }
    }
}

/// As floats, 0.1 + 0.2 + 0.3 is not 0.3 + 0.2 + 0.1. At levels 1, 2 and 3 of these hierarchies a cell loses just that.
#[test]
fn equal_sums_are_equal_although_their_floats_differ() {
    let hierarchy: Vec<Vec<String>> = (0..=10_usize)
        .map(|leaf| {
            let label = |level| if level < leaf.max(1) { format!("v{leaf}") } else { format!("up{level}") };
            (0..=10).map(label).collect()
        })
        .collect();
    let column = |name: &str| incog_testkit::SampleColumn {
        name: name.into(),
        hierarchy: hierarchy.clone(),
        cells: vec!["v0".into()],
    };
    let sample = Sample::new(vec![column("a"), column("b"), column("c")]);
    let table = sample.table();
    let attributes = sample.attributes(&table);
    let rows = Rows::new(&table, &attributes).unwrap();
    let policy = Policy::k_anonymity(1).unwrap();
    let problem = Problem { source: &rows, policy: &policy };
    let costs = Costs::new(problem, &attributes).unwrap();
    let lattice = Lattice::new(&attributes.heights()).unwrap();
    let nodes = [lattice.node(&[1, 2, 3]), lattice.node(&[3, 2, 1])];
    let described = metric::describe(problem, &attributes, &lattice, &nodes, &Progress::new()).unwrap();
    let (rising, falling) = (&described[0].statistics, &described[1].statistics);
    for name in ["loss", "precision"] {
        let metric = incog_core::registry::find(metric::ALL, name).unwrap().item;
        assert_ne!(
            metric.score(&costs, rising),
            metric.score(&costs, falling),
            "{name}: else this shows nothing"
        );
        assert_eq!(metric.compare(&costs, rising, falling), std::cmp::Ordering::Equal, "{name}");
    }
}

/// Moving one record out of a smallest group must be noticed by the checker.
#[test]
fn a_release_with_a_record_too_few_in_a_group_is_refused() {
    struct Broken(Release);
    impl Labels for Broken {
        fn header(&self) -> Vec<&str> {
            self.0.header()
        }
        fn n_rows(&self) -> usize {
            self.0.n_rows()
        }
        fn column(&self, column_idx: usize) -> LabelColumn<'_> {
            let mut labels: Vec<&str> = self.0.labels(column_idx).collect();
            let mut codes = self.0.codes(column_idx);
            if column_idx == 1 && self.0.cell(0, 1) == "Male" {
                codes[0] = labels.len() as u32;
                labels.push("Female");
            }
            LabelColumn { labels, codes: codes.into() }
        }
    }
    let case =
        incog_testkit::case::Case::all().into_iter().find(|case| case.name == "patients-k2.toml").unwrap();
    let sample = case.sample();
    let table = sample.table();
    let attributes = sample.attributes(&table);
    let rows = Rows::new(&table, &attributes).unwrap();
    let policy = Policy::k_anonymity(3).unwrap();
    let problem = Problem { source: &rows, policy: &policy };
    let release = || {
        let recoding = Recoding::PerLevel(PerLevel::new(problem, &[1, 0, 2]).unwrap());
        recoding.apply(&table, &attributes).unwrap()
    };
    let claims = Claims {
        quasi_identifiers: case.quasi_identifiers.clone(),
        k: 3,
        combinations: None,
        columns: None,
        sensitive: vec![],
        source: None,
    };
    assert!(verify(Released(release()), &claims).is_ok(), "three men, three women");
    assert!(verify(Broken(release()), &claims).is_err(), "two men, four women");
    assert!(PerLevel::new(problem, &[0, 0, 2]).is_err(), "not within the budget");
}
