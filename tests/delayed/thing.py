"""Shared by the tests of delayed rendering: a state that answers as told, and short ways to run and read.

``thing.made`` knows what ``data`` says, and as ``said`` what is in ``file``; it changes something if
``changed`` and fails if ``fails``;
``thing.grows`` fails until it was called ``after`` times; ``thing.steps`` has sub states. A test looks at
what a frame saw through an argument: ``- seen: {{ prev_ret.data.ip | tojson }}``.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from textwrap import dedent
from typing import Any

from tests.kit import Files, Outcome, attempt, request_for, tree

from saltern.language import result
from saltern.language.events import Answer, Report
from saltern.language.result import Result, SubResult
from saltern.modules.api.context import Context
from saltern.modules.api.declare import state
from saltern.modules.api.registry import Registry

calls: dict[str, int] = {}  # of thing.grows, by name


@state
def made(
    ctx: Context,
    /,
    name: str,
    *,
    data: dict[str, object] | None = None,
    changed: bool = False,
    fails: bool = False,
    comment: str = "made",
    file: str = "",
    **_: object,
) -> Result:
    known = data or {}
    if file:
        with open(file, encoding="utf-8", newline="") as opened:
            known = {**known, "said": opened.read()}
    changes: dict[str, object] = {"thing": {"old": None, "new": name}} if changed else {}
    outcome = result.Outcome.FAILED if fails else result.Outcome.OK
    if ctx.test and changed:
        outcome = result.Outcome.WOULD_CHANGE
    return Result(outcome=outcome, comment=comment, changes=changes, data=known)


@state
def grows(_ctx: Context, /, name: str, *, after: int, **_: object) -> Result:
    calls[name] = calls.get(name, 0) + 1
    done = calls[name] >= after
    outcome = result.Outcome.OK if done else result.Outcome.FAILED
    return Result(outcome=outcome, comment=f"call {calls[name]}", data={"calls": calls[name]})


@state
def steps(_ctx: Context, /, name: str, *, fails: bool = False, **_: object) -> Result:
    outcome = result.Outcome.FAILED if fails else result.Outcome.OK
    step = SubResult(name=f"{name} step", outcome=outcome, comment="stepped", data={"number": 1})
    return Result(outcome=result.Outcome.OK, comment="stepped", sub=(step,))


@state
def mod_watch(_ctx: Context, /, name: str, **_: object) -> Result:
    return Result(
        outcome=result.Outcome.OK, comment="reacted", changes={"reacted": name}, data={"reacted": 1}
    )


def attempted(
    text: str,
    more: Files | None = None,
    *,
    test: bool = False,
    detailed: bool = False,
    request: Mapping[str, object] | None = None,
    **options: Any,
) -> Outcome:
    """Run ``main.sls``; what came of it, problems and all. ``options`` are those of ``kit.Tree``."""
    files = {path: dedent(one) for path, one in {"main.sls": text, **(more or {})}.items()}
    registry = Registry(states={"thing": sys.modules[__name__]})
    with tree(files, registry=registry, **options) as made_tree:
        return attempt(made_tree, request_for(files, request), test=test, detailed=detailed)


def run(text: str, more: Files | None = None, *, test: bool = False, **options: Any) -> Report:
    """The report of ``main.sls``, which compiles."""
    outcome = attempted(text, more, test=test, **options)
    assert outcome.report is not None, "\n".join(outcome.texts)
    return outcome.report


def problems(text: str, more: Files | None = None, **options: Any) -> list[str]:
    """Why ``main.sls`` does not compile."""
    return attempted(text, more, **options).texts


def problem(text: str, more: Files | None = None, **options: Any) -> str:
    """The only reason why ``main.sls`` does not compile."""
    (only,) = problems(text, more, **options)
    return only


def paths(report: Report) -> list[str]:
    """What ran or was told, in order: ``caller>block#1>id``."""
    return [answer.path for answer in report.answers]


def answer_of(report: Report, path: str) -> Answer:
    (found,) = [answer for answer in report.answers if answer.path == path]
    return found


def result_of(report: Report, path: str) -> Result:
    return answer_of(report, path).result


def value_of(report: Report, path: str) -> bool | None:
    """Salt's word for its outcome."""
    value: bool | None = result_of(report, path).outcome.value
    return value


def comment_of(report: Report, path: str) -> str:
    return result_of(report, path).comment


def seen(report: Report, path: str, word: str = "seen") -> object:
    """An argument of the state, as the frame rendered it."""
    return answer_of(report, path).chunk.args[word]
