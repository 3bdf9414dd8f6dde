//! Which table, and what are its columns?

use incog_core::{Error, Result};

/// What a table is read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum From {
    /// A table or a view, named as in SQL: `patients`, `clinic.patients`, `"Odd Name"`.
    Table(String),
    /// A query.
    Query(String),
}

/// A table, a view or a query, found in an engine.
#[derive(Debug, Clone)]
pub struct Relation {
    /// What stands behind `FROM`, without an alias.
    pub sql: String,
    /// What it is called in messages and records: the table's name, or "a query".
    pub shown: String,
    /// Its columns, in order.
    pub columns: Vec<SourceColumn>,
}

/// A column of a relation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceColumn {
    /// Its name.
    pub name: String,
    /// Its type, as the engine calls it.
    pub of_type: String,
    /// Is it text, whatever the texts look like?
    pub is_text: bool,
    /// Can its values be told apart and generalized? Not those of documents, lists and the like.
    pub can_group: bool,
}

impl SourceColumn {
    /// Fails where values cannot be told apart and generalized.
    pub fn check_groupable(&self) -> Result<()> {
        if self.can_group {
            return Ok(());
        }
        let (name, of_type) = (&self.name, &self.of_type);
        Err(Error::input(format!(
            "column `{name}` is of the type {of_type}, whose values cannot be told apart and generalized"
        ))
        .with_hint(
            "give it the role `other`, or read the table by a `query` that makes text or numbers of it",
        ))
    }
}

impl Relation {
    /// The relation with the alias that all statements use.
    pub fn from(&self) -> String {
        format!("{} AS q", self.sql)
    }

    /// A column by its name.
    pub fn column(&self, name: &str) -> Option<&SourceColumn> {
        self.columns.iter().find(|column| column.name == name)
    }
}
