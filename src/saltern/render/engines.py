"""Template engines besides Jinja; each is an optional package, imported when a file uses it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from saltern.language.delayed import MARKER
from saltern.language.diagnostics import CompileError, Diagnostic, words_of
from saltern.language.source import Mark
from saltern.render.redact import redact
from saltern.render.stages import missing_package
from saltern.render.traceback_line import line_in

if TYPE_CHECKING:
    from saltern.render.document import Job

KEEP = "_saltern_keep"  # called with the variables at the end of a template with delayed blocks
MAKO_OWN = frozenset(
    {"UNDEFINED", "STOP_RENDERING", "runtime", "filters", "cache", "context", "pageargs", "locals", "loop"}
)
GENSHI_OWN = frozenset({"defined", "value_of"})
CHEETAH_OWN = frozenset({"self", "trans", "write", "SL"})


def mako(text: str, job: Job) -> str:
    try:
        from mako import exceptions
        from mako.template import Template
    except ImportError as problem:
        raise missing_package("mako", problem, job) from None
    names: dict[str, object] = {}
    wanted = _wants_names(text, job)
    try:
        whole = f"{text}\n<% {KEEP}(locals()) %>" if wanted else text
        template = Template(whole, strict_undefined=True, uri=job.name or "text", filename=None)
        made = str(template.render(**job.values, **({KEEP: names.update} if wanted else {})))
        if wanted:
            module = vars(template.module)
            # What <%def> defines writes into the page it was made for.
            functions = {name[7:] for name in module if name.startswith("render_")}
            given = {name: value for name, value in module.items() if not name.startswith("render_")}
            _keep({**given, **names}, job, {*MAKO_OWN, *functions})
        return made
    except (exceptions.SyntaxException, exceptions.CompileException) as problem:
        where = Mark(job.file, problem.lineno, problem.pos)
        said = str(problem).partition(" at line:")[0].partition(" in file")[0]
        raise _bad("template-syntax", said, where) from None
    except (Exception, SystemExit) as problem:
        rows = exceptions.RichTraceback(error=problem, traceback=problem.__traceback__).records
        line = next((row[5] for row in reversed(rows) if row[4] is not None and row[5]), 0)
        raise _render_error(problem, job, int(line), text) from None


def genshi(text: str, job: Job) -> str:
    try:
        from genshi.template import Context, MarkupTemplate, NewTextTemplate, TemplateError
        from genshi.template.eval import UndefinedError
    except ImportError as problem:
        raise missing_package("genshi", problem, job) from None
    plain = "text" in job.argline.replace("-", " ").split() or not text.lstrip().startswith("<")
    try:
        template = (NewTextTemplate if plain else MarkupTemplate)(text, filepath=job.file, filename=job.file)
        context = Context(**job.values)
        made = str(template.generate(context).render(method="text" if plain else "xml", encoding=None))
        if _wants_names(text, job):
            _keep(context.frames[-1], job, GENSHI_OWN)
        return made
    except UndefinedError as problem:
        raise _bad("template-undefined", str(problem), Mark(job.file, _line(problem, job.file))) from None
    except TemplateError as problem:
        said_ = str(problem).partition(" (")[0]
        raise _bad("template-syntax", said_, Mark(job.file, _genshi_line(text, problem.lineno))) from None
    except (Exception, SystemExit) as problem:
        raise _render_error(problem, job, _line(problem, job.file), text) from None


def _genshi_line(text: str, line: int) -> int:
    """The right line: Genshi reports an expression after the first line one line too early."""
    rows = text.split("\n")
    return line + 1 if 0 < line < len(rows) and "$" not in rows[line - 1] else max(line, 0)


def cheetah(text: str, job: Job) -> str:
    try:
        from Cheetah.Parser import ParseError
        from Cheetah.Template import Template
    except ImportError as problem:
        raise missing_package("cheetah", problem, job) from None
    names: dict[str, object] = {}
    wanted = _wants_names(text, job)
    try:
        whole = f"{text}\n#silent ${KEEP}(locals())\n" if wanted else text
        template = Template(whole, searchList=[{**job.values, KEEP: names.update}])
        made = str(template)
        if wanted:
            _keep({**names, **template._CHEETAH__globalSetVars}, job, CHEETAH_OWN)
        return made
    except ParseError as problem:
        said = str(problem).strip().splitlines()
        raise _bad(
            "template-syntax", said[0] if said else "not Cheetah", Mark(job.file, problem.lineno or 0)
        ) from None
    except (Exception, SystemExit) as problem:
        raise _render_error(problem, job, _line(problem, job.file), text) from None


# -- names ---------------------------------------------------------------------------------------------


def _wants_names(text: str, job: Job) -> bool:
    return job.harvest is not None and MARKER in text


def _keep(names: Mapping[str, object], job: Job, own: frozenset[str] | set[str]) -> None:
    """Keep the template's variables at the end of its render, without given names and those of the engine."""
    assert job.harvest is not None
    job.harvest.variables = {
        name: value
        for name, value in names.items()
        if name.isidentifier() and not name.startswith("_") and name not in own
        if name not in job.values or job.values[name] is not value
    }


# -- problems ------------------------------------------------------------------------------------------


def _line(problem: BaseException, file: str) -> int:
    """The template line, where the engine compiles it under its own name."""
    return line_in(problem.__traceback__, file)


def _render_error(problem: BaseException, job: Job, line: int, text: str) -> CompileError:
    undefined = isinstance(problem, NameError) or type(problem).__name__ in ("NotFound", "UndefinedError")
    code = "template-undefined" if undefined else "template-failed"
    said = words_of(problem)
    if undefined and not line:
        line = _line_of_name(text, said)
    said = redact(said, text, pillar=job.values.get("pillar"), grains=job.values.get("grains"))
    return _bad(code, said, Mark(job.file, line))


def _line_of_name(text: str, said: str) -> int:
    """The first line with a name: Mako and Cheetah look up names before the lines that use them."""
    name = re.search(r"'(\w+)'", said)
    used = re.search(rf"[^\n]*\b{name[1]}\b", text) if name else None
    return text.count("\n", 0, used.start()) + 1 if used else 0


def _bad(code: str, what: str, where: Mark) -> CompileError:
    return CompileError(Diagnostic(code=code, what=what, where=where))
