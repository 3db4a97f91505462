"""A test run → what it foresees, and all that is needed to apply exactly that later."""

from __future__ import annotations

import os
from collections.abc import Mapping

from msgspec import Struct, json, to_builtins

from saltern import __version__
from saltern.engine.apply import Prepared, execute, prepare
from saltern.engine.request import Request
from saltern.engine.session import Session
from saltern.facts.read_grains import OF_THE_PROCESS
from saltern.journal.chunk_codec import plan_out
from saltern.language.events import Report
from saltern.plan.plan import Plan
from saltern.planfile.conceal import conceal
from saltern.planfile.document import FORMAT, Bases, Proposal, checksum, pack_body
from saltern.report.forecast import Foreseen, count_kinds, foreseen_rows
from saltern.report.plain import plain
from saltern.runtime.barriers import INTERRUPTED
from saltern.system.regular import read_regular


class Foresight(Struct, kw_only=True):
    """The result of a test run."""

    report: Report
    rows: list[Foreseen]
    plan: Plan | None
    sources: dict[str, str]  # texts of the states' files, by path
    seen: dict[str, None]  # every file of the tree that was read


def prepare_foresight(session: Session, request: Request) -> Prepared:
    """Compile the request and record the files that it reads. Only plans pay for that."""
    assert session.settings.test
    session.tree.record_files()
    return prepare(session, request)


def foresee(prepared: Prepared) -> Foresight:
    """Ask every state what it would do, after ``prepare_foresight``.

    Raises ``KeyboardInterrupt`` if it is interrupted: a partial result is not a plan.
    """
    plan = prepared.plan
    seen = prepared.session.tree.record_files()
    origins = [chunk.declared.origin for chunk in plan.chunks] if plan else []
    sources = {origin.file: str(getattr(origin, "source", "")) for origin in origins}
    report = execute(prepared)
    if report.stopped == INTERRUPTED:
        raise KeyboardInterrupt
    rows = foreseen_rows(report, prepared.session.caller.nature)
    return Foresight(report=report, rows=rows, plan=plan, sources=sources, seen=seen)


def propose(session: Session, request: Request, found: Foresight, override: Mapping[str, object]) -> Proposal:
    """The plan file. ``override`` is pillar data of the command line."""
    plan = found.plan or Plan(chunks=[])
    rests_on = bases(session, found.seen)
    compiled = pack_body(
        conceal(
            {
                "request": to_builtins(request),
                "settings": to_builtins(session.settings, enc_hook=str),
                "pillar": dict(override),
                "sources": found.sources,
                "plan": plan_out(plan),
            },
            rests_on.salt,
        )
    )
    return Proposal(
        saltern_plan=FORMAT,
        version=__version__,
        machine=os.uname().nodename,
        made=session.clock.now(),
        asked=", ".join(request.sls) or request.template or "the highstate",
        totals=count_kinds(found.rows),
        states=found.rows,
        bases=rests_on,
        compiled=compiled,
        sum=checksum(compiled),
    )


def bases(session: Session, seen: Mapping[str, None]) -> Bases:
    """Checksums of what a plan rests on; of grains, only those that were read."""
    salt = os.urandom(16).hex()
    grains = {name: value for name, value in dict.items(session.grains) if name not in OF_THE_PROCESS}
    return Bases(
        salt=salt,
        sources={path: content_sum(path) for path in seen},
        pillar={name: value_sum(value, salt) for name, value in session.pillar.items()},
        grains={name: value_sum(value, salt) for name, value in grains.items()},
    )


def content_sum(path: str) -> str:
    """The checksum of a file; empty if it does not exist."""
    try:
        return checksum(read_regular(path, follow=True))
    except OSError:
        return ""


def value_sum(value: object, salt: str) -> str:
    """The salted checksum of a value: a short secret cannot be guessed from it."""
    return checksum(salt.encode() + json.encode(plain(value), order="sorted"))
