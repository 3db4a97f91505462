"""Run programs for states: without a shell, in a fixed language, with secrets removed from messages."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence

from saltern.language.mask import mask
from saltern.modules.api.context import Context
from saltern.modules.api.refused import Refused
from saltern.system.process import NOT_ALLOWED, NOT_FOUND, Ran, UnknownUser, look_up

# Output is read by programs and searched by people, so it has a fixed language.
PLAIN_WORDS: Mapping[str, str] = {"LC_ALL": "C", "LANGUAGE": "C"}
PLAIN_UTF8: Mapping[str, str] = {"LC_ALL": "C.UTF-8", "LANGUAGE": "C"}
MOST_SHOWN = 2000
NOT_ROOT = (
    "permission denied",
    "operation not permitted",
    "must be root",
    "must be privileged",
    "are you root",
)
AS_ROOT = "this needs root: run saltern as root"
PACKAGE = "the package that has it"
SAFE = {"PYTHONSAFEPATH": "1"}  # a Python imports no modules from its working directory


def error_text(ran: Ran) -> str:
    """The error output of a program, short enough for a comment."""
    return (ran.err.strip() or ran.out.strip())[-MOST_SHOWN:]


def tool(
    ctx: Context,
    *argv: str,
    stdin: str | None = None,
    accept: tuple[int, ...] = (0,),
    user: str | None = None,
    env: Mapping[str, str] = PLAIN_WORDS,
    install: str = PACKAGE,
    words: Callable[[Ran], str] = error_text,
    hide: bool = False,
) -> Ran:
    """Run a system program; raises ``Refused`` unless its exit code is accepted.

    ``install`` names the package of a missing program, ``words`` finds the reason in its output, and
    ``hide`` leaves the arguments out of the message, if one of them may be a secret.
    """
    ran = ctx.host.run(argv, stdin=stdin, user=user or ctx.runas, env=env)
    if ran.code in accept:
        return ran
    if ran.code == NOT_FOUND and not ran.out:
        raise Refused(missing_program(argv[0], install))
    shown = argv[0] if hide else " ".join(argv)
    reason = words(ran) or f"exit code {ran.code}"
    raise Refused(f"{shown}: {reason}" + (f"\n{AS_ROOT}" if wants_root(reason) else ""))


def wants_root(said: str) -> bool:
    """True if a program failed because it was not started by root."""
    return os.geteuid() != 0 and any(word in said.lower() for word in NOT_ROOT)


def missing_program(name: str, install: str = PACKAGE) -> str:
    """The message for a program that cannot be started."""
    return f"the program {name!r} is not on this machine; install {install}"


def has(program: str) -> bool:
    """True if the program is on PATH or in the directories of system programs."""
    places = [*os.environ.get("PATH", os.defpath).split(os.pathsep), "/usr/sbin", "/sbin"]
    return any(os.access(os.path.join(place, program), os.X_OK) for place in places)


def program(
    ctx: Context,
    argv: Sequence[str],
    *,
    user: str | None = None,
    cwd: str | None = None,
    env: Mapping[str, str] | None = None,
    stdin: str | None = None,
    timeout: float | None = None,
) -> Ran:
    """Run a program. The default directory is one that every user may enter."""
    ran = ctx.host.run(
        list(argv),
        cwd=cwd or "/",
        env={**PLAIN_UTF8, **SAFE, **(env or {})},
        user=user or ctx.runas,
        stdin=stdin,
        timeout=timeout,
    )
    if ran.code == NOT_ALLOWED and not ran.pid and user and ran.err.startswith("no user is called"):
        raise Refused(ran.err, later=True)
    return ran


def output(
    ctx: Context,
    argv: Sequence[str],
    *,
    what: str,
    user: str | None = None,
    cwd: str | None = None,
    env: Mapping[str, str] | None = None,
    stdin: str | None = None,
    timeout: float | None = None,
    secrets: Sequence[str | None] = (),
) -> str:
    """The output of a program. Raises ``Refused`` (``what`` and its own message) if it fails."""
    ran = program(ctx, argv, user=user, cwd=cwd, env=env, stdin=stdin, timeout=timeout)
    if ran.code:
        raise Refused(complaint(ran, argv[0], what=what, secrets=secrets))
    return ran.out


def complaint(ran: Ran, name: str, *, what: str, secrets: Sequence[str | None] = ()) -> str:
    """Why the program failed: ``what`` it was for, and its message without these secrets."""
    if ran.code == NOT_FOUND and not ran.pid:
        return f"{what}: {missing_program(name, 'it first')}"
    return f"{what}: {mask(error_text(ran) or f'{name} ended with {ran.code}', secrets)}"


def owner_for(ctx: Context, user: str | None) -> tuple[int, int] | None:
    """The owner of private files for a program: the user it runs as; None if that is our own."""
    name = user or ctx.runas
    if not name:
        return None
    try:
        who = look_up(name)
    except UnknownUser as problem:
        raise Refused(str(problem), later=True) from None
    return who.uid, who.gid
