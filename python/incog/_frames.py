"""Frames of many kinds: in by the Arrow PyCapsule interface, and out as the same kind.

======================  ==========================================================  =========================
what                    goes in as                                                  comes out as
======================  ==========================================================  =========================
pandas                  Arrow arrays; NaN, NaT, None are missing; index dropped     pandas, column types kept
polars                  its own stream; a LazyFrame is collected                    polars (lazy if it was)
pyarrow                 its own stream                                              Table, RecordBatch, reader
DuckDB                  its own stream                                              a relation
Ibis                    its own stream                                              a table in memory
anything else           ``__arrow_c_stream__`` or ``__arrow_c_array__``             pyarrow.Table, or a stream
a path, a dataset       the way of the command line, which can be larger than RAM   pyarrow.Table, or a stream
======================  ==========================================================  =========================
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .errors import InputError


class IndexDropped(UserWarning):
    """The index of a pandas frame is not released: it may say whose a row is."""


@dataclass
class Table:
    """A table as the engine takes it: a frame, or paths."""

    #: What has ``__arrow_c_stream__`` or ``__arrow_c_array__``, or a list of such pieces; ``None`` if the table is in files.
    frame: Any
    #: Files and folders that together are one table.
    paths: list[str]
    #: Makes a stream of record batches a frame of the same kind.
    back: Callable[[Any], Any]


def _library(value: Any) -> str:
    return type(value).__module__.partition(".")[0]


def table(data: Any) -> Table:
    """Takes whatever somebody has."""
    if isinstance(data, (str, os.PathLike)):
        return Table(None, [os.fspath(data)], plain)
    if isinstance(data, (list, tuple)) and data and all(isinstance(path, (str, os.PathLike)) for path in data):
        return Table(None, [os.fspath(path) for path in data], plain)
    library = _library(data)
    if library == "pandas":
        return _pandas(data)
    if library == "polars":
        return _polars(data)
    if library == "pyarrow":
        return _pyarrow(data)
    if library in ("duckdb", "_duckdb") and hasattr(data, "__arrow_c_stream__"):
        return _duckdb(data)
    if library == "ibis" and hasattr(data, "__arrow_c_stream__"):
        return Table(data, [], _to_ibis)
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
        return Table(data, [], plain)
    raise InputError(
        f"a {type(data).__name__} is no table",
        "give a frame of pandas, polars, pyarrow or DuckDB, a path, or anything with __arrow_c_stream__",
    )


def plain(stream: Any) -> Any:
    """A pyarrow table where there is pyarrow; otherwise a stream that any Arrow library takes."""
    try:
        import pyarrow
    except ImportError:
        return stream
    return pyarrow.table(stream)


def named(columns: dict[str, list[Any]]) -> Any:
    """A small frame of results: pandas, polars or pyarrow, whichever is there, else a dict."""
    for library in ("pandas", "polars"):
        try:
            module = __import__(library)
        except ImportError:
            continue
        return module.DataFrame(columns)
    try:
        import pyarrow
    except ImportError:
        return columns
    return pyarrow.table(columns)


def like(data: Any, columns: dict[str, list[Any]]) -> Any:
    """A small frame of results, of the kind of the data that they are about."""
    library = _library(data)
    if library == "polars":
        import polars

        return polars.DataFrame(columns, strict=False)
    if library == "pandas":
        import pandas

        return pandas.DataFrame(columns)
    if library in ("pyarrow", "duckdb", "_duckdb", "ibis"):
        import pyarrow

        made = pyarrow.table(columns)
        return _to_duckdb(made) if "duckdb" in library else _to_ibis(made) if library == "ibis" else made
    return named(columns)


def _pyarrow(data: Any) -> Table:
    import pyarrow

    kind = type(data).__name__
    if hasattr(data, "scanner") and not isinstance(data, pyarrow.Table):
        files = getattr(data, "files", None)
        if files and all(os.path.exists(path) for path in files):
            return Table(None, list(files), plain)
        return Table(data.scanner().to_reader(), [], plain)
    if kind == "RecordBatchReader":
        return Table(data, [], lambda stream: pyarrow.table(stream).to_reader())
    if kind == "RecordBatch":
        return Table(data, [], _to_batch)
    if not isinstance(data, pyarrow.Table):
        raise InputError(f"a {kind} of pyarrow is no table", "give a Table, a RecordBatch, a reader or a dataset")
    return Table(data, [], lambda stream: pyarrow.table(stream))


def _to_batch(stream: Any) -> Any:
    import pyarrow

    whole = pyarrow.table(stream).combine_chunks()
    batches = whole.to_batches()
    return batches[0] if batches else pyarrow.RecordBatch.from_pylist([], schema=whole.schema)


def _polars(data: Any) -> Table:
    import polars

    if isinstance(data, polars.LazyFrame):
        try:
            collected = data.collect()
        except Exception:
            # What polars says may repeat a cell.
            raise InputError("the lazy frame ends in an error of polars", "collect it by itself, which will show the error") from None
        return Table(_polars(collected).frame, [], lambda stream: polars.DataFrame(stream).lazy())
    if not isinstance(data, polars.DataFrame):
        raise InputError(f"a {type(data).__name__} of polars is no table", "give a DataFrame")
    # Some versions of polars end the process when they are asked for the stream of such a column.
    for name, dtype in data.schema.items():
        if dtype == polars.Object:
            raise InputError(f"column `{name}` has the type Object, which Arrow does not have", "drop it, or convert it to text")
    return Table(_pieces(polars, data), [], lambda stream: polars.DataFrame(stream))


#: A frame in more pieces than this is handed over in one, which polars puts together.
_MOST_PIECES = 4096


def _pieces(polars: Any, data: Any) -> Any:
    """The frame, or a list of its pieces: asked for one stream of a frame in pieces, polars would copy it into one piece first."""
    ends: set[int] = set()
    for column in data.get_columns():
        end = 0
        for length in column.chunk_lengths():
            end += length
            ends.add(end)
    # Each piece would hand over the categories of the whole.
    categories = any(isinstance(dtype, (polars.Categorical, polars.Enum)) for dtype in data.dtypes)
    if categories or not 1 < len(ends) <= _MOST_PIECES:
        return data
    starts = [0, *sorted(ends)]
    return [data.slice(start, end - start) for start, end in zip(starts, starts[1:]) if end > start]


def _duckdb(data: Any) -> Table:
    try:
        import pyarrow
    except ImportError:
        raise InputError("a relation of DuckDB comes out by pyarrow, which is not installed", "pip install pyarrow") from None
    try:
        # A connection has one stream at a time, and a question may be about several relations.
        return Table(pyarrow.table(data), [], _to_duckdb)
    except Exception:
        # What DuckDB says may repeat a cell.
        raise InputError("the relation ends in an error of DuckDB", "run it by itself, which will show the error") from None


def _to_duckdb(stream: Any) -> Any:
    import duckdb
    import pyarrow

    return duckdb.from_arrow(pyarrow.table(stream))


def _to_ibis(stream: Any) -> Any:
    import ibis
    import pyarrow

    return ibis.memtable(pyarrow.table(stream))


def _pandas(data: Any) -> Table:
    import pandas

    try:
        import pyarrow
    except ImportError:
        raise InputError("a frame of pandas is handed over by pyarrow, which is not installed", "pip install pyarrow") from None
    if not isinstance(data, pandas.DataFrame):
        raise InputError(f"a {type(data).__name__} of pandas is no table", "give a DataFrame")
    names = list(data.columns)
    if not all(isinstance(name, str) for name in names):
        raise InputError("a column of the frame has a name that is no text", "rename it: frame.columns = [...]")
    if len(set(names)) != len(names):
        twice = next(at for at, name in enumerate(names) if name in names[:at])
        raise InputError(f"columns {names.index(names[twice]) + 1} and {twice + 1} have the same name", "rename one of them")
    if not _is_default(data.index):
        warnings.warn(
            "the index of the frame is not released: it may say whose a row is (reset_index() makes it a column)",
            IndexDropped,
            stacklevel=4,
        )
    arrays = [_array(pyarrow, name, data[name]) for name in names]
    types = dict(zip(names, data.dtypes, strict=True))
    return Table(pyarrow.table(arrays, names=names), [], lambda stream: _to_pandas(stream, types))


def _is_default(index: Any) -> bool:
    """Is it the numbers of the rows, or of some of them, under no name?"""
    return index.nlevels == 1 and index.name is None and index.dtype.kind in "iu"


def _array(pyarrow: Any, name: str, column: Any) -> Any:
    try:
        return pyarrow.array(column, from_pandas=True)
    except Exception:
        # What pyarrow says repeats a cell.
        raise InputError(
            f"column `{name}` has values of several types, or of one that Arrow does not have",
            f'convert it: frame["{name}"].astype(str) for text, or drop it',
        ) from None


def _to_pandas(stream: Any, types: dict[str, Any]) -> Any:
    import pandas
    import pyarrow

    whole = pyarrow.table(stream)
    columns = {name: _column(pandas, pyarrow, whole[name], types.get(name)) for name in whole.column_names}
    made = pandas.DataFrame(columns, columns=whole.column_names)
    return made if whole.column_names else made.reindex(range(whole.num_rows))


def _column(pandas: Any, pyarrow: Any, column: Any, dtype: Any) -> Any:
    """A released column with the type that it came with, if it is still of that kind."""
    is_view = getattr(pyarrow.types, "is_string_view", lambda of: False)
    is_text = pyarrow.types.is_string(column.type) or pyarrow.types.is_large_string(column.type) or is_view(column.type)
    was_text = isinstance(dtype, pandas.StringDtype) or str(dtype) in ("object", "string[pyarrow]", "large_string[pyarrow]")
    if isinstance(dtype, pandas.CategoricalDtype):
        return column.to_pandas()
    if is_text and not was_text:
        # Generalized: text, whatever it was.
        return column.to_pandas()
    if hasattr(dtype, "__from_arrow__"):
        return pandas.Series(dtype.__from_arrow__(column))
    series = column.to_pandas()
    if str(dtype) == "object":
        return series.astype(object).where(series.notna(), None)
    return series
