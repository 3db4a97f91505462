"""Install a new build in the spare slot, and test that it starts and reads the journal of this run."""

from __future__ import annotations

import os
from collections.abc import Mapping

from msgspec import Struct

from saltern.config.settings import WITHIN, state_directory
from saltern.modules.api.context import Context
from saltern.modules.api.programs import error_text
from saltern.modules.api.refused import Refused
from saltern.system.own_program import command
from saltern.system.process import Ran

QUIET: Mapping[str, str] = {
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "PIP_NO_INPUT": "1",
    "PIP_ROOT_USER_ACTION": "ignore",
    "PYTHONSAFEPATH": "1",
}
WHEELS = (".whl", ".tar.gz")


class Wanted(Struct, frozen=True, kw_only=True):
    """``source``: a directory of wheels, a wheel, or the URL of an index; None for pip's default index."""

    version: str
    source: str | None = None
    hashes: str | None = None
    deps: bool = True


def install(ctx: Context, place: str, wanted: Wanted) -> None:
    """Create a virtual environment in ``place``, replacing its contents, and install the build into it."""
    import shutil

    shutil.rmtree(place, ignore_errors=True)
    os.makedirs(os.path.dirname(place), exist_ok=True)
    python = os.path.join(place, "bin", "python")
    if has_pip():
        _step(ctx, "create a virtual environment", *command("venv", ("--without-pip", place)))
        pip = command("pip", ("--python", python))
    else:
        _step(ctx, "create a virtual environment", *command("venv", (place,)))
        pip = command("pip", python=python)
    _step(ctx, "install the build", *pip, "install", "--quiet", *pip_words(wanted))


def has_pip() -> bool:
    from importlib.util import find_spec

    return find_spec("pip") is not None


def pip_words(wanted: Wanted) -> list[str]:
    """The arguments of pip: what to install, and from where."""
    words = [] if wanted.deps else ["--no-deps"]
    source, what = wanted.source, f"saltern=={wanted.version}"
    if source is not None and "://" in source:
        words += ["--index-url", source]
    elif source is not None and source.endswith(WHEELS):
        words += ["--no-index", "--find-links", os.path.dirname(os.path.abspath(source))]
        what = source
    elif source is not None:
        words += ["--no-index", "--find-links", source]
    if wanted.hashes is not None:
        return [*words, "--require-hashes", "--requirement", wanted.hashes]
    return [*words, what]


def prove(ctx: Context, place: str, wanted: Wanted) -> None:
    """Check that the build starts, has the right version, and reads the journal of this run."""
    python = os.path.join(place, "bin", "python")
    ran = _step(ctx, "start the build", *command("saltern", ("--version",), python=python))
    if wanted.version not in ran.out.split():
        raise Refused(f"the build says that it is {ran.out.strip()!r}, and not {wanted.version}")
    jid = os.environ.get(WITHIN)
    if jid:
        words = command("saltern", ("show", "run", jid, "--out", "quiet"), python=python)
        _step(ctx, "read the journal of this run", *words)


def _step(ctx: Context, what: str, *argv: str) -> Ran:
    env = {**QUIET, "SALTERN_STATE_DIR": os.path.abspath(state_directory(ctx.settings))}
    ran = ctx.host.run(argv, env=env)
    if ran.code:
        raise Refused(f"cannot {what}: {error_text(ran) or f'{argv[0]} ended with {ran.code}'}")
    return ran
