"""Manual pages of the commands, for `man`, from the tables that read the command line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module

from saltern import __version__
from saltern.cli.arguments import CommandLine, Row, Word
from saltern.cli.commands import COMMANDS
from saltern.cli.exits import EXITS

FOLDER = "../man"
ABOUT = """\
saltern brings a machine into the state that files describe. It reads the state language of Salt: SLS files in
YAML and Jinja, pillar, grains, top files and requisites."""


def pages() -> dict[str, str]:
    """Every manual page: its path below docs/reference, and its text."""
    made = {f"{FOLDER}/saltern-{name}.1": _command(name) for name in COMMANDS}
    return {f"{FOLDER}/saltern.1": _front(), **made}


def _front() -> str:
    parts = [
        _head("saltern", "configuration management in the Salt state language"),
        ".SH SYNOPSIS\n.B saltern\n.I COMMAND\n[options]",
        f".SH DESCRIPTION\n{escape(ABOUT)}",
        ".SH COMMANDS",
        *(f".TP\n.BR saltern\\-{escape(name)} (1)\n{escape(one.help)}" for name, one in COMMANDS.items()),
        ".SH EXIT STATUS",
        *(f".TP\n.B {code}\n{escape(text)}" for code, text in EXITS.items()),
        _files(),
    ]
    return "\n".join(parts) + "\n"


def _files() -> str:
    places = {
        "./saltern.yaml, /etc/saltern/saltern.yaml, ~/.config/saltern/saltern.yaml": "the configuration",
        "/var/lib/saltern": "the journals of runs",
        "/var/cache/saltern": "data that can be created again",
    }
    return ".SH FILES\n" + "\n".join(f".TP\n{escape(path)}\n{escape(what)}" for path, what in places.items())


def _command(name: str) -> str:
    line: CommandLine = import_module(f"saltern.cli.{COMMANDS[name].code}").LINE
    words = " ".join(map(_word, line.words))
    parts = [
        _head(f"saltern-{name}", COMMANDS[name].help),
        f".SH SYNOPSIS\n.B saltern {escape(name)}\n[options] {words}".rstrip(),
        f".SH DESCRIPTION\n{_text(line.about)}",
        *([".SH ARGUMENTS"] if line.words else []),
        *(f".TP\n.I {escape(word.metavar)}\n{escape(word.help)}" for word in line.words),
        *_options(line.rows),
        *([f".SH NOTES\n{_text(line.epilog)}"] if line.epilog else []),
        ".SH SEE ALSO\n.BR saltern (1)",
    ]
    return "\n".join(parts) + "\n"


def _word(word: Word) -> str:
    name = f"\\fI{escape(word.metavar)}\\fR"
    return f"[{name} ...]" if word.many else name


def _options(rows: tuple[Row, ...]) -> Iterator[str]:
    groups = dict.fromkeys(row.group for row in rows)
    for group in groups:
        yield f".SH {escape(group.upper() or 'OPTIONS')}"
        for row in rows:
            if row.group == group:
                value = (
                    "" if row.kind in ("on", "off") else f" \\fI{escape(row.metavar or row.dest.upper())}\\fR"
                )
                yield f".TP\n\\fB{escape(row.flag)}\\fR{value}\n{escape(row.help)}"


def _head(name: str, about: str) -> str:
    title = f'.TH "{escape(name.upper())}" "1" "" "saltern {__version__}" "saltern"'
    note = '.\\" Made by `make docs` from the code; do not edit.'
    return f"{note}\n{title}\n.SH NAME\n{escape(name)} \\- {escape(about)}"


def _text(text: str) -> str:
    """The text for troff; indented lines, and lines of a table, keep their form."""
    if not re.search(r"^\s", text, re.MULTILINE) and len(text.splitlines()) < 3:
        return escape(text)
    return f".nf\n{escape(text)}\n.fi"


def escape(text: str) -> str:
    """Text that troff prints unchanged."""
    plain = text.replace("\\", "\\e").replace("-", "\\-").replace("…", "...")
    return re.sub(r"^([.'])", r"\\&\1", plain, flags=re.MULTILINE)
