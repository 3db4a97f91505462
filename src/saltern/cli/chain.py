"""``saltern chain``: action chains on this machine."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING

from saltern.cli import exits
from saltern.cli.arguments import CommandLine, Row, Word, parse
from saltern.cli.chain_file import read_text
from saltern.cli.chain_inputs import INPUT_ROWS, given_inputs
from saltern.cli.chain_output import drive_and_show, options_of, show, write_legs
from saltern.cli.chain_rows import ACROSS_ROWS, SUBSCRIBE_ROWS
from saltern.cli.from_options import session
from saltern.cli.options import ON_ROWS, TREE_ROWS, output_rows
from saltern.cli.run_names import LAST
from saltern.language.diagnostics import Diagnostic, OperationError

if TYPE_CHECKING:
    from saltern.chains.compile import LegPlan
    from saltern.chains.document import Action, Chain
    from saltern.chains.legs import KnownLeg
    from saltern.engine.session import Session
    from saltern.runtime.ports import EventSink

ABOUT = """\
Run an action chain: ordered actions of a file, cut at reboots and updates, each with a result.

  check FILE            read the file and report every problem
  render FILE           print the segments of each system; --export DIR writes them, for a real Salt
  to-sls FILE           print the chain as one state file
  from-sls FILE         print a state file whose states stand in a line as a chain
  add FILE KIND WORD…   append an action to the file: `add nightly.yaml command uptime`
  run FILE              run what is meant for this machine; with --on TARGET, on each system of the fleet;
                        with --test, say what each action would do, and do nothing
  status [RUN]          list the runs of chains; with a name, each action of it; of a job, on each system
  resume [RUN]          resume one that broke
  pause [RUN]           pause it before its next action; resume continues
  cancel [RUN]          end it before its next action; --now: and stop what runs
  retry [RUN]           run again what failed, and what has not run; with --input, with other inputs
  skip [RUN] ACTION     count an action as skipped; resume continues after it
  done [RUN] ACTION     count an action as done, since you have looked; needs --reason
  release [RUN]         let one be retried that broke again and again

On many systems, at the controller (the run is that of `run FILE --on TARGET`):

  plan FILE|CHAIN       ask each system of --on TARGET what it would do, and keep the answers as a plan
  plan show PLAN        a plan that is kept; plan list [CHAIN] lists them
  run --plan PLAN       run what was planned; refused if what it rests on has moved (--replan makes it anew)
  runs [CHAIN]          list runs
  watch RUN             show systems by actions until it is over
  show RUN [SYSTEM]     a run, what it waits for, and each system; with a name, each action there
  matrix RUN            systems by actions, once
  log RUN               what was ordered, approved and sent
  log RUN SYSTEM        what the actions of a system have printed; with ACTION, only that one, as it is;
                        --follow: as it comes, until the run, or that system, is over
  approve RUN [GATE]    approve what waits for it; reject RUN [GATE] ends it
  pause, resume, cancel, retry [ACTION], skip ACTION, done ACTION, release: as above;
                        --system and --wave choose some of the systems

Who is notified of what happens to runs:

  subscribe NAME            by --webhook URL or --mail ADDRESS; --event and --chain choose what
  subscriptions [NAME]      who is; with a name, what was sent, what waits and what is dead
  unsubscribe NAME          no longer; redeliver NAME sends again what is dead

Chains that a controller keeps, in versions:

  list                      the chains; with --archived, also those that are archived
  new FILE                  keep a new chain
  edit CHAIN [FILE]         a new version, by your editor or from a file; refused if another was quicker
  show CHAIN [VERSION]      its versions, and the text of one; show RUN is above
  diff CHAIN [OLD [NEW]]    what differs between two versions; without them, the last two
  validate FILE|CHAIN       compare it with the systems of --on TARGET: who is meant, who cannot do it
  import FILE               keep a file, as a new chain or a new version
  export CHAIN [VERSION]    print its text
  archive CHAIN             put it out of sight; --undo brings it back

Without RUN, or with `last`: the last one of this machine."""
EPILOG = """\
examples:
  saltern chain run nightly.yaml
  saltern chain run nightly.yaml --on 'web*'
  saltern chain plan nightly.yaml --on 'web*' --canary 1
  saltern chain render nightly.yaml --system web1 --export /srv/salt

exit codes: 0 ok, 2 an action failed or is indeterminate, or the chain was cancelled, is out of time or waits
for an operator, 6 the machine goes down for a reboot"""


def main(argv: list[str]) -> int:
    args = parse(LINE, argv)
    if args.verb in LIBRARY_VERBS and not (args.verb == "show" and _is_run(args)):
        from saltern.cli.chain_library import run_library

        return run_library(args)
    if args.verb == "plan" or (args.verb == "run" and args.plan):
        from saltern.cli.chain_plan import plan_or_run

        return plan_or_run(args)
    if args.on is not None or is_about_fleet(args):
        from saltern.cli.chain_on import run_chain_on

        return run_chain_on(LINE, args, argv)
    wanted = VERBS[args.verb]
    if not wanted.least <= len(args.words) <= wanted.most:
        print(f"saltern chain {args.verb}: give {wanted.needs}", file=sys.stderr)
        return exits.SURROUNDINGS
    return wanted.run(args, session(args))


def _is_run(args: SimpleNamespace) -> bool:
    """Whether the first word is the number of a run of the fleet, and not the name of a chain."""
    from re import match

    return bool(args.words) and match(r"\d{8}T\d", args.words[0]) is not None


def is_about_fleet(args: SimpleNamespace) -> bool:
    """Whether a run of the fleet is meant: its number has a T after the day; some verbs know no other."""
    named = bool(args.words) and "T" in args.words[0][:9]
    return args.verb in FLEET_VERBS or (named and args.verb in SHARED_VERBS)


CALLBACK_VERBS = ("subscribe", "subscriptions", "unsubscribe", "redeliver")
FLEET_VERBS = ("watch", "show", "matrix", "log", "runs", "approve", "reject", *CALLBACK_VERBS)
SHARED_VERBS = ("status", "pause", "resume", "cancel", "retry", "skip", "done", "release")


class Verb:
    """What a verb does, and how many words it takes."""

    def __init__(
        self, run: Callable[[SimpleNamespace, Session], int], needs: str, least: int, most: int
    ) -> None:
        self.run, self.needs, self.least, self.most = run, needs, least, most


# -- files --------------------------------------------------------------------------------------------


def _chain(args: SimpleNamespace, *, look: bool = False) -> Chain:
    """The chain of a file with its inputs; ``look``: those that are missing do not matter."""
    from saltern.chains.document import read_chain

    text = read_text(args.words[0])
    found = read_chain(text, args.words[0])
    given = given_inputs(args, found.inputs)
    return found if (look and not given) or not found.inputs else read_chain(text, args.words[0], given)


def _plans(args: SimpleNamespace, engine: Session, *, look: bool = False) -> list[LegPlan]:
    """Of the systems that were asked for, that the file names, or of this machine."""
    from saltern.chains.compile import plan_for

    chain = _chain(args, look=look)
    report_unmatched(chain)
    systems = args.system or chain.systems() or [engine.settings.id]
    return [plan for plan in (plan_for(chain, system) for system in systems) if plan.segments]


def report_unmatched(chain: Chain) -> None:
    """Report each target of an action that none of the chain's own systems matches."""
    from saltern.chains.targets import unmatched

    for action, target in unmatched(chain):
        what = f"action {action}: none of the systems of the chain {chain.name!r} matches {target!r}"
        print(f"saltern: {what}, so it is run nowhere by that", file=sys.stderr)


def _check(args: SimpleNamespace, engine: Session) -> int:
    for plan in _plans(args, engine, look=True):
        for segment in plan.segments:
            print(f"{segment.name}: {_kinds(segment.steps)}")
        if plan.finalizers:
            print(f"in the end: {_kinds(plan.finalizers)}")
    return exits.OK


def _kinds(actions: Sequence[Action]) -> str:
    return ", ".join(f"{one.id} ({one.kind})" for one in actions)


def _render(args: SimpleNamespace, engine: Session) -> int:
    from saltern.chains.render import SALT_NAMES, salt_module, segment_text

    texts = {
        os.path.join("actionchains", f"{segment.name}.sls"): segment_text(plan, segment)
        for plan in _plans(args, engine)
        for segment in plan.segments
    }
    if args.export is None:
        print("\n".join(f"# {name}\n{text}" for name, text in texts.items()), end="")
        return exits.OK
    modules = {os.path.join("_modules", f"{name}.py"): salt_module(name) for name in SALT_NAMES}
    for name, text in {**texts, **modules}.items():
        _write(os.path.join(args.export, name), text)
        print(name)
    return exits.OK


def _write(path: str, text: str) -> None:
    from saltern.report.output_file import write_output

    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
    except OSError as problem:
        what = f"{path} cannot be written: {problem.strerror}"
        raise OperationError(Diagnostic(code="chain-export", what=what)) from None
    write_output(path, text.encode(), mode=0o644)


def _to_sls(args: SimpleNamespace, engine: Session) -> int:
    from saltern.chains.compile import not_meant, plan_for
    from saltern.chains.render import state_text

    chain = _chain(args)
    report_unmatched(chain)
    plan = plan_for(chain, args.system[0] if args.system else engine.settings.id)
    if not plan.segments:
        raise not_meant(plan)
    print(state_text(plan), end="")
    return exits.OK


def _from_sls(args: SimpleNamespace, _engine: Session) -> int:
    from saltern.chains.from_sls import chain_text
    from saltern.cli.chain_draft import name_of

    print(chain_text(read_text(args.words[0]), args.words[0], name_of(args.words[0])), end="")
    return exits.OK


def _add(args: SimpleNamespace, engine: Session) -> int:
    from saltern.cli.chain_draft import add

    return add(args, engine)


# -- runs ---------------------------------------------------------------------------------------------


def _run(args: SimpleNamespace, engine: Session) -> int:
    from saltern.chains.accept import Order, start
    from saltern.chains.compile import plan_for
    from saltern.chains.document import read_chain

    text, file = read_text(args.words[0]), os.path.abspath(args.words[0])
    chain = read_chain(text, file, given_inputs(args, read_chain(text, file).inputs))
    order = Order(
        text=text,
        file=file,
        system=args.system[0] if args.system else engine.settings.id,
        pillar=chain.values,
        token=args.token or "",
    )
    report_unmatched(chain)
    plan = plan_for(chain, order.system)
    if args.test:
        return _rehearse(args, engine, plan, order.pillar)

    def work(sink: EventSink) -> KnownLeg:
        return start(engine.settings, order, sink, again=options_of(args))

    return drive_and_show(args, engine, plan, work)


def _rehearse(args: SimpleNamespace, engine: Session, plan: LegPlan, pillar: dict[str, object]) -> int:
    from saltern.chains.compile import not_meant
    from saltern.chains.rehearse import lines, rehearse

    if not plan.segments:
        raise not_meant(plan)
    settings = session(args, test=True).settings
    data = rehearse(plan, settings, pillar)
    if args.out == "nested":
        print("\n".join(lines(data)))
    else:
        write_legs(args, engine, data)
    return exits.FAILED if data["status"] == "failed" else exits.OK


def _resume(args: SimpleNamespace, engine: Session) -> int:
    from saltern.chains.legs import Legs

    legs = Legs(engine.settings)
    names = _given(args) or legs.unfinished()[-1:] or legs.newest_unknown()
    if not names:
        print("saltern: no chain is under way; there is nothing to resume", file=sys.stderr)
        return exits.OK
    return _resume_leg(args, engine, names[0])


def _resume_leg(args: SimpleNamespace, engine: Session, name: str) -> int:
    from saltern.chains.drive import readable, resume_leg
    from saltern.cli.resume_question import ask_at_terminal

    def work(sink: EventSink) -> KnownLeg:
        return resume_leg(engine.settings, name, sink, again=options_of(args), question=ask_at_terminal)

    return drive_and_show(args, engine, readable(engine.settings, name).state.plan, work)


def _retry(args: SimpleNamespace, engine: Session) -> int:
    from saltern.chains.legs import Legs
    from saltern.chains.orders import change, revise

    name = _named(args, engine)
    known = Legs(engine.settings).known(name)
    if new := given_inputs(args, known.state.plan.chain.inputs):
        revise(engine.settings, name, {**(known.head.get("pillar") or {}), **new})
    change(engine.settings, name, "retry")
    return _resume_leg(args, engine, name)


def _skip(args: SimpleNamespace, engine: Session) -> int:
    return _vouched(args, engine, "skip", args.reason or "skipped by an operator")


def _done(args: SimpleNamespace, engine: Session) -> int:
    if not args.reason:
        print("saltern chain done: say with --reason how you know that it is done", file=sys.stderr)
        return exits.SURROUNDINGS
    return _vouched(args, engine, "done", f"done, as an operator says: {args.reason}")


def _vouched(args: SimpleNamespace, engine: Session, kind: str, reason: str) -> int:
    from saltern.chains.orders import change

    *_, action = args.words
    name = _named(SimpleNamespace(words=args.words[:-1]), engine)
    return show(args, engine, change(engine.settings, name, kind, action=action, reason=reason))


def _release(args: SimpleNamespace, engine: Session) -> int:
    from saltern.chains.orders import change

    reason = args.reason or "released by an operator"
    return show(args, engine, change(engine.settings, _named(args, engine), "release", reason=reason))


def _pause(args: SimpleNamespace, engine: Session) -> int:
    from saltern.chains.orders import pause

    name = _named(args, engine)
    known = pause(engine.settings, name, args.reason or "paused by an operator")
    if known is None:
        print(f"saltern: {name} waits before its next action", file=sys.stderr)
        return exits.OK
    return show(args, engine, known)


def _cancel(args: SimpleNamespace, engine: Session) -> int:
    """A process that works on it is notified, and ends before its next action."""
    from saltern.chains.orders import cancel

    name = _named(args, engine)
    known = cancel(engine.settings, name, args.reason or "cancelled by an operator", now=args.now)
    if known is None:
        when = "as soon as what runs has stopped" if args.now else "before its next action"
        print(f"saltern: {name} ends {when}", file=sys.stderr)
        return exits.OK
    return show(args, engine, known)


def _given(args: SimpleNamespace) -> list[str]:
    """The run that is named; ``last`` says what is meant where none is."""
    return [word for word in args.words if word != LAST]


def _named(args: SimpleNamespace, engine: Session) -> str:
    """The run that is meant: the last one, if none is named."""
    from saltern.chains.legs import Legs

    found: list[str] = _given(args) or Legs(engine.settings).ids()[:1]
    if not found:
        raise OperationError(Diagnostic(code="chain-unknown", what="no chain was run on this machine yet"))
    return found[0]


def _status(args: SimpleNamespace, engine: Session) -> int:
    from saltern.chains.legs import UNKNOWN, KnownLeg, Legs
    from saltern.chains.show import HEAD, as_data, summary, unread

    legs = Legs(engine.settings)
    if args.words:
        return show(args, engine, legs.known(_named(args, engine)))
    found = [
        (leg, one)
        for leg, one in legs.looked_at()
        if isinstance(one, KnownLeg) or one.diagnostics[0].code in UNKNOWN
    ]
    if args.out != "nested":
        rows = [
            as_data(one, engine.settings) if isinstance(one, KnownLeg) else unread(leg) for leg, one in found
        ]
        return write_legs(args, engine, rows)
    lines = [summary(leg, one, at_work=legs.lock.holder() == leg) for leg, one in found]
    print("\n".join((HEAD, *lines)) if found else "no chain was run yet")
    return exits.OK


VERBS: dict[str, Verb] = {
    "check": Verb(_check, "one chain file", 1, 1),
    "render": Verb(_render, "one chain file", 1, 1),
    "to-sls": Verb(_to_sls, "one chain file", 1, 1),
    "from-sls": Verb(_from_sls, "one state file", 1, 1),
    "add": Verb(_add, "a chain file, the kind of an action, and its arguments", 2, 1000),
    "run": Verb(_run, "one chain file", 1, 1),
    "status": Verb(_status, "one run, or none", 0, 1),
    "resume": Verb(_resume, "one run, or none", 0, 1),
    "pause": Verb(_pause, "one run, or none", 0, 1),
    "cancel": Verb(_cancel, "one run, or none", 0, 1),
    "retry": Verb(_retry, "one run, or none", 0, 1),
    "skip": Verb(_skip, "an action, or a run and an action", 1, 2),
    "done": Verb(_done, "an action, or a run and an action", 1, 2),
    "release": Verb(_release, "one run, or none", 0, 1),
}
LIBRARY_VERBS = ("list", "new", "edit", "show", "diff", "validate", "import", "export", "archive")
WORDS = tuple(dict.fromkeys((*VERBS, "plan", *FLEET_VERBS, *LIBRARY_VERBS)))
LINE = CommandLine(
    command="chain",
    about=ABOUT,
    epilog=EPILOG,
    words=(
        Word(dest="verb", metavar="VERB", help=", ".join(WORDS), choices=WORDS),
        Word(dest="words", metavar="WORD", many=True, help="a chain file, or the number of a run"),
    ),
    rows=(
        Row(
            flag="--system",
            dest="system",
            kind="list",
            metavar="NAME",
            help="the system to render for, or to act as; repeatable",
        ),
        Row(
            flag="--export",
            dest="export",
            metavar="DIR",
            help="render: write the segments below this file root, with the module that a real Salt needs",
        ),
        Row(flag="--reason", dest="reason", metavar="TEXT", help="cancel, pause, skip, done, edit: why"),
        Row(
            flag="--now",
            dest="now",
            kind="on",
            default=False,
            help="cancel: also stop the running action, with all it has started",
        ),
        Row(
            flag="--token",
            dest="token",
            metavar="TEXT",
            help="run: a run started before with the same token is shown, and not run again",
        ),
        Row(
            flag="--plan",
            dest="plan",
            metavar="DIGEST",
            help="run: this plan; approve, reject: the plan that was looked at; without it, that of the run",
        ),
        Row(
            flag="--replan",
            dest="replan",
            kind="on",
            default=False,
            help="run --plan: make the plan anew, show it and what has moved, and run nothing",
        ),
        Row(
            flag="--pin",
            dest="pin",
            kind="on",
            default=False,
            help="plan: the systems are those of now, also if the target means others later",
        ),
        *INPUT_ROWS,
        *ACROSS_ROWS,
        *SUBSCRIBE_ROWS,
        Row(
            flag="--test",
            dest="test",
            kind="on",
            default=False,
            help="run: say what would change, and change nothing",
        ),
        Row(
            flag="--follow",
            dest="follow",
            kind="on",
            default=False,
            help="log: print what is printed as it comes",
        ),
        Row(flag="--archived", dest="archived", kind="on", default=False, help="list: archived ones, too"),
        Row(flag="--undo", dest="undo", kind="on", default=False, help="archive: bring it back"),
        Row(flag="--action", dest="action_id", metavar="ID", help="add: the id of the action"),
        Row(flag="--title", dest="title", metavar="TEXT", help="add: what the action is for"),
        Row(
            flag="--target",
            dest="targets",
            kind="list",
            metavar="NAME",
            help="add: a system, or a pattern, that the action is meant for; repeatable",
        ),
        Row(
            flag="--on-failure",
            dest="on_failure",
            metavar="WHAT",
            choices=("stop", "continue", "pause"),
            help="add: what follows a failure of the action: stop, continue or pause",
        ),
        *TREE_ROWS,
        *output_rows("nested"),
        *ON_ROWS,
    ),
)
