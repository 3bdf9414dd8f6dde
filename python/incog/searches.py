"""Every generalization, what each k costs, and recoding models side by side."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Unpack

from . import _html, _incog
from ._frames import like
from ._jobs import Question
from ._policy import Policy, asked
from ._progress import ProgressLike, shown
from .errors import InputError
from .reports import _of

__all__ = ["Compared", "Comparison", "Frontier", "Lattice", "Node", "Point", "compare", "search"]


@dataclass(frozen=True)
class Node:
    """One generalization of the whole table."""

    #: The level of each quasi-identifier; 0 is as collected.
    levels: dict[str, int]
    #: The sum of the levels.
    height: int
    #: The smallest released group.
    smallest_group: int | None
    suppressed_rows: int
    #: The score by each metric.
    scores: dict[str, float]


def _nodes(said: Iterable[Mapping[str, Any]]) -> list[Node]:
    return [_of(Node, node) for node in said]


def _node_columns(nodes: Sequence[Node], quasi: Sequence[str], minimal: Sequence[Node]) -> dict[str, list[Any]]:
    least = {tuple(node.levels.items()) for node in minimal}
    metrics = list(nodes[0].scores) if nodes else []
    columns: dict[str, list[Any]] = {name: [node.levels[name] for node in nodes] for name in quasi}
    columns["height"] = [node.height for node in nodes]
    columns["minimal"] = [tuple(node.levels.items()) in least for node in nodes]
    columns["smallest_group"] = [node.smallest_group for node in nodes]
    columns["suppressed_rows"] = [node.suppressed_rows for node in nodes]
    for metric in metrics:
        columns[metric if metric not in columns else f"score {metric}"] = [node.scores[metric] for node in nodes]
    return columns


class Lattice:
    """Every generalization that satisfies the policy."""

    def __init__(self, question: Question, data: Any, progress: ProgressLike) -> None:
        self._question = question
        self._data = data
        self._all: list[Node] | None = None
        self._said, self._text = self._ask(False, progress)
        #: Satisfying generalizations with no satisfying one below them.
        self.minimal: list[Node] = _nodes(self._said["minimal"])
        best = self._said["best"]
        #: The best by the metric, if any satisfies the policy.
        self.best: Node | None = None if best is None else _of(Node, best)

    def _ask(self, all: bool, progress: ProgressLike) -> tuple[dict[str, Any], str]:
        with shown(progress) as callback:
            said, text = _incog.search(self._question, all, callback)
        return json.loads(said), text

    @property
    def quasi_identifiers(self) -> list[str]:
        """What every claim is relative to."""
        return list(self._said["quasi_identifiers"])

    @property
    def policy(self) -> str:
        """What was asked for, in words."""
        return str(self._said["policy"]["requires"])

    @property
    def rows(self) -> int:
        """Rows of the table."""
        return int(self._said["rows"])

    @property
    def satisfying(self) -> int:
        """How many generalizations satisfy the policy; where not all were :attr:`classified <complete>`, of those that were looked for."""
        return int(self._said["satisfying"])

    @property
    def complete(self) -> bool:
        """Is it known of every generalization whether it satisfies the policy?"""
        return bool(self._said["complete"])

    @property
    def nodes(self) -> int:
        """How many generalizations there are."""
        return int(self._said["lattice_nodes"])

    @property
    def metric(self) -> str:
        """What the best is best by."""
        return str(self._said["metric"])

    @property
    def obstacle(self) -> str | None:
        """Where nothing satisfies the policy: how far even the closest generalization is from it."""
        return self._said.get("obstacle")

    @property
    def notes(self) -> list[str]:
        """What else there is to say, a line each."""
        return list(self._said.get("notes", []))

    def all(self, *, progress: ProgressLike = None) -> list[Node]:
        """Every satisfying generalization. They are described when they are first asked for."""
        if self._all is None:
            said, _ = self._ask(True, progress)
            self._all = _nodes(said["all"])
        return self._all

    def frame(self, *, progress: ProgressLike = None) -> Any:
        """The same as a frame, of the kind of the data: a row a generalization."""
        return like(self._data, _node_columns(self.all(progress=progress), self.quasi_identifiers, self.minimal))

    def frontier(self, k: range | tuple[int, int] = range(2, 101), *, progress: ProgressLike = None) -> Frontier:
        """What each k costs at least, whatever k was asked for."""
        if isinstance(k, range):
            if k.step != 1 or not k:
                raise InputError("the range of k is empty or has steps", "write range(2, 101)")
            least, most = k.start, k.stop - 1
        else:
            least, most = k
        if not 1 <= least <= most:
            raise InputError("the range of k does not go from at least 1 upwards", "write range(2, 101)")
        with shown(progress) as callback:
            said, text, svg = _incog.frontier(self._question, least, most, callback)
        return Frontier(json.loads(said), text, svg, self._data)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as `incog search --format json` prints it."""
        return dict(self._said)

    def __len__(self) -> int:
        return self.satisfying

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"Lattice({self.satisfying} of {self.nodes} generalizations satisfy the policy, {len(self.minimal)} minimal)"

    def _repr_html_(self) -> str:
        html = _html.heading(f"{self.satisfying:,} of {self.nodes:,} generalizations satisfy {self.policy}")
        if self.obstacle:
            html += _html.lines([self.obstacle])
        header = [*self.quasi_identifiers, "height", "smallest group", "suppressed", self.metric, ""]
        shown = self.minimal[:25]
        if self.best is not None and self.best not in shown:
            shown = [self.best, *shown]
        rows = []
        for node in shown:
            what = " ".join(word for word, is_so in (("best", node == self.best), ("minimal", node in self.minimal)) if is_so)
            scores = [node.height, node.smallest_group, node.suppressed_rows, node.scores[self.metric], what]
            rows.append([*node.levels.values(), *scores])
        html += _html.table(header, rows) if rows else ""
        return html + _html.lines(self.notes)


@dataclass(frozen=True)
class Point:
    """One k."""

    k: int
    #: How many generalizations satisfy it.
    satisfying: int
    #: The best of them.
    best: Node | None


class Frontier:
    """What each k costs at least."""

    def __init__(self, said: dict[str, Any], text: str, svg: str, data: Any) -> None:
        self._said = said
        self._text = text
        self._data = data
        #: The chart, as the command line draws it.
        self.svg = svg
        #: One point for each k.
        self.points = [
            _of(Point, at, best=None if at["best"] is None else _of(Node, at["best"])) for at in said["frontier"]
        ]

    @property
    def quasi_identifiers(self) -> list[str]:
        """What every claim is relative to."""
        return list(self._said["quasi_identifiers"])

    @property
    def data(self) -> str:
        """What the chart calls the data: a table in memory, or the names of files without their folders."""
        return str(self._said["data"])

    @property
    def rows(self) -> int:
        """Rows of the table."""
        return int(self._said["rows"])

    @property
    def budget(self) -> int:
        """How many rows might be suppressed."""
        return int(self._said["suppression_rows"])

    @property
    def unit(self) -> str:
        """What k counts: rows or persons."""
        return str(self._said["unit"])

    @property
    def nodes(self) -> int:
        """How many generalizations there are."""
        return int(self._said["lattice_nodes"])

    @property
    def metric(self) -> str:
        """What the best is best by."""
        return str(self._said["metric"])

    def frame(self) -> Any:
        """As a frame, of the kind of the data: a row for each k."""
        quasi = self.quasi_identifiers
        columns: dict[str, list[Any]] = {
            "k": [at.k for at in self.points],
            self.metric: [None if at.best is None else at.best.scores[self.metric] for at in self.points],
            "satisfying": [at.satisfying for at in self.points],
            "suppressed_rows": [None if at.best is None else at.best.suppressed_rows for at in self.points],
        }
        for name in quasi:
            key = name if name not in columns else f"level of {name}"
            columns[key] = [None if at.best is None else at.best.levels[name] for at in self.points]
        return like(self._data, columns)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as `incog search -k 2..100 --format json` prints it."""
        return dict(self._said)

    def __iter__(self) -> Iterator[Point]:
        return iter(self.points)

    def __len__(self) -> int:
        return len(self.points)

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        ends = f"k from {self.points[0].k} to {self.points[-1].k}" if self.points else "no k"
        return f"Frontier({ends}, by {self.metric})"

    def _repr_html_(self) -> str:
        return _html.chart(self.svg)


@dataclass(frozen=True)
class Compared:
    """What came of one recoding model."""

    model: str
    #: Steps of work that it took.
    steps: int
    #: Steps after which it is given up, where the policy has no limit of its own (``search={"max_steps": ...}``).
    limit: int | None = None
    #: The loss metric, LM.
    loss: float | None = None
    #: The distortion ratio.
    distortion: float | None = None
    #: The discernibility metric, DM.
    discernibility: float | None = None
    #: Released rows by released groups.
    average_group_size: float | None = None
    suppressed_rows: int | None = None
    #: Released groups.
    groups: int | None = None
    #: How long it took to find and to verify.
    milliseconds: float | None = None
    #: Whether there is no better one of its kind.
    quality: str | None = None
    #: Why there is no release.
    obstacle: str | None = None


@dataclass(frozen=True)
class Comparison:
    """Recoding models on the same table under the same policy."""

    #: What every release satisfies.
    policy: str
    #: What the models aim at.
    metric: str
    #: What the chart calls the data: a table in memory, or the names of files without their folders.
    data: str
    rows: int
    models: list[Compared]
    #: The chart, as the command line draws it.
    svg: str = field(repr=False)
    #: The same in words, as the command line prints it into a file.
    text: str = field(repr=False)
    _frame: Any = field(repr=False, compare=False, default=None)
    _said: dict[str, Any] = field(repr=False, compare=False, default_factory=dict)

    def frame(self) -> Any:
        """As a frame, of the kind of the data: a row a model."""
        return like(self._frame, {name: [getattr(at, name) for at in self.models] for name in Compared.__dataclass_fields__})

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as `incog compare --format json` prints it."""
        return dict(self._said)

    def __iter__(self) -> Iterator[Compared]:
        return iter(self.models)

    def __len__(self) -> int:
        return len(self.models)

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        header = ["model", "loss", "distortion", "groups", "suppressed", "quality"]
        rows = [[at.model, at.loss, at.distortion, at.groups, at.suppressed_rows, at.quality or at.obstacle] for at in self.models]
        return _html.heading(self.policy) + _html.table(header, rows) + _html.chart(self.svg)


def _kept(data: Any) -> Any:
    """A reader can be read once, and a lattice asks again."""
    return data.read_all() if type(data).__name__ == "RecordBatchReader" and hasattr(data, "read_all") else data


def search(data: Any, *, progress: ProgressLike = None, **policy: Unpack[Policy]) -> Lattice:
    """Finds every generalization that satisfies the policy. Arguments are those of :func:`incog.anonymize`.

    >>> import incog, pyarrow as pa
    >>> patients = pa.table({"zip": ["53715", "53715", "53703", "53706"]})
    >>> lattice = incog.search(patients, quasi_identifiers={"zip": incog.mask("right")}, k=2)
    >>> lattice
    Lattice(5 of 6 generalizations satisfy the policy, 1 minimal)
    >>> lattice.best.levels
    {'zip': 1}
    >>> [point.best.levels["zip"] for point in lattice.frontier(range(2, 5))]
    [1, 2, 2]
    """
    data = _kept(data)
    return Lattice(asked(data, policy), data, progress)


def compare(
    data: Any, *, models: Iterable[str] | None = None, progress: ProgressLike = None, **policy: Unpack[Policy]
) -> Comparison:
    """Makes a verified release by each recoding model, and measures it. Arguments are those of :func:`incog.anonymize`.

    >>> import incog, pyarrow as pa
    >>> patients = pa.table({"zip": ["53715", "53715", "53703", "53706"]})
    >>> both = incog.compare(patients, quasi_identifiers={"zip": incog.mask("right")}, k=2, models=["full-domain", "top-down"])
    >>> [at.model for at in both]
    ['full-domain', 'top-down']
    """
    question = asked(data, policy)
    with shown(progress) as callback:
        said, text, svg = _incog.compare(question, None if models is None else list(models), callback)
    told = json.loads(said)
    return _of(
        Comparison, told, models=[_of(Compared, at) for at in told["models"]], svg=svg, text=text, _frame=data, _said=told
    )
