"""The runs of this machine: where their journals are, who holds the lock, what came of each."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from msgspec import DecodeError, Struct, json

from saltern.config.settings import Settings
from saltern.journal.fold import RunState, fold
from saltern.journal.store import SUFFIX, Damaged, Writer, quarantine, read
from saltern.language.diagnostics import Diagnostic, OperationError, did_you_mean


class Held(Struct, kw_only=True):
    """Who holds the lock of this machine."""

    pid: int = 0
    jid: str = ""
    started: float = 0.0


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


WITHIN = "SALTERN_RUN"  # in the environment of what a run starts: its number
PATIENCE = 2.0  # seconds of waiting before it is told
RESUMABLE = frozenset({"broken", "interrupted"})


def state_directory(settings: Settings) -> str:
    """Where what must outlive a reboot is kept."""
    if settings.state_dir:
        return settings.state_dir
    if os.geteuid() == 0:
        return "/var/lib/saltern"
    home = os.environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
    return os.path.join(home, "saltern")


class Runs:
    def __init__(self, settings: Settings) -> None:
        base = state_directory(settings)
        self.folder = os.path.join(base, "runs")
        self._lock = os.path.join(base, "lock")
        self._keep = settings.keep_runs

    def path(self, jid: str) -> str:
        return os.path.join(self.folder, jid + SUFFIX)

    def writer(self, jid: str, *, resumed_at: int = 0) -> Writer:
        return Writer(self.path(jid), resumed_at=resumed_at)

    def jids(self) -> list[str]:
        """All, the newest first."""
        try:
            names = os.listdir(self.folder)
        except FileNotFoundError:
            return []
        return sorted((name.removesuffix(SUFFIX) for name in names if name.endswith(SUFFIX)), reverse=True)

    def state(self, jid: str) -> RunState:
        """What the journal says. One that is damaged is put aside, and that is told."""
        if jid not in self.jids():
            fix = did_you_mean(jid, self.jids()) or "`saltern runs` lists them"
            raise OperationError(Diagnostic(code="run-unknown", what=f"no run is called {jid!r}", fix=fix))
        try:
            return fold(read(self.path(jid)))
        except Damaged as problem:
            place = quarantine(self.path(jid))
            what = f"the journal of run {jid} is damaged: {problem}"
            fix = f"it was put aside as {place}; apply the states again"
            raise OperationError(Diagnostic(code="journal-damaged", what=what, fix=fix)) from None

    def summaries(self) -> Iterator[Summary]:
        holder = self.holder()
        for jid in self.jids():
            try:
                running = holder is not None and holder.jid == jid
                yield summary(jid, fold(read(self.path(jid))), running=running)
            except Damaged:
                yield Summary(jid=jid, status="damaged")

    def last_resumable(self) -> str | None:
        return next((one.jid for one in self.summaries() if one.status in RESUMABLE), None)

    def prune(self) -> None:
        """The oldest go, but never one that could still be resumed."""
        for jid in self.jids()[self._keep :]:
            try:
                state = fold(read(self.path(jid)))
            except Damaged:
                continue
            if state.status not in RESUMABLE:
                for suffix in ("", "-wal", "-shm"):
                    if os.path.exists(self.path(jid) + suffix):
                        os.remove(self.path(jid) + suffix)

    # -- one run at a time -------------------------------------------------------------------------

    def holder(self) -> Held | None:
        """Who holds the lock now, if anybody does."""
        import fcntl

        try:
            file = os.open(self._lock, os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return None
        except BlockingIOError:
            return _held(file)
        finally:
            os.close(file)

    @contextmanager
    def locked(self, jid: str, started: float, *, wait: float = 0.0) -> Iterator[None]:
        """This machine is ours; whoever else wants it is told who has it. ``wait`` are seconds to queue."""
        within = os.environ.get(WITHIN)
        holder = self.holder() if within else None
        if holder is not None and holder.jid == within:
            yield  # a state of that run has started us: to wait for its end would be for ever
            return
        file = self._opened()
        try:
            _take(file, wait)
            os.ftruncate(file, 0)
            os.pwrite(file, json.encode(Held(pid=os.getpid(), jid=jid, started=started)), 0)
            os.environ[WITHIN] = jid
            yield
        finally:
            os.environ.pop(WITHIN, None)
            os.close(file)


    def _opened(self) -> int:
        try:
            os.makedirs(os.path.dirname(self._lock), mode=0o700, exist_ok=True)
            return os.open(self._lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as problem:
            what = f"runs cannot be written down: {self._lock}: {problem.strerror}"
            fix = "name a directory of your own: state_dir, SALTERN_STATE_DIR; or do without: --no-journal"
            raise OperationError(Diagnostic(code="state-dir", what=what, fix=fix)) from None


def _take(file: int, wait: float) -> None:
    import fcntl
    import time

    begun = time.monotonic()
    told = False
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
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


def _held(file: int) -> Held:
    try:
        return json.decode(os.pread(file, 4096, 0), type=Held)
    except DecodeError:
        return Held()


def _busy(who: Held) -> OperationError:
    what = f"another run is at work on this machine: {who.jid or 'of unknown number'}, process {who.pid}"
    fix = "wait for it, or wait longer: --queue SECONDS"
    return OperationError(Diagnostic(code="run-busy", what=what, fix=fix))


def summary(jid: str, state: RunState, *, running: bool = False) -> Summary:
    answers = [body["answer"] for scope in state.scopes.values() for body in scope.done.values()]
    request = state.head.get("request") or {}
    return Summary(
        jid=jid,
        status="running" if running and state.end is None else state.status,
        started=state.head.get("started", 0.0),
        took=(state.end or {}).get("took", 0.0),
        asked=" ".join(request.get("sls") or []) or "highstate",
        done=len(answers),
        failed=sum(answer["result"]["outcome"] is False for answer in answers),
        changed=sum(bool(answer["result"]["changes"]) for answer in answers),
        resumed=state.resumed,
    )
