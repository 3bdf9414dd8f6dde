//! A column that is released as it is and gives back what a generalized one lost: 20 generated pairs that determine each other, of
//! which each is named in a warning, and 20 that do not, of which none is.

use incog::{Anonymizer, DateUnit, Hierarchy};

/// Rows of each table.
const N: usize = 2_000;

/// Numbers that look random (SplitMix64), a few kinds.
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: i64) -> i64 {
        (self.next() % end as u64) as i64
    }

    /// About normal, with mean 0 and deviation 1.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.next() as f64 / u64::MAX as f64).sum::<f64>() - 6.0
    }

    /// Skewed, as amounts are.
    fn amount(&mut self) -> f64 {
        30_000.0 * (0.6 * self.normal()).exp()
    }
}

/// A pair: the quasi-identifier with its hierarchy, and the column that is released as it is.
struct Pair {
    name: &'static str,
    hierarchy: Hierarchy,
    cells: Vec<(String, String)>,
}

fn pair<A: ToString, B: ToString>(
    name: &'static str,
    hierarchy: Hierarchy,
    mut row: impl FnMut(&mut Draw) -> (A, B),
) -> Pair {
    let seed = name.bytes().fold(7_u64, |seed, byte| seed.wrapping_mul(31).wrapping_add(u64::from(byte)));
    let mut draw = Draw(seed);
    let mut cell = || {
        let (generalized, released) = row(&mut draw);
        (generalized.to_string(), released.to_string())
    };
    Pair { name, hierarchy, cells: (0..N).map(|_| cell()).collect() }
}

fn born() -> Hierarchy {
    Hierarchy::dates([DateUnit::Month, DateUnit::Year, DateUnit::Decade])
}

fn date(draw: &mut Draw) -> (i64, i64, String) {
    let (year, month, day) = (1930 + draw.below(80), 1 + draw.below(12), 1 + draw.below(28));
    (year, month, format!("{year}-{month:02}-{day:02}"))
}

fn zip(draw: &mut Draw) -> String {
    format!("{}{:02}{:02}", 1 + draw.below(9), draw.below(20), draw.below(50))
}

fn amounts() -> Hierarchy {
    Hierarchy::intervals([5_000, 20_000, 100_000])
}

/// The warnings about a pair, where the quasi-identifier must be generalized to the top.
fn warnings(pair: &Pair) -> Vec<String> {
    let cells = || pair.cells.iter();
    let table = [
        ("lost", cells().map(|(lost, _)| lost.clone()).collect::<Vec<_>>()),
        ("beside", cells().map(|(_, beside)| beside.clone()).collect()),
    ];
    let release = Anonymizer::new(table)
        .quasi_identifier("lost", pair.hierarchy.clone())
        .other("beside")
        .k(N as u64)
        .anonymize()
        .unwrap_or_else(|error| panic!("{}: {error}", pair.name));
    release.report().notes.iter().filter(|note| note.contains("undoes")).cloned().collect()
}

fn town(zip: &str) -> String {
    format!("town-{}", &zip[..3])
}

fn determined() -> Vec<Pair> {
    let age = |year: i64, month: i64, day: i64| 2023 - year - i64::from((month, day) > (6, 15));
    vec![
        pair("age on one day", born(), |draw| {
            let (year, month, text) = date(draw);
            (text.clone(), age(year, month, text[8..].parse().unwrap()))
        }),
        pair("age within a year", born(), |draw| {
            let (year, _, text) = date(draw);
            (text, 2022 - year + draw.below(2))
        }),
        pair("birth year", born(), |draw| {
            let (year, _, text) = date(draw);
            (text, year)
        }),
        pair("birth year and month", born(), |draw| {
            let (year, month, text) = date(draw);
            (text, format!("{month:02}/{year}"))
        }),
        pair("decade as a word", born(), |draw| {
            let (year, _, text) = date(draw);
            (text, format!("born in the {}s", year / 10 * 10))
        }),
        pair("day of retirement", born(), |draw| {
            let (year, month, text) = date(draw);
            (text, format!("{}-{month:02}-01", year + 67))
        }),
        pair("birth year behind an age", Hierarchy::intervals([5, 10, 20]), |draw| {
            let age = draw.below(90);
            (age, 2023 - age)
        }),
        pair("age group", Hierarchy::intervals([5, 10, 20]), |draw| {
            let age = draw.below(90);
            (age, format!("group {}", age / 10))
        }),
        pair("town of a zip code", Hierarchy::mask_right(), |draw| {
            let zip = zip(draw);
            (zip.clone(), town(&zip))
        }),
        pair("region of a zip code", Hierarchy::mask_right(), |draw| {
            let zip = zip(draw);
            (zip.clone(), format!("region {}", &zip[..1]))
        }),
        pair("the same code again", Hierarchy::mask_right(), |draw| {
            let zip = zip(draw)[..3].to_owned();
            (zip.clone(), format!("Z-{zip}"))
        }),
        pair("sex in other codes", Hierarchy::suppress(), |draw| {
            let is_female = draw.below(2) == 0;
            (if is_female { "F" } else { "M" }, if is_female { 2 } else { 1 })
        }),
        pair("title, mostly by sex", Hierarchy::suppress(), |draw| {
            let is_female = draw.below(2) == 0;
            let title = match (is_female, draw.below(50)) {
                (_, 0) => "Dr",
                (true, _) => "Ms",
                (false, _) => "Mr",
            };
            (if is_female { "F" } else { "M" }, title)
        }),
        pair("country and nationality", Hierarchy::suppress(), |draw| {
            let at = draw.below(30);
            (format!("country {at}"), format!("nationals of {at}"))
        }),
        pair("own part of a couple's income", amounts(), |draw| {
            let own = draw.amount();
            let other = if draw.below(5) < 3 { 0.0 } else { draw.amount() / 4.0 };
            (format!("{:.0}", own + other), format!("{own:.0}"))
        }),
        pair("net of gross", amounts(), |draw| {
            let gross = draw.amount();
            (format!("{gross:.0}"), format!("{:.2}", gross * 0.68))
        }),
        pair("wage by month", amounts(), |draw| {
            let year = draw.amount();
            (format!("{year:.0}"), format!("{:.2}", year / 12.0))
        }),
        pair("height in inches", Hierarchy::intervals([5, 10, 20]), |draw| {
            let height = 170.0 + 9.0 * draw.normal();
            (format!("{height:.0}"), format!("{:.1}", height / 2.54))
        }),
        pair("amount with one percent of noise", amounts(), |draw| {
            let amount = draw.amount();
            (format!("{amount:.0}"), format!("{:.0}", amount * (1.0 + 0.01 * draw.normal())))
        }),
        pair("years of schooling", Hierarchy::suppress(), |draw| {
            let years = 8 + draw.below(10);
            (format!("degree {}", years / 3), years)
        }),
    ]
}

fn not_determined() -> Vec<Pair> {
    vec![
        pair("dates and flips", born(), |draw| (date(draw).2, draw.below(2))),
        pair("dates and dates", born(), |draw| (date(draw).2, date(draw).2)),
        pair("dates and running numbers", born(), {
            let mut n = 0;
            move |draw| {
                n += 1;
                (date(draw).2, n)
            }
        }),
        pair("dates and free text", born(), {
            let mut n = 0;
            move |draw| {
                n += 1;
                (date(draw).2, format!("note {n} about something"))
            }
        }),
        pair("dates and one value for all", born(), |draw| (date(draw).2, "same")),
        pair("dates and one value for nearly all", born(), |draw| (date(draw).2, draw.below(500) == 0)),
        pair("dates and their month", born(), |draw| {
            let (_, month, text) = date(draw);
            (text, month)
        }),
        pair("sex and height", Hierarchy::suppress(), |draw| {
            let is_female = draw.below(2) == 0;
            let height = if is_female { 165.0 } else { 178.0 } + 7.0 * draw.normal();
            (if is_female { "F" } else { "M" }, format!("{height:.0}"))
        }),
        pair("sex and illness", Hierarchy::suppress(), |draw| {
            (draw.below(2), format!("C{}", draw.below(60)))
        }),
        pair("age and income", Hierarchy::intervals([5, 10, 20]), |draw| {
            let age = 20 + draw.below(50);
            (age, format!("{:.0}", draw.amount() * (0.5 + age as f64 / 70.0)))
        }),
        pair("age and illnesses of age", Hierarchy::intervals([5, 10, 20]), |draw| {
            let age = draw.below(90);
            (age, format!("I{}", age / 30 * 10 + draw.below(25)))
        }),
        pair("zip codes and hospitals", Hierarchy::mask_right(), |draw| {
            (zip(draw), format!("H{}", draw.below(12)))
        }),
        pair("zip codes and rents", Hierarchy::mask_right(), |draw| {
            let zip = zip(draw);
            let base = 400 + 50 * zip[..1].parse::<i64>().unwrap();
            (zip, base + draw.below(600))
        }),
        pair("incomes that go together", amounts(), |draw| {
            let (own, noise) = (draw.normal(), draw.normal());
            let other = 0.8 * own + 0.6 * noise;
            (format!("{:.0}", 30_000.0 * (0.6 * own).exp()), format!("{:.0}", 30_000.0 * (0.6 * other).exp()))
        }),
        pair("incomes that do not", amounts(), |draw| {
            (format!("{:.0}", draw.amount()), format!("{:.0}", draw.amount()))
        }),
        pair("education and job", Hierarchy::suppress(), |draw| {
            let education = draw.below(5);
            let job = if draw.below(2) == 0 { education } else { draw.below(5) };
            (format!("E{education}"), format!("J{job}"))
        }),
        pair("rare illness, often missing", Hierarchy::mask_right(), |draw| {
            (zip(draw), if draw.below(40) == 0 { format!("R{}", draw.below(3)) } else { String::new() })
        }),
        pair("weight and height", Hierarchy::intervals([5, 10, 20]), |draw| {
            let height = 170.0 + 9.0 * draw.normal();
            (format!("{height:.0}"), format!("{:.0}", height - 100.0 + 12.0 * draw.normal()))
        }),
        pair("stays and costs by case", Hierarchy::intervals([7, 14, 28]), |draw| {
            let stay = 1 + draw.below(20) * draw.below(3);
            (stay, format!("{:.0}", draw.amount() + 300.0 * stay as f64))
        }),
        pair("codes and random codes", Hierarchy::mask_right(), |draw| {
            (format!("{:03}", draw.below(300)), format!("{:04}", draw.below(1_500)))
        }),
    ]
}

#[test]
fn every_column_that_gives_back_a_generalized_one_is_named() {
    let pairs = determined();
    assert_eq!(pairs.len(), 20);
    let overlooked: Vec<&str> =
        pairs.iter().filter(|pair| warnings(pair).is_empty()).map(|pair| pair.name).collect();
    assert_eq!(overlooked, [""; 0]);
}

#[test]
fn no_other_column_is_named() {
    let pairs = not_determined();
    assert_eq!(pairs.len(), 20);
    let invented: Vec<String> = pairs
        .iter()
        .flat_map(|pair| warnings(pair).into_iter().map(|text| format!("{}: {text}", pair.name)))
        .collect();
    assert_eq!(invented, [""; 0]);
}

#[test]
fn the_warning_says_what_is_told_and_what_is_released_and_falls_silent_where_nothing_is_undone() {
    let years = determined().swap_remove(2);
    assert_eq!(
        warnings(&years),
        [
            "warning: `beside` undoes `lost`: it is released as it is and tells \"year\", where the release says \"fully \
             generalized\"; make `beside` a quasi-identifier, or drop it"
        ]
    );
    // With small groups the year is released: its number beside it tells nothing more.
    let cells = || years.cells.iter();
    let table = [
        ("lost", cells().map(|(lost, _)| lost.clone()).collect::<Vec<_>>()),
        ("beside", cells().map(|(_, beside)| beside.clone()).collect()),
    ];
    let anonymizer = Anonymizer::new(table).quasi_identifier("lost", years.hierarchy.clone());
    let release = anonymizer.clone().other("beside").k(5).anonymize().unwrap();
    assert_eq!(release.report().levels, [("lost".to_owned(), 2, 4)]);
    assert!(release.report().notes.iter().all(|note| !note.contains("undoes")), "{}", release.report());
    // Dropped, it undoes nothing.
    let release = anonymizer.identifier("beside").k(N as u64).anonymize().unwrap();
    assert!(release.report().notes.iter().all(|note| !note.contains("undoes")), "{}", release.report());
}
