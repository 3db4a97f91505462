"""Documentation of states, functions, arguments and codes, as Markdown.

Signatures of built-in modules are inspected. Modules of the user are parsed, not imported: an editor that
opens an unknown tree must not run its code.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from stat import S_ISREG

from msgspec import Struct

from saltern.compat.places import directories
from saltern.config.settings import Settings
from saltern.language.keywords import KEYWORDS
from saltern.language.requisites import IN_FORMS, REQUISITES
from saltern.modules.api.registry import Registry, schema

MOST_READ = 1_000_000  # bytes of a module

_SECTION = re.compile(r"^(?P<name>[A-Z]\w+):[ \t]*$", re.MULTILINE)
_ARGUMENT = re.compile(r"^(?P<names>\*{0,2}\w+(?:, \*{0,2}\w+)*): ?(?P<said>.*)$")


class Argument(Struct, frozen=True, kw_only=True):
    name: str
    type: str = ""
    default: str = ""  # in Python's notation; empty: the argument is required
    doc: str = ""

    @property
    def head(self) -> str:
        kind = f": {self.type}" if self.type and self.type != "object" else ""
        return f"{self.name}{kind}" + (f" = {self.default}" if self.default else "")


class Entry(Struct, frozen=True, kw_only=True):
    """One function. ``said`` is its docstring without arguments and example."""

    name: str
    said: str
    example: str = ""
    arguments: dict[str, Argument]

    @property
    def first(self) -> str:
        return self.said.partition("\n\n")[0].replace("\n", " ")

    def markdown(self) -> str:
        rows = [f"- `{one.head}`" + (f": {one.doc}" if one.doc else "") for one in self.arguments.values()]
        parts = [f"**{self.name}**", self.said, "\n".join(rows), self.example]
        return "\n\n".join(part for part in parts if part)


class Manual:
    """The modules of one tree: built-in ones and its own."""

    def __init__(self, settings: Settings) -> None:
        self._registry = Registry()
        self._settings = settings
        self._read: dict[str, tuple[int, dict[str, Entry]]] = {}

    def modules(self, kind: str) -> list[str]:
        """``kind``: states or functions."""
        return sorted({*self._registry.names(kind), *(name for name, _ in self._own(kind))})

    def members(self, kind: str, module: str) -> list[str]:
        own = self._entries(kind, module)
        return sorted({*self._registry.members(kind, module), *(name.partition(".")[2] for name in own)})

    def entry(self, kind: str, name: str) -> Entry | None:
        """The entry of a full name such as ``pkg.installed``; None if there is none."""
        module, _, fun = name.partition(".")
        own = self._entries(kind, module).get(name)
        if own is not None or not fun:
            return own
        found = self._registry.state(module, fun) if kind == "states" else self._registry.function(name)
        if found is None:
            return None
        said, params, example = split_docstring(found.doc)
        arguments = {
            param.name: Argument(
                name=param.name,
                type=param.annotation,
                default="" if param.required else repr(param.default),
                doc=params.get(param.name, ""),
            )
            for param in schema(found).params.values()
        }
        if kind == "states":
            named = Argument(name="name", type="str", default="the ID", doc=params.get("name", ""))
            arguments = {"name": named, **arguments}
        return Entry(name=name, said=said, example=example, arguments=arguments)

    def about(self, kind: str, module: str) -> str:
        """The first paragraph of a module."""
        known = self._registry.module(kind, module)
        return plain((known.__doc__ or "").strip().partition("\n\n")[0]) if known else ""

    # -- modules of the user ---------------------------------------------------------------------------

    def _own(self, kind: str) -> Iterator[tuple[str, str]]:
        for folder in directories(self._settings, kind):
            try:
                names = sorted(os.listdir(folder))
            except OSError:
                continue
            for name in names:
                if name.endswith(".py") and not name.startswith("_"):
                    yield name.removesuffix(".py"), os.path.join(folder, name)

    def _entries(self, kind: str, module: str) -> dict[str, Entry]:
        path = dict(reversed(list(self._own(kind)))).get(module)
        if path is None:
            return {}
        try:
            found = os.stat(path)
            if not S_ISREG(found.st_mode) or found.st_size > MOST_READ:  # opening a pipe would block
                return {}
            if self._read.get(path, (None,))[0] != found.st_mtime_ns:
                with open(path, "rb") as file:
                    self._read[path] = (
                        found.st_mtime_ns,
                        dict(_parse_module(module, kind, file.read(MOST_READ))),
                    )
        except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
            return {}
        return self._read[path][1]


def _parse_module(module: str, kind: str, source: bytes) -> Iterator[tuple[str, Entry]]:
    import ast

    for one in ast.parse(source).body:
        if not isinstance(one, ast.FunctionDef) or one.name.startswith("_"):
            continue
        said, params, example = split_docstring(ast.get_docstring(one) or "")
        positional = [*one.args.posonlyargs, *one.args.args]
        values: list[ast.expr | None] = [None] * (len(positional) - len(one.args.defaults))
        given = [*zip(positional, [*values, *one.args.defaults], strict=True)]
        given += zip(one.args.kwonlyargs, one.args.kw_defaults, strict=True)
        arguments = {
            name.arg: Argument(
                name=name.arg,
                type=ast.unparse(name.annotation) if name.annotation else "",
                default=ast.unparse(value) if value is not None else "",
                doc=params.get(name.arg, ""),
            )
            for name, value in given
            if not (kind == "states" and name.arg == "ctx")
        }
        name = f"{module}.{one.name.removesuffix('_')}"
        yield name, Entry(name=name, said=said, example=example, arguments=arguments)


# -- texts -----------------------------------------------------------------------------------------------


def split_docstring(doc: str) -> tuple[str, dict[str, str], str]:
    """Split a docstring into its text, the text of each argument, and the example."""
    from inspect import cleandoc
    from textwrap import dedent

    text = cleandoc(doc)
    heads = [one for one in _SECTION.finditer(text) if one["name"] in ("Args", "Example", "Examples")]
    ends = [*(one.start() for one in heads[1:]), len(text)]
    parts = {
        one["name"][:4]: text[one.end() : end].strip("\n") for one, end in zip(heads, ends, strict=False)
    }
    said = text[: heads[0].start()] if heads else text
    return plain(said.strip()), dict(_arguments(parts.get("Args", ""))), dedent(parts.get("Exam", ""))


def _arguments(text: str) -> Iterator[tuple[str, str]]:
    names: list[str] = []
    said: list[str] = []
    for line in [*text.strip("\n").split("\n"), "    end: "]:
        found = _ARGUMENT.match(line[4:]) if line.startswith("    ") and line[4:5].strip() else None
        if found:
            yield from ((name.strip("* "), plain(" ".join(said))) for name in names)
            names, said = found["names"].split(", "), [found["said"].strip()]
        else:
            said.append(line.strip())


def plain(text: str) -> str:
    """The text with single backticks in place of the double ones of reStructuredText."""
    return re.sub(r"(?<!`)``(?!`)", "`", text)


def keyword(name: str) -> str:
    """The documentation of a requisite or of an option of every state; empty for other names."""
    if name in REQUISITES:
        return f"**{name}** (requisite)\n\n{REQUISITES[name].doc}"
    if name in IN_FORMS:
        kind = IN_FORMS[name]
        return f"**{name}** (requisite)\n\n`{kind.name}`, written at its target. {kind.doc}"
    if name in KEYWORDS:
        row = KEYWORDS[name]
        return f"**{name}**: {row.shape}\n\n{row.doc}"
    return ""


def code_page(code: str) -> str:
    """The page of an error code; empty if there is none."""
    from saltern.views.codes import known_codes, page

    return page(code) if code in known_codes() else ""
