"""Questions: what somebody says by arguments, with the keys of a job file."""

from __future__ import annotations

import difflib
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Union

from . import _incog
from ._frames import Table, table
from ._numbers import Number, exact, suppression as rows_or_share
from .errors import InputError
from .hierarchies import Hierarchy
from .models import Model

#: What a quasi-identifier may become: a hierarchy, the same with the keys of a job file, or None: kept or replaced by ``*``.
HierarchyLike = Union[Hierarchy, Mapping[str, Any], None]
#: Quasi-identifiers in order, with what they may become or without.
QuasiIdentifiers = Union[Mapping[str, HierarchyLike], Iterable[str]]

#: Privacy models; one alone may stand without brackets.
Requirements = Union[Model, Mapping[str, Any], Iterable[Union[Model, Mapping[str, Any]]]]

ROLES = ("identifier", "quasi-identifier", "sensitive", "other")


@dataclass
class Question:
    """A job, and the frame that it is about. The attributes are what ``_incog`` reads."""

    said: dict[str, Any]
    rest: str | None = None
    folder: Path | None = None
    frame: Any = None
    nan_is_missing: bool = False
    table: Table | None = field(default=None, repr=False)

    @property
    def job(self) -> str:
        """The job as JSON."""
        return as_json(self.said)


def listed(name: str, columns: str | Iterable[str]) -> list[str]:
    """Names of columns; one alone may stand without brackets."""
    if isinstance(columns, str):
        return [columns]
    names = list(columns)
    if not all(isinstance(column, str) for column in names):
        raise InputError(f"`{name}` has a name that is no text")
    return names


def hierarchy(column: str, said: HierarchyLike) -> dict[str, Any] | None:
    if said is None:
        return None
    if isinstance(said, Hierarchy):
        return said.to_dict()
    if isinstance(said, Mapping):
        return dict(said)
    raise InputError(
        f"what `{column}` may become is no hierarchy",
        'write incog.intervals(5, 10), incog.mask("right"), incog.dates("month"), incog.tree(...), incog.file(...) or None',
    )


def required(models: Requirements) -> list[dict[str, Any]]:
    """Privacy models with the keys of a job file."""
    several: Any = [models] if isinstance(models, (Model, Mapping)) else models
    return [model.to_dict() if isinstance(model, Model) else dict(model) for model in several]


def nan_is_missing(nan: str) -> bool:
    if nan not in ("error", "missing"):
        raise InputError("`nan` is none of error, missing")
    return nan == "missing"


def question(
    data: Any,
    *,
    quasi_identifiers: QuasiIdentifiers,
    sensitive: str | Iterable[str],
    identifiers: str | Iterable[str],
    others: str | Iterable[str],
    rest: str | None,
    preset: str | None,
    k: int | None,
    suppression: Number | None,
    require: Requirements,
    unit: str | None,
    missing_unit: str | None,
    combinations: int | None,
    algorithm: str | None,
    metric: str | None,
    weights: Mapping[str, float] | None,
    order: str | None,
    key: str | os.PathLike[str] | None,
    sign: str | os.PathLike[str] | None,
    memory: int | str | None,
    search: Mapping[str, Any] | None,
    input: Mapping[str, Any] | None,
    output: Mapping[str, Any] | None,
    columns: Mapping[str, Mapping[str, Any]] | None,
    nan: str,
) -> Question:
    """The question that arguments ask."""
    taken = table(data)
    said_columns = _columns(quasi_identifiers, sensitive, identifiers, others, columns)
    policy: dict[str, Any] = {}
    if k is None:
        raise InputError("`k` is missing", "common choices are 3, 5, 11 and 20")
    policy["k"] = exact("k", k)
    if suppression is not None:
        policy["suppression"] = rows_or_share(suppression)
    for name, value in (("unit", unit), ("missing_unit", missing_unit), ("combinations", combinations)):
        if value is not None:
            policy[name] = value
    if models := required(require):
        policy["require"] = models
    searched: dict[str, Any] = dict(search or {})
    for name, text in (("algorithm", algorithm), ("metric", metric)):
        if text is not None:
            searched[name] = text
    if weights:
        searched["weights"] = {column: float(weight) for column, weight in weights.items()}
    read: dict[str, Any] = {"path": "-", **(input or {})}
    if taken.frame is None:
        read["path"] = taken.paths[0] if len(taken.paths) == 1 else taken.paths
    if memory is not None:
        read["memory"] = memory
    written: dict[str, Any] = dict(output or {})
    for name, path in (("key", key), ("sign", sign)):
        if path is not None:
            written[name] = os.fspath(path)
    if order is not None:
        written["order"] = order
    job: dict[str, Any] = {"input": read, "policy": policy}
    if written:
        job["output"] = written
    if searched:
        job["search"] = searched
    job["columns"] = said_columns
    if preset is not None:
        job["preset"] = preset
    if rest is not None and rest not in ROLES:
        near = difflib.get_close_matches(rest, ROLES, 1)
        advice = f"; did you mean `{near[0]}`?" if near else ""
        raise InputError(f"`rest` is none of {', '.join(ROLES)}{advice}")
    return Question(job, rest, None, taken.frame, nan_is_missing(nan), taken)


def _columns(
    quasi_identifiers: QuasiIdentifiers,
    sensitive: str | Iterable[str],
    identifiers: str | Iterable[str],
    others: str | Iterable[str],
    more: Mapping[str, Mapping[str, Any]] | None,
) -> dict[str, Any]:
    said: dict[str, Any] = {}

    def declare(name: str, role: str, rule: dict[str, Any] | None = None) -> None:
        if name in said:
            raise InputError(f"column `{name}` is declared twice", "a column has one role")
        said[name] = {"role": role} if rule is None else {"role": role, "hierarchy": rule}

    if isinstance(quasi_identifiers, Mapping):
        for name, rule in quasi_identifiers.items():
            declare(name, "quasi-identifier", hierarchy(name, rule))
    else:
        for name in listed("quasi_identifiers", quasi_identifiers):
            declare(name, "quasi-identifier")
    for what, names, role in (
        ("sensitive", sensitive, "sensitive"),
        ("identifiers", identifiers, "identifier"),
        ("others", others, "other"),
    ):
        for name in listed(what, names):
            declare(name, role)
    for name, keys in (more or {}).items():
        if name not in said:
            near = difflib.get_close_matches(name, said, 1)
            advice = f"; did you mean `{near[0]}`?" if near else ""
            raise InputError(f"`columns` speaks of `{name}`, which has no role{advice}", "declare the column first")
        said[name].update(keys)
    return said


def as_json(said: Mapping[str, Any]) -> str:
    """A job for the engine. Days of a job file are text there."""
    return json.dumps(said, default=str)


def to_toml(said: Mapping[str, Any]) -> str:
    """The job file that says the same."""
    return _incog.to_toml(as_json(said))
