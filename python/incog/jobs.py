"""Job files, and databases of many tables."""

from __future__ import annotations

import json
import os
import tempfile
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import _html, _incog, _jobs, reports
from ._frames import Table, table
from ._numbers import Number, exact, suppression as rows_or_share
from ._progress import ProgressLike, shown
from .errors import FileError, InputError
from .models import Model
from .releases import Release

__all__ = ["DatabaseRelease", "Job", "Published", "Relation", "database", "relation"]


@dataclass(frozen=True)
class Published:
    """A release that was verified and written."""

    #: The released file; of a database, the folder.
    path: Path
    #: Its record.
    record: Path | None
    report: reports.Report
    findings: reports.Findings = field(repr=False)
    #: What `incog anonymize` says of it.
    text: str = field(repr=False, default="")

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return _html.heading(str(self.path)) + self.report._repr_html_()


def _published(made: _incog.Published) -> Published:
    report = reports.report(made.report, made.text)
    return Published(made.path, made.record, report, reports.verified(made.findings, report), made.summary)


class Job:
    """A job file. What it says is checked when it is used, all mistakes at once."""

    def __init__(self, text: str, path: Path | None = None) -> None:
        self.text = text
        #: Where it was read; relative paths start there.
        self.path = path

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Job:
        """Reads a job file."""
        path = Path(path)
        try:
            return cls(path.read_text("utf-8"), path)
        except OSError as error:
            raise FileError(f"cannot read the job file `{path}`: {error.strerror}") from None
        except UnicodeDecodeError:
            raise InputError(f"the job file `{path}` is not UTF-8") from None

    @classmethod
    def parse(cls, text: str) -> Job:
        """A job that is nowhere on disk: for frames; paths in it start in the current folder."""
        return cls(text)

    def run(
        self, *, output: str | os.PathLike[str] | None = None, k: int | None = None, progress: ProgressLike = None
    ) -> Published:
        """Does what the job says, as `incog anonymize` does: the release is written where it says, with its record."""
        if self.path is None:
            raise InputError("the job is in no file, so nobody knows where its paths start", 'job.write("incog.toml")')
        with shown(progress) as callback:
            return _published(_incog.publish(self.path, _path(output), k, callback))

    def write(self, path: str | os.PathLike[str]) -> Job:
        """Writes the job file, where there is none yet, and gives the job that starts there."""
        path = Path(path)
        try:
            with path.open("x", encoding="utf-8") as file:
                file.write(self.text)
        except OSError as error:
            raise FileError(f"cannot write the job file `{path}`: {error.strerror}") from None
        return Job(self.text, path)

    def anonymize(self, data: Any, *, nan: str = "error", progress: ProgressLike = None) -> Release:
        """Does what the job says to a frame, in the place of its input; nothing is written."""
        question = self._question(data, nan)
        assert question.table is not None
        with shown(progress) as callback:
            made = _incog.anonymize(question, callback)
        return Release(made, question.table.back)

    def _question(self, data: Any, nan: str) -> _jobs.Question:
        taken = table(data)
        if taken.frame is None:
            raise InputError("a job with paths is run, not given other paths", "job.run(), or read the file into a frame")
        said = self.to_dict()
        said["input"] = {**said.get("input", {}), "path": "-"}
        folder = None if self.path is None else self.path.parent
        return _jobs.Question(said, None, folder, taken.frame, _jobs.nan_is_missing(nan), taken)

    def to_dict(self) -> dict[str, Any]:
        """What it says, as plain data."""
        try:
            return tomllib.loads(self.text)
        except tomllib.TOMLDecodeError as error:
            raise InputError(f"the job is no TOML: {error}") from None

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Job({str(self.path)!r})" if self.path else "Job(...)"


def _path(path: str | os.PathLike[str] | None) -> str | None:
    return None if path is None else os.fspath(path)


@dataclass(frozen=True)
class Relation:
    """One table of a database, with what its columns are. Made by :func:`incog.relation`."""

    data: Any = field(repr=False)
    said: dict[str, Any]


def relation(
    data: Any,
    *,
    key: str | None = None,
    parent: tuple[str, str] | None = None,
    quasi_identifiers: _jobs.QuasiIdentifiers = (),
    sensitive: str | Iterable[str] = (),
    identifiers: str | Iterable[str] = (),
    others: str | Iterable[str] = (),
) -> Relation:
    """One table of a database.

    :param key: the column that other tables refer to; it gets new values.
    :param parent: the table that this one refers to, and the column of this one that has its key: ``("student", "sid")``.
    """
    columns = _jobs._columns(quasi_identifiers, sensitive, identifiers, others, None)
    said: dict[str, Any] = {"columns": columns}
    if key is not None:
        said["key"] = key
    if parent is not None:
        table_name, column = parent
        said["parent"] = {"table": table_name, "column": column}
    return Relation(data, said)


@dataclass(frozen=True)
class DatabaseRelease:
    """The tables of a database, released together and verified."""

    #: The released tables, each of the kind that went in, with new keys.
    frames: dict[str, Any] = field(repr=False)
    report: reports.Report
    findings: reports.Findings = field(repr=False)
    #: The folder, where one was asked for.
    path: Path | None = None
    record: Path | None = None

    def _repr_html_(self) -> str:
        rows = [[at["name"], at["rows"], at["rows"] - at["removed_rows"], at["loss"]] for at in self.report.tables]
        return _html.table(["table", "rows", "released", "loss"], rows) + self.findings._repr_html_()


def database(
    tables: Mapping[str, Relation],
    *,
    person: str,
    k: int,
    suppression: Number | None = None,
    require: Iterable[Model | Mapping[str, Any]] = (),
    complete: bool | None = None,
    release: str | None = None,
    order: str | None = None,
    output: str | os.PathLike[str] | None = None,
    key: str | os.PathLike[str] | None = None,
    search: Mapping[str, Any] | None = None,
    nan: str = "error",
    progress: ProgressLike = None,
) -> DatabaseRelease:
    """Releases persons in many tables: everybody has the same tree of rows as at least k - 1 others.

    :param person: the table with a row per person.
    :param complete: whether a person without a row in a table is known to have none.
    :param release: "generalized" (unless given) or "anatomized".
    :param output: a folder to write the release to, with its record. Without it, it passes through a private temporary folder that is
        gone afterwards; what passes is the verified release alone.

    Other parameters are those of :func:`incog.anonymize`; ``search`` is what a job file says in ``[search]``.

    >>> import incog, pyarrow as pa
    >>> students = pa.table({"sid": ["1", "2", "3", "4"], "town": ["Ulm", "Ulm", "Bonn", "Bonn"]})
    >>> takes = pa.table({"sid": ["1", "2", "3", "4"], "course": ["algebra", "algebra", "logic", "logic"]})
    >>> released = incog.database(
    ...     {
    ...         "student": incog.relation(students, key="sid", quasi_identifiers=["town"]),
    ...         "takes": incog.relation(takes, parent=("student", "sid"), quasi_identifiers=["course"]),
    ...     },
    ...     person="student", k=2,
    ... )
    >>> released.frames["takes"].num_rows, bool(released.findings)
    (4, True)
    """
    said: dict[str, Any] = {"person": person, "format": "parquet"}
    for name, value in (("complete", complete), ("release", release), ("order", order), ("key", _path(key))):
        if value is not None:
            said[name] = value
    policy: dict[str, Any] = {"k": exact("k", k)}
    if suppression is not None:
        policy["suppression"] = rows_or_share(suppression)
    models = list(require)
    if models:
        policy["require"] = [model.to_dict() if isinstance(model, Model) else dict(model) for model in models]
    job: dict[str, Any] = {"database": said, "policy": policy}
    if search:
        job["search"] = dict(search)
    job["tables"] = {}
    taken: dict[str, Table] = {}
    for name, at in tables.items():
        if not isinstance(at, Relation):
            raise InputError(f"table `{name}` is no relation", "write incog.relation(frame, key=..., parent=..., ...)")
        taken[name] = table(at.data)
        paths = taken[name].paths
        job["tables"][name] = {"path": "-" if not paths else paths[0] if len(paths) == 1 else paths, **at.said}
    frames = [(name, at.frame) for name, at in taken.items() if at.frame is not None]
    missing = _jobs.nan_is_missing(nan)

    def made(folder: Path) -> Published:
        said["output"] = str(folder)
        with shown(progress) as callback:
            return _published(_incog.database(json.dumps(job), frames, missing, callback))

    if output is not None:
        folder = Path(output).absolute()
        published = made(folder)
        return DatabaseRelease(_read(folder, taken), published.report, published.findings, folder, published.record)
    said["record"] = False
    with tempfile.TemporaryDirectory(prefix="incog-") as private:
        folder = Path(private) / "release"
        published = made(folder)
        return DatabaseRelease(_read(folder, taken), published.report, published.findings)


def _read(folder: Path, taken: Mapping[str, Table]) -> dict[str, Any]:
    try:
        import pyarrow.parquet as parquet
    except ImportError:
        raise InputError("the release of a database is read by pyarrow, which is not installed", "pip install pyarrow") from None
    frames = {}
    for path in sorted(folder.glob("*.parquet")):
        whole = parquet.read_table(path, memory_map=False)
        # `takes.grade.parquet` is an anatomized column of `takes`.
        of = taken.get(path.stem) or taken.get(path.stem.partition(".")[0])
        frames[path.stem] = of.back(whole) if of is not None else whole
    return frames
