"""``saltern install-service``: resume runs when this machine boots."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from saltern.cli import exits
from saltern.cli.arguments import CommandLine, Row, parse
from saltern.cli.options import DISK_ROOT_ROW
from saltern.language.diagnostics import Diagnostic, OperationError

LINE = CommandLine(
    command="install-service",
    about="Install a service that resumes broken and rebooting runs at boot: a systemd unit, an init script.",
    epilog="Both start `saltern resume --boot`, which does nothing if no run is broken. Files that\n"
    "are already as they should be are left alone.",
    words=(),
    rows=(
        DISK_ROOT_ROW,
        Row(
            flag="--slots",
            dest="slots",
            metavar="DIR",
            default="",
            help="start the current build in this directory, where `saltern.updated` keeps builds",
        ),
        Row(flag="--python", dest="python", metavar="FILE", default="", help="the Python to start"),
        Row(
            flag="--config",
            dest="config",
            metavar="FILE",
            help="the configuration that the service uses; by default the one that commands use",
        ),
        Row(flag="--remove", dest="remove", kind="on", default=False, help="remove the service"),
    ),
)


def main(argv: list[str]) -> int:
    from saltern.system import services

    args = parse(LINE, argv)
    with service_errors(args.root):
        if args.remove:
            _print_paths("removed", services.remove(args.root, slots=args.slots), "nothing is installed")
        else:
            config = configuration(args.config, args.root)
            done = services.install(args.root, slots=args.slots, python=args.python, config=config)
            _print_paths("wrote", done, "all is installed already")
    return exits.OK


@contextmanager
def service_errors(root: str) -> Iterator[None]:
    """Write files of a service below ``root``; an error becomes a problem for the user."""
    if not os.path.isdir(root):
        what = f"--root {root}: there is no such directory"
        raise OperationError(Diagnostic(code="option-path", what=what))
    try:
        yield
    except OSError as problem:
        what = f"{problem.filename or root}: {problem.strerror}"
        fix = "run it as root, or give another --root"
        raise OperationError(Diagnostic(code="service-not-installed", what=what, fix=fix)) from None


def configuration(given: str | None, root: str) -> str:
    """The configuration file for the service: the given one, or one that is specific to this place or
    user.
    """
    from saltern.config.files import find, is_for_the_machine

    if root != "/":
        return given or ""  # a path on the other machine's disk
    path, _ = find(given, os.environ)
    return "" if path is None or (is_for_the_machine(path) and not given) else os.path.abspath(path)


def _print_paths(word: str, places: list[str], nothing: str) -> None:
    for place in places:
        print(f"{word} {place}")
    if not places:
        print(nothing)
