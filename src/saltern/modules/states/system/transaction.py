"""``system.transaction``: a command in a new snapshot of the root, which the next boot takes."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from hashlib import sha256

from msgspec.structs import replace

from saltern.config.settings import state_directory
from saltern.language.result import Result, failed, ok, would_change
from saltern.modules.api.commands import Done, Options, execute
from saltern.modules.api.context import Context
from saltern.modules.api.declare import state
from saltern.modules.api.refused import Refused
from saltern.system import atomic, faults
from saltern.system.private import make_private
from saltern.system.regular import read_regular
from saltern.system.snapshots import Snapshots, current

SHELL = "/bin/sh"  # that of the snapshot


@state(acts_always=True)
def transaction(
    ctx: Context,
    /,
    name: str,
    *,
    env: object = None,
    timeout: float | None = None,
    token: str = "",
) -> Result:
    """Run a command in a new snapshot of the root; the machine runs it from its next boot on.

    The snapshot is made of the one that the next boot would take, so that one transaction builds on
    another. The running system stays as it is. If the command fails, or changes nothing, the snapshot is
    dropped; else it is the one that is booted next: let a ``system.reboot`` follow. What is mounted below the
    root from elsewhere, such as ``/var`` and ``/home``, is the same inside, and changed at once.

    This is for machines whose root is a subvolume of btrfs and that boot the default subvolume, as those with
    transactional updates do. ``tukit`` is used if there is one; else ``btrfs`` itself.

    Args:
        name: the command, for a shell.
        env: variables for it.
        timeout: seconds after which it is ended.
        token: a name of this transaction that is the same whenever the state is called again: one that was
            completed is not repeated.

    Example:
        ```yaml
        zypper --non-interactive patch:
          system.transaction: []

        boot into it:
          system.reboot:
            - only_on_pending_reboot: false
            - require:
              - system: zypper --non-interactive patch
        ```
    """
    machine = current()
    try:
        if not machine.next():
            raise Refused("the root of this machine is no snapshot that boots are chosen by")
        mark = _mark(ctx, token)
        if (before := _marked(mark)) and before in (machine.next(), machine.booted()):
            return _done(name, before)
        if ctx.test:
            return would_change("The command would be run in a new snapshot", {"snapshot": {"new": name}})
        return _in_new_snapshot(ctx, machine, name, Options(env=env, timeout=timeout, kept=False), mark)
    except OSError as problem:
        raise Refused(str(problem)) from None


def _in_new_snapshot(ctx: Context, machine: Snapshots, command: str, options: Options, mark: str) -> Result:
    if left := _marked(mark):  # of a transaction that was broken off
        with suppress(OSError):
            machine.drop(left)
    snapshot = machine.open(f"saltern-{secrets.token_hex(6)}")
    if mark:
        atomic.write(mark, snapshot.encode())
    faults.point("transaction.opened")
    done = execute(ctx, machine.inside(snapshot, [SHELL, "-c", command]), options)
    faults.point("transaction.ran")
    if done.retcode != 0:
        machine.drop(snapshot)
        return replace(failed(_why(done)), data=done.asdict())
    if not machine.is_changed(snapshot):
        machine.drop(snapshot)
        said = "The command has changed nothing, and its snapshot was dropped"
        return replace(ok(said), data=done.asdict())
    machine.close(snapshot)
    faults.point("transaction.closed")
    return _done(command, snapshot, done)


def _done(command: str, snapshot: str, done: Done | None = None) -> Result:
    comment = f"The next boot takes {snapshot}" if done else f"{snapshot} was made before"
    changes: dict[str, object] = {"snapshot": {"new": snapshot}}
    data = {"command": command, **(done.asdict() if done else {})}
    return replace(ok(comment, changes=changes), data=data)


def _why(done: Done) -> str:
    last = (done.stderr or done.stdout).strip().splitlines()[-1:]
    how = "ran out of time" if done.timed_out else f"ended with exit code {done.retcode}"
    return "\n".join([f"The command {how}; its snapshot was dropped, and nothing is different", *last])


def _mark(ctx: Context, token: str) -> str:
    """The file that names the snapshot of a transaction, outside of all snapshots; empty without a token."""
    if not token:
        return ""
    folder = os.path.join(state_directory(ctx.settings), "transactions")
    make_private(folder)
    return os.path.join(folder, sha256(token.encode()).hexdigest()[:32])


def _marked(mark: str) -> str:
    try:
        return read_regular(mark).decode() if mark else ""
    except FileNotFoundError:
        return ""
