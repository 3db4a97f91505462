"""What a template ran into, at the line it stands in, with the lines that led there."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType

import jinja2
from jinja2 import Template, TemplateNotFound

from saltern.language.diagnostics import CompileError, Diagnostic, did_you_mean, words_of
from saltern.language.source import Mark
from saltern.render.jinja.linemap import TooLarge
from saltern.render.tags import Misread

TIME = "this template used {:g} s of CPU time and was stopped"
TIME_FIX = "is there a loop that does not end? The limit is render_time_limit in the configuration"
_UNDEFINED_FIX = "define it, or give it a default: {{ x | default('…') }}"


_IN_MAPPING = "'dict object' has no attribute"


def said(
    problem: BaseException, values: Mapping[str, object], shared: Mapping[str, object]
) -> tuple[str, str, str]:
    """Code, text and fix for what a template ran into."""
    if isinstance(problem, Misread):
        return "template-data", str(problem.message), problem.fix
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
    text = words_of(problem)
    if isinstance(problem, KeyError):
        text = f"there is no key {problem}"
    told = isinstance(problem, jinja2.TemplateError) or name == "BadArgument"
    return "template-failed", text if told else f"{text} ({name})", ""


def told(
    trace: TracebackType | None, file: str, code: str, what: str, fix: str, at: Mark | None = None
) -> CompileError:
    """The problem at the innermost template line; the lines that led there beside it."""
    places = _template_lines(trace)
    if at is not None:
        places.append(at)
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


def unknown_name_fix(message: str, environment: jinja2.Environment) -> str:
    for kind, known in (("No filter named", environment.filters), ("No test named", environment.tests)):
        if message.startswith(kind):
            return did_you_mean(message.split("'")[1], known)
    return ""
