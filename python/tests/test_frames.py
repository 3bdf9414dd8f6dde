"""Frames of many kinds: the same kind comes out, types are kept, nothing is copied on the way in."""

from __future__ import annotations

import datetime
import decimal
from typing import Any

import duckdb
import ibis
import incog
import numpy
import pandas
import polars
import pyarrow
import pyarrow.dataset
import pyarrow.parquet
import pytest
from conftest import KINDS, arrow_of, cells, frame_of
from incog import _incog

TABLE = pyarrow.table(
    {
        "zip": pyarrow.array(["53715", "53715", "53703", "53703", None, None]),
        "whole": pyarrow.array([1, -2, 3, None, 2**62, 0], pyarrow.int64()),
        "small": pyarrow.array([1, 2, 3, None, 5, 6], pyarrow.int8()),
        "float": pyarrow.array([0.1, -0.0, 1e300, None, 5.0, 6.5]),
        "yes": pyarrow.array([True, False, None, True, True, False]),
        "day": pyarrow.array([datetime.date(2003, 4, 17), None] * 3),
        "moment": pyarrow.array([datetime.datetime(2003, 4, 17, 12, 30), None] * 3, pyarrow.timestamp("us")),
        "money": pyarrow.array([decimal.Decimal("12.50"), None] * 3, pyarrow.decimal128(6, 2)),
        "ward": pyarrow.array(["a", "b", "a", None, "c", "a"]).dictionary_encode(),
    }
)


def released(frame: Any, **more: Any) -> Any:
    return incog.anonymize(frame, quasi_identifiers=["zip"], rest="other", k=2, order="input", **more)


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_kind_comes_out_with_the_same_cells(kind: str) -> None:
    frame = frame_of(kind, TABLE)
    back = released(frame).frame
    assert type(back) is type(frame)
    assert cells(back) == cells(frame)


def test_types_of_arrow_are_kept() -> None:
    back = released(TABLE).frame
    for field in TABLE.schema:
        of = back.schema.field(field.name).type
        if pyarrow.types.is_dictionary(field.type):
            assert pyarrow.types.is_dictionary(of)
            assert of.value_type == field.type.value_type
        else:
            assert of == field.type, field.name
    assert back["moment"].to_pylist() == TABLE["moment"].to_pylist()
    assert back["ward"].to_pylist() == TABLE["ward"].to_pylist()


def test_types_of_polars_are_kept() -> None:
    frame = polars.DataFrame(TABLE).with_columns(polars.col("ward").cast(polars.Categorical))
    back = released(frame).frame
    assert dict(back.schema) == dict(frame.schema)
    assert back.equals(frame)
    lazy = released(frame.lazy()).frame
    assert isinstance(lazy, polars.LazyFrame)
    assert lazy.collect().equals(frame)


def test_an_enum_of_polars_comes_out_with_released_values_alone() -> None:
    frame = polars.DataFrame(
        {"zip": ["1", "1", "2"], "grade": polars.Series(["a", "b", "b"], dtype=polars.Enum(["a", "b", "secret"]))}
    )
    back = incog.anonymize(frame, quasi_identifiers=["zip"], rest="other", k=2, suppression=1, order="input").frame
    assert back["grade"].to_list() == ["a", "b"]
    assert "secret" not in str(back["grade"].dtype)


def test_types_of_pandas_are_kept() -> None:
    frame = pandas.DataFrame(
        {
            "zip": ["53715", "53715", "53703", "53703"],
            "int": numpy.array([1, 2, 3, 4], "int32"),
            "nullable": pandas.array([1, None, 3, 4], "Int64"),
            "float": [0.5, float("nan"), 1.5, 2.5],
            "flag": pandas.array([True, None, False, True], "boolean"),
            "bool": [True, False, True, True],
            "when": pandas.to_datetime(["2003-04-17", None, "2003-04-18", "2003-04-19"]),
            "word": pandas.array(["a", None, "b", "c"], "string"),
            "arrow": pandas.array([1, 2, None, 4], pandas.ArrowDtype(pyarrow.int16())),
            "object": pandas.Series(["x", "y", None, "z"], dtype="object"),
            "category": pandas.Categorical(["u", "v", "u", None]),
        }
    )
    back = released(frame).frame
    assert isinstance(back, pandas.DataFrame)
    for name in frame.columns:
        if name == "category":
            assert isinstance(back[name].dtype, pandas.CategoricalDtype)
        else:
            assert back[name].dtype == frame[name].dtype, name
        assert list(back[name].isna()) == list(frame[name].isna()), name
    pandas.testing.assert_frame_equal(back, frame, check_categorical=False, check_dtype=False)


def test_a_generalized_number_is_text_in_every_kind() -> None:
    table = pyarrow.table({"age": [31, 32, 41, 42]})
    for kind in KINDS:
        frame = frame_of(kind, table)
        back = incog.anonymize(frame, quasi_identifiers={"age": incog.intervals(10)}, k=2, order="input").frame
        assert [row[0] for row in cells(back)] == ["[30, 40)", "[30, 40)", "[40, 50)", "[40, 50)"], kind


def test_a_generalized_category_is_a_category_of_released_labels() -> None:
    frame = polars.DataFrame({"zip": polars.Series(["53715", "53715", "53703", "53706"], dtype=polars.Categorical)})
    back = incog.anonymize(frame, quasi_identifiers={"zip": incog.mask("right")}, k=2, order="input").frame
    assert back["zip"].dtype == polars.Categorical
    assert sorted(pyarrow.table(back)["zip"].chunk(0).dictionary.to_pylist()) == ["5370*", "5371*"]


def test_missing_values_and_empty_texts_are_told_apart() -> None:
    table = pyarrow.table({"zip": ["1"] * 4, "note": ["", None, "x", ""]})
    assert released(table).frame["note"].to_pylist() == ["", None, "x", ""]


def test_nan_is_missing_in_pandas_and_an_error_elsewhere() -> None:
    numbers = [1.0, float("nan"), 2.0, 3.0]
    frame = pandas.DataFrame({"zip": ["1"] * 4, "x": numbers})
    assert list(released(frame).frame["x"].isna()) == [False, True, False, False]
    for other in (polars.DataFrame({"zip": ["1"] * 4, "x": numbers}), pyarrow.table({"zip": ["1"] * 4, "x": numbers})):
        with pytest.raises(incog.InputError, match="column `x` is NaN in 1 row") as raised:
            released(other)
        assert raised.value.hint is not None and "nan=" in raised.value.hint
        assert arrow_of(released(other, nan="missing").frame)["x"].to_pylist() == [1.0, None, 2.0, 3.0]


def test_the_index_of_pandas_is_dropped_with_a_word() -> None:
    frame = pandas.DataFrame({"zip": ["1", "1"]}, index=["Ada", "Bo"])
    with pytest.warns(incog.IndexDropped, match="not released"):
        back = released(frame).frame
    assert list(back.index) == [0, 1]
    assert list(back.columns) == ["zip"]


def test_numbers_are_read_where_they_are() -> None:
    n = 1000
    table = pyarrow.table({"i": numpy.arange(n), "f": numpy.arange(n) * 0.5, "s": [str(i) for i in range(n)]})
    addresses = {name: found for name, found in _incog.addresses(table)}
    for name in ("i", "f"):
        assert addresses[name] == [table[name].chunk(0).buffers()[1].address], name
    offsets, texts = (buffer.address for buffer in table["s"].chunk(0).buffers()[1:])
    assert addresses["s"] == [offsets, texts]


def test_polars_pandas_and_duckdb_are_read_where_they_are() -> None:
    numbers = numpy.arange(1000)
    frame = polars.DataFrame({"i": numbers, "s": [f"a long text of its own {i}" for i in range(1000)]})
    addresses = {name: found for name, found in _incog.addresses(frame)}
    expected = frame["i"].to_arrow().buffers()[1].address
    assert addresses["i"] == [expected]
    categories = polars.DataFrame({"c": polars.Series(["u", "v"] * 500, dtype=polars.Categorical)})
    exported = pyarrow.table(categories)["c"].chunk(0).indices.buffers()[1].address
    assert dict(_incog.addresses(categories))["c"] == [exported], "dictionaries are used as they are"
    encoded = pyarrow.table({"c": pyarrow.array(["u", "v"] * 500).dictionary_encode()})
    assert dict(_incog.addresses(encoded))["c"] == [encoded["c"].chunk(0).indices.buffers()[1].address]

    pandas_frame = pandas.DataFrame({"i": numbers})
    taken = incog._frames.table(pandas_frame).frame
    assert taken["i"].chunk(0).buffers()[1].address == pandas_frame["i"].to_numpy().ctypes.data


def test_a_frame_of_polars_in_pieces_is_read_in_pieces() -> None:
    parts = [polars.DataFrame({"zip": ["1"] * n, "i": range(start, start + n)}) for start, n in ((0, 5), (5, 7), (12, 1))]
    frame = polars.concat(parts, rechunk=False)
    # Columns that are cut in other places.
    whole = frame.get_column("i").rechunk()
    for given in (frame, frame.with_columns(polars.Series("j", whole))):
        before = given.n_chunks("all")
        taken = incog._frames.table(given).frame
        assert [piece.height for piece in taken] == [5, 7, 1]
        addresses = [address for name, found in _incog.addresses(taken) if name == "i" for address in found]
        assert addresses == [part["i"].to_arrow().buffers()[1].address for part in parts]
        assert released(given).frame["i"].to_list() == list(range(13))
        assert given.n_chunks("all") == before, "the frame stays as it is"
    assert incog._frames.table(polars.concat([parts[0], parts[0].clear()], rechunk=False)).frame is not None


def test_what_is_released_shares_no_buffer_with_the_data() -> None:
    table = pyarrow.table({"zip": ["1", "1", "2"], "i": [7, 8, 9]})
    back = incog.anonymize(table, quasi_identifiers=["zip"], others=["i"], k=2, suppression=1, order="input").frame
    assert back["i"].to_pylist() == [7, 8]
    mine = {buffer.address for chunk in table["i"].chunks for buffer in chunk.buffers() if buffer}
    theirs = {buffer.address for chunk in back["i"].chunks for buffer in chunk.buffers() if buffer}
    assert not mine & theirs
    assert sum(buffer.size for chunk in back["i"].chunks for buffer in chunk.buffers() if buffer) < 3 * 64


@pytest.mark.parametrize("kept", [True, False])
def test_no_buffer_of_a_release_has_what_was_suppressed(kept: bool) -> None:
    left_out = "Beth Secret, whom nobody looks like, and who is left out"
    texts = ["a text that is long enough for a buffer of its own"] * 2 + [left_out]
    columns: dict[str, Any] = {
        "string": pyarrow.array(texts),
        "large": pyarrow.array(texts, pyarrow.large_string()),
        "view": pyarrow.array(texts, pyarrow.string_view()),
        "dictionary": pyarrow.array(texts).dictionary_encode(),
        "views of a dictionary": pyarrow.DictionaryArray.from_arrays(
            pyarrow.array([0, 0, 1], pyarrow.uint32()), pyarrow.array(texts[1:], pyarrow.string_view())
        ),
    }
    table = pyarrow.table({"zip": ["1", "1", "2"], **columns})
    quasi: Any = ["zip"] if kept else {"zip": None, **{name: incog.mask(length=80, levels=[0, 1]) for name in columns}}
    back = incog.anonymize(table, quasi_identifiers=quasi, rest="other", k=2, suppression=1, order="input").frame
    for name in columns:
        arrays = [array for chunk in back[name].chunks for array in (chunk, getattr(chunk, "dictionary", chunk))]
        assert back[name].to_pylist() == [texts[0], texts[0]]
        whole = b"".join(buffer.to_pybytes() for array in arrays for buffer in array.buffers() if buffer)
        assert b"Secret" not in whole, name


def test_texts_that_came_as_views_are_views_again() -> None:
    table = pyarrow.table(
        {
            "zip": pyarrow.array(["53715", "53711", "53703", None, "53706", None], pyarrow.string_view()),
            "note": pyarrow.array(["a", None, "", "b", "a note of more than twelve bytes", "a"], pyarrow.string_view()),
        }
    )
    policy: dict[str, Any] = {"quasi_identifiers": {"zip": incog.mask("right")}, "rest": "other", "k": 2, "order": "input"}
    back = incog.anonymize(table, **policy).frame
    assert {str(field.type) for field in back.schema} == {"string_view"}
    assert back["note"].to_pylist() == table["note"].to_pylist()
    plain = incog.anonymize(table.cast(pyarrow.schema([("zip", pyarrow.string()), ("note", pyarrow.string())])), **policy).frame
    assert back["zip"].to_pylist() == plain["zip"].to_pylist()


def test_released_rows_are_handed_to_every_library_where_they_are() -> None:
    table = pyarrow.table({"zip": ["1", "1"], "i": [7, 8], "s": ["a", "b"]})
    release = incog.anonymize(table, quasi_identifiers=["zip"], others=["i", "s"], k=2, order="input")

    def addresses(frame: Any) -> list[list[int]]:
        columns = [frame[name].chunk(0).buffers() for name in ("i", "s")]
        return [[buffer.address for buffer in column if buffer] for column in columns]

    mine = addresses(release.frame)
    assert addresses(pyarrow.table(release)) == mine
    assert [polars.DataFrame(release)["i"].to_arrow().buffers()[1].address] == mine[0]
    assert release.frame["i"].to_numpy().ctypes.data == mine[0][0]


def test_a_release_stays_as_it_was_verified_when_the_data_change() -> None:
    numbers = numpy.array([7, 8, 9, 7])
    frame = pandas.DataFrame({"zip": ["1"] * 4, "i": numbers}, copy=False)
    release = incog.anonymize(frame, quasi_identifiers=["zip"], others=["i"], k=2, order="input")
    frame.loc[0, "i"] = numbers[1] = 1_000_000
    assert list(release.frame["i"]) == [7, 8, 9, 7]


def test_readers_batches_datasets_and_anything_with_a_stream_go_in(tmp_path: Any) -> None:
    expected = cells(released(TABLE).frame)
    reader = released(TABLE.to_reader()).frame
    assert isinstance(reader, pyarrow.RecordBatchReader)
    assert cells(reader.read_all()) == expected
    batch = released(TABLE.combine_chunks().to_batches()[0]).frame
    assert isinstance(batch, pyarrow.RecordBatch)
    assert cells(pyarrow.table(batch)) == expected

    class Stream:
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            return TABLE.__arrow_c_stream__(requested_schema)

    assert cells(released(Stream()).frame) == expected
    pyarrow.parquet.write_table(TABLE, tmp_path / "data.parquet")
    dataset = pyarrow.dataset.dataset(tmp_path / "data.parquet")
    assert cells(released(dataset).frame) == expected
    assert cells(released(tmp_path / "data.parquet", memory="64 MB").frame) == expected
    assert cells(released(str(tmp_path / "data.parquet")).frame) == expected
    relation = duckdb.sql(f"select * from '{tmp_path}/data.parquet' where zip is not null")
    assert isinstance(released(relation).frame, duckdb.DuckDBPyRelation)


def test_a_table_of_ibis_goes_in_and_comes_out() -> None:
    back = released(ibis.memtable(TABLE.select(["zip", "whole", "yes", "day"]))).frame
    assert isinstance(back, ibis.Table)
    assert cells(back.to_pyarrow()) == cells(TABLE.select(["zip", "whole", "yes", "day"]))


def test_a_release_is_a_stream_for_everybody() -> None:
    release = released(TABLE)
    assert polars.DataFrame(release).height == len(release) == 6
    assert pyarrow.table(release).num_rows == 6
    assert pyarrow.table(release).equals(pyarrow.table(release)), "as often as somebody likes"


def test_many_batches_are_one_table() -> None:
    parts = pyarrow.concat_tables([TABLE.slice(0, 2), TABLE.slice(2, 1), TABLE.slice(3)])
    assert parts["zip"].num_chunks == 3
    assert cells(released(parts).frame) == cells(TABLE)
