"""The runs of this machine: where their journals are, who holds the lock, what came of each."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from msgspec import DecodeError, Struct, json

from saltern.config.settings import WITHIN, Settings, state_directory
from saltern.journal.fold import RunState, fold
from saltern.journal.form import ASIDE, SUFFIX, Damaged, Unreadable, is_aside, names_in
from saltern.journal.reader import is_plain, quarantine, read, read_last, remove
from saltern.journal.store import Writer, announce, check_owner, make_folder
from saltern.language.diagnostics import Diagnostic, OperationError, did_you_mean
from saltern.system import keeper, ledger, lock
from saltern.system.faults import point
from saltern.system.keeper import KEPT
from saltern.system.run_numbers import later_number


class Held(Struct, kw_only=True):
    """Who holds the lock of this machine."""

    pid: int = 0
    jid: str = ""
    started: float = 0.0
    asked: str = ""  # what for: a run that breaks before its journal has a plan is known by this alone


class Summary(Struct, frozen=True, kw_only=True):
    """One line of ``saltern runs``."""

    jid: str
    status: str
    started: float = 0.0
    took: float = 0.0
    asked: str = ""
    done: int = 0
    failed: int = 0
    changed: int = 0
    resumed: int = 0
    by_user: bool = False  # interrupted with Ctrl-C


LOOK_AND_APPLY = "look at what the run has done, then apply the states again"
MOST_ASKED = 500  # letters
PATIENCE = 2.0  # seconds of waiting before it is told
RESUMABLE = frozenset({"broken", "interrupted", "rebooting", "updating"})
UNKNOWN = frozenset({"damaged", "unreadable"})
MOST_RESUMED = 5  # times that a boot goes on with the same run


class Runs:
    def __init__(self, settings: Settings) -> None:
        base = state_directory(settings)
        self.folder = os.path.join(base, "runs")
        self._lock = os.path.join(base, "lock")
        check_owner(base, self.folder, self._lock)
        self._keep = settings.keep_runs

    def path(self, jid: str) -> str:
        return os.path.join(self.folder, jid + SUFFIX)

    def kept_folder(self, jid: str) -> str:
        """What is known of the programs of a run that is not over."""
        return os.path.join(self.folder, jid + KEPT)

    def writer(self, jid: str, *, resumed_at: int = 0) -> Writer:
        return Writer(self.path(jid), resumed_at=resumed_at)

    def announce(self, jid: str) -> None:
        """A mark of a run that has written nothing yet; durable."""
        try:
            make_folder(self.folder)
            announce(self.path(jid))
        except OSError as problem:
            raise _no_place(self.folder, problem) from None

    def withdraw(self, jid: str) -> None:
        """One that was announced does not begin."""
        if not os.path.lexists(self.path(jid)):
            remove(self.path(jid))

    def jids(self) -> list[str]:
        """All, the newest first."""
        try:
            return names_in(self.folder, SUFFIX)
        except OSError as problem:
            raise _no_place(self.folder, problem) from None

    def state(self, jid: str) -> RunState:
        """What the journal says. That it is damaged is an error; nothing is moved."""
        if jid not in self.jids():
            fix = did_you_mean(jid, self.jids()) or "`saltern runs` lists them"
            raise OperationError(Diagnostic(code="run-unknown", what=f"no run is called {jid!r}", fix=fix))
        try:
            return self._read(jid)
        except Unreadable as problem:
            what = f"the journal of run {jid} cannot be read: {problem}"
            fix = f"{self.path(jid)} was left as it is"
            raise OperationError(Diagnostic(code="journal-unreadable", what=what, fix=fix)) from None
        except Damaged as problem:
            what = f"the journal of run {jid} is damaged: {problem}"
            fix = (
                f"nothing of it is run again; look at what it has done. `saltern resume {jid}` puts it aside"
            )
            if self._is_aside(jid):
                fix = f"it was put aside as {self._aside(jid)}; {LOOK_AND_APPLY}"
            raise OperationError(Diagnostic(code="journal-damaged", what=what, fix=fix)) from None

    def _aside(self, jid: str) -> str:
        return self.path(jid) + ASIDE

    def _is_aside(self, jid: str) -> bool:
        return is_aside(self.path(jid))

    def _read(self, jid: str) -> RunState:
        if self._is_aside(jid):
            raise Damaged("it could not be read to its end")
        try:
            return fold(read(self.path(jid)))
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as problem:
            raise Damaged(f"its records are inconsistent: {problem!r}") from None

    def is_damaged(self, jid: str) -> bool:
        try:
            self._read(jid)
        except Damaged:
            return True
        except Unreadable:
            return False
        return False

    def put_aside(self, jid: str) -> None:
        """A damaged journal, with all that is known of its programs: it stays listed, and is not resumed."""
        if self._is_aside(jid):
            return
        try:
            quarantine(self.path(jid))
            if os.path.isdir(self.kept_folder(jid)):
                os.replace(self.kept_folder(jid), self._aside(jid) + KEPT)
        except OSError as problem:
            what = f"the damaged journal {self.path(jid)} cannot be put aside: {problem.strerror}"
            raise OperationError(Diagnostic(code="journal-damaged", what=what)) from None

    def summaries(self) -> Iterator[Summary]:
        holder, signed = self.holder(), self._signed()
        for jid in self.jids():
            try:
                state = self._read(jid)
                if not state.records and not os.path.lexists(self.path(jid)):
                    continue  # it was announced, and never began
                running = holder is not None and holder.jid == jid and _lives(holder.pid)
                yield summary(jid, state, running=running, signed=signed if signed.jid == jid else None)
            except Damaged:
                yield Summary(jid=jid, status="damaged")
            except Unreadable:
                yield Summary(jid=jid, status="unreadable")

    def _signed(self) -> Held:
        """Who had the lock last, whether or not it is held now."""
        try:
            file = os.open(self._lock, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return Held()
        try:
            return _held(file)
        finally:
            os.close(file)

    def last_resumable(self) -> str | None:
        """If there is none, and the last of all cannot be read: that one, so that it is told."""
        last = None
        for at, one in enumerate(self.summaries()):
            if one.status in RESUMABLE:
                return one.jid
            if at == 0 and one.status in UNKNOWN:
                last = one.jid
        return last

    def broken(self) -> list[str]:
        """Those that a boot goes on with, in their order: not what a user has stopped, not what breaks again
        and again, and not what was asked for once more since then, with newer files."""
        found: list[str] = []
        seen: set[str] = set()
        for at, one in enumerate(self.summaries()):
            if one.status in RESUMABLE and one.asked not in seen:
                found += [one.jid] if not one.by_user and one.resumed < MOST_RESUMED else []
            elif at == 0 and one.status in UNKNOWN:
                found.append(one.jid)  # it may be one of them, so somebody is to be told
            seen.add(one.asked)
        return found[::-1]

    def next_jid(self, wanted: str) -> str:
        """Later than all there are, whatever the clock says."""
        last = next((jid for jid in self.jids() if jid.isdigit()), "")
        return later_number(wanted, last)

    def prune(self) -> None:
        """The oldest go, but never one that could still be resumed."""
        for jid in self.jids()[self._keep :]:
            with suppress(Damaged, Unreadable, OSError):
                if self._is_aside(jid):
                    remove(self._aside(jid))
                    ledger.remove(self._aside(jid) + KEPT)
                    ledger.remove(keeper.output_folder(self.kept_folder(jid)))
                elif _over(self.path(jid)):
                    remove(self.path(jid))
                    ledger.remove(self.kept_folder(jid))
                    ledger.remove(keeper.output_folder(self.kept_folder(jid)))

    # -- one run at a time -------------------------------------------------------------------------

    def holder(self) -> Held | None:
        """Who holds the lock now, if anybody does."""
        try:
            file = os.open(self._lock, os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            return _held(file) if lock.is_held(file) else None
        finally:
            os.close(file)

    @contextmanager
    def locked(
        self, jid: str, started: float, *, wait: float = 0.0, new: bool = False, asked: str = ""
    ) -> Iterator[str]:
        """This machine is ours; whoever else wants it is told who has it. ``wait`` are seconds to queue.

        Gives the number of the run; a ``new`` one may get another than it wants.
        """
        within = os.environ.get(WITHIN)
        holder = self.holder() if within else None
        if holder is not None and holder.jid == within:
            # A state of that run has started us: to wait for its end would be for ever.
            yield self.next_jid(jid) if new else jid
            return
        file = self._opened()
        try:
            point("lock.take")
            begun = time.monotonic()
            _take(file, wait)
            point("lock.taken")
            self._alone(jid, begun + wait)
            jid = self.next_jid(jid) if new else jid
            self._sign(file, Held(pid=os.getpid(), jid=jid, started=started, asked=asked[:MOST_ASKED]))
            os.environ[WITHIN] = jid
            yield jid
        finally:
            os.environ.pop(WITHIN, None)
            os.close(file)

    def _alone(self, jid: str, until: float) -> None:
        """No program of another run that broke is at work any more."""
        told = False
        while others := [one for one in self._at_work() if one != jid]:
            if not told and time.monotonic() < until:
                told = True
                print(f"saltern: waiting for a program of run {others[0]}, which broke", file=sys.stderr)
            if time.monotonic() >= until:
                what = f"a program of run {others[0]}, which broke, is still running on this machine"
                fix = f"wait for it: --queue SECONDS; or resume that run: `saltern resume {others[0]}`"
                raise OperationError(Diagnostic(code="run-busy", what=what, fix=fix))
            time.sleep(0.1)

    def _at_work(self) -> list[str]:
        try:
            names = [name for name in os.listdir(self.folder) if name.endswith(KEPT)]
        except OSError:
            return []
        return [name.removesuffix(KEPT) for name in names if ledger.at_work(os.path.join(self.folder, name))]

    def _opened(self) -> int:
        try:
            make_folder(os.path.dirname(self._lock))
            return os.open(self._lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as problem:
            raise _no_place(self._lock, problem) from None

    def _sign(self, file: int, who: Held) -> None:
        try:
            os.ftruncate(file, 0)
            os.pwrite(file, json.encode(who), 0)
        except OSError as problem:
            raise _no_place(self._lock, problem) from None


def _no_place(path: str, problem: OSError) -> OperationError:
    what = f"runs cannot be recorded: {path}: {problem.strerror}"
    fix = "name a directory of your own: state_dir, SALTERN_STATE_DIR; or do without: --no-journal"
    return OperationError(Diagnostic(code="state-dir", what=what, fix=fix))


def _take(file: int, wait: float) -> None:
    begun = time.monotonic()
    told = False
    while True:
        try:
            lock.take(file)
            return
        except BlockingIOError:
            waited = time.monotonic() - begun
            if waited >= wait:
                raise _busy(_held(file)) from None
            if waited >= PATIENCE and not told:
                told = True
                who = _held(file)
                print(f"saltern: waiting for run {who.jid} (process {who.pid}) to end", file=sys.stderr)
            time.sleep(min(0.005 + waited / 10, 0.2, wait - waited))


def _over(path: str) -> bool:
    """Told without reading it where that can be: old runs are many, and every run looks at them."""
    if os.path.lexists(path) and is_plain(path):
        return True  # it is written when a run has ended, and not before
    if os.path.exists(f"{path}-wal"):
        return False  # whoever wrote it was killed
    last = read_last(path)
    if last is None or last.kind in ("run", "sources"):
        return True  # it broke before it had a plan
    return fold([last]).is_over  # nothing is written of a run that has ended


def _lives(pid: int) -> bool:
    """A parallel state may go on, and keep the lock, when the process that ran it is gone."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass  # of another user
    return True


def _held(file: int) -> Held:
    try:
        return json.decode(os.pread(file, 4096, 0), type=Held)
    except (DecodeError, ValueError):  # damaged, or not even UTF-8
        return Held()


def _busy(who: Held) -> OperationError:
    what = f"another run is running on this machine: {who.jid or 'of unknown number'}, process {who.pid}"
    fix = "wait for it, or wait longer: --queue SECONDS"
    return OperationError(Diagnostic(code="run-busy", what=what, fix=fix))


def summary(jid: str, state: RunState, *, running: bool = False, signed: Held | None = None) -> Summary:
    """``signed`` is what its process wrote into the lock, if no other has since."""
    answers, request = list(_answers(state)), state.head.get("request")
    failed = sum(answer["result"]["outcome"] is False for answer in answers)
    status = "running" if running and state.end is None else state.status
    return Summary(
        jid=jid,
        status="abandoned" if status == "failed" and not failed else status,
        started=state.head.get("started", signed.started if signed else 0.0),
        took=(state.end or {}).get("took", 0.0),
        asked=asked_for(request) if request else signed.asked if signed else "",
        done=len(answers),
        failed=failed,
        changed=sum(bool(answer["result"]["changes"]) for answer in answers),
        resumed=state.resumed,
        by_user=state.end is not None and state.end["stopped"] == "interrupted",
    )


def _answers(state: RunState) -> Iterator[Mapping[str, Any]]:
    """All of a run, as its report has them: states, what stands for frames, listeners, sub states."""
    for scope in state.scopes.values():
        for told in (scope.done, scope.stand_ins, scope.listened):
            yield from (body["answer"] for body in told.values())
    for steps in (state.steps, state.tried):
        yield from (body for bodies in steps.values() for body in bodies)


def asked_for(request: Mapping[str, Any]) -> str:
    words = [*(request.get("sls") or [request.get("template") or "highstate"])]
    for key, word in (("saltenv", "of"), ("id", "only"), ("exclude", "without")):
        if given := request.get(key):
            words += [word, *map(str, given if isinstance(given, list) else [given])]
    return " ".join(words)
