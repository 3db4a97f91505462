"""The program ``gem``, and the installed gems."""

from __future__ import annotations

import os
import re

from msgspec import Struct

from saltern.modules.api.argv import plain
from saltern.modules.api.context import Context
from saltern.modules.api.programs import output
from saltern.modules.api.refused import Refused

ROW = re.compile(r"^([A-Za-z0-9_.-]+) \((.*)\)$")


NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


class Gem(Struct, frozen=True, kw_only=True):
    """A ``gem`` program, and the user who runs it."""

    argv: tuple[str, ...]
    user: str | None = None

    def out(self, ctx: Context, *words: str, what: str) -> str:
        return output(ctx, [*self.argv, *words], what=what, user=self.user)


def gem_for(ruby: str | None, gem_bin: str | None, user: str | None) -> Gem:
    """The given gem, that of a Ruby version of rvm, or the machine's."""
    if gem_bin and not os.path.isabs(gem_bin):
        raise Refused(f"gem_bin {gem_bin!r} must be an absolute path")
    argv = (gem_bin,) if gem_bin else ("rvm", plain(ruby, "rvm"), "do", "gem") if ruby else ("gem",)
    return Gem(argv=argv, user=user)


def gems(ctx: Context, gem: Gem, name: str | None = None) -> dict[str, list[str]]:
    """The installed gems with all their versions, the newest first."""
    words = ["--exact", name] if name else []
    reported = gem.out(ctx, "list", "--local", "--quiet", *words, what="cannot list the installed gems")
    found: dict[str, list[str]] = {}
    for line in reported.splitlines():
        if match := ROW.match(line.strip()):
            versions = match[2].replace("default: ", "").split(", ")
            found[match[1]] = [version.split(" ")[0] for version in versions]
    return found


def check_name(name: str) -> str:
    """The name of a gem, checked: ``--`` cannot separate it from options, since gem passes the rest to a
    compiler.
    """
    if not NAME.fullmatch(name):
        raise Refused(f"{name!r} is not the name of a gem")
    return name


def sources(ctx: Context, gem: Gem) -> list[str]:
    reported = gem.out(ctx, "sources", "--list", what="cannot list the sources of gems")
    return [line.strip() for line in reported.splitlines() if "://" in line]
