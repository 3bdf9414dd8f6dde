//! What a program says of columns, and of what the release must satisfy.

use incog_core::privacy::Budget;
use incog_core::{Error, Result};

use crate::anonymizer::{Anonymizer, Hierarchy, Model};
use crate::job::{ColumnJob, CountOrText, MissingUnit, OrderJob, Preset, ReplaceJob, RoleJob};

impl Anonymizer {
    /// Declares a column that names a person outright: it is dropped.
    pub fn identifier(self, name: impl Into<String>) -> Self {
        self.column(name.into(), RoleJob::Identifier, None)
    }

    /// Declares a column that could single a person out together with others, and what its values may become.
    pub fn quasi_identifier(self, name: impl Into<String>, hierarchy: Hierarchy) -> Self {
        self.column(name.into(), RoleJob::QuasiIdentifier, Some(hierarchy))
    }

    /// Declares a column that nobody should learn about a person: it is released as it is, and measured.
    pub fn sensitive(self, name: impl Into<String>) -> Self {
        self.column(name.into(), RoleJob::Sensitive, None)
    }

    /// Declares a column that is released as it is.
    pub fn other(self, name: impl Into<String>) -> Self {
        self.column(name.into(), RoleJob::Other, None)
    }

    /// Says what all columns are that nobody declares. Without it they are an error, not a guess.
    pub fn rest(mut self, role: RoleJob) -> Self {
        if let Some(job) = self.table("a role of all other columns") {
            job.rest = Some(role);
        }
        self
    }

    /// Says in which order the values of a quasi-identifier stand, for `ordered-set` and `mondrian`.
    pub fn order(mut self, name: &str, order: OrderJob) -> Self {
        let Some(job) = self.table("an order") else {
            return self;
        };
        match job.columns.get_mut(name) {
            Some(column) => column.order = Some(order),
            None => {
                let mistake = format!("an order is given for `{name}`, which is not declared");
                self.mistakes.push(Error::input(mistake).with_hint("declare the column first"));
            }
        }
        self
    }

    /// Replaces the values of an identifier by pseudonyms, instead of dropping it. Pseudonyms are not anonymity.
    pub fn replace(mut self, name: &str, by: ReplaceJob) -> Self {
        let Some(job) = self.table("a replaced column") else {
            return self;
        };
        match job.columns.get_mut(name) {
            Some(column) => column.replace = Some(by),
            None => {
                let mistake = format!("`{name}` is to be replaced, and is not declared");
                self.mistakes
                    .push(Error::input(mistake).with_hint("declare the column as an identifier first"));
            }
        }
        self
    }

    /// Follows a policy that others have written down.
    pub fn preset(mut self, preset: Preset) -> Self {
        if let Some(job) = self.table("a preset") {
            job.preset = Some(preset);
        }
        self
    }

    fn column(mut self, name: String, role: RoleJob, hierarchy: Option<Hierarchy>) -> Self {
        let column = ColumnJob { hierarchy: hierarchy.map(Hierarchy::into_job), ..ColumnJob::new(role) };
        let Some(job) = self.table("a column") else {
            return self;
        };
        if job.columns.contains_key(&name) {
            let mistake = format!("column `{name}` is declared twice");
            self.mistakes.push(Error::input(mistake).with_hint("a column has one role"));
            return self;
        }
        job.columns.insert(name, column);
        self
    }

    /// Every released row looks like at least k - 1 others; every person of a database has such a tree of rows.
    pub fn k(mut self, k: u64) -> Self {
        // What does not fit is refused like a k that is larger than the table.
        self.job.set_k(i64::try_from(k).unwrap_or(i64::MAX));
        self.has_k = true;
        self
    }

    /// Asks for k-anonymity of every combination of at most `most` quasi-identifiers, instead of all of them together.
    ///
    /// ```
    /// # use incog::{Anonymizer, Hierarchy};
    /// let table = [("sex", vec!["f", "f", "m", "m"]), ("town", vec!["a", "b", "a", "b"])];
    /// let release = Anonymizer::new(table)
    ///     .quasi_identifier("sex", Hierarchy::suppress())
    ///     .quasi_identifier("town", Hierarchy::suppress())
    ///     .k(2)
    ///     .combinations(1)
    ///     .anonymize()?;
    /// assert_eq!(release.report().loss, 0.0, "each value stands twice, and pairs are not asked about");
    /// # Ok::<(), incog::Error>(())
    /// ```
    pub fn combinations(mut self, most: usize) -> Self {
        if let Some(job) = self.table("combinations") {
            job.policy.combinations = Some(i64::try_from(most).unwrap_or(i64::MAX));
            job.lines.forget(&["policy", "combinations"]);
        }
        self
    }

    /// How many rows may be left out: a count (`"5"`) or a share (`"1%"`, rounded down). None unless given. Of a database: persons,
    /// and as many as it takes unless given.
    pub fn suppression(mut self, suppression: &str) -> Result<Self> {
        let text = suppression.trim();
        self.job.set_suppression(match text.parse() {
            Ok(rows) => CountOrText::Count(rows),
            Err(_) => {
                Budget::parse(text)?;
                CountOrText::Text(text.to_owned())
            }
        });
        Ok(self)
    }

    /// The column that says whom a row is about, where a person may have several: k then counts persons. Never released.
    pub fn unit(mut self, name: impl Into<String>) -> Self {
        if let Some(job) = self.table("a unit") {
            job.policy.unit = Some(name.into());
        }
        self
    }

    /// Rows that do not say whom they are about count as rows of nobody. Without it they are an error.
    pub fn missing_unit_is_nobody(mut self) -> Self {
        if let Some(job) = self.table("a missing unit") {
            job.policy.missing_unit = Some(MissingUnit::Nobody);
        }
        self
    }

    /// Requires one more privacy model.
    pub fn require(mut self, model: Model) -> Self {
        self.job.add_requirement(model.into_job());
        self
    }
}
