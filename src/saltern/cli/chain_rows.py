"""The options of `saltern chain` that are about many systems, and the rollout that they describe."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from saltern.cli.arguments import Row
from saltern.language.diagnostics import Diagnostic, OperationError

ACROSS = "rollout over many systems (with --on)"


def _row(flag: str, metavar: str, about: str) -> Row:
    return Row(flag=flag, dest=flag[2:].replace("-", "_"), metavar=metavar, group=ACROSS, help=about)


def _on(flag: str, about: str) -> Row:
    dest = flag[2:].replace("-", "_")
    return Row(flag=flag, dest=dest, kind="on", default=False, group=ACROSS, help=about)


ACROSS_ROWS: tuple[Row, ...] = (
    _row("--waves", "LIST", "sizes of the waves: 1,10%%,rest; the last size is repeated"),
    _row("--canary", "AMOUNT", "AMOUNT systems first, then the rest: short for --waves AMOUNT,rest"),
    _row("--max-in-flight", "AMOUNT", "work on at most AMOUNT systems at a time (a number or a percentage)"),
    _row("--max-failures", "AMOUNT", "stop the run when strictly more than AMOUNT systems have failed"),
    _row("--max-unavailable", "AMOUNT", "work on at most AMOUNT systems of each group at a time"),
    _row("--group-by", "GRAIN", "the grain by which systems are grouped for --max-unavailable"),
    _row("--quorum", "AMOUNT", "a wave ends when AMOUNT of its systems have succeeded, whatever the rest do"),
    _row("--soak", "SECONDS", "wait SECONDS after each wave before the next begins"),
    _row(
        "--health",
        "COMMAND",
        "after each wave and its soak, run COMMAND on its systems; exit code 0 is healthy",
    ),
    _row(
        "--health-check", "NAME", "after each wave and its soak, have the controller run its own check NAME"
    ),
    _row(
        "--health-failures",
        "AMOUNT",
        "stop when the check fails on strictly more than AMOUNT systems (default: 0)",
    ),
    _row("--leg-time", "SECONDS", "the longest time that one system may take"),
    _row("--deadline", "SECONDS", "the longest time that the whole run may take (default: a day)"),
    _row("--grace", "SECONDS", "how long to wait for a system that exceeds its time (default: 600)"),
    _row("--on-halt", "WORD", "when the run halts, running systems finish (finish) or pause (pause)"),
    _on("--count-away", "count systems that are away as failed"),
    _row("--order", "WORD", "the order of the systems: name, reverse or random"),
    _row("--reachable", "AMOUNT", "begin when AMOUNT of the systems are connected"),
    _row(
        "--autonomy",
        "WORD",
        "how far a system works without its controller: full, per_segment, per_step",
    ),
    _row(
        "--outside-window",
        "WORD",
        "when a window is over, or too short for the next action: wait (default) or fail",
    ),
    _row(
        "--retry",
        "N[:SECONDS]",
        "retry systems that failed N times, SECONDS later (default: 60), then twice that …",
    ),
    _on("--lockstep", "all systems of a wave finish an action before any begins the next"),
    _row("--approvals", "N[:GROUP]", "wait until N people (of GROUP) have approved the run"),
    _row("--wave-approvals", "N[:GROUP]", "each wave after the first waits for approvals"),
    Row(
        flag="--step-approvals",
        dest="step_approvals",
        kind="list",
        metavar="ACTION=N[:GROUP][@wave|@leg]",
        group=ACROSS,
        help="wait for approvals before an action: once for each run, wave or system; repeatable",
    ),
    _row("--rollout", "FILE", "read all these settings, and stages, from a YAML file"),
    Row(
        flag="--wave",
        dest="wave",
        kind="list",
        metavar="NUMBER",
        group=ACROSS,
        help="pause, resume, cancel, retry …: only the systems of this wave; repeatable",
    ),
    _on("--despite-failures", "resume a run that halted because too many systems failed"),
)
ACROSS_DESTS = tuple(row.dest for row in ACROSS_ROWS)
CALLBACKS = "who is notified (subscribe)"
SUBSCRIBE_ROWS: tuple[Row, ...] = (
    Row(
        flag="--webhook",
        dest="webhook",
        metavar="URL",
        group=CALLBACKS,
        help="send signed requests to this address",
    ),
    Row(flag="--mail", dest="mail", metavar="ADDRESS", group=CALLBACKS, help="send mails to this mailbox"),
    Row(
        flag="--event",
        dest="event",
        kind="list",
        metavar="NAME",
        group=CALLBACKS,
        help="events to send, such as run.failed, leg.*; repeatable (default: run.* and gate.open)",
    ),
    Row(
        flag="--chain",
        dest="of_chain",
        kind="list",
        metavar="CHAIN",
        group=CALLBACKS,
        help="only events of this chain; repeatable",
    ),
    Row(
        flag="--key-file",
        dest="key_file",
        metavar="FILE",
        group=CALLBACKS,
        help="the key of the signatures; without it, a key is generated and printed once",
    ),
)
VIA = "over a Salt master (with --via salt)"
SALT_ROWS: tuple[Row, ...] = (
    Row(
        flag="--via",
        dest="via",
        metavar="WAY",
        choices=("salt",),
        group=VIA,
        help="salt: run, status, runs and orders go through the Salt master of this machine",
    ),
    Row(
        flag="--salt-config",
        dest="salt_config",
        metavar="DIR",
        default="/etc/salt",
        group=VIA,
        help="the directory of the master's configuration (default: /etc/salt)",
    ),
    Row(
        flag="--salt-run",
        dest="salt_run",
        metavar="PROGRAM",
        default="",
        group=VIA,
        help="the salt-run to ask (default: the one in PATH)",
    ),
)
MANY_ROWS = (*ACROSS_ROWS, *SUBSCRIBE_ROWS, *SALT_ROWS)
AMOUNTS = ("canary", "max_in_flight", "max_failures", "max_unavailable", "quorum", "reachable")
PLAIN = ("group_by", "on_halt", "order", "autonomy", "outside_window")
SECONDS = ("soak", "leg_time", "deadline", "grace")
FLAGS = ("count_away", "lockstep")
GATES = {"approvals": "gate", "wave_approvals": "wave_gate"}


def rollout_of(args: SimpleNamespace) -> dict[str, Any]:
    """The rollout that the options and the file describe; an option overrides the file."""
    found: dict[str, Any] = _file(args.rollout) if args.rollout else {}
    found |= {name: value for name in AMOUNTS if (value := getattr(args, name)) is not None}
    found |= {name: _seconds(name, value) for name in SECONDS if (value := getattr(args, name)) is not None}
    found |= {name: True for name in FLAGS if getattr(args, name)}
    found |= {name: value for name in PLAIN if (value := getattr(args, name)) is not None}
    found |= {GATES[name]: _gate(name, value) for name in GATES if (value := getattr(args, name)) is not None}
    if args.step_approvals:
        found["step_gates"] = [_step_gate(value) for value in args.step_approvals]
    if args.retry is not None:
        found["retry"] = _retry(args.retry)
    if args.health is not None:
        found["health"] = {"command": args.health, "max_failures": args.health_failures or 0}
    if args.health_check is not None:
        found["health"] = {"check": args.health_check}
    if args.waves is not None:
        found["waves"] = [part.strip() for part in args.waves.split(",")]
    return found


def _file(path: str) -> dict[str, Any]:
    from saltern.config.files import mapping

    return {str(key): value for key, value in mapping(path).items()}


def _seconds(name: str, value: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise _wrong(name, value, "give a number of seconds") from None


def _gate(name: str, value: str) -> dict[str, Any]:
    number, _, group = value.partition(":")
    if not number.isdigit():
        raise _wrong(name, value, "write it as 2 or as 2:GROUP")
    return {"needed": int(number), "of": group}


def _retry(value: str) -> dict[str, Any]:
    times, _, wait = value.partition(":")
    if not times.isdigit():
        raise _wrong("retry", value, "write it as 2 or as 2:300")
    return {"times": int(times), **({"wait": _seconds("retry", wait)} if wait else {})}


def _step_gate(value: str) -> dict[str, Any]:
    action, _, rest = value.rpartition("=")
    asked, _, per = rest.partition("@")
    if not action or per not in ("", "run", "wave", "leg"):
        raise _wrong("step_approvals", value, "write it as ACTION=2:GROUP or ACTION=1@leg")
    return {"action": action, "per": per or "run", **_gate("step_approvals", asked)}


def _wrong(name: str, value: str, fix: str) -> OperationError:
    what = f"--{name.replace('_', '-')} {value!r} is not understood"
    return OperationError(Diagnostic(code="option-shape", what=what, fix=fix))
