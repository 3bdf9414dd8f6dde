//! What a job claims of its release, in the checker's terms.
//!
//! The only place where the engine's data meets the independent checker: it hands over strings, and codes that
//! say which string stands where. The checker numbers the strings anew.

use std::borrow::Cow;

use incog_core::hierarchy::{Attribute, Attributes};
use incog_core::recoding::Release;
use incog_core::table::{Column, Role, Table};
use incog_verify::{Claims, Hierarchy, LabelColumn, Labels, RecodingClaim, SensitiveClaim, Source};

use crate::plan::Plan;

/// A release as strings.
pub(crate) struct Released<'a>(pub(crate) Release<'a>);

impl Labels for Released<'_> {
    fn header(&self) -> Vec<&str> {
        self.0.header()
    }

    fn n_rows(&self) -> usize {
        self.0.n_rows()
    }

    fn column(&self, column_idx: usize) -> LabelColumn<'_> {
        LabelColumn {
            labels: self.0.labels(column_idx).collect(),
            codes: Cow::Owned(self.0.codes(column_idx)),
        }
    }
}

/// A table as strings.
pub(crate) struct Collected<'a>(pub(crate) Cow<'a, Table>);

impl Labels for Collected<'_> {
    fn header(&self) -> Vec<&str> {
        self.0.columns().iter().map(Column::name).collect()
    }

    fn n_rows(&self) -> usize {
        self.0.n_rows()
    }

    fn column(&self, column_idx: usize) -> LabelColumn<'_> {
        let column = &self.0.columns()[column_idx];
        LabelColumn { labels: column.dictionary().values().collect(), codes: Cow::Borrowed(column.codes()) }
    }
}

/// What the plan's job claims of any release of it. `input` is the plan's table.
pub(crate) fn claims<'a>(plan: &Plan, input: &'a dyn Labels, recoding: RecodingClaim) -> Claims<'a> {
    let released = plan.table.columns().iter().filter(|column| column.role() != Role::Identifier);
    let sensitive = plan.table.columns().iter().filter(|column| column.role() == Role::Sensitive);
    let name = |column: &Column| column.name().to_owned();
    Claims {
        quasi_identifiers: plan.attributes.iter().map(|attribute| attribute.name().to_owned()).collect(),
        // The policy was made from a k that is not negative.
        k: plan.job.policy.k.unsigned_abs(),
        columns: Some(released.map(name).collect()),
        sensitive: sensitive.map(name).map(SensitiveClaim::measured).collect(),
        source: Some(Source {
            input,
            hierarchies: hierarchies(&plan.attributes, &plan.table),
            unit: plan.job.policy.unit.clone(),
            budget: plan.policy.budget(),
            recoding,
        }),
    }
}

fn hierarchies(attributes: &Attributes, table: &Table) -> Vec<Hierarchy> {
    let path = |attribute: &Attribute, code: usize| -> Vec<String> {
        let label = |level| {
            let label = attribute.labels_at(level)[code];
            attribute.hierarchy().labels(level).value(label).to_owned()
        };
        (0..=attribute.height()).map(label).collect()
    };
    attributes
        .iter()
        .map(|attribute| {
            let column = table.column(attribute.name()).expect("an attribute is bound to a column");
            let values = column.dictionary().values().enumerate();
            Hierarchy {
                levels: (0..=usize::from(attribute.height())).collect(),
                paths: values.map(|(code, value)| (value.to_owned(), path(attribute, code))).collect(),
            }
        })
        .collect()
}
