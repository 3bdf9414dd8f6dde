#![doc = include_str!("entropy_l.md")]

use crate::error::{Error, Result};
use crate::group::{Demand, Group};
use crate::privacy::distinct_l::L;
use crate::privacy::fraction::greatest_common_divisor;
use crate::privacy::natural::Natural;
use crate::privacy::{Closure, Fraction, Model, Parameter, Parameters, PrivacyModel, Sensitive, Unit};
use crate::registry::{Entry, Status};

/// The model in the registry.
pub(super) const ENTRY: Entry<Model> = Entry {
    name: "entropy-l",
    summary: "sensitive values are spread in every group as evenly as l equally frequent ones",
    reference: "Machanavajjhala, Gehrke, Kifer, Venkitasubramaniam: l-Diversity, ICDE 2006",
    doc: include_str!("entropy_l.md"),
    status: Status::Preview,
    item: Model {
        required: &[Parameter::SENSITIVE, L],
        optional: &[],
        build: |parameters| Ok(Box::new(EntropyDiversity::new(parameters)?)),
    },
};

/// Floats decide where e^entropy and ℓ differ by more than this part of ℓ; their error is far below it.
const MARGIN: f64 = 1e-8;
/// A decision by larger integers is not made: the group is refused.
const MAX_BITS: f64 = 500_000.0;

/// Every group's entropy is at least that of ℓ equally frequent values.
///
/// Merge-closed by rows: entropy is concave, so a union's is at least the least of its parts'. (As far as groups are
/// concerned that are decided: near the threshold a huge group may be refused for its size.)
#[derive(Debug, Clone)]
pub struct EntropyDiversity {
    sensitive: Sensitive,
    l: Fraction,
}

impl EntropyDiversity {
    pub(super) fn new(parameters: &Parameters) -> Result<Self> {
        let l = parameters.number(&L)?;
        let sensitive = parameters.sensitive()?;
        sensitive.check_l(l)?;
        Ok(EntropyDiversity { sensitive, l })
    }

    fn holds(&self, counts: &[u64]) -> bool {
        let (reached, wanted) = (exp_entropy(counts), self.l.to_f64());
        if (reached - wanted).abs() > MARGIN * wanted {
            return reached > wanted;
        }
        is_reached(counts, self.l)
    }
}

/// e to the entropy of some counts, none of which is 0.
fn exp_entropy(counts: &[u64]) -> f64 {
    let size = counts.iter().sum::<u64>() as f64;
    let term = |&n: &u64| {
        let share = n as f64 / size;
        -share * share.ln()
    };
    counts.iter().map(term).sum::<f64>().exp()
}

/// Is e to the entropy at least ℓ = a/b? With counts c of n that is nⁿ·bⁿ ≥ aⁿ·Π cᶜ. Dividing all counts by a common
/// divisor changes no share.
fn is_reached(counts: &[u64], l: Fraction) -> bool {
    let divisor = counts.iter().copied().fold(0, greatest_common_divisor).max(1);
    let size: u64 = counts.iter().map(|n| n / divisor).sum();
    let bits = |number: u64| f64::from(u64::BITS - number.leading_zeros());
    if size as f64 * (bits(size) + bits(l.numerator()) + bits(l.denominator())) > MAX_BITS {
        return false;
    }
    let left = Natural::from(size).times(&Natural::from(l.denominator())).power(size);
    let start = Natural::from(l.numerator()).power(size);
    let right =
        counts.iter().fold(start, |right, n| right.times(&Natural::from(n / divisor).power(n / divisor)));
    left >= right
}

impl PrivacyModel for EntropyDiversity {
    fn describe(&self) -> String {
        format!("entropy {}-diversity of `{}`", self.l, self.sensitive.name())
    }

    fn closure(&self) -> Closure {
        self.sensitive.closure_of_shares()
    }

    fn demand(&self) -> Demand {
        self.sensitive.demand()
    }

    fn admits(&self, group: Group<'_>) -> Result<bool> {
        let counts: Vec<u64> = self.sensitive.counts(group)?.iter().map(|&(_, n)| n).collect();
        Ok(self.holds(&counts))
    }

    /// Without suppression the groups merge to the whole table, which must be diverse then.
    fn feasible(&self, n_rows: u64, budget: u64) -> Result<()> {
        let counts: Vec<u64> = self.sensitive.overall().iter().copied().filter(|&n| n > 0).collect();
        if self.sensitive.unit() == Unit::Persons || budget > 0 || n_rows == 0 || self.holds(&counts) {
            return Ok(());
        }
        Err(Error::input(format!(
            "l is {}, but the values of `{}` in all {n_rows} rows are as evenly spread as {:.2} equally frequent ones",
            self.l,
            self.sensitive.name(),
            exp_entropy(&counts)
        ))
        .with_hint("no generalization without suppression can do better than the whole table: lower l"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(counts: &[u64], l: &str) -> bool {
        let sensitive = Sensitive::counted("illness", 0, vec![1; 64]);
        let parameters = Parameters::of(sensitive).with("l", l.parse::<Fraction>().unwrap());
        EntropyDiversity::new(&parameters).unwrap().holds(counts)
    }

    #[test]
    fn l_equally_frequent_values_are_just_enough() {
        for n_values in 1..40_usize {
            for n in [1, 3, 1000, 333_333, 1 << 40] {
                let counts = vec![n; n_values];
                assert!(check(&counts, &n_values.to_string()), "{n_values} values");
                assert!(!check(&counts, &format!("{n_values}.0000000000001")), "{n_values} values");
            }
        }
    }

    #[test]
    fn what_is_near_the_threshold_is_decided_by_integers_or_refused() {
        assert!(!check(&[3, 2], "2") && check(&[3, 2], "1.9"));
        // Below 2 by less than floats are asked for; the integers still fit.
        assert!(!check(&[10_001, 10_000], "2"));
        assert!(check(&[10_001, 10_000], "1.9999"));
        // e^entropy of (1, 1, 2) is 2√2 = 2.828427124746190097…
        assert!(check(&[1, 1, 2], "2.82842712474619") && !check(&[1, 1, 2], "2.82842712474620"));
        // Too large to decide so near the threshold, although it is above: an error to the safe side.
        assert!(!check(&[5_000_001, 4_999_999], "1.999999999999"));
    }
}
