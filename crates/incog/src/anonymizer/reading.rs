//! How the data are written, by calls: the keys of `[input]`.
//!
//! What is said of all columns can be said of one by [`Anonymizer::reading`].

use crate::anonymizer::Anonymizer;
use crate::job::{ColumnJob, FileFormat, Input};
use incog_core::Error;

impl Anonymizer {
    fn input_job(mut self, change: impl FnOnce(&mut Input)) -> Self {
        if let Some(job) = self.table("how data are written") {
            change(&mut job.input);
        }
        self
    }

    /// The format of the files, if their names do not say it.
    pub fn format(self, format: FileFormat) -> Self {
        self.input_job(|input| input.format = Some(format))
    }

    /// What separates the fields of text; found out unless given.
    pub fn delimiter(self, delimiter: char) -> Self {
        self.input_job(|input| input.delimiter = Some(delimiter))
    }

    /// What text is written in, if not in UTF-8 or UTF-16: `"windows-1252"`.
    pub fn encoding(self, name: impl Into<String>) -> Self {
        self.input_job(|input| input.encoding = Some(name.into()))
    }

    /// What fields are quoted by: one character, or `""` for none.
    pub fn quote(self, quote: impl Into<String>) -> Self {
        self.input_job(|input| input.quote = Some(quote.into()))
    }

    /// Lines that start with this character are no rows.
    pub fn comment(self, comment: char) -> Self {
        self.input_job(|input| input.comment = Some(comment))
    }

    /// Passes over this number of lines, or rows of a sheet, in front of the table.
    pub fn skip_rows(self, n_rows: u64) -> Self {
        self.input_job(|input| input.skip_rows = Some(n_rows))
    }

    /// The data have no header; these are the names of all columns.
    pub fn names<N: Into<String>>(self, names: impl IntoIterator<Item = N>) -> Self {
        let names = names.into_iter().map(Into::into).collect();
        self.input_job(|input| (input.header, input.names) = (Some(false), Some(names)))
    }

    /// The sheet of a workbook; the first unless given.
    pub fn sheet(self, name: impl Into<String>) -> Self {
        self.input_job(|input| input.sheet = Some(name.into()))
    }

    /// The cells of the sheet that are the table, header included: `"B3:F200"`.
    pub fn range(self, range: impl Into<String>) -> Self {
        self.input_job(|input| input.range = Some(range.into()))
    }

    /// The decimal mark of numbers in text, `.` unless given.
    pub fn decimal(self, mark: char) -> Self {
        self.input_job(|input| input.decimal = Some(mark))
    }

    /// What separates thousands of numbers in text; nothing unless given.
    pub fn thousands(self, mark: char) -> Self {
        self.input_job(|input| input.thousands = Some(mark))
    }

    /// Texts that stand for a missing value, beside the empty cell. A missing value is released as the first.
    ///
    /// ```
    /// use incog::{Anonymizer, Hierarchy};
    ///
    /// let table = [("age", vec!["34", "NA", "36", "-9"])];
    /// let release = Anonymizer::new(table)
    ///     .missing(["NA", "-9"])
    ///     .quasi_identifier("age", Hierarchy::intervals([5, 10]).levels([1, 2]))
    ///     .k(1)
    ///     .keep_order()
    ///     .anonymize()?;
    /// let ages = release.column("age").unwrap();
    /// assert_eq!(ages[1], Some("(missing)"));
    /// # Ok::<(), incog::Error>(())
    /// ```
    pub fn missing<M: Into<String>>(self, markers: impl IntoIterator<Item = M>) -> Self {
        let markers = markers.into_iter().map(Into::into).collect();
        self.input_job(|input| input.missing = Some(markers))
    }

    /// How dates are written in text: `"%d.%m.%Y"`. Found out where there is no doubt.
    pub fn date_format(self, format: impl Into<String>) -> Self {
        self.input_job(|input| input.date_format = Some(format.into()))
    }

    /// Says of one declared column how its cells are written: `decimal`, `thousands`, `missing`, `date_format`.
    pub fn reading(mut self, column: &str, change: impl FnOnce(&mut ColumnJob)) -> Self {
        let Some(job) = self.table("how a column is written") else {
            return self;
        };
        match job.columns.get_mut(column) {
            Some(column) => change(column),
            None => {
                let mistake = format!("it is said how `{column}` is written, which is not declared");
                self.mistakes.push(Error::input(mistake).with_hint("declare the column first"));
            }
        }
        self
    }
}
