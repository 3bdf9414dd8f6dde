//! What number or day does a text stand for?
//!
//! Numbers are exact decimals of any length ([`Decimal`]), days are days of the calendar ([`Date`]). How a column writes them, with a
//! decimal comma or the day first, is its [`Notation`]. No float takes part.

mod date;
mod date_format;
mod decimal;
mod integer;
mod notation;

pub use date::Date;
pub use date_format::DateFormat;
pub use decimal::{Decimal, MOST_DIGITS};
pub use notation::Notation;
