"""What a release must satisfy beyond k: privacy models of sensitive columns.

Numbers are exact. A float is its shortest decimal, so 0.29 is 29/100; fractions, decimals and text ("29%") say the same.

>>> import incog
>>> incog.alpha_k("illness", 0.29).to_dict()
{'model': 'alpha-k', 'sensitive': 'illness', 'alpha': '0.29'}
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ._numbers import Number, exact
from .hierarchies import Hierarchy

__all__ = [
    "Model",
    "alpha_k",
    "beta_likeness",
    "delta_disclosure",
    "distinct_l",
    "entropy_l",
    "model",
    "recursive_cl",
    "t_closeness",
]


class Model:
    """A privacy model of a sensitive column, with its numbers. Made by the functions of this module."""

    __slots__ = ("_said",)

    def __init__(self, said: Mapping[str, Any]) -> None:
        self._said = {key: value for key, value in said.items() if value is not None}

    def to_dict(self) -> dict[str, Any]:
        """The same with the keys of a job file."""
        return dict(self._said)

    def __repr__(self) -> str:
        rest = ", ".join(f"{key}={value!r}" for key, value in self._said.items() if key not in ("model", "sensitive"))
        return f"Model({self._said['model']!r}, {self._said.get('sensitive')!r}{', ' if rest else ''}{rest})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Model) and self._said == other._said

    def __hash__(self) -> int:
        return hash(repr(self._said))


def model(name: str, sensitive: str, **parameters: Any) -> Model:
    """Any model, by its name in ``incog.names()``; parameters have the names of the job file."""
    said: dict[str, Any] = {"model": name, "sensitive": sensitive}
    for key, value in parameters.items():
        if isinstance(value, Hierarchy):
            said[key] = value.to_dict()
        elif isinstance(value, (str, bool)) or value is None:
            said[key] = value
        elif isinstance(value, Mapping):
            said[key] = dict(value)
        elif isinstance(value, Iterable):
            said[key] = [entry if isinstance(entry, str) else exact(key, entry) for entry in value]
        else:
            said[key] = exact(key, value)
    return Model(said)


def alpha_k(
    sensitive: str, alpha: Number, *, values: Iterable[str] | None = None, publish_values: bool | None = None
) -> Model:
    """No value has more than this share of a group; of ``values``, all of them together.

    With ``publish_values`` the record tells which these are, so that everybody can check the claim.
    """
    return model("alpha-k", sensitive, alpha=alpha, values=values, publish_values=publish_values)


def distinct_l(sensitive: str, l: int) -> Model:
    """Every group has at least ``l`` different values."""
    return model("distinct-l", sensitive, l=l)


def entropy_l(sensitive: str, l: Number) -> Model:
    """The entropy of every group is at least that of ``l`` equally frequent values."""
    return model("entropy-l", sensitive, l=l)


def recursive_cl(sensitive: str, c: Number, l: int) -> Model:
    """The most frequent value is less than ``c`` times as frequent as all but the ``l`` - 1 most frequent together."""
    return model("recursive-cl", sensitive, c=c, l=l)


def t_closeness(
    sensitive: str,
    t: Number,
    *,
    distance: str | None = None,
    order: Iterable[str] | None = None,
    hierarchy: Hierarchy | None = None,
) -> Model:
    """The distribution of every group is at most ``t`` from that of all rows.

    All values are equally far apart, unless ``distance="ordered"`` (as numbers, or in the ``order`` given) or a ``hierarchy`` says otherwise.
    """
    if distance is None and hierarchy is not None:
        distance = "hierarchical"
    if distance is None and order is not None:
        distance = "ordered"
    return model("t-closeness", sensitive, t=t, distance=distance, order=order, hierarchy=hierarchy)


def delta_disclosure(sensitive: str, delta: Number) -> Model:
    """The logarithm of a value's share in a group is less than ``delta`` from that in all rows."""
    return model("delta-disclosure", sensitive, delta=delta)


def beta_likeness(sensitive: str, beta: Number, *, likeness: str | None = None) -> Model:
    """The share of a value in a group exceeds that in all rows by at most ``beta`` of itself."""
    return model("beta-likeness", sensitive, beta=beta, likeness=likeness)
