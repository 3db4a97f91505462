"""``saltern apply FILE``: apply exactly what a plan shows, or refuse."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from types import SimpleNamespace

from msgspec import Struct, convert
from msgspec.structs import replace

from saltern.cli import exits
from saltern.cli.arguments import Row
from saltern.cli.from_options import session
from saltern.cli.output import exit_code, run_watched, seconds, write_report
from saltern.config.settings import Settings
from saltern.durable.apply import JournalOptions, claim_run
from saltern.engine.apply import Prepared, apply, prepare_plan
from saltern.engine.build_plan import aggregates
from saltern.engine.nested_engine import make_session
from saltern.engine.request import Request
from saltern.engine.session import Session
from saltern.journal.chunk_codec import chunks_in
from saltern.language.diagnostics import Diagnostic, Diagnostics, OperationError
from saltern.language.events import Report
from saltern.plan.make import make_plan
from saltern.planfile.differences import check, check_machine
from saltern.planfile.document import Body, Proposal, is_plan, load, readable, unpack_body
from saltern.planfile.make import foresee, prepare_foresight
from saltern.planfile.trust import check_template, read_own, settings_of
from saltern.report.text import safe_line
from saltern.runtime.ports import EventSink

# What a plan decides. The places of code and data are given again, and compared.
DECIDED = (
    *("--test", "--only-id", "--exclude", "--failhard", "--strict"),
    *("--pillar", "--saltenv", "--pillarenv", "--id"),
)


def is_meant(word: str) -> bool:
    """True if a word that names an existing file means a plan: it has a slash, or the file is a plan."""
    return "/" in word or is_plan(word)


def apply_file(args: SimpleNamespace, path: str, rows: Sequence[Row]) -> int:
    """Apply a plan file. ``rows`` are the options that ``args`` were parsed with."""
    if not is_plan(path):
        raise _no_plan(path)
    _check_options(args, rows)
    own = session(args).settings
    proposal, body, request = _read_trusted(args, path, own)
    settings = settings_of(body.settings, own, path=path)
    if args.replan:
        from saltern.cli.plan_output import show

        return show(args, _session(settings, body, test=True), request, body.pillar, path)
    engine = _session(settings, body, test=False)
    profile = None
    if args.profile:
        from saltern.cli.profile import Profile

        profile = Profile(engine, "checking that nothing has changed")
    approved = _Approved(path, proposal, body)

    def work(on_event: EventSink | None) -> Report:
        options = JournalOptions(queue=seconds(args.queue, settings.queue_runs), pillar=body.pillar)
        with claim_run(engine, request, options) as claimed:
            prepared = _prepare(engine, request, approved)
            if profile is not None:
                profile.compiled()
            return claimed.execute(prepared, on_event)

    report = run_watched(args, work)
    if report.stopped:
        from saltern.cli.after_pause import continue_paused

        report = continue_paused(args, engine, report)
    else:
        write_report(args, engine, report)
    if profile is not None:
        profile.write(report, sys.stderr, colour=args.color)
    code = exit_code(report, detailed=args.detailed_exitcode)
    if args.check_idempotent and code in (exits.OK, exits.CHANGED):
        from saltern.cli.second_run import is_idempotent

        second = _session(settings, body, test=False)
        if not is_idempotent(args, second, lambda: apply(second, request)):
            return exits.FAILED
    return code


def _read_trusted(args: SimpleNamespace, path: str, own: Settings) -> tuple[Proposal, Body, Request]:
    """Read a plan after checking its file and signature; nothing in the plan is used before that."""
    data = read_own(path)
    if signers := args.verify or own.plan_signers:
        from saltern.planfile.signature import verify

        who = verify(path, data, signers)
        print(f"saltern: {safe_line(path)} is signed by {safe_line(who)}", file=sys.stderr)
    proposal = load(path, data)
    check_machine(proposal, os.uname().nodename)
    body = unpack_body(proposal, path, own.extra)
    with readable(path):
        request = convert(body.request, Request)
    check_template(request.template, args.template, path=path)
    return proposal, body, request


class _Approved(Struct, frozen=True):
    """The plan in a file."""

    path: str
    proposal: Proposal
    body: Body


def _prepare(engine: Session, request: Request, approved: _Approved) -> Prepared:
    """Plan again for this machine; prepare the plan of the file if nothing has changed since."""
    path, pillar = approved.path, approved.body.pillar
    again = make_session(replace(engine.settings, test=True), pillar)
    now = foresee(prepare_foresight(again, request))
    check(approved.proposal, again, now, path=path)
    body = unpack_body(approved.proposal, path, engine.settings.extra)  # the secrets are known now
    with readable(path):
        chunks = chunks_in(body.plan, body.sources)
        for chunk, fresh in zip(chunks, now.plan.chunks if now.plan else (), strict=True):
            chunk.declared = fresh.declared  # the same state; it knows its line even in a template
        rendered = convert(body.plan["rendered"], list[str])
        plan = make_plan(chunks, rendered, Diagnostics(), aggregates(engine, chunks))
    return prepare_plan(engine, request, plan)


def _session(settings: Settings, body: Body, *, test: bool) -> Session:
    return make_session(replace(settings, test=test), body.pillar)


def _check_options(args: SimpleNamespace, rows: Sequence[Row]) -> None:
    """Refuse options that say where states come from: the plan decides that."""
    given = [row.flag for row in rows if row.flag in DECIDED and getattr(args, row.dest) is not row.default]
    if given:
        raise OperationError(
            Diagnostic(
                code="plan-decided",
                what=f"{' and '.join(given)} cannot be given with a plan: it is applied as it was shown",
                fix="give them to `saltern plan`",
            )
        )


def _no_plan(path: str) -> OperationError:
    return OperationError(
        Diagnostic(
            code="plan-unreadable",
            what=f"{path!r} is a file, but not a plan written by `saltern plan -o`",
            fix=f"to apply a state file outside the roots: saltern apply --template {path}",
        )
    )
