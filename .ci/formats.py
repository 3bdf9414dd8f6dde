#!/usr/bin/env python3
"""Do others read our releases as we mean them?

Releases every table of testdata/messy in each format that is written, has pandas, polars and DuckDB load it, and compares what they find with the
release that `make.py` wrote without incog: names, rows in order, every value, null where it is missing, and the type of every column. What type a
column must have is decided here, from the expected texts: numbers are numbers, dates are dates, and everything that was generalized is text.

Exit code 0: all agree. Otherwise the first line says which release, reader, column and row differ. No value of a cell is printed.
"""
import datetime
import math
import os
import shutil
import subprocess
import sys
import tomllib
from decimal import Decimal, InvalidOperation
from pathlib import Path

import duckdb
import pandas
import polars

PROJECT = Path(__file__).resolve().parent.parent
MESSY = PROJECT / "testdata" / "messy"
TARGET = PROJECT / "target" / "oracles" / "formats"
INCOG = Path(os.environ.get("INCOG", PROJECT / "target" / "debug" / "incog"))
GENERALIZED = {"birth", "weight", "zip"}
# Cases whose columns of dates or numbers are written as some country does, and what is meant.
DECIMAL_COMMA = ("decimal-comma", "excel-csv-utf-8", "thousands-by-points", "thousands-by-spaces")


class Disagreement(Exception):
    pass


def release(case, ending):
    folder = TARGET / case["name"]
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(MESSY / "files" / case["file"], folder / case["file"])
    shutil.copy(MESSY / "sex.csv", folder / "sex.csv")
    (folder / "job.toml").write_text(case["job"], encoding="utf-8")
    output = folder / f"release.{ending}"
    done = subprocess.run([INCOG, "anonymize", folder / "job.toml", "--order", "input", "--no-record", "-o", output],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Disagreement(f"{case['name']}: {ending}: incog refuses: {done.stderr.splitlines()[0]}")
    return output


def expected_rows(case):
    """The expected release as strings; None where a value is missing."""
    text = (MESSY / "expected" / f"{case['name']}.csv").read_bytes().decode("utf-8-sig")
    header = text.partition("\n")[0]
    delimiter = max(",;\t|:", key=header.count)
    import csv
    import io
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    marker = tomllib.loads(case["job"])["input"].get("missing", [""])[0]
    return rows[0], [[None if cell in ("", marker) and cell != "-" else cell for cell in row] for row in rows[1:]], delimiter


def plain(value):
    """A value of whichever library as a plain one: None, bool, Decimal, date or str."""
    if value is None or value is pandas.NaT or value is pandas.NA:
        return None
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, bool):
        return value
    if isinstance(value, float):
        return None if math.isnan(value) else Decimal(repr(value))
    if isinstance(value, (int, Decimal)):
        return Decimal(value)
    if isinstance(value, datetime.datetime):
        return value.date() if value.time() == datetime.time() else value
    return value


def meant(case, name, cell):
    """What an expected text means, as a number or a date where it is one."""
    if cell is None or name in GENERALIZED:
        return {cell}
    found = {cell}
    comma = case["name"].startswith(DECIMAL_COMMA)
    text = cell.replace("\u00a0", "").replace("'", "")
    text = text.replace(".", "").replace(",", ".") if comma else text.replace(",", "")
    try:
        found.add(Decimal(text))
    except InvalidOperation:
        pass
    for form in ("%Y-%m-%d", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%Y/%m/%d", "%Y%m%d", "%d-%b-%Y", "%b %d, %Y", "%d-%m-%Y", "%d of %B %Y", "%d.%m.%y"):
        try:
            day = datetime.datetime.strptime(cell, form).date()
            # JSON has no dates: they are text there, in one form.
            found |= {day, day.isoformat()}
        except ValueError:
            pass
    if cell in ("true", "false"):
        found.add(cell == "true")
    return found


def compare(case, reader, header, rows, columns):
    """`columns` is what a library has: name -> values."""
    where = f"{case['name']}: {reader}"
    if list(columns) != header:
        raise Disagreement(f"{where}: other columns")
    for at, name in enumerate(header):
        values = [plain(value) for value in columns[name]]
        if len(values) != len(rows):
            raise Disagreement(f"{where}: column {name} has {len(values)} rows, not {len(rows)}")
        for number, (value, row) in enumerate(zip(values, rows), start=1):
            if value not in meant(case, name, row[at]):
                raise Disagreement(f"{where}: column {name}, row {number} differs")
        kinds = {type(value) for value in values if value is not None}
        if len(kinds) > 1:
            raise Disagreement(f"{where}: column {name} has several types")
        if name in GENERALIZED | {"sex", "ill"} and kinds - {str}:
            raise Disagreement(f"{where}: column {name} is not text")
    return {name: next((type(plain(value)) for value in columns[name] if plain(value) is not None), str) for name in header}


def check_types(case, reader, kinds, job):
    """Of plain tables every type is known."""
    if case["name"] not in ("plain", "semicolons", "utf-16-le", "parquet", "parquet-date64-and-unsigned", "feather", "json-lines", "dates-german", "decimal-comma", "missing-as-na"):
        return
    wanted = {"seen": datetime.date, "height": Decimal, "count": Decimal, "smoker": bool}
    # Dates that nothing reads as dates are text; JSON has no dates.
    if case["name"] in ("dates-german", "json-lines"):
        wanted["seen"] = str
    for name, kind in wanted.items():
        if reader.endswith("jsonl") and name == "seen":
            continue
        if kinds[name] is not kind:
            raise Disagreement(f"{case['name']}: {reader}: column {name} is {kinds[name].__name__}, not {kind.__name__}")


def loaded(path, ending):
    """Each library's view of a file."""
    of_polars = {"parquet": polars.read_parquet, "arrow": polars.read_ipc, "jsonl": polars.read_ndjson, "xlsx": polars.read_excel}[ending](path)
    yield f"polars, {ending}", {name: of_polars[name].to_list() for name in of_polars.columns}
    read = {"parquet": pandas.read_parquet, "arrow": pandas.read_feather, "xlsx": pandas.read_excel,
            "jsonl": lambda path: pandas.read_json(path, lines=True, dtype=False, convert_dates=False, precise_float=True)}[ending]
    options = {"dtype_backend": "numpy_nullable"}
    of_pandas = read(path) if ending == "jsonl" else read(path, **options) if ending != "xlsx" else read(path, keep_default_na=False, na_values=[""], dtype=object)
    yield f"pandas, {ending}", {name: of_pandas[name].tolist() for name in of_pandas.columns}
    query = {"parquet": "read_parquet", "jsonl": "read_json_auto"}.get(ending)
    if query:
        options = ", sample_size=-1" if ending == "jsonl" else ""
        result = duckdb.sql(f"SELECT * FROM {query}('{path}'{options})")
        found = result.fetchall()
        yield f"DuckDB, {ending}", {name: [row[at] for row in found] for at, name in enumerate(result.columns)}


def main():
    shutil.rmtree(TARGET, ignore_errors=True)
    cases = [case for case in tomllib.loads((MESSY / "cases.toml").read_text(encoding="utf-8"))["case"] if "refused" not in case]
    n_compared = 0
    for case in cases:
        header, rows, delimiter = expected_rows(case)
        text = release(case, "csv")
        of_polars = polars.read_csv(text, separator=delimiter, infer_schema=False)
        marker = tomllib.loads(case["job"])["input"].get("missing", [""])[0]
        as_text = {name: [None if value in ("", marker) else value for value in of_polars[name].to_list()] for name in of_polars.columns}
        compare(case, "polars, csv", header, rows, as_text)
        for ending in ("parquet", "arrow", "jsonl", "xlsx"):
            path = release(case, ending)
            for reader, columns in loaded(path, ending):
                if "jsonl" in reader or "xlsx" in reader:
                    # These readers guess types of texts; values alone are compared.
                    columns = {name: [value if value is None or isinstance(value, (bool, int, float, datetime.date)) else value
                                      for value in values] for name, values in columns.items()}
                kinds = compare(case, reader, header, rows, columns)
                check_types(case, reader, kinds, case["job"])
                n_compared += 1
    print(f"formats: {n_compared} loaded releases of {len(cases)} tables are what they should be")


if __name__ == "__main__":
    try:
        main()
    except Disagreement as disagreement:
        sys.exit(f"formats: {disagreement}")
