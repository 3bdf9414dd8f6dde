//! What is claimed of sensitive columns: each claim true and false on small tables, at its threshold, against the
//! definitions on random tables, and by persons.

use std::collections::{BTreeMap, BTreeSet};

use incog_verify::{
    Claims, Counted, Distance, Finding, Fraction, Hierarchy, Likeness, RecodingClaim, Report, SensitiveClaim,
    Source, StringTable, check,
};
use proptest::prelude::*;

fn fraction(text: &str) -> Fraction {
    text.parse().unwrap()
}

fn table(text: &str) -> StringTable {
    StringTable::parse(text.as_bytes(), b',').unwrap()
}

/// Groups by zip; what is claimed of other columns.
fn report(text: &str, sensitive: Vec<SensitiveClaim>) -> Report {
    let claims = Claims {
        quasi_identifiers: vec!["zip".into()],
        k: 1,
        combinations: None,
        columns: None,
        sensitive,
        source: None,
    };
    check(&table(text), &claims)
}

/// The only finding beside k.
fn finding(text: &str, claim: &SensitiveClaim) -> Finding {
    let mut findings = report(text, vec![claim.clone()]).findings;
    assert_eq!(findings.len(), 2, "k and the claim: {findings:?}");
    findings.remove(1)
}

/// A table from `zip: values` lines, values separated by blanks.
fn groups(lines: &str) -> String {
    let mut text = "zip,ill\n".to_owned();
    for line in lines.split(';') {
        let (zip, values) = line.trim().split_once(':').unwrap();
        for value in values.split_whitespace() {
            text += &format!("{},{value}\n", zip.trim());
        }
    }
    text
}

fn ill() -> SensitiveClaim {
    SensitiveClaim::measured("ill")
}

fn strings(words: &str) -> Vec<String> {
    words.split_whitespace().map(str::to_owned).collect()
}

fn paths(rows: &str) -> Vec<Vec<String>> {
    rows.split(';').map(strings).collect()
}

fn pooled(alpha: &str, values: &str) -> SensitiveClaim {
    SensitiveClaim { pooled_alpha: Some((fraction(alpha), strings(values))), ..ill() }
}

fn delta(delta: &str) -> SensitiveClaim {
    SensitiveClaim { delta: Some(fraction(delta)), ..ill() }
}

fn beta(beta: &str, likeness: Likeness) -> SensitiveClaim {
    SensitiveClaim { beta: Some((fraction(beta), likeness)), ..ill() }
}

fn closeness(t: &str, distance: Distance) -> SensitiveClaim {
    SensitiveClaim { t: Some(fraction(t)), distance: Some(distance), ..ill() }
}

const TREE: &str = "flu respiratory *; cough respiratory *; ulcer digestive *; cancer digestive *";

/// Each claim on a table that just satisfies it, and the same table with one cell changed that does not.
#[test]
fn one_changed_cell_at_the_threshold_flips_the_verdict() {
    let even = "1: a b c d; 2: a b c d";
    let uneven = "1: a b c d; 2: a b c c";
    let cases = [
        ("alpha", SensitiveClaim { alpha: Some(fraction("1/4")), ..ill() }, even, uneven),
        ("pooled alpha", pooled("1/2", "c d"), "1: a b c d; 2: a b c c", "1: a b c d; 2: a d c c"),
        ("pooled alpha, one value", pooled("0.25", "c"), even, uneven),
        ("distinct l", SensitiveClaim { distinct_l: Some(4), ..ill() }, even, uneven),
        ("entropy l", SensitiveClaim { entropy_l: Some(fraction("4")), ..ill() }, even, uneven),
        ("recursive", SensitiveClaim { recursive: Some((fraction("2"), 4)), ..ill() }, even, uneven),
        ("equal t", closeness("0", Distance::Equal), even, uneven),
        (
            "numbers t",
            closeness("1/4", Distance::Numbers),
            "1: 1 1 2 2; 2: 1 1 1 1",
            "1: 1 2 2 2; 2: 1 1 1 1",
        ),
        (
            "listed t",
            closeness("1/4", Distance::Order(strings("low high"))),
            "1: low low high high; 2: low low low low",
            "1: low high high high; 2: low low low low",
        ),
        (
            "hierarchical t",
            closeness("1/4", Distance::Hierarchy(paths(TREE))),
            "1: flu ulcer; 2: cough cancer",
            "1: flu flu; 2: cough cancer",
        ),
        // a has 3/8 of all and 1/4 of group 2: ln 3/2 = 0.40546…; then 1/2 and 1/4.
        ("delta", delta("0.4055"), "1: a a b b; 2: a b b b", "1: a a a b; 2: a b b b"),
        // b has 1/2 of group 1 and 1/3 of all; then 3/4 and 5/12.
        (
            "basic beta",
            beta("1/2", Likeness::Basic),
            "1: b a a b; 2: a a a a b b a a",
            "1: b b a b; 2: a a a a b b a a",
        ),
        ("enhanced beta", beta("9", Likeness::Enhanced), "1: a a a b; 2: a b b b", "1: a a a a; 2: a b b b"),
    ];
    for (name, claim, holds, broken) in cases {
        let (before, after) = (groups(holds), groups(broken));
        let changed = before.lines().zip(after.lines()).filter(|(a, b)| a != b).count();
        assert_eq!(changed, 1, "{name}");
        let (found, broken) = (finding(&before, &claim), finding(&after, &claim));
        assert!(found.holds, "{name}: {found}");
        assert!(!broken.holds, "{name}: {broken}");
    }
}

#[test]
fn pooled_values_are_one_value() {
    let text = groups("1: hiv flu cold cough; 2: hiv hepatitis flu flu");
    assert!(finding(&text, &pooled("1/4", "hiv")).holds, "the simple model asks for the named values only");
    assert!(!finding(&text, &SensitiveClaim { alpha: Some(fraction("1/4")), ..ill() }).holds);
    assert!(finding(&text, &pooled("1/2", "hiv hepatitis")).holds);
    let found = finding(&text, &pooled("0.4999", "hiv hepatitis unseen hiv"));
    assert_eq!(
        found.to_string(),
        "FAIL  alpha of 3 values together of ill is at most 0.4999 (the greatest share is 2 of 4 rows)"
    );
    assert!(finding(&text, &pooled("0.01", "unseen")).holds, "nobody has it");
    assert!(!finding(&text, &pooled("1", "")).holds, "nothing is claimed of no values");
}

#[test]
fn twenty_nine_pooled_of_a_hundred_are_within_0_29() {
    let hundred = |n: usize| {
        let row = |at: usize| match at {
            at if at < 10 => "1,a\n".to_owned(),
            at if at < n => "1,b\n".to_owned(),
            at => format!("1,v{at}\n"),
        };
        format!("zip,ill\n{}", (0..100).map(row).collect::<String>())
    };
    assert!(finding(&hundred(29), &pooled("0.29", "a b")).holds);
    assert!(!finding(&hundred(30), &pooled("0.29", "a b")).holds);
    assert!(!finding(&hundred(29), &pooled("0.2899999999999999999999", "a b")).holds);
}

/// One group has 2 of 3, all have 1 of 2: the factor is 4/3 for a, and 3/2 for b. ln 1.5 = 0.40546510810816438197…
#[test]
fn disclosure_is_decided_by_more_digits_than_floats_have() {
    let text = groups("1: a a b; 2: a b b");
    assert!(finding(&text, &delta("0.40546510810816438198")).holds);
    assert!(!finding(&text, &delta("0.40546510810816438197")).holds);
    assert!(!finding(&text, &delta("0.4")).holds);
    let found = finding(&text, &delta("0.4"));
    assert_eq!(
        found.to_string(),
        "FAIL  delta-disclosure of ill is less than 0.4 (the greatest is about 0.405465)"
    );
    let missing = finding(&groups("1: a a b; 2: a a a"), &delta("50"));
    assert_eq!((missing.holds, missing.found.as_str()), (false, "1 group lacks a value"));
    let same = groups("1: a b; 2: b a");
    assert!(finding(&same, &delta("0.000000000000000001")).holds, "nothing differs");
    assert!(!finding(&same, &delta("0")).holds, "less than, not at most");
}

#[test]
fn likeness_is_decided_at_its_threshold() {
    // b has 2 of 4 in group 1 and 4 of 12 in all: it grows by 1/2.
    let text = groups("1: b a a b; 2: a a a a b b a a");
    assert!(finding(&text, &beta("1/2", Likeness::Basic)).holds);
    assert!(!finding(&text, &beta("0.49999999999999999999", Likeness::Basic)).holds);
    let found = finding(&text, &beta("1/4", Likeness::Basic));
    assert_eq!(
        found.to_string(),
        "FAIL  basic beta-likeness of ill: no share grows by more than 0.25 of itself \
         (the greatest growth is 0.5; 1 value is beyond)"
    );
    // a has all of group 1 and 5/6 of all: it grows by 1/5, and −ln 5/6 is 0.18.
    let sure = groups("1: a a; 2: a b a a");
    assert!(finding(&sure, &beta("1/2", Likeness::Basic)).holds);
    assert!(!finding(&sure, &beta("1/2", Likeness::Enhanced)).holds);
    // With 1/2 of all it would have to more than 1.69 fold: 3 of 4 is within, all is not.
    let near = |values: &str| finding(&groups(values), &beta("9", Likeness::Enhanced)).holds;
    assert!(near("1: a a a b; 2: a b b b"));
    assert!(!near("1: a a a a; 2: b b b b"));
}

#[test]
fn distances_follow_the_hierarchy_or_the_list() {
    let text = groups("1: flu cough; 2: ulcer cancer");
    let tree = || Distance::Hierarchy(paths(TREE));
    assert!(finding(&text, &closeness("1/2", tree())).holds);
    assert!(!finding(&text, &closeness("0.49999999999999999999", tree())).holds);
    let near = groups("1: flu ulcer; 2: cough cancer");
    assert!(
        finding(&near, &closeness("1/4", tree())).holds
            && !finding(&near, &closeness("0.2499", tree())).holds
    );
    let order = |words| Distance::Order(strings(words));
    // A half moves by 2/3 each way: running differences 1/4, 1/2, 1/4.
    assert!(finding(&text, &closeness("1/3", order("flu cough ulcer cancer"))).holds);
    assert!(!finding(&text, &closeness("0.3333333333333333333", order("flu cough ulcer cancer"))).holds);
    assert!(finding(&text, &closeness("1/6", order("flu ulcer cancer cough"))).holds);
    for (distance, found) in [
        (order("flu cough ulcer"), "1 value is not in the order"),
        (order("flu cough flu ulcer cancer"), "entries 1 and 3 of the order are the same"),
        (Distance::Hierarchy(paths("flu *; cough *")), "2 values are not in the hierarchy"),
        (Distance::Numbers, "not all values are numbers"),
    ] {
        let refused = finding(&text, &closeness("1", distance));
        assert!(!refused.holds);
        assert_eq!(refused.found, found);
    }
}

/// Two on the same column, one of them true; and what was measured comes once.
#[test]
fn a_column_may_have_several_claims_of_one_kind() {
    let text = groups("1: a b c c; 2: a b c d");
    let general = |alpha| SensitiveClaim { alpha: Some(fraction(alpha)), ..ill() };
    let both = SensitiveClaim { pooled_alpha: Some((fraction("1/4"), strings("d"))), ..general("1/2") };
    let found =
        report(&text, vec![general("1/2"), general("1/4"), pooled("1/2", "c d"), pooled("1/4", "c d"), both]);
    let verdicts: Vec<bool> = found.findings[1..].iter().map(|finding| finding.holds).collect();
    assert_eq!(verdicts, [true, false, true, false, true, true]);
    assert_eq!(found.measured.len(), 1);
    assert_eq!(found.measured[0].alpha, Some((2, 4)));
}

#[test]
fn no_message_has_a_value_in_it() {
    let text = groups("1: secreta secretb secretc; 2: secreta secreta secretc");
    let everything = SensitiveClaim {
        alpha: Some(fraction("1/9")),
        distinct_l: Some(9),
        entropy_l: Some(fraction("9")),
        recursive: Some((fraction("1/9"), 2)),
        t: Some(fraction("0")),
        delta: Some(fraction("1/9")),
        beta: Some((fraction("1/9"), Likeness::Enhanced)),
        ..pooled("1/9", "secreta secretb")
    };
    let by = |distance| SensitiveClaim { distance: Some(distance), ..everything.clone() };
    let persons =
        |labels: &str| SensitiveClaim { counted: Counted::Labelled(strings(labels)), ..everything.clone() };
    let claims = vec![
        everything.clone(),
        by(Distance::Numbers),
        by(Distance::Order(strings("secreta secretb secreta"))),
        by(Distance::Order(strings("secreta"))),
        by(Distance::Hierarchy(paths("secreta secretx; secretb secretx; secreta secrety"))),
        by(Distance::Hierarchy(paths("secreta secretx"))),
        persons("secret1 secret2 secret3 secret1 secret2 secret3"),
        persons("secret1"),
        SensitiveClaim { counted: Counted::Persons, ..everything.clone() },
    ];
    let findings = report(&text, claims).findings;
    assert!(findings.iter().filter(|finding| !finding.holds).count() > 40);
    for finding in findings {
        assert!(!finding.to_string().contains("secret"), "{finding}");
    }
}

/// The definitions, one value after the other. Rows are (group, value, who); who is a person, or the row's own number.
struct Naive {
    rows: Vec<(u8, u8, usize)>,
}

impl Naive {
    fn groups(&self) -> BTreeSet<u8> {
        self.rows.iter().map(|row| row.0).collect()
    }

    fn values(&self) -> BTreeSet<u8> {
        self.rows.iter().map(|row| row.1).collect()
    }

    /// Distinct persons with one of the values in one of the groups.
    fn who(&self, is_group: impl Fn(u8) -> bool, is_value: impl Fn(u8) -> bool) -> i128 {
        let rows = self.rows.iter().filter(|row| is_group(row.0) && is_value(row.1));
        rows.map(|row| row.2).collect::<BTreeSet<_>>().len() as i128
    }

    /// The counts of all values in some groups.
    fn histogram(&self, is_group: impl Fn(u8) -> bool) -> BTreeMap<u8, i128> {
        self.values().into_iter().map(|value| (value, self.who(&is_group, |other| other == value))).collect()
    }

    fn alpha(&self, values: Option<&[u8]>) -> (i128, i128) {
        let mut worst = (0, 1);
        for group in self.groups() {
            let size = self.who(|other| other == group, |_| true);
            let most = match values {
                Some(values) => self.who(|other| other == group, |value| values.contains(&value)),
                None => *self.histogram(|other| other == group).values().max().unwrap(),
            };
            if most * worst.1 > worst.0 * size {
                worst = (most, size);
            }
        }
        worst
    }

    /// For each group and value: its count, the group's, its count in all, and all.
    fn shares(&self) -> Vec<[i128; 4]> {
        let all = self.histogram(|_| true);
        let whole: i128 = all.values().sum();
        let mut shares = Vec::new();
        for group in self.groups() {
            let here = self.histogram(|other| other == group);
            let size = here.values().sum();
            shares.extend(here.iter().map(|(value, &n)| [n, size, all[value], whole]));
        }
        shares
    }

    /// The greatest distance: what must be moved across each cut, times its cost, over the given divisor. Each cut is the
    /// set of values on one side of it.
    fn t(&self, cuts: &[(BTreeSet<u8>, i128)], divisor: i128) -> (i128, i128) {
        let all = self.histogram(|_| true);
        let whole: i128 = all.values().sum();
        let mut worst = (0, 1);
        for group in self.groups() {
            let here = self.histogram(|other| other == group);
            let size: i128 = here.values().sum();
            let excess = |side: &BTreeSet<u8>| -> i128 {
                side.iter()
                    .filter(|value| all.contains_key(value))
                    .map(|value| here[value] * whole - all[value] * size)
                    .sum()
            };
            let moved = cuts.iter().map(|(side, cost)| excess(side).abs() * cost).sum::<i128>();
            let of = divisor * size * whole;
            if moved * worst.1 > worst.0 * of {
                worst = (moved, of);
            }
        }
        worst
    }
}

fn exactly((n, of): (i128, i128)) -> Fraction {
    Fraction::new(n as u128, of as u128).unwrap()
}

/// Just less than a fraction that is not 0.
fn less((n, of): (i128, i128)) -> Fraction {
    Fraction::new((n * 1_000_000 - 1) as u128, (of * 1_000_000) as u128).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Every claim holds at the number that its definition gives, and not beyond; by rows and by persons.
    #[test]
    fn claims_hold_up_to_what_the_definitions_say(
        rows in proptest::collection::vec((0..3_u8, 0..5_u8, 0..6_usize), 1..30),
        by_persons in any::<bool>(),
        is_meant in any::<[bool; 5]>(),
    ) {
        let mut text = "zip,ill\n".to_owned();
        for (group, value, _) in &rows {
            text += &format!("{group},v{value}\n");
        }
        let counted = if by_persons {
            Counted::Labelled(rows.iter().map(|row| format!("p{}", row.2)).collect())
        } else {
            Counted::Rows
        };
        let base = SensitiveClaim { counted, ..ill() };
        let who = |(row_idx, &(group, value, person)): (usize, &(u8, u8, usize))| {
            (group, value, if by_persons { person } else { row_idx })
        };
        let naive = Naive { rows: rows.iter().enumerate().map(who).collect() };
        let holds = |claim: SensitiveClaim| finding(&text, &claim).holds;

        let alpha = naive.alpha(None);
        let general = |alpha| SensitiveClaim { alpha: Some(alpha), ..base.clone() };
        prop_assert!(holds(general(exactly(alpha))) && !holds(general(less(alpha))));

        let meant: Vec<u8> = (0..5).filter(|&value| is_meant[usize::from(value)]).collect();
        let names: Vec<String> = meant.iter().map(|value| format!("v{value}")).collect();
        let simple = |alpha| SensitiveClaim { pooled_alpha: Some((alpha, names.clone())), ..base.clone() };
        let alpha = naive.alpha(Some(&meant));
        prop_assert_eq!(holds(simple(exactly(alpha))), !meant.is_empty());
        prop_assert!(alpha.0 == 0 || !holds(simple(less(alpha))));

        let group_counts = |group: u8| {
            let counts = naive.histogram(|other| other == group).into_values().filter(|&n| n > 0);
            let mut counts: Vec<i128> = counts.collect();
            counts.sort_unstable_by(|a, b| b.cmp(a));
            counts
        };
        let distinct = naive.groups().into_iter().map(|group| group_counts(group).len()).min().unwrap();
        let distinct_l = |l| SensitiveClaim { distinct_l: Some(l), ..base.clone() };
        prop_assert!(holds(distinct_l(distinct as u64)) && !holds(distinct_l(distinct as u64 + 1)));
        for l in 1..=distinct {
            let ratios = naive.groups().into_iter().map(|group| {
                let counts = group_counts(group);
                (counts[0], counts[l - 1..].iter().sum::<i128>())
            });
            let ratio = ratios.max_by(|a, b| (a.0 * b.1).cmp(&(b.0 * a.1))).unwrap();
            let recursive = |c| SensitiveClaim { recursive: Some((c, l as u64)), ..base.clone() };
            prop_assert!(!holds(recursive(exactly(ratio))), "less than, not at most");
            let more = Fraction::new((ratio.0 * 1_000_000 + 1) as u128, (ratio.1 * 1_000_000) as u128).unwrap();
            prop_assert!(holds(recursive(more)));
        }
        let entropy = |group: u8| {
            let counts = group_counts(group);
            let size = counts.iter().sum::<i128>() as f64;
            let share = |n: &i128| *n as f64 / size;
            counts.iter().map(|n| -share(n) * share(n).ln()).sum::<f64>().exp()
        };
        let least = naive.groups().into_iter().map(entropy).fold(f64::MAX, f64::min);
        let entropy_l = |l: f64| SensitiveClaim { entropy_l: Some(fraction(&format!("{l:.9}"))), ..base.clone() };
        prop_assert!(holds(entropy_l(least - 1e-6)) && !holds(entropy_l(least + 1e-6)));

        // Cuts of equal distances: each value from all others, half of it each. Of ordered ones: between neighbours.
        let values: Vec<u8> = naive.values().into_iter().collect();
        let alone: Vec<(BTreeSet<u8>, i128)> = values.iter().map(|&value| ([value].into(), 1)).collect();
        let up_to = (1..values.len()).map(|at| (values[..at].iter().copied().collect(), 1)).collect::<Vec<_>>();
        let steps = (values.len() as i128 - 1).max(1);
        // Values 0, 1 and 2, 3 below a label each; 4 below another.
        let below: Vec<(BTreeSet<u8>, i128)> = vec![([0, 1].into(), 1), ([2, 3].into(), 1), ([4].into(), 1)];
        let in_tree = [alone.clone(), below].concat();
        let order = Distance::Order(strings("v0 v1 unseen v2 v3 v4"));
        let tree = Distance::Hierarchy(paths("v0 a *; v1 a *; v2 b *; v3 b *; v4 c *; unseen c *"));
        for (distance, expected) in [
            (Distance::Equal, naive.t(&alone, 2)),
            (order, naive.t(&up_to, steps)),
            (tree, naive.t(&in_tree, 4)),
        ] {
            let t = |t| SensitiveClaim { t: Some(t), distance: Some(distance.clone()), ..base.clone() };
            prop_assert!(holds(t(exactly(expected))), "{:?}", &distance);
            prop_assert!(expected.0 == 0 || !holds(t(less(expected))), "{:?}", &distance);
        }

        let shares = naive.shares();
        let q_over_p = |[n, size, all, whole]: [i128; 4]| (n * whole) as f64 / (all * size) as f64;
        let farthest = shares.iter().map(|&share| q_over_p(share).ln().abs()).fold(0.0, f64::max);
        let delta = |delta: f64| SensitiveClaim { delta: Some(fraction(&format!("{delta:.9}"))), ..base.clone() };
        if farthest.is_infinite() {
            prop_assert!(!holds(delta(80.0)));
        } else {
            prop_assert!(holds(delta(farthest + 1e-6)));
            prop_assert!(farthest < 1e-5 || !holds(delta(farthest - 1e-6)));
        }

        let growth = |[n, size, all, whole]: [i128; 4]| (n * whole - all * size, all * size);
        let most = shares.iter().map(|&share| growth(share)).max_by(|a, b| (a.0 * b.1).cmp(&(b.0 * a.1))).unwrap();
        let likeness = |beta, likeness| SensitiveClaim { beta: Some((beta, likeness)), ..base.clone() };
        // By persons no share may have grown: what is common in all groups is rarer in each.
        let most = (most.0.max(0), most.1);
        prop_assert!(holds(likeness(exactly(most), Likeness::Basic)));
        prop_assert!(most.0 == 0 || !holds(likeness(less(most), Likeness::Basic)));
        let beyond = |&[n, size, all, whole]: &[i128; 4]| {
            let (q, p) = (n as f64 / size as f64, all as f64 / whole as f64);
            q > p && (q - p) / p > -p.ln()
        };
        let is_within = !shares.iter().any(beyond);
        prop_assert_eq!(holds(likeness(exactly(most), Likeness::Enhanced)), is_within);
        prop_assert!(most.0 == 0 || !holds(likeness(less(most), Likeness::Enhanced)));
    }
}

/// Zip codes to their first digit or `*`.
fn zips(values: impl IntoIterator<Item = String>) -> Hierarchy {
    let path =
        |value: String| (value.clone(), vec![value.clone(), format!("{}*", &value[..1]), "*".to_owned()]);
    Hierarchy { levels: vec![0, 1, 2], paths: values.into_iter().map(path).collect() }
}

fn against(
    release: &str,
    input: &str,
    k: u64,
    budget: u64,
    unit: bool,
    sensitive: Vec<SensitiveClaim>,
) -> Report {
    let input = table(input);
    let zips = zips((10..50).map(|zip| zip.to_string()));
    let claims = Claims {
        quasi_identifiers: vec!["zip".into()],
        k,
        combinations: None,
        columns: None,
        sensitive,
        source: Some(Source {
            input: &input,
            hierarchies: vec![zips],
            unit: unit.then(|| "who".to_owned()),
            budget,
            recoding: RecodingClaim::FullDomain,
        }),
    };
    check(&table(release), &claims)
}

const VISITS: &str = "who,zip,ill\na,11,flu\na,12,flu\na,12,cold\nb,13,flu\nc,21,cold\nd,21,flu\nd,22,flu\n";
const RELEASED: &str = "zip,ill\n1*,flu\n1*,flu\n1*,cold\n1*,flu\n2*,cold\n2*,flu\n2*,flu\n";

/// In 1*: persons a and b, both with flu, one with a cold. In 2*: c with a cold, d with flu.
#[test]
fn persons_are_counted_as_the_input_names_them() {
    let holds = |claim: SensitiveClaim| {
        let claim = SensitiveClaim { counted: Counted::Persons, ..claim };
        let report = against(RELEASED, VISITS, 2, 0, true, vec![claim]);
        let (last, others) = report.findings.split_last().unwrap();
        assert!(others.iter().all(|finding| finding.holds), "{others:?}");
        assert!(last.claim.contains("(by persons)"), "{last}");
        last.holds
    };
    let alpha = |alpha| SensitiveClaim { alpha: Some(fraction(alpha)), ..ill() };
    assert!(holds(alpha("1")) && !holds(alpha("0.999")), "2 of 2 persons have flu, though 3 of 4 rows");
    assert!(holds(pooled("1/2", "cold")) && !holds(pooled("0.499", "cold")));
    // All: a, b, d with flu, a, c with a cold. 1*: 2 of 3 against 3 of 5.
    let t = |t| closeness(t, Distance::Equal);
    assert!(holds(t("1/10")) && !holds(t("0.0999999999")));
    let recursive = |c| SensitiveClaim { recursive: Some((fraction(c), 1)), ..ill() };
    assert!(!holds(recursive("2/3")) && holds(recursive("0.667")), "of three values, not of two persons");
    let report =
        against(RELEASED, VISITS, 2, 0, true, vec![SensitiveClaim { counted: Counted::Persons, ..ill() }]);
    assert!(report.holds());
    let measured = &report.measured[0];
    assert_eq!(measured.alpha, Some((3, 4)), "by rows");
    assert_eq!(measured.by_persons.as_ref().unwrap().alpha, Some((2, 2)));
}

/// Without the input, without a unit, or where the release does not follow from it, nothing is known of persons.
#[test]
fn claims_by_persons_fail_where_persons_cannot_be_counted() {
    let claim = || SensitiveClaim { counted: Counted::Persons, alpha: Some(fraction("1")), ..ill() };
    let is_refused = |report: Report| {
        let last = report.findings.last().unwrap();
        !last.holds && last.claim == "what is claimed of ill by persons"
    };
    assert!(is_refused(report(RELEASED, vec![claim()])));
    assert!(is_refused(against(RELEASED, VISITS, 2, 0, false, vec![claim()])));
    assert!(is_refused(against(&RELEASED.replacen("cold", "flu", 1), VISITS, 2, 0, true, vec![claim()])));
    assert!(is_refused(against(&RELEASED.replacen("2*,flu\n", "", 1), VISITS, 2, 1, true, vec![claim()])));
    let labelled = SensitiveClaim { counted: Counted::Labelled(strings("a b")), ..claim() };
    assert_eq!(report(RELEASED, vec![labelled]).findings.last().unwrap().found, "7 rows, 2 persons");
    let measured_only = SensitiveClaim { counted: Counted::Persons, ..ill() };
    assert!(report(RELEASED, vec![measured_only]).holds(), "nothing is claimed");
}

proptest! {
    /// Naming persons row by row, or letting the input name them, is the same.
    #[test]
    fn persons_of_the_input_are_those_of_the_rows(
        rows in proptest::collection::vec((10..40_u8, 0..4_u8, 0..6_u8), 1..30),
    ) {
        let (mut input, mut release) = ("who,zip,ill\n".to_owned(), "zip,ill\n".to_owned());
        for (zip, value, person) in &rows {
            input += &format!("p{person},{zip},{value}\n");
            release += &format!("{}*,{value}\n", zip / 10);
        }
        let labels: Vec<String> = rows.iter().map(|row| format!("q{}", row.2)).collect();
        let everything = |counted| SensitiveClaim {
            counted,
            alpha: Some(fraction("1/2")),
            distinct_l: Some(2),
            entropy_l: Some(fraction("3/2")),
            recursive: Some((fraction("2"), 2)),
            t: Some(fraction("1/4")),
            delta: Some(fraction("1")),
            beta: Some((fraction("1"), Likeness::Enhanced)),
            ..pooled("1/3", "0 1")
        };
        let findings = |claim| {
            let found = against(&release, &input, 1, 0, true, vec![claim]).findings;
            found.into_iter().filter(|finding| finding.claim.contains("(by persons)")).collect::<Vec<_>>()
        };
        let of_input = findings(everything(Counted::Persons));
        prop_assert_eq!(of_input.len(), 8);
        prop_assert_eq!(of_input, findings(everything(Counted::Labelled(labels))));
    }
}

/// Group 3* has two rows, both with flu: refused by alpha, not by k.
#[test]
fn groups_that_a_claim_refuses_are_rightly_left_out() {
    let input = format!("{VISITS}e,31,flu\nf,32,flu\n");
    let suppression = |unit, sensitive| {
        let report = against(RELEASED, &input, 2, 2, unit, sensitive);
        let found = report.findings.into_iter().find(|finding| finding.claim.starts_with("suppressed rows"));
        found.unwrap()
    };
    let alpha = |alpha| SensitiveClaim { alpha: Some(fraction(alpha)), ..ill() };
    assert!(!suppression(false, vec![]).holds, "it was large enough");
    assert!(!suppression(false, vec![ill()]).holds, "nothing is claimed");
    assert!(suppression(false, vec![alpha("3/4")]).holds);
    let needless = suppression(false, vec![alpha("1")]);
    assert_eq!(
        needless.to_string(),
        "FAIL  suppressed rows are whole groups, each too small or refused by a claim \
         (0 groups are released in part, 1 might have been published)"
    );
    for claim in [
        pooled("3/4", "flu"),
        SensitiveClaim { distinct_l: Some(2), ..ill() },
        SensitiveClaim { entropy_l: Some(fraction("3/2")), ..ill() },
        SensitiveClaim { recursive: Some((fraction("4"), 2)), ..ill() },
        SensitiveClaim { counted: Counted::Persons, ..alpha("0.99") },
    ] {
        assert!(suppression(true, vec![alpha("1"), claim]).holds);
    }
    assert!(!suppression(true, vec![pooled("3/4", "cold")]).holds);
    // Whether a group is too far from the others depends on which of them are left.
    let far = suppression(false, vec![closeness("1/4", Distance::Equal)]);
    assert_eq!(far.to_string(), "pass  suppressed rows are whole groups (0 groups are released in part)");
}

#[test]
fn no_rows_expose_nobody() {
    let everything = SensitiveClaim {
        t: Some(fraction("0")),
        distance: Some(Distance::Hierarchy(paths("a *"))),
        delta: Some(fraction("1/9")),
        beta: Some((fraction("1/9"), Likeness::Enhanced)),
        ..pooled("1/9", "a")
    };
    let persons = SensitiveClaim { counted: Counted::Labelled(vec![]), ..everything.clone() };
    let report = report("zip,ill\n", vec![everything, persons]);
    assert!(report.holds(), "{report:?}");
    assert_eq!(report.findings.len(), 9);
    assert!(report.findings[1..].iter().all(|finding| finding.found == "no rows"));
}
