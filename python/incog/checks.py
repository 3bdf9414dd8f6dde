"""Is a release what is claimed of it? The independent checker, for the release of any tool."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import Any, Unpack

from . import _incog, reports
from ._frames import table
from ._jobs import listed, nan_is_missing, required
from ._numbers import exact
from ._policy import Policy, asked, check_names
from ._progress import ProgressLike, shown
from .errors import InputError

__all__ = ["verify"]

#: What claims about a release alone consist of.
_CLAIMS = {"quasi_identifiers", "k", "combinations", "sensitive", "require", "nan"}


def verify(
    release: Any,
    *,
    data: Any = None,
    job: str | os.PathLike[str] | None = None,
    record: str | os.PathLike[str] | None = None,
    publisher: str | os.PathLike[str] | None = None,
    local: bool = False,
    progress: ProgressLike = None,
    **policy: Unpack[Policy],
) -> reports.Findings:
    """Checks a release, a frame or a path, made by any tool.

    It raises only where it is asked wrongly; what does not hold is a finding.

    - With ``quasi_identifiers``, ``k``, ``sensitive`` and ``require`` alone: what can be seen of the release.
    - With ``data`` too, and hierarchies: every row against the data that it was made from.
    - Of a path, with the ``job`` file that it was made by, or with its ``record`` (and ``key``, ``publisher``).

    ``local=True``: with ``data``, the release was generalized cell by cell, not column by column.

    >>> import incog, pyarrow as pa
    >>> release = pa.table({"zip": ["5371*", "5371*", "5370*"], "illness": ["flu", "none", "flu"]})
    >>> found = incog.verify(release, quasi_identifiers=["zip"], k=2, sensitive=["illness"])
    >>> bool(found), found.smallest_group
    (False, 1)
    >>> print(found.findings[0])
    FAIL  2-anonymity relative to zip (the smallest group has 1 row)
    >>> found.verdict
    'does not hold: 1 of 1 claim fails, first of all that 2-anonymity relative to zip'
    """
    check_names(policy)
    taken = table(release)
    against = asked(data, policy) if data is not None else None
    claims = None
    if against is None and job is None and record is None:
        claims = _claims(policy)
    missing = nan_is_missing(policy.get("nan", "error"))
    with shown(progress) as callback:
        if taken.frame is not None:
            if job is not None or record is not None or publisher is not None:
                raise InputError(
                    "a job file and a record are about a released file, and the release is a frame",
                    "give the path of the released file, or say data, quasi_identifiers and k here",
                )
            told = _incog.check(taken.frame, missing, claims, against, local, callback)
        else:
            if len(taken.paths) != 1:
                raise InputError("a release is one file or one folder")
            key = policy.get("key") if against is None else None
            told = _incog.check_file(
                taken.paths[0],
                claims,
                against,
                None if job is None else os.fspath(job),
                None if record is None else os.fspath(record),
                None if key is None else os.fspath(key),
                None if publisher is None else os.fspath(publisher),
                local,
                callback,
            )
    found, said, text = told
    return reports.findings(found, json.loads(said), text)


def _claims(policy: Mapping[str, Any]) -> str:
    """What is claimed of a release alone, as JSON."""
    for name in policy:
        if name not in _CLAIMS:
            raise InputError(
                f"`{name}` says how a release was made, which a release alone does not show",
                "give the data too: incog.verify(release, data=...)",
            )
    if "quasi_identifiers" not in policy or policy.get("k") is None:
        raise InputError("nothing is said that the release could be compared with", "give quasi_identifiers and k")
    sensitive = listed("sensitive", policy.get("sensitive", ()))
    claimed = [_claim(model) for model in required(policy.get("require", ()))]
    named = [claim["column"] for claim in claimed]
    measured: list[dict[str, Any]] = [{"column": name} for name in sensitive if name not in named]
    quasi: Iterable[str] = policy["quasi_identifiers"]
    return json.dumps(
        {
            "quasi_identifiers": listed("quasi_identifiers", quasi),
            "k": exact("k", policy["k"]),
            "combinations": policy.get("combinations"),
            "sensitive": measured + claimed,
        }
    )


def _claim(model: dict[str, Any]) -> dict[str, Any]:
    name = model.get("model")
    claim: dict[str, Any] = {"column": model.get("sensitive")}
    if not isinstance(claim["column"], str):
        raise InputError("a model of `require` names no sensitive column")
    if name == "alpha-k":
        claim |= {"alpha": str(model["alpha"]), "values": model.get("values")}
    elif name == "distinct-l":
        claim |= {"distinct_l": model["l"]}
    elif name == "entropy-l":
        claim |= {"entropy_l": str(model["l"])}
    elif name == "recursive-cl":
        claim |= {"recursive": [str(model["c"]), model["l"]]}
    elif name == "delta-disclosure":
        claim |= {"delta": str(model["delta"])}
    elif name == "beta-likeness":
        claim |= {"beta": str(model["beta"]), "basic": model.get("likeness") == "basic"}
    elif name == "t-closeness":
        if model.get("distance") == "hierarchical":
            raise InputError("t by a hierarchy is checked with the data", "incog.verify(release, data=...)")
        claim |= {"t": str(model["t"]), "ordered": model.get("distance") == "ordered", "order": model.get("order")}
    else:
        raise InputError(f"`{name}` cannot be checked from a release alone", "incog.verify(release, data=...)")
    return claim
