"""The arguments that every question shares."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, TypedDict, Union

from ._jobs import Question, QuasiIdentifiers, Requirements, question
from ._numbers import Number
from .errors import InputError


class Policy(TypedDict, total=False):
    """What :func:`incog.anonymize` takes beside the data; each is described there."""

    quasi_identifiers: QuasiIdentifiers
    sensitive: Union[str, Iterable[str]]
    identifiers: Union[str, Iterable[str]]
    others: Union[str, Iterable[str]]
    rest: Union[str, None]
    preset: Union[str, None]
    k: Union[int, None]
    suppression: Union[Number, None]
    require: Requirements
    unit: Union[str, None]
    missing_unit: Union[str, None]
    combinations: Union[int, None]
    algorithm: Union[str, None]
    metric: Union[str, None]
    weights: Union[Mapping[str, float], None]
    order: Union[str, None]
    key: Union[str, "os.PathLike[str]", None]
    sign: Union[str, "os.PathLike[str]", None]
    memory: Union[int, str, None]
    search: Union[Mapping[str, Any], None]
    input: Union[Mapping[str, Any], None]
    output: Union[Mapping[str, Any], None]
    columns: Union[Mapping[str, Mapping[str, Any]], None]
    nan: str


_DEFAULTS: dict[str, Any] = {
    "sensitive": (),
    "identifiers": (),
    "others": (),
    "require": (),
    "nan": "error",
    **dict.fromkeys(
        (
            "rest", "preset", "k", "suppression", "unit", "missing_unit", "combinations", "algorithm", "metric", "weights", "order",
            "key", "sign", "memory", "search", "input", "output", "columns",
        )
    ),
}  # fmt: skip


def check_names(policy: Mapping[str, Any]) -> None:
    """Refuses a name that is none, with advice."""
    import difflib

    known = [*Policy.__annotations__]
    for name in policy:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            advice = f"; did you mean `{near[0]}`?" if near else ""
            raise InputError(f"there is no argument `{name}`{advice}")


def asked(data: Any, policy: Mapping[str, Any]) -> Question:
    """The question that these arguments ask of the data."""
    check_names(policy)
    if policy.get("quasi_identifiers") is None and policy.get("preset") is None:
        raise InputError("`quasi_identifiers` is missing", "name the columns that outsiders may know")
    return question(data, **{**_DEFAULTS, **policy, "quasi_identifiers": policy.get("quasi_identifiers") or ()})
