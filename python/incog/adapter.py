"""An adapter for pipelines that fit and transform."""

from __future__ import annotations

from typing import Any, Unpack

from ._policy import Policy, check_names
from .errors import InputError
from .releases import Recoding, Release, anonymize

__all__ = ["Anonymizer"]


class Anonymizer:
    """Fits a generalization to one frame, and does the same to others.

    ``transform`` suppresses, verifies, and raises :class:`incog.Impossible` where the rows it is given do not satisfy the policy: nothing
    comes out of it that was not verified. So it may return fewer rows than it was given, in another order unless ``order="input"``.

    >>> import incog, pyarrow as pa
    >>> old = pa.table({"zip": ["53715", "53715", "53703", "53706"]})
    >>> anonymizer = incog.Anonymizer(quasi_identifiers={"zip": incog.mask("right")}, k=2).fit(old)
    >>> anonymizer.levels_
    {'zip': 1}
    >>> anonymizer.transform(pa.table({"zip": ["53711", "53712"]}))["zip"].to_pylist()
    ['5371*', '5371*']
    """

    #: What was fitted.
    recoding_: Recoding
    #: The release of the frame that was fitted to.
    release_: Release

    def __init__(self, **policy: Unpack[Policy]) -> None:
        check_names(policy)
        self._policy = policy

    def fit(self, X: Any, y: Any = None) -> Anonymizer:
        """Finds the best generalization of a frame."""
        self.release_ = anonymize(X, **self._policy)
        self.recoding_ = self.release_.recoding
        return self

    def transform(self, X: Any) -> Any:
        """Does the same to a frame, verified."""
        if not hasattr(self, "recoding_"):
            raise InputError("the anonymizer is not fitted", "call fit first")
        return self.recoding_.apply(X, nan=self._policy.get("nan", "error")).frame

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """The release of the frame that is fitted to."""
        return self.fit(X).release_.frame

    @property
    def levels_(self) -> dict[str, int]:
        """The levels that were fitted."""
        return self.recoding_.levels

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The policy."""
        return dict(self._policy)

    def set_params(self, **policy: Unpack[Policy]) -> Anonymizer:
        """Changes the policy; what was fitted stays as it is."""
        check_names(policy)
        self._policy.update(policy)
        return self

    def __repr__(self) -> str:
        return f"Anonymizer({', '.join(f'{name}={value!r}' for name, value in self._policy.items())})"
