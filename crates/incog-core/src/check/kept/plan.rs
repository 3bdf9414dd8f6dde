//! Which sets to make for nodes that will be asked about.
//!
//! A search that looks for one node knows roughly what it will ask: nodes near the border between failing and holding, of which
//! only the levels differ. So before it begins, it draws some of them ([`Forecast`]), and sets are made that serve many. All that is
//! known of a set that is not there is a guess of its groups: between the bottom and nodes that were counted, the logarithm of
//! the groups falls about as the extents of their levels do.
//!
//! 1. From the bottom, raise the attribute by the level or two that gain most, as long as that gains something. A set gains what verdicts
//!    on the nodes above it save, against the smallest sets kept below them, less what it takes to make.
//! 2. Make that set; then the next one, with it at hand, until none gains anything to speak of or there are enough of them.
//!
//! No verdict rests on this: a poor guess costs time. Where sets are planned, none are made halfway. Adult at k = 5 and 5 %: two
//! sets of 10,000 and 15,000 groups serve most verdicts, and all of it takes about four fifths of the time it took with sets made
//! halfway. Cost: some thousand comparisons of masks for a set, besides making it.

use super::{DENSE_BITS, Forecast, Groups, KeptJudge, LARGE, Purpose, WORTH, WORTH_OF_RECORDS};
use crate::error::Result;
use crate::lattice::Grouping;

/// Sets are planned, up to so many at a time.
const MOST_SETS: usize = 4;
/// Making a set takes as long as so many verdicts from what it is made from, where there is a counter for every cell,
const TIMES_DENSE: f32 = 3.0;
/// or where groups are found by hash;
const TIMES_HASHED: f32 = 5.0;
/// and then its own groups are copied, which takes as long as so many verdicts from them.
const TIMES_COPIED: f32 = 3.0;
/// A set is made if it saves looking at so many groups.
const LEAST_GAIN: f32 = 10_000.0;
/// An attribute is raised by at most so many levels at once: one level alone may gain nothing.
const MOST_LEVELS: u8 = 2;

/// What is known of the sets that could be made.
struct Plan<'a, M> {
    forecast: &'a Forecast<'a>,
    /// What nodes such as will be asked about keep of a key, and how many groups a verdict on each would look at now.
    nodes: Vec<(M, f32)>,
    /// How many groups the bottom has, and its extent.
    bottom: (f32, f32),
    /// How much the logarithm of the groups falls with the extent.
    slope: f32,
}

impl<M> Plan<'_, M> {
    /// About how many groups a set would have.
    fn n_groups(&self, set: &Grouping) -> f32 {
        let (n_groups, extent) = self.bottom;
        n_groups * (self.slope * (self.forecast.extent(set) - extent)).exp2()
    }
}

impl<G: Groups> KeptJudge<'_, G> {
    /// Makes sets that serve the nodes of a forecast.
    pub(super) fn prepare(&mut self, forecast: &Forecast<'_>) -> Result<()> {
        // Large tables have their own ways; and where groups of failing nodes are made, those serve others.
        if self.n_records >= LARGE || !self.groups.are_told() {
            return Ok(());
        }
        let bottom = self.bottom;
        if self.work.table_scans == 0 {
            self.count(None, &bottom, Purpose::Keeping)?;
            if !self.groups.are_all_there() {
                return Ok(());
            }
            if self.is_worth_it(self.n_records, WORTH_OF_RECORDS) {
                self.keep_last(bottom);
            }
        }
        self.is_planned = true;
        let n_bottom = self.extent(self.source(&bottom)).0 as f32;
        let extent = forecast.extent(&bottom);
        let slope = self.slope(forecast, (n_bottom, extent)).filter(|_| !forecast.nodes.is_empty());
        let Some(slope) = slope else { return Ok(()) };
        for _ in 0..MOST_SETS {
            let nodes = forecast.nodes.iter();
            let nodes =
                nodes.map(|node| (self.groups.mask(node), self.extent(self.source(node)).0 as f32)).collect();
            let plan = Plan { forecast, nodes, bottom: (n_bottom, extent), slope };
            let Some(set) = self.best_set(&plan) else { break };
            let source = self.source(&set);
            let (n_before, _) = self.extent(source);
            self.count(source, &set, Purpose::Keeping)?;
            if !self.is_worth_it(n_before, WORTH) || !self.keep_last(set) {
                break;
            }
        }
        Ok(())
    }

    /// How much the logarithm of the groups falls with the extent, from the bottom to nodes that were counted; on average.
    fn slope(&self, forecast: &Forecast<'_>, (n_bottom, extent): (f32, f32)) -> Option<f32> {
        let slope_to = |(node, n_groups): &(Grouping, usize)| {
            let below = extent - forecast.extent(node);
            let slope = (n_bottom / (*n_groups).max(1) as f32).log2() / below;
            (below > 0.0 && slope.is_finite()).then_some(slope)
        };
        let slopes: Vec<f32> = self.counted.iter().filter_map(slope_to).collect();
        (!slopes.is_empty()).then(|| slopes.iter().sum::<f32>() / slopes.len() as f32)
    }

    /// A set that gains as much as any near it.
    fn best_set(&self, plan: &Plan<'_, G::Mask>) -> Option<Grouping> {
        let mut best = (self.gain(plan, &self.bottom), self.bottom);
        loop {
            let mut next = best;
            for (attribute, level) in best.1.iter() {
                let highest = plan.forecast.extents[attribute].len() - 1;
                for level in level + 1..=(level + MOST_LEVELS).min(highest as u8) {
                    let mut raised = best.1;
                    raised.set(attribute, level);
                    let gain = self.gain(plan, &raised);
                    if gain > next.0 {
                        next = (gain, raised);
                    }
                }
            }
            if next.1 == best.1 {
                return (best.0 > LEAST_GAIN).then_some(best.1);
            }
            best = next;
        }
    }

    /// How many groups fewer would be looked at, if there were this set.
    fn gain(&self, plan: &Plan<'_, G::Mask>, set: &Grouping) -> f32 {
        let (mask, n_groups) = (self.groups.mask(set), plan.n_groups(set));
        let saved = |&(node, now): &(G::Mask, f32)| {
            if G::is_finer(mask, node) { (now - n_groups).max(0.0) } else { 0.0 }
        };
        let saved: f32 = plan.nodes.iter().map(saved).sum();
        let times = if self.layout.n_bits_at(set) < DENSE_BITS { TIMES_DENSE } else { TIMES_HASHED };
        let (n_source, _) = self.extent(self.source(set));
        saved * plan.forecast.n_asked / plan.nodes.len() as f32
            - times * n_source as f32
            - TIMES_COPIED * n_groups
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{Counted, Keep, Problem, Verdict, suppressing};
    use crate::frequency::{FrequencySource, Rows};
    use crate::hierarchy::spec::{Mask, Side, Spec};
    use crate::hierarchy::{Attribute, Attributes};
    use crate::lattice::Lattice;
    use crate::privacy::Policy;
    use crate::table::{Column, Role, Table};

    /// Columns of numbers with so many digits, of which levels mask the last ones; most combinations of values are rare.
    fn attributes(n_rows: u64, n_digits: &[u32]) -> (Table, Attributes) {
        let columns = n_digits.iter().zip(1..).map(|(&n_digits, at)| {
            let mut column = Column::new(format!("c{at}"), Role::QuasiIdentifier);
            for row in 0..n_rows {
                let drawn = (row * at + 7).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
                let value = drawn % 10_u64.pow(n_digits);
                column.push(&format!("{value:0width$}", width = n_digits as usize)).unwrap();
            }
            column
        });
        let table = Table::new(columns.collect()).unwrap();
        let bind = |column| {
            let hierarchy = Spec::Mask(Mask::new(Side::Right)).build(column, None).unwrap();
            Attribute::bind(column, hierarchy, "rule").unwrap()
        };
        let attributes = table.columns().iter().map(bind).collect();
        (table, Attributes::new(attributes).unwrap())
    }

    #[test]
    fn sets_that_serve_what_is_asked_are_made_and_change_no_verdict() {
        let (table, attributes) = attributes(60_000, &[3, 1, 1]);
        let rows = Rows::new(&table, &attributes).unwrap();
        let policy = Policy::k_anonymity(5).unwrap().with_budget(1000);
        let problem = Problem { source: &rows, policy: &policy };
        let lattice = Lattice::new(&rows.layout().heights()).unwrap();
        let groupings: Vec<Grouping> = (0..lattice.n_nodes()).map(|node| lattice.grouping(node)).collect();
        // A level has a tenth of the labels of the one below it.
        let extents: Vec<Vec<f32>> = [3, 1, 1]
            .iter()
            .map(|&n_digits| (0..=n_digits).rev().map(|n_kept| n_kept as f32 * 10_f32.log2()).collect())
            .collect();
        let above = |level: u8| -> Vec<Grouping> {
            groupings.iter().copied().filter(|node| node.level(0) >= Some(level)).collect()
        };
        // Verdicts on all nodes, and how many groups those above the first level looked at, given a forecast of so many.
        let judge = |n_asked: Option<f32>| -> (Vec<Verdict>, u64) {
            let mut judge = suppressing(problem, Keep::Nothing, Counted::Verdicts).unwrap();
            let mut all: Vec<Verdict> = Vec::new();
            if let Some(n_asked) = n_asked {
                judge.expect(&Forecast { nodes: above(0), n_asked: 0.0, extents: &extents }).unwrap();
                judge.verdict(&above(2)[0]).unwrap();
                judge.expect(&Forecast { nodes: above(1), n_asked, extents: &extents }).unwrap();
            }
            all.extend(groupings.iter().map(|node| judge.verdict(node).unwrap()));
            let before = judge.work().groups_touched;
            above(1).iter().for_each(|node| {
                judge.verdict(node).unwrap();
            });
            (all, judge.work().groups_touched - before)
        };
        let (verdicts, _) = judge(None);
        assert!(
            verdicts.iter().any(|verdict| verdict.holds) && verdicts.iter().any(|verdict| !verdict.holds)
        );
        let (unprepared, n_unprepared) = judge(Some(0.0));
        let (prepared, n_prepared) = judge(Some(1000.0));
        assert_eq!(unprepared, verdicts);
        assert_eq!(prepared, verdicts);
        assert!(n_prepared * 2 < n_unprepared, "{n_prepared} groups with sets, {n_unprepared} without");
    }
}
