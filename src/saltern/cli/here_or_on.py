"""Commands that run on this machine, or on many systems with ``--on TARGET``."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

from saltern.cli.arguments import CommandLine, parse


def run_here_or_on(line: CommandLine, argv: list[str], run_here: Callable[[SimpleNamespace], int]) -> int:
    """Run a command on this machine, or as a job on the named systems."""
    args = parse(line, argv)
    if args.on is not None:
        from saltern.cli.on import run_on

        return run_on(line, args, argv)
    return run_here(args)
