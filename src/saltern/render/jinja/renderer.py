"""Render text: one environment for each saltenv and purpose, kept for the run.

Time, memory and output of a template are limited.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from jinja2 import Template, TemplateSyntaxError

from saltern.language.diagnostics import CompileError, Diagnostic
from saltern.language.source import Mark
from saltern.render.jinja.cache import bytecode, compile_template
from saltern.render.jinja.environment import Environment, TreeLoader, place_names
from saltern.render.jinja.header import header
from saltern.render.jinja.hints import syntax_fix
from saltern.render.jinja.linemap import Pieces
from saltern.render.jinja.problems import TIME, TIME_FIX, explain, locate
from saltern.render.tags import Misread, Raised
from saltern.render.watchdog import TimeIsUp, limit_memory, limit_time
from saltern.sources.tree import Tree

if TYPE_CHECKING:
    from saltern.render.document import Harvest

MOST_TEXT = 50_000_000


class JinjaRenderer:
    """Renders text. ``shared`` are the names that every template sees: salt, grains, pillar, opts."""

    def __init__(
        self,
        tree: Tree,
        shared: Mapping[str, object],
        *,
        cachedir: str,
        lenient: bool = False,
        options: Mapping[str, Mapping[str, object]] | None = None,
        seconds: float = 30.0,
        memory: int = 0,
        refused: frozenset[str] = frozenset(),
    ) -> None:
        """``refused`` are filters that are not allowed; ``memory`` is the limit for one template, in
        bytes.
        """
        self._memory = memory
        self._refused = refused
        self._tree = tree
        self._shared = shared
        self._cachedir = cachedir
        self._lenient = lenient
        self._options = options or {}
        self._seconds = seconds
        self._environments: dict[tuple[str, str, str], Environment] = {}

    def render(
        self,
        text: str,
        values: Mapping[str, object],
        *,
        env: str,
        name: str,
        file: str,
        purpose: str = "sls",
        harvest: Harvest | None = None,
        part: str = "",
    ) -> Pieces:
        """Render a text. ``purpose`` selects the configured options: ``sls`` or ``file``. Raises
        ``CompileError``.

        ``harvest`` gets the template's own names, and the blocks of templates it includes. ``part`` is
        the block of the file that the text is, if it is not the whole file.
        """
        given, text = header(text, file)
        environment = self._environment(env, purpose, given)
        with environment.visible(values, harvest), limit_time(self._seconds), limit_memory(self._memory):
            try:
                template = self._template(environment, text, name, file, part)
                context = template.new_context({**place_names(name), **values})
                pieces = Pieces(template, context, most=MOST_TEXT)
                if harvest is not None:
                    harvest.variables = context.vars
                if text.endswith("\n") and not environment.keep_trailing_newline:
                    pieces.end_line()  # Jinja drops the last newline; the outermost template gets it back
                return pieces
            except CompileError:
                raise
            except TimeIsUp:
                raise locate(
                    sys.exc_info()[2], file, "template-time", TIME.format(self._seconds), TIME_FIX
                ) from None
            except TemplateSyntaxError as problem:
                raise _misspelt(problem, file, environment) from None
            except (Exception, SystemExit) as problem:
                at = problem.where if isinstance(problem, Misread) else None
                words = self._redact(problem, values, environment, f"{env}\n{text}")
                raise locate(problem.__traceback__, file, *words, at=at) from None

    def _redact(
        self, problem: BaseException, values: Mapping[str, object], environment: Environment, public: str
    ) -> tuple[str, str, str]:
        """Code, text and fix without values of the pillar; the message of a ``raise`` is the author's own.

        ``public`` is text that is not data: the template, and the name of its environment.
        """
        code, what, fix = explain(problem, values, self._shared)
        if isinstance(problem, Raised):
            return code, what, fix
        from saltern.render.redact import redact, without_pillar

        written, pillar = "\n".join([public, *environment.sources()]), self._shared.get("pillar")
        what = redact(what, written, pillar=pillar, grains=self._shared.get("grains"))
        if isinstance(problem, Misread):
            return code, what, redact(fix, written, pillar=pillar)
        return code, what, without_pillar(fix, written, pillar)

    def compiles(self, text: str, *, env: str, name: str, file: str) -> None:
        """Raise ``CompileError`` if the text is not a valid template; nothing is rendered."""
        given, text = header(text, file)
        environment = self._environment(env, "sls", given)
        try:
            self._template(environment, text, name, file)
        except TemplateSyntaxError as problem:
            raise _misspelt(problem, file, environment) from None

    def ahead(self, texts: Iterable[tuple[str, str, str, str]]) -> None:
        """Compile many templates now, each a text, its saltenv, name and file: they are rendered soon."""
        from saltern.render.jinja.ahead import Template as Ahead
        from saltern.render.jinja.ahead import compile_ahead

        work = []
        for whole, env, name, file in texts:
            try:
                given, text = header(whole, file)
                work.append(Ahead(self._environment(env, "sls", given), text, name, file))
            except CompileError:
                continue  # reported when the template is rendered
        compile_ahead(work, self._seconds)

    def _template(
        self, environment: Environment, text: str, name: str, file: str, part: str = ""
    ) -> Template:
        key = (name, file, text)
        known = environment.texts.get(key)
        if known is None:
            code = compile_template(environment, text, name, file, part)
            # Its globals are those of the environment, as a plain dict: each render copies them.
            known = environment.texts[key] = environment.template_class.from_code(
                environment, code, environment.globals, lambda: True
            )
        return known

    def _environment(self, env: str, purpose: str, given: Mapping[str, object]) -> Environment:
        key = (env, purpose, repr(given) if given else "")
        if key not in self._environments:
            options = {**self._options.get(purpose, {}), **given}
            try:
                made = Environment(
                    loader=TreeLoader(self._tree, env),
                    lenient=self._lenient,
                    cache=bytecode(self._cachedir, (self._lenient, sorted(options.items()))),
                    options=options,
                    refused=self._refused,
                )
            except (AssertionError, TypeError, ValueError) as problem:
                what = f"Jinja refuses these options: {options!r}: {problem}"
                fix = "see jinja_env and jinja_sls_env in the configuration, or the header of the template"
                raise CompileError(Diagnostic(code="jinja-options", what=what, fix=fix)) from None
            self._environments[key] = made
            made.globals.update(self._shared, saltenv=env)
        return self._environments[key]


def _misspelt(problem: TemplateSyntaxError, file: str, environment: Environment) -> CompileError:
    where = Mark(problem.filename or file, problem.lineno)
    fix = syntax_fix(str(problem.message), environment.filters, environment.tests)
    return CompileError(Diagnostic(code="template-syntax", what=str(problem.message), where=where, fix=fix))
