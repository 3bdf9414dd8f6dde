//! What type does a column have in the file?

use std::fmt;

use arrow_schema::{DataType, TimeUnit};

use crate::TextLayout;

/// The type of a column, to be kept until the column is written again.
///
/// How a file encodes values is no part of it: a dictionary of strings counts as strings. Of record batches in memory it is: there a
/// dictionary is what programs call categories ([`is_dictionary`](Self::is_dictionary)).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnType {
    data_type: DataType,
    is_dictionary: bool,
}

impl ColumnType {
    /// The type, if its values can be read and written as text.
    pub(crate) fn of(data_type: &DataType) -> Option<Self> {
        use DataType::*;
        let data_type = match data_type {
            Dictionary(_, values) => values,
            plain => plain,
        };
        let is_supported = matches!(
            data_type,
            Null | Boolean
                | Int8
                | Int16
                | Int32
                | Int64
                | UInt8
                | UInt16
                | UInt32
                | UInt64
                | Float16
                | Float32
                | Float64
                | Utf8
                | LargeUtf8
                | Utf8View
                | Decimal32(..)
                | Decimal64(..)
                | Decimal128(..)
                | Decimal256(..)
                | Date32
                | Date64
                | Time32(_)
                | Time64(_)
                | Timestamp(..)
        );
        is_supported.then(|| ColumnType::plain(data_type.clone()))
    }

    /// The same of a column of record batches, which is written as a dictionary again if it was one of text.
    pub(crate) fn of_batches(data_type: &DataType) -> Option<Self> {
        let mut of = ColumnType::of(data_type)?;
        of.is_dictionary = matches!(data_type, DataType::Dictionary(..)) && of.is_text();
        Some(of)
    }

    fn plain(data_type: DataType) -> Self {
        ColumnType { data_type, is_dictionary: false }
    }

    /// Truth values.
    pub fn boolean() -> Self {
        ColumnType::plain(DataType::Boolean)
    }

    /// Whole numbers of 64 bits.
    pub fn int64() -> Self {
        ColumnType::plain(DataType::Int64)
    }

    /// Floats of 64 bits.
    pub fn float64() -> Self {
        ColumnType::plain(DataType::Float64)
    }

    /// Days.
    pub fn date() -> Self {
        ColumnType::plain(DataType::Date32)
    }

    /// Points in time of no zone, to the microsecond.
    pub fn timestamp() -> Self {
        ColumnType::plain(DataType::Timestamp(TimeUnit::Microsecond, None))
    }

    pub(crate) fn data_type(&self) -> &DataType {
        &self.data_type
    }

    /// How its texts were laid out in memory.
    pub fn text_layout(&self) -> TextLayout {
        match &self.data_type {
            _ if self.is_dictionary => TextLayout::Dictionary,
            DataType::Utf8View => TextLayout::Views,
            _ => TextLayout::Plain,
        }
    }

    /// Was it a dictionary of text in memory?
    pub fn is_dictionary(&self) -> bool {
        self.is_dictionary
    }

    /// Is it text?
    pub fn is_text(&self) -> bool {
        matches!(self.data_type, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
    }

    /// Is it truth values?
    pub fn is_boolean(&self) -> bool {
        self.data_type == DataType::Boolean
    }

    /// Is it numbers?
    pub fn is_number(&self) -> bool {
        self.data_type.is_numeric()
    }

    /// Is it days?
    pub fn is_date(&self) -> bool {
        matches!(self.data_type, DataType::Date32 | DataType::Date64)
    }
}

impl fmt::Display for ColumnType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.data_type.fmt(f)
    }
}
