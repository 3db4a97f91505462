"""Alternatives: several programs for one name, and the chosen one."""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec import Struct, field

from saltern.modules.api.context import Context
from saltern.modules.api.params import BadArgument
from saltern.modules.api.programs import PLAIN_UTF8
from saltern.modules.lib.packages.model import PackageError
from saltern.modules.lib.packages.tool import why
from saltern.system.process import NOT_FOUND, Ran

PROGRAMS = ("update-alternatives", "alternatives")  # Debian and SUSE; then Red Hat
HEAD = re.compile(r"^(\S+) - (?:status is )?(auto|manual)", re.MULTILINE)
POINTS = re.compile(r"^\s*link currently points to (\S+)", re.MULTILINE)
CHOICE = re.compile(r"^(/\S*) - .*?priority (-?\d+).*\n((?: (?:slave|follower) .*\n)*)", re.MULTILINE)
FOLLOWER = re.compile(r"^ (?:slave|follower) (\S+): (\S+)", re.MULTILINE)

Slaves = Mapping[str, str]  # name → link, or name → path


class Group(Struct, frozen=True, kw_only=True):
    """The alternatives of a name. ``choices`` are the programs with their priorities.

    ``slaves`` are links that change with it (a manual page), ``followers`` their targets for each choice.
    """

    link: str = ""
    mode: str = "auto"
    value: str = ""
    choices: Mapping[str, int] = field(default_factory=dict)
    slaves: Slaves = field(default_factory=dict)
    followers: Mapping[str, Slaves] = field(default_factory=dict)

    @property
    def best(self) -> str:
        return max(self.choices, key=lambda path: self.choices[path], default="")

    def asdict(self) -> dict[str, object]:
        return {
            "link": self.link,
            "mode": self.mode,
            "path": self.value,
            "choices": dict(self.choices),
            "slaves": {name: dict(paths) for name, paths in self.followers.items() if paths},
        }


def look(ctx: Context, name: str) -> Group | None:
    """The alternatives of a name; None if it has none."""
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
    parts = [part for part in others if part.strip()]
    choices = [_fields(part) for part in parts]
    value = fields.get("Value", "")
    return Group(
        link=fields.get("Link", ""),
        mode=fields.get("Status", "auto"),
        value="" if value == "none" else value,
        choices={one["Alternative"]: int(one["Priority"]) for one in choices},
        slaves=_indented_pairs(first),
        followers={
            one["Alternative"]: _indented_pairs(part) for one, part in zip(choices, parts, strict=True)
        },
    )


def _from_display(text: str, mode: str) -> Group:
    points = POINTS.search(text)
    rows = CHOICE.findall(f"{text}\n")
    return Group(
        mode=mode,
        value=points[1] if points else "",
        choices={path: int(priority) for path, priority, _ in rows},
        followers={path: dict(FOLLOWER.findall(more)) for path, _, more in rows},
    )


def _indented_pairs(text: str) -> dict[str, str]:
    """The lines below ``Slaves:``, a name and a path in each."""
    pairs = [line.split(None, 1) for line in text.splitlines() if line[:1] == " "]
    return {pair[0]: pair[1].strip() for pair in pairs if len(pair) == 2}


def _fields(text: str) -> dict[str, str]:
    return {
        key: value.strip()
        for line in text.splitlines()
        if line[:1] != " "
        for key, _, value in (line.partition(":"),)
    }


class Slave(Struct, frozen=True):
    """A link that changes with the choice: its path, its name, and its target."""

    link: str
    name: str
    path: str


def install(
    ctx: Context, name: str, link: str, path: str, priority: int, slaves: tuple[Slave, ...] | None = None
) -> None:
    """Register a program. Without ``slaves`` the existing ones are passed again, since the tool drops
    others.
    """
    check(name, link, path, slaves or ())
    along = _kept_slaves(look(ctx, name), path) if slaves is None else slaves
    words = [word for one in along for word in ("--slave", one.link, one.name, one.path)]
    _order(ctx, "--install", link, name, path, str(priority), *words)


def check(name: str, link: str, path: str, slaves: tuple[Slave, ...] = ()) -> None:
    """Raises ``BadArgument`` for invalid names and paths of an alternative."""
    places = [("link", link), ("path", path), *((one.name, one.link) for one in slaves)]
    for what, value in (*places, *((one.name, one.path) for one in slaves)):
        _check(value, what, absolute=True)
    for one in (name, *(slave.name for slave in slaves)):
        _check(one, "name")


def _kept_slaves(group: Group | None, path: str) -> tuple[Slave, ...]:
    if group is None:
        return ()
    has = group.followers.get(path, {})
    return tuple(
        Slave(group.slaves[name], name, target) for name, target in has.items() if name in group.slaves
    )


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
        ran = ctx.host.run([program, *argv], env=PLAIN_UTF8)
        if ran.code != NOT_FOUND:
            return ran
    raise PackageError("neither update-alternatives nor alternatives is on this machine")
