"""A process beside us that runs programs, and keeps running them if we are gone.

A program of ours would lose its output with us, and nobody would ever know its exit code. So those that
matter are run by a *keeper*: forked once, in a session of its own, it does what we ask through a pipe, and
writes down what it begins and how that ended. When we end before it, it waits for its program, makes the
result durable and ends. ``kept`` is what an earlier process of the same run has left.
"""

from __future__ import annotations

import marshal
import os
import signal
import time
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, field, msgpack

from saltern.system import effects, keeper_process, ledger, process
from saltern.system.faults import point
from saltern.system.keeper_process import PROGRAM, TOKEN
from saltern.system.ledger import Entry, Kept, Ledger
from saltern.system.process import Ran, Sink
from saltern.system.signals import was_terminated

RAISED: dict[str, type[Exception]] = {one.__name__: one for one in (ValueError, TypeError, OSError)}
LOST = "the process that ran it was killed, and how it ended is unknown"
KEPT, OUTPUT = ".kept", ".out"  # how the folders of a run end
LOOK = 0.05  # seconds between two looks at a keeper of before


class _Run(Struct):
    """Whose programs are kept, and where."""

    jid: str
    folder: str
    kept: Kept
    step: int = -1  # the number of the state that is being called
    call: int = 0  # which call of it that is: one on the other side of a barrier is another
    times: int = 0  # programs that it has asked for
    replay: frozenset[int] = frozenset()  # states that get their results of before
    hidden: bool = False  # nothing that it prints goes to a file
    ledger: Ledger | None = None  # open, and of no keeper yet
    name: str = ""  # of the ledger that the programs of this process are in
    apart: dict[int, str] = field(default_factory=dict)  # states in processes of their own → their ledgers


class _Keeper(Struct):
    pid: int
    requests: int
    replies: int
    owner: int
    environ: dict[str, str] = field(default_factory=dict)


_run: _Run | None = None
_keeper: _Keeper | None = None
_forks_watched = False


# -- the run ------------------------------------------------------------------------------------------


def begin(jid: str, folder: str) -> None:
    """Programs of this run are kept from here on."""
    global _run
    _run = _Run(jid, folder, Kept(set(), {}))


def take_up(jid: str, folder: str) -> Kept:
    """As ``begin``, for a run that broke and of which nothing is at work any more; what is known of it."""
    global _run
    _run = _Run(jid, folder, ledger.read(folder))
    return _run.kept


def end(*, forget: bool) -> None:
    """No more programs are kept. ``forget``: nor will anybody ask for what was."""
    global _run
    _close()
    if _run is not None and _run.ledger is not None:
        _run.ledger.close()
    if _run is not None and forget:
        ledger.remove(_run.folder)
    _run = None


def output_folder(kept: str) -> str:
    """Where output lies that is too long to be kept in the journal: as long as that is."""
    return kept.removesuffix(KEPT) + OUTPUT


def wait_for(folder: str) -> None:
    """Until nothing of that run is at work any more."""
    import time

    while ledger.at_work(folder):
        time.sleep(LOOK)


def at(step: int, call: int = 0, *, hidden: bool = False) -> None:
    """The state of this number is about to be called, after so many calls that have ended at a barrier."""
    if _run is not None:
        _run.step, _run.call, _run.times, _run.hidden = step, call, 0, hidden


def known(step: int, call: int = 0) -> tuple[int, int]:
    """How many programs of a state were begun before the run broke, and how many of them have ended."""
    if _run is None:
        return 0, 0
    begun = {name for name in _run.kept.begun if name.rpartition(".")[0] == called(step, call)}
    return len(begun), len(begun & _run.kept.ended.keys())


def until(step: int, call: int = 0) -> float:
    """When the last program of a state ended that was begun before the run broke; 0 if that is not known."""
    kept = _run.kept.until if _run is not None else {}
    wanted = called(step, call)
    return max((at for name, at in kept.items() if name.rpartition(".")[0] == wanted), default=0.0)


def ledger_of(step: int, *, apart: bool) -> str:
    """The ledger that the programs of a state will be in: made before the journal names it.

    So one that is named and not there was lost. Empty: none can be made. ``apart``: the state is called in a
    process of its own, which has a keeper of its own.
    """
    if _run is None:
        return ""
    if apart:
        return _run.apart.get(step) or _made_apart(_run, step)
    if not _run.name:
        try:
            _run.ledger = ledger.create(_run.folder)
            _run.name = _run.ledger.name
        except OSError:
            return ""
    return _run.name


def _made_apart(run: _Run, step: int) -> str:
    try:
        made = ledger.create(run.folder)
    except OSError:
        return ""
    made.close()
    run.apart[step] = made.name
    return made.name


def proves(name: str | None) -> bool:
    """Whether a program that the ledgers do not know was not begun. ``name``: of the ledger that it would be
    in; None: the journal is of a version that did not write that down."""
    if _run is None:
        return False
    return not _run.kept.damaged and (name is None or name in _run.kept.whole)


def called(step: int, call: int) -> str:
    """How the names of the programs of a call begin, up to the last dot."""
    return f"{step}+{call}" if call else str(step)


def replay(step: int) -> None:
    """When this state is called again, its programs have the results that they had."""
    if _run is not None:
        _run.replay |= {step}


# -- a program ----------------------------------------------------------------------------------------


def run(
    command: str | Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    sink: Sink | None = None,
    **options: Any,
) -> Ran:
    """``process.run``, by the keeper where a run is written down.

    The program finds a name in its environment that stays the same if the state is called again.
    """
    if _run is None or _run.step < 0 or sink is not None:
        return process.run(command, env=env, sink=sink, **options)
    _run.times += 1
    name = f"{called(_run.step, _run.call)}.{_run.times}"
    if _run.step in _run.replay and name in _run.kept.ended:
        return _run.kept.ended[name]
    token = {TOKEN: f"{_run.jid}.{_run.step}"}
    options["env"] = {**token, **(env or {}), PROGRAM: os.urandom(8).hex()}
    if not _run.hidden:
        options["spill"] = os.path.join(output_folder(_run.folder), name)
    effects.acting()  # whatever is known is on disk before the keeper hears of it
    point("keeper.ask")
    keeper = _opened(_run)
    if keeper is None:
        return _run_here(_run, name, command, options)
    return _asked(keeper, name, _plain(command), {word: _plain(value) for word, value in options.items()})


def _run_here(run: _Run, name: str, command: str | Sequence[str], options: dict[str, Any]) -> Ran:
    """There is no keeper: the ledger has what is begun, all the same."""
    if run.ledger is None:
        return process.run(command, **options)
    ledger.add(run.ledger, Entry(name, os.getpid()))
    ran = process.run(command, **options)
    ledger.add(run.ledger, Entry(name, os.getpid(), ran, time.time()))
    return ran


def _plain(value: Any) -> Any:
    """Without the types of whoever asks: the keeper knows only Python's own."""
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, Mapping):
        return {_plain(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return value


def _asked(keeper: _Keeper, name: str, command: str | list[str], options: dict[str, Any]) -> Ran:
    now = dict(os.environ)
    environ, keeper.environ = (None if now == keeper.environ else now), now
    request = marshal.dumps((name, command, options, environ))  # names of files are not always UTF-8
    try:
        keeper_process.write(keeper.requests, request)
        point("keeper.asked")
        told = keeper_process.read(keeper.replies)
    except BrokenPipeError:
        told = None
    except BaseException:
        _interrupted(keeper)
        raise
    point("keeper.told")
    if told is None:
        _close()
        keeper_process.sweep(options["env"])
        return Ran(128 + signal.SIGKILL, err=LOST, pid=keeper.pid, signal=int(signal.SIGKILL), lost=True)
    answer = msgpack.decode(told, type=keeper_process.Answer)
    if answer.ran is None:
        raise RAISED.get(answer.raised, RuntimeError)(answer.text)
    return answer.ran


def _interrupted(keeper: _Keeper) -> None:
    """A user at the keyboard wants the program to end, too. Whoever ends *us* does not mean it."""
    global _keeper
    if was_terminated():
        _close(wait=False)
        return
    import select

    _keeper = None
    os.close(keeper.requests)  # one that was not asked yet ends by that
    os.kill(keeper.pid, signal.SIGINT)
    while not select.select([keeper.replies], [], [], LOOK)[0]:
        os.kill(keeper.pid, signal.SIGINT)  # it may just have begun, and not have heard the first
    os.close(keeper.replies)
    os.waitpid(keeper.pid, 0)


# -- the keeper ---------------------------------------------------------------------------------------


def _opened(run: _Run) -> _Keeper | None:
    """Ours, started when it is first needed; None if there cannot be one."""
    global _keeper, _forks_watched
    if _keeper is not None:
        return _keeper
    if not _forks_watched:
        _forks_watched = True
        os.register_at_fork(after_in_child=_forget)
    try:
        # Locked before there is a process that could be asked: who finds the lock free finds all there is.
        book = run.ledger or ledger.create(run.folder, run.apart.get(run.step, ""))
        run.name, run.ledger = book.name, None
    except OSError:
        return None
    theirs, requests = os.pipe()
    replies, answers = os.pipe()
    try:
        pid = os.fork()
    except OSError:
        run.ledger = book
        for one in (theirs, requests, replies, answers):
            os.close(one)
        return None
    if pid == 0:
        keeper_process.serve(theirs, answers, book)
    book.close()
    for one in (theirs, answers):
        os.close(one)
    _keeper = _Keeper(pid, requests, replies, os.getpid(), dict(os.environ))
    return _keeper


def _close(*, wait: bool = True) -> None:
    global _keeper
    if _keeper is None:
        return
    mine, _keeper = _keeper, None
    if _run is not None:
        _run.name = ""  # the next has a ledger of its own
    os.close(mine.requests)
    os.close(mine.replies)
    if wait and mine.owner == os.getpid():
        os.waitpid(mine.pid, 0)


def _forget() -> None:
    """A child of ours asks a keeper of its own; and ours must notice when we are gone."""
    if _run is not None and _run.ledger is not None:
        _run.ledger.close()
        _run.ledger = None
    _close(wait=False)
