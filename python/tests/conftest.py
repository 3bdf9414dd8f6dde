"""What tests share: the command line to compare with, and one table as four kinds of frames."""

from __future__ import annotations

import csv
import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]

#: How each kind of frame is made of a pyarrow table, and made one again.
KINDS = ("pyarrow", "polars", "pandas", "duckdb")


def frame_of(kind: str, table: Any) -> Any:
    if kind == "polars":
        import polars

        return polars.from_arrow(table)
    if kind == "pandas":
        return table.to_pandas()
    if kind == "duckdb":
        import duckdb

        return duckdb.from_arrow(table)
    return table


def arrow_of(frame: Any) -> Any:
    import pyarrow

    if type(frame).__module__.startswith("pandas"):
        return pyarrow.Table.from_pandas(frame, preserve_index=False)
    return pyarrow.table(frame)


def cells(frame: Any) -> list[tuple[str, ...]]:
    """The rows of a frame as text, as comma-separated text has them."""
    table = arrow_of(frame)
    columns = []
    for name in table.column_names:
        column = table[name]
        values = column.to_pylist()
        columns.append(["" if value is None else str(value) for value in values])
    return list(zip(*columns, strict=True)) if columns else []


def rows_of(path: Path) -> tuple[list[str], list[tuple[str, ...]]]:
    """The header and the rows of a file."""
    with open(path, newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    return header, [tuple(row) for row in rows]


@pytest.fixture(scope="session")
def binary() -> Path:
    """The command line: INCOG_BIN, or what has been built here, or what is built now."""
    if named := os.environ.get("INCOG_BIN"):
        return Path(named).resolve()
    folder = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    built = [folder / profile / "incog" for profile in ("release", "debug")]
    there = [path for path in built if path.exists()]
    if not there:
        subprocess.run(["cargo", "build", "--locked", "-p", "incog-cli", "--profile", "test"], cwd=ROOT, check=True)
        there = [folder / "debug" / "incog"]
    return max(there, key=lambda path: path.stat().st_mtime)


@pytest.fixture(scope="session")
def command(binary: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs the command line. Its lines are as long as they are, and broken where `columns` says how wide a terminal is."""

    def run(*arguments: object, columns: int | None = None, **options: Any) -> subprocess.CompletedProcess[str]:
        words = [str(word) for word in arguments]
        # Whoever imports readline, as debuggers do, tells it to children: by C, past `os.environ`.
        environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
        if columns is not None:
            environment["COLUMNS"] = str(columns)
        return subprocess.run(
            [str(binary), *words], capture_output=True, text=True, check=False, env=environment, **options
        )

    return run


def content(record: Path) -> dict[str, Any]:
    """A record's file without what only the publisher's key can make."""
    said = json.loads(record.read_text("utf-8"))
    for key in ("seal", "checksum", "signature"):
        said.pop(key, None)
    return dict(said)
