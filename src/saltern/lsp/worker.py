"""Runs one check in a separate process, which can be killed at any time without side effects.

The request is JSON on stdin, the reply JSON on stdout; output of templates goes to stderr.
"""

from __future__ import annotations

import os
import sys
from time import process_time
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from saltern.engine.session import Session
from saltern.facts.grains import QUIET_FILES
from saltern.language import secrets
from saltern.language.diagnostics import CompileError, Diagnostic, PillarError, SalternError, Severity
from saltern.language.masked_problem import masked_problem
from saltern.lint.check import Checked, check
from saltern.lint.findings import Edit
from saltern.lint.select import is_path, roots_around
from saltern.system.guard import REFUSED, ZONES, interpreter, refuse

DEEPEST_KEYS = 3
MOST_KEYS = 2000


class Question(Struct, frozen=True, kw_only=True):
    """``words``: those of ``saltern check``, relative to ``base``; ``texts``: those of the editor, by path.

    ``places`` may be read even if the tree is not trusted.
    """

    config: str | None = None
    options: dict[str, object] = {}
    pillar: dict[str, object] = {}
    words: list[str] = []
    texts: dict[str, str] = {}
    trust: bool = False
    places: list[str] = []
    base: str = ""
    rules: list[str] = []
    ignore: list[str] = []
    exclude: list[str] = []
    machines: list[str] = []


class Problem(Struct, frozen=True, kw_only=True):
    """``information``: not a mistake, but something could not be checked."""

    diagnostic: Diagnostic
    edit: Edit | None = None
    information: bool = False
    machines: tuple[str, ...] = ()


class CheckReply(Struct, frozen=True, kw_only=True):
    """``stopped``: the kind of problems that prevented the compilation. ``failed``: a bug in saltern.

    ``seconds`` are CPU time, which does not depend on other load. ``layers`` are the protections of the
    kernel that are in force.
    """

    problems: list[Problem] = []
    pillar: list[str] = []  # keys in the form of ``pillar.get``
    seconds: float = 0.0
    stopped: Literal["", "pillar", "compile", "surroundings"] = ""
    failed: str = ""
    files: int = 0
    count: int = 0
    layers: tuple[str, ...] = ()


def answer(question: Question) -> CheckReply:
    """Run the requested check. Never raises: a bug in saltern is reported as one."""
    layers: tuple[str, ...] = ()
    try:
        if not question.trust:
            layers = _confine(question)
        return replace(_check(question), layers=layers)
    except SalternError as problem:
        problems = [_problem(masked_problem(one), None) for one in problem.diagnostics]
        return CheckReply(problems=problems, stopped=_kind(problem), layers=layers)
    except Exception as problem:
        return CheckReply(failed=secrets.mask(f"{type(problem).__name__}: {problem}"), layers=layers)


def _kind(problem: SalternError) -> Literal["pillar", "compile", "surroundings"]:
    if isinstance(problem, PillarError):
        return "pillar"
    return "compile" if isinstance(problem, CompileError) else "surroundings"


def _confine(question: Question) -> tuple[str, ...]:
    """Confine this process before the first byte of the tree is read."""
    from saltern.system.confine import confine

    places = [*question.places, *QUIET_FILES]
    layers = confine([*places, *interpreter(), ZONES])
    refuse(places)
    return layers


def _check(question: Question) -> CheckReply:
    from saltern.engine.nested_engine import make_session
    from saltern.lint.choices import choose, excluded_patterns
    from saltern.lint.machines import read_machines

    session, words, unread = _session(question)
    settings = session.settings
    configured = settings.check
    beside = os.path.dirname(os.path.abspath(settings.files[0])) if settings.files else ""
    machines = {
        one.name: make_session(
            replace(settings, id=one.id),
            {**one.pillar, **question.pillar},
            grains=one.grains,
            texts=question.texts,
            trust=question.trust,
        )
        for one in read_machines(configured, question.machines, beside)
    }
    found = check(
        session,
        words,
        choose(configured, question.rules, question.ignore),
        without=excluded_patterns(configured, question.exclude),
        machines=machines,
    )
    return _reply(found, session, unread)


def _session(question: Question) -> tuple[Session, list[str], list[Diagnostic]]:
    """A session as in ``saltern check``: a path outside all roots becomes a root."""
    session, unread = _make_session(question, question.options)
    env = session.settings.saltenv or "base"
    words = [_word(word, question.base, session, env) for word in question.words]
    around = roots_around(words, session, env) if "file_roots" not in question.options else []
    if around and question.base:
        session, unread = _make_session(question, {**question.options, "file_roots": {"base": around}})
    return session, words, unread


def _make_session(question: Question, options: dict[str, object]) -> tuple[Session, list[Diagnostic]]:
    from saltern.config.load import load
    from saltern.config.untrusted import restrict_settings
    from saltern.engine.nested_engine import make_session

    unread: list[Diagnostic] = []
    settings, _ = load(question.config, options, os.environ)
    if not question.trust:
        settings, unread = restrict_settings(settings, question.places)
    return make_session(settings, question.pillar, texts=question.texts, trust=question.trust), unread


def _word(word: str, base: str, session: Session, env: str) -> str:
    """A word with its path made absolute: it is relative to the user's directory, not to that of this
    process.
    """
    if not base or os.path.isabs(word):
        return word
    path = os.path.normpath(os.path.join(base, word))
    plain = os.sep not in word and word not in (".", "..") and not word.endswith(".sls")
    return path if not plain or (os.path.exists(path) and is_path(path, session.tree, env)) else word


def _reply(found: Checked, session: Session, unread: list[Diagnostic]) -> CheckReply:
    problems = [_problem(one, found.edits.get(one), found.machines.get(one, ())) for one in found.problems]
    return CheckReply(
        problems=[*(_problem(one, None) for one in unread), *problems],
        pillar=list(_keys(session.pillar))[:MOST_KEYS],
        files=found.files,
        count=found.count,
    )


def _problem(one: Diagnostic, edit: Edit | None, machines: tuple[str, ...] = ()) -> Problem:
    if REFUSED not in one.what and REFUSED not in one.detail:
        return Problem(diagnostic=one, edit=edit, machines=machines)
    diagnostic = Diagnostic(
        severity=Severity.WARNING,
        where=one.where,
        code="not-rendered",
        what="this file is not checked: it needs what is refused in an untrusted tree",
        fix="if you trust the tree: saltern check without --untrusted, saltern lsp with --trust",
        detail=f"{one.what}\n{one.detail}".strip(),
    )
    return Problem(diagnostic=diagnostic, information=True, machines=machines)


def _keys(data: object, before: str = "", depth: int = 1) -> list[str]:
    if not isinstance(data, dict) or depth > DEEPEST_KEYS:
        return []
    found: list[str] = []
    for key, value in data.items():
        if isinstance(key, str):
            found += [f"{before}{key}", *_keys(value, f"{before}{key}:", depth + 1)]
    return found


def main() -> None:
    from msgspec import json

    out = os.dup(1)
    os.dup2(2, 1)  # output of templates is not part of the reply
    question = json.decode(sys.stdin.buffer.read(), type=Question)
    data = json.encode(replace(answer(question), seconds=process_time()))
    with os.fdopen(out, "wb") as pipe:
        pipe.write(data)


if __name__ == "__main__":
    main()
