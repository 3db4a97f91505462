"""Report an error in a template at its line, with the lines that led there."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType

import jinja2
from jinja2 import Template, TemplateNotFound
from jinja2.utils import missing

from saltern.language.diagnostics import CompileError, Diagnostic, did_you_mean, words_of
from saltern.language.source import Mark
from saltern.render.jinja.hints import failed_fix
from saltern.render.jinja.linemap import TooLarge
from saltern.render.tags import Misread

TIME = "this template used {:g} s of CPU time and was stopped"
TIME_FIX = "is there a loop that does not end? The limit is render_time_limit in the configuration"
_UNDEFINED_FIX = "define it, or give it a default: {{ x | default('…') }}"
_GRAIN_FIX = "ask with a default: grains.get('{}', '…')"
_PILLAR_FIX = "give it to this machine in the pillar, or ask with a default: pillar.get('{}', '…')"


def explain(
    problem: BaseException, values: Mapping[str, object], shared: Mapping[str, object]
) -> tuple[str, str, str]:
    """Code, text and fix for an error in a template."""
    if isinstance(problem, Misread):
        return "template-data", str(problem.message), problem.fix
    if isinstance(problem, jinja2.UndefinedError):
        return _explain_undefined(problem, values, shared)
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
        said = str(problem.args[0]) if problem.args else ""
        text = said if ": " in said else f"there is no key {problem}"  # some functions say more than the key
    own = isinstance(problem, jinja2.TemplateError) or name == "BadArgument"
    return "template-failed", text if own else f"{text} ({name})", failed_fix(text)


def _explain_undefined(
    problem: jinja2.UndefinedError, values: Mapping[str, object], shared: Mapping[str, object]
) -> tuple[str, str, str]:
    text = str(problem.message)
    owner, name = _owner_and_name(problem)
    kind = type(owner).__name__.removeprefix("Pure")
    function = f"{owner}.{name}" if kind == "Namespace" else name
    if kind in ("Salt", "Namespace") and hasattr(shared.get("salt"), "unknown"):
        why = str(shared["salt"].unknown(function))  # type: ignore[attr-defined]
        return "template-function", f"no function is called {function!r}", why
    if name and owner is shared.get("grains"):
        names = owner.known_names() if hasattr(owner, "known_names") else []
        return (
            "template-undefined",
            f"there is no grain {name!r}",
            did_you_mean(name, names) or _GRAIN_FIX.format(name),
        )
    if name and owner is shared.get("pillar") and isinstance(owner, Mapping):
        return "template-undefined", f"the pillar has no {name!r}", _pillar_fix(name, owner)
    if name and isinstance(owner, Mapping):
        what = f"the mapping has no {name!r}"
        return "template-undefined", what, did_you_mean(name, map(str, owner)) or _UNDEFINED_FIX
    word = text.split("'")[1] if text.count("'") >= 2 else ""
    hint = did_you_mean(word, [*values, *shared]) if text.endswith("is undefined") and word else ""
    return "template-undefined", text, hint or _UNDEFINED_FIX


def _pillar_fix(name: str, pillar: Mapping[str, object]) -> str:
    return did_you_mean(name, map(str, pillar)) or _PILLAR_FIX.format(name)


def _owner_and_name(problem: jinja2.UndefinedError) -> tuple[object, str]:
    """The object that lacks a name, and the name; only Jinja's own frame knows them."""
    trace = problem.__traceback__
    while trace is not None:
        one = trace.tb_frame.f_locals.get("self")
        if isinstance(one, jinja2.Undefined) and one._undefined_obj is not missing:
            return one._undefined_obj, str(one._undefined_name)
        trace = trace.tb_next
    return None, ""


def locate(
    trace: TracebackType | None, file: str, code: str, what: str, fix: str, at: Mark | None = None
) -> CompileError:
    """The problem at the innermost template line, with the lines that led there."""
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
