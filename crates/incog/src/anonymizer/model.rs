//! What a release must satisfy beyond k, as a program says it.

use incog_core::privacy::Fraction;
use incog_core::{Error, Result};

use crate::job::{NumberOrText, RequireJob, Written};

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
        model = model.put("alpha", number("alpha", alpha)?);
        Ok(model)
    }

    /// Every group has at least `l` different values.
    pub fn distinct_l(sensitive: impl Into<String>, l: u32) -> Self {
        let mut model = Model::named("distinct-l", sensitive);
        model = model.put("l", i64::from(l));
        model
    }

    /// The entropy of every group is at least that of `l` equally frequent values.
    pub fn entropy_l(sensitive: impl Into<String>, l: &str) -> Result<Self> {
        let mut model = Model::named("entropy-l", sensitive);
        model = model.put("l", number("l", l)?);
        Ok(model)
    }

    /// The most frequent value of a group is less than `c` times as frequent as all but the `l` - 1 most frequent together.
    pub fn recursive_cl(sensitive: impl Into<String>, c: &str, l: u32) -> Result<Self> {
        let mut model = Model::named("recursive-cl", sensitive);
        model = model.put("c", number("c", c)?);
        model = model.put("l", i64::from(l));
        Ok(model)
    }

    /// The distribution of every group is at most `t` from that of all rows, with all values equally far apart; see
    /// [`by_order`](Self::by_order) and [`by_hierarchy`](Self::by_hierarchy).
    pub fn t_closeness(sensitive: impl Into<String>, t: &str) -> Result<Self> {
        let mut model = Model::named("t-closeness", sensitive);
        model = model.put("t", number("t", t)?);
        Ok(model)
    }

    /// The logarithm of a value's share in a group is less than `delta` from that in all rows.
    pub fn delta_disclosure(sensitive: impl Into<String>, delta: &str) -> Result<Self> {
        let mut model = Model::named("delta-disclosure", sensitive);
        model = model.put("delta", number("delta", delta)?);
        Ok(model)
    }

    /// The share of a value in a group exceeds that in all rows by at most `beta` of itself (enhanced, unless
    /// [`basic`](Self::basic)).
    pub fn beta_likeness(sensitive: impl Into<String>, beta: &str) -> Result<Self> {
        let mut model = Model::named("beta-likeness", sensitive);
        model = model.put("beta", number("beta", beta)?);
        Ok(model)
    }

    /// Of (α,k): only these values count, as if they were one.
    #[must_use]
    pub fn values<V: Into<NumberOrText>>(self, values: impl IntoIterator<Item = V>) -> Self {
        self.list("values", values)
    }

    /// Of t-closeness: values stand in their order as numbers.
    #[must_use]
    pub fn by_number(self) -> Self {
        self.put("distance", "ordered")
    }

    /// Of t-closeness: values stand in this order.
    #[must_use]
    pub fn by_order<V: Into<NumberOrText>>(self, order: impl IntoIterator<Item = V>) -> Self {
        self.put("distance", "ordered").list("order", order)
    }

    /// Of t-closeness: values are as far apart as the level at which they first have one label.
    #[must_use]
    pub fn by_hierarchy(mut self, hierarchy: Hierarchy) -> Self {
        self = self.put("distance", "hierarchical");
        self.0.written.insert("hierarchy", Written::Hierarchy(Box::new(hierarchy.into_job())));
        self
    }

    /// Of β-likeness: the bound on frequent values is left out.
    #[must_use]
    pub fn basic(self) -> Self {
        self.put("likeness", "basic")
    }

    /// Any model, by its name in `incog list`. Whether there is one, and whether it takes its parameters, is checked with the data.
    pub fn named(model: impl Into<String>, sensitive: impl Into<String>) -> Self {
        Model(RequireJob { model: model.into(), sensitive: Some(sensitive.into()), ..RequireJob::default() })
    }

    /// A parameter, under its key in a job file. Fails if no model has such a key.
    pub fn with(mut self, key: &str, value: impl Into<NumberOrText>) -> Result<Self> {
        self.0.set(key, Written::One(value.into()))?;
        Ok(self)
    }

    /// A parameter that there is.
    fn put(mut self, key: &'static str, value: impl Into<NumberOrText>) -> Self {
        self.0.written.insert(key, Written::One(value.into()));
        self
    }

    fn list<V: Into<NumberOrText>>(mut self, key: &'static str, values: impl IntoIterator<Item = V>) -> Self {
        let values = values.into_iter().map(Into::into).collect();
        self.0.written.insert(key, Written::List(values));
        self
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
