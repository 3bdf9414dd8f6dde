//! How a job wants its search to be.

use std::path::PathBuf;

use incog_core::registry::Entry;
use incog_core::{algorithm, judge, metric};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::CountOrText;

/// The names of a registry, for editors.
fn names<T>(entries: &[Entry<T>]) -> Vec<&'static str> {
    entries.iter().map(|entry| entry.name).collect()
}

/// How to search.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchJob {
    /// The traversal or other recoding, by its name in `incog list`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = names(algorithm::ALL)))]
    pub algorithm: Option<String>,
    /// How nodes are judged, by its name in `incog list`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = names(judge::ALL)))]
    pub checker: Option<String>,
    /// "direct" or "transitive".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marking: Option<String>,
    /// For `incognito`: what is done with a generalization that has a column at a level of a single label; take-over unless
    /// given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub one_label: Option<OneLabel>,
    /// How the released generalization is picked, by its name in `incog list`. `top-down` is only measured by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = names(metric::ALL)))]
    pub metric: Option<String>,
    /// What the generalization is chosen by: "all" that is required (unless given), or "k-only".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decide: Option<String>,
    /// How much each quasi-identifier counts in the metric: 0, or from 1e-9 to 1e9; 1 unless given.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub weights: IndexMap<String, f64>,
    /// How many attribute subsets to search at a time; 1 unless given. With recodings that are not by whole columns, how
    /// many threads to use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<usize>,
    /// For `top-down`: breaks ties at random, the same way each time. Keep it to yourself. For `genetic`, and `ordered-set` with
    /// `cut_method = "genetic"`: where to start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// For `genetic`, `ordered-set`, and `incog anonymize` where no algorithm is named: when to stop and take the best found so
    /// far: "30 s", "5 min".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_limit: Option<String>,
    /// For `genetic`: how many generalizations to judge; 2,000 unless given, or as many as there is time for. For
    /// `ordered-set`: how many sets of cuts to look at before the best so far is taken; 1,000 unless given. Where no algorithm is
    /// named: how many generalizations to judge; as many as it takes to know the best unless given, but 20,000 where there are
    /// more than ten million.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_steps: Option<i64>,
    /// For `mondrian`: whether rows of equal values may come to stand in different boxes; strict unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mondrian_cuts: Option<MondrianCuts>,
    /// For `mondrian`: where to cut; at the median unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mondrian_choice: Option<MondrianChoice>,
    /// For `mondrian`: how far intervals reach; covering unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mondrian_sides: Option<MondrianSides>,
    /// For `top-down`: how far it looks ahead where rows cannot be specialized alone; step unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub look_ahead: Option<LookAheadJob>,
    /// For `ordered-set`: how better cuts than the greedy ones are looked for; enumerate unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut_method: Option<CutMethodJob>,
    /// For `cell-generalization`: how groups are found; clusters unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell_method: Option<CellMethodJob>,
    /// For `cell-suppression`: how groups are found; auto unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suppression_method: Option<SuppressionMethodJob>,
    /// How much memory the sets of `cube` and `bitmap` may take: bytes, or "512 MiB".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<CountOrText>,
    /// What `cube` computes beforehand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cube_levels: Option<CubeLevels>,
    /// Where `cube` keeps its sets between runs: read if the file is there, and else written. For k-anonymity of rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cube_file: Option<PathBuf>,
    /// How `bitmap` makes its sets of records; depth-first unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bitmap_sets: Option<BitmapSets>,
    /// Whether `bitmap` stops at the first refused group that is too much; true unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bitmap_pruning: Option<bool>,
}

/// What `incognito` does with a generalization that has a column at a level of a single label.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OneLabel {
    /// Takes over the verdict of the generalization without that column, which has the same groups.
    TakeOver,
    /// Counts its groups like those of any other, as the paper does.
    Group,
}

/// How far `top-down` looks ahead where rows go back to their parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LookAheadJob {
    /// One step by each other column.
    Step,
    /// To the end, as the paper does: much slower.
    Full,
}

/// How `ordered-set` looks for better cuts than the greedy ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CutMethodJob {
    /// One set of cuts after the other, with bounds: the best is known at its end.
    Enumerate,
    /// At random, by a genetic search that starts with the greedy cuts: for more cuts than can be enumerated.
    Genetic,
}

/// How `cell-generalization` finds groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CellMethodJob {
    /// Greedy clusters, of the whole table or within the boxes of `full-subgraph`.
    Clusters,
    /// The same within the groups of `unrestricted-multi`: better and slower.
    Refined,
    /// Full-domain generalization of what the round before has left out.
    Rounds,
}

/// How `cell-suppression` finds groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SuppressionMethodJob {
    /// The better of forest and clusters where the forest is affordable, else clusters.
    Auto,
    /// A forest of near neighbours: at most 3k - 3 times the fewest `*`.
    Forest,
    /// A greedy cover with small balls, for up to 1,024 rows.
    Cover,
    /// Greedy clusters, without a bound.
    Clusters,
}

/// How the checker `bitmap` makes its sets of records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BitmapSets {
    /// Afresh from single columns: the least memory.
    OneLevel,
    /// From those of earlier nodes: the fewest operations, the most memory.
    Reusing,
    /// Column after column, keeping one set each.
    DepthFirst,
}

/// Whether rows of equal values may come to stand in different boxes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MondrianCuts {
    /// Never: boxes are disjoint.
    Strict,
    /// They may: groups are smaller, and boxes may touch.
    Relaxed,
}

/// Where `mondrian` cuts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MondrianChoice {
    /// At the median of the widest column.
    Median,
    /// Wherever it gains most, by discernibility where that (or the group size) is the metric, by loss otherwise.
    Best,
}

/// How far the intervals of `mondrian` reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MondrianSides {
    /// From cut to cut.
    Covering,
    /// No further than the rows of the box, rounded outward to the step: less loss, and says more.
    Tight,
}

/// What `cube` computes beforehand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CubeLevels {
    /// Level 0 of every subset, as in the paper.
    ZeroLevel,
    /// Higher levels too.
    EveryLevel,
    /// Level 0 of the subsets that help most for their size, within `memory`.
    ByBenefit,
}
