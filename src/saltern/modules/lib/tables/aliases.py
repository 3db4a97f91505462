"""/etc/aliases as a value: where the mail of local names goes."""

from __future__ import annotations

import re

from saltern.modules.api.context import Context
from saltern.modules.api.programs import has, tool
from saltern.modules.api.refused import one_line

USUAL = "/etc/aliases"
LINE = re.compile(r"^([^:#\s]+):\s*([^#]*?)\s*(#.*)?$")


def place(ctx: Context) -> str:
    """The path of the file: the option ``aliases.file``, as in Salt."""
    return str(ctx.opts.get("aliases.file") or USUAL)


def read(ctx: Context) -> dict[str, str]:
    return {found[1]: found[2] for line in _lines(ctx) if (found := LINE.match(line))}


def _lines(ctx: Context) -> list[str]:
    return (ctx.host.read(place(ctx)) or "").splitlines()


def put(ctx: Context, alias: str, target: str | None) -> None:
    """Set an alias, or remove it; then update the mail server's own copy of the file."""
    one_line(f"{alias}: {target}", "an alias")
    lines = []
    for line in _lines(ctx):
        found = LINE.match(line)
        if not found or found[1] != alias:
            lines.append(line)
        elif target is not None:
            lines.append(" ".join(filter(None, (f"{alias}: {target}", found[3]))))
            target = None
    if target is not None:
        lines.append(f"{alias}: {target}")
    ctx.host.write(place(ctx), "".join(f"{line}\n" for line in lines))
    if has("newaliases"):
        tool(ctx, "newaliases")


def same(one: str, other: str) -> bool:
    """True if the targets are the same, in any order."""
    return sorted(_targets(one)) == sorted(_targets(other))


def _targets(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]
