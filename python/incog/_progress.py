"""How far is it? A callback, or a line for people on anything over a second."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Union

#: Stages, counts and notes; never a cell.
logger = logging.getLogger("incog")

#: Runs that are over sooner show nothing, in seconds.
PATIENCE = 1.0
#: How often the line is drawn anew, in seconds.
TICK = 0.1


@dataclass(frozen=True)
class Progress:
    """How far a run is."""

    #: reading, searching, clustering, merging, ranking, verifying or writing
    stage: str
    #: Rows read or written in this stage; while clustering, persons placed.
    rows: int
    #: Generalizations judged so far.
    judged: int
    #: The most that are still to be judged.
    open: int

    def __str__(self) -> str:
        if self.stage in ("searching", "merging", "clustering") and (self.judged or self.open):
            return f"{self.stage}: {self.judged:,} judged, at most {self.open:,} to go"
        return f"{self.stage}: {self.rows:,} rows" if self.rows else self.stage


#: Called every few milliseconds; whatever it raises ends the run. ``False``: nothing is shown. ``None``: a line where people see it.
ProgressLike = Union[Callable[[Progress], object], bool, None]


class _Line:
    """A line in a terminal or a notebook, once a run takes longer than a second."""

    def __init__(self) -> None:
        self.since = time.monotonic()
        self.drawn = self.since
        self.width = 0
        self.notebook: Any = None
        self.is_notebook = _is_notebook()

    def __call__(self, progress: Progress) -> None:
        now = time.monotonic()
        if now - self.since < PATIENCE or now - self.drawn < TICK:
            return
        self.drawn = now
        text = f"incog, {progress}"
        if self.is_notebook:
            import IPython.display

            if self.notebook is None:
                draw: Any = IPython.display.display
                self.notebook = draw({"text/plain": text}, raw=True, display_id=True)
            else:
                self.notebook.update({"text/plain": text}, raw=True)
            return
        sys.stderr.write("\r" + text.ljust(self.width))
        sys.stderr.flush()
        self.width = len(text)

    def end(self) -> None:
        if self.notebook is not None:
            self.notebook.update({"text/plain": ""}, raw=True)
        elif self.width:
            sys.stderr.write("\r" + " " * self.width + "\r")
            sys.stderr.flush()


def _is_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return type(shell).__name__ == "ZMQInteractiveShell"


@contextmanager
def shown(progress: ProgressLike) -> Iterator[Callable[[str, int, int, int], None] | None]:
    """What the engine calls while it works."""
    line = None
    call: Callable[[Progress], object] | None = None
    if callable(progress):
        call = progress
    elif progress is not False and (progress is True or _is_notebook() or _is_terminal()):
        call = line = _Line()
    if call is None and not logger.isEnabledFor(logging.DEBUG):
        yield None
        return
    stage = ""

    def told(now: str, rows: int, judged: int, open: int) -> None:
        nonlocal stage
        if now != stage:
            stage = now
            logger.debug("%s", stage)
        if call is not None:
            call(Progress(now, rows, judged, open))

    try:
        yield told
    finally:
        if line is not None:
            line.end()


def _is_terminal() -> bool:
    try:
        return sys.stderr.isatty()
    except (AttributeError, ValueError):
        return False
