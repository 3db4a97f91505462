"""The program ``pip``: find it, run it, and read its reports."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence

from msgspec import Struct

from saltern.modules.api.context import Context
from saltern.modules.api.programs import complaint, output, owner_for, program
from saltern.modules.api.refused import Refused
from saltern.system.process import Ran
from saltern.system.temporary import private_directory

QUIET = {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1", "PIP_ROOT_USER_ACTION": "ignore"}
QUIET["PYTHONPATH"] = ""  # our own must not affect it
NAMED = re.compile(r"([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(\[[^\]]*\])?\s*([^@;]*)(;.*)?")
TOO_OLD = "no such option"

# A Python lists its packages ten times as fast as its pip. Its working directory must not count.
LISTING = """\
import sys
if not getattr(sys.flags, "safe_path", False):
    sys.path.pop(0)
import json
from importlib.metadata import distributions
print(json.dumps([{"name": one.metadata["Name"], "version": one.version} for one in distributions()]))
"""


class Pip(Struct, frozen=True, kw_only=True):
    """A pip, with its user and working directory."""

    argv: tuple[str, ...]
    user: str | None = None
    cwd: str | None = None
    env: Mapping[str, str] = {}

    def ran(self, ctx: Context, *words: str) -> Ran:
        return program(ctx, [*self.argv, *words], user=self.user, cwd=self.cwd, env={**QUIET, **self.env})

    def out(self, ctx: Context, *words: str, what: str) -> str:
        env = {**QUIET, **self.env}
        return output(ctx, [*self.argv, *words], what=what, user=self.user, cwd=self.cwd, env=env)

    @property
    def key(self) -> str:
        return f"pip.list {self.user or ''} {' '.join(self.argv)}"


def argv_of(ctx: Context, bin_env: str | None) -> tuple[str, ...]:
    """The command of the pip of a virtual environment, of a Python, or of a pip; by default the machine's."""
    if not bin_env:
        known = ctx.run.context.get("pip.argv")
        if not isinstance(known, tuple):
            known = ctx.run.context["pip.argv"] = _of_machine(ctx)
        return known
    path = os.path.expanduser(bin_env)
    if os.path.isdir(path):
        python = os.path.join(path, "bin", "python")
        if os.access(python, os.X_OK):
            return (python, "-m", "pip")
        raise Refused(f"{bin_env} is not a virtual environment: there is no {python}")
    if not os.path.lexists(path):
        raise Refused(f"bin_env {bin_env} does not exist", later=True)
    if not os.access(path, os.X_OK):
        raise Refused(f"bin_env {bin_env} is neither a virtual environment nor a program")
    return (path, "-m", "pip") if os.path.basename(path).startswith("python") else (path,)


def _of_machine(ctx: Context) -> tuple[str, ...]:
    for argv in (("pip3",), ("pip",), ("python3", "-m", "pip")):
        if not program(ctx, [*argv, "--version"]).code:
            return argv
    raise Refused("this machine has no pip; install it (python3-pip), or give bin_env")


def normal(name: str) -> str:
    """The normal form of a package name, the same for all its spellings."""
    return re.sub(r"[-_.]+", "-", name).lower()


def split(requirement: str) -> tuple[str, str]:
    """The name and version of a requirement; no name for a URL or a path."""
    match = None if "/" in requirement.partition(";")[0] else NAMED.fullmatch(requirement.strip())
    return (normal(match[1]), (match[3] or "").strip()) if match else ("", "")


def packages(ctx: Context, pip: Pip, *, fresh: bool = False) -> dict[str, str]:
    """The installed packages by normal name. Read once per run, until something is installed."""
    known = ctx.run.context.get(pip.key)
    if isinstance(known, dict) and not fresh:
        return known
    found = {normal(row["name"]): row["version"] for row in reversed(_rows(ctx, pip))}
    ctx.run.context[pip.key] = found
    return found


def _rows(ctx: Context, pip: Pip) -> list[dict[str, str]]:
    """The installed packages; of two with one name, the first is imported."""
    from msgspec.json import decode

    if pip.argv[1:] == ("-m", "pip"):
        argv = [pip.argv[0], "-c", LISTING]
        ran = program(ctx, argv, user=pip.user, cwd=pip.cwd, env={**QUIET, **pip.env})
        if not ran.code:
            rows = decode(ran.out, type=list[dict[str, str | None]])
            return [{"name": str(row["name"]), "version": str(row["version"])} for row in rows if row["name"]]
    reported = pip.out(ctx, "list", "--format=json", what="cannot list the installed packages")
    return decode(reported[reported.index("[") :] if "[" in reported else "[]", type=list[dict[str, str]])


def forget(ctx: Context) -> None:
    """Clear the cache: something was installed, maybe with another pip into the same environment."""
    for key in [key for key in ctx.run.context if key.startswith("pip.list ")]:
        del ctx.run.context[key]


def install(ctx: Context, pip: Pip, words: Sequence[str], *, dry: bool, what: str) -> dict[str, str] | None:
    """Install packages, or predict it (``dry``). Returns names and versions; None before pip 22.2."""
    with private_directory("pip", owner=owner_for(ctx, pip.user)) as scratch:
        report = os.path.join(scratch, "report.json")
        reported = ["--dry-run"] if dry else []
        ran = pip.ran(ctx, "install", "--quiet", *reported, "--report", report, *words)
        if ran.code and TOO_OLD in ran.err:
            return None
        if ran.code:
            raise Refused(complaint(ran, pip.argv[0], what=what))
        return _read_report(report)


def _read_report(path: str) -> dict[str, str]:
    from msgspec.json import decode

    try:
        with open(path, "rb") as file:
            reported = decode(file.read())
    except FileNotFoundError:
        return {}  # nothing to do
    rows = [row["metadata"] for row in reported.get("install", [])]
    return {normal(row["name"]): row["version"] for row in rows}
