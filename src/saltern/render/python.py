"""``#!py``: a Python file whose ``run()`` returns the data.

It sees ``__salt__``, ``__grains__``, ``__pillar__``, ``__opts__``, ``__env__``, ``__sls__`` and the same
names without the underscores. It is code, not a template: it is trusted as much as a module is.
"""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from types import TracebackType
from typing import TYPE_CHECKING

from saltern.language.diagnostics import CompileError, Diagnostic, words_of
from saltern.language.source import Mark
from saltern.render.watchdog import TimeIsUp, limited

if TYPE_CHECKING:
    from saltern.render.pipeline import Job

NAMES = ("salt", "grains", "pillar", "opts", "context", "proxy")


def py(text: str, job: Job) -> object:
    names: dict[str, object] = {"__name__": f"saltern.rendered.{job.sls}", "__file__": job.file, **job.values}
    names.update({f"__{name}__": job.values.get(name, {}) for name in NAMES})
    names.update(__env__=job.env, __sls__=job.sls, saltenv=job.env)
    try:
        with limited(job.seconds), redirect_stdout(sys.stderr):  # stdout is for data
            exec(compile(text, job.file, "exec", dont_inherit=True), names)
            run = names.get("run")
            if not callable(run):
                raise CompileError(
                    Diagnostic(
                        code="py-no-run",
                        what="this file has no function run()",
                        where=Mark(job.file, 1),
                        fix="define run() and return the state data from it",
                    )
                )
            return run()
    except SyntaxError as problem:
        where = Mark(job.file, problem.lineno or 0, problem.offset or 0)
        raise CompileError(
            Diagnostic(code="py-syntax", what=f"not Python: {problem.msg}", where=where)
        ) from None
    except TimeIsUp:
        where = Mark(job.file, _line(sys.exc_info()[2], job.file))
        what = f"this file used {job.seconds:g} s of CPU time and was stopped"
        raise CompileError(Diagnostic(code="template-time", what=what, where=where)) from None
    except CompileError:
        raise
    except (Exception, SystemExit) as problem:
        where = Mark(job.file, _line(problem.__traceback__, job.file))
        what = f"{type(problem).__name__}: {words_of(problem)}"
        raise CompileError(Diagnostic(code="py-failed", what=what, where=where)) from None


def _line(trace: TracebackType | None, file: str) -> int:
    line = 0
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == file:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line
