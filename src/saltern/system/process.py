"""Runs programs: with a time limit, as another user, in another directory; a failed program raises no
exception.

Most commands need nothing special and are started with ``posix_spawn``, which is cheapest and needs no
import. Only a change of user needs ``subprocess``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from time import monotonic

from msgspec import Struct

from saltern.system import log
from saltern.system.output import Printed
from saltern.system.ran import Ran as Ran  # imported from here by modules that run programs
from saltern.system.signals import ASKING_TO_END, signal

PATIENCE = 10.0  # seconds for a program to end after a request
LINGER = 5.0  # seconds that a process left by a program may keep its output open
NOT_FOUND = 127
NOT_ALLOWED = 126
TIMED_OUT = 124
CHUNK = 65536
IGNORED_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)  # programs expect their usual effect


Sink = Callable[[int, bytes], None]
Mask = Collection[int]


class User(Struct, frozen=True):
    """The user that runs a program: IDs, groups, and the environment of a login."""

    name: str
    uid: int
    gid: int
    groups: tuple[int, ...]
    home: str
    shell: str


class UnknownUser(Exception):
    """The user does not exist on this machine."""


def look_up(name: str) -> User:
    import pwd

    try:
        entry = pwd.getpwnam(name)
    except KeyError:
        raise UnknownUser(f"no user is called {name!r} on this machine") from None
    groups = tuple(os.getgrouplist(name, entry.pw_gid))
    return User(name, entry.pw_uid, entry.pw_gid, groups, entry.pw_dir, entry.pw_shell or "/bin/sh")


class Start(Struct, kw_only=True):
    """Everything a new process needs, with its three streams open."""

    argv: list[str]
    env: dict[str, str]
    streams: tuple[int, int, int]
    cwd: str | None = None
    umask: int | None = None
    session: bool = False
    who: User | None = None


def run(
    command: str | Sequence[str],
    *,
    shell: str | None = None,
    cwd: str | None = None,
    env: Mapping[str, str] | None = None,
    clean_env: bool = False,
    user: str | None = None,
    stdin: str | bytes | None = None,
    umask: int | None = None,
    timeout: float | None = None,
    merge_err: bool = False,
    sink: Sink | None = None,
    spill: str = "",
    live: str = "",
) -> Ran:
    """Run ``command`` and wait. A string is passed to ``shell``; a sequence is run directly.

    A program that cannot be started has the exit code that a shell would return. With a ``timeout`` it gets
    its own session, all of which is killed when the time is over. A ``sink`` gets the output as it comes,
    with the number of the stream, and nothing is kept. A daemon that the program leaves running is not waited
    for, even if it has the output open. The beginning and the end of the output are kept (``system.output``);
    ``spill`` is the beginning of the names of files for all of it, ``live`` of those for its end while the
    program runs.
    """
    argv = [shell or "/bin/sh", "-c", command] if isinstance(command, str) else list(command)
    try:
        who = look_up(user) if user else None
        mine, theirs = _pipes(stdin is not None, merge_err)
    except UnknownUser as problem:
        return Ran(NOT_ALLOWED, err=str(problem))
    start = Start(
        argv=argv,
        env=_environment(env, clean_env, who),
        streams=theirs,
        cwd=cwd,
        umask=umask,
        session=timeout is not None,
        who=who,
    )
    launch = _as_other_user if who and who.uid != os.geteuid() else _spawn
    data = stdin.encode() if isinstance(stdin, str) else stdin
    printed = _collectors(sink, spill, live)
    # Nothing may interrupt us until the program would be stopped on an interrupt.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ASKING_TO_END)
    try:
        pid = _launch(launch, start)
    except OSError as problem:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        _close(mine)
        return _not_started(problem, start)
    except BaseException:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        raise
    ran = _attend(pid, mine, data or b"", timeout, printed, before)
    log.debug("program %s (process %d) ended with %d", argv[0], pid, ran.code)
    return ran


def _launch(launch: Callable[[Start], int], start: Start) -> int:
    try:
        return launch(start)
    finally:
        _close(set(start.streams))


def _pipes(feed: bool, merge_err: bool) -> tuple[list[int], tuple[int, int, int]]:
    """Our ends and the child's ends of stdin, stdout and stderr; -1 where we have none."""
    theirs_in, mine_in = os.pipe() if feed else (os.open(os.devnull, os.O_RDONLY), -1)
    mine_out, theirs_out = os.pipe()
    mine_err, theirs_err = (-1, theirs_out) if merge_err else os.pipe()
    return [mine_in, mine_out, mine_err], (theirs_in, theirs_out, theirs_err)


def _spawn(start: Start) -> int:
    """Start the program. It inherits directory and umask, so they are set in this process meanwhile."""
    back = os.open(".", os.O_PATH) if start.cwd else -1
    umask = os.umask(start.umask) if start.umask is not None else None
    try:
        if start.cwd:
            os.chdir(start.cwd)
        return os.posix_spawnp(
            _program(start.argv[0], start.env),
            start.argv,
            start.env,
            file_actions=[(os.POSIX_SPAWN_DUP2, fd, number) for number, fd in enumerate(start.streams)],
            setsigdef=IGNORED_BY_PYTHON,
            setsigmask=(),
            **({"setsid": True} if start.session else {"setpgroup": 0}),
        )
    finally:
        if back >= 0:
            os.fchdir(back)
            os.close(back)
        if umask is not None:
            os.umask(umask)


def _program(name: str, env: Mapping[str, str]) -> str:
    """The path of the program: ``posix_spawnp`` would search our PATH, but a child with its own PATH needs
    that one.
    """
    path = env.get("PATH", os.defpath)
    if "/" in name or path == os.environ.get("PATH"):
        return name
    candidates = (os.path.join(place, name) for place in path.split(os.pathsep))
    return next((file for file in candidates if os.access(file, os.X_OK)), name)


def _as_other_user(start: Start) -> int:
    import subprocess

    assert start.who is not None
    child = subprocess.Popen(
        start.argv,
        cwd=start.cwd,
        env=start.env,
        stdin=start.streams[0],
        stdout=start.streams[1],
        stderr=start.streams[2],
        start_new_session=start.session,
        process_group=None if start.session else 0,
        umask=-1 if start.umask is None else start.umask,
        user=start.who.uid,
        group=start.who.gid,
        extra_groups=start.who.groups,
        preexec_fn=_unblock,
    )
    child.returncode = 0  # this process waits for it itself
    return child.pid


def _unblock() -> None:
    """In the child: unblock the signals that are blocked here during the start."""
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def _not_started(problem: OSError, start: Start) -> Ran:
    """The result that a shell gives for a program that is missing or cannot be run."""
    missing = isinstance(problem, FileNotFoundError)
    if start.cwd and not os.path.isdir(start.cwd):
        return Ran(NOT_ALLOWED, err=f"{start.cwd}: no such directory to run in")
    if missing:
        return Ran(NOT_FOUND, err=f"{start.argv[0]}: no such file or directory")
    if start.who and start.who.uid != os.geteuid() != 0 and isinstance(problem, PermissionError):
        return Ran(NOT_ALLOWED, err=f"only root can run a program as {start.who.name}")
    return Ran(NOT_ALLOWED, err=f"{start.argv[0]}: {problem.strerror or problem}")


class _Forwarded(Printed):
    """Passes the output on to another process."""

    def __init__(self, sink: Sink, stream: int) -> None:
        super().__init__()
        self._sink = sink
        self._stream = stream

    def append(self, piece: bytes) -> None:
        if piece:
            self._sink(self._stream, piece)


Both = tuple[Printed, Printed]


def _collectors(sink: Sink | None, spill: str, live: str) -> Both:
    if sink is not None:
        return _Forwarded(sink, 1), _Forwarded(sink, 2)
    out, err = (
        Printed(spill and f"{spill}.{name}", live and f"{live}.{name}") for name in ("stdout", "stderr")
    )
    return out, err


def _attend(
    pid: int, mine: list[int], data: bytes, timeout: float | None, printed: Both, mask: Mask = frozenset()
) -> Ran:
    """Feed and read the program until it ends, or the time is over; from now on only ``mask`` is blocked."""
    end = None if timeout is None else monotonic() + timeout
    late = False
    try:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        if not _talk(pid, mine, data, printed, end) or (end is not None and not _ended_by(pid, end)):
            late = not _has_ended(pid)
            _kill(pid)
        _, status = os.waitpid(pid, 0)
    except BaseException:  # an interrupt must not leave the program running
        _stop(pid)
        raise
    finally:
        _close(mine)
        for part in printed:
            part.close()
    code = os.waitstatus_to_exitcode(status)
    out, err = (part.text() for part in printed)
    if late:
        return Ran(TIMED_OUT, out, err, pid, True, int(signal.SIGKILL))
    return Ran(code if code >= 0 else 128 - code, out, err, pid, False, max(-code, 0))


def _talk(pid: int, mine: list[int], data: bytes, printed: Both, end: float | None) -> bool:
    """Write input and read output at the same time, so that no full pipe blocks either side; False when the
    time is over.
    """
    ended = os.pidfd_open(pid)
    try:
        return _talk_until(ended, mine, data, printed, end)
    finally:
        os.close(ended)


def _talk_until(ended: int, mine: list[int], data: bytes, printed: Both, end: float | None) -> bool:
    """``ended`` is ready when the program has ended: then the rest of its output is read for a short time."""
    import select

    into = {fd: kept for fd, kept in zip(mine[1:], printed, strict=True) if fd >= 0}
    feed, rest = mine[0], memoryview(data)
    poll = select.poll()
    for fd in into:
        poll.register(fd, select.POLLIN)
    if feed >= 0:
        os.set_blocking(feed, False)
        poll.register(feed, select.POLLOUT)
    poll.register(ended, select.POLLIN)
    left = len(into) + (feed >= 0)
    linger = None
    while left:
        until = end if linger is None or (end is not None and end < linger) else linger
        ready = poll.poll(None if until is None else max(0.0, (until - monotonic()) * 1000))
        if not ready and until is not None and monotonic() >= until:
            return until == linger
        for fd, _ in ready:
            if fd == ended:
                poll.unregister(ended)
                linger = monotonic() + LINGER
                continue
            if fd == feed:
                rest = _push(fd, rest)
                over = not rest
            else:
                piece = os.read(fd, CHUNK)
                into[fd].append(piece)
                over = not piece
            if over:
                poll.unregister(fd)
                _close_one(mine, fd)
                left -= 1
    return True


def _push(feed: int, rest: memoryview) -> memoryview:
    """Write input, and return the rest; empty if the program no longer reads."""
    try:
        return rest[os.write(feed, rest[:CHUNK]) :]
    except BlockingIOError:
        return rest
    except BrokenPipeError:
        return memoryview(b"")


def _ended_by(pid: int, end: float) -> bool:
    """Wait for the end: a program that closes its streams and continues has the rest of its time."""
    import select

    ended = os.pidfd_open(pid)
    poll = select.poll()
    poll.register(ended, select.POLLIN)
    try:
        return bool(poll.poll(max(0.0, (end - monotonic()) * 1000)))
    finally:
        os.close(ended)


def _has_ended(pid: int) -> bool:
    """True if the program has ended, without collecting its exit code; a child of it may still hold the
    streams open.
    """
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _kill(pid: int, number: int = signal.SIGKILL) -> None:
    """Signal a program and all that it has started, which are a process group."""
    try:
        os.killpg(pid, number)
    except (ProcessLookupError, PermissionError):
        pass


def _stop(pid: int) -> None:
    """Terminate first, and kill later: a package manager killed in the middle leaves a broken machine."""
    _kill(pid, signal.SIGTERM)
    if not _ended_by(pid, monotonic() + PATIENCE):
        _kill(pid)
    os.waitpid(pid, 0)


def _close_one(mine: list[int], fd: int) -> None:
    mine[mine.index(fd)] = -1
    os.close(fd)


def _close(fds: Iterable[int]) -> None:
    for fd in fds:
        if fd >= 0:
            os.close(fd)


def _environment(env: Mapping[str, str] | None, clean: bool, who: User | None) -> dict[str, str]:
    from saltern.system.environ import environment

    result = {} if clean else environment()
    if who:
        result |= {"HOME": who.home, "USER": who.name, "LOGNAME": who.name, "SHELL": who.shell}
    if clean:
        result.setdefault("PATH", os.environ.get("PATH", os.defpath))
    return result | dict(env or {})
