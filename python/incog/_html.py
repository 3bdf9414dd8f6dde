"""What notebooks show: tables, and the charts that the command line draws. Names are escaped; there are no cells."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


def text(value: object) -> str:
    return escape(str(value))


def heading(words: str) -> str:
    return f"<p><strong>{text(words)}</strong></p>"


def lines(items: Iterable[object]) -> str:
    rows = "".join(f"<li>{text(item)}</li>" for item in items)
    return f"<ul>{rows}</ul>" if rows else ""


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    head = "".join(f"<th>{text(name)}</th>" for name in header)
    body = "".join("<tr>" + "".join(f"<td>{_cell(value)}</td>" for value in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.4f}"
    return text(value)


def chart(svg: str) -> str:
    return f'<div style="max-width:680px">{svg}</div>'
