"""argv → command → exit code. Every error ends here, as a message and not as a traceback."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module

from saltern.cli import exits
from saltern.cli.commands import COMMANDS
from saltern.language import numbers, secrets
from saltern.language.diagnostics import (
    ChainError,
    CompileError,
    Diagnostic,
    OperationError,
    PillarError,
    SalternError,
    did_you_mean,
)
from saltern.system.clock import help_python

USAGE = """\
usage: saltern COMMAND [options]

A configuration-management engine for the Salt state language.

commands:
{commands}

saltern COMMAND --help says more; saltern --version prints the version.
"""


def run(argv: list[str]) -> int:
    """Run one command line; return the exit code."""
    help_python()
    sys.set_int_max_str_digits(numbers.MOST_DIGITS)  # Python's own limit is 4,300, and it raises
    try:
        code = _run(argv)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        _to_nowhere()
        return exits.OK
    except OSError as problem:
        return _surroundings(problem)


def _run(argv: list[str]) -> int:
    if not argv or argv[0] in ("-h", "--help", "help"):
        rows = "\n".join(f"  {name:<15} {command.help}" for name, command in COMMANDS.items())
        print(USAGE.format(commands=rows), end="")
        return exits.OK if argv else exits.SURROUNDINGS
    name, rest = argv[0], argv[1:]
    if name not in COMMANDS:
        return _unknown(name)

    def command() -> int:
        code: int = import_module(f"saltern.cli.{COMMANDS[name].code}").main(rest)
        return code

    return run_guarded(command)


def run_guarded(work: Callable[[], int]) -> int:
    """Run some work and return its exit code; an error becomes a message and its exit code."""
    try:
        return work()
    except SalternError as problem:
        return _report_problem(problem)
    except KeyboardInterrupt:
        print("saltern: interrupted", file=sys.stderr)
        return exits.INTERRUPTED
    except SystemExit as end:  # argparse
        return exits.SURROUNDINGS if end.code else exits.OK
    except OSError:
        raise
    except Exception as problem:
        if numbers.was_refused(problem):  # made by user code: numbers that are read were checked
            what, fix = numbers.what(), "a function or module returns it: return text instead"
            return _report_problem(OperationError(Diagnostic(code="number-too-long", what=what, fix=fix)))
        return _bug(problem)


def _unknown(name: str) -> int:
    from saltern.cli.salt_habits import of_command

    hint = of_command(name) or did_you_mean(name, COMMANDS)
    if name.startswith("-"):
        print(f"saltern: {name!r} stands before the command: write saltern COMMAND {name}", file=sys.stderr)
    else:
        print(f"saltern: no command is called {name!r}" + (f"; {hint}" if hint else ""), file=sys.stderr)
    print("saltern --help lists them", file=sys.stderr)
    return exits.SURROUNDINGS


def _surroundings(problem: OSError) -> int:
    """Report a refusal of the system, such as a full disk or a missing current directory; return the exit
    code.
    """
    where = problem.filename if isinstance(problem.filename, str) else ""
    what = f"{where}: {problem.strerror or problem}" if where else f"{problem.strerror or problem}"
    if _is_lost():
        what = "the current directory does not exist any more: change to another one"
    elif not where:
        what = f"the output cannot be written: {what}"
    if problem.errno in (errno.ENOSPC, errno.EDQUOT):
        what += "; free space, then run it again"
    _to_nowhere()
    try:
        print(f"saltern: {what}", file=sys.stderr, flush=True)
    except OSError:
        pass  # it cannot be reported anywhere
    return exits.SURROUNDINGS


def _is_lost() -> bool:
    """True if the directory that we were started in has been removed."""
    try:
        os.getcwd()
    except OSError:
        return True
    return False


def code_for(problem: SalternError) -> int:
    if isinstance(problem, PillarError):
        return exits.PILLAR
    return exits.COMPILE if isinstance(problem, CompileError) else exits.SURROUNDINGS


def _report_problem(problem: SalternError) -> int:
    from saltern.report.colours import wanted
    from saltern.report.diagnostics import show

    kinds: tuple[tuple[type[SalternError], str], ...] = (
        (PillarError, "the pillar does not compile; nothing was run"),
        (ChainError, "the chain file has mistakes; nothing was run"),
        (CompileError, "the states do not compile; nothing was run"),
        (OperationError, ""),
    )
    show(problem.diagnostics, sys.stderr, colour=wanted(sys.stderr))
    for kind, text in kinds:
        if isinstance(problem, kind) and text:
            print(f"saltern: {text}", file=sys.stderr)
            break
    return code_for(problem)


def _bug(problem: Exception) -> int:
    """Report a bug in saltern: one sentence for the user, the details in a file."""
    import tempfile
    import traceback

    handle, path = tempfile.mkstemp(prefix="saltern-crash-", suffix=".txt")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(secrets.mask("".join(traceback.format_exception(problem))))
    from saltern.report.text import safe_line

    said = safe_line(secrets.mask(f"{type(problem).__name__}: {problem}"))
    print(f"saltern: a bug in saltern: {said}", file=sys.stderr)
    print(f"the details are in {path}; please report them", file=sys.stderr)
    return exits.BUG


def _to_nowhere() -> None:
    """Discard buffered output: its reader is gone, or cannot take it."""
    with suppress(OSError, ValueError):  # a test may have replaced the stream
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
