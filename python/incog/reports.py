"""What there is to say of a release: plain data, without a cell."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

from . import _html

__all__ = ["Column", "Finding", "Findings", "Measured", "Record", "Report"]

_T = TypeVar("_T")


def _of(cls: type[_T], said: dict[str, Any], **more: Any) -> _T:
    """The dataclass with what JSON says of its fields."""
    known = {at.name for at in fields(cls)}  # type: ignore[arg-type]
    return cls(**{**{key: value for key, value in said.items() if key in known}, **more})


@dataclass(frozen=True)
class Finding:
    """One claim, and what the independent checker found."""

    #: columns, anonymity, persons, sensitive, rows, recoding, structure, keys, files, record or signature
    kind: str
    #: The claim in words.
    claim: str
    #: What was found: columns, counts and row numbers, never a label.
    found: str
    #: Do they agree?
    holds: bool

    def __str__(self) -> str:
        return f"{'pass' if self.holds else 'FAIL'}  {self.claim} ({self.found})"


@dataclass(frozen=True)
class Measured:
    """What a release reaches on a sensitive column."""

    column: str
    #: The greatest share of a value in a group: how many rows, of how many.
    alpha: tuple[int, int] | None
    #: The fewest different values of a group.
    distinct_l: int | None
    entropy_l: float | None
    #: The least ``c`` for recursive (c, l), for l from 2 on.
    recursive_c: list[float]
    #: The greatest distance of a group's distribution from that of all rows, with all values equally far apart.
    t: float | None
    #: The same by the order of values, where they are numbers.
    ordered_t: float | None
    #: Groups with a single value.
    uniform_groups: int


@dataclass(frozen=True)
class Findings:
    """What the independent checker found. True where every claim holds."""

    holds: bool
    findings: list[Finding]
    #: Claims that could not be checked within a bounded amount of work.
    undecided: list[Finding]
    smallest_group: int | None
    fewest_persons: int | None
    #: How many groups have how many rows: (rows, groups).
    group_sizes: list[tuple[int, int]]
    #: What sensitive columns reach.
    measured: list[Measured]
    #: The same in words, as the command line prints it.
    text: str = field(repr=False, default="")
    _said: dict[str, Any] = field(repr=False, compare=False, default_factory=dict)

    def __bool__(self) -> bool:
        return self.holds

    def __str__(self) -> str:
        return self.text

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return dict(self._said)

    def _repr_html_(self) -> str:
        rows = [["pass" if at.holds else "FAIL", at.claim, at.found] for at in self.findings]
        rows += [["open", at.claim, at.found] for at in self.undecided]
        return _html.table(["", "claim", "found"], rows)


def findings(said: str, text: str) -> Findings:
    data = json.loads(said)
    return _of(
        Findings,
        data,
        findings=[_of(Finding, at) for at in data["findings"]],
        undecided=[_of(Finding, at) for at in data["undecided"]],
        group_sizes=[(rows, groups) for rows, groups in data["group_sizes"]],
        measured=[_of(Measured, {**at, "alpha": tuple(at["alpha"]) if at["alpha"] else None}) for at in data["measured"]],
        text=text,
        _said=data,
    )


@dataclass(frozen=True)
class Column:
    """How far a column was generalized."""

    name: str
    #: 0 is as collected.
    level: int
    highest: int


@dataclass(frozen=True)
class Report:
    """What there is to say of a release."""

    #: Rows of the data; of a database, persons.
    rows: int
    released_rows: int
    suppressed_rows: int
    #: Rows that might have been suppressed.
    budget: int
    algorithm: str
    #: The recoding model.
    model: str
    metric: str
    score: float
    loss: float
    #: optimal, within or heuristic
    quality: str
    #: How far it is from optimal at most, as a share; None where nobody knows.
    gap: float | None
    bound: float | None
    nodes_judged: int | None
    #: Columns that are generalized as a whole.
    columns: list[Column]
    #: Groups of rows that look alike.
    groups: int
    smallest_group: int | None
    fewest_persons: int | None
    verified: bool
    findings: list[Finding]
    #: What else there is to say, a line each.
    notes: list[str]
    #: What it would take to keep a column more detailed.
    better: list[dict[str, Any]]
    #: Columns that are recoded row by row.
    local_columns: list[dict[str, Any]]
    #: The tables of a database.
    tables: list[dict[str, Any]]
    #: The same in words, as the command line prints it.
    text: str = field(repr=False, default="")
    _said: dict[str, Any] = field(repr=False, compare=False, default_factory=dict)

    @property
    def levels(self) -> dict[str, int]:
        """The level of each column that is generalized as a whole."""
        return {column.name: column.level for column in self.columns}

    def __str__(self) -> str:
        return self.text

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as `incog anonymize --format json` prints it."""
        return dict(self._said)

    def _repr_html_(self) -> str:
        words = f"{self.released_rows:,} rows released, {self.suppressed_rows:,} suppressed; loss {self.loss:.4f}; {self.quality}"
        html = _html.heading(words)
        if self.columns:
            rows = [[at.name, at.level, at.highest] for at in self.columns]
            html += _html.table(["column", "level", "highest"], rows)
        html += _html.table(
            ["verified", "claim", "found"],
            [["pass" if at.holds else "FAIL", at.claim, at.found] for at in self.findings],
        )
        return html + _html.lines(self.notes)


def report(said: str, text: str) -> Report:
    data = json.loads(said)
    return _of(
        Report,
        data,
        columns=[_of(Column, at) for at in data["columns"]],
        findings=[_of(Finding, at) for at in data["findings"]],
        text=text,
        _said=data,
    )


@dataclass(frozen=True)
class Record:
    """What everybody can recompute from a release: canonical JSON without a cell.

    The file that :meth:`incog.Release.write` puts beside a release has the same, with the publisher's seal.
    """

    #: The version of the format.
    record: int
    #: What made the release.
    tool: str
    #: The digest, rows and columns of the release; in memory, as comma-separated text.
    release: dict[str, Any]
    #: Rows of the data, and a digest that takes the publisher's key.
    input: dict[str, Any]
    #: k and whatever else is promised.
    claims: dict[str, Any]
    quasi_identifiers: list[str]
    levels: dict[str, int]
    #: How many groups have how many rows.
    group_sizes: list[list[int]]
    suppressed_rows: int
    #: The score by each metric.
    scores: dict[str, str]
    #: Digests of hierarchies, which take the publisher's key.
    hierarchies: dict[str, str]
    #: The job without paths and lists of values.
    job: str
    job_hmac_sha256: str
    #: What is known of a recoding row by row.
    local: dict[str, Any] | None = None
    _said: dict[str, Any] = field(repr=False, compare=False, default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as in the record's file, without seal and checksum."""
        return dict(self._said)


def record(said: str) -> Record:
    data = json.loads(said)
    return _of(Record, data, _said=data)
