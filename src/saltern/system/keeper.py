"""Runs the programs of a recorded run in a separate process that continues if ours is gone.

If we ended, the output and the exit code of our own child process would be lost. So programs that matter are
run by a *keeper*: forked once, in its own session, it runs what we request through a pipe, and records what
it begins and how that ended. If we end before it, it waits for its program, makes the result durable and
ends. ``Kept`` is what an earlier process of the same run has left.
"""

from __future__ import annotations

import os
import time
from _weakref import ref  # without the rest of weakref, which no other part of a run needs
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from saltern.system import effects
from saltern.system.faults import point
from saltern.system.private import remove_private
from saltern.system.signals import was_terminated

if TYPE_CHECKING:  # modules that run programs are imported with the first of them
    from saltern.system.keeper_client import KeeperClient
    from saltern.system.ledger import Kept, Ledger
    from saltern.system.process import Sink
    from saltern.system.ran import Ran

RAISED: dict[str, type[Exception]] = {one.__name__: one for one in (ValueError, TypeError, OSError)}
LOST = "the process that ran it was killed, and how it ended is unknown"
KEPT, OUTPUT = ".kept", ".out"  # the endings of the folders of a run
AS_IT_IS = frozenset((str, bytes, bool, int, float, type(None)))
LOOK = 0.05  # seconds between two checks of an earlier keeper
NO_STATE = -1


class ProgramKeeper:
    """Runs the programs of one run. ``folder`` has their ledgers; ``kept`` is what an earlier process has
    left there, if nothing of the run is still at work.
    """

    def __init__(self, jid: str, folder: str, kept: Kept | None = None) -> None:
        self._jid = jid
        self._folder = folder
        self._kept = kept
        self._step = NO_STATE  # the number of the state that is being called
        self._call = 0  # which call of it that is: after a barrier, it is another call
        self._times = 0  # programs that it has requested
        self._calls = 0  # calls of other systems that it has made
        self._replayed: set[int] = set()  # states that get their earlier results
        self._hidden = False  # its output goes to no file
        self._ledger: Ledger | None = None  # open, but not used by a keeper yet
        self._has_ledgers = False  # a ledger was made
        self._name = ""  # of the ledger for the programs of this process
        self._apart: dict[int, str] = {}  # states in processes of their own → their ledgers
        self._client: KeeperClient | None = None  # started when it is first needed
        _forget_in_children(ref(self))

    def end(self, *, forget: bool) -> None:
        """Stop keeping programs. ``forget``: their results are no longer needed."""
        self._close()
        if self._ledger is not None:
            self._ledger.close()
            self._ledger = None
        if forget and (self._kept is not None or self._has_ledgers):
            remove_private(self._folder)

    # -- states ----------------------------------------------------------------------------------

    def enter(self, step: int, call: int = 0, *, hidden: bool = False) -> None:
        """Note the state that is about to be called, by its number, and how many of its calls have ended at a
        barrier; ``NO_STATE``: none.
        """
        self._step, self._call, self._times, self._calls, self._hidden = step, call, 0, 0, hidden

    def begun_and_ended(self, step: int, call: int = 0) -> tuple[int, int]:
        """The number of programs that a state began before the run broke, and how many of them have ended."""
        if self._kept is None:
            return 0, 0
        begun = {name for name in self._kept.begun if name.rpartition(".")[0] == program_prefix(step, call)}
        return len(begun), len(begun & self._kept.ended.keys())

    def until(self, step: int, call: int = 0) -> float:
        """The end of the last program that a state began before the run broke; 0 if not known."""
        if self._kept is None:
            return 0.0
        wanted = program_prefix(step, call)
        ends = (at for name, at in self._kept.until.items() if name.rpartition(".")[0] == wanted)
        return max(ends, default=0.0)

    def ledger_of(self, step: int, *, apart: bool) -> str:
        """The ledger for the programs of a state, made before the journal names it; so one that is named but
        missing was lost. Empty if none can be made.

        ``apart``: the state is called in its own process, which has its own keeper.
        """
        if apart:
            if step not in self._apart and (made := self._new_ledger()):
                self._apart[step] = made.name
                made.close()
            return self._apart.get(step, "")
        if not self._name and (mine := self._new_ledger()):
            self._ledger, self._name = mine, mine.name
        return self._name

    def _new_ledger(self, name: str = "") -> Ledger | None:
        """A new, locked ledger; None if it cannot be made."""
        from saltern.system.ledger import create

        self._has_ledgers = True
        try:
            return create(self._folder, name)
        except OSError:
            return None

    def proves(self, name: str | None) -> bool:
        """True if a program that is not in the ledgers was certainly not begun. ``name``: the ledger that it
        would be in; None: the journal is of a version that did not record that.
        """
        if self._kept is None:
            return name is None
        return not self._kept.damaged and (name is None or name in self._kept.whole)

    def replay(self, step: int) -> None:
        """Give the programs of this state their earlier results when it is called again."""
        self._replayed.add(step)

    def next_token(self) -> str:
        """A name for the state's next call of other systems; it stays the same if the state is called again.
        All records are on disk before the name is used.
        """
        effects.report_act()
        if self._step == NO_STATE:  # called by a template, which is rendered once
            return os.urandom(16).hex()
        self._calls += 1
        return f"{self._jid}.{program_prefix(self._step, self._call)}.{self._calls}"

    # -- programs --------------------------------------------------------------------------------

    def run(
        self,
        command: str | Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        sink: Sink | None = None,
        **options: Any,
    ) -> Ran:
        """Like ``process.run``, but by the keeper while a state is called.

        The environment of the program has a name that stays the same if the state is called again.
        """
        from saltern.system import process
        from saltern.system.keeper_process import PROGRAM, TOKEN
        from saltern.system.live import new_prefix

        if self._step == NO_STATE or sink is not None:
            return process.run(command, env=env, sink=sink, **options)
        self._times += 1
        name = f"{program_prefix(self._step, self._call)}.{self._times}"
        if self._kept is not None and self._step in self._replayed and name in self._kept.ended:
            return self._kept.ended[name]
        token, start = f"{self._jid}.{self._step}", os.urandom(8).hex()
        options["env"] = {TOKEN: token, **(env or {}), PROGRAM: start}
        if not self._hidden:
            options["spill"] = os.path.join(output_folder(self._folder), name)
            options["live"] = new_prefix()
        effects.report_act()  # all records are on disk before the keeper is asked
        point("keeper.ask")
        client = self._open()
        if client is None:
            return _run_here(self._ledger, name, command, options)
        return self._ask(client, name, _plain(command), {word: _plain(one) for word, one in options.items()})

    def _ask(self, client: KeeperClient, name: str, command: str | list[str], options: dict[str, Any]) -> Ran:
        try:
            answer = client.ask(name, command, options)
        except BaseException:
            if was_terminated():
                self._close(wait=False)
            else:  # a user at the keyboard wants the program to end, too
                self._client = None
                client.interrupt()
            raise
        if answer is None:
            self._close()
            from saltern.system import keeper_process

            keeper_process.sweep(options["env"])
            return keeper_process.lost_result(client.pid, LOST)
        if answer.ran is None:
            raise RAISED.get(answer.raised, RuntimeError)(answer.text)
        return answer.ran

    # -- the process -----------------------------------------------------------------------------

    def _open(self) -> KeeperClient | None:
        """The keeper of this process; None if there cannot be one."""
        if self._client is not None:
            return self._client
        # Locked before a process can be asked: once the lock is free, the ledger is complete.
        book = self._ledger or self._new_ledger(self._apart.get(self._step, ""))
        if book is None:
            return None
        self._name, self._ledger = book.name, None
        from saltern.system.keeper_client import start_keeper

        self._client = start_keeper(book)
        if self._client is None:
            self._ledger = book
        else:
            book.close()
        return self._client

    def _close(self, *, wait: bool = True) -> None:
        if self._client is not None:
            mine, self._client = self._client, None
            self._name = ""  # the next one has its own ledger
            mine.close(wait=wait)

    def _forget(self) -> None:
        """Close the pipe to the keeper in a forked child, which gets its own keeper; the keeper must notice
        when its owner is gone.
        """
        if self._ledger is not None:
            self._ledger.close()
            self._ledger = None
        self._close(wait=False)


def _run_here(book: Ledger | None, name: str, command: str | Sequence[str], options: dict[str, Any]) -> Ran:
    """Run a program without a keeper; the ledger still records it."""
    from saltern.system import clock, ledger, process
    from saltern.system.ledger import Entry

    if book is None:
        return process.run(command, **options)
    ledger.add(book, Entry(name, os.getpid()))
    ran = process.run(command, **options)
    ledger.add(book, Entry(name, os.getpid(), ran, clock.now()))
    return ran


def _forget_in_children(keeper: ref[ProgramKeeper]) -> None:
    """Register a hook for forks. Hooks cannot be removed; that of a finished run does nothing."""

    def forget() -> None:
        if (mine := keeper()) is not None:
            mine._forget()

    os.register_at_fork(after_in_child=forget)


def output_folder(kept: str) -> str:
    """The directory for output that is too long for the journal; kept as long as the journal."""
    return kept.removesuffix(KEPT) + OUTPUT


def wait_for(folder: str) -> None:
    """Wait until no program of that run is running."""
    from saltern.system import ledger

    while ledger.at_work(folder):
        time.sleep(LOOK)


def program_prefix(step: int, call: int) -> str:
    """The common beginning of the names of a call's programs, up to the last dot."""
    return f"{step}+{call}" if call else str(step)


def _plain(value: Any) -> Any:
    """The value with only Python's built-in types, which the keeper knows."""
    if type(value) in AS_IT_IS:
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, Mapping):
        return {_plain(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return value
