"""A frame in, a verified frame out."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from . import _html, _incog, _jobs, reports
from ._frames import table
from ._numbers import Number
from ._policy import asked
from ._progress import ProgressLike, logger, shown
from .errors import PolicyError

__all__ = ["Recoding", "Release", "anonymize"]


class Recoding:
    """What was done to a table, to be done to other rows.

    >>> import incog, pyarrow as pa
    >>> old = pa.table({"zip": ["53715", "53715", "53703", "53706"]})
    >>> release = incog.anonymize(old, quasi_identifiers={"zip": incog.mask("right")}, k=2)
    >>> new = pa.table({"zip": ["53711", "53712"]})
    >>> release.recoding.apply(new).frame["zip"].to_pylist()
    ['5371*', '5371*']
    """

    def __init__(self, made: _incog.Recoding) -> None:
        self._made = made

    @property
    def levels(self) -> dict[str, int]:
        """The level of each quasi-identifier."""
        return self._made.levels()

    @property
    def job(self) -> str:
        """The job that the release was made by, as a job file."""
        return self._made.job()

    def apply(self, data: Any, *, nan: str = "error", progress: ProgressLike = None) -> Release:
        """Does the same to other rows: generalized to the same levels, suppressed where they must be, verified anew.

        Raises :class:`incog.Impossible` where the new rows do not satisfy the policy at these levels.
        """
        taken = table(data)
        if taken.frame is None:
            raise PolicyError("a recoding is applied to a frame, not to a path", "read the file into a frame first")
        with shown(progress) as callback:
            made = self._made.apply(taken.frame, _jobs.nan_is_missing(nan), callback)
        return Release(made, taken.back)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, to be kept: ``Recoding.from_dict`` takes it. It is the publisher's: the job may list values."""
        return {"job": self.job, "levels": self.levels}

    @classmethod
    def from_dict(cls, said: Mapping[str, Any]) -> Recoding:
        """The recoding that :meth:`to_dict` told of."""
        return cls(_incog.recoding_of(said["job"], dict(said["levels"])))

    def __reduce__(self) -> tuple[Any, ...]:
        return (Recoding.from_dict, (self.to_dict(),))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Recoding) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash(self.job)

    def __repr__(self) -> str:
        return f"Recoding({self.levels})"


class Release:
    """A release that the independent checker has found to keep all its promises."""

    def __init__(self, made: _incog.Release, back: Callable[[Any], Any]) -> None:
        self._made = made
        # Not the data themselves: nobody needs them any more.
        self._back = back
        self._stream: _incog.Stream | None = None
        self._frame: Any = None
        self._report: reports.Report | None = None
        self._record: reports.Record | None = None
        for note in made.notes:
            logger.warning("%s", note)
        logger.info("%d rows released, %d suppressed", len(made), made.suppressed_rows)

    @property
    def frame(self) -> Any:
        """The released rows, as a frame of the kind that went in."""
        if self._frame is None:
            frame = self._back(self)
            if type(frame).__name__ == "RecordBatchReader":
                # It can be read once.
                return frame
            self._frame = frame
        return self._frame

    @property
    def report(self) -> reports.Report:
        """What there is to say of it."""
        if self._report is None:
            self._report = reports.report(*self._made.report())
        return self._report

    @property
    def seconds(self) -> float:
        """How long the engine took, from the frame to the verified release."""
        return self._made.seconds

    @property
    def findings(self) -> reports.Findings:
        """What the checker found, and what was measured."""
        return reports.verified(self._made.findings(), self.report)

    @property
    def record(self) -> reports.Record:
        """What everybody can recompute. Digests that take the publisher's key are empty where there is none yet."""
        if self._record is None:
            self._record = reports.record(self._made.record())
        return self._record

    @property
    def recoding(self) -> Recoding:
        """What was done, to be done to other rows. Raises where the release is recoded row by row."""
        return Recoding(self._made.recoding())

    def write(self, path: str | os.PathLike[str]) -> Path | None:
        """Writes it in the format that the file's name says, with its record: both appear whole, or neither does. Tells where the record is."""
        return self._made.write(os.fspath(path))

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        if self._stream is None:
            self._stream = self._made.stream()
        return self._stream.__arrow_c_stream__(requested_schema)

    def __len__(self) -> int:
        return len(self._made)

    def __repr__(self) -> str:
        report = self.report
        return (
            f"Release({report.released_rows} rows released, {report.suppressed_rows} suppressed, "
            f"loss {report.loss:.4f}, {report.quality}, verified)"
        )

    def _repr_html_(self) -> str:
        return _html.heading(f"A verified release: {self.report.model}") + self.report._repr_html_()


def anonymize(
    data: Any,
    *,
    quasi_identifiers: _jobs.QuasiIdentifiers | None = None,
    sensitive: str | Iterable[str] = (),
    identifiers: str | Iterable[str] = (),
    others: str | Iterable[str] = (),
    rest: str | None = None,
    preset: str | None = None,
    k: int | None = None,
    suppression: Number | None = None,
    require: _jobs.Requirements = (),
    unit: str | None = None,
    missing_unit: str | None = None,
    combinations: int | None = None,
    algorithm: str | None = None,
    metric: str | None = None,
    weights: Mapping[str, float] | None = None,
    order: str | None = None,
    key: str | os.PathLike[str] | None = None,
    sign: str | os.PathLike[str] | None = None,
    memory: int | str | None = None,
    search: Mapping[str, Any] | None = None,
    input: Mapping[str, Any] | None = None,
    output: Mapping[str, Any] | None = None,
    columns: Mapping[str, Mapping[str, Any]] | None = None,
    nan: str = "error",
    progress: ProgressLike = None,
) -> Release:
    """Finds the best release that satisfies the policy, and has it verified.

    :param data: a frame of pandas, polars, pyarrow, DuckDB or Ibis, anything with ``__arrow_c_stream__``, or paths.
    :param quasi_identifiers: columns that could single a person out together with others, and what their values may become.
    :param sensitive: columns that nobody should learn about a person: released as they are, and measured.
    :param identifiers: columns that name a person outright: dropped.
    :param others: columns that are released as they are.
    :param rest: the role of all columns that nobody names; without it they are an error, not a guess.
    :param preset: a policy that others have written down, by its name in ``incog.profile``: it gives a role and a hierarchy to the columns
        that nobody names, and refuses what contradicts it.
    :param k: every released row looks like at least k - 1 others.
    :param suppression: how many rows may be left out: a count, or a share (0.01, "1%"). None unless given.
    :param require: more privacy models, such as :func:`incog.alpha_k`.
    :param unit: the column that says whom a row is about, where a person may have several: k then counts persons. Never released.
    :param missing_unit: "nobody" counts rows without a unit as rows of nobody; otherwise they are an error.
    :param combinations: k-anonymity of every combination of at most this many quasi-identifiers, instead of all together.
    :param algorithm: by its name in ``incog.names()``; the best full-domain generalization unless given.
    :param metric: what the best is best by; loss unless given.
    :param weights: how much a quasi-identifier counts in the metric.
    :param order: "shuffle" (unless given: the order of rows can tell whose they are) or "input".
    :param key: the file of the publisher's key; ``incog.key`` in the current folder unless given, made when a release is written.
    :param sign: the file of the private key that signs records.
    :param memory: of paths: how much memory the run may take ("512 MB"); larger tables are kept in temporary files meanwhile.
    :param search: whatever else a job file says in ``[search]``.
    :param input: of paths: whatever else a job file says in ``[input]``.
    :param output: whatever else a job file says in ``[output]``, for :meth:`Release.write`: ``{"types": "text", "record": False}``.
    :param columns: whatever else a job file says of columns, such as ``{"income": {"decimal": ","}}``, or
        ``{"name": {"replace": "keyed-hash"}}``: an identifier becomes a pseudonym instead of being dropped.
    :param nan: what NaN is in frames of polars and Arrow: an "error", or "missing". In pandas it is missing.
    :param progress: a callback, ``False`` for nothing, or a line on anything over a second where people see it.

    >>> import incog, pyarrow as pa
    >>> patients = pa.table({
    ...     "name": ["Ada", "Bo", "Cy", "Di"],
    ...     "zip": ["53715", "53715", "53703", "53706"],
    ...     "age": [34, 36, 51, 58],
    ...     "illness": ["flu", "asthma", "flu", "none"],
    ... })
    >>> release = incog.anonymize(
    ...     patients,
    ...     quasi_identifiers={"age": incog.intervals(5, 10, 20, top=90), "zip": incog.mask("right")},
    ...     sensitive="illness", identifiers="name", k=2, order="input",
    ... )
    >>> release.frame.to_pydict()["zip"]
    ['5371*', '5371*', '5370*', '5370*']
    >>> release.report.verified
    True
    """
    question = asked(
        data,
        {
            "quasi_identifiers": quasi_identifiers,
            "sensitive": sensitive,
            "identifiers": identifiers,
            "others": others,
            "rest": rest,
            "preset": preset,
            "k": k,
            "suppression": suppression,
            "require": require,
            "unit": unit,
            "missing_unit": missing_unit,
            "combinations": combinations,
            "algorithm": algorithm,
            "metric": metric,
            "weights": weights,
            "order": order,
            "key": key,
            "sign": sign,
            "memory": memory,
            "search": search,
            "input": input,
            "output": output,
            "columns": columns,
            "nan": nan,
        },
    )
    assert question.table is not None
    with shown(progress) as callback:
        made = _incog.anonymize(question, callback)
    return Release(made, question.table.back)
