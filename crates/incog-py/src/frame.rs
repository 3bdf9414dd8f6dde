//! Which rows does Python hand over, and how are rows handed back?
//!
//! In both directions by the Arrow PyCapsule interface. On the way in no buffer is copied: the arrays are those of the frame, and are read
//! where they are ([`addresses`] shows it). On the way out buffers are fresh, always: those of the frame have the rows that were
//! suppressed, texts that no row has any more, and whatever lies beneath a null.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float16Type, Float32Type, Float64Type};
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, PrimitiveArray, RecordBatch, RecordBatchReader, StructArray,
};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use arrow_schema::{ArrowError, DataType, Field, SchemaRef};
use incog::{Error, Input, Progress, Result};
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyList};
use pyo3_arrow::ffi::{ArrayIterator, to_stream_pycapsule};
use pyo3_arrow::input::AnyRecordBatch;

use crate::failure;

/// What is done about floats that are no numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotANumber {
    /// They are an error: nobody knows whether they are missing values.
    Refuse,
    /// They are missing values.
    Missing,
}

/// A frame that is to be read: in one piece, or in several that follow each other.
pub(crate) struct Frame {
    readers: Vec<Box<dyn RecordBatchReader + Send>>,
    not_a_number: NotANumber,
}

impl Frame {
    /// Takes the stream of a frame, or those of a list of its pieces; nothing is read yet.
    pub(crate) fn new(frame: &Bound<'_, PyAny>, not_a_number: NotANumber) -> PyResult<Self> {
        let reader = |piece: &Bound<'_, PyAny>| {
            let any: AnyRecordBatch = piece.extract().map_err(|error| refused(piece, error))?;
            any.into_reader().map_err(|error| refused(piece, error))
        };
        let readers = match frame.cast::<PyList>() {
            Ok(pieces) => pieces.iter().map(|piece| reader(&piece)).collect::<PyResult<_>>()?,
            Err(_) => vec![reader(frame)?],
        };
        Ok(Frame { readers, not_a_number })
    }

    /// All its batches.
    fn batches(self, progress: &Progress) -> Result<Vec<RecordBatch>> {
        let schema = self.readers.first().map(|reader| reader.schema());
        let mut batches = Vec::new();
        for batch in self.readers.into_iter().flatten() {
            progress.check()?;
            // What the other library says may repeat a cell.
            let batch = batch.map_err(|_| {
                Error::input("the frame ends in an error of the library that it comes from")
                    .with_hint("load it into memory first, which will show the error")
            })?;
            batches.push(numbers(&batch, self.not_a_number)?);
        }
        if let (true, Some(schema)) = (batches.is_empty(), schema) {
            batches.push(RecordBatch::new_empty(schema));
        }
        Ok(batches)
    }

    /// As the library takes it.
    pub(crate) fn input(self, progress: &Progress) -> Result<Input> {
        Ok(Input::record_batches(&self.batches(progress)?))
    }
}

/// What to say of something that gives no table. What its library says may repeat a cell.
fn refused(frame: &Bound<'_, PyAny>, error: PyErr) -> PyErr {
    let py = frame.py();
    if !error.is_instance_of::<PyException>(py) {
        // Ctrl-C, while somebody else was at work.
        return error;
    }
    let is_arrow = |name| frame.hasattr(name).unwrap_or(false);
    if is_arrow("__arrow_c_stream__") || is_arrow("__arrow_c_array__") {
        return failure::input(
            py,
            "what was handed over is no table, or it ends in an error of the library that it comes from",
            "load it into memory first, which will show the error",
        );
    }
    failure::input(
        py,
        "what was handed over is no table",
        "give a frame of pandas, polars, pyarrow or DuckDB, or anything else with __arrow_c_stream__",
    )
}

/// The same batch without floats that are no numbers.
fn numbers(batch: &RecordBatch, not_a_number: NotANumber) -> Result<RecordBatch> {
    let schema = batch.schema();
    if !schema.fields().iter().any(|field| field.data_type().is_floating()) {
        return Ok(batch.clone());
    }
    let mut columns = Vec::with_capacity(batch.num_columns());
    for (field, column) in schema.fields().iter().zip(batch.columns()) {
        columns.push(match field.data_type() {
            DataType::Float16 => without::<Float16Type>(field, column, not_a_number, |value| value.is_nan()),
            DataType::Float32 => without::<Float32Type>(field, column, not_a_number, f32::is_nan),
            DataType::Float64 => without::<Float64Type>(field, column, not_a_number, f64::is_nan),
            _ => Ok(column.clone()),
        }?);
    }
    let fields: Vec<Field> =
        schema.fields().iter().map(|field| field.as_ref().clone().with_nullable(true)).collect();
    RecordBatch::try_new(Arc::new(arrow_schema::Schema::new(fields)), columns)
        .map_err(|_| Error::new(incog::ErrorKind::Internal, "a batch cannot be put together"))
}

fn without<T: ArrowPrimitiveType>(
    field: &Field,
    column: &ArrayRef,
    not_a_number: NotANumber,
    is_nan: impl Fn(T::Native) -> bool,
) -> Result<ArrayRef> {
    let array = column.as_primitive::<T>();
    let is_there = |at: usize| array.is_valid(at) && is_nan(array.value(at));
    let n_nan = (0..array.len()).filter(|&at| is_there(at)).count();
    if n_nan == 0 {
        return Ok(column.clone());
    }
    if not_a_number == NotANumber::Refuse {
        let (name, rows) = (field.name(), if n_nan == 1 { "row" } else { "rows" });
        return Err(Error::input(format!("column `{name}` is NaN in {n_nan} {rows}")).with_hint(
            "pass nan=\"missing\" if NaN means that nobody knows the value, or replace it beforehand",
        ));
    }
    let valid = BooleanBuffer::collect_bool(array.len(), |at| array.is_valid(at) && !is_nan(array.value(at)));
    Ok(Arc::new(PrimitiveArray::<T>::new(array.values().clone(), Some(NullBuffer::new(valid)))))
}

/// Record batches for Python: anything that takes Arrow streams takes it, as often as it likes.
#[pyclass(frozen)]
pub(crate) struct Stream {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

impl Stream {
    pub(crate) fn new(batches: Vec<RecordBatch>) -> Self {
        let schema =
            batches.first().map_or_else(|| Arc::new(arrow_schema::Schema::empty()), RecordBatch::schema);
        Stream { schema, batches }
    }
}

#[pymethods]
impl Stream {
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let field = Arc::new(Field::new_struct("", self.schema.fields().clone(), false));
        let arrays = self.batches.clone().into_iter();
        let arrays = arrays.map(|batch| Ok::<ArrayRef, ArrowError>(Arc::new(StructArray::from(batch))));
        Ok(to_stream_pycapsule(py, Box::new(ArrayIterator::new(arrays, field)), requested_schema)?)
    }

    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }
}

/// Where the buffers of a frame's columns are as they are read here, batch by batch: name and addresses.
#[pyfunction]
pub(crate) fn addresses(py: Python<'_>, frame: &Bound<'_, PyAny>) -> PyResult<Vec<(String, Vec<usize>)>> {
    let frame = Frame::new(frame, NotANumber::Missing)?;
    let batches = frame.batches(&Progress::new()).map_err(|error| failure::raised(py, &error))?;
    let of_batch = |batch: &RecordBatch| {
        let schema = batch.schema();
        let columns = schema.fields().iter().zip(batch.columns());
        let of = |column: &ArrayRef| {
            column.to_data().buffers().iter().map(|buffer| buffer.as_ptr() as usize).collect()
        };
        columns.map(|(field, column)| (field.name().clone(), of(column))).collect::<Vec<_>>()
    };
    Ok(batches.iter().flat_map(of_batch).collect())
}
