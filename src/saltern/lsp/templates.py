"""Suggests what may be written inside a template tag."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from saltern.facts.grains import GROUPS
from saltern.lsp.cursor import Cursor
from saltern.lsp.desk import Desk, Suggestion, make_suggestion
from saltern.lsp.positions import Span

Names = Callable[[Desk, str], Iterator[tuple[str, str]]]  # a name, and its description


def _functions(desk: Desk, typed: str) -> Iterator[tuple[str, str]]:
    module, dot, _ = typed.partition(".")
    if not dot:
        return ((name, "module") for name in desk.manual.modules("functions"))
    return ((f"{module}.{fun}", "function") for fun in desk.manual.members("functions", module))


def _grains(_desk: Desk, _typed: str) -> Iterator[tuple[str, str]]:
    return ((name, "grain") for group in GROUPS for name in group.names)


def _pillar(desk: Desk, _typed: str) -> Iterator[tuple[str, str]]:
    return ((name, "pillar") for name in desk.site.pillar_keys)


def _pillar_tops(desk: Desk, _typed: str) -> Iterator[tuple[str, str]]:
    return ((name, "pillar") for name in desk.site.pillar_keys if ":" not in name)


def _files(desk: Desk, _typed: str) -> Iterator[tuple[str, str]]:
    return ((name, "file") for name in desk.site.tree.names(desk.env))


def _filters(_desk: Desk, _typed: str) -> Iterator[tuple[str, str]]:
    from saltern.render.filters import FILTERS

    return ((name, "filter") for name in FILTERS)


def _variables(_desk: Desk, _typed: str) -> Iterator[tuple[str, str]]:
    return ((name, "variable") for name in VARIABLES)


# The names in every template.
VARIABLES = (
    *("salt", "grains", "pillar", "opts", "prev_ret", "sls", "saltenv"),
    *("slspath", "tplfile", "tpldir", "tplroot"),
)

# The text before the cursor, and what may follow; the first match is used.
SITUATIONS: tuple[tuple[re.Pattern[str], Names], ...] = (
    (re.compile(r"\bpillar\.get['\"]\]\(\s*['\"](?P<typed>[^'\"]*)$"), _pillar),
    (re.compile(r"\bsalt\.pillar\.get\(\s*['\"](?P<typed>[^'\"]*)$"), _pillar),
    (re.compile(r"\bgrains\.get['\"]\]\(\s*['\"](?P<typed>[^'\"]*)$"), _grains),
    (re.compile(r"\bsalt\[\s*['\"](?P<typed>[\w.]*)$"), _functions),
    (re.compile(r"\bsalt\.(?P<typed>[\w.]*)$"), _functions),
    (re.compile(r"\bgrains(?:\[\s*['\"]|\.get\(\s*['\"]|\.)(?P<typed>\w*)$"), _grains),
    (re.compile(r"\bpillar(?:\[\s*['\"]|\.get\(\s*['\"]|\.)(?P<typed>[\w-]*)$"), _pillar_tops),
    (re.compile(r"\{%[-+]?\s*(?:from|import|include|extends|import_\w+)\s+['\"](?P<typed>[^'\"]*)$"), _files),
    (re.compile(r"\|\s*(?P<typed>\w*)$"), _filters),
    (re.compile(r"(?:\{\{|\{%|[\s(,=~+])(?P<typed>\w*)$"), _variables),
)


def in_template(desk: Desk, cursor: Cursor) -> Iterator[Suggestion]:
    for pattern, names in SITUATIONS:
        found = pattern.search(cursor.before)
        if found is None:
            continue
        span = Span(cursor.span.end - len(found["typed"]), cursor.span.end)
        for name, kind in names(desk, found["typed"]):
            about = f"functions:{name}" if kind == "function" else ""
            yield make_suggestion(cursor, name, kind, span=span, about=about)
        return
