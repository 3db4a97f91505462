"""``system.transaction``: changes in a new snapshot of the root, which the next boot uses."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256

from msgspec import Struct
from msgspec.structs import replace

from saltern.config.settings import state_directory
from saltern.language.diagnostics import CompileError
from saltern.language.result import Outcome, Result, failed, ok, would_change
from saltern.modules.api.commands import Done, Options, execute
from saltern.modules.api.context import Context
from saltern.modules.api.declare import state
from saltern.modules.api.refused import Refused
from saltern.modules.lib.boots.snapshot_states import Wanted, apply_inside, start_command
from saltern.system import atomic, faults
from saltern.system.private import make_private
from saltern.system.regular import read_regular
from saltern.system.snapshots import Snapshots, current, is_inside

SHELL = "/bin/sh"  # the one in the snapshot
NO_SNAPSHOTS = "the root of this machine is not a bootable snapshot"
DROPPED = "its snapshot was dropped, and nothing has changed"


class Work(Struct, frozen=True, kw_only=True):
    """The work in the snapshot: ``do`` returns its result, and whether it has changed anything as far as
    it knows. ``look`` is the result in test mode."""

    idle: str  # the beginning of the comment if nothing has changed
    do: Callable[[str], tuple[Result, bool]]
    look: Callable[[], Result]


@state(acts_always=True)
def transaction(
    ctx: Context,
    /,
    name: str,
    *,
    sls: list[str] | None = None,
    highstate: bool = False,
    states: dict[str, object] | None = None,
    pillar: dict[str, object] | None = None,
    saltenv: str | None = None,
    env: object = None,
    timeout: float | None = None,
    token: str = "",
) -> Result:
    """Run a command or apply states in a new snapshot of the root, which the next boot uses.

    The snapshot is made from the one that the next boot would use, so that one transaction builds on
    another. The running system is not changed. If the command or a state fails, or nothing is changed, the
    snapshot is dropped; else it is booted next: put a ``system.reboot`` after it. File systems that are
    mounted below the root, such as ``/var`` and ``/home``, are shared with the snapshot, and changed at
    once.

    With ``sls``, ``highstate`` or ``states``, saltern is started with the snapshot as its root, and each
    state that it applies there is a sub state. It sees the packages, the files and the grains of the
    snapshot, and uses the file roots and the pillar of this run. Python, saltern and the file roots must be
    at the same paths in it. No services run there: put states that start services after the boot.

    This is for machines whose root is a btrfs subvolume and that boot the default subvolume, such as those
    with transactional updates. ``tukit`` is used if it is installed; else ``btrfs`` itself.

    Args:
        name: the command, for a shell, if no states are given.
        sls: the names of state files to apply.
        highstate: apply the states of the top file for this machine.
        states: states to apply, as they would be written in a state file.
        pillar: values that override those of the machine, for the states.
        saltenv: the environment of the state files.
        env: variables for the command, or for the process that applies the states.
        timeout: seconds after which it is killed.
        token: a name of this transaction that stays the same when the state is called again: a
            completed transaction is not repeated.

    Example:
        ```yaml
        zypper --non-interactive patch:
          system.transaction: []

        the web server:
          system.transaction:
            - states:
                nginx:
                  pkg.installed: []

        boot into it:
          system.reboot:
            - only_on_pending_reboot: false
            - require:
              - system: zypper --non-interactive patch
              - system: the web server
        ```
    """
    machine = current()
    if sum(map(bool, (sls, highstate, states))) > 1:
        raise Refused("only one of sls, highstate and states can be given")
    if is_inside():
        raise Refused("a transaction cannot start within another one")
    try:
        if not machine.next():
            raise Refused(NO_SNAPSHOTS)
        if sls or highstate or states:
            wanted = Wanted(
                sls=tuple(sls or ()), states=states or {}, pillar=pillar or {}, saltenv=saltenv or ctx.env
            )
            work = _states(ctx, machine, wanted, env=env, timeout=timeout)
        else:
            work = _command(ctx, machine, name, Options(env=env, timeout=timeout, kept=False))
        mark = _mark(ctx, token)
        if (before := _read_mark(mark)) and before in (machine.next(), machine.booted_snapshot()):
            return _add_snapshot(replace(ok(f"{before} was made before"), data={"command": name}), before)
        return work.look() if ctx.test else _in_new_snapshot(machine, work, mark)
    except OSError as problem:
        raise Refused(str(problem)) from None


def _in_new_snapshot(machine: Snapshots, work: Work, mark: str) -> Result:
    if left := _read_mark(mark):  # from a transaction that was interrupted
        with suppress(OSError):
            machine.drop(left)
    snapshot = machine.open(f"saltern-{secrets.token_hex(6)}")
    if mark:
        atomic.write(mark, snapshot.encode())
    faults.point("transaction.opened")
    result, changed = work.do(snapshot)
    faults.point("transaction.ran")
    if result.outcome is Outcome.FAILED:
        machine.drop(snapshot)
        return result
    if not changed or not machine.is_changed(snapshot):
        machine.drop(snapshot)
        return _prefix_comment(f"{work.idle} changed nothing, and its snapshot was dropped", result)
    machine.close(snapshot)
    faults.point("transaction.closed")
    return _add_snapshot(_prefix_comment(f"The next boot uses {snapshot}", result), snapshot)


def _prefix_comment(first: str, result: Result) -> Result:
    return replace(result, comment="\n".join(filter(None, [first, result.comment])))


def _add_snapshot(result: Result, snapshot: str) -> Result:
    return replace(result, changes={"snapshot": {"new": snapshot}})


# -- a command -------------------------------------------------------------------------------------------


def _command(ctx: Context, machine: Snapshots, command: str, options: Options) -> Work:
    def do(snapshot: str) -> tuple[Result, bool]:
        done = execute(ctx, machine.inside(snapshot, [SHELL, "-c", command]), options)
        result = failed(_why(done)) if done.retcode != 0 else ok()
        return replace(result, data={"command": command, **done.asdict()}), True

    def look() -> Result:
        return would_change("The command would be run in a new snapshot", {"snapshot": {"new": command}})

    return Work(idle="The command has", do=do, look=look)


def _why(done: Done) -> str:
    last = (done.stderr or done.stdout).strip().splitlines()[-1:]
    how = "ran out of time" if done.timed_out else f"ended with exit code {done.retcode}"
    return "\n".join([f"The command {how}; {DROPPED}", *last])


# -- states ----------------------------------------------------------------------------------------------


def _states(ctx: Context, machine: Snapshots, wanted: Wanted, *, env: object, timeout: float | None) -> Work:
    def do(snapshot: str) -> tuple[Result, bool]:
        argv = machine.inside(snapshot, start_command())
        result, changed = apply_inside(ctx, argv, wanted, env=env, timeout=timeout)
        if result.outcome is Outcome.FAILED:
            result = replace(result, comment=f"{result.comment}\n{DROPPED}")
        return result, changed

    def look() -> Result:
        """Predict the result on the running system, if the snapshot would be made from it; else it is
        unknown.
        """
        if ctx.run.states is None or machine.next() != machine.booted_snapshot():
            return would_change(
                "The states would be applied in a new snapshot", {"snapshot": {"new": "states"}}
            )
        return _foresee(ctx, wanted)

    return Work(idle="The transaction has", do=do, look=look)


def _foresee(ctx: Context, wanted: Wanted) -> Result:
    assert ctx.run.states is not None
    try:
        returned = ctx.run.states.apply(wanted.sls, wanted.options(), test=True)
    except CompileError as problem:
        return failed(str(problem))
    rows = {tag: one for tag, one in returned.items() if one["result"] is not True}
    if wrong := [str(one["comment"]) for one in rows.values() if one["result"] is False]:
        return failed("\n".join(wrong))
    if not rows:
        return ok("The states would change nothing")
    changes: dict[str, object] = {tag: one["changes"] or str(one["comment"]) for tag, one in rows.items()}
    return would_change(f"The states would change {len(rows)} things in a new snapshot", changes)


# -- completed transactions ------------------------------------------------------------------------------


def _mark(ctx: Context, token: str) -> str:
    """The file that names the snapshot of a transaction, outside of all snapshots; empty without a token."""
    if not token:
        return ""
    folder = os.path.join(state_directory(ctx.settings), "transactions")
    make_private(folder)
    return os.path.join(folder, sha256(token.encode()).hexdigest()[:32])


def _read_mark(mark: str) -> str:
    try:
        return read_regular(mark).decode() if mark else ""
    except FileNotFoundError:
        return ""
