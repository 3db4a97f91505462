"""A test run → what it foresees, and all that is needed to do exactly that later."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct, json, to_builtins

from saltern.engine import apply as engine
from saltern.journal.codec import plan_out
from saltern.language.events import Report
from saltern.plan.plan import Plan
from saltern.planfile.document import FORMAT, Bases, Proposal, packed, summed
from saltern.report.foreseen import Foreseen, counted, foreseen
from saltern.report.plain import plain

if TYPE_CHECKING:
    from saltern.engine.session import Session
    from saltern.sources.tree import Tree

OF_THE_PROCESS = frozenset({"pid", "cwd"})  # grains that are another in each run


class Foresight(Struct, kw_only=True):
    """What a test run has come to."""

    report: Report
    rows: list[Foreseen]
    plan: Plan | None
    sources: dict[str, str]  # texts of the states' files, by path
    seen: dict[str, None]  # every file of the tree that was read


def foresee(
    session: Session, request: engine.Request, *, compiled: Callable[[], None] | None = None
) -> Foresight:
    """Ask every state what it would do; ``session`` is one of test mode."""
    assert session.settings.test
    seen = _watched(session.tree)
    plans: list[Plan] = []
    report = engine.apply(session, request, compiled=compiled, journal=plans.append)
    plan = plans[0] if plans else None
    origins = [chunk.declared.origin for chunk in plan.chunks] if plan else []
    return Foresight(
        report=report,
        rows=foreseen(report, session.caller.nature),
        plan=plan,
        sources={origin.file: str(getattr(origin, "source", "")) for origin in origins},
        seen=seen,
    )


def _watched(tree: Tree) -> dict[str, None]:
    """The files that a run reads, written down as it reads them. Only a plan pays for that."""
    seen: dict[str, None] = {}
    text, find = tree.text, tree.find

    def watched_text(path: str) -> str | None:
        found = text(path)
        if found is not None:
            seen[path] = None
        return found

    def watched_find(path: str, env: str) -> str | None:
        found = find(path, env)
        if found is not None:
            seen[found] = None
        return found

    vars(tree).update(text=watched_text, find=watched_find)
    return seen


def propose(
    session: Session, request: engine.Request, found: Foresight, override: Mapping[str, object]
) -> Proposal:
    """The file to approve. ``override`` is pillar data of the command line."""
    from saltern import __version__

    plan = found.plan or Plan(chunks=[])
    compiled = packed(
        {
            "request": to_builtins(request),
            "settings": to_builtins(session.settings, enc_hook=str),
            "pillar": dict(override),
            "sources": found.sources,
            "plan": plan_out(plan),
        }
    )
    return Proposal(
        saltern_plan=FORMAT,
        version=__version__,
        machine=os.uname().nodename,
        made=session.clock.now(),
        asked=", ".join(request.sls) or request.template or "the highstate",
        totals=counted(found.rows),
        states=found.rows,
        bases=bases(session, found.seen),
        compiled=compiled,
        sum=summed(compiled),
    )


def bases(session: Session, seen: Mapping[str, None]) -> Bases:
    """Only grains that somebody asked for: the others cannot have mattered."""
    salt = os.urandom(16).hex()
    grains = {name: value for name, value in dict.items(session.grains) if name not in OF_THE_PROCESS}
    return Bases(
        salt=salt,
        sources={path: content_sum(path) for path in seen},
        pillar={name: value_sum(value, salt) for name, value in session.pillar.items()},
        grains={name: value_sum(value, salt) for name, value in grains.items()},
    )


def content_sum(path: str) -> str:
    """Empty for a file that is gone."""
    try:
        with open(path, "rb") as file:
            return summed(file.read())
    except OSError:
        return ""


def value_sum(value: object, salt: str) -> str:
    return summed(salt.encode() + json.encode(plain(value), order="sorted"))
