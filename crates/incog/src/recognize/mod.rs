//! What may a column be, by its name and its values?
//!
//! Counts exactly, proposes carefully, shows no cell. [`profile`] counts, with what values are by their form (`content`) and how they are spread
//! (`spread`); [`propose`] says what each column may be and become (`hierarchy`), with what names mean (`words`), `preset` what a preset asks of it; [`exposure`] finds the columns that single people out; `header` tells
//! whether the first line of a file names its columns.

mod content;
mod hierarchy;
pub(crate) mod header;
pub mod exposure;
pub mod profile;
pub mod propose;
pub(crate) mod preset;
mod spread;
pub(crate) mod values;
pub(crate) mod words;
