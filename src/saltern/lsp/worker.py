"""One check, in a process of its own: it can be ended at any time, and takes nothing with it.

A question comes as JSON on stdin, the answer goes out as JSON; what templates print goes to stderr.
"""

from __future__ import annotations

import os
import sys

from msgspec import Struct

from saltern.language.diagnostics import Diagnostic, SalternError, Severity
from saltern.lint.check import Checked
from saltern.lint.findings import Edit
from saltern.session import Session

DEEPEST_KEYS = 3
MOST_KEYS = 2000


class Question(Struct, frozen=True, kw_only=True):
    """``words``: as ``saltern check`` takes them; ``texts``: what the editor has, by path."""

    config: str | None = None
    options: dict[str, object] = {}
    pillar: dict[str, object] = {}
    words: list[str] = []
    texts: dict[str, str] = {}
    trust: bool = False


class Problem(Struct, frozen=True, kw_only=True):
    """``information``: nothing is wrong, but something could not be looked at."""

    diagnostic: Diagnostic
    edit: Edit | None = None
    information: bool = False


class Answer(Struct, frozen=True, kw_only=True):
    """``stopped``: the problems kept everything from being compiled. ``failed``: we did.

    ``seconds`` are of CPU time: how busy the machine is besides does not count.
    """

    problems: list[Problem] = []
    pillar: list[str] = []  # keys, as ``pillar.get`` takes them
    seconds: float = 0.0
    stopped: bool = False
    failed: str = ""


def answer(question: Question) -> Answer:
    """Never raises: a mistake of ours is told as one."""
    try:
        return _checked(question)
    except SalternError as problem:
        return Answer(problems=[_problem(one, None) for one in problem.diagnostics], stopped=True)
    except Exception as problem:
        return Answer(failed=f"{type(problem).__name__}: {problem}")


def _checked(question: Question) -> Answer:
    from saltern.config.load import load
    from saltern.engine import check
    from saltern.inside import equipped
    from saltern.lint.choices import choose, excluded
    from saltern.lsp.guard import refuse

    settings, _ = load(question.config, question.options, os.environ)
    if not question.trust:
        refuse()
    session = equipped(settings, question.pillar, texts=question.texts)
    configured = settings.check
    found = check(session, question.words, choose(configured, (), ()), without=excluded(configured, ()))
    return _told(found, session)


def _told(found: Checked, session: Session) -> Answer:
    problems = [_problem(one, found.edits.get(one)) for one in found.problems]
    return Answer(problems=problems, pillar=list(_keys(session.pillar))[:MOST_KEYS])


def _problem(one: Diagnostic, edit: Edit | None) -> Problem:
    from saltern.lsp.guard import REFUSED

    if REFUSED not in one.what and REFUSED not in one.detail:
        return Problem(diagnostic=one, edit=edit)
    told = Diagnostic(
        severity=Severity.WARNING,
        where=one.where,
        code="not-rendered",
        what="this file is not checked in the editor: its template would act on this machine",
        fix="saltern check looks at it; start the server with --trust to have it done here",
        detail=f"{one.what}\n{one.detail}".strip(),
    )
    return Problem(diagnostic=told, information=True)


def _keys(data: object, before: str = "", depth: int = 1) -> list[str]:
    if not isinstance(data, dict) or depth > DEEPEST_KEYS:
        return []
    found: list[str] = []
    for key, value in data.items():
        if isinstance(key, str):
            found += [f"{before}{key}", *_keys(value, f"{before}{key}:", depth + 1)]
    return found


def main() -> None:
    from time import process_time

    from msgspec import json
    from msgspec.structs import replace

    out = os.dup(1)
    os.dup2(2, 1)  # a template's print is no part of the answer
    question = json.decode(sys.stdin.buffer.read(), type=Question)
    data = json.encode(replace(answer(question), seconds=process_time()))
    with os.fdopen(out, "wb") as pipe:
        pipe.write(data)


if __name__ == "__main__":
    main()
