"""The Jinja renderer: one sandboxed environment for each saltenv and purpose, kept for the run.

Undefined names are errors, compiled templates are kept on disk in a private directory, and a
template can neither run for ever nor grow without bounds. A mistake is told at the line of the
template it stands in, with the lines that led there.
"""

from __future__ import annotations

import os
import sys
from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from posixpath import dirname, normpath
from types import CodeType, TracebackType
from typing import Any

import jinja2
from jinja2 import BaseLoader, StrictUndefined, Template, TemplateNotFound, TemplateSyntaxError, Undefined
from jinja2.bccache import Bucket, BytecodeCache
from jinja2.runtime import Context as JinjaContext
from jinja2.sandbox import SandboxedEnvironment

from saltern.language.diagnostics import CompileError, Diagnostic, did_you_mean
from saltern.language.source import Mark
from saltern.render.filters import LazyFilters, LazyTests
from saltern.render.filters.serialize import salt_repr
from saltern.render.linemap import LineCodeGenerator, Pieces, TooLarge
from saltern.render.tags import GLOBALS, Serializer
from saltern.render.watchdog import TimeIsUp, limited
from saltern.sources.tree import Tree

MOST_TEXT = 50_000_000
MOST_REPEATED = 10_000_000
_NOTHING = object()


def place_names(path: str) -> dict[str, str]:
    """What a template knows of its own place in the tree."""
    folder = dirname(path) or "."
    return {
        "tplfile": path,
        "tpldir": folder,
        "tpldot": "" if folder == "." else folder.replace("/", "."),
    }


# What `jinja_env`, `jinja_sls_env` and a template's own header may set.
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


class TreeLoader(BaseLoader):
    """Templates from the roots of one saltenv."""

    def __init__(self, tree: Tree, env: str) -> None:
        self._tree = tree
        self._env = env

    def get_source(
        self, _environment: jinja2.Environment, template: str
    ) -> tuple[str, str, Callable[[], bool]]:
        found = self._tree.source(template.removeprefix("salt://"), self._env)
        if found is None:
            raise TemplateNotFound(template, f"no file {template!r} in the roots of saltenv {self._env!r}")
        path, text = found
        return text, path, lambda: True

    def load(
        self, environment: jinja2.Environment, name: str, globals: MutableMapping[str, Any] | None = None
    ) -> Template:
        """A template imported without context still knows its own place, and all the rest."""
        return super().load(environment, name, ChainMap(place_names(name), globals or {}))


class RenderTemplate(Template):
    """A template whose module is made anew for each render: one file must not see another's edits."""

    def _get_default_module(self, ctx: JinjaContext | None = None) -> Any:
        environment = self.environment
        assert isinstance(environment, Environment)
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
    """Jinja as state files know it."""

    code_generator_class = LineCodeGenerator
    template_class = RenderTemplate
    intercepted_binops = frozenset({"*", "**"})

    def __init__(
        self, *, loader: BaseLoader, lenient: bool, cache: BytecodeCache | None, options: Mapping[str, object]
    ) -> None:
        self.modules: dict[int, Any] = {}
        self.texts: dict[tuple[str, str, str], Template] = {}
        known = {name.lower(): value for name, value in options.items() if name.lower() in OPTIONS}
        settings: dict[str, Any] = {
            "undefined": Undefined if lenient else StrictUndefined,
            "extensions": ["jinja2.ext.do", "jinja2.ext.loopcontrols", Serializer],
            "finalize": _printed,
            "auto_reload": False,
            "optimized": False,  # folding constants costs a sixth of compiling and wins nothing in an SLS
            "cache_size": -1,
            **known,
        }
        super().__init__(loader=loader, bytecode_cache=cache, **settings)
        self.filters = LazyFilters(self.filters)
        self.tests = LazyTests(self.tests)
        self.globals.update(GLOBALS)

    @contextmanager
    def visible(self, values: Mapping[str, object]) -> Iterator[None]:
        """For one render: templates imported without context see these names, too, and none is made twice.

        What was there before comes back: a template may call for the render of another.
        """
        outer_modules, self.modules = self.modules, {}
        before = {name: self.globals.get(name, _NOTHING) for name in values}
        self.globals.update(values)
        try:
            yield
        finally:
            self.modules = outer_modules
            self.globals.update(before)
            for name, value in before.items():
                if value is _NOTHING:
                    del self.globals[name]

    def join_path(self, template: str, parent: str) -> str:
        if not template.startswith(("./", "../")):
            return template
        joined = normpath(f"{dirname(parent)}/{template}" if dirname(parent) else template)
        if joined.startswith(".."):
            raise TemplateNotFound(template, f"{template!r} leads out of the tree")
        return joined

    def call_binop(self, context: JinjaContext, operator: str, left: Any, right: Any) -> Any:
        if (
            operator == "**"
            and isinstance(left, int)
            and isinstance(right, int)
            and right * left.bit_length() > 100_000
        ):
            raise OverflowError("this power is too large")
        if operator == "*":
            for one, other in ((left, right), (right, left)):
                sized = isinstance(one, int) and isinstance(other, str | list | tuple | bytes)
                if sized and one * len(other) > MOST_REPEATED:
                    raise OverflowError("this repeats too much")
        return super().call_binop(context, operator, left, right)


def _printed(value: object) -> object:
    """How a value prints: mappings so that YAML reads them back, all else as Jinja does."""
    return salt_repr(value) if isinstance(value, dict | list | tuple) else value


class JinjaRenderer:
    """Renders text. ``shared`` are the names every template sees: salt, grains, pillar, opts."""

    def __init__(
        self,
        tree: Tree,
        shared: Mapping[str, object],
        *,
        cachedir: str,
        lenient: bool = False,
        options: Mapping[str, Mapping[str, object]] | None = None,
        seconds: float = 30.0,
    ) -> None:
        self._tree = tree
        self._shared = shared
        self._cachedir = cachedir
        self._lenient = lenient
        self._options = options or {}
        self._seconds = seconds
        self._environments: dict[tuple[str, str, str], Environment] = {}

    def render(
        self, text: str, values: Mapping[str, object], *, env: str, name: str, file: str, purpose: str = "sls"
    ) -> Pieces:
        """``purpose`` chooses the configured options: ``sls`` or ``file``. Raises ``CompileError``."""
        given, text = header(text)
        environment = self._environment(env, purpose, given)
        with environment.visible(values), limited(self._seconds):
            try:
                template = self._template(environment, text, name, file)
                context = template.new_context({**place_names(name), **values})
                pieces = Pieces(template, context, most=MOST_TEXT)
                if text.endswith("\n") and not environment.keep_trailing_newline:
                    pieces.end_line()  # Jinja drops the last one of every file; the outermost gets it back
                return pieces
            except CompileError:
                raise
            except TimeIsUp:
                raise _told(
                    sys.exc_info()[2], file, "template-time", _TIME.format(self._seconds), _TIME_FIX
                ) from None
            except TemplateSyntaxError as problem:
                where = Mark(problem.filename or file, problem.lineno)
                fix = _unknown_name_fix(str(problem.message), environment)
                raise CompileError(
                    Diagnostic(code="template-syntax", what=str(problem.message), where=where, fix=fix)
                ) from None
            except (Exception, RecursionError) as problem:
                raise _told(problem.__traceback__, file, *_said(problem, values, self._shared)) from None

    def _template(self, environment: Environment, text: str, name: str, file: str) -> Template:
        key = (name, file, text)
        known = environment.texts.get(key)
        if known is None:
            code = _compiled(environment, text, name, file)
            known = environment.texts[key] = environment.template_class.from_code(
                environment, code, environment.make_globals(None), lambda: True
            )
        return known

    def _environment(self, env: str, purpose: str, given: Mapping[str, object]) -> Environment:
        key = (env, purpose, repr(given) if given else "")
        if key not in self._environments:
            options = {**self._options.get(purpose, {}), **given}
            made = self._environments[key] = Environment(
                loader=TreeLoader(self._tree, env),
                lenient=self._lenient,
                cache=_bytecode(self._cachedir, (self._lenient, sorted(options.items()))),
                options=options,
            )
            made.globals.update(self._shared, saltenv=env)
        return self._environments[key]


def _compiled(environment: Environment, text: str, name: str, file: str) -> CodeType:
    """The template's code, from disk if it was compiled before."""
    cache = environment.bytecode_cache
    if cache is None:
        return environment.compile(text, name, file)
    bucket = cache.get_bucket(environment, name, file, text)
    if bucket.code is None:
        bucket.code = environment.compile(text, name, file)
        cache.set_bucket(bucket)
    return bucket.code


HEADER = "#jinja2:"


def header(text: str) -> tuple[dict[str, object], str]:
    """``#jinja2: {"trim_blocks": true}`` as the first line: options for this template alone.

    The line becomes a comment that prints nothing, so that all other lines keep their numbers.
    """
    start = text.lstrip("\n")  # a line for the renderers may have stood above it
    if not start.startswith(HEADER):
        return {}, text
    import json

    line, _, rest = start.partition("\n")
    try:
        options = json.loads(line[len(HEADER) :])
    except ValueError:
        return {}, text
    if not isinstance(options, dict):
        return {}, text
    above = text[: len(text) - len(start)]
    return {str(name).lower(): value for name, value in options.items()}, f"{above}{{#\n#}}{rest}"


def _bytecode(cachedir: str, options: object) -> BytecodeCache | None:
    """Compiled templates are code: kept only where nobody else can write, apart for each set of options."""
    if not cachedir:
        return None
    from zlib import crc32

    made_by = (
        f"{_FORMAT}-{jinja2.__version__}-{sys.implementation.cache_tag}-{crc32(repr(options).encode()):08x}"
    )
    folder = os.path.join(cachedir, f"jinja-{made_by}")
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        place = os.stat(folder)
    except OSError:
        return None
    if place.st_uid != os.geteuid() or place.st_mode & 0o077:
        return None
    return DiskCache(folder)


_FORMAT = 1  # raise it when compiled templates of before no longer fit


class DiskCache(BytecodeCache):
    """Compiled templates, one file each. A full or read-only disk costs speed, not the run."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def load_bytecode(self, bucket: Bucket) -> None:
        try:
            with open(f"{self._folder}/{bucket.key}", "rb") as file:
                bucket.load_bytecode(file)
        except OSError:
            pass

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Written in place: half a file does not load, and is compiled again."""
        try:
            with open(f"{self._folder}/{bucket.key}", "wb") as file:
                bucket.write_bytecode(file)
        except OSError:
            pass


_TIME = "this template used {:g} s of CPU time and was stopped"
_TIME_FIX = "is there a loop that does not end? The limit is render_time_limit in the configuration"
_UNDEFINED_FIX = "define it, or give it a default: {{ x | default('…') }}"


_IN_MAPPING = "'dict object' has no attribute"


def _said(
    problem: BaseException, values: Mapping[str, object], shared: Mapping[str, object]
) -> tuple[str, str, str]:
    """Code, text and fix for what a template ran into."""
    if isinstance(problem, jinja2.UndefinedError):
        text = str(problem.message)
        if "Salt object' has no attribute" in text and hasattr(shared.get("salt"), "unknown"):
            name = text.split("'")[-2]
            return "template-function", f"no function is called {name!r}", str(shared["salt"].unknown(name))  # type: ignore[attr-defined]
        if text.startswith(_IN_MAPPING):
            key = text[len(_IN_MAPPING) :].strip()
            return (
                "template-undefined",
                f"the mapping that is asked for {key} does not have it",
                _UNDEFINED_FIX,
            )
        word = text.split("'")[1] if text.count("'") >= 2 else ""
        hint = did_you_mean(word, [*values, *shared]) if text.endswith("is undefined") and word else ""
        return "template-undefined", text, hint or _UNDEFINED_FIX
    if isinstance(problem, TemplateNotFound):
        return (
            "template-not-found",
            str(problem.message or problem),
            "paths start at the root of the tree; './x' is relative",
        )
    if isinstance(problem, RecursionError):
        return "template-recursion", "this template calls itself without end", ""
    if isinstance(problem, TooLarge | OverflowError | MemoryError):
        return "template-too-large", str(problem) or "this template needs too much memory", ""
    if isinstance(problem, jinja2.exceptions.SecurityError):
        return "template-forbidden", str(problem), "templates are sandboxed"
    name = type(problem).__name__
    text = str(problem) or name
    if isinstance(problem, KeyError):
        text = f"there is no key {problem}"
    told = isinstance(problem, jinja2.TemplateError) or name == "BadArgument"
    return "template-failed", text if told else f"{text} ({name})", ""


def _told(trace: TracebackType | None, file: str, code: str, what: str, fix: str) -> CompileError:
    """The problem at the innermost template line; the lines that led there beside it."""
    places = _template_lines(trace)
    where = places[-1] if places else Mark(file)
    also = tuple(("called from", mark) for mark in reversed(places[:-1]) if mark != where)
    return CompileError(Diagnostic(code=code, what=what, where=where, fix=fix, also=also[:10]))


def _template_lines(trace: TracebackType | None) -> list[Mark]:
    marks: list[Mark] = []
    while trace is not None:
        template = trace.tb_frame.f_globals.get("__jinja_template__")
        if isinstance(template, Template):
            mark = Mark(
                template.filename or str(template.name), template.get_corresponding_lineno(trace.tb_lineno)
            )
            if not marks or marks[-1] != mark:
                marks.append(mark)
        trace = trace.tb_next
    return marks


def _unknown_name_fix(message: str, environment: Environment) -> str:
    for kind, known in (("No filter named", environment.filters), ("No test named", environment.tests)):
        if message.startswith(kind):
            return did_you_mean(message.split("'")[1], known)
    return ""
