"""What states of the machine share: look, act, look again; and a tool that either works or says why not."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from msgspec import Struct

from saltern.language.result import Outcome, Result
from saltern.modules.api.context import Context
from saltern.modules.api.params import BadArgument
from saltern.system.process import NOT_FOUND, Ran

Changes = dict[str, object]

# What tools say is read by programs and shown to people who grep for it: one language.
PLAIN_WORDS: Mapping[str, str] = {"LC_ALL": "C", "LANGUAGE": "C"}
MOST_SHOWN = 2000


class Refused(BadArgument):
    """The machine will not have it; the text says why, and is for the user."""


class Words(Struct, frozen=True):
    """The comment for nothing to do, for what a test foresees, and for what was done."""

    already: str
    would: str
    done: str


def bring(
    ctx: Context,
    differs: Callable[[], Changes],
    act: Callable[[Changes], object],
    *,
    facts: Callable[[], Changes],
    words: Words,
    warnings: tuple[str, ...] = (),
    why: Callable[[Changes], str] = lambda _: "",
) -> Result:
    """Bring something about. ``differs`` says what is not as wanted, in the shape of ``changes``.

    It is asked before and after ``act``, so a test foretells exactly the changes of a run, and what
    still differs afterwards is a failure nobody had to code; ``why`` may know more of that.
    """
    changes = differs()
    if not changes:
        return Result(outcome=Outcome.OK, comment=words.already, data=facts(), warnings=warnings)
    if ctx.test:
        return Result(
            outcome=Outcome.WOULD_CHANGE,
            comment=words.would,
            changes=changes,
            data=facts(),
            warnings=warnings,
        )
    problem = ""
    try:
        act(changes)
    except BadArgument as refused:
        problem = str(refused)
    except OSError as refused:
        problem = f"{refused.filename}: {refused.strerror}" if refused.filename else str(refused)
    left = differs()
    if problem or left:
        done = {key: value for key, value in changes.items() if left.get(key) != value}
        comment = problem or why(left) or f"acted, but still wrong: {', '.join(left)}"
        return Result(outcome=Outcome.FAILED, comment=comment, changes=done, data=facts(), warnings=warnings)
    return Result(outcome=Outcome.OK, comment=words.done, changes=changes, data=facts(), warnings=warnings)


def tool(
    ctx: Context,
    *argv: str,
    stdin: str | None = None,
    accept: tuple[int, ...] = (0,),
    user: str | None = None,
    hide: bool = False,
) -> Ran:
    """Run a program of the system; raises ``Refused`` unless its exit code is accepted.

    ``hide`` keeps its arguments out of the message, where one of them may be a secret.
    """
    ran = ctx.host.run(argv, stdin=stdin, user=user or ctx.runas, env=PLAIN_WORDS)
    if ran.code in accept:
        return ran
    if ran.code == NOT_FOUND and not ran.out:
        raise Refused(f"the program {argv[0]!r} is not on this machine; install the package that has it")
    shown = argv[0] if hide else " ".join(argv)
    raise Refused(f"{shown}: {said(ran) or f'exit code {ran.code}'}")


def said(ran: Ran) -> str:
    """What a program told of its failure, short enough for a comment."""
    return (ran.err.strip() or ran.out.strip())[-MOST_SHOWN:]


def has(program: str) -> bool:
    """Whether the program can be found, on PATH or where system programs are."""
    places = [*os.environ.get("PATH", os.defpath).split(os.pathsep), "/usr/sbin", "/sbin"]
    return any(os.access(os.path.join(place, program), os.X_OK) for place in places)


def known(value: object, allowed: Mapping[str, object] | tuple[str, ...], what: str) -> None:
    """Raises ``Refused`` unless ``value`` is one of ``allowed``."""
    if value not in allowed:
        raise Refused(f"{what} cannot be {value!r}; it is one of {', '.join(allowed)}")


# All that Python, reading the file again, takes for the end of a line; and the end of a text in C.
BREAKS = "\n\r\0\v\f\x1c\x1d\x1e\x85\u2028\u2029"


def one_line(value: str, what: str, *, without: str = "") -> str:
    """The value, for a file made of lines. Raises ``Refused`` if it would break out of its place."""
    bad = next((sign for sign in (*BREAKS, *without) if sign in value), None)
    if bad is not None:
        raise Refused(f"{what} must not contain {bad!r}: {value!r}")
    return value
