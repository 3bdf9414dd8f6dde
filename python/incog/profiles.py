"""What is in a table that nobody has described, and a job to begin with."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from . import _html, _incog
from ._frames import like, table
from ._jobs import nan_is_missing
from ._progress import ProgressLike, shown
from .errors import InputError
from .jobs import Job

__all__ = ["ColumnProfile", "Exposure", "Profile", "profile"]


@dataclass(frozen=True)
class ColumnProfile:
    """One column, counted, with what it is likely to be."""

    name: str
    #: What its values are: dates, whole numbers, categories, free text, ...
    kind: str
    distinct: int
    missing: int
    #: Rows with a value that no other row has.
    unique: int
    #: Characters of the longest value.
    longest: int
    #: identifier, quasi-identifier, sensitive, other, or decide: nothing speaks for a role.
    role: str
    #: What its values may become, with the keys of a job file; None where they are kept or suppressed.
    hierarchy: dict[str, Any] | None
    #: Why.
    reason: str
    #: May it say whom a row is about?
    may_be_unit: bool


@dataclass(frozen=True)
class Exposure:
    """Columns that together single people out."""

    columns: list[str]
    #: Rows that no other row equals on them.
    alone: int


@dataclass(frozen=True)
class Profile:
    """A table, counted: names, kinds and counts, never a cell."""

    rows: int
    columns: list[ColumnProfile]
    #: The column sets that single most people out.
    exposures: list[Exposure]
    text: str = field(repr=False)
    #: The policy that the proposals follow, if one was named.
    preset: str | None = None
    _made: _incog.Described | None = field(repr=False, compare=False, default=None)
    _said: dict[str, Any] = field(repr=False, compare=False, default_factory=dict)

    def job(self, k: int | None = None) -> Job:
        """A proposal, for a k of 5 or what the preset asks for unless given.

        It runs as it is, unless the role of a column is ``decide``: then anonymize says which columns wait for a word.
        """
        assert self._made is not None
        return Job.parse(self._made.job(k))

    def frame(self, data: Any = None) -> Any:
        """As a frame: a row a column. Of the kind of ``data``, if it is given."""
        names = [name for name in ColumnProfile.__dataclass_fields__ if name != "hierarchy"]
        return like(data, {name: [getattr(at, name) for at in self.columns] for name in names})

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return dict(self._said)

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        header = ["column", "kind", "distinct", "missing", "unique", "role", "reason"]
        rows = [[at.name, at.kind, at.distinct, at.missing, at.unique, at.role, at.reason] for at in self.columns]
        alone = [f"{' + '.join(at.columns)}: {at.alone:,} of {self.rows:,} rows are alone" for at in self.exposures]
        return _html.heading(f"{self.rows:,} rows") + _html.table(header, rows) + _html.lines(alone)


def profile(
    data: Any,
    *,
    preset: str | None = None,
    input: Mapping[str, Any] | None = None,
    nan: str = "error",
    progress: ProgressLike = None,
) -> Profile:
    """What `incog init` knows of a table.

    :param preset: a policy that others have written down, which the proposals follow: "hipaa-safe-harbor", "public-use",
        "scientific-use" or "cell-size-11".
    :param input: of a path: what a job file says in ``[input]``. ``{"header": True}`` says that the first line has the names.

    >>> import incog, pyarrow as pa
    >>> found = incog.profile(pa.table({"age": [34, 36, 51], "zip": ["53715", "53715", "53703"]}))
    >>> [(column.name, column.kind, column.distinct) for column in found.columns]
    [('age', 'whole numbers', 3), ('zip', 'whole numbers', 2)]
    """
    taken = table(data)
    with shown(progress) as callback:
        if taken.frame is not None:
            if input:
                raise InputError("`input` says how a file is written, and the data are a frame")
            made = _incog.describe(taken.frame, nan_is_missing(nan), preset, callback)
        else:
            if len(taken.paths) != 1:
                raise InputError("a profile is of one file")
            made = _incog.propose(taken.paths[0], json.dumps(dict(input or {})), preset, callback)
    said, text = made.said()
    told = json.loads(said)
    return Profile(
        told["rows"],
        [ColumnProfile(**at) for at in told["columns"]],
        [Exposure(at["columns"], at["alone"]) for at in told["exposures"]],
        text,
        preset,
        made,
        told,
    )
