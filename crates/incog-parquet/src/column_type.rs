//! What type does a column have in the file?

use std::fmt;

use arrow_schema::{DataType, TimeUnit};

/// The type of a column, to be kept until the column is written again.
///
/// How the file encodes values is no part of it: a dictionary of strings counts as strings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnType {
    data_type: DataType,
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
        is_supported.then(|| ColumnType { data_type: data_type.clone() })
    }

    /// Truth values.
    pub fn boolean() -> Self {
        ColumnType { data_type: DataType::Boolean }
    }

    /// Whole numbers of 64 bits.
    pub fn int64() -> Self {
        ColumnType { data_type: DataType::Int64 }
    }

    /// Floats of 64 bits.
    pub fn float64() -> Self {
        ColumnType { data_type: DataType::Float64 }
    }

    /// Days.
    pub fn date() -> Self {
        ColumnType { data_type: DataType::Date32 }
    }

    /// Points in time of no zone, to the microsecond.
    pub fn timestamp() -> Self {
        ColumnType { data_type: DataType::Timestamp(TimeUnit::Microsecond, None) }
    }

    pub(crate) fn data_type(&self) -> &DataType {
        &self.data_type
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
