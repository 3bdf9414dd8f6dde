//! What a release must satisfy beyond k, as a program says it.

use incog_core::privacy::Fraction;
use incog_core::{Error, Result};

use crate::job::{DistanceJob, HierarchyJob, LikenessJob, NumberOrText, RequireJob};

use super::Hierarchy;

/// A privacy model of a sensitive column, with its numbers. They are exact: `"0.29"`, `"29%"` and `"29/100"` are the same.
///
/// ```
/// use incog::Model;
///
/// let alpha = Model::alpha_k("illness", "1/2")?;
/// let closeness = Model::t_closeness("pay", "0.2")?.by_order(["low", "mid", "high"]);
/// assert!(Model::alpha_k("illness", "a half").is_err());
/// # Ok::<(), incog::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Model(RequireJob);

impl Model {
    /// No value has more than this share of a group ((α,k)-anonymity).
    pub fn alpha_k(sensitive: impl Into<String>, alpha: &str) -> Result<Self> {
        let mut model = Model::named("alpha-k", sensitive);
        model.0.alpha = Some(number("alpha", alpha)?);
        Ok(model)
    }

    /// Every group has at least `l` different values.
    pub fn distinct_l(sensitive: impl Into<String>, l: u32) -> Self {
        let mut model = Model::named("distinct-l", sensitive);
        model.0.l = Some(NumberOrText::Whole(l.into()));
        model
    }

    /// The entropy of every group is at least that of `l` equally frequent values.
    pub fn entropy_l(sensitive: impl Into<String>, l: &str) -> Result<Self> {
        let mut model = Model::named("entropy-l", sensitive);
        model.0.l = Some(number("l", l)?);
        Ok(model)
    }

    /// The most frequent value of a group is less than `c` times as frequent as all but the `l` - 1 most frequent together.
    pub fn recursive_cl(sensitive: impl Into<String>, c: &str, l: u32) -> Result<Self> {
        let mut model = Model::named("recursive-cl", sensitive);
        model.0.c = Some(number("c", c)?);
        model.0.l = Some(NumberOrText::Whole(l.into()));
        Ok(model)
    }

    /// The distribution of every group is at most `t` from that of all rows, with all values equally far apart; see
    /// [`by_order`](Self::by_order) and [`by_hierarchy`](Self::by_hierarchy).
    pub fn t_closeness(sensitive: impl Into<String>, t: &str) -> Result<Self> {
        let mut model = Model::named("t-closeness", sensitive);
        model.0.t = Some(number("t", t)?);
        Ok(model)
    }

    /// The logarithm of a value's share in a group is less than `delta` from that in all rows.
    pub fn delta_disclosure(sensitive: impl Into<String>, delta: &str) -> Result<Self> {
        let mut model = Model::named("delta-disclosure", sensitive);
        model.0.delta = Some(number("delta", delta)?);
        Ok(model)
    }

    /// The share of a value in a group exceeds that in all rows by at most `beta` of itself (enhanced, unless
    /// [`basic`](Self::basic)).
    pub fn beta_likeness(sensitive: impl Into<String>, beta: &str) -> Result<Self> {
        let mut model = Model::named("beta-likeness", sensitive);
        model.0.beta = Some(number("beta", beta)?);
        Ok(model)
    }

    /// Of (α,k): only these values count, as if they were one.
    #[must_use]
    pub fn values<V: Into<NumberOrText>>(mut self, values: impl IntoIterator<Item = V>) -> Self {
        self.0.values = Some(values.into_iter().map(Into::into).collect());
        self
    }

    /// Of t-closeness: values stand in their order as numbers.
    #[must_use]
    pub fn by_number(mut self) -> Self {
        self.0.distance = Some(DistanceJob::Ordered);
        self
    }

    /// Of t-closeness: values stand in this order.
    #[must_use]
    pub fn by_order<V: Into<NumberOrText>>(mut self, order: impl IntoIterator<Item = V>) -> Self {
        self.0.distance = Some(DistanceJob::Ordered);
        self.0.order = Some(order.into_iter().map(Into::into).collect());
        self
    }

    /// Of t-closeness: values are as far apart as the level at which they first have one label.
    #[must_use]
    pub fn by_hierarchy(mut self, hierarchy: Hierarchy) -> Self {
        let hierarchy: HierarchyJob = hierarchy.into_job();
        self.0.distance = Some(DistanceJob::Hierarchical);
        self.0.hierarchy = Some(hierarchy);
        self
    }

    /// Of β-likeness: the bound on frequent values is left out.
    #[must_use]
    pub fn basic(mut self) -> Self {
        self.0.likeness = Some(LikenessJob::Basic);
        self
    }

    fn named(model: &str, sensitive: impl Into<String>) -> Self {
        Model(RequireJob {
            model: model.to_owned(),
            sensitive: Some(sensitive.into()),
            ..RequireJob::default()
        })
    }

    pub(super) fn into_job(self) -> RequireJob {
        self.0
    }
}

/// What a job file says in a table of `[[policy.require]]`.
impl From<RequireJob> for Model {
    fn from(job: RequireJob) -> Self {
        Model(job)
    }
}

/// A number that can be read exactly.
fn number(key: &str, text: &str) -> Result<NumberOrText> {
    match text.parse::<Fraction>() {
        Ok(_) => Ok(NumberOrText::Text(text.to_owned())),
        Err(_) => Err(Error::input(format!("`{key}` is no number that can be read exactly"))
            .with_hint("write 0.29, 29% or 29/100, of at most 18 digits")),
    }
}
