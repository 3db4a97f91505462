"""Programs that states drive: run without a shell, in one language, secrets kept out of what they say."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence

from saltern.language.diagnostics import SalternError
from saltern.language.mask import MASK, mask
from saltern.language.result import Outcome, Result
from saltern.modules.api.context import Context
from saltern.modules.api.params import BadArgument
from saltern.modules.lib.commands import LOCALE
from saltern.modules.states.file.answers import Later, Refusal
from saltern.system.process import NOT_ALLOWED, NOT_FOUND, Ran

SAFE = {"PYTHONSAFEPATH": "1"}  # a Python takes no module from the directory that it runs in


class ProgramFailed(Refusal, BadArgument):
    """A program said no; the text is for the user, be it through a state or a function."""


class NotYet(Later, BadArgument):
    """Something is missing that an earlier state may make: a failure now, a remark in test mode."""


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
    """Run it as it is. Without a directory of its own it runs in one that everybody may enter."""
    ran = ctx.host.run(
        list(argv),
        cwd=cwd or "/",
        env={**LOCALE, "LC_ALL": "C.UTF-8", **SAFE, **(env or {})},
        user=user or ctx.runas,
        stdin=stdin,
        timeout=timeout,
    )
    if ran.code == NOT_ALLOWED and not ran.pid and user and ran.err.startswith("no user is called"):
        raise NotYet(ran.err)
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
    """What it prints. Raises ``ProgramFailed`` (``what`` and its own words) when it fails."""
    ran = program(ctx, argv, user=user, cwd=cwd, env=env, stdin=stdin, timeout=timeout)
    if ran.code:
        raise ProgramFailed(complaint(ran, argv[0], what=what, secrets=secrets))
    return ran.out


def complaint(ran: Ran, name: str, *, what: str, secrets: Sequence[str | None] = ()) -> str:
    if ran.code == NOT_FOUND and not ran.pid:
        return f"{what}: the program {name!r} is not on this machine; install it first"
    said = (ran.err.strip() or ran.out.strip())[-2000:] or f"{name} ended with {ran.code}"
    return f"{what}: {masked(said, secrets)}"


def masked(text: str, secrets: Sequence[str | None] = ()) -> str:
    """The text without these secrets and without passwords in addresses."""
    for secret in secrets:
        if secret:
            text = text.replace(secret, MASK)
    return mask(text)


def give(ctx: Context, path: str, user: str | None) -> None:
    """Let the user a program runs as, if it is another, work in a private directory of ours."""
    from saltern.system.process import UnknownUser, look_up

    name = user or ctx.runas
    if not name:
        return
    try:
        who = look_up(name)
    except UnknownUser as problem:
        raise NotYet(str(problem)) from None
    os.chown(path, who.uid, who.gid)


def guarded(
    work: Callable[[], Result],
    *,
    ctx: Context | None = None,
    foreseen: Mapping[str, object] | None = None,
    **known: object,
) -> Result:
    """The answer of ``work``; what it raises on purpose, or the system refuses, becomes a failed one.

    With ``ctx`` and ``foreseen``, what an earlier state may still make is no failure in test mode.
    """
    try:
        return work()
    except Later as missing:
        if ctx is None or not ctx.test or not foreseen:
            return Result(outcome=Outcome.FAILED, comment=str(missing), data=known)
        changes = dict(foreseen)
        comment = f"would be done, if by then this is there: {missing}"
        return Result(outcome=Outcome.WOULD_CHANGE, comment=comment, changes=changes, data=known)
    except (Refusal, BadArgument, SalternError, ValueError) as problem:
        return Result(outcome=Outcome.FAILED, comment=str(problem), data=known)
    except OSError as problem:
        what = problem.strerror or str(problem)
        comment = f"{problem.filename}: {what}" if problem.filename else what
        return Result(outcome=Outcome.FAILED, comment=comment, data=known)


def answer(
    ctx: Context,
    changes: Mapping[str, object],
    data: Mapping[str, object],
    *,
    right: str,
    would: str,
    done: str,
    warnings: tuple[str, ...] = (),
) -> Result:
    """Nothing to do, would be done, or done; the changes of the last two are the same."""
    if not changes:
        return Result(outcome=Outcome.OK, comment=right, data=dict(data), warnings=warnings)
    outcome, comment = (Outcome.WOULD_CHANGE, would) if ctx.test else (Outcome.OK, done)
    return Result(outcome=outcome, comment=comment, changes=dict(changes), data=dict(data), warnings=warnings)


def unused(rest: Mapping[str, object], meaningless: frozenset[str]) -> tuple[str, ...]:
    """Remarks on keywords nobody reads. Those that mean nothing here anyway are passed over."""
    return tuple(
        f"argument {name!r} has no effect here"
        for name in rest
        if name not in meaningless and not name.startswith("__")
    )
