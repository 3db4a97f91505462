"""Jinja for state files: sandboxed, strict, with Salt's filters, tags and output of values."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from functools import partial
from posixpath import dirname, normpath
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import jinja2
from jinja2 import BaseLoader, StrictUndefined, Template, TemplateNotFound, TemplateSyntaxError, Undefined
from jinja2.bccache import BytecodeCache
from jinja2.lexer import Token, TokenStream
from jinja2.runtime import Context as JinjaContext
from jinja2.sandbox import SandboxedEnvironment

from saltern.language.delayed import MARKER, Block
from saltern.render.filters import LazyFilters, LazyTests
from saltern.render.filters.serialize import salt_repr
from saltern.render.jinja.linemap import LineCodeGenerator
from saltern.render.tags import GLOBALS, Serializer
from saltern.render.watchdog import lift_memory_limit
from saltern.sources.stub import STUB
from saltern.sources.text_file import check_text
from saltern.sources.tree import Tree

if TYPE_CHECKING:
    from saltern.render.document import Harvest

MOST_REPEATED = 10_000_000
_NOTHING = object()


# Options that `jinja_env`, `jinja_sls_env` and a template's header may set.
OPTIONS = frozenset(
    {
        "block_start_string",
        "block_end_string",
        "variable_start_string",
        "variable_end_string",
        "comment_start_string",
        "comment_end_string",
        "line_statement_prefix",
        "line_comment_prefix",
        "trim_blocks",
        "lstrip_blocks",
        "newline_sequence",
        "keep_trailing_newline",
    }
)


def place_names(path: str) -> dict[str, str]:
    """The names that give a template its place in the tree."""
    folder = dirname(path) or "."
    return {
        "tplfile": path,
        "tpldir": folder,
        "tpldot": "" if folder == "." else folder.replace("/", "."),
    }


class TreeLoader(BaseLoader):
    """Templates from the roots of one saltenv, without their delayed blocks."""

    def __init__(self, tree: Tree, env: str) -> None:
        self._tree = tree
        self._env = env
        self._cut: dict[str, tuple[Block, ...]] = {}

    def get_source(
        self, _environment: jinja2.Environment, template: str
    ) -> tuple[str, str, Callable[[], bool]]:
        found = self._tree.source(template.removeprefix("salt://"), self._env)
        if found is None:
            raise TemplateNotFound(template, f"no file {template!r} in the roots of saltenv {self._env!r}")
        path, text = found
        if text.startswith(STUB):
            why = f"{template!r} is only on the controller: only files that it renders can import it"
            raise TemplateNotFound(template, why)
        if MARKER in text:
            from saltern.render.blocks import cut

            text, self._cut[template] = cut(text, path)
            check_text(text, path)
        return text, path, lambda: True

    def template_text(self, template: str) -> str:
        """The text of a template; empty if it does not exist."""
        found = self._tree.source(template.removeprefix("salt://"), self._env)
        return found[1] if found is not None else ""

    def load(
        self, environment: jinja2.Environment, name: str, globals: MutableMapping[str, object] | None = None
    ) -> Template:
        """Load a template; even imported without context, it knows its own place and the global names."""
        template = super().load(environment, name, ChainMap(place_names(name), globals or {}))
        if self._cut.get(name):
            assert isinstance(template, RenderTemplate)
            template.delayed = self._cut[name]
            template.root_render_func = _register_blocks(template, template.root_render_func)
        return template


def _register_blocks(
    template: RenderTemplate, body: Callable[..., Iterator[str]]
) -> Callable[..., Iterator[str]]:
    """Give the blocks of a template to the file that includes or extends it, when that happens."""

    def root(context: JinjaContext, *args: object) -> Iterator[str]:
        template.register()
        yield from body(context, *args)

    return root


class RenderTemplate(Template):
    """A template whose module is created for each render: files must not see each other's changes."""

    delayed: tuple[Block, ...] = ()

    def register(self) -> None:
        environment = self.environment
        assert isinstance(environment, Environment)
        if environment.harvest is not None:
            kept = environment.harvest.imported if environment.importing else environment.harvest.blocks
            kept += self.delayed

    def make_module(self, *args: Any, **kwargs: Any) -> Any:
        """``import`` and ``from``: use its content, without giving its blocks to the importer."""
        environment = self.environment
        assert isinstance(environment, Environment)
        environment.importing += 1
        try:
            return super().make_module(*args, **kwargs)
        finally:
            environment.importing -= 1

    def _get_default_module(self, ctx: JinjaContext | None = None) -> Any:
        environment = self.environment
        assert isinstance(environment, Environment)
        if ctx is None and self.delayed and not environment.importing:
            self.register()  # Jinja calls this for `include … without context`
        known = environment.modules.get(id(self))
        if known is None:
            shared = (
                {}
                if ctx is None
                else {key: ctx.parent[key] for key in ctx.globals_keys - self.globals.keys()}
            )
            known = environment.modules[id(self)] = self.make_module({**shared})
        return known


class Environment(SandboxedEnvironment):
    """Jinja's environment for state files."""

    code_generator_class = LineCodeGenerator
    template_class = RenderTemplate
    intercepted_binops = frozenset({"*", "**", "%"})

    def __init__(
        self,
        *,
        loader: BaseLoader,
        lenient: bool,
        cache: BytecodeCache | None,
        options: Mapping[str, object],
        refused: frozenset[str] = frozenset(),
    ) -> None:
        """``refused`` are filters that are not allowed here."""
        self.modules: dict[int, Any] = {}
        self.harvest: Harvest | None = None
        self.importing = 0
        self._above = 0
        self.texts: dict[tuple[str, str, str], Template] = {}
        known = {name.lower(): value for name, value in options.items() if name.lower() in OPTIONS}
        settings: dict[str, Any] = {
            "undefined": Undefined if lenient else StrictUndefined,
            "extensions": ["jinja2.ext.do", "jinja2.ext.loopcontrols", Serializer],
            "finalize": _print_value,
            "auto_reload": False,
            "optimized": False,  # folding constants slows compiling by a sixth and gains nothing in an SLS
            "cache_size": -1,
            **known,
        }
        super().__init__(loader=loader, bytecode_cache=cache, **settings)
        self.filters = LazyFilters(self.filters, refused)
        self.tests = LazyTests(self.tests)
        self.globals.update(GLOBALS)

    def sources(self) -> list[str]:
        """The texts of the templates that were imported or included."""
        assert isinstance(self.loader, TreeLoader)
        return [text for _, name in (self.cache or {}) if (text := self.loader.template_text(name))]

    @contextmanager
    def visible(self, values: Mapping[str, object], harvest: Harvest | None = None) -> Iterator[None]:
        """For one render: let templates imported without context see these names, and load each only once.

        Restores the previous names: a template may start another render.
        """
        outer_modules, self.modules = self.modules, {}
        outer_harvest, self.harvest = self.harvest, harvest
        before = {name: self.globals.get(name, _NOTHING) for name in values}
        self.globals.update(values)
        try:
            yield
        finally:
            self.modules = outer_modules
            self.harvest = outer_harvest
            self.globals.update(before)
            for name, value in before.items():
                if value is _NOTHING:
                    del self.globals[name]

    @contextmanager
    def below(self, lines: int) -> Iterator[None]:
        """Compile a text as if it were below so many lines of its file, without printing these lines."""
        self._above = lines
        try:
            yield
        finally:
            self._above = 0

    def _tokenize(
        self, source: str, name: str | None, filename: str | None = None, state: str | None = None
    ) -> TokenStream:
        if not self._above:
            return super()._tokenize(source, name, filename, state)
        lines = self._above
        return TokenStream(
            _shift_lines(lambda: super(Environment, self)._tokenize(source, name, filename, state), lines),
            name,
            filename,
        )

    def join_path(self, template: str, parent: str) -> str:
        if not template.startswith(("./", "../")):
            return template
        joined = normpath(f"{dirname(parent)}/{template}" if dirname(parent) else template)
        if joined.startswith(".."):
            raise TemplateNotFound(template, f"{template!r} leads out of the tree")
        return joined

    def is_safe_attribute(self, obj: object, attr: str, value: object) -> bool:
        """False for attributes that lead from a function to its module or to the run it is bound to."""
        if isinstance(obj, ModuleType | partial) or isinstance(value, ModuleType):
            return False
        return super().is_safe_attribute(obj, attr, value)

    def call(self, context: JinjaContext, obj: object, /, *args: object, **kwargs: object) -> object:
        """Call a function; functions of ``salt`` may start programs, which are exempt from the memory
        limit.
        """
        if not isinstance(obj, FunctionType | partial):
            return super().call(context, obj, *args, **kwargs)
        with lift_memory_limit():
            return super().call(context, obj, *args, **kwargs)

    def call_binop(self, context: JinjaContext, operator: str, left: Any, right: Any) -> Any:
        if (
            operator == "**"
            and isinstance(left, int)
            and isinstance(right, int)
            and right * left.bit_length() > 100_000
        ):
            raise OverflowError("this power is too large")
        if operator == "%" and isinstance(left, str) and any(len(digits) > 6 for digits in _digits(left)):
            raise OverflowError("this format is too wide")
        if operator == "*":
            for one, other in ((left, right), (right, left)):
                sized = isinstance(one, int) and isinstance(other, str | list | tuple | bytes)
                if sized and one * len(other) > MOST_REPEATED:
                    raise OverflowError("this repeats too much")
        return super().call_binop(context, operator, left, right)


def _shift_lines(tokens: Callable[[], TokenStream], lines: int) -> Iterator[Token]:
    try:
        for line, kind, value in tokens():
            yield Token(line + lines, kind, value)
    except TemplateSyntaxError as problem:
        problem.lineno += lines
        raise


def _digits(text: str) -> list[str]:
    return "".join(char if char.isdigit() else " " for char in text).split()


def _print_value(value: object) -> object:
    """How a value prints: mappings so that YAML can read them back, the rest as in Jinja."""
    return salt_repr(value) if isinstance(value, dict | list | tuple) else value
