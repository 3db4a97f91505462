"""The database of debconf: answers to the questions that packages ask when they are installed."""

from __future__ import annotations

import os
from collections.abc import Mapping

from msgspec import Struct

from saltern.modules.api.context import Context
from saltern.modules.api.params import BadArgument
from saltern.modules.api.programs import AS_ROOT
from saltern.modules.lib.packages.model import PackageError
from saltern.modules.lib.packages.tool import Tool, is_busy, needs_root
from saltern.system.waits import report_wait

CONFIG = "/etc/debconf.conf"
TYPES = frozenset(
    {"string", "password", "boolean", "select", "multiselect", "text", "note", "error", "title"}
    | {"seen", "entropy"}
)


class DebconfAnswer(Struct, frozen=True):
    """An answer to a question of a package; a password is never shown."""

    owner: str
    question: str
    type: str
    value: str

    @property
    def shown(self) -> str:
        return "(password hidden)" if self.type == "password" else self.value

    def line(self) -> str:
        return f"{self.owner} {self.question} {self.type} {self.value}\n"


class StoredAnswer(Struct, frozen=True, kw_only=True):
    """The stored answer to a question."""

    value: str = ""
    owners: tuple[str, ...] = ()
    seen: bool = False
    secret: bool = False


def known_answers(ctx: Context) -> dict[str, StoredAnswer]:
    """All questions with their answers, read from the files: the programs would wait for the lock."""
    found: dict[str, StoredAnswer] = {}
    for path in _files(ctx):
        secret = os.path.basename(path).startswith("passwords")
        for stanza in (ctx.host.read(path) or "").split("\n\n"):
            fields = _fields(stanza)
            if "Name" in fields:
                found[fields["Name"]] = StoredAnswer(
                    value=fields.get("Value", ""),
                    owners=tuple(fields.get("Owners", "").replace(",", " ").split()),
                    seen="seen" in fields.get("Flags", ""),
                    secret=secret,
                )
    return found


def _files(ctx: Context) -> list[str]:
    """The files of answers in debconf's configuration, without that of the templates."""
    text = ctx.host.read(os.environ.get("DEBCONF_SYSTEMRC", CONFIG)) or ""
    parts = [_fields(part) for part in text.split("\n\n")]
    templates = next((part["Templates"] for part in parts if "Templates" in part), "templatedb")
    return [part["Filename"] for part in parts if "Filename" in part and part.get("Name") != templates]


def _fields(text: str) -> dict[str, str]:
    rows = [line for line in text.splitlines() if not line.startswith("#")]
    return {
        key: value.strip() for line in rows if line[:1] != " " for key, _, value in (line.partition(":"),)
    }


def stale(ctx: Context, answers: list[DebconfAnswer]) -> list[DebconfAnswer]:
    """The answers that are not in the database yet."""
    there = known_answers(ctx)
    return [
        one
        for one in answers
        if (found := there.get(one.question)) is None
        or found.value != one.value
        or one.owner not in found.owners
    ]


def store(ctx: Context, answers: list[DebconfAnswer]) -> None:
    """Store answers through stdin: every user of the machine could read an argument."""
    text = "".join(one.line() for one in answers)
    tool = Tool(ctx.host, ctx.clock)
    for attempt in range(TRIES):
        ran = tool.run(["debconf-set-selections"], stdin=text)
        if not is_busy(ran):
            break
        if not attempt:
            report_wait(f"another program that uses debconf, at most {TRIES * PAUSE:g} seconds")
        ctx.clock.sleep(PAUSE)
    if ran.code and needs_root(ran):
        raise PackageError(f"debconf-set-selections failed: {AS_ROOT}")
    if ran.code:
        # Its message may quote the wrong line, and with it a password.
        raise PackageError(f"debconf-set-selections failed with exit code {ran.code}; is debconf installed?")


TRIES, PAUSE = 60, 2.0


def answer(owner: str, question: str, type_: str, value: object) -> DebconfAnswer:
    """The answer, checked, with the value in debconf's form. Raises ``BadArgument``."""
    for what, word in (("package", owner), ("question", question)):
        if not word or any(sign.isspace() for sign in word):
            raise BadArgument(f"{word!r} is not the name of a {what}")
    if type_ not in TYPES:
        raise BadArgument(
            f"{question}: {type_!r} is not a type of debconf; use one of {', '.join(sorted(TYPES))}"
        )
    text = _text(value)
    if "\n" in text:
        raise BadArgument(f"{question}: an answer must be one line")
    return DebconfAnswer(owner, question, type_, text.strip())


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return ", ".join(map(_text, value))
    return "" if value is None else str(value)


def answers(owner: str, data: Mapping[str, object]) -> list[DebconfAnswer]:
    """``{question: {type: …, value: …}}``; the inner mapping may be a list of mappings."""
    found = []
    for question, given in data.items():
        inner = given
        if isinstance(given, list) and all(isinstance(item, Mapping) for item in given):
            inner = {key: value for item in given for key, value in item.items()}
        if not isinstance(inner, Mapping) or "type" not in inner or "value" not in inner:
            raise BadArgument(f"{question} needs a type and a value: {{'type': string, 'value': …}}")
        found.append(answer(owner, str(question), str(inner["type"]), inner["value"]))
    return found


def parse(text: str) -> list[DebconfAnswer]:
    """The answers in a file in the form of ``debconf-get-selections``."""
    joined = text.replace("\\\n", "")
    found = []
    for number, line in enumerate(joined.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        words = line.split(maxsplit=3)
        if len(words) < 3:
            raise BadArgument(f"line {number} is not 'package question type value'")
        found.append(answer(words[0], words[1], words[2], words[3] if len(words) > 3 else ""))
    return found
