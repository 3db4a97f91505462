"""A state file as text: classifies each line as YAML, template, comment or text of a value."""

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
# Templates hide their content; a quote within quotes is doubled or escaped.
_SIGNS = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\\[\"\\]|''|['\"\[\]{}]|(?<=\s)#")
_OWN_TAGS = ("#!delayed_", "#!end_delayed_")


class Line(Struct, frozen=True):
    """``kind``: yaml, comment, blank, template (with a tag, or inside one), or scalar: it continues the
    value of a line above, which is ``|``, quoted, in brackets or plain.
    """

    number: int
    start: int  # its position in the text
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
        return list(_classify_lines(self.text, _inside(self.text) if self.is_jinja else set()))

    def yaml(self) -> Iterator[Line]:
        return (line for line in self.lines if line.kind == "yaml")

    @cached_property
    def values(self) -> list[tuple[Line, re.Match[str]]]:
        """Lines of YAML with one plain word as ``value``, and their ``key``, if any."""
        if not self.is_yaml:
            return []
        return [(line, value) for line in self.yaml() if (value := _VALUE.fullmatch(line.text))]

    def mark(self, line: Line, column: int = 0) -> Mark:
        """``column`` counts from 0, as a match does."""
        return Mark(self.file, line.number, column + 1)

    def edit(self, line: Line, start: int, end: int, text: str) -> Edit:
        return Edit(self.file, line.start + start, line.start + end, text)


def tags(text: str) -> Iterator[tuple[int, int]]:
    """The begin and end of each template tag. A tag that is not closed ends the search; a pattern would
    search the whole text again for each.
    """
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


def _classify_lines(text: str, inside: set[int]) -> Iterator[Line]:
    start = 0
    scalar = -1  # the text of a value is indented beyond this column
    opened = ""  # what is open: a quote, or brackets
    plain = False  # True if that text may end with a comment
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
            scalar, opened, plain = _open_value(line)
        yield Line(number, start, line, kind)
        start += len(whole) + 1


def _open_value(line: str) -> tuple[int, str, bool]:
    """How the value continues below: the column it is indented beyond, what is open, True if it is plain."""
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
    """The column of the key, or of the dash, before the value; -1 if there is neither."""
    return len(before) if key else len(before.rstrip()) - 1
