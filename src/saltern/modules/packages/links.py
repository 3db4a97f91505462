"""Alternatives: several programs for one name, and which of them it stands for."""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec import Struct, field

from saltern.modules.context import Context
from saltern.modules.packages.model import PackageError
from saltern.modules.packages.tool import ENV, why
from saltern.modules.params import BadArgument
from saltern.system.process import NOT_FOUND, Ran

PROGRAMS = ("update-alternatives", "alternatives")  # Debian and SUSE; then Red Hat
HEAD = re.compile(r"^(\S+) - (?:status is )?(auto|manual)", re.MULTILINE)
POINTS = re.compile(r"^\s*link currently points to (\S+)", re.MULTILINE)
CHOICE = re.compile(r"^(/\S*) - .*?priority (-?\d+)", re.MULTILINE)


class Group(Struct, frozen=True, kw_only=True):
    """A name. ``choices`` are the programs that may stand for it, with their priorities."""

    link: str = ""
    mode: str = "auto"
    value: str = ""
    choices: Mapping[str, int] = field(default_factory=dict)

    @property
    def best(self) -> str:
        return max(self.choices, key=lambda path: self.choices[path], default="")

    def asdict(self) -> dict[str, object]:
        return {"link": self.link, "mode": self.mode, "path": self.value, "choices": dict(self.choices)}


def look(ctx: Context, name: str) -> Group | None:
    """What is known of a name; None if it is no alternative."""
    _check(name, "name")
    ran = _run(ctx, "--query", name)
    if ran.code == 0 and ran.out.startswith("Name:"):
        return _from_query(ran.out)
    ran = _run(ctx, "--display", name)
    head = HEAD.search(ran.out)
    return _from_display(ran.out, head[2]) if ran.code == 0 and head else None


def _from_query(text: str) -> Group:
    first, *others = text.split("\n\n")
    fields = _fields(first)
    choices = [_fields(part) for part in others if part.strip()]
    value = fields.get("Value", "")
    return Group(
        link=fields.get("Link", ""),
        mode=fields.get("Status", "auto"),
        value="" if value == "none" else value,
        choices={one["Alternative"]: int(one["Priority"]) for one in choices},
    )


def _from_display(text: str, mode: str) -> Group:
    points = POINTS.search(text)
    choices = {path: int(priority) for path, priority in CHOICE.findall(text)}
    return Group(mode=mode, value=points[1] if points else "", choices=choices)


def _fields(text: str) -> dict[str, str]:
    return {
        key: value.strip()
        for line in text.splitlines()
        if line[:1] != " "
        for key, _, value in (line.partition(":"),)
    }


def install(ctx: Context, name: str, link: str, path: str, priority: int) -> None:
    for what, value in (("link", link), ("path", path)):
        _check(value, what, absolute=True)
    _check(name, "name")
    _order(ctx, "--install", link, name, path, str(priority))


def remove(ctx: Context, name: str, path: str) -> None:
    _order(ctx, "--remove", name, path)


def choose(ctx: Context, name: str, path: str) -> None:
    _order(ctx, "--set", name, path)


def auto(ctx: Context, name: str) -> None:
    _order(ctx, "--auto", name)


def _check(value: str, what: str, *, absolute: bool = False) -> None:
    if not value or value.startswith("-") or any(sign.isspace() for sign in value):
        raise BadArgument(f"{value!r} is not the {what} of an alternative")
    if absolute and not value.startswith("/"):
        raise BadArgument(f"{what} needs an absolute path, got {value!r}")
    if not absolute and "/" in value:
        raise BadArgument(f"{value!r} is a path, not the {what} of an alternative")


def _order(ctx: Context, *argv: str) -> None:
    ran = _run(ctx, *argv)
    if ran.code:
        raise PackageError(why(["update-alternatives"], ran))


def _run(ctx: Context, *argv: str) -> Ran:
    for program in PROGRAMS:
        ran = ctx.host.run([program, *argv], env=ENV)
        if ran.code != NOT_FOUND:
            return ran
    raise PackageError("neither update-alternatives nor alternatives is on this machine")
