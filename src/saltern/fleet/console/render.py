"""The templates: everything is escaped unless a template says otherwise, and a missing name is an error."""

from __future__ import annotations

import hashlib
import os
from functools import cache
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from saltern import __version__
from saltern.fleet.console import format, marks
from saltern.report.text import safe

HERE = os.path.dirname(__file__)
STATIC = os.path.join(HERE, "static")
FILTERS = (
    "mark", "rank", "parts", "words", "moment", "exact", "clock", "span", "ago", "number", "count", "short",
    "lines", "join_names", "changed_lines", "diff_mark", "hour", "after", "kind_icon",
)  # fmt: skip


METHODS = frozenset(dir(dict))


class QuickEnvironment(Environment):
    """Looks for a name first where it nearly always is: in a dictionary. Its methods stay its methods."""

    def getattr(self, obj: Any, attribute: str) -> Any:
        if type(obj) is dict and attribute in obj and attribute not in METHODS:
            return obj[attribute]
        return super().getattr(obj, attribute)


@cache
def environment() -> Environment:
    made = QuickEnvironment(
        loader=FileSystemLoader(os.path.join(HERE, "templates")),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=visible,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        cache_size=-1,
    )
    made.filters |= {name: getattr(format, name) for name in FILTERS}
    made.globals |= {"saltern_version": __version__, "assets": assets()}
    made.globals |= {one.__name__: one for one in (marks.icon, marks.st, marks.status, marks.strip)}
    return made


def visible(value: Any) -> Any:
    """Untrusted text: control characters and direction marks are shown as escapes."""
    if value is None:
        return ""
    return safe(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def render(name: str, data: dict[str, Any]) -> str:
    return environment().get_template(name).render(data)


@cache
def assets() -> dict[str, str]:
    """File → its digest, which is part of its address: a browser caches it until it changes."""
    found = {}
    for name in sorted(os.listdir(STATIC)):
        with open(os.path.join(STATIC, name), "rb") as file:
            found[name] = hashlib.sha256(file.read()).hexdigest()[:12]
    return found
