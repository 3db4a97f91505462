"""Template engines beside Jinja; each is an extra that is imported when a file asks for it."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

from saltern.language.delayed import MARKER
from saltern.language.diagnostics import CompileError, Diagnostic, words_of
from saltern.language.source import Mark
from saltern.render.pipeline import missing

if TYPE_CHECKING:
    from saltern.render.pipeline import Job


def mako(text: str, job: Job) -> str:
    try:
        from mako import exceptions
        from mako.template import Template
    except ImportError as problem:
        raise missing("mako", problem, job) from None
    try:
        template = Template(text, strict_undefined=True, uri=job.name or "text", filename=None)
        if job.harvest is not None and MARKER in text:
            job.harvest.variables = _mako_names(template.module)
        return str(template.render(**job.values))
    except (exceptions.SyntaxException, exceptions.CompileException) as problem:
        where = Mark(job.file, problem.lineno, problem.pos)
        said = str(problem).partition(" at line:")[0].partition(" in file")[0]
        raise _bad("template-syntax", said, where) from None
    except (Exception, SystemExit) as problem:
        rows = exceptions.RichTraceback(error=problem, traceback=problem.__traceback__).records
        line = next((row[5] for row in reversed(rows) if row[4] is not None and row[5]), 0)
        raise _failed(problem, job, int(line)) from None


def _mako_names(module: ModuleType) -> dict[str, object]:
    """What ``<%! … %>`` defines, and nothing that Mako puts beside it."""
    own = {"UNDEFINED", "STOP_RENDERING", "runtime", "filters", "cache"}
    return {
        name: value
        for name, value in vars(module).items()
        if not name.startswith(("_", "render_")) and name not in own
    }


def genshi(text: str, job: Job) -> str:
    try:
        from genshi.template import MarkupTemplate, NewTextTemplate, TemplateError
        from genshi.template.eval import UndefinedError
    except ImportError as problem:
        raise missing("genshi", problem, job) from None
    plain = "text" in job.argline.replace("-", " ").split() or not text.lstrip().startswith("<")
    try:
        template = (NewTextTemplate if plain else MarkupTemplate)(text, filepath=job.file, filename=job.file)
        return str(template.generate(**job.values).render(method="text" if plain else "xml", encoding=None))
    except UndefinedError as problem:
        raise _bad("template-undefined", str(problem), Mark(job.file, _line(problem, job.file))) from None
    except TemplateError as problem:
        said_ = str(problem).partition(" (")[0]
        raise _bad("template-syntax", said_, Mark(job.file, _genshi_line(text, problem.lineno))) from None
    except (Exception, SystemExit) as problem:
        raise _failed(problem, job, _line(problem, job.file)) from None


def _genshi_line(text: str, line: int) -> int:
    """Genshi tells an expression that is not in the first line one line too early."""
    rows = text.split("\n")
    return line + 1 if 0 < line < len(rows) and "$" not in rows[line - 1] else max(line, 0)


def cheetah(text: str, job: Job) -> str:
    try:
        from Cheetah.Parser import ParseError
        from Cheetah.Template import Template
    except ImportError as problem:
        raise missing("cheetah", problem, job) from None
    try:
        return str(Template(text, searchList=[dict(job.values)]))
    except ParseError as problem:
        said = str(problem).strip().splitlines()
        raise _bad(
            "template-syntax", said[0] if said else "not Cheetah", Mark(job.file, problem.lineno or 0)
        ) from None
    except (Exception, SystemExit) as problem:
        raise _failed(problem, job, _line(problem, job.file)) from None


def _line(problem: BaseException, file: str) -> int:
    """The line of the template, where the engine compiles it under its own name."""
    line, trace = 0, problem.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == file:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def _failed(problem: BaseException, job: Job, line: int) -> CompileError:
    undefined = isinstance(problem, NameError) or type(problem).__name__ in ("NotFound", "UndefinedError")
    code = "template-undefined" if undefined else "template-failed"
    return _bad(code, words_of(problem), Mark(job.file, line))


def _bad(code: str, what: str, where: Mark) -> CompileError:
    return CompileError(Diagnostic(code=code, what=what, where=where))
