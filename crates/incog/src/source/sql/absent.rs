//! A build without databases.

use incog_core::table::Column;
use incog_core::{Error, Progress, Result};

use crate::source::sql::SqlInput;
use crate::source::{Bindings, CellType, Engine};

/// There is no database.
pub(crate) fn place_of_url(_: &str) -> Option<String> {
    None
}

/// There is none.
#[derive(Debug)]
pub(crate) enum SqlTable {}

impl SqlTable {
    pub(crate) fn open(_: &SqlInput) -> Result<Self> {
        Err(Error::input("this incog was built without PostgreSQL")
            .with_hint("build it with the feature `postgres`, or export the table to a file"))
    }

    pub(crate) fn name(&self) -> &str {
        match *self {}
    }

    pub(crate) fn place(&self) -> &str {
        match *self {}
    }

    pub(crate) fn types(&self) -> Vec<CellType> {
        match *self {}
    }

    pub(crate) fn check_columns(&self, _: impl Fn(&str) -> bool) -> Result<()> {
        match *self {}
    }

    pub(crate) fn may_count(&self) -> bool {
        match *self {}
    }

    pub(crate) fn fetch(&self, _: &mut [Column], _: &Progress) -> Result<()> {
        match *self {}
    }
}

impl Engine for SqlTable {
    fn header(&self) -> Result<Vec<String>> {
        match *self {}
    }

    fn values(&self, _: &str) -> Result<Vec<(Option<String>, u64)>> {
        match *self {}
    }

    fn n_rows(&self) -> Result<u64> {
        match *self {}
    }

    fn rows_about_nobody(&self, _: &str) -> Result<u64> {
        match *self {}
    }

    fn source(&self, _: &Bindings<'_>) -> Result<Box<dyn incog_core::frequency::FrequencySource>> {
        match *self {}
    }
}
