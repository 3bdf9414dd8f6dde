//! A plan can be made from any source: an engine that only counts gives the same search report, frontier and recoding through the
//! library as the same rows in memory.
//!
//! [`Strings`] stands for an engine that is not ours. It counts in two ways: by labels as text, with a hash map, and as a database
//! would, by `key & mask` of keys that it looked up in a table of values.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use incog::unstable::engine::frequency::{CountedGroup, FrequencySet, FrequencySource, KeyLayout, Method};
use incog::unstable::engine::group::Demand;
use incog::unstable::engine::lattice::Grouping;
use incog::unstable::source::engine::{Bindings, Engine};
use incog::{Anonymizer, ErrorKind, Hierarchy, Input, Model, Result};

const COLUMNS: [&str; 5] = ["person", "zip", "age", "sex", "ill"];

/// How an engine names a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    /// By its labels.
    Text,
    /// By what a mask leaves of its records' keys.
    Key,
}

/// A table of strings.
#[derive(Debug, Clone)]
struct Strings {
    rows: Arc<Vec<[String; 5]>>,
    by: By,
    n_asked: Arc<AtomicU64>,
}

impl Engine for Strings {
    fn header(&self) -> Result<Vec<String>> {
        Ok(COLUMNS.map(str::to_owned).to_vec())
    }

    fn values(&self, column: &str) -> Result<Vec<(Option<String>, u64)>> {
        assert_ne!(column, "person", "there may be as many persons as rows: nobody needs their names");
        let at = COLUMNS.iter().position(|name| *name == column).unwrap();
        let mut values: BTreeMap<&str, u64> = BTreeMap::new();
        self.rows.iter().for_each(|row| *values.entry(&row[at]).or_default() += 1);
        let cell = |value: &str| Some(value.to_owned()).filter(|value| !value.is_empty());
        Ok(values.into_iter().rev().map(|(value, rows)| (cell(value), rows)).collect())
    }

    fn n_rows(&self) -> Result<u64> {
        Ok(self.rows.len() as u64)
    }

    fn rows_about_nobody(&self, unit: &str) -> Result<u64> {
        assert_eq!(unit, "person");
        Ok(self.rows.iter().filter(|row| row[0].is_empty()).count() as u64)
    }

    fn source(&self, bindings: &Bindings<'_>) -> Result<Box<dyn FrequencySource>> {
        let at = |name: &str| COLUMNS.iter().position(|column| *column == name).unwrap();
        let attributes = bindings.attributes.iter().zip(&bindings.quasi_identifiers).enumerate();
        let attributes = attributes.map(|(number, (attribute, column))| {
            let labels = |level: u8| {
                let labels = attribute.hierarchy().labels(level);
                let of_value = column.dictionary().values().zip(attribute.labels_at(level));
                let of_value =
                    of_value.map(|(value, &code)| (value.to_owned(), labels.value(code).to_owned()));
                let codes = labels.values().enumerate().map(|(code, label)| (label.to_owned(), code as u32));
                (of_value.collect(), codes.collect())
            };
            let keys = bindings.layout.value_keys(number).expect("keys of so few values have few bits");
            let values = column.dictionary().values().map(str::to_owned);
            Dimension {
                at: at(attribute.name()),
                levels: (0..=attribute.height()).map(labels).collect(),
                keys: values.zip(keys.iter().copied()).collect(),
            }
        });
        let sensitive = bindings.sensitive.iter().map(|column| {
            let codes = column.dictionary().values().zip(0..).map(|(value, code)| (value.to_owned(), code));
            (at(column.name()), codes.collect())
        });
        let mut persons: HashMap<String, u32> = HashMap::new();
        for row in self.rows.iter().filter(|row| !row[0].is_empty()) {
            let number = 1_000_000 - persons.len() as u32;
            persons.entry(row[0].clone()).or_insert(number);
        }
        Ok(Box::new(Counting {
            strings: self.clone(),
            layout: Arc::clone(&bindings.layout),
            dimensions: attributes.collect(),
            sensitive: sensitive.collect(),
            persons: bindings.unit.map(|_| persons),
        }))
    }
}

/// A quasi-identifier.
struct Dimension {
    /// Its place in a row.
    at: usize,
    /// For each level, the label of each value, and the code of each label.
    levels: Vec<(HashMap<String, String>, HashMap<String, u32>)>,
    keys: HashMap<String, u64>,
}

struct Counting {
    strings: Strings,
    layout: Arc<KeyLayout>,
    dimensions: Vec<Dimension>,
    sensitive: Vec<(usize, HashMap<String, u32>)>,
    /// Their numbers, where persons are counted.
    persons: Option<HashMap<String, u32>>,
}

impl Counting {
    fn labels(&self, grouping: &Grouping, row: &[String; 5]) -> Vec<&str> {
        let label = |(at, level): (usize, u8)| {
            let dimension = &self.dimensions[at];
            dimension.levels[usize::from(level)].0[&row[dimension.at]].as_str()
        };
        grouping.iter().map(label).collect()
    }

    fn key(&self, row: &[String; 5]) -> u64 {
        self.dimensions.iter().fold(0, |key, dimension| key | dimension.keys[&row[dimension.at]])
    }

    fn person(&self, row: &[String; 5]) -> Option<u32> {
        self.persons.as_ref()?.get(&row[0]).copied()
    }

    /// The value of a sensitive column, unless the row is about nobody.
    fn value(&self, row: &[String; 5], column: usize) -> Option<u32> {
        let (at, codes) = &self.sensitive[column];
        (self.persons.is_none() || self.person(row).is_some()).then(|| codes[&row[*at]])
    }

    fn counted(&self, labels: Vec<u32>, demand: &Demand, rows: &[&[String; 5]]) -> CountedGroup {
        let mut group = CountedGroup { labels, rows: rows.len() as u64, ..CountedGroup::default() };
        if demand.persons {
            group.persons = rows.iter().filter_map(|row| self.person(row)).collect();
            group.persons.sort_unstable();
            group.persons.dedup();
        }
        for &column in &demand.histograms {
            let mut histogram: BTreeMap<u32, u64> = BTreeMap::new();
            let values = rows.iter().filter_map(|row| self.value(row, column));
            values.for_each(|value| *histogram.entry(value).or_default() += 1);
            group.histograms.push(histogram.into_iter().collect());
        }
        for &column in &demand.persons_by_value {
            let pairs = rows.iter().filter_map(|row| self.value(row, column).zip(self.person(row)));
            let pairs: BTreeMap<(u32, u32), ()> = pairs.map(|pair| (pair, ())).collect();
            group.persons_by_value.push(pairs.into_keys().collect());
        }
        group
    }
}

impl FrequencySource for Counting {
    fn layout(&self) -> &Arc<KeyLayout> {
        &self.layout
    }

    fn n_rows(&self) -> u64 {
        self.strings.rows.len() as u64
    }

    fn count(&self, grouping: &Grouping, demand: &Demand, _: Method) -> Result<FrequencySet> {
        self.strings.n_asked.fetch_add(1, Relaxed);
        let mut groups: BTreeMap<Vec<u32>, Vec<&[String; 5]>> = BTreeMap::new();
        match self.strings.by {
            By::Text => {
                let mut by_text: HashMap<Vec<&str>, Vec<&[String; 5]>> = HashMap::new();
                for row in self.strings.rows.iter() {
                    by_text.entry(self.labels(grouping, row)).or_default().push(row);
                }
                for (labels, rows) in by_text {
                    let coded = grouping.iter().zip(labels);
                    let code = |((at, level), label): ((usize, u8), &str)| {
                        self.dimensions[at].levels[usize::from(level)].1[label]
                    };
                    groups.insert(coded.map(code).collect(), rows);
                }
            }
            By::Key => {
                let mask = self.layout.mask(grouping).expect("keys have few bits");
                let mut by_key: HashMap<u64, Vec<&[String; 5]>> = HashMap::new();
                for row in self.strings.rows.iter() {
                    by_key.entry(self.key(row) & mask).or_default().push(row);
                }
                for (key, rows) in by_key {
                    groups.insert(self.layout.labels_of_key(key, grouping)?, rows);
                }
            }
        }
        let groups = groups.into_iter().map(|(labels, rows)| self.counted(labels, demand, &rows));
        FrequencySet::from_counted(&self.layout, grouping, demand, groups)
    }
}

/// Numbers that look random and are the same each time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % n
    }
}

fn table(numbers: &mut Numbers, some_about_nobody: bool) -> Vec<[String; 5]> {
    let n_rows = 8 + numbers.below(30);
    let mut row = || {
        let person = match numbers.below(n_rows) {
            0 if some_about_nobody => String::new(),
            number => format!("p{number}"),
        };
        let zip = ["53715", "53710", "53703", "02139", ""][numbers.below(5)].to_owned();
        let age = (20 + 7 * numbers.below(6)).to_string();
        let sex = ["f", "m"][numbers.below(2)].to_owned();
        [person, zip, age, sex, ["flu", "cold", "none"][numbers.below(3)].to_owned()]
    };
    (0..n_rows).map(|_| row()).collect()
}

/// What is asked for beside k.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    K,
    Persons,
    AlphaK,
    L,
    T,
    LOfPersons,
}

const ALL: [Asked; 6] = [Asked::K, Asked::Persons, Asked::AlphaK, Asked::L, Asked::T, Asked::LOfPersons];

impl Asked {
    fn of_persons(self) -> bool {
        matches!(self, Asked::Persons | Asked::LOfPersons)
    }

    /// With only the lowest levels of zip codes, there is often no generalization.
    fn of(self, input: Input, k: u64, suppression: &str, highest_zip: u8) -> Result<Anonymizer> {
        let mut job = Anonymizer::new(input)
            .quasi_identifier("zip", Hierarchy::mask_right().length(5).levels(0..=highest_zip))
            .quasi_identifier("age", Hierarchy::intervals([7, 14, 28]).levels([0, 1, 3, 4]))
            .quasi_identifier("sex", Hierarchy::suppress())
            .sensitive("ill")
            .k(k)
            .suppression(suppression)?;
        job = match self.of_persons() {
            true => job.unit("person").missing_unit_is_nobody(),
            false => job.identifier("person"),
        };
        Ok(match self {
            Asked::K | Asked::Persons => job,
            Asked::AlphaK => job.require(Model::alpha_k("ill", "2/3")?),
            Asked::L | Asked::LOfPersons => job.require(Model::distinct_l("ill", 2)),
            Asked::T => job.require(Model::t_closeness("ill", "1/2")?),
        })
    }
}

/// A report without what depends on the machine, or on where counts come from: to ask less often, an engine's groups are kept longer.
fn facts(json: &str) -> serde_json::Value {
    let mut report: serde_json::Value = serde_json::from_str(json).unwrap();
    let parts = report.as_object_mut().unwrap();
    for key in ["search_ms", "table_scans", "groups_touched"] {
        parts.remove(key);
    }
    report
}

/// What came of a question, or why nothing did.
fn said<T>(found: Result<T>, facts: impl FnOnce(T) -> String) -> String {
    match found {
        Ok(found) => facts(found),
        Err(error) => format!("{error} {:?} {:?}", error.kind(), std::error::Error::source(&error)),
    }
}

#[test]
fn an_engine_that_only_counts_gives_the_reports_of_rows_in_memory() {
    let mut numbers = Numbers(7);
    let (mut n_found, mut n_refused_groups, mut n_none) = (0, 0, 0);
    for round in 0..40 {
        let rows = Arc::new(table(&mut numbers, round % 2 == 0));
        let in_memory = || {
            let column = |at: usize| (COLUMNS[at], rows.iter().map(move |row| row[at].clone()).collect());
            Input::from((0..5).map(column).collect::<Vec<(&str, Vec<String>)>>())
        };
        for asked in ALL {
            let (k, suppression) = (2 + numbers.below(3) as u64, ["0", "2", "30%"][numbers.below(3)]);
            let highest_zip = [0, 5, 5][numbers.below(3)];
            for by in [By::Text, By::Key] {
                let engine = Strings { rows: Arc::clone(&rows), by, n_asked: Arc::default() };
                let job = |is_here: bool| {
                    let input = if is_here { in_memory() } else { Input::engine(engine.clone()) };
                    asked.of(input, k, suppression, highest_zip).unwrap()
                };
                let what = format!("{round} {asked:?} {by:?} k = {k} {suppression} zip to {highest_zip}");
                let [mine, theirs] = [true, false].map(|is_here| {
                    said(job(is_here).search(), |report| facts(&report.to_json()).to_string())
                });
                assert_eq!(mine, theirs, "{what}");
                let [mine, theirs] = [true, false].map(|is_here| {
                    said(job(is_here).frontier(2..=5), |report| facts(&report.to_json()).to_string())
                });
                assert_eq!(mine, theirs, "{what}");
                let [mine, theirs] = [true, false].map(|is_here| {
                    said(job(is_here).decide(), |decided| {
                        let groups: BTreeMap<Vec<&str>, u64> = decided.refused_groups().collect();
                        n_refused_groups += groups.len();
                        n_found += 1;
                        format!(
                            "{:?} {groups:?} {:?} {:?} {:?} {:?}",
                            decided.levels(),
                            decided.suppressed_rows(),
                            decided.score(),
                            decided.quality(),
                            decided.notes()
                        )
                    })
                });
                assert_eq!(mine, theirs, "{what}");
                n_none += usize::from(mine.starts_with("nothing satisfies"));
                assert!(engine.n_asked.load(Relaxed) > 0, "{what}: the engine was asked");
            }
        }
    }
    assert!(n_found > 200 && n_refused_groups > 100 && n_none > 5, "{n_found} {n_refused_groups} {n_none}");
}

fn small(by: By) -> Strings {
    let row = |person: &str, zip: &str| [person, zip, "34", "f", "flu"].map(str::to_owned);
    let rows = vec![row("p1", "53715"), row("p2", "53715"), row("p3", "537"), row("", "537")];
    Strings { rows: Arc::new(rows), by, n_asked: Arc::default() }
}

#[test]
fn what_takes_rows_is_refused_and_says_so() {
    let job = || Asked::K.of(Input::engine(small(By::Text)), 2, "0", 5).unwrap();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("release.csv"), "zip,age,sex,ill\n").unwrap();
    let errors = [
        job().anonymize().unwrap_err(),
        job()
            .settings(|job| job.output.get_or_insert_default().path = Some("out.csv".into()))
            .publish()
            .unwrap_err(),
        job().compare().unwrap_err(),
        job().verify(folder.path().join("release.csv")).unwrap_err(),
    ];
    for error in errors {
        assert_eq!(error.kind(), ErrorKind::Policy, "{error}");
        assert!(
            error.to_string().starts_with("the rows of the table are in an engine that counts, and "),
            "{error}"
        );
        assert!(error.hint().is_some_and(|hint| hint.contains("decide")));
    }
    let error = job().algorithm("top-down").decide().unwrap_err();
    assert!(error.to_string().ends_with("needs the records, and this source has counts only"), "{error}");
    assert!(!std::fs::exists("out.csv").unwrap());
}

#[test]
fn an_engine_is_asked_for_lengths_and_missing_units_too() {
    let by_length = |unit: bool| {
        let job = Anonymizer::new(Input::engine(small(By::Key)))
            .quasi_identifier("zip", Hierarchy::mask_right())
            .quasi_identifier("age", Hierarchy::suppress())
            .quasi_identifier("sex", Hierarchy::suppress())
            .other("ill")
            .k(2);
        if unit { job.unit("person").missing_unit_is_nobody() } else { job.identifier("person") }
    };
    assert_eq!(by_length(false).decide().unwrap().levels(), Some(vec![("zip", 0), ("age", 0), ("sex", 0)]));
    let shown = format!("{:?}", by_length(false).decide().unwrap());
    assert!(shown.contains("levels") && !shown.contains("537"), "no cell is shown: {shown}");
    let error = by_length(true).decide().unwrap_err();
    assert!(error.hint().is_some_and(|hint| hint.contains("length = 5")), "{error}");
    let refuses = Anonymizer::new(Input::engine(small(By::Key)))
        .quasi_identifier("zip", Hierarchy::suppress())
        .unit("person")
        .rest(incog::RoleJob::Other)
        .k(2);
    let error = refuses.decide().unwrap_err();
    assert!(error.to_string().contains("column `person`: 1 rows do not say whom they are about"), "{error}");
}

/// An engine whose answers are wrong in one way.
#[derive(Debug)]
struct Lies(Strings, fn(&mut Vec<(Option<String>, u64)>));

impl Engine for Lies {
    fn header(&self) -> Result<Vec<String>> {
        self.0.header()
    }

    fn values(&self, column: &str) -> Result<Vec<(Option<String>, u64)>> {
        let mut values = self.0.values(column)?;
        self.1(&mut values);
        Ok(values)
    }

    fn n_rows(&self) -> Result<u64> {
        self.0.n_rows()
    }

    fn rows_about_nobody(&self, unit: &str) -> Result<u64> {
        self.0.rows_about_nobody(unit)
    }

    fn source(&self, bindings: &Bindings<'_>) -> Result<Box<dyn FrequencySource>> {
        self.0.source(bindings)
    }
}

#[test]
fn answers_are_not_believed() {
    let twice: fn(&mut Vec<(Option<String>, u64)>) = |values| values.push(values[0].clone());
    let fewer: fn(&mut Vec<(Option<String>, u64)>) = |values| values[0].1 -= 1;
    for (lie, told) in [(twice, "a value twice"), (fewer, "values whose rows are not all rows of the table")]
    {
        let error =
            Asked::K.of(Input::engine(Lies(small(By::Text), lie)), 2, "0", 5).unwrap().decide().unwrap_err();
        assert!(error.to_string().ends_with(told), "{error}");
    }
}
