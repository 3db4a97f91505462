"""The tags and global names that state files have in addition to Jinja's.

``{% load_yaml as v %}…{% endload %}`` and similar tags read a block of the template as data;
``{% import_yaml 'path' as v %}`` and similar tags read a file, which is rendered first like Jinja's own
``import`` would: without the importer's local names, unless it says ``with context``.
``{% profile as 'x' %}…{% endprofile %}`` logs how long the block took.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from jinja2 import TemplateRuntimeError, Undefined, nodes, pass_context
from jinja2.ext import Extension
from jinja2.parser import Parser
from jinja2.runtime import Context

from saltern.language.source import Mark

_LOADS = ("load_yaml", "load_json", "load_text")
_HIDDEN = "_saltern_"  # the underscore keeps a name from being exported
_IMPORTS = {"import_yaml": "load_yaml", "import_json": "load_json", "import_text": "load_text"}


class Serializer(Extension):
    """The tags. Each becomes existing Jinja nodes, and one call of a method below."""

    tags = {*_LOADS, *_IMPORTS, "profile"}

    def parse(self, parser: Parser) -> list[nodes.Node]:
        tag = next(parser.stream)
        hidden = _HIDDEN + parser.free_identifier().name
        if tag.value in _LOADS:
            return self._load(parser, tag.value, tag.lineno, hidden)
        if tag.value in _IMPORTS:
            return self._import(parser, tag.value, tag.lineno, hidden)
        return self._profile(parser, tag.lineno, hidden)

    def _load(self, parser: Parser, tag: str, line: int, hidden: str) -> list[nodes.Node]:
        parser.stream.expect("name:as")
        target = parser.parse_assign_target(name_only=True)
        body = parser.parse_statements(("name:endload",), drop_needle=True)
        keep = nodes.AssignBlock(nodes.Name(hidden, "store", lineno=line), None, body, lineno=line)
        return [keep, nodes.Assign(target, self._call("block", hidden, line, tag, line), lineno=line)]

    def _import(self, parser: Parser, tag: str, line: int, hidden: str) -> list[nodes.Node]:
        node = nodes.Import(lineno=line)
        node.template = self._path(parser.parse_expression(), tag)
        parser.stream.expect("name:as")
        target = parser.parse_assign_target(name_only=True)
        node.target = hidden
        keep = parser.parse_import_context(node, False)
        return [keep, nodes.Assign(target, self._call("file", hidden, line, tag, line), lineno=line)]

    def _path(self, path: nodes.Expr, tag: str) -> nodes.Expr:
        if isinstance(path, nodes.Const) and isinstance(path.value, str):
            return path
        return self.call_method("path", [path, nodes.Const(tag)], lineno=path.lineno)

    def _profile(self, parser: Parser, line: int, hidden: str) -> list[nodes.Node]:
        parser.stream.expect("name:as")
        label = parser.parse_expression()
        body = parser.parse_statements(("name:endprofile",), drop_needle=True)
        start = nodes.Assign(nodes.Name(hidden, "store"), self.call_method("clock", lineno=line), lineno=line)
        report = self.call_method("log_profile", [label, nodes.Name(hidden, "load")], lineno=line)
        # The body is not a scope of its own: names set in it are known after it.
        return [start, *body, nodes.ExprStmt(report, lineno=line)]

    def _call(self, method: str, hidden: str, line: int, *constants: object) -> nodes.Call:
        arguments = [nodes.Name(hidden, "load"), *map(nodes.Const, constants)]
        return self.call_method(method, arguments, lineno=line)

    def path(self, given: object, tag: str) -> str:
        """The path that an expression gives."""
        if not isinstance(given, str | Undefined):
            raise TemplateRuntimeError(f"{tag}: the path must be text, not {type(given).__name__}")
        return str(given)  # an undefined name raises here

    def block(self, text: str, tag: str, line: int) -> object:
        """The data of a block of the template."""
        return _read(text, tag, f"{tag} at line {line}", "the block")

    def file(self, module: Any, tag: str, line: int) -> Any:
        """The data of a file, from its rendered text."""
        text = str(module)
        if self.environment.keep_trailing_newline:
            text = text.removesuffix("\n")  # as in Salt, which keeps only that of the outermost template
        title = f"{tag} {module.__name__!r} at line {line}"
        return _read(text, _IMPORTS[tag], title, "what it renders to", self._origin(module.__name__, text))

    def _origin(self, name: str, rendered: str) -> Callable[[int, int], Mark | None]:
        """The place in the imported file of a place in its rendered text, if no template changed it."""

        def mark(line: int, column: int) -> Mark | None:
            loader = self.environment.loader
            if loader is None:
                return None
            source, path, _ = loader.get_source(self.environment, name)
            same = source.rstrip("\n") == rendered.rstrip("\n")
            return Mark(path or name, line, column) if same else Mark(path or name)

        return mark

    def clock(self) -> float:
        from time import perf_counter

        return perf_counter()

    def log_profile(self, label: object, start: float) -> None:
        import logging

        took = self.clock() - start
        logging.getLogger(__name__).info("template block %r took %.6f s", str(label), took)


class Raised(TemplateRuntimeError):
    """The message of the template's author."""


class Misread(TemplateRuntimeError):
    """A mistake in a file that a tag reads; ``where`` is its place in that file, if known."""

    def __init__(self, message: str, where: Mark | None, fix: str) -> None:
        super().__init__(message)
        self.where = where
        self.fix = fix


def _read(
    text: str,
    reader: str,
    title: str,
    of_what: str,
    origin: Callable[[int, int], Mark | None] | None = None,
) -> object:
    from saltern.render.filters import serialize

    try:
        return getattr(serialize, reader)(text)
    except RecursionError:
        raise TemplateRuntimeError(f"{title}: {of_what} is nested too deep") from None
    except serialize.WrongText as problem:
        if origin is not None:
            where = origin(problem.line, problem.column)
            raise Misread(problem.what, where, problem.fix) from None
        raise TemplateRuntimeError(f"{title}: {without_values(problem.sentence(of_what))}") from None


def without_values(text: str) -> str:
    """The message without quotes, since a block may render to a pillar value."""
    return re.sub(r"'(?:[^'\\]|\\.)+'|\"(?:[^\"\\]|\\.)+\"", "'•••'", text)


def _raise(message: object) -> None:
    """``{{ raise('…') }}``: stop with this message."""
    raise Raised(str(message))


@pass_context
def show_full_context(context: Context) -> dict[str, object]:
    """Every name of the template, with its value."""
    return {name: value for name, value in context.get_all().items() if not name.startswith(_HIDDEN)}


GLOBALS: Mapping[str, object] = {"raise": _raise, "odict": dict, "show_full_context": show_full_context}
