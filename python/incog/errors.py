"""What can go wrong.

Every exception of incog is an :class:`Error`, has a ``hint`` where somebody knows what to do, and repeats no cell: messages speak of
columns, levels and counts.

>>> import incog
>>> issubclass(incog.Impossible, incog.PolicyError) and issubclass(incog.PolicyError, incog.Error)
True
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

__all__ = [
    "Cancelled",
    "Error",
    "FileError",
    "Impossible",
    "InputError",
    "InternalError",
    "LimitError",
    "Obstacle",
    "PolicyError",
]


class Error(Exception):
    """Something went wrong; ``hint`` says what to do about it, where that is known."""

    #: What to do about it.
    hint: str | None

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint
        if hint:
            # Shown beneath the message wherever a traceback is shown.
            self.add_note(f"hint: {hint}")

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (str(self), self.hint))


class InputError(Error, ValueError):
    """The data, a hierarchy or an argument is not usable; whoever calls can mend it."""


class PolicyError(Error, ValueError):
    """The policy and the algorithm, or the recoding, do not go together."""


class LimitError(Error):
    """The request is sound but beyond what this machine or this build can hold."""


class FileError(Error, OSError):
    """A file could not be read or written."""


class Cancelled(Error):
    """Somebody asked the work to stop."""


class InternalError(Error):
    """A promise of incog is broken; please report it."""


@dataclass(frozen=True)
class Obstacle:
    """How far the closest generalization is from the policy."""

    #: The same for people.
    text: str
    #: What is required, in words.
    requires: str = ""
    #: The level of each quasi-identifier of the closest generalization.
    levels: dict[str, int] = field(default_factory=dict)
    #: Rows that would have to be suppressed there.
    refused_rows: int = 0
    #: Rows of the table.
    rows: int = 0
    #: Rows that may be suppressed.
    budget: int = 0
    #: Where several models are required, the rows that each refuses there.
    models: dict[str, int] = field(default_factory=dict)


class Impossible(PolicyError):
    """Nothing satisfies the policy; ``obstacle`` says what stands in the way.

    >>> import incog, pyarrow as pa
    >>> try:
    ...     incog.anonymize(pa.table({"zip": ["53715", "53703"]}), quasi_identifiers=["zip"], k=3)
    ... except incog.Impossible as impossible:
    ...     impossible.obstacle.refused_rows, impossible.obstacle.rows
    (2, 2)
    """

    #: What stands in the way.
    obstacle: Obstacle

    def __init__(self, message: str, hint: str | None = None, obstacle: Obstacle | None = None) -> None:
        super().__init__(message, hint)
        self.obstacle = obstacle or Obstacle("")
        if self.obstacle.text:
            self.add_note(self.obstacle.text)

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (str(self), self.hint, self.obstacle))


_CLASSES: dict[str, type[Error]] = {
    "input": InputError,
    "policy": PolicyError,
    "limit": LimitError,
    "io": FileError,
    "cancelled": Cancelled,
    "internal": InternalError,
}


def _made(kind: str, message: str, hint: str | None, source: str | None, data: str | None) -> Error:
    """The exception of an error of the library."""
    if kind == "impossible":
        facts = json.loads(data) if data else {}
        if facts:
            facts["models"] = {model["model"]: model["refused_rows"] for model in facts["models"]}
        return Impossible(message, hint, Obstacle(source or "", **facts))
    return _CLASSES.get(kind, Error)(message, hint)
