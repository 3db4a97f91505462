"""The other build takes over: the link is switched, this process becomes the new program, the run continues.

The proof is what runs: its own version, in its own slot. Whoever finds the update open and is not the
wanted build switches and tries again, at most ``MOST_TRIES`` times; a mark of the watchdog says that the
build did not come up.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import saltern
from saltern.config.settings import WITHIN
from saltern.durable.barriers.records import Body, opened, write
from saltern.journal.fold import RunState
from saltern.journal.runs import Runs
from saltern.system import build_slots, own_program
from saltern.system.faults import point
from saltern.system.own_files import were_replaced

MOST_TRIES = 3


def open_update(state: RunState) -> Body | None:
    return next(iter(opened(state, "update")), None)


def switch(runs: Runs, jid: str) -> RunState:
    """The intent is durable; from here on, whoever starts is the new build. The watchdog comes first."""
    state = runs.state(jid)
    body = open_update(state)
    if body is None:
        return state
    point("update.arming")
    state = write(runs, jid, state, "armed", {"kind": "update", "pid": os.getpid()})
    if body["ask"].get("in_place"):  # what was there before is gone: nothing to switch, nothing to go back to
        return state
    root, slot = str(body["ask"]["slots"]), str(body["ask"]["slot"])
    build_slots.mark(root, build_slots.UPDATING, jid)
    point("update.marked")
    if build_slots.in_use(root) != slot:
        build_slots.point_at(root, "previous", build_slots.in_use(root) or sys.prefix)
    _watch(runs, jid, body)
    point("update.watched")
    os.sync()  # a build that is not on disk must not be what starts after a power loss
    build_slots.point_at(root, "current", slot)
    point("update.switched")
    return state


def taken_over(runs: Runs, jid: str, onward: Sequence[str]) -> RunState:
    """What the journal says, once this is the wanted build, or it is known that there will be none.

    Else it does not return: the process becomes the wanted build.
    """
    state = runs.state(jid)
    body = open_update(state)
    if body is None:
        return state
    if body["ask"].get("in_place"):
        return _replaced(runs, jid, body, onward)
    root, slot = str(body["ask"]["slots"]), str(body["ask"]["slot"])
    failure = build_slots.marked(root, build_slots.ROLLED_BACK)
    if failure is not None and failure.jid == jid:
        return _closed(runs, jid, state, root, failure.why or "the new build did not come up")
    if build_slots.running_in(root, slot) and saltern.__version__ == body["ask"]["to"]:
        return _closed(runs, jid, state, root, "")
    if not _is_ours(body, root, slot):
        if len(body["armed"]) >= MOST_TRIES:
            return _given_up(
                runs, jid, state, root, f"the new build was started {MOST_TRIES} times without success"
            )
        state = switch(runs, jid)
    problem = _become(build_slots.python_of(root), jid, onward)
    return _given_up(runs, jid, state, root, problem)


def _replaced(runs: Runs, jid: str, body: Body, onward: Sequence[str]) -> RunState:
    """The files were replaced under the process that asked. Whoever has read what is there now is proof."""
    if not were_replaced():
        return _closed(runs, jid, runs.state(jid), "", "")
    if len(body["armed"]) >= MOST_TRIES:
        why = f"the new build was started {MOST_TRIES} times without success"
        return _closed(runs, jid, runs.state(jid), "", why)
    switch(runs, jid)
    return _closed(runs, jid, runs.state(jid), "", _become(sys.executable, jid, onward))


def _is_ours(body: Body, root: str, slot: str) -> bool:
    """This process has switched, and a watchdog looks at it."""
    return (
        bool(body["armed"]) and body["armed"][-1]["pid"] == os.getpid() and build_slots.in_use(root) == slot
    )


def _become(python: str, jid: str, onward: Sequence[str]) -> str:
    """This process is the new program from here on; why not, if it cannot even be started."""
    env = own_program.environment(without=(WITHIN,))
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    point("update.become")
    try:
        os.execve(python, own_program.command("saltern", ("resume", jid, *onward), python=python), env)
    except OSError as problem:
        return f"the new build cannot be started: {python}: {problem.strerror}"


def _given_up(runs: Runs, jid: str, state: RunState, root: str, why: str) -> RunState:
    back = os.path.join(root, "previous")
    if os.path.islink(back):
        build_slots.point_at(root, "current", os.readlink(back))
    return _closed(runs, jid, state, root, why)


def _closed(runs: Runs, jid: str, state: RunState, root: str, why: str) -> RunState:
    point("update.proven")
    now = {"version": saltern.__version__, "prefix": sys.prefix}
    state = write(runs, jid, state, "crossed", {"kind": "update", "why": why, "now": now})
    point("update.crossed")
    if root:
        build_slots.unmark(root)
    return state


def _watch(runs: Runs, jid: str, body: Body) -> None:
    """Outside of our session and, with systemd, of our unit: it must outlive us."""
    import subprocess

    from saltern.system.boot import process_start

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
    child.returncode = 0  # nobody waits for it
