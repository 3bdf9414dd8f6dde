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
//! No verdict rests on this: a poor guess costs time. Where sets are planned, none are made halfway. On Adult at k = 5 and 5 %, two
//! sets of some 10,000 and 15,000 groups serve most verdicts. Where most records are distinct, groups near the bottom are as many
//! whatever the levels, and guesses are far off: then no sets are made at all, and verdicts come from the records. Not for large
//! tables, unless few of their records are distinct. Cost: some ten thousand comparisons of masks for a set, besides making it.

use super::{Forecast, Groups, Purpose, SnapshotJudge};
use crate::error::Result;
use crate::judge::tuning;
use crate::lattice::Grouping;

/// How far planning is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Planning {
    /// Nobody has told what will be asked.
    NotYet,
    /// There are many distinct records, or there is no room to put equal ones together: sets are made halfway.
    RuledOut,
    /// Equal records are put together, and nodes are counted from them to see how groups fall.
    Begun,
    /// Sets are made, if any are worth it.
    Done,
}

impl Planning {
    /// Are sets planned, and so none made halfway?
    pub(super) fn is_on(self) -> bool {
        matches!(self, Planning::Begun | Planning::Done)
    }
}

/// What is known of the sets that could be made.
struct Prospect<'a, M> {
    forecast: &'a Forecast<'a>,
    /// What nodes such as will be asked about keep of a key, and how many groups a verdict on each would look at now.
    nodes: Vec<(M, f32)>,
    /// How many groups the bottom has, and its extent.
    bottom: (f32, f32),
    /// How much the logarithm of the groups falls with the extent.
    slope: f32,
}

impl<M> Prospect<'_, M> {
    /// About how many groups a set would have.
    fn n_groups(&self, set: &Grouping) -> f32 {
        let (n_groups, extent) = self.bottom;
        n_groups * (self.slope * (self.forecast.extent(set) - extent)).exp2()
    }
}

/// How much the logarithm of the groups falls with the extent, from the bottom to nodes that were counted; on average.
fn slope(
    forecast: &Forecast<'_>,
    (n_bottom, extent): (f32, f32),
    counted: &[(Grouping, usize)],
) -> Option<f32> {
    let slope_to = |(node, n_groups): &(Grouping, usize)| {
        let below = extent - forecast.extent(node);
        let slope = (n_bottom / (*n_groups).max(1) as f32).log2() / below;
        (below > 0.0 && slope.is_finite()).then_some(slope)
    };
    let slopes: Vec<f32> = counted.iter().filter_map(slope_to).collect();
    (!slopes.is_empty()).then(|| slopes.iter().sum::<f32>() / slopes.len() as f32)
}

impl<G: Groups> SnapshotJudge<'_, G> {
    /// Can sets be planned? Not where groups of failing nodes are made: those serve others.
    pub(super) fn can_plan(&self) -> bool {
        self.told.is_none()
            && self.groups.verdict_only()
            && matches!(self.planning, Planning::NotYet | Planning::Begun)
    }

    /// Are so few records distinct, by a sample, that all is small once equal ones are put together? Otherwise large tables have their
    /// own ways.
    fn are_few_distinct(&mut self) -> bool {
        let most = (tuning::LARGE.get() / 2).min(self.n_records / 2);
        self.groups.estimate(&self.bottom).is_some_and(|n_groups| n_groups <= most)
    }

    /// Makes sets that serve the nodes of a forecast. With the first one, only equal records are put together: how groups fall is not
    /// known yet.
    pub(super) fn prepare(&mut self, forecast: &Forecast<'_>) -> Result<()> {
        if !self.can_plan() {
            return Ok(());
        }
        let bottom = self.bottom;
        if self.planning == Planning::NotYet {
            if self.n_records >= tuning::LARGE.get() && !self.are_few_distinct() {
                self.planning = Planning::RuledOut;
                return Ok(());
            }
            self.count(None, &bottom, Purpose::Keeping)?;
            let is_worth_it = self.is_worth_it(None, tuning::WORTH_OF_RECORDS.get());
            let is_small = self.groups.n_groups() < tuning::LARGE.get();
            self.planning = if is_worth_it && is_small && self.keep_last(bottom) {
                Planning::Begun
            } else if self.groups.are_all_there() && self.n_records < tuning::LARGE.get() && !is_worth_it {
                Planning::Done
            } else {
                Planning::RuledOut
            };
            return Ok(());
        }
        self.planning = Planning::Done;
        let counted = std::mem::take(&mut self.counted);
        let at_bottom = (self.extent(self.source(&bottom)).0 as f32, forecast.extent(&bottom));
        let slope = slope(forecast, at_bottom, &counted).filter(|_| !forecast.nodes.is_empty());
        let Some(slope) = slope else { return Ok(()) };
        for _ in 0..tuning::MOST_SETS.get() {
            let nodes = forecast.nodes.iter();
            let nodes =
                nodes.map(|node| (self.groups.mask(node), self.extent(self.source(node)).0 as f32)).collect();
            let plan = Prospect { forecast, nodes, bottom: at_bottom, slope };
            let Some(set) = self.best_set(&plan) else { break };
            let source = self.source(&set);
            if source.is_some_and(|at| self.kept[at].grouping == set) {
                // It is there, and has more groups than guessed.
                break;
            }
            self.count(source, &set, Purpose::Keeping)?;
            if !self.is_worth_it(source, tuning::WORTH.get()) || !self.keep_last(set) {
                break;
            }
        }
        Ok(())
    }

    /// A set that gains as much as any near it.
    fn best_set(&self, plan: &Prospect<'_, G::Mask>) -> Option<Grouping> {
        let mut best = (self.gain(plan, &self.bottom), self.bottom);
        loop {
            let mut next = best;
            for (attribute, level) in best.1.iter() {
                let highest = plan.forecast.extents[attribute].len() - 1;
                for level in level + 1..=(level + tuning::MOST_LEVELS.get()).min(highest as u8) {
                    let mut raised = best.1;
                    raised.set(attribute, level);
                    let gain = self.gain(plan, &raised);
                    if gain > next.0 {
                        next = (gain, raised);
                    }
                }
            }
            if next.1 == best.1 {
                return (best.0 > tuning::LEAST_GAIN.get()).then_some(best.1);
            }
            best = next;
        }
    }

    /// How many groups fewer would be looked at, if there were this set.
    fn gain(&self, plan: &Prospect<'_, G::Mask>, set: &Grouping) -> f32 {
        let (mask, n_groups) = (self.groups.mask(set), plan.n_groups(set));
        let saved = |&(node, now): &(G::Mask, f32)| {
            if G::is_finer(mask, node) { (now - n_groups).max(0.0) } else { 0.0 }
        };
        let saved: f32 = plan.nodes.iter().map(saved).sum();
        let times = if self.layout.n_bits_at(set) < tuning::HALFWAY_DENSE_BITS.get() {
            tuning::TIMES_DENSE.get()
        } else {
            tuning::TIMES_HASHED.get()
        };
        let (n_source, _) = self.extent(self.source(set));
        saved * plan.forecast.n_asked / plan.nodes.len() as f32
            - times * n_source as f32
            - tuning::TIMES_COPIED.get() * n_groups
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frequency::{FrequencySource, Rows, masked_numbers};
    use crate::judge::{Detail, Keep, Problem, Verdict, node_judge};
    use crate::lattice::Lattice;
    use crate::privacy::Policy;

    #[test]
    fn sets_that_serve_what_is_asked_are_made_and_change_no_verdict() {
        let (table, attributes) = masked_numbers(60_000, &[3, 1, 1]);
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
        // Verdicts on all nodes, and how many groups those above the first level looked at, given a forecast of `n_asked` questions.
        let judge = |n_asked: Option<f32>| -> (Vec<Verdict>, u64) {
            let mut judge = node_judge(problem, Keep::Nothing, Detail::Verdicts).unwrap();
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
