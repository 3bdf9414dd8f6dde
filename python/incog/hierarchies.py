"""What the values of a quasi-identifier may become, level by level.

Level 0 is as collected, the highest level is ``*``. Each function here says what a job file says behind ``hierarchy =``:

>>> import incog
>>> incog.intervals(5, 10, 20, top=90)
intervals(5, 10, 20, top=90)
>>> incog.mask("right").to_dict()
{'mask': 'right'}
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, Union

from ._numbers import bound
from .errors import InputError

__all__ = ["Hierarchy", "builtin", "dates", "file", "frequent", "intervals", "mask", "rare", "suppress", "tree"]

#: A tree of labels: each with the values below it, or with more labels.
Tree = Mapping[str, Union[Iterable[str], "Tree"]]


class Hierarchy:
    """What values may become. Made by the functions of this module."""

    __slots__ = ("_said", "_shown")

    def __init__(self, said: Mapping[str, Any], shown: str) -> None:
        self._said = {key: value for key, value in said.items() if value is not None}
        self._shown = shown

    def to_dict(self) -> dict[str, Any]:
        """The same with the keys of a job file."""
        return dict(self._said)

    def __repr__(self) -> str:
        return self._shown

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Hierarchy) and self._said == other._said

    def __hash__(self) -> int:
        return hash(repr(self._said))


def _made(name: str, positional: Iterable[Any], said: Mapping[str, Any], common: Mapping[str, Any]) -> Hierarchy:
    named = {**{key: value for key, value in said.items() if key not in (name, "of")}, **common}
    shown = [repr(value) for value in positional]
    shown += [f"{key}={value!r}" for key, value in named.items() if value is not None]
    levels = common.get("levels")
    both = {**said, **common, "levels": list(levels) if levels is not None else None}
    return Hierarchy(both, f"{name}({', '.join(shown)})")


def intervals(
    *widths: Any,
    top: Any = None,
    bottom: Any = None,
    origin: Any = None,
    bounds: tuple[Any, Any] | None = None,
    of: str | None = None,
    levels: Iterable[int] | None = None,
    missing: str | None = None,
) -> Hierarchy:
    """Ever wider intervals, each width a multiple of the one before.

    ``top`` and ``bottom`` pool what is rare; ``of="dates"`` divides dates, with widths in days.

    >>> import incog, pyarrow as pa
    >>> ages = pa.table({"age": [34, 36, 37, 91]})
    >>> incog.anonymize(ages, quasi_identifiers={"age": incog.intervals(10, top=90)}, k=3, suppression=1, order="input").frame["age"].to_pylist()
    ['[30, 40)', '[30, 40)', '[30, 40)']
    """
    if not widths:
        raise InputError("intervals need at least one width", "write incog.intervals(5, 10, 20)")
    said = {
        "intervals": [bound("width", width) for width in widths],
        "top": None if top is None else bound("top", top),
        "bottom": None if bottom is None else bound("bottom", bottom),
        "origin": None if origin is None else bound("origin", origin),
        "bounds": None if bounds is None else [bound("bounds", end) for end in bounds],
        "of": of,
    }
    return _made("intervals", widths, said, {"levels": levels, "missing": missing})


def mask(
    side: str = "right",
    *,
    length: int | None = None,
    pad: int | None = None,
    levels: Iterable[int] | None = None,
    missing: str | None = None,
) -> Hierarchy:
    """One character after the other replaced by ``*``: 5371*, 537**."""
    said = {"mask": side, "length": length, "pad": pad}
    return _made("mask", [side], said, {"levels": levels, "missing": missing})


def dates(
    *units: str, bottom: Any = None, levels: Iterable[int] | None = None, missing: str | None = None
) -> Hierarchy:
    """Calendar units from fine to coarse: ``dates("month", "quarter", "year", "decade")``; days before ``bottom`` are pooled."""
    if not units:
        raise InputError("dates need at least one unit", 'write incog.dates("month", "year")')
    said = {"dates": list(units), "bottom": None if bottom is None else bound("bottom", bottom)}
    return _made("dates", units, said, {"levels": levels, "missing": missing})


def tree(
    labels: Tree | str | os.PathLike[str],
    *,
    rare: int | None = None,
    levels: Iterable[int] | None = None,
    missing: str | None = None,
) -> Hierarchy:
    """Labels, each with the values below it or with more labels; or a file written by indentation.

    With ``rare``, siblings that fewer rows have are merged, also with the rest of their branch.

    >>> import incog
    >>> incog.tree({"Europe": ["DE", "FR"], "Asia": ["JP"]}).to_dict()
    {'tree': {'Europe': ['DE', 'FR'], 'Asia': ['JP']}}
    """
    if isinstance(labels, (str, os.PathLike)):
        said: Any = os.fspath(labels)
    else:
        said = _branches(labels)
    return _made("tree", [labels], {"tree": said, "rare": rare}, {"levels": levels, "missing": missing})


def _branches(labels: Any) -> Any:
    if isinstance(labels, Mapping):
        return {str(label): _branches(below) for label, below in labels.items()}
    if isinstance(labels, str) or not isinstance(labels, Iterable):
        raise InputError("a label of the tree has neither labels nor a list of values below it")
    return [str(value) for value in labels]


def file(path: str | os.PathLike[str], *, rare: int | None = None, levels: Iterable[int] | None = None) -> Hierarchy:
    """A file with a row for each value: ``value;level 1;...;*``. With ``rare``, siblings that fewer rows have are merged."""
    return _made("file", [os.fspath(path)], {"file": os.fspath(path), "rare": rare}, {"levels": levels})


def builtin(
    name: str, *, rare: int | None = None, levels: Iterable[int] | None = None, missing: str | None = None
) -> Hierarchy:
    """What everybody means by it: "age", "date-of-birth", "iso-country", "us-state", "us-zip3", "icd10", "nuts", "nace", "isco".

    With ``rare``, siblings that fewer rows have are merged.

    >>> import incog, pyarrow as pa
    >>> stays = pa.table({"code": ["E11.9", "E11.2", "I10", "I11.0"]})
    >>> incog.anonymize(stays, quasi_identifiers={"code": incog.builtin("icd10")}, k=2, order="input").frame["code"].to_pylist()
    ['E08-E14', 'E08-E14', 'I10-I16', 'I10-I16']
    """
    return _made("builtin", [name], {"builtin": name, "rare": rare}, {"levels": levels, "missing": missing})


def frequent(n: int, *, levels: Iterable[int] | None = None, missing: str | None = None) -> Hierarchy:
    """The ``n`` most frequent values are kept, the rest is ``other``. What it looks like depends on the data.

    >>> import incog, pyarrow as pa
    >>> jobs = pa.table({"job": ["nurse", "nurse", "cook", "judge"]})
    >>> incog.anonymize(jobs, quasi_identifiers={"job": incog.frequent(1)}, k=2, order="input").frame["job"].to_pylist()
    ['nurse', 'nurse', 'other', 'other']
    """
    return _made("frequent", [n], {"frequent": n}, {"levels": levels, "missing": missing})


def rare(n: int, *, levels: Iterable[int] | None = None, missing: str | None = None) -> Hierarchy:
    """Values that fewer than ``n`` rows have are merged until each label has as many. What it looks like depends on the data."""
    return _made("rare", [n], {"rare": n}, {"levels": levels, "missing": missing})


def suppress(*, missing: str | None = None) -> Hierarchy:
    """Values are kept or replaced by ``*``; the same as no hierarchy."""
    return _made("suppress", [], {"suppress": True}, {"missing": missing})
