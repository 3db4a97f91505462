"""The program ``npm``, and the installed packages."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from msgspec import DecodeError, Struct

from saltern.modules.api.commands import environment
from saltern.modules.api.context import Context
from saltern.modules.api.programs import complaint, program
from saltern.modules.api.refused import Refused
from saltern.modules.lib.files.facts import absolute
from saltern.system.process import Ran

NAME = re.compile(r"(?:@[a-z0-9._~-]+/)?[a-z0-9._~-]+", re.IGNORECASE)


QUIET = {"npm_config_update_notifier": "false", "npm_config_fund": "false", "npm_config_audit": "false"}


class Npm(Struct, frozen=True, kw_only=True):
    """An npm for a directory, or for the whole machine."""

    dir: str | None = None
    user: str | None = None
    registry: str | None = None
    env: Mapping[str, str] = {}

    def ran(self, ctx: Context, verb: str, *words: str) -> Ran:
        scope = ["--prefix", self.dir] if self.dir else ["--global"]
        where = ["--registry", self.registry] if self.registry else []
        argv = ["npm", verb, "--json", "--loglevel=error", *scope, *where, *words]
        return program(ctx, argv, user=self.user, cwd=self.dir, env={**QUIET, **self.env})

    def out(self, ctx: Context, verb: str, *words: str, what: str) -> object:
        ran = self.ran(ctx, verb, *words)
        if ran.code:
            raise Refused(complaint(ran, "npm", what=what))
        return decode_output(ran.out)


def decode_output(text: str) -> object:
    """The JSON in npm's output; other text may be around it."""
    from msgspec.json import decode

    try:
        return decode(text or "{}")
    except DecodeError:
        return {}


def npm_for(dir_: str | None, user: str | None, registry: str | None = None, env: object = None) -> Npm:
    if dir_ is not None and not os.path.isdir(absolute(dir_)):
        raise Refused(f"the directory {dir_} does not exist", later=True)
    path = absolute(dir_) if dir_ else None
    return Npm(dir=path, user=user, registry=registry, env=environment(env))


def packages(ctx: Context, npm: Npm) -> dict[str, str]:
    """The installed packages, without dependencies. The exit code of ``npm ls`` is ignored if it has data."""
    ran = npm.ran(ctx, "ls", "--depth=0")
    reported = decode_output(ran.out)
    if ran.code and not (
        isinstance(reported, dict) and reported.keys() & {"dependencies", "problems", "name"}
    ):
        raise Refused(complaint(ran, "npm", what="cannot list the installed packages"))
    found = reported.get("dependencies") if isinstance(reported, dict) else None
    rows = found if isinstance(found, dict) else {}
    return {name: str(row["version"]) for name, row in rows.items() if "version" in row}


def split(spec: str) -> tuple[str, str]:
    """The name and version of ``name@version``; no name for a URL or a path."""
    if spec.startswith((".", "/", "-", "file:")) or "://" in spec:
        return "", ""
    name, at, version = spec[1:].partition("@") if spec.startswith("@") else spec.partition("@")
    name = f"@{name}" if spec.startswith("@") else name
    return (name, version if at else "") if NAME.fullmatch(name) else ("", "")
