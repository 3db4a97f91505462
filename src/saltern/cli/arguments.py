"""Command lines, read by tables.

``parse`` reads a command line directly by its rows. Anything unusual (a mistake, a request for help) is left
to argparse, built from the same rows: importing and building argparse costs as much as a small run, and most
command lines have no mistake.
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


THIS_MACHINE = "local"  # the --on target that asks no controller; L@local is a system of that name


class Row(Struct, frozen=True, kw_only=True):
    """One option. ``kind``: text, list (repeatable), on, off, flag (true or false as text)."""

    flag: str
    dest: str
    help: str
    kind: str = "text"
    metavar: str = ""
    group: str = ""
    choices: tuple[str, ...] = ()
    default: object = None


class Word(Struct, frozen=True, kw_only=True):
    """One positional argument; ``many`` takes all remaining words."""

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


SLS = "SLS"  # the metavar of words that name state files
FLAG_WORDS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


class _Unusual(Exception):
    """The fast parser cannot read this command line."""


def parse(line: CommandLine, argv: list[str]) -> SimpleNamespace:
    """Parse a command line. Ends the process with a message, as argparse does, if it is wrong."""
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
    """Refuse ``test=True`` and the like, which is not an SLS name, with a hint at the option to use."""
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
    """The same command line as an argparse parser: for help, and messages about mistakes."""
    from argparse import ArgumentParser, RawDescriptionHelpFormatter

    class Parser(ArgumentParser):
        def print_help(self, file: Any = None) -> None:
            """Print the help; an output that cannot be written is an error, which argparse ignores."""
            print(self.format_help(), end="", file=file)

        def error(self, message: str) -> NoReturn:
            """Print one line and a hint; --help prints the whole usage."""
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
    """The options that an unknown option may have meant."""
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
