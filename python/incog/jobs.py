"""Job files, and databases of many tables."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import _html, _incog, _jobs, reports
from ._frames import Table, plain, table
from ._numbers import Number, exact, suppression as rows_or_share
from ._progress import ProgressLike, logger, shown
from .errors import FileError, InputError
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

    def database(
        self, tables: Mapping[str, Any] | None = None, *, nan: str = "error", progress: ProgressLike = None
    ) -> DatabaseRelease:
        """Does what a job about a database says, to frames in the place of the tables that are given; nothing is written."""
        said, taken = self.to_dict(), {name: table(at) for name, at in (tables or {}).items()}
        for name, of in said.get("tables", {}).items():
            if name in taken and isinstance(of, dict):
                of["path"] = taken[name].paths or "-"
            elif isinstance(of, dict) and "path" in of:
                taken[name] = Table(None, [], plain)
        return _database(said, None if self.path is None else self.path.parent, taken, nan, progress)

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
    input: Mapping[str, Any] | None = None,
    columns: Mapping[str, Mapping[str, Any]] | None = None,
) -> Relation:
    """One table of a database.

    :param key: the column that other tables refer to; it gets new values.
    :param parent: the table that this one refers to, and the column of this one that has its key: ``("student", "sid")``.
    :param input: of paths: how they are written, such as ``{"delimiter": ";"}``.
    :param columns: whatever else a job file says of columns, such as ``{"income": {"decimal": ","}}``.
    """
    said: dict[str, Any] = {
        **(input or {}),
        "columns": _jobs._columns(quasi_identifiers, sensitive, identifiers, others, columns),
    }
    if key is not None:
        said["key"] = key
    if parent is not None:
        table_name, column = parent
        said["parent"] = {"table": table_name, "column": column}
    return Relation(data, said)


class DatabaseRelease:
    """The tables of a database, released together and verified."""

    def __init__(self, made: _incog.Release, taken: Mapping[str, Table]) -> None:
        self._made = made
        self._backs = {name: at.back for name, at in taken.items()}
        self._frames: dict[str, Any] | None = None
        self._report: reports.Report | None = None
        self._record: reports.DatabaseRecord | None = None
        #: The folder that it was written to last, and its record there.
        self.path: Path | None = None
        self.record_path: Path | None = None
        for note in made.notes:
            logger.warning("%s", note)

    @property
    def frames(self) -> dict[str, Any]:
        """The released tables, each of the kind that went in, with new keys; the persons first.

        Sensitive columns that stand apart are called ``takes.grade``.
        """
        if self._frames is None:
            self._frames = {
                # `takes.grade` is an anatomized column of `takes`.
                name: (self._backs.get(name) or self._backs.get(name.partition(".")[0]) or plain)(stream)
                for name, stream in self._made.streams()
            }
        return self._frames

    @property
    def report(self) -> reports.Report:
        """What there is to say of it."""
        if self._report is None:
            self._report = reports.report(*self._made.report())
        return self._report

    @property
    def findings(self) -> reports.Findings:
        """What the checker found, and what was measured."""
        return reports.verified(self._made.findings(), self.report)

    @property
    def record(self) -> reports.DatabaseRecord:
        """What everybody can recompute. Digests that take the publisher's key are empty where there is none yet."""
        if self._record is None:
            self._record = reports.database_record(self._made.record())
        return self._record

    def write(self, folder: str | os.PathLike[str]) -> Path | None:
        """Writes a folder with a file for each table, and its record: all of it appears, or nothing does. Tells where the record is."""
        self.record_path = self._made.write(os.fspath(folder))
        self.path = Path(folder).absolute()
        return self.record_path

    def __len__(self) -> int:
        """Released persons."""
        return len(self._made)

    def __repr__(self) -> str:
        report = self.report
        return (
            f"DatabaseRelease({report.released_rows} persons released, {report.suppressed_rows} suppressed, "
            f"{len(report.tables)} tables, loss {report.loss:.4f}, verified)"
        )

    def _repr_html_(self) -> str:
        rows = [[at["name"], at["rows"], at["rows"] - at["removed_rows"], at["loss"]] for at in self.report.tables]
        return _html.table(["table", "rows", "released", "loss"], rows) + self.findings._repr_html_()


def database(
    tables: Mapping[str, Relation],
    *,
    person: str,
    k: int,
    suppression: Number | None = None,
    require: _jobs.Requirements = (),
    complete: bool | None = None,
    release: str | None = None,
    order: str | None = None,
    output: str | os.PathLike[str] | None = None,
    format: str | None = None,
    record: bool | None = None,
    key: str | os.PathLike[str] | None = None,
    sign: str | os.PathLike[str] | None = None,
    algorithm: str | None = None,
    metric: str | None = None,
    search: Mapping[str, Any] | None = None,
    nan: str = "error",
    progress: ProgressLike = None,
) -> DatabaseRelease:
    """Releases persons in many tables: everybody has the same tree of rows as at least k - 1 others.

    :param person: the table with a row per person.
    :param complete: whether a person without a row in a table is known to have none.
    :param release: "generalized" (unless given) or "anatomized".
    :param output: a folder to write the release to, with its record; :meth:`DatabaseRelease.write` does it later.
    :param format: what the files there are: "csv" (unless given) or "parquet".
    :param record: ``False`` writes no record.

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
    said: dict[str, Any] = {"person": person}
    written = {"format": format, "record": record, "key": _path(key), "sign": _path(sign)}
    for name, value in {"complete": complete, "release": release, "order": order, **written}.items():
        if value is not None:
            said[name] = value
    policy: dict[str, Any] = {"k": exact("k", k)}
    if suppression is not None:
        policy["suppression"] = rows_or_share(suppression)
    if models := _jobs.required(require):
        policy["require"] = models
    job: dict[str, Any] = {"database": said, "policy": policy}
    searched = dict(search or {})
    searched.update({name: value for name, value in (("algorithm", algorithm), ("metric", metric)) if value is not None})
    if searched:
        job["search"] = searched
    job["tables"] = {}
    taken: dict[str, Table] = {}
    for name, at in tables.items():
        if not isinstance(at, Relation):
            raise InputError(f"table `{name}` is no relation", "write incog.relation(frame, key=..., parent=..., ...)")
        taken[name] = table(at.data)
        paths = taken[name].paths
        job["tables"][name] = {"path": "-" if not paths else paths[0] if len(paths) == 1 else paths, **at.said}
    released = _database(job, None, taken, nan, progress)
    if output is not None:
        released.write(output)
    return released


def _database(
    said: Mapping[str, Any], folder: Path | None, taken: Mapping[str, Table], nan: str, progress: ProgressLike
) -> DatabaseRelease:
    frames = [(name, at.frame) for name, at in taken.items() if at.frame is not None]
    with shown(progress) as callback:
        made = _incog.database(_jobs.as_json(said), folder, frames, _jobs.nan_is_missing(nan), callback)
    return DatabaseRelease(made, taken)
