//! Is enough left open about sensitive values?
//!
//! Each threshold becomes a finding. All are decided exactly: shares and distances as fractions of integers, the entropy
//! by integers where floats are not clear.

use crate::keys::Groups;
use crate::measure::measure;
use crate::{Finding, Fraction, LabelColumn, Measured};

/// What is claimed of a sensitive column. Every measure is taken; those with a threshold are claims.
#[derive(Debug, Clone, Default)]
pub struct SensitiveClaim {
    /// The column.
    pub column: String,
    /// No value has a greater share of a group.
    pub alpha: Option<Fraction>,
    /// Every group has at least so many distinct values.
    pub distinct_l: Option<u64>,
    /// Every group's entropy is at least that of so many equal shares.
    pub entropy_l: Option<Fraction>,
    /// (c, l): a group's most frequent value is less than c times as frequent as all from the l-th on, together.
    pub recursive: Option<(Fraction, u64)>,
    /// No group's distribution is farther from the whole release's.
    pub t: Option<Fraction>,
    /// Is the distance by the order of the values, which must be numbers then? Otherwise all are equally far apart.
    pub ordered: bool,
}

impl SensitiveClaim {
    /// Nothing is claimed; what is reached is measured.
    pub fn measured(column: impl Into<String>) -> Self {
        SensitiveClaim { column: column.into(), ..SensitiveClaim::default() }
    }
}

pub(crate) fn check(
    column: &LabelColumn<'_>,
    groups: &Groups,
    claim: &SensitiveClaim,
    findings: &mut Vec<Finding>,
) -> Measured {
    let name = &claim.column;
    let (measured, below_entropy) = measure(column, name, groups, claim.entropy_l);
    // Nobody is exposed by no rows.
    let no_rows = measured.alpha.is_none();
    let mut add = |claim: String, found: String, holds: bool| {
        let found = if no_rows { "no rows".to_owned() } else { found };
        findings.push(Finding { claim, found, holds: holds || no_rows });
    };
    let (n, of) = measured.alpha.unwrap_or((0, 1));
    let alpha = Fraction::new(n.into(), of.into()).unwrap_or(Fraction::from(1));
    let distinct_l = measured.distinct_l.unwrap_or(0);
    if let Some(most) = claim.alpha {
        add(
            format!("alpha of {name} is at most {most}: no value has a greater share of a group"),
            format!("the greatest share is {n} of {of} rows"),
            alpha <= most,
        );
    }
    if let Some(least) = claim.distinct_l {
        add(
            format!("distinct l of {name} is at least {least}"),
            format!("the fewest values of a group are {distinct_l}"),
            distinct_l >= least,
        );
    }
    if let Some(least) = claim.entropy_l {
        add(
            format!("entropy l of {name} is at least {least}"),
            format!(
                "the least is {:.6}; {below_entropy} groups are below",
                measured.entropy_l.unwrap_or_default()
            ),
            below_entropy == 0,
        );
    }
    if let Some((c, l)) = claim.recursive {
        // r₁ < c·(r_l + … + r_m); with l = 1 the sum is the group.
        let reached = match l {
            0 => None,
            1 => Some(alpha),
            _ => usize::try_from(l - 2).ok().and_then(|at| measured.recursive_c.get(at)).copied(),
        };
        add(
            format!("recursive ({c}, {l})-diversity of {name}"),
            reached.map_or_else(
                || format!("the fewest values of a group are {distinct_l}"),
                |reached| format!("it holds for c greater than {}", approximate(reached)),
            ),
            reached.is_some_and(|reached| reached < c),
        );
    }
    if let Some(most) = claim.t {
        let (how, reached) = if claim.ordered {
            ("ordered distances", measured.ordered_t)
        } else {
            ("equal distances", measured.t)
        };
        add(
            format!("t of {name} is at most {most}, by {how}"),
            reached.map_or_else(
                || "not all values are numbers".to_owned(),
                |reached| format!("the greatest distance is {}", approximate(reached)),
            ),
            reached.is_some_and(|reached| reached <= most),
        );
    }
    measured
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
