"""Hand over to another build: switch the link, replace this process, continue the run.

The proof is the running build: its version, in its slot. A process that finds the update open and is not the
wanted build switches and tries again, at most ``MOST_TRIES`` times; a mark of the watchdog says that the
build did not start.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import saltern
from saltern.config.settings import WITHIN
from saltern.durable.barriers.records import Body, append_record, open_barriers
from saltern.journal.run_state import RunState
from saltern.journal.runs import Runs
from saltern.system import build_slots, own_program
from saltern.system.boot import process_start
from saltern.system.faults import point
from saltern.system.own_files import were_replaced

MOST_TRIES = 3


def open_update(state: RunState) -> Body | None:
    return next(iter(open_barriers(state, "update")), None)


def switch_build(runs: Runs, jid: str) -> RunState:
    """Point the link at the new build, after the intent is durable and the watchdog runs."""
    state = runs.state(jid)
    body = open_update(state)
    if body is None:
        return state
    point("update.arming")
    state = append_record(runs, jid, state, "armed", {"kind": "update", "pid": os.getpid()})
    if body["ask"].get("in_place"):  # the files were replaced: nothing to switch or to restore
        return state
    root, slot = str(body["ask"]["slots"]), str(body["ask"]["slot"])
    build_slots.mark(root, build_slots.UPDATING, jid)
    point("update.marked")
    if build_slots.in_use(root) != slot:
        build_slots.point_at(root, "previous", build_slots.in_use(root) or sys.prefix)
    _start_watchdog(runs, jid, body)
    point("update.watched")
    os.sync()  # after a power loss, a build that is not on disk must not start
    build_slots.point_at(root, "current", slot)
    point("update.switched")
    return state


def take_over(runs: Runs, jid: str, again: Sequence[str]) -> RunState:
    """The state of the journal, once this is the wanted build, or the takeover has failed.

    Otherwise this does not return: the process becomes the wanted build.
    """
    state = runs.state(jid)
    body = open_update(state)
    if body is None:
        return state
    if body["ask"].get("in_place"):
        return _take_over_in_place(runs, jid, body, again)
    root, slot = str(body["ask"]["slots"]), str(body["ask"]["slot"])
    failure = build_slots.read_mark(root, build_slots.ROLLED_BACK)
    if failure is not None and failure.jid == jid:
        return _close_update(runs, jid, state, root, failure.why or "the new build did not start")
    if build_slots.running_in(root, slot) and saltern.__version__ == body["ask"]["to"]:
        return _close_update(runs, jid, state, root, "")
    if not _has_switched(body, root, slot):
        if len(body["armed"]) >= MOST_TRIES:
            return _roll_back(
                runs, jid, state, root, f"the new build was started {MOST_TRIES} times without success"
            )
        state = switch_build(runs, jid)
    problem = _exec_build(build_slots.python_of(root), jid, again)
    return _roll_back(runs, jid, state, root, problem)


def _take_over_in_place(runs: Runs, jid: str, body: Body, again: Sequence[str]) -> RunState:
    """Take over after the program's files were replaced: a process that has read the new files is proof."""
    if not were_replaced():
        return _close_update(runs, jid, runs.state(jid), "", "")
    if len(body["armed"]) >= MOST_TRIES:
        why = f"the new build was started {MOST_TRIES} times without success"
        return _close_update(runs, jid, runs.state(jid), "", why)
    switch_build(runs, jid)
    return _close_update(runs, jid, runs.state(jid), "", _exec_build(sys.executable, jid, again))


def _has_switched(body: Body, root: str, slot: str) -> bool:
    """True if this process has switched, so that a watchdog watches it."""
    return (
        bool(body["armed"]) and body["armed"][-1]["pid"] == os.getpid() and build_slots.in_use(root) == slot
    )


def _exec_build(python: str, jid: str, again: Sequence[str]) -> str:
    """Replace this process with the new program; return the reason if it cannot be started."""
    is_ours = python == sys.executable
    make = own_program.environment if is_ours else own_program.environment_of_another
    env = make(without=(WITHIN,))
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    point("update.become")
    try:
        os.execve(python, own_program.continuation(jid, again, python=python), env)
    except OSError as problem:
        return f"the new build cannot be started: {python}: {problem.strerror}"


def _roll_back(runs: Runs, jid: str, state: RunState, root: str, why: str) -> RunState:
    """Point the link at the previous build, and record why."""
    back = os.path.join(root, "previous")
    if os.path.islink(back):
        build_slots.point_at(root, "current", os.readlink(back))
    return _close_update(runs, jid, state, root, why)


def _close_update(runs: Runs, jid: str, state: RunState, root: str, why: str) -> RunState:
    point("update.proven")
    now = {"version": saltern.__version__, "prefix": sys.prefix}
    state = append_record(runs, jid, state, "crossed", {"kind": "update", "why": why, "now": now})
    point("update.crossed")
    if root:
        build_slots.unmark(root)
    return state


def _start_watchdog(runs: Runs, jid: str, body: Body) -> None:
    """Start the watchdog outside of our session, and of our systemd unit: it must outlive us."""
    import subprocess

    ask = body["ask"]
    words = [
        *("--state-dir", os.path.abspath(os.path.dirname(runs.folder)), "--run", jid),
        *("--pid", str(os.getpid()), "--started", process_start(os.getpid())),
        *("--slots", str(ask["slots"]), "--deadline", str(ask["deadline"])),
    ]
    command = own_program.command("saltern.durable.barriers.watchdog", words)
    if os.path.isdir("/run/systemd/system"):
        command = ["systemd-run", "--quiet", "--collect", *command]
    env = own_program.environment(without=(WITHIN,))
    child = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        cwd="/",
        env=env,
    )
    child.returncode = 0  # do not wait for it
