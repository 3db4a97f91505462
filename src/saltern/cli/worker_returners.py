"""Call the returners that a job names with its result, after it has ended.

Each is called once for a job, whatever happens to its workers: the call is recorded before it is made.
An error in a returner is part of the return, not a failure of the job.
"""

from __future__ import annotations

import logging
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from saltern.fleet.agent.output import read_output
from saltern.fleet.agent.task import RETURNERS, JobFolder, Outcome, Task
from saltern.fleet.protocol.codec import BadMessage
from saltern.language import secrets
from saltern.language.diagnostics import OperationError, words_of
from saltern.language.returner_names import failed_line
from saltern.system import atomic

if TYPE_CHECKING:
    from saltern.engine.session import Session

log = logging.getLogger(__name__)

KIND, FUNCTION = "returners", "returner"
LIMIT = 60  # seconds for one returner
STATES = frozenset({"apply", "single", "resume"})  # commands that return state results
LABEL = "local"  # the key above the data that a command prints on one machine
INTERRUPTED = "it was interrupted, and is not called a second time"
Said = dict[str, str | None]  # by name: the error, empty for none; None during the call


class TooLong(BaseException):
    """A returner exceeds its time. Not an ``Exception``, which a returner could catch."""


def call_returners(folder: JobFolder, task: Task, outcome: Outcome, engine: Callable[[], Session]) -> Outcome:
    """The outcome, with the errors of the job's returners."""
    said = _read_notes(folder)
    opened: list[Session] = []
    for name in task.returners:
        if name in said:
            said[name] = INTERRUPTED if said[name] is None else said[name]
            continue
        _write(folder, {**said, name: None})
        said[name] = secrets.mask(_call(name, task, outcome, folder, engine, opened))
        _write(folder, said)
    problems = [failed_line(name, why) for name in task.returners if (why := said[name])]
    for problem in problems:
        log.warning("job %s: %s", task.jid, problem)
    return replace(outcome, why="\n".join(filter(None, (outcome.why, *problems))))


def salt_return(task: Task, outcome: Outcome, body: Any, id: str) -> dict[str, Any]:
    """The return as Salt's minions pass it to returners. A job without a value has the reason instead."""
    words = [{"__kwarg__": True, **task.kwargs}] if task.kwargs else []
    is_labelled = task.command != "call" and isinstance(body, dict) and list(body) == [LABEL]
    return {
        **task.return_options,
        "id": id,
        "jid": task.jid,
        "fun": task.function,
        "fun_args": secrets.mask_all([*task.args, *words]),
        "return": (body[LABEL] if is_labelled else body) if outcome.parts else outcome.why or None,
        "retcode": outcome.code,
        "success": outcome.code == 0,
        **({"out": "highstate"} if task.command in STATES else {}),
    }


def _call(
    name: str,
    task: Task,
    outcome: Outcome,
    folder: JobFolder,
    engine: Callable[[], Session],
    opened: list[Session],
) -> str:
    """Call a returner; return the reason of a failure, or an empty text."""
    try:
        with _limit_time(LIMIT):
            if not opened:
                opened.append(_load_pillar(engine()))
            return _hand_over(opened[0], name, task, outcome, folder)
    except TooLong:
        return f"it took longer than {LIMIT} s"
    except OperationError as problem:
        return str(problem.diagnostics[0])
    except BadMessage as problem:
        return f"the return of the job cannot be read: {problem}"
    except (Exception, SystemExit) as problem:
        return f"{type(problem).__name__}: {words_of(problem)}"


def _load_pillar(session: Session) -> Session:
    session.load_pillar()
    return session


def _hand_over(session: Session, name: str, task: Task, outcome: Outcome, folder: JobFolder) -> str:
    from saltern.modules.api.context import Context

    library = session.library
    for shelf in (library.own, library.installed):
        module = shelf.module(KIND, name)
        found = vars(module).get(FUNCTION) if module is not None else None
        if found is not None:
            body = read_output(folder, outcome)
            found(Context(session.run), salt_return(task, outcome, body, str(session.opts["id"])))
            return ""
    whys = [why for shelf in (library.own, library.installed) if (why := shelf.why(KIND, name))]
    return "; ".join(whys) or f"there is no file _returners/{name}.py with a function 'returner' in the tree"


@contextmanager
def _limit_time(seconds: float) -> Iterator[None]:
    def late(*_: object) -> None:
        raise TooLong

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _read_notes(folder: JobFolder) -> Said:
    try:
        return msgspec.json.decode(folder.bytes(RETURNERS), type=Said)
    except msgspec.DecodeError:
        return {}


def _write(folder: JobFolder, said: Said) -> None:
    atomic.write(folder.file(RETURNERS), msgspec.json.encode(said))
