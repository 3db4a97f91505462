"""Create virtual environments of Python."""

from __future__ import annotations

import os
from collections.abc import Callable

from msgspec import Struct

from saltern.modules.api.context import Context
from saltern.modules.api.programs import output, program
from saltern.modules.api.refused import Refused
from saltern.system import files


class Env(Struct, frozen=True, kw_only=True):
    """The specification of an environment."""

    path: str
    python: str
    system_site_packages: bool = False
    prompt: str | None = None
    user: str | None = None


class Maker(Struct, frozen=True):
    """A program that creates environments. ``here`` is true if it is installed."""

    name: str
    here: Callable[[Context, str], bool]
    argv: Callable[[Env], list[str]]


def _runs(*words: str) -> Callable[[Context, str], bool]:
    return lambda ctx, python: not program(ctx, [word.replace("{python}", python) for word in words]).code


def _flags(*names: tuple[bool | str | None, str]) -> list[str]:
    found: list[str] = []
    for value, flag in names:
        if value:
            found += [flag] if value is True else [flag, str(value)]
    return found


def _virtualenv(env: Env) -> list[str]:
    flags = _flags((env.system_site_packages, "--system-site-packages"), (env.prompt, "--prompt"))
    return ["virtualenv", "--quiet", "--python", env.python, *flags, env.path]


def _venv(env: Env) -> list[str]:
    flags = _flags((env.system_site_packages, "--system-site-packages"), (env.prompt, "--prompt"))
    return [env.python, "-m", "venv", *flags, env.path]


MAKERS: tuple[Maker, ...] = (
    Maker("virtualenv", _runs("virtualenv", "--version"), _virtualenv),
    Maker("venv", _runs("{python}", "-c", "import venv, ensurepip"), _venv),
)


ALIASES = {"pyvenv": "venv", "python3 -m venv": "venv"}


def maker_for(ctx: Context, venv_bin: str | None, python: str) -> Maker:
    """The given program, else the first that is installed; determined once per run."""
    if venv_bin:
        name = ALIASES.get(venv_bin, venv_bin)
        row = next((one for one in MAKERS if one.name == os.path.basename(name)), None)
        if row is None:
            raise Refused(f"venv_bin {venv_bin!r} is not known; use virtualenv or venv")
        if os.path.isabs(name):
            return Maker(row.name, row.here, lambda env: [name, *row.argv(env)[1:]])
        if not row.here(ctx, python):
            raise Refused(f"{row.name} is not on this machine; install it first")
        return row
    key = f"virtualenv.maker.{python}"
    known = ctx.run.context.get(key)
    if not isinstance(known, Maker):
        known = next((one for one in MAKERS if one.here(ctx, python)), None)
        if known is None:
            raise Refused("this machine has neither virtualenv nor Python's venv; install python3-venv")
        ctx.run.context[key] = known
    return known


def is_environment(path: str) -> bool:
    return os.access(os.path.join(path, "bin", "python"), os.X_OK)


def make(ctx: Context, env: Env, maker: Maker, there: bool) -> None:
    if there:
        files.remove(env.path)
    what = f"{maker.name} could not create {env.path}"
    parent = os.path.dirname(env.path)
    if not os.path.isdir(parent):
        files.make_directories(parent)
    output(ctx, maker.argv(env), what=what, user=env.user)
    if not is_environment(env.path):
        raise Refused(f"{what}: there is no {env.path}/bin/python")
