"""Command lines, from tables.

A command line is read by ``parse`` straight from the rows. Whatever is unusual (a mistake, a call for
help) is handed to argparse, built from the same rows: importing and building it costs as much as a
small run, and most runs make no mistake.
"""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NoReturn

from msgspec import Struct

from saltern.cli.exits import SURROUNDINGS
from saltern.language.diagnostics import did_you_mean

if TYPE_CHECKING:
    from argparse import ArgumentParser


THIS_MACHINE = "local"  # as the target of --on: no controller is asked; L@local is a system of that name


class Row(Struct, frozen=True, kw_only=True):
    """One option. ``kind``: text, list (may be given again), on, off, flag (true or false as text)."""

    flag: str
    dest: str
    help: str
    kind: str = "text"
    metavar: str = ""
    group: str = ""
    choices: tuple[str, ...] = ()
    default: object = None


class Word(Struct, frozen=True, kw_only=True):
    """One positional argument; ``many`` takes all that are left."""

    dest: str
    metavar: str
    help: str
    many: bool = False
    choices: tuple[str, ...] = ()


class CommandLine(Struct, frozen=True, kw_only=True):
    command: str
    about: str
    words: tuple[Word, ...]
    rows: tuple[Row, ...]
    epilog: str = ""


SLS = "SLS"  # what words are called that name state files
FLAG_WORDS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


class _Unusual(Exception):
    """Not for the quick reader."""


def parse(line: CommandLine, argv: list[str]) -> SimpleNamespace:
    """What was typed. Ends the process with a message, as argparse does, if it is wrong."""
    try:
        read = _read(line, argv)
    except _Unusual:
        read = SimpleNamespace(**vars(parser(line).parse_intermixed_args(argv)))
    if getattr(read, "on", None) == THIS_MACHINE:
        read.on = None
    for word in line.words:
        if word.metavar == SLS and any("=" in one for one in getattr(read, word.dest) or ()):
            _refuse_keywords(line, getattr(read, word.dest))
    return read


def _refuse_keywords(line: CommandLine, words: list[str]) -> None:
    """``test=True`` is no SLS: say at once what is meant by it here, and not that no such file is there."""
    from saltern.cli.salt_habits import of_words

    if problems := of_words(words):
        for one in problems:
            print(f"saltern {line.command}: {one}", file=sys.stderr)
        raise SystemExit(SURROUNDINGS)


def _read(line: CommandLine, argv: list[str]) -> SimpleNamespace:
    rows = {row.flag: row for row in line.rows}
    values: dict[str, Any] = {row.dest: row.default for row in line.rows}
    words: list[str] = []
    left = iter(argv)
    for token in left:
        if token == "--":
            words += left
        elif token.startswith("--"):
            flag, equals, value = token.partition("=")
            row = rows.get(flag)
            if row is None:
                raise _Unusual
            _set(row, values, value if equals else None, left)
        elif token.startswith("-") and len(token) > 1:
            raise _Unusual
        else:
            words.append(token)
    for word in line.words:
        values[word.dest] = words if word.many else (words.pop(0) if words else None)
        if not word.many and (values[word.dest] is None or not _allowed(word.choices, values[word.dest])):
            raise _Unusual
    if words and not (line.words and line.words[-1].many):
        raise _Unusual
    return SimpleNamespace(**values)


def _set(row: Row, values: dict[str, Any], value: str | None, left: Any) -> None:
    if row.kind in ("on", "off"):
        if value is not None:
            raise _Unusual
        values[row.dest] = row.kind == "on"
        return
    if value is None:
        value = next(left, None)
    if value is None or value.startswith("--") or not _allowed(row.choices, value):
        raise _Unusual
    if row.kind == "list":
        values[row.dest] = [*(values[row.dest] or []), value]
    elif row.kind == "flag":
        if value.lower() not in FLAG_WORDS:
            raise _Unusual
        values[row.dest] = FLAG_WORDS[value.lower()]
    else:
        values[row.dest] = value


def _allowed(choices: tuple[str, ...], value: str) -> bool:
    return not choices or value in choices


def parser(line: CommandLine) -> ArgumentParser:
    """The same command line for argparse: help, and messages about mistakes."""
    from argparse import ArgumentParser, RawDescriptionHelpFormatter

    class Parser(ArgumentParser):
        def print_help(self, file: Any = None) -> None:
            """To an output that cannot take it, too: argparse says nothing of that."""
            print(self.format_help(), end="", file=file)

        def error(self, message: str) -> NoReturn:
            """One line and a hint; the whole usage is what --help is for."""
            from saltern.report.text import safe

            hint = hint_for(message, [row.flag for row in line.rows])
            print(f"{self.prog}: {safe(message)}" + (f"; {hint}" if hint else ""), file=sys.stderr)
            print(f"{self.prog} --help says more", file=sys.stderr)
            raise SystemExit(SURROUNDINGS)

    result = Parser(
        prog=f"saltern {line.command}",
        description=line.about,
        epilog=line.epilog,
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    for word in line.words:
        choices: dict[str, Any] = {"choices": word.choices} if word.choices else {}
        nargs: dict[str, Any] = {"nargs": "*"} if word.many else {}
        result.add_argument(word.dest, metavar=word.metavar, help=word.help, **choices, **nargs)
    groups: dict[str, Any] = {"": result}
    for row in line.rows:
        if row.group not in groups:
            groups[row.group] = result.add_argument_group(row.group)
        groups[row.group].add_argument(
            row.flag, dest=row.dest, help=row.help, default=row.default, **_kind(row)
        )
    return result


def hint_for(message: str, flags: list[str]) -> str:
    """What may have been meant by an option that there is not."""
    from saltern.cli.salt_habits import of_flag

    words = message.partition(": ")[2].split() if message.startswith("unrecognized") else []
    given = next((word for word in words if word.startswith("-")), words[-1] if words else "")
    if not given:
        return ""
    return did_you_mean(given.partition("=")[0], flags) or of_flag(given, flags)


def _kind(row: Row) -> dict[str, Any]:
    if row.kind in ("on", "off"):
        return {"action": "store_true" if row.kind == "on" else "store_false"}
    shown = {"metavar": row.metavar or row.dest.upper()}
    if row.choices:
        shown["choices"] = row.choices  # type: ignore[assignment]
    if row.kind == "list":
        return {"action": "append", **shown}
    return {"type": _flag, **shown} if row.kind == "flag" else {**shown}


def _flag(text: str) -> bool:
    if text.lower() not in FLAG_WORDS:
        raise ValueError(text)
    return FLAG_WORDS[text.lower()]
