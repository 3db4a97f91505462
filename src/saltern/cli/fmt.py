"""``saltern fmt``: format state files without changing their meaning."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

from saltern.cli import exits
from saltern.cli.arguments import CommandLine, Row, Word, parse
from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.language.source import Mark, SlsRef
from saltern.lint.format import format_page
from saltern.lint.page import Page
from saltern.sources.tree import SlsSource
from saltern.system import files

DEFAULT_PIPE = "jinja|yaml"
STDIN = "-"
LINE = CommandLine(
    command="fmt",
    about="Format state files: indentation, blank lines, spaces. Their meaning stays the same.",
    epilog="Files that are not YAML, or whose meaning could change, are left as they are.\n\n"
    "exit codes: 0 ok, 1 usage or environment, 3 with --check: files would be changed",
    words=(
        Word(
            dest="paths",
            metavar="PATH",
            many=True,
            help="files, or directories of .sls files; - is stdin; default: .",
        ),
    ),
    rows=(
        Row(
            flag="--check",
            dest="check",
            kind="on",
            default=False,
            help="only name the files that would be changed",
        ),
        Row(flag="--diff", dest="diff", kind="on", default=False, help="only show what would be changed"),
    ),
)


def main(argv: list[str]) -> int:
    args = parse(LINE, argv)
    if args.paths == [STDIN]:
        sys.stdout.write(layout("stdin.sls", sys.stdin.read()))
        return exits.OK
    changed = 0
    count = 0
    for path in _files(args.paths or ["."]):
        count += 1
        text = _read(path)
        new = layout(path, text)
        if new == text:
            continue
        changed += 1
        _handle(path, text, new, check=args.check, diff=args.diff)
    verb = "would be changed" if args.check or args.diff else "changed"
    print(f"{count} {'file' if count == 1 else 'files'}, {changed} {verb}", file=sys.stderr)
    return exits.COMPILE if changed and args.check else exits.OK


def layout(path: str, text: str) -> str:
    return format_page(Page(SlsSource(SlsRef("base", ""), path, path, text), DEFAULT_PIPE))


def _handle(path: str, text: str, new: str, *, check: bool, diff: bool) -> None:
    if diff:
        from difflib import unified_diff

        lines = (text.splitlines(keepends=True), new.splitlines(keepends=True))
        sys.stdout.writelines(unified_diff(*lines, path, path))
    elif check:
        print(path)
    else:
        _write(path, new)
        print(path)


def _files(paths: list[str]) -> Iterator[str]:
    for path in paths:
        if os.path.isdir(path):
            for folder, folders, names in os.walk(path):
                folders[:] = sorted(name for name in folders if not name.startswith("."))
                yield from (os.path.join(folder, name) for name in sorted(names) if name.endswith(".sls"))
        elif os.path.exists(path):
            yield path
        else:
            raise OperationError(Diagnostic(code="option-path", what=f"{path}: there is no such file"))


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()
    except (OSError, UnicodeDecodeError) as problem:
        raise _problem(path, problem, "read") from None


def _write(path: str, text: str) -> None:
    try:
        files.write(os.path.abspath(path), text.encode())
    except OSError as problem:
        raise _problem(path, problem, "written") from None


def _problem(path: str, problem: Exception, done: str) -> OperationError:
    why = getattr(problem, "strerror", None) or str(problem)
    return OperationError(
        Diagnostic(code="fmt-failed", what=f"this file cannot be {done}: {why}", where=Mark(path))
    )
