"""``saltern chain``: action chains on this machine."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from re import match
from types import SimpleNamespace
from typing import TYPE_CHECKING

from saltern.cli import exits
from saltern.cli.arguments import CommandLine, Row, Word, parse
from saltern.cli.chain_control import (
    cancel_command,
    done_command,
    pause_command,
    release_command,
    resume_command,
    retry_command,
    skip_command,
    status_command,
)
from saltern.cli.chain_document import (
    add_command,
    check_command,
    from_sls_command,
    render_command,
    report_unmatched,
    to_sls_command,
)
from saltern.cli.chain_file import read_text
from saltern.cli.chain_inputs import INPUT_ROWS, given_inputs
from saltern.cli.chain_output import drive_and_show, options_of, write_legs
from saltern.cli.chain_rows import MANY_ROWS
from saltern.cli.from_options import session
from saltern.cli.options import ON_ROWS, TREE_ROWS, output_rows

if TYPE_CHECKING:
    from saltern.chains.compile import LegPlan
    from saltern.chains.legs import KnownLeg
    from saltern.engine.session import Session
    from saltern.runtime.ports import EventSink

ABOUT = """\
Run an action chain: ordered actions from a file, divided at reboots and updates, each with a result.

  check FILE            read the file and report every problem
  render FILE           print the segments of each system; --export DIR writes them for Salt
  to-sls FILE           print the chain as one state file
  from-sls FILE         print a state file with a linear order as a chain
  add FILE KIND WORD…   append an action to the file: `add nightly.yaml command uptime`
  run FILE              run the actions for this machine; with --on TARGET, on each system of the fleet;
                        with --test, say what each action would do, and do nothing
  status [RUN]          list the chain runs; with a run, its actions; of a job, on each system
  resume [RUN]          resume a broken run
  pause [RUN]           pause it before its next action; resume continues
  cancel [RUN]          end it before its next action; --now: and stop what runs
  retry [RUN]           run the failed and remaining actions; --input changes inputs
  skip [RUN] ACTION     count an action as skipped; resume continues after it
  done [RUN] ACTION     count an action as done, after you have checked; needs --reason
  release [RUN]         allow a retry after repeated failures

On many systems, at the controller (runs started by `run FILE --on TARGET`):

  plan FILE|CHAIN       ask each system of --on TARGET what it would do, and keep the answers as a plan
  plan show PLAN        show a kept plan; plan list [CHAIN] lists them
  run --plan PLAN       run what was planned; refused if its basis has changed (--replan plans again)
  runs [CHAIN]          list runs
  watch RUN             show systems by actions until it is over
  show RUN [SYSTEM]     a run, what it waits for, and each system; with a name, each action there
  matrix RUN            systems by actions, once
  log RUN               what was ordered, approved and sent
  log RUN SYSTEM        what the actions of a system have printed; with ACTION, only that one, as it is;
                        --follow: until the run, or that system, has ended
  approve RUN [GATE]    approve what waits for it; reject RUN [GATE] ends it
  unlock RUN            stop waiting for systems that are away; their later reports still count
  pause, resume, cancel, retry [ACTION], skip ACTION, done ACTION, release: as above;
                        --system and --wave choose some of the systems

Notifications about runs:

  subscribe NAME            by --webhook URL or --mail ADDRESS; --event and --chain choose what
  subscriptions [NAME]      list them; with a name, what was sent, is waiting or failed
  unsubscribe NAME          remove it; redeliver NAME sends failed notifications again

Chains stored by a controller, with versions:

  list                      the chains; with --archived, also archived chains
  new FILE                  store a new chain
  edit CHAIN [FILE]         a new version, from your editor or a file; refused if it was changed meanwhile
  show CHAIN [VERSION]      its versions, and the text of one; show RUN is above
  diff CHAIN [OLD [NEW]]    what differs between two versions; without them, the last two
  validate FILE|CHAIN       check it against the systems of --on TARGET: which take part, which cannot, which
                            packages they do not know
  import FILE               store a file, as a new chain or a new version
  export CHAIN [VERSION]    print its text
  archive CHAIN             hide it; --undo brings it back

Without RUN, or with `last`: the last run of this machine. At the controller (also with --controller), `last`
is your newest run; a vote names its run."""
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
    if args.verb in LIBRARY_VERBS and not args.via and not (args.verb == "show" and _is_run(args)):
        from saltern.cli.chain_library import run_library

        return run_library(args)
    if args.verb == "plan" or (args.verb == "run" and args.plan):
        from saltern.cli.chain_plan import plan_or_run

        return plan_or_run(args)
    if args.via or args.on is not None or is_about_fleet(args):
        from saltern.cli.chain_on import run_chain_on

        return run_chain_on(LINE, args, argv)
    wanted = VERBS[args.verb]
    if not wanted.least <= len(args.words) <= wanted.most:
        print(f"saltern chain {args.verb}: give {wanted.needs}", file=sys.stderr)
        return exits.SURROUNDINGS
    return wanted.run(args, session(args))


def _is_run(args: SimpleNamespace) -> bool:
    """True if the first word is the number of a fleet run or ``last``, not the name of a chain."""
    return bool(args.words) and match(r"\d{8}T\d|last$", args.words[0]) is not None


def is_about_fleet(args: SimpleNamespace) -> bool:
    """True if a fleet run is meant: its number has a T after the day, or it is the last one of a controller
    that is named; some verbs take no other run.
    """
    named = bool(args.words) and ("T" in args.words[0][:9] or (args.words[0] == "last" and args.controller))
    return args.verb in FLEET_VERBS or (named and args.verb in SHARED_VERBS)


CALLBACK_VERBS = ("subscribe", "subscriptions", "unsubscribe", "redeliver")
FLEET_VERBS = ("watch", "show", "matrix", "log", "runs", "approve", "reject", "unlock", *CALLBACK_VERBS)
SHARED_VERBS = ("status", "pause", "resume", "cancel", "retry", "skip", "done", "release")


class Verb:
    """What a verb does, and how many words it takes."""

    def __init__(
        self, run: Callable[[SimpleNamespace, Session], int], needs: str, least: int, most: int
    ) -> None:
        self.run, self.needs, self.least, self.most = run, needs, least, most


# -- files --------------------------------------------------------------------------------------------


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


VERBS: dict[str, Verb] = {
    "check": Verb(check_command, "one chain file", 1, 1),
    "render": Verb(render_command, "one chain file", 1, 1),
    "to-sls": Verb(to_sls_command, "one chain file", 1, 1),
    "from-sls": Verb(from_sls_command, "one state file", 1, 1),
    "add": Verb(add_command, "a chain file, the kind of an action, and its arguments", 2, 1000),
    "run": Verb(_run, "one chain file", 1, 1),
    "status": Verb(status_command, "one run, or none", 0, 1),
    "resume": Verb(resume_command, "one run, or none", 0, 1),
    "pause": Verb(pause_command, "one run, or none", 0, 1),
    "cancel": Verb(cancel_command, "one run, or none", 0, 1),
    "retry": Verb(retry_command, "one run, or none", 0, 1),
    "skip": Verb(skip_command, "an action, or a run and an action", 1, 2),
    "done": Verb(done_command, "an action, or a run and an action", 1, 2),
    "release": Verb(release_command, "one run, or none", 0, 1),
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
            help="render: write the segments below this file root, with the module that Salt needs",
        ),
        Row(flag="--reason", dest="reason", metavar="TEXT", help="cancel, pause, skip, done, edit: why"),
        Row(
            flag="--now",
            dest="now",
            kind="on",
            default=False,
            help="cancel: also stop the running action and all its processes",
        ),
        Row(
            flag="--token",
            dest="token",
            metavar="TEXT",
            help="run: if a run with this token exists, show it and start none",
        ),
        Row(
            flag="--plan",
            dest="plan",
            metavar="DIGEST",
            help="run: this plan; approve, reject: the plan that was reviewed (default: the plan of the run)",
        ),
        Row(
            flag="--replan",
            dest="replan",
            kind="on",
            default=False,
            help="run --plan: plan again, show the plan and what has changed, and run nothing",
        ),
        Row(
            flag="--pin",
            dest="pin",
            kind="on",
            default=False,
            help="plan: fix the systems now, even if the target matches others later",
        ),
        *INPUT_ROWS,
        *MANY_ROWS,
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
            help="log: keep printing new output",
        ),
        Row(
            flag="--archived", dest="archived", kind="on", default=False, help="list: include archived chains"
        ),
        Row(flag="--undo", dest="undo", kind="on", default=False, help="archive: bring it back"),
        Row(flag="--action", dest="action_id", metavar="ID", help="add: the id of the action"),
        Row(flag="--title", dest="title", metavar="TEXT", help="add: what the action is for"),
        Row(
            flag="--target",
            dest="targets",
            kind="list",
            metavar="NAME",
            help="add: a system or pattern that the action is for; repeatable",
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
