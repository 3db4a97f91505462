"""Icons, statuses, strips and cells of the matrix as markup, of which pages have hundreds.

They are functions and not macros, because a page with thousands of them has to be made in a few milliseconds.
Every text is escaped here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from markupsafe import Markup, escape

from saltern.fleet.console.format import mark
from saltern.report.text import safe

LOUD = frozenset({"failed", "timeout", "unknown", "halted"})
THINNEST = 200  # a part of a strip has at least this share of it


def text_of(value: object) -> Markup:
    """Untrusted text: escaped, with control characters and direction marks made visible."""
    return escape(safe(value) if isinstance(value, str) and not isinstance(value, Markup) else value)


@lru_cache(maxsize=256)
def icon(name: str, cls: str = "") -> Markup:
    """An icon of the set that every page contains."""
    more = f" {cls}" if cls else ""
    return Markup(f'<svg class="i{text_of(more)}" aria-hidden="true"><use href="#{text_of(name)}"/></svg>')


def st(kind: str, text: object, loud: bool = False) -> Markup:
    """A mark with its word; statuses that need a person are emphasised."""
    cls = f"{kind} loud" if loud or kind in LOUD else kind
    picture = icon(f"s-{kind}", "s-spin" if kind == "running" else "")
    return Markup(f'<span class="st {text_of(cls)}">{picture}{text_of(text)}</span>')


def status(word: str, text: object = "") -> Markup:
    """A status of the engine with its mark."""
    return st(mark(word), text or word or "not run")


def strip(parts: Sequence[tuple[str, float]], label: str, cls: str = "") -> Markup:
    """The counts of statuses as one bar."""
    total = sum(number for _, number in parts)
    at: float = 0
    bars = []
    for kind, number in parts:
        if number:
            width = max(number, total / THINNEST)
            bars.append(f'<rect class="f-{text_of(kind)}" x="{at}" y="0" width="{width}" height="10"/>')
            at += number
    return Markup(
        f'<svg class="strip {text_of(cls)}" viewBox="0 0 {total} 10" preserveAspectRatio="none" role="img"'
        f' aria-label="{text_of(label)}">{"".join(bars)}</svg>'
    )


@lru_cache(maxsize=256)
def _cell(word: str, cut: bool) -> str:
    cls = mark(word) if word else "gap"
    line = " cutline" if cut else ""
    said = text_of(word or "has it not")
    return f'<td class="c {cls}{line}" tabindex="-1" role="gridcell"><span>{said}</span></td>'


def cells(words: Iterable[str], cuts: Iterable[bool]) -> Markup:
    """A row of the matrix: a cell for each step. Its row says which system it is, its column which step."""
    return Markup("".join(_cell(word, cut) for word, cut in zip(words, cuts, strict=True)))
