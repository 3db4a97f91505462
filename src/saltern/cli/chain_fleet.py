"""`saltern chain` for runs on many systems: start, watch, show and control them at the controller."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from saltern.chains.inputs import Input
from saltern.cli import exits
from saltern.cli.chain_inputs import given_inputs
from saltern.cli.chain_rows import rollout_of
from saltern.cli.chain_source import what_to_run
from saltern.cli.connect import connect
from saltern.fleet.view import chain_matrix, chain_run
from saltern.fleet.view.words import count
from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.report.outputs import options_for, write_data

if TYPE_CHECKING:
    from saltern.fleet.client.client import Client
    from saltern.report.outputs import OutputOptions

WIDE = 10_000  # columns without a terminal
LOOK = 0.5  # seconds between two polls of a run
SHORT = 8  # characters that name a digest
CODES = {"succeeded": exits.OK, "running": exits.OK, "scheduled": exits.OK}


def ask_fleet(args: SimpleNamespace) -> int:
    """Carry out a verb at the controller."""
    verb = VERBS[args.verb]
    if not verb.least <= len(args.words) <= verb.most:
        print(f"saltern chain {args.verb}: give {verb.needs}", file=sys.stderr)
        return exits.SURROUNDINGS
    with connect(args) as client:
        if args.words[:1] == ["last"] and args.verb in OF_RUNS:
            args.words[0] = _newest_run(args.verb, client)
        return verb.work(args, client)


def _newest_run(verb: str, client: Client) -> str:
    """The number of the newest run of the person who asks; a vote must name its run."""
    listed = "`saltern chain runs` lists them"
    if VERBS[verb].work is _vote:
        what = f"`saltern chain {verb}` needs the number of the run: the last one may be another by now"
        raise OperationError(Diagnostic(code="chain-last", what=what, fix=listed))
    me = client.me()["name"]
    newest = next((row for row in client.chain_runs.list() if row["author"] == me), None)
    if newest is None:
        what, fix = "you have not started a run at this controller yet", f"{listed}, also those of others"
        raise OperationError(Diagnostic(code="chain-last", what=what, fix=fix))
    return str(newest["run"])


class Verb:
    """What a verb does, and how many words it takes."""

    def __init__(
        self, work: Callable[[SimpleNamespace, Client], int], needs: str, least: int = 1, most: int = 1
    ) -> None:
        self.work, self.needs, self.least, self.most = work, needs, least, most


# -- start and watch ----------------------------------------------------------------------------------


def start_run(args: SimpleNamespace) -> int:
    """Start a run with ``chain run FILE --on TARGET``; return the exit code."""
    with connect(args) as client:
        made = client.chain_runs.start(
            args.on,
            **what_to_run(args, client),
            rollout=rollout_of(args),
            client_token=args.token or "",
        )
        left_out = [one for one in client.systems.resolve(args.on) if one not in made["systems"]]
        return follow_started(args, client, made, left_out)


def follow_started(
    args: SimpleNamespace, client: Client, made: Mapping[str, Any], left_out: list[str]
) -> int:
    """Name the run that was started, and show it until it ends, unless that is not wanted."""
    if args.detach:
        print(made["run"])
        return exits.OK
    print(f"saltern: run {made['run']} on {count(len(made['systems']), 'system')}", file=sys.stderr)
    return follow_run(args, client, made["run"], left_out)


def _watch(args: SimpleNamespace, client: Client) -> int:
    return follow_run(args, client, args.words[0], [], patient=True)


def follow_run(
    args: SimpleNamespace, client: Client, run: str, left_out: list[str], *, patient: bool = False
) -> int:
    """Show the run until it ends, or waits for people or for systems that are away."""
    from saltern.system.signals import end_in_order

    end_in_order()
    screen = _Screen(args, lambda: client.chain_runs.get(run))
    try:
        while True:
            matrix = client.chain_runs.matrix(run)
            screen.show(matrix)
            if chain_matrix.is_over(matrix) or (not patient and _rests(matrix)):
                break
            time.sleep(LOOK)
    except KeyboardInterrupt:
        screen.leave()
        print(f"saltern: the run continues; `saltern chain watch {run}` shows it again", file=sys.stderr)
        return exits.INTERRUPTED
    screen.leave()
    if away := chain_matrix.only_away(matrix):
        print(f"saltern: away: {', '.join(away[:10])}; they start when they are back", file=sys.stderr)
    return _print_end(args, client, run, left_out)


def _rests(matrix: dict[str, Any]) -> bool:
    """True if the run waits for people, or for systems that are away."""
    stopped = matrix["status"] in ("halted", "paused", "awaiting approval")
    at_work = any(row["status"] in WORKING and not row["away"] for row in matrix["rows"])
    return (stopped and not at_work) or bool(chain_matrix.only_away(matrix)) or _all_paused(matrix)


def _all_paused(matrix: dict[str, Any]) -> bool:
    left = [row for row in matrix["rows"] if row["status"] not in chain_matrix.OVER]
    return bool(left) and all(row["status"] == "paused" for row in left)


WORKING = ("queued", "delivered", "running", "rebooting", "updating", "waiting")


class _Screen:
    """The matrix at the bottom of a terminal; without one, a line for each change of a system's status."""

    def __init__(self, args: SimpleNamespace, look: Callable[[], dict[str, Any]]) -> None:
        self._look = look
        self._looked: object = None  # the matrix that was shown last
        self._below: list[str] = []
        self._live = sys.stderr.isatty() and args.out == "nested"
        self._lines = 0
        self._seen: dict[str, str] = {}
        self._said = ""

    def show(self, matrix: dict[str, Any]) -> None:
        if self._live:
            self._draw(matrix)
            return
        if (said := f"{matrix['status']}: {matrix['why']}".removesuffix(": ")) != self._said:
            print(f"saltern: {said}", file=sys.stderr)
            self._said = said
        for system, state in chain_matrix.changes(self._seen, matrix):
            print(f"saltern: {system}: {state}", file=sys.stderr)
            self._seen[system] = state

    def _draw(self, matrix: dict[str, Any]) -> None:
        import shutil

        size = shutil.get_terminal_size()
        plain = (sys.stderr.encoding or "").lower() not in ("utf-8", "utf8")
        lines = chain_matrix.matrix_lines(
            matrix,
            width=size.columns,
            height=size.lines - 2,  # some terminals keep what is erased from the first line on
            colour=True,
            plain=plain,
            below=self._to_know(matrix),
        )
        self._clear()
        print("\n".join(lines), file=sys.stderr, flush=True)
        self._lines = len(lines)

    def _to_know(self, matrix: dict[str, Any]) -> list[str]:
        """Why systems failed or are away, and what to do; fetched only when one of these is new."""
        about = (matrix["status"], matrix["why"], chain_matrix.needs_look(matrix))
        if about != self._looked:
            self._below = chain_run.look_lines(self._look(), time.time())
            self._looked = about
        return self._below

    def _clear(self) -> None:
        if self._lines:
            print(f"\x1b[{self._lines}A\x1b[J", end="", file=sys.stderr)

    def leave(self) -> None:
        """Erase the matrix: the final output takes its place."""
        self._clear()
        self._lines = 0


def _print_end(args: SimpleNamespace, client: Client, run: str, left_out: list[str]) -> int:
    from saltern.fleet.view.chain_legs import NOTHING

    shown = client.chain_runs.get(run)
    legs = {leg["system"]: leg for leg in client.chain_runs.legs(run)}
    if args.out != "nested":
        _data(args, {**legs, **{one: {"status": "", "steps": []} for one in left_out}})
    else:
        _print_legs(args, shown, legs)
        for one in left_out:
            print(f"{one}: {NOTHING}")
        print(chain_matrix.count_statuses(shown["legs"]))
        for line in chain_run.advice(shown):
            print(f"saltern: {line}", file=sys.stderr)
    return CODES.get(shown["status"], exits.FAILED)


def _print_legs(args: SimpleNamespace, shown: dict[str, Any], legs: dict[str, Any]) -> None:
    print("\n".join(chain_run.grouped_legs(list(legs.values()), _options(args).width)))
    if shown["why"]:
        print(shown["why"])


# -- show ---------------------------------------------------------------------------------------------


def _show(args: SimpleNamespace, client: Client) -> int:
    run, *system = args.words
    if system:
        leg = client.chain_runs.leg(run, system[0])
        return _print(args, leg, lambda _options: list(chain_run.leg_lines(leg, time.time())))
    shown = client.chain_runs.get(run)
    return _print(
        args,
        shown,
        lambda options: list(
            chain_run.run_lines(shown, time.time(), colour=bool(options.colour), width=options.width)
        ),
    )


def _matrix(args: SimpleNamespace, client: Client) -> int:
    found = client.chain_runs.matrix(args.words[0])
    return _print(
        args,
        found,
        lambda options: chain_matrix.matrix_lines(
            found, width=options.width or WIDE, colour=bool(options.colour)
        ),
    )


def _log(args: SimpleNamespace, client: Client) -> int:
    from saltern.cli.chain_log import show_log

    return show_log(args, client)


def _runs(args: SimpleNamespace, client: Client) -> int:
    rows = list(client.chain_runs.list(chain=args.words[0] if args.words else ""))
    return _print(args, rows, lambda _options: list(chain_run.list_lines(rows, time.time())))


def _print(args: SimpleNamespace, value: Any, lines: Callable[[OutputOptions], list[str]]) -> int:
    if args.out == "nested":
        print("\n".join(lines(_options(args))))
        return exits.OK
    return _data(args, value)


def _options(args: SimpleNamespace) -> OutputOptions:
    return options_for(sys.stdout, colour=args.color, label="")


def _data(args: SimpleNamespace, value: object) -> int:
    write_data(value, sys.stdout, _options(args), args.out)
    return exits.OK


# -- orders -------------------------------------------------------------------------------------------


def _order(args: SimpleNamespace, client: Client) -> int:
    run, *step = args.words
    changed = client.chain_runs.order(
        run,
        args.verb,
        systems=args.system or [],
        waves=[_number(one) for one in args.wave or []],
        step=step[0] if step else "",
        reason=args.reason or "",
        hard=bool(args.now),
        despite_failures=args.despite_failures,
        inputs=given_inputs(args, {"": Input()} if args.input else {}),  # the controller reads them
    )
    if args.out != "nested":
        return _data(args, changed)
    for name, what in changed.items():
        print(f"{name}: {what}")
    if not changed:
        print(f"nothing was changed; the status of the run is {client.chain_runs.get(run)['status']}")
    return exits.OK


def _number(text: str) -> int:
    if not text.isdigit():
        what = f"--wave {text!r} is not a number"
        raise OperationError(Diagnostic(code="option-shape", what=what, fix="waves are numbered from 1"))
    return int(text)


def _vote(args: SimpleNamespace, client: Client) -> int:
    """Send a vote, bound to the plan that the controller shows now."""
    run, *named = args.words
    shown = client.chain_runs.get(run)
    opened = {gate["gate"]: gate for gate in shown["gates"] if gate["status"] == "open"}
    gate = named[0] if named else _waited_gate(shown, list(opened))
    if not gate:
        what = f"no gate of {run} is open"
        raise OperationError(Diagnostic(code="chain-gate", what=what, fix=f"saltern chain show {run}"))
    voted = client.chain_runs.vote(
        run,
        gate,
        approves=args.verb == "approve",
        plan_sha256=_reviewed_digest(args.plan, opened.get(gate, shown)["plan_sha256"]),
        reason=args.reason or "",
    )
    print(f"gate {voted['gate']}: {voted['status']}")
    return exits.OK


def _reviewed_digest(given: str | None, digest: str) -> str:
    """The digest of the reviewed plan, which may be given by at least its first 8 characters."""
    if given and not (len(given) >= SHORT and digest.startswith(given)):
        what = f"the vote is for another plan: that of the run is {digest}"
        fix = "look at it, with `saltern chain show` or `saltern chain plan show`, before you vote"
        raise OperationError(Diagnostic(code="chain-gate", what=what, fix=fix))
    return digest


def _waited_gate(shown: dict[str, Any], opened: list[str]) -> str:
    """The gate that the run waits for now; otherwise the first open gate."""
    said = [shown["why"], *(leg["waits_for"] for leg in shown["legs"])]
    waited = [gate for gate in opened if any(repr(gate) in text for text in said)]
    return next(iter((*waited, *opened)), "")


def _callbacks(name: str) -> Callable[[SimpleNamespace, Client], int]:
    """A verb about subscriptions, imported when it is used."""

    def work(args: SimpleNamespace, client: Client) -> int:
        from saltern.cli import chain_subscriptions

        found: int = getattr(chain_subscriptions, name)(args, client)
        return found

    return work


VERBS: dict[str, Verb] = {
    "watch": Verb(_watch, "one run"),
    "show": Verb(_show, "one run, and a system for its actions", 1, 2),
    "status": Verb(_show, "one run, and a system for its actions", 1, 2),
    "matrix": Verb(_matrix, "one run"),
    "log": Verb(_log, "one run, a system of it, and an action there", 1, 3),
    "runs": Verb(_runs, "nothing, or the name of a chain", 0, 1),
    "pause": Verb(_order, "one run"),
    "resume": Verb(_order, "one run"),
    "cancel": Verb(_order, "one run"),
    "retry": Verb(_order, "one run, and an action to begin with", 1, 2),
    "skip": Verb(_order, "a run and an action", 2, 2),
    "done": Verb(_order, "a run and an action", 2, 2),
    "release": Verb(_order, "one run"),
    "unlock": Verb(_order, "one run"),
    "approve": Verb(_vote, "one run, and a gate of it", 1, 2),
    "reject": Verb(_vote, "one run, and a gate of it", 1, 2),
    "subscribe": Verb(_callbacks("subscribe"), "a name for it"),
    "subscriptions": Verb(_callbacks("show_subscriptions"), "nothing, or the name of one", 0, 1),
    "unsubscribe": Verb(_callbacks("unsubscribe"), "its name"),
    "redeliver": Verb(_callbacks("redeliver"), "its name"),
}
OF_RUNS = frozenset(
    name for name, verb in VERBS.items() if verb.work in (_watch, _show, _matrix, _log, _order, _vote)
)
