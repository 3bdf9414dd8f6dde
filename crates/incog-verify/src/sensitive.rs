//! Is enough left open about sensitive values?
//!
//! Each threshold becomes a finding. All are decided exactly: shares and distances as fractions of integers; the entropy,
//! and the logarithms of δ-disclosure and enhanced β-likeness, by integers where floats are not clear. Where even those
//! would become too large, the claim does not hold: an error to the safe side.
//!
//! What is counted are rows or distinct persons; [`crate::histograms`] says how. t, δ and β compare with the whole
//! release. A column may have several claims, also of one kind.

use std::cmp::Ordering;

use crate::entropy::{exp_entropy, reaches};
use crate::exponential::compare_exp;
use crate::hash;
use crate::hierarchical::Tree;
use crate::histograms::{Group, Histograms};
use crate::measure::{Reached, Shares, measure};
use crate::ordered::Ranks;
use crate::words::counted;
use crate::written::Style;
use crate::{ClaimKind, Finding, Fraction, Measured};

/// What is claimed of a sensitive column. Every measure is taken; those with a threshold are claims.
#[derive(Debug, Clone, Default)]
pub struct SensitiveClaim {
    /// The column.
    pub column: String,
    /// How its numbers are written.
    pub style: Style,
    /// The values that nobody should learn. Unless given, all of them; in a column of numbers all but zero, which says that
    /// there is nothing. Groups in which everybody has such a value are counted apart ([`Measured::telling_groups`]); no claim
    /// depends on it.
    pub telling: Option<Vec<String>>,
    /// What shares are shares of.
    pub counted: Counted,
    /// No value has a greater share of a group (general (α,k)-anonymity).
    pub alpha: Option<Fraction>,
    /// Some values together, as if they were one, have no greater share of a group (simple (α,k)-anonymity). Values that
    /// do not occur may be among them.
    pub pooled_alpha: Option<(Fraction, Vec<String>)>,
    /// Every group has at least this number of distinct values.
    pub distinct_l: Option<u64>,
    /// Every group's entropy is at least that of this number of equal shares.
    pub entropy_l: Option<Fraction>,
    /// (c, l): a group's most frequent value is less than c times as frequent as all from the l-th on, together.
    pub recursive: Option<(Fraction, u64)>,
    /// No group's distribution is farther from the whole release's.
    pub t: Option<Fraction>,
    /// Is the distance by the order of the values, which must be numbers then? Otherwise all are equally far apart.
    pub ordered: bool,
    /// How far values are apart, if not as `ordered` says.
    pub distance: Option<Distance>,
    /// The logarithm of every value's share of a group differs by less from that of its share of the whole release; so
    /// every group has every value.
    pub delta: Option<Fraction>,
    /// No value's share of the whole release grows by more than this part of itself in a group.
    pub beta: Option<(Fraction, Likeness)>,
}

/// What is counted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Counted {
    /// Rows.
    #[default]
    Rows,
    /// Distinct persons, by the [unit](crate::Source::unit) of the input. Not with local recoding.
    Persons,
    /// Distinct persons, by a label for each released row. Nothing can be found out here about whether the labels are
    /// true.
    Labelled(Vec<String>),
}

/// How far the values of a column are apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Distance {
    /// All equally.
    Equal,
    /// By their places in the order of numbers; all must be decimal numbers.
    Numbers,
    /// By their places in a list, from the lowest to the highest. It has every value of the release once; those that
    /// do not occur have no place.
    Order(Vec<String>),
    /// By the level of their lowest common label, over the height. Every row is `value, level 1, ..., top`; values that
    /// do not occur may be among them. Without one common top, values below different ones are a level farther apart.
    Hierarchy(Vec<Vec<String>>),
}

/// How much a share may grow.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Likeness {
    /// By β of itself: (q − p) / p ≤ β.
    Basic,
    /// By min(β, −ln p) of itself.
    #[default]
    Enhanced,
}

impl SensitiveClaim {
    /// Nothing is claimed; what is reached is measured.
    pub fn measured(column: impl Into<String>) -> Self {
        SensitiveClaim { column: column.into(), ..SensitiveClaim::default() }
    }

    /// Is there a threshold?
    pub(crate) fn has_threshold(&self) -> bool {
        self.compares_with_release()
            || self.alpha.is_some()
            || self.pooled_alpha.is_some()
            || self.distinct_l.is_some()
            || self.entropy_l.is_some()
            || self.recursive.is_some()
    }

    /// Does it depend on other groups whether one may be published?
    pub(crate) fn compares_with_release(&self) -> bool {
        self.t.is_some() || self.delta.is_some() || self.beta.is_some()
    }

    /// May an anonymizer have left out the group because of this claim alone, which does not compare groups?
    ///
    /// Near its threshold entropy may be decided to the safe side, there as here.
    pub(crate) fn explains_suppression(&self, group: &Group<'_>, labels: &[&str]) -> bool {
        const ENTROPY_MARGIN: f64 = 1e-6;
        let most = group.frequencies().max().unwrap_or(0);
        let within = |n: u64, alpha: Fraction| share(n, group.size) <= alpha;
        let recursive = |c: Fraction, l: u64| {
            let mut counts: Vec<u64> = group.frequencies().collect();
            counts.sort_unstable_by(|a, b| b.cmp(a));
            let skipped = usize::try_from(l.saturating_sub(1)).unwrap_or(usize::MAX);
            let rest: u64 = counts.iter().skip(skipped).sum();
            rest > 0 && share(most, rest) < c
        };
        let is_fine = self.alpha.is_none_or(|alpha| within(most, alpha))
            && self.pooled_alpha.as_ref().is_none_or(|(alpha, values)| {
                within(
                    group.pooled(|value| values.iter().any(|meant| meant == labels[value as usize])),
                    *alpha,
                )
            })
            && self.distinct_l.is_none_or(|l| group.counts.len() as u64 >= l)
            && self
                .entropy_l
                .is_none_or(|l| exp_entropy(group.frequencies()) > l.to_f64() * (1.0 + ENTROPY_MARGIN))
            && self.recursive.is_none_or(|(c, l)| recursive(c, l));
        !is_fine
    }
}

fn share(n: u64, of: u64) -> Fraction {
    Fraction::new(n.into(), of.into()).unwrap_or(Fraction::from(0))
}

/// Checks the claims of one column.
pub(crate) fn check(
    histograms: &Histograms<'_>,
    claims: &[&SensitiveClaim],
    findings: &mut Vec<Finding>,
) -> Option<Measured> {
    let first = claims.first()?;
    let reached = measure(first, histograms);
    for claim in claims {
        ClaimedColumn { histograms, reached: &reached, claim, findings }.check();
    }
    Some(reached.measured)
}

/// A column, and a claim that is made of it.
struct ClaimedColumn<'a> {
    histograms: &'a Histograms<'a>,
    reached: &'a Reached,
    claim: &'a SensitiveClaim,
    findings: &'a mut Vec<Finding>,
}

impl ClaimedColumn<'_> {
    fn check(mut self) {
        let claim = self.claim;
        if let Some(most) = claim.alpha {
            self.alpha(most);
        }
        if let Some((most, values)) = &claim.pooled_alpha {
            self.pooled_alpha(*most, values);
        }
        let distinct_l = self.reached.measured.distinct_l.unwrap_or(0);
        if let Some(least) = claim.distinct_l {
            self.add(
                format!("distinct l of {} is at least {least}", self.name()),
                format!("the fewest values of a group are {distinct_l}"),
                distinct_l >= least,
            );
        }
        if let Some(least) = claim.entropy_l {
            self.entropy_l(least);
        }
        if let Some((c, l)) = claim.recursive {
            self.recursive(c, l);
        }
        if let Some(most) = claim.t {
            self.t(most);
        }
        if let Some(delta) = claim.delta {
            self.delta(delta);
        }
        if let Some((beta, likeness)) = claim.beta {
            self.beta(beta, likeness);
        }
    }

    /// The column, and what is counted if that are not rows.
    fn name(&self) -> String {
        let by = if self.histograms.is_of_persons() { " (by persons)" } else { "" };
        format!("{}{by}", self.claim.column)
    }

    fn unit(&self) -> &'static str {
        if self.histograms.is_of_persons() { "persons" } else { "rows" }
    }

    fn add(&mut self, claim: String, found: String, holds: bool) {
        // Nobody is exposed by no rows.
        let no_rows = self.reached.measured.alpha.is_none();
        let found = if no_rows { "no rows".to_owned() } else { found };
        self.findings.push(Finding { kind: ClaimKind::Sensitive, claim, found, holds: holds || no_rows });
    }

    fn alpha(&mut self, most: Fraction) {
        let (n, of) = self.reached.measured.alpha.unwrap_or((0, 1));
        self.add(
            format!("alpha of {} is at most {most}: no value has a greater share of a group", self.name()),
            format!("the greatest share is {n} of {of} {}", self.unit()),
            share(n, of) <= most,
        );
    }

    fn pooled_alpha(&mut self, most: Fraction, values: &[String]) {
        let values: hash::Set<&str> = values.iter().map(String::as_str).collect();
        let is_meant: Vec<bool> = self.histograms.labels.iter().map(|label| values.contains(label)).collect();
        let mut worst = (0, 1);
        self.histograms.each_group(|group| {
            let n = group.pooled(|value| is_meant[value as usize]);
            // Of equal shares the larger group's, whatever the order of rows.
            let (mine, so_far) = (share(n, group.size), share(worst.0, worst.1));
            if mine > so_far || (mine == so_far && group.size > worst.1) {
                worst = (n, group.size);
            }
        });
        let (n, of) = worst;
        let which = match values.len() {
            1 => "one value".to_owned(),
            n_values => format!("{} together", counted(n_values as u64, "value", "values")),
        };
        let found = if values.is_empty() {
            "no values were named".to_owned()
        } else {
            format!("the greatest share is {n} of {of} {}", self.unit())
        };
        self.add(
            format!("alpha of {which} of {} is at most {most}", self.name()),
            found,
            !values.is_empty() && share(n, of) <= most,
        );
    }

    fn entropy_l(&mut self, least: Fraction) {
        let mut below = 0;
        self.histograms.each_group(|group| {
            let counts = group.frequencies();
            below += u64::from(!reaches(counts.clone(), exp_entropy(counts), least));
        });
        let reached = self.reached.measured.entropy_l.unwrap_or_default();
        self.add(
            format!("entropy l of {} is at least {least}", self.name()),
            format!("the least is {reached:.6}; {} below", counted(below, "group is", "groups are")),
            below == 0,
        );
    }

    fn recursive(&mut self, c: Fraction, l: u64) {
        let measured = &self.reached.measured;
        // r₁ < c·(r_l + … + r_m); with l = 1 the sum is of all values.
        let reached = match l {
            0 => None,
            1 => Some(self.greatest_share()),
            _ => usize::try_from(l - 2).ok().and_then(|at| measured.recursive_c.get(at)).copied(),
        };
        let distinct_l = measured.distinct_l.unwrap_or(0);
        self.add(
            format!("recursive ({c}, {l})-diversity of {}", self.name()),
            reached.map_or_else(
                || format!("the fewest values of a group are {distinct_l}"),
                |reached| format!("it holds for c greater than {}", approximate(reached)),
            ),
            reached.is_some_and(|reached| reached < c),
        );
    }

    /// Of all values of a group; not alpha, where persons have several.
    fn greatest_share(&self) -> Fraction {
        let shares = self.reached.shares.iter().map(|value| share(value.greatest.0, value.greatest.1));
        shares.max().unwrap_or(Fraction::from(0))
    }

    fn t(&mut self, most: Fraction) {
        let Histograms { labels, overall, .. } = self.histograms;
        let measured = &self.reached.measured;
        let by_ordered = if self.claim.ordered { Distance::Numbers } else { Distance::Equal };
        let (how, reached) = match self.claim.distance.as_ref().unwrap_or(&by_ordered) {
            Distance::Equal => ("equal", measured.t.ok_or_else(String::new)),
            Distance::Numbers => {
                ("ordered", measured.ordered_t.ok_or_else(|| "not all values are numbers".to_owned()))
            }
            Distance::Order(list) => {
                let ranks = Ranks::of_list(list, labels, overall, &self.claim.style);
                ("ordered", ranks.map(|ranks| self.farthest(|counts| ranks.distance(counts))))
            }
            Distance::Hierarchy(rows) => {
                let tree = Tree::new(rows, labels, overall);
                ("hierarchical", tree.map(|tree| self.farthest(|counts| tree.distance(counts))))
            }
        };
        let holds = reached.as_ref().is_ok_and(|reached| *reached <= most);
        self.add(
            format!("t of {} is at most {most}, by {how} distances", self.name()),
            reached.map_or_else(
                |problem| problem,
                |reached| format!("the greatest distance is {}", approximate(reached)),
            ),
            holds,
        );
    }

    fn farthest(&self, distance: impl Fn(&[(u32, u64)]) -> Fraction) -> Fraction {
        let mut farthest = Fraction::from(0);
        self.histograms.each_group(|group| farthest = farthest.max(distance(group.counts)));
        farthest
    }

    fn delta(&mut self, delta: Fraction) {
        // |ln (q/p)| < δ iff the greater over the lesser is less than e^δ.
        let factor = self.reached.measured.disclosure;
        let holds = factor.is_some_and(|factor| compare_exp(delta, factor).is_some_and(Ordering::is_gt));
        let found = match factor {
            None => counted(self.reached.incomplete_groups, "group lacks a value", "groups lack a value"),
            Some(factor) => format!("the greatest is about {:.6}", factor.to_f64().ln()),
        };
        self.add(format!("delta-disclosure of {} is less than {delta}", self.name()), found, holds);
    }

    fn beta(&mut self, beta: Fraction, likeness: Likeness) {
        let n_overall = self.histograms.n_overall;
        let is_fine = |value: &Shares| {
            let growth = value.growth(n_overall);
            // g ≤ −ln p iff e^g ≤ 1/p. What has not grown has nothing to fear from a logarithm.
            growth <= beta
                && (likeness == Likeness::Basic
                    || growth == Fraction::from(0)
                    || compare_exp(growth, share(n_overall, value.all)).is_some_and(Ordering::is_le))
        };
        let beyond = self.reached.shares.iter().filter(|value| !is_fine(value)).count();
        let (how, bound) = match likeness {
            Likeness::Basic => ("basic", ""),
            Likeness::Enhanced => ("enhanced", ", nor than the logarithm allows"),
        };
        let growth = self.reached.measured.beta.unwrap_or(Fraction::from(0));
        self.add(
            format!(
                "{how} beta-likeness of {}: no share grows by more than {beta} of itself{bound}",
                self.name()
            ),
            format!(
                "the greatest growth is {}; {} beyond",
                approximate(growth),
                counted(beyond as u64, "value is", "values are")
            ),
            beyond == 0,
        );
    }
}

/// Exactly if that is short.
fn approximate(number: Fraction) -> String {
    let exact = number.to_string();
    if exact.len() <= 12 { exact } else { format!("about {:.6}", number.to_f64()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Claims, StringTable};

    fn fraction(text: &str) -> Option<Fraction> {
        Some(text.parse().unwrap())
    }

    /// What is found of a claim on `ill` or `age`; groups by zip.
    fn finding(text: &str, claim: SensitiveClaim) -> Finding {
        let claims = Claims {
            quasi_identifiers: vec!["zip".into()],
            k: 1,
            combinations: None,
            columns: None,
            sensitive: vec![claim],
            source: None,
        };
        let table = StringTable::parse(text.as_bytes(), b',').unwrap();
        let mut findings = crate::check(&table, &claims).findings;
        assert_eq!(findings.len(), 2, "k and the claim");
        findings.remove(1)
    }

    /// 100 rows of one group, 29 of them ill.
    fn hundred() -> String {
        let row = |n: usize| format!("1,{}\n", if n < 29 { "ill".to_owned() } else { format!("v{n}") });
        format!("zip,ill\n{}", (0..100).map(row).collect::<String>())
    }

    #[test]
    fn twenty_nine_of_a_hundred_are_within_0_29() {
        let claim = |alpha| SensitiveClaim { alpha: fraction(alpha), ..SensitiveClaim::measured("ill") };
        assert!(finding(&hundred(), claim("0.29")).holds);
        assert!(finding(&hundred(), claim("29%")).holds);
        assert!(!finding(&hundred(), claim("0.2899999999999999999999")).holds);
        let found = finding(&hundred(), claim("1/4"));
        assert_eq!(
            found.to_string(),
            "FAIL  alpha of ill is at most 0.25: no value has a greater share of a group \
             (the greatest share is 29 of 100 rows)"
        );
    }

    const TWO: &str = "zip,ill\n1,a\n1,b\n2,a\n2,a\n2,b\n2,b\n2,c\n";

    #[test]
    fn diversity_is_decided_at_its_threshold() {
        let distinct = |l| SensitiveClaim { distinct_l: Some(l), ..SensitiveClaim::measured("ill") };
        assert!(finding(TWO, distinct(2)).holds && !finding(TWO, distinct(3)).holds);
        let entropy = |l| SensitiveClaim { entropy_l: fraction(l), ..SensitiveClaim::measured("ill") };
        assert!(finding(TWO, entropy("2")).holds, "two equal shares are two, exactly");
        assert!(!finding(TWO, entropy("2.000000000000001")).holds);
        let recursive = |c, l| SensitiveClaim {
            recursive: fraction(c).map(|c| (c, l)),
            ..SensitiveClaim::measured("ill")
        };
        // Group 1: 1 / 1. Group 2: 2 / (2 + 1).
        assert!(!finding(TWO, recursive("1", 2)).holds, "less than, not at most");
        assert!(finding(TWO, recursive("1.0000000001", 2)).holds);
        assert!(!finding(TWO, recursive("100", 3)).holds, "a group has two values only");
        assert!(finding(TWO, recursive("0.51", 1)).holds && !finding(TWO, recursive("0.5", 1)).holds);
        assert!(!finding(TWO, recursive("9", 0)).holds);
    }

    #[test]
    fn closeness_is_decided_at_its_threshold() {
        let table = "zip,age\n1,1\n1,2\n2,3\n";
        let t = |t, ordered| SensitiveClaim { t: fraction(t), ordered, ..SensitiveClaim::measured("age") };
        // Group 2 is 0, 0, 1 against a third each: (1/3 + 1/3 + 2/3) / 2; by order (1/3 + 2/3) / 2.
        assert!(finding(table, t("2/3", false)).holds);
        assert!(!finding(table, t("0.6666666666666666666666", false)).holds);
        assert!(
            finding(table, t("1/2", true)).holds && !finding(table, t("0.49999999999999999", true)).holds
        );
        let words = finding(&table.replace('3', "three"), t("1", true));
        assert!(!words.holds && words.found == "not all values are numbers", "{words}");
    }

    #[test]
    fn no_rows_expose_nobody() {
        let claim =
            SensitiveClaim { recursive: fraction("1").map(|c| (c, 2)), ..SensitiveClaim::measured("ill") };
        assert!(finding("zip,ill\n", claim).holds);
    }
}
