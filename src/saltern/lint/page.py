"""A state file as text, line by line: what is YAML in it, and what is a template or the text of a value."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

from msgspec import Struct

from saltern.language.source import Mark, SlsRef
from saltern.lint.findings import Edit
from saltern.render.pipe import parse_pipe
from saltern.sources.tree import SlsSource

_OPENS = re.compile(r"\{[%{#]")
_CLOSES = {"{%": "%}", "{{": "}}", "{#": "#}"}
_SCALAR = re.compile(r"(?P<before>[ ]*(?:- +)*)(?P<key>[^#]*:[ ]+)?[|>][-+0-9]*[ ]*(?:#.*)?")
_VALUE = re.compile(
    r"(?P<before>[ ]*(?:- +)*(?:(?P<key>[\w.-]+):[ ]+)?)(?P<value>[^\s'\"{\[|>&*!#][^\s#]*)[ ]*(?:#.*)?"
)
_ENTRY = re.compile(
    r"(?P<before>[ ]*(?:-(?:[ ]+|$))*)"
    r"(?P<key>[^\s'\"{\[#][^#]*?:(?:[ ]+|$)|['\"].*?['\"]:(?:[ ]+|$))?(?P<value>.*)"
)
# Templates hide what is in them; a quote is doubled or escaped inside of its own kind.
_SIGNS = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\\[\"\\]|''|['\"\[\]{}]|(?<=\s)#")
_OWN_TAGS = ("#!delayed_", "#!end_delayed_")


class Line(Struct, frozen=True):
    """``kind``: yaml, comment, blank, template (of one, or inside it), or scalar: one that continues the
    value of a line above, be it ``|``, quoted, in brackets or plain."""

    number: int
    start: int  # its place in the text
    text: str
    kind: str


class Page:
    def __init__(self, source: SlsSource, pipe: str) -> None:
        self.ref: SlsRef = source.ref
        self.file = source.path
        self.text = source.text
        first = source.text.partition("\n")[0]
        own = first.startswith("#!") and not first.startswith(("#!/", *_OWN_TAGS))
        self._stages = [stage.name for stage in parse_pipe(first[2:] if own else pipe)]

    @property
    def is_yaml(self) -> bool:
        return self._stages[-1:] == ["yaml"]

    @property
    def is_jinja(self) -> bool:
        return "jinja" in self._stages

    @cached_property
    def lines(self) -> list[Line]:
        return list(_classified(self.text, _inside(self.text) if self.is_jinja else set()))

    def yaml(self) -> Iterator[Line]:
        return (line for line in self.lines if line.kind == "yaml")

    @cached_property
    def values(self) -> list[tuple[Line, re.Match[str]]]:
        """Lines of YAML with one plain word as their ``value``, and the ``key`` before it, if any."""
        if not self.is_yaml:
            return []
        return [(line, value) for line in self.yaml() if (value := _VALUE.fullmatch(line.text))]

    def mark(self, line: Line, column: int = 0) -> Mark:
        """``column`` counts from 0, as a match does."""
        return Mark(self.file, line.number, column + 1)

    def edit(self, line: Line, start: int, end: int, text: str) -> Edit:
        return Edit(self.file, line.start + start, line.start + end, text)


def tags(text: str) -> Iterator[tuple[int, int]]:
    """Where each tag of a template begins and ends. One that is not closed is none, and found to be so once:
    a pattern would look through the whole text for each."""
    unclosed: set[str] = set()
    at = 0
    while found := _OPENS.search(text, at):
        at = found.start() + 1
        end = text.find(_CLOSES[found[0]], found.end()) if found[0] not in unclosed else -1
        if end < 0:
            unclosed.add(found[0])
            continue
        at = end + 2
        yield found.start(), at


def _inside(text: str) -> set[int]:
    """The lines, from 1, that begin inside a template's tag."""
    found: set[int] = set()
    if "{" not in text:
        return found
    line = counted = 0
    for start, end in tags(text):
        if several := text.count("\n", start, end):
            line += text.count("\n", counted, start)
            counted = start
            found.update(range(line + 2, line + 2 + several))
    return found


def _classified(text: str, inside: set[int]) -> Iterator[Line]:
    start = 0
    scalar = -1  # the column that the text of a value has to be indented beyond
    opened = ""  # what has to be closed: a quote, or brackets
    plain = False  # whether that text may end with a comment
    for number, whole in enumerate(text.split("\n"), 1):
        line = whole.removesuffix("\r")
        body = line.lstrip(" ")
        indent = len(line) - len(body)
        if number in inside or body.startswith(("{%", "{#")):
            kind = "template"
        elif not body.strip():
            kind = "blank"
        elif opened:
            kind, opened = "scalar", _open(body, opened)
        elif 0 <= scalar < indent and not (plain and body.startswith("#")):
            kind = "scalar"
        elif body.startswith("#"):
            kind, scalar = "comment", -1
        else:
            kind = "yaml"
            scalar, opened, plain = _begun(line)
        yield Line(number, start, line, kind)
        start += len(whole) + 1


def _begun(line: str) -> tuple[int, str, bool]:
    """What continues in the lines below: the column they are beyond, what is open, whether it is plain."""
    if block := _SCALAR.fullmatch(line):
        return _column(block["before"], block["key"]), "", False
    entry = _ENTRY.fullmatch(line)
    assert entry is not None
    value = entry["value"]
    if value[:1] in ("'", '"', "[", "{") and not value.startswith("{{"):
        return -1, _open(value, ""), False
    if not value or value[0] in "#&*!" or value.rstrip().endswith(":"):
        return -1, "", False
    return _column(entry["before"], entry["key"]), "", True


def _open(text: str, opened: str) -> str:
    """The quote or the brackets that are still open after a text that begins inside of ``opened``."""
    for sign in _SIGNS.finditer(text):
        word = sign[0]
        if opened[-1:] in ("'", '"'):
            opened = opened[:-1] if word == opened[-1] else opened
        elif word in ("'", '"', "[", "{"):
            opened += word
        elif word in ("]", "}"):
            opened = opened[:-1]
        elif word.startswith("#"):
            break
    return opened


def _column(before: str, key: str | None) -> int:
    """Where the key stands, or the dash, that the text is the value of; -1 if neither is there."""
    return len(before) if key else len(before.rstrip()) - 1
