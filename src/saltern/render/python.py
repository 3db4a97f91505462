"""``#!py``: a Python file whose ``run()`` returns the data.

It sees ``__salt__``, ``__grains__``, ``__pillar__``, ``__opts__``, ``__env__``, ``__sls__`` and the same
names without the underscores. It is code, not a template: trusted like a module. A
function decorated with ``@delayed_block("NAME")``, or just ``@delayed_block``, is a delayed block.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from types import FunctionType
from typing import TYPE_CHECKING

from saltern.language.delayed import MARKER, Block
from saltern.language.diagnostics import CompileError, Diagnostic, words_of
from saltern.language.source import Mark
from saltern.render.redact import redact
from saltern.render.traceback_line import line_in
from saltern.render.watchdog import TimeIsUp, limit_time

if TYPE_CHECKING:
    from saltern.render.document import Harvest, Job

USAGE = "delayed_block takes the name of the block: @delayed_block('NAME')"
NAMES = ("salt", "grains", "pillar", "opts", "context", "proxy")


def py(text: str, job: Job) -> object:
    names: dict[str, object] = {"__name__": f"saltern.rendered.{job.sls}", "__file__": job.file, **job.values}
    names.update({f"__{name}__": job.values.get(name, {}) for name in NAMES})
    names.update(__env__=job.env, __sls__=job.sls, saltenv=job.env)
    if job.harvest is not None and MARKER in text:
        names["delayed_block"] = _decorator(job.harvest, job.file)
    with _report_errors(job, text):
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


def call_block(block: Block, job: Job) -> object:
    """The data that a delayed function returns, given the return of its caller."""
    assert block.call is not None
    with _report_errors(job, _read_source(block.file)):
        return block.call(job.values.get("prev_ret"))


def _decorator(harvest: Harvest, file: str) -> Callable[..., object]:
    """``@delayed_block("NAME", scoped=…, delayed_repeat_limit=…, refresh=[…])``; without a name, the block
    has the name of its function, with or without parentheses."""
    from saltern.render.block_words import read_arguments

    def mark(function: FunctionType, name: str, words: Mapping[str, object]) -> FunctionType:
        line = function.__code__.co_firstlineno
        read = read_arguments(words, Mark(file, line))
        harvest.blocks.append(Block(name=name, file=file, line=line, words=read, call=function))
        return function

    def delayed_block(name: object = None, **words: object) -> object:
        if isinstance(name, FunctionType):  # without parentheses
            return mark(name, name.__name__, words)
        if name is not None and (not isinstance(name, str) or not name.strip()):
            raise TypeError(USAGE)
        return lambda function: mark(function, name or function.__name__, words)

    return delayed_block


def _read_source(file: str) -> str:
    try:
        with open(file, encoding="utf-8", errors="replace") as source:
            return source.read()
    except OSError:
        return ""


@contextmanager
def _report_errors(job: Job, text: str) -> Iterator[None]:
    """Report any error in the file at its line. Its prints are not data."""
    try:
        with limit_time(job.seconds), redirect_stdout(sys.stderr):
            yield
    except SyntaxError as problem:
        where = Mark(job.file, problem.lineno or 0, problem.offset or 0)
        raise CompileError(
            Diagnostic(code="py-syntax", what=f"not Python: {problem.msg}", where=where)
        ) from None
    except TimeIsUp:
        where = Mark(job.file, line_in(sys.exc_info()[2], job.file))
        what = f"this file used {job.seconds:g} s of CPU time and was stopped"
        raise CompileError(Diagnostic(code="template-time", what=what, where=where)) from None
    except CompileError:
        raise
    except (Exception, SystemExit) as problem:
        where = Mark(job.file, line_in(problem.__traceback__, job.file))
        said = redact(
            words_of(problem), text + USAGE, pillar=job.values.get("pillar"), grains=job.values.get("grains")
        )
        what = f"{type(problem).__name__}: {said}"
        raise CompileError(Diagnostic(code="py-failed", what=what, where=where)) from None
