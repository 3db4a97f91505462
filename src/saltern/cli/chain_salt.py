"""``saltern chain run FILE --via salt``: run a chain on the minions of this machine's Salt master.

One job for all minions starts the chain; progress is read from the event bus of the master. Each
minion keeps the journal of its leg, so nothing is lost if this command ends.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

from msgspec import json

from saltern.chains.document import Chain, read_chain
from saltern.chains.over_salt import SaltRun
from saltern.chains.statuses import Run
from saltern.cli import exits
from saltern.cli.chain_file import read_text
from saltern.cli.chain_inputs import given_inputs
from saltern.fleet.view.words import count
from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.migration.salt_run import SaltRunner
from saltern.system import clock
from saltern.system.run_numbers import run_number
from saltern.system.signals import end_in_order

NAME = "salt-"
PROGRESS = {
    "action-finished": "{action} {status}",
    "minion-started": "the minion has started again",
    "asked-again": "it was idle, and was asked again",
}
CODES = {
    Run.SUCCEEDED: exits.OK,
    Run.RUNNING: exits.INTERRUPTED,
}


def run_via_salt(args: SimpleNamespace) -> int:
    """Run a chain verb over a Salt master; return the exit code."""
    if args.verb not in VERBS:
        what = f"saltern chain {args.verb} does not take --via salt"
        fix = f"the verbs with --via salt are {', '.join(VERBS)}"
        raise OperationError(Diagnostic(code="option-shape", what=what, fix=fix))
    least, do = VERBS[args.verb]
    if len(args.words) < least:
        what = f"saltern chain {args.verb} --via salt needs more words"
        fix = "name a chain file, or the run that `saltern chain runs --via salt` lists"
        raise OperationError(Diagnostic(code="option-shape", what=what, fix=fix))
    return do(args, SaltRunner(args.salt_run, args.salt_config))


# -- a new run ----------------------------------------------------------------------------------------


def _run(args: SimpleNamespace, runner: SaltRunner) -> int:
    text = read_text(args.words[0])
    specs = read_chain(text, args.words[0]).inputs
    if secret := [name for name, one in specs.items() if one.secret]:
        what = f"the chain has the secret input {secret[0]!r}, which the job cache of the master would store"
        raise OperationError(Diagnostic(code="chain-secret", what=what, fix="put it in the pillar"))
    inputs = given_inputs(args, specs)
    chain = read_chain(text, args.words[0], inputs)
    run = SaltRun(args.token or f"{NAME}{run_number(clock.now())}", chain, _systems(args, chain, runner))
    order = {"run": run.run, "text": text, "inputs": inputs, "systems": run.systems}
    print(f"saltern: run {run.run} on {count(len(run.systems), 'system')}", file=sys.stderr)
    with tempfile.TemporaryDirectory(prefix="saltern-") as folder:
        path = os.path.join(folder, "order.json")
        with open(path, "wb") as file:
            file.write(json.encode({**order, "wait": float(args.wait or 0)}))
        return _follow(args, run, lambda: runner.follow("chain_run", path))


def _systems(args: SimpleNamespace, chain: Chain, runner: SaltRunner) -> list[str]:
    """The minions that have actions: of ``--on``, or of the file."""
    if args.on is None and not any(action.among or action.targets for action in chain.actions):
        what, fix = f"the chain {chain.name!r} names no systems", "choose minions with --on TARGET"
        raise OperationError(Diagnostic(code="chain-empty", what=what, fix=fix))
    target = "*" if args.on is None else args.on
    known = runner.ask("minions", target)
    meant = [one for one in known if any(action.meant_for(one) for action in chain.actions)]
    if not meant:
        what = f"no action of the chain {chain.name!r} is for a minion of {target!r}"
        fix = "`salt-key -l accepted` lists the minions of this master"
        raise OperationError(Diagnostic(code="chain-empty", what=what, fix=fix))
    return meant


def _follow(args: SimpleNamespace, run: SaltRun, rows: Callable[[], Iterator[dict[str, Any]]]) -> int:
    """Show the run until it ends, or until only minions are left that do not answer."""
    end_in_order()
    try:
        for row in rows():
            before = set(run.away)
            run.note(row)
            _progress(args, row, sorted(run.away - before))
    except KeyboardInterrupt:
        print(f"saltern: the run continues; {_again('status', run.run)} shows it", file=sys.stderr)
        return exits.INTERRUPTED
    if run.away:
        away = ", ".join(sorted(run.away)[:10])
        print(f"saltern: away: {away}; {_again('resume', run.run)} asks them again", file=sys.stderr)
    return _print(args, run)


def _again(verb: str, run: str) -> str:
    return f"`saltern chain {verb} {run} --via salt`"


def _progress(args: SimpleNamespace, row: dict[str, Any], away: list[str]) -> None:
    """Show a new event; ``away`` are the systems that it shows to be away."""
    if args.out == "jsonl":
        print(json.encode(row).decode(), flush=True)
        return
    lines = [f"{system}: no answer" for system in away]
    if row["event"] in PROGRESS:
        lines.append(f"{row['system']}: {PROGRESS[row['event']].format_map(row)}")
    for line in lines:
        print(line, file=sys.stderr, flush=True)


def _print(args: SimpleNamespace, run: SaltRun) -> int:
    from saltern.fleet.view import chain_matrix, chain_run

    if args.out == "nested":
        print(f"run {run.run}: {run.status().value}")
        for line in chain_run.grouped_legs(run.legs(), 100):
            print(line)
        print(chain_matrix.count_statuses(run.legs()))
    elif args.out == "jsonl":
        print(json.encode({"event": "run", **run.as_data()}).decode())
    else:
        print(json.encode(run.as_data()).decode())
    return CODES.get(run.status(), exits.FAILED)


# -- a run that was started ---------------------------------------------------------------------------


def _read_run(args: SimpleNamespace, runner: SaltRunner, *, ask: bool) -> SaltRun:
    """A run from the master's job cache; ``ask``: also ask the minions that have not ended it."""
    name = args.words[0]
    found = runner.ask("chain_show", name, f"ask={ask}")
    run = SaltRun(name, read_chain(found["text"], name, found["inputs"] or {}), list(found["legs"]))
    for system, leg in found["legs"].items():
        run.learn(system, leg)
    return run


def _status(args: SimpleNamespace, runner: SaltRunner) -> int:
    if not args.words:
        return _runs(args, runner)
    return _print(args, _read_run(args, runner, ask=True))


def _runs(args: SimpleNamespace, runner: SaltRunner) -> int:
    found = runner.ask("chains")
    if args.out != "nested":
        print(json.encode(found).decode())
        return exits.OK
    for one in found:
        print(f"{one['run']:<28}{one['started']:<30}{', '.join(one['systems'])}")
    return exits.OK


def _resume(args: SimpleNamespace, runner: SaltRunner) -> int:
    run = _read_run(args, runner, ask=False)
    chosen = [f"systems={json.encode(args.system).decode()}"] if args.system else []
    words = [run.run, *chosen, f"wait={float(args.wait or 0)}"]
    return _follow(args, run, lambda: runner.follow("chain_resume", *words))


def _order(args: SimpleNamespace, runner: SaltRunner) -> int:
    """Give an order to all systems of a run, or to those of ``--system``."""
    words = [args.words[0], f"chain_{args.verb}"]
    words += [f"systems={json.encode(args.system).decode()}"] if args.system else []
    words += [f"action={args.words[1]}"] if args.verb in ("skip", "done") else []
    words += [f"reason={json.encode(args.reason).decode()}"] if args.reason else []
    words += ["now=True"] if args.verb == "cancel" and args.now else []
    answers = runner.ask("chain_order", *words)
    run = _read_run(args, runner, ask=True)
    for system, leg in answers.items():
        if isinstance(leg, dict) and "steps" in leg:
            run.learn(system, leg)
        else:
            print(f"saltern: {system}: {leg}", file=sys.stderr)
    return _print(args, run)


VERBS: dict[str, tuple[int, Callable[[SimpleNamespace, SaltRunner], int]]] = {
    "run": (1, _run),
    "status": (0, _status),
    "runs": (0, _runs),
    "resume": (1, _resume),
    "retry": (1, _order),
    "pause": (1, _order),
    "cancel": (1, _order),
    "skip": (2, _order),
    "done": (2, _order),
    "release": (1, _order),
}
