"""What there is to say of a release: plain data, without a cell."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

from . import _html

__all__ = ["Column", "DatabaseRecord", "Finding", "Findings", "Measured", "Record", "Report"]

_T = TypeVar("_T")


def _of(cls: type[_T], said: Mapping[str, Any], **more: Any) -> _T:
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
    """What a release reaches on a sensitive column, in its worst group."""

    #: Its name; of a database, with the name of its table: ``takes.grade``.
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
    #: Those in which it is one that nobody should learn, and the rows of them.
    telling_groups: int
    telling_rows: int


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
    #: What should be read before the release goes out, a line each, the worst first.
    warnings: list[str]
    #: What there is to say of how it was checked, a line each.
    notes: list[str]
    #: In one line: does it hold?
    verdict: str
    #: Which files were changed since the record was written, in words.
    changed: list[str] = field(default_factory=list)
    #: The same in words, as the command line prints it into a file. In a terminal it breaks long lines.
    text: str = field(repr=False, default="")
    _said: dict[str, Any] = field(repr=False, compare=False, default_factory=dict)

    def __bool__(self) -> bool:
        return self.holds

    def __str__(self) -> str:
        return self.text

    def to_dict(self) -> dict[str, Any]:
        """Plain data: what `incog verify --format json` prints, with the sizes of groups and exact shares.

        Of a release that was made here, without what is about files.
        """
        return dict(self._said)

    def _repr_html_(self) -> str:
        rows = [["pass" if at.holds else "FAIL", at.claim, at.found] for at in self.findings]
        rows += [["open", at.claim, at.found] for at in self.undecided]
        return _html.table(["", "claim", "found"], rows)


def findings(found: str, said: dict[str, Any], text: str) -> Findings:
    """What the checker found, as JSON; what came of it: warnings and one line for all; and both in words."""
    data: dict[str, Any] = {**said, **json.loads(found)}
    of_tables = [{**at, "column": f"{table['name']}.{at['column']}"} for table in data["tables"] for at in table["measured"]]
    # The same columns in the same order.
    reached = zip([*data["measured"], *of_tables], data["sensitive"], strict=True)
    return _of(
        Findings,
        data,
        findings=[_of(Finding, at) for at in data["findings"]],
        undecided=[_of(Finding, at) for at in data["undecided"]],
        group_sizes=[(rows, groups) for rows, groups in data["group_sizes"]],
        measured=[
            _of(Measured, {**more, **at, "alpha": tuple(at["alpha"]) if at["alpha"] else None}) for at, more in reached
        ],
        text=text,
        _said=data,
    )


def verified(found: tuple[str, str], of: Report) -> Findings:
    """The same of a release that was made here, whose report says what came of it."""
    said = {key: of.to_dict()[key] for key in ("sensitive", "warnings", "notes", "verdict")}
    return findings(found[0], said, f"{found[1]}verdict: {of.verdict}\n")


@dataclass(frozen=True)
class Column:
    """How far a column was generalized."""

    name: str
    #: 0 is as collected.
    level: int
    highest: int
    #: What the level is, in words: ``first 3 digits``.
    meaning: str


@dataclass(frozen=True)
class Report:
    """What there is to say of a release."""

    #: Rows of the data; of a database, persons.
    rows: int
    released_rows: int
    suppressed_rows: int
    #: Rows that might have been suppressed.
    budget: int
    #: What the release satisfies, in words.
    policy: str
    #: What every claim is relative to; none of a database, whose tables have their own.
    quasi_identifiers: list[str]
    #: The column that says whom a row is about, where persons are counted.
    unit: str | None
    #: What found it.
    algorithm: str
    #: The recoding model; of a database, generalized or anatomized.
    model: str
    #: What it is the best by.
    metric: str
    score: float
    loss: float
    #: How many persons of a database look like each, summed up over all persons.
    discernibility: int | None
    #: The distortion ratio, where the recoding is row by row.
    distortion: float | None
    #: optimal, within (a gap of it), heuristic, or given: the levels are those of an earlier release
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
    median_group: float | None
    mean_group: float | None
    largest_group: int | None
    #: Persons of the group with the fewest, where persons are counted.
    fewest_persons: int | None
    #: The chance to pick the right one of a group, for who knows that somebody is in the release: ``largest`` and ``mean``.
    prosecutor_risk: dict[str, float] | None
    #: Where the suppressed rows stood, the most unevenly hit column first: ``column``, and how many ``rows`` of the table have the
    #: labels that half of the suppressed rows have.
    suppression: list[dict[str, Any]]
    verified: bool
    findings: list[Finding]
    #: What sensitive columns reach; :attr:`Release.findings` has it exactly.
    sensitive: list[dict[str, Any]]
    #: What else there is to say, a line each.
    notes: list[str]
    #: What should be read before the release goes out, a line each, the worst first.
    warnings: list[str]
    #: In one line: what holds, and whether there is something to read.
    verdict: str
    #: What it would take to keep a column more detailed.
    better: list[dict[str, Any]]
    #: Columns that are recoded row by row.
    local_columns: list[dict[str, Any]]
    #: The tables of a database.
    tables: list[dict[str, Any]]
    #: The same in words, as the command line prints it into a file. In a terminal it breaks long lines.
    text: str = field(repr=False, default="")
    _said: dict[str, Any] = field(repr=False, compare=False, default_factory=dict)

    @property
    def levels(self) -> dict[str, int]:
        """The level of each column that is generalized as a whole."""
        return {column.name: column.level for column in self.columns}

    def __str__(self) -> str:
        return self.text

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as `incog anonymize --format json` prints it, which says where the release and its record are, too."""
        return dict(self._said)

    def _repr_html_(self) -> str:
        words = f"{self.released_rows:,} rows released, {self.suppressed_rows:,} suppressed; loss {self.loss:.4f}; {self.quality}"
        html = _html.heading(words)
        if self.columns:
            rows = [[at.name, at.level, at.highest, at.meaning] for at in self.columns]
            html += _html.table(["column", "level", "highest", "meaning"], rows)
        html += _html.table(
            ["verified", "claim", "found"],
            [["pass" if at.holds else "FAIL", at.claim, at.found] for at in self.findings],
        )
        return html + _html.lines(self.notes)


def report(said: str, text: str) -> Report:
    data = json.loads(said)
    # As text in JSON: it may have more digits than other readers take.
    discernibility = data["discernibility"]
    return _of(
        Report,
        data,
        discernibility=None if discernibility is None else int(discernibility),
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


@dataclass(frozen=True)
class DatabaseRecord:
    """What everybody can recompute from the release of a database: canonical JSON without a cell."""

    #: The version of the format.
    record: int
    #: What made the release.
    tool: str
    #: generalized or anatomized
    release: str
    #: What found it.
    algorithm: str
    #: Of each table: the digest, rows and columns of its files, and what is claimed of it.
    tables: dict[str, Any]
    #: k and whatever else is promised.
    claims: dict[str, Any]
    #: How many classes have how many persons.
    class_sizes: list[list[int]]
    suppressed_persons: int
    #: The score by each metric.
    scores: dict[str, str]
    #: Digests of hierarchies, which take the publisher's key.
    hierarchies: dict[str, str]
    #: The job without paths and lists of values.
    job: str
    job_hmac_sha256: str
    _said: dict[str, Any] = field(repr=False, compare=False, default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as in the record's file, without seal and checksum."""
        return dict(self._said)


def database_record(said: str) -> DatabaseRecord:
    data = json.loads(said)
    return _of(DatabaseRecord, data, _said=data)
