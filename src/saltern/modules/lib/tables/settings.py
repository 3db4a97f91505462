"""Files of ``name = value`` lines, such as sysctl.conf and locale.conf; everything else in them stays."""

from __future__ import annotations

import re

from saltern.modules.api.context import Context
from saltern.modules.api.refused import one_line

LINE = re.compile(r"^\s*-?\s*(?P<name>[^\s#;=]+)\s*=\s*(?P<value>.*?)\s*$")


def values(text: str) -> dict[str, str]:
    """The value of each name; the last one counts."""
    found = (LINE.match(line) for line in text.splitlines())
    return {one["name"]: one["value"] for one in found if one}


def with_value(text: str, name: str, value: str, *, separator: str = " = ") -> str:
    """The text with this value, in place of the first line with the name, or at the end."""
    new = one_line(f"{name}{separator}{value}", name)
    lines: list[str] = []
    for line in text.splitlines():
        found = LINE.match(line)
        if not found or found["name"] != name:
            lines.append(line)
        elif new not in lines:
            lines.append(new)
    if new not in lines:
        lines.append(new)
    return "".join(f"{line}\n" for line in lines)


def read(ctx: Context, path: str) -> str:
    return ctx.host.read(path) or ""
