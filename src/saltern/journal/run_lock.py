"""One run at a time: the lock of this machine, and its holder."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from msgspec import DecodeError, Struct, json

from saltern.config.settings import WITHIN
from saltern.journal.journals import Journals
from saltern.journal.lock_file import LockFile, sign, take, text_of
from saltern.journal.run_state import RunState
from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.system.faults import point
from saltern.system.keeper import KEPT

MOST_ASKED = 500  # characters


class Held(Struct, kw_only=True):
    """The holder of this machine's lock."""

    pid: int = 0
    jid: str = ""
    started: float = 0.0
    asked: str = ""  # the request: everything known of a run that breaks before its journal has a plan

    @property
    def is_alive(self) -> bool:
        """True if the process exists. A parallel state may keep the lock after its parent has ended."""
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        except OSError:
            pass  # of another user
        return True


class RunLock:
    """The lock that a run holds from beginning to end."""

    def __init__(self, path: str, journals: Journals[RunState], salt_minion: str = "") -> None:
        """``salt_minion`` is the cache directory of a Salt minion that must not apply states meanwhile."""
        self._file = LockFile(path)
        self._salt_minion = salt_minion
        self._journals = journals

    def holder(self) -> Held | None:
        """The current holder; None if no process holds the lock."""
        text = self._file.holder()
        return None if text is None else _read_holder(text)

    def last_holder(self) -> Held:
        """The last holder, even if the lock is no longer held."""
        return _read_holder(self._file.last_holder())

    @contextmanager
    def hold(
        self, jid: str, started: float, *, wait: float = 0.0, new: bool = False, asked: str = ""
    ) -> Iterator[str]:
        """Hold the lock; ``wait`` is the seconds to queue. Raises ``OperationError`` that names the holder.

        Yields the number of the run; a ``new`` run may get another number than it wants.
        """
        within = os.environ.get(WITHIN)
        holder = self.holder() if within else None
        if holder is not None and holder.jid == within:
            # A state of that run started us: waiting for its end would never end.
            yield self._journals.next_name(jid) if new else jid
            return
        file = self._open()
        try:
            point("lock.take")
            begun = time.monotonic()
            _take(file, wait)
            point("lock.taken")
            self._wait_for_programs(jid, begun + wait)
            jid = self._journals.next_name(jid) if new else jid
            self._sign(file, Held(pid=os.getpid(), jid=jid, started=started, asked=asked[:MOST_ASKED]))
            os.environ[WITHIN] = jid
            with self._alone(begun + wait):
                yield jid
        finally:
            os.environ.pop(WITHIN, None)
            os.close(file)

    def _alone(self, until: float) -> AbstractContextManager[None]:
        """Make a Salt minion on this machine wait or refuse meanwhile."""
        if not self._salt_minion:
            return nullcontext()
        from saltern.journal.salt_minion import beside_salt

        return beside_salt(self._salt_minion, until)

    def _open(self) -> int:
        try:
            return self._file.open()
        except OSError as problem:
            raise self._journals.no_folder(self._file.path, problem) from None

    def _sign(self, file: int, who: Held) -> None:
        try:
            sign(file, json.encode(who))
        except OSError as problem:
            raise self._journals.no_folder(self._file.path, problem) from None

    def _wait_for_programs(self, jid: str, until: float) -> None:
        """Wait until no program of another broken run is running."""
        reported = False
        while others := [one for one in self._at_work() if one != jid]:
            if not reported and time.monotonic() < until:
                reported = True
                print(f"saltern: waiting for a program of run {others[0]}, which broke", file=sys.stderr)
            if time.monotonic() >= until:
                what = f"a program of run {others[0]}, which broke, is still running on this machine"
                fix = f"wait for it: --queue SECONDS; or resume that run: `saltern resume {others[0]}`"
                raise OperationError(Diagnostic(code="run-busy", what=what, fix=fix))
            time.sleep(0.1)

    def _at_work(self) -> list[str]:
        """The runs that have a running program."""
        folder = self._journals.folder
        try:
            names = [name for name in os.listdir(folder) if name.endswith(KEPT)]
        except OSError:
            return []
        if not names:
            return []
        from saltern.system import ledger

        return [name.removesuffix(KEPT) for name in names if ledger.at_work(os.path.join(folder, name))]


def _take(file: int, wait: float) -> None:
    def report() -> None:
        who = _read_holder(text_of(file))
        print(f"saltern: waiting for run {who.jid} (process {who.pid}) to end", file=sys.stderr)

    try:
        take(file, wait, report)
    except BlockingIOError:
        raise _busy(_read_holder(text_of(file))) from None


def _read_holder(text: bytes) -> Held:
    try:
        return json.decode(text, type=Held)
    except (DecodeError, ValueError):  # damaged, or not even UTF-8
        return Held()


def _busy(who: Held) -> OperationError:
    what = f"another run is running on this machine: {who.jid or 'with an unknown number'}, process {who.pid}"
    fix = "wait for it, or wait longer: --queue SECONDS"
    return OperationError(Diagnostic(code="run-busy", what=what, fix=fix))
