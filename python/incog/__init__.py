"""incog publishes microdata that cannot be joined back to people, and proves it.

A frame goes in, a verified frame comes out:

>>> import incog, pyarrow as pa
>>> patients = pa.table({"zip": ["53715", "53715", "53703", "53706"], "illness": ["flu", "cold", "flu", "none"]})
>>> release = incog.anonymize(patients, quasi_identifiers={"zip": incog.mask("right")}, sensitive="illness", k=2)
>>> release
Release(4 rows released, 0 suppressed, loss 0.2500, optimal, verified)

Every function has the names of the job file; :func:`incog.anonymize` describes them.
"""

from __future__ import annotations

import atexit as _atexit
import os as _os

from . import _incog
from ._frames import IndexDropped
from ._policy import Policy
from ._progress import Progress
from .adapter import Anonymizer
from .checks import verify
from .errors import (
    Cancelled,
    Error,
    FileError,
    Impossible,
    InputError,
    InternalError,
    LimitError,
    Obstacle,
    PolicyError,
)
from .hierarchies import Hierarchy, builtin, dates, file, frequent, intervals, mask, rare, suppress, tree
from .jobs import DatabaseRelease, Job, Published, Relation, database, relation
from .models import (
    Model,
    alpha_k,
    beta_likeness,
    delta_disclosure,
    distinct_l,
    entropy_l,
    model,
    recursive_cl,
    t_closeness,
)
from .profiles import ColumnProfile, Exposure, Profile, profile
from .releases import Recoding, Release, anonymize
from .reports import DatabaseRecord, Finding, Findings, Measured, Record, Report
from .searches import Compared, Comparison, Frontier, Lattice, Node, Point, compare, search

__version__: str = _incog.VERSION

# Cancelled work is waited for, and a forked process starts threads of its own.
_atexit.register(_incog.join)
if hasattr(_os, "register_at_fork"):
    _os.register_at_fork(after_in_child=_incog.after_fork)


def names() -> dict[str, list[str]]:
    """The names of all models, metrics and algorithms.

    >>> import incog
    >>> "alpha-k" in incog.names()["model"], "mondrian" in incog.names()["algorithm"]
    (True, True)
    """
    found: dict[str, list[str]] = {}
    for kind, name in _incog.names():
        found.setdefault(kind, []).append(name)
    return found


def explain(name: str) -> str:
    """What a model, metric or algorithm promises, when to use it, and its limits, as Markdown.

    >>> import incog
    >>> incog.explain("alpha-k").startswith("# What it promises")
    True
    """
    return _incog.explain(name)


__all__ = [
    "Anonymizer",
    "Cancelled",
    "ColumnProfile",
    "Compared",
    "Comparison",
    "DatabaseRecord",
    "DatabaseRelease",
    "Error",
    "Exposure",
    "FileError",
    "Finding",
    "Findings",
    "Frontier",
    "Hierarchy",
    "Impossible",
    "IndexDropped",
    "InputError",
    "InternalError",
    "Job",
    "Lattice",
    "LimitError",
    "Measured",
    "Model",
    "Node",
    "Obstacle",
    "Point",
    "Policy",
    "PolicyError",
    "Profile",
    "Progress",
    "Published",
    "Record",
    "Recoding",
    "Relation",
    "Release",
    "Report",
    "alpha_k",
    "anonymize",
    "beta_likeness",
    "builtin",
    "compare",
    "database",
    "dates",
    "delta_disclosure",
    "distinct_l",
    "entropy_l",
    "explain",
    "file",
    "frequent",
    "intervals",
    "mask",
    "model",
    "names",
    "profile",
    "rare",
    "recursive_cl",
    "relation",
    "search",
    "suppress",
    "t_closeness",
    "tree",
    "verify",
]
