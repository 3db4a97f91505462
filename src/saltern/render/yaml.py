"""YAML as Salt reads it, built directly from libyaml's events.

YAML 1.1, except: ``0644`` is the number 644, dates are text, an unknown tag, a repeated key
and a second document are errors. Bounded in depth and in size after expansion of aliases,
so that a small file cannot become a large one.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import yaml
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

from saltern.language import numbers
from saltern.language.diagnostics import CompileError, Diagnostic
from saltern.language.source import Mark
from saltern.render.yaml_limits import USUAL, Limits, YamlProblem

_Parser: Any
try:
    from yaml._yaml import CParser

    _Parser = CParser
except ImportError:  # a PyYAML without libyaml: slower, the same data
    _Parser = yaml.SafeLoader


MOST_SIXTIES = 100  # parts of a base-60 number, such as 12:30:00; parsing takes quadratic time
_PREFIX = "tag:yaml.org,2002:"
_IMPLICIT: dict[str, list[tuple[str, re.Pattern[str]]]] = yaml.SafeLoader.yaml_implicit_resolvers
_known: dict[str, object] = {"": None}


def plain(text: str) -> object:
    """The value of an unquoted word; cached, since states repeat the same few words."""
    if text.startswith("0o") and text[2:] and not text[2:].strip("01234567"):
        text = text[1:].replace("o", "0")  # like 0644: for a mode, the digits matter
    value: object = text
    for tag, pattern in _IMPLICIT.get(text[:1], ()):
        if pattern.match(text):
            try:
                value = _IMPLICIT_VALUES.get(tag[len(_PREFIX) :], str)(text)
            except ValueError as problem:
                if numbers.was_refused(problem):
                    raise _TooLong(text) from None
                value = text
            if numbers.is_too_long(value):
                raise _TooLong(text)
            break
    if len(_known) < 100_000:
        _known[text] = value
    return value


class _TooLong(Exception):
    """A number kept as text because it is too long to compute with."""


def _scalar(tag: str, text: str) -> object:
    make = yaml.SafeLoader.yaml_constructors[_PREFIX + tag]
    return make(_CONSTRUCTOR, yaml.ScalarNode(_PREFIX + tag, text))


_CONSTRUCTOR = yaml.SafeLoader("")


def _float(text: str) -> object:
    if text.count(":") > MOST_SIXTIES:
        raise _TooLong(text)
    return _scalar("float", text)


def _integer(text: str) -> object:
    if text.count(":") > MOST_SIXTIES:
        raise _TooLong(text)
    if text[0] == "0" and text[1:2] not in ("", "b", "x"):
        text = text.lstrip("0") or "0"
    return _scalar("int", text)


def _binary(text: str) -> object:
    import base64
    import binascii

    joined = "".join(text.split())
    try:
        return base64.b64decode(joined + "=" * (-len(joined) % 4))
    except binascii.Error as problem:
        raise ValueError(f"not base64: {problem}") from None


_IMPLICIT_VALUES: dict[str, Callable[[str], object]] = {
    "bool": lambda text: _scalar("bool", text),
    "int": _integer,
    "float": _float,
    "null": lambda _: None,
    "merge": str,
    "timestamp": str,
    "value": str,
}
_TAGGED_SCALARS: dict[str, Callable[[str], object]] = {
    "str": str,
    "binary": _binary,
    "timestamp": str,
    **{name: _IMPLICIT_VALUES[name] for name in ("bool", "int", "float", "null")},
}


def read(text: str, limits: Limits = USUAL) -> object:
    """Parse ``text``; an empty text is None. Raises ``YamlProblem``."""
    try:
        parser = _Parser(text)
        return _Builder(parser.get_event, limits).document()
    except yaml.MarkedYAMLError as problem:
        raise _syntax_problem(problem, text) from None
    except _TooLong as problem:
        (written,) = problem.args
        line, column = numbers.place_of(text, max(text.find(written), 0))
        what = numbers.what(len(written))
        raise YamlProblem("number-too-long", what, line, column, numbers.FIX) from None
    except UnicodeEncodeError as problem:
        line = text.count("\n", 0, problem.start) + 1
        what = f"the character {text[problem.start]!r} is not allowed in YAML"
        raise YamlProblem("yaml-character", what, line, 0, "it is half of a surrogate pair") from None
    except yaml.reader.ReaderError as problem:
        line = text.count("\n", 0, problem.position) + 1
        given: object = problem.character
        shown = chr(given) if isinstance(given, int) else str(given)
        what = f"the character {shown!r} is not allowed in YAML"
        raise YamlProblem("yaml-character", what, line, 0, "remove it, or write it as an escape") from None


class _Builder:
    """Builds data from events, by recursive descent."""

    __slots__ = ("anchors", "count", "get", "limits", "sizes")

    def __init__(self, get: Callable[[], object], limits: Limits) -> None:
        self.get = get
        self.limits = limits
        self.anchors: dict[str, object] = {}
        self.sizes: dict[str, int] = {}
        self.count = 0

    def document(self) -> object:
        self.get()  # the stream starts
        event = self.get()
        if event.__class__ is StreamEndEvent:
            return None
        value = self.node(self.get(), 0)
        self.get()  # the document ends
        event = self.get()
        if event.__class__ is DocumentStartEvent:
            raise _problem(
                "yaml-documents",
                "a second document starts here; an SLS is one document",
                event,
                "remove the line '---', or split the file",
            )
        return value

    def node(self, event: Any, depth: int) -> object:
        kind = event.__class__
        self.count += 1
        if self.count > self.limits.nodes:
            raise self.too_large(event)
        if kind is ScalarEvent and event.anchor is None and event.tag is None:
            text = event.value
            if not event.implicit[0]:
                return text
            return _known[text] if text in _known else plain(text)
        if depth > self.limits.depth:
            raise _problem(
                "yaml-too-deep",
                f"values are nested more than {self.limits.depth} levels deep",
                event,
                "flatten the data; the limit is max_yaml_depth",
            )
        if kind is AliasEvent:
            return self.alias(event)
        before = self.count
        if kind is MappingStartEvent:
            value: object = self.mapping(event, depth)
        elif kind is SequenceStartEvent:
            value = self.sequence(event, depth)
        else:
            value = self.scalar_value(event)
        if event.anchor is not None:
            self.anchors[event.anchor] = value
            self.sizes[event.anchor] = self.count - before + 1
        return value

    def too_large(self, event: object) -> YamlProblem:
        what = f"this document has more than {self.limits.nodes} values"
        return _problem("yaml-too-large", what, event, "split it; the limit is max_yaml_nodes")

    def mapping(self, start: object, depth: int) -> dict[object, object]:
        _check_tag(start, ("map", "omap", "set"))
        result: dict[object, object] = {}
        merges: list[object] = []
        get, node, known = self.get, self.node, _known
        depth += 1
        while True:
            event = get()
            if event.__class__ is MappingEndEvent:
                break
            key: object
            if event.__class__ is ScalarEvent and event.tag is None:
                key = event.value
                if event.implicit[0]:
                    if key == "<<":
                        merges.append(self.merge_value(get(), depth))
                        continue
                    key = node(event, depth)
                elif event.anchor is not None:
                    key = node(event, depth)
            else:
                key = node(event, depth)
            try:
                repeated = key in result
            except TypeError:
                raise _problem(
                    "yaml-key",
                    f"a {'mapping' if isinstance(key, dict) else 'list'} cannot be a key",
                    event,
                    "if this is a template expression, quote it: '{{ … }}'",
                ) from None
            if repeated:
                raise _problem(
                    "yaml-duplicate-key", f"the key {key!r} is defined twice", event, "rename or remove one"
                )
            event = get()
            if event.__class__ is ScalarEvent and event.anchor is None and event.tag is None:
                self.count += 1
                text = event.value
                if not event.implicit[0]:
                    result[key] = text
                else:
                    result[key] = known[text] if text in known else plain(text)
            else:
                result[key] = node(event, depth)
        if merges:
            base: dict[object, object] = {}
            for one in merges:
                base.update(one)  # type: ignore[call-overload]
            self.count += len(base)
            result = base | result
        if self.count > self.limits.nodes:
            raise self.too_large(start)
        return result

    def sequence(self, start: object, depth: int) -> list[object]:
        _check_tag(start, ("seq", "omap", "pairs", "set"))
        result: list[object] = []
        get, node = self.get, self.node
        depth += 1
        while True:
            event = get()
            if event.__class__ is SequenceEndEvent:
                return result
            result.append(node(event, depth))

    def merge_value(self, event: object, depth: int) -> dict[object, object]:
        """The value of ``<<``: a mapping, or a list of mappings, of which earlier ones win."""
        value = self.node(event, depth)
        if isinstance(value, dict):
            return value
        if isinstance(value, list) and all(isinstance(item, dict) for item in value):
            return {key: inner for item in reversed(value) for key, inner in item.items()}
        raise _problem("yaml-merge", "'<<' needs a mapping or a list of mappings", event)

    def alias(self, event: Any) -> object:
        if event.anchor not in self.anchors:
            raise _problem("yaml-alias", f"no anchor '&{event.anchor}' is defined before this", event)
        self.count += self.sizes[event.anchor]
        if self.count > self.limits.nodes:
            raise _problem(
                "yaml-bomb",
                f"aliases make this document larger than {self.limits.nodes} values",
                event,
                "write out the data, or generate it with a template",
            )
        return self.anchors[event.anchor]

    def scalar_value(self, event: Any) -> object:
        if event.tag is None or event.tag == "!":
            unquoted = event.implicit[0] or (event.tag == "!" and not event.style)
            return plain(event.value) if unquoted else event.value
        name = event.tag.removeprefix(_PREFIX)
        if name not in _TAGGED_SCALARS or not event.tag.startswith(_PREFIX):
            raise _unknown_tag(event)
        try:
            value = _TAGGED_SCALARS[name](event.value)
            if numbers.is_too_long(value):
                raise _TooLong(event.value)
            return value
        except (ValueError, KeyError, IndexError) as problem:
            if numbers.was_refused(problem):
                raise _TooLong(event.value) from None
            raise _problem(
                "yaml-value", f"{event.value!r} is not a value of '!!{name}': {problem}", event
            ) from None


def _check_tag(event: Any, allowed: tuple[str, ...]) -> None:
    tag = event.tag
    if tag is not None and tag != "!" and tag.removeprefix(_PREFIX) not in allowed:
        raise _unknown_tag(event)


def _unknown_tag(event: Any) -> YamlProblem:
    shown = event.tag.replace(_PREFIX, "!!")
    return _problem("yaml-tag", f"the tag {shown!r} is not known", event, "remove the tag, or quote the text")


def _problem(code: str, what: str, event: Any, fix: str = "") -> YamlProblem:
    mark = event.start_mark
    return YamlProblem(code, what, mark.line + 1, mark.column + 1, fix)


_OPENED = ("a quoted scalar", "a flow sequence", "a flow mapping")


def _syntax_problem(problem: yaml.MarkedYAMLError, text: str) -> YamlProblem:
    said = str(problem.problem or problem.context or "it cannot be read")
    what = f"not YAML: {said}"
    mark = problem.problem_mark or problem.context_mark
    if problem.context_mark and str(problem.context).endswith(_OPENED):
        # Something was never closed: the place to look at is where it was opened.
        what = f"not YAML: {problem.context}, {said}"
        mark = problem.context_mark
    elif problem.context and problem.context_mark and mark and problem.context_mark.line != mark.line:
        what += f" ({problem.context}, which starts at line {problem.context_mark.line + 1})"
    last = text.count("\n") + (0 if text.endswith("\n") else 1)
    line = mark.line + 1 if mark else last + 1
    column = mark.column + 1 if mark else 1
    from saltern.render.yaml_hints import hint

    fix, (line, column) = hint(said, text, (max(min(line, last), 1), column))
    return YamlProblem("yaml-syntax", what, line, column, fix)


def parse(text: str, name: str = "<text>", limits: Limits = USUAL) -> object:
    """Like ``read``, for text that no template made: problems have their place in ``name``."""
    try:
        return read(text, limits)
    except YamlProblem as problem:
        where = Mark(name, problem.line, problem.column)
        raise CompileError(
            Diagnostic(code=problem.code, what=problem.what, where=where, fix=problem.fix)
        ) from None
