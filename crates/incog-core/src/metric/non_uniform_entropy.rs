//! Non-uniform entropy (de Waal and Willenborg 1999; Gionis and Tassa 2009): how many bits would bring the values back?
//!
//! A cell whose value v has become a label g loses −log2 Pr(v | g) = log2 n(g) − log2 n(v) bits, where n counts the rows of the
//! table: little where nearly all rows of the label have the value, much where the value is rare among them. A suppressed
//! cell loses log2 n − log2 n(v). *Normalized*, as in ARX: an attribute's loss is divided by what it would lose with every cell
//! suppressed, and the score is the mean over attributes, weighted where there are weights. 0 is the table as collected.
//!
//! Differs from the papers: (1) rows are those of the input, suppressed ones included, so that a label weighs the same in every
//! release; (2) an attribute of one value has nothing to lose and costs 0, also where it is suppressed.
//!
//! All that depends on the recoding is Σ log2 n(g): each label weighs log2 n(g), in whole 2⁻⁴⁸ bits, rounded down. More rows
//! never weigh less, so nodes can be bounded. Cost: a logarithm for each label, once.

use std::cmp::Ordering;

use crate::metric::costs::ratio;
use crate::metric::{Contribution, Costs, Metric, Needs, Statistics, compare_weighted};
use crate::registry::{Entry, Status};

/// The metric in the registry.
pub(super) const ENTRY: Entry<&'static dyn Metric> = Entry {
    name: "non-uniform-entropy",
    summary: "bits that would bring the values back, as a share of those of a suppressed table",
    reference: "Gionis, Tassa: k-Anonymization with minimal loss of information, TKDE 2009",
    doc: include_str!("non_uniform_entropy.md"),
    status: Status::Preview,
    item: &NonUniformEntropy,
};

struct NonUniformEntropy;

static BITS: Contribution = Contribution { name: "bits", weight: |covers| log2(covers.rows) };

/// Binary places of a bit.
const PLACES: u32 = 48;

/// The logarithm of a number in units of 2⁻⁴⁸, rounded down; 0 of 0. In integers, so that it is the same on every machine.
fn log2(n: u64) -> u64 {
    let Some(whole) = n.checked_ilog2() else { return 0 };
    // 1 ≤ x < 2 with 63 binary places. Squaring x doubles its logarithm: the next bit is whether that reaches 1.
    let mut x = u128::from(n) << (63 - whole);
    let mut bits = u64::from(whole);
    for _ in 0..PLACES {
        x = (x * x) >> 63;
        let is_carried = x >> 64 != 0;
        x >>= u32::from(is_carried);
        bits = (bits << 1) | u64::from(is_carried);
    }
    bits
}

/// The bits that an attribute has lost, and those that it could lose.
fn lost(costs: &Costs, attribute: usize, node: &Statistics) -> (i128, u128) {
    let least = costs.least_weight(&BITS, attribute);
    let lost = costs.weighed(&BITS, attribute, node) as i128 - least as i128;
    (lost, costs.most_weight(&BITS, attribute) - least)
}

/// The share that an attribute has lost.
fn share(costs: &Costs, attribute: usize, node: &Statistics) -> f64 {
    match lost(costs, attribute, node) {
        (_, 0) => 0.0,
        // A search may ask what a single cell costs: then less than everything is lost, and more than nothing.
        (lost, most) => ratio(lost.unsigned_abs(), most) * if lost < 0 { -1.0 } else { 1.0 },
    }
}

impl Metric for NonUniformEntropy {
    fn score(&self, costs: &Costs, node: &Statistics) -> f64 {
        let sum: f64 =
            costs.weights.iter().enumerate().map(|(at, weight)| weight * share(costs, at, node)).sum();
        self.of_sum(costs, sum)
    }

    fn compare(&self, costs: &Costs, a: &Statistics, b: &Statistics) -> Ordering {
        compare_weighted(self, costs, a, b, |at| {
            let most = lost(costs, at, a).1;
            // Where nothing can be lost, nodes do not differ.
            if most == 0 {
                (0, 0, 1)
            } else {
                (costs.weighed(&BITS, at, a), costs.weighed(&BITS, at, b), most)
            }
        })
    }

    fn term(&self, costs: &Costs, attribute: usize, node: &Statistics) -> Option<f64> {
        Some(costs.weights[attribute] * share(costs, attribute, node))
    }

    fn of_sum(&self, costs: &Costs, sum: f64) -> f64 {
        sum / costs.weights.iter().sum::<f64>()
    }

    fn contributes(&self) -> Option<&'static Contribution> {
        Some(&BITS)
    }

    fn needs(&self) -> Needs {
        Needs::Suppression
    }

    fn uses_weights(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_are_those_of_floats_and_never_fall() {
        let unit = (1_u64 << PLACES) as f64;
        for n in (1..2000).chain((0..64).map(|power| 1 << power)).chain([u64::MAX, 45_222, 10_000_019]) {
            assert!((log2(n) as f64 / unit - (n as f64).log2()).abs() < 1e-13, "{n}");
        }
        assert!((1..5000).all(|n| log2(n) <= log2(n + 1)));
        assert_eq!((log2(0), log2(1), log2(8)), (0, 0, 3 << PLACES));
    }
}
