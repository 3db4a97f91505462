"""The remote side of a session, after the bundle is installed: takes a job, runs it in a worker, and reports
on it.

The worker is a separate process, which survives a cut of the connection. A caller that comes back with the
same job finds it: running, done, or to be continued after a reboot.
"""

from __future__ import annotations

import io
import os
import queue
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import cached_property
from typing import Any

import msgspec

from saltern.fleet.agent.task import PART, JobFolder, Step, Task
from saltern.fleet.files.problems import NotFetched
from saltern.fleet.ssh.remote.caller import Caller, Frame, Gone
from saltern.fleet.ssh.remote.folders import own_directory, remove_old_jobs
from saltern.fleet.ssh.remote.questions import QuestionSocket
from saltern.fleet.ssh.remote.record_feed import RecordFeed
from saltern.fleet.ssh.remote.trees import Trees
from saltern.fleet.ssh.remote.work import begin, next_attempt

LOOK = 0.03  # seconds between two checks of a job
SLOW_LOOK = 0.25
OFTEN = 40  # checks after which they become less frequent
LARGEST_LEG = 200_000  # bytes of the leg of a chain; a longer one is reported at its end
FORGOTTEN = "the system no longer knows the job, although it was begun there"
Roots = dict[str, list[str]]


def serve(stream_in: io.BufferedReader, stream_out: io.BufferedWriter, base: str, umask: int) -> None:
    """Answer the caller until the channel ends. Workers continue, with the umask that the login has."""
    try:
        Server(Caller(stream_in, stream_out), base, umask).run()
    except Gone:
        pass


class Server:
    """One session: at most one job at a time is followed."""

    def __init__(self, caller: Caller, base: str, umask: int) -> None:
        self._caller = caller
        self._umask = umask
        self._base = self._own = base
        self._trees = Trees(os.path.join(base, "files"), caller)
        self._waiting: dict[int, queue.Queue[Frame]] = {}
        self._number = 0
        self._pillar: str | None = None
        self._lock = threading.Lock()

    def run(self) -> None:
        while True:
            head, body = self._caller.receive()
            DO[head["do"]](self, head, body)

    # -- a job ---------------------------------------------------------------------------------------

    def start(self, head: dict[str, Any], _body: bytes) -> None:
        """Begin a job that is not known here, and follow it either way."""
        task = msgspec.convert(head["task"], Task)
        self._pillar = head.get("pillar")
        self._own = own_directory(self._base, str(task.overrides.get("id", "")))
        folder = JobFolder(os.path.join(self._own, "jobs", task.jid))
        socket = os.path.join(self._own, "jobs", f"{task.jid}.sock")
        begun = os.path.exists(folder.file("task"))
        if not begun and head.get("begun"):
            return self._caller.send({"is": "lost", "why": FORGOTTEN})
        if not begun:
            remove_old_jobs(os.path.join(self._own, "jobs"), self._trees.release)
            task = self._prepare(task, head.get("tree", ""), head.get("roots", {}), socket)
        with closing(QuestionSocket(socket, self.ask)) as listener:
            if not begun:
                begin(folder, task, self._umask)  # a fork must happen before there is another thread
            listener.start()
            self._caller.send({"is": "begun"})
            records = RecordFeed(folder, self._caller, wanted=bool(head.get("records")))
            return self._follow(folder, records, listener)

    def _prepare(self, task: Task, tree: str, roots: Roots, socket: str) -> Task:
        options: dict[str, Any] = {
            "state_dir": os.path.join(self._own, "state"),
            "cachedir": os.path.join(self._base, "cache"),
            **(self._trees.options(tree, task.jid, socket) if tree else {}),
        }
        return msgspec.structs.replace(
            task,
            socket=socket,
            overrides={**options, **task.overrides},
            names=_names(options.get("file_roots", {}), roots),
        )

    def _follow(self, folder: JobFolder, records: RecordFeed, listener: QuestionSocket) -> None:
        """Report the progress of the job until it has ended, or until the caller is gone."""
        last: tuple[Step, bytes] = Step(), b""
        looks = 0
        while True:
            self._hear(folder, records, LOOK if looks < OFTEN else SLOW_LOOK)
            looks += 1
            listener.keep()
            ended = not folder.lock.holder()
            now = folder.step() or Step(), folder.bytes("leg")
            if now != last:
                self._caller.send({"is": "progress", **_progress(*now, is_new=now[1] != last[1])})
                last, looks = now, 0
            if not records.send_next() and ended and not self._settled(folder):
                return

    def _settled(self, folder: JobFolder) -> bool:
        """Decide on a job without a worker: True if a new worker continues, False if the job is over."""
        outcome = folder.outcome()
        if outcome is not None:
            self._report(folder, {"is": "done", **msgspec.to_builtins(outcome)}, outcome.parts)
            return False
        task = next_attempt(folder)
        if task is None:
            self._caller.send({"is": "lost", "why": folder.text("err", 4000).strip()})
            return False
        begin(folder, task, self._umask)
        return True

    def _report(self, folder: JobFolder, head: dict[str, Any], parts: int) -> None:
        body = b""
        for number in range(parts):
            with open(folder.file(PART.format(number)), "rb") as file:
                body += file.read()
        self._caller.send(head, body)

    def _hear(self, folder: JobFolder, records: RecordFeed, wait: float) -> None:
        """Process what the caller sends in the next moment."""
        frame = self._caller.receive_soon(wait)
        if frame is None:
            return
        head, _ = frame
        if head["do"] == "answer":
            self._waiting[head["number"]].put(frame)
        elif head["do"] == "cancel":
            _cancel(folder, hard=bool(head.get("hard")))
        elif head["do"] == "stored":
            records.confirmed()

    # -- questions of workers ------------------------------------------------------------------------

    def ask(self, question: dict[str, Any]) -> dict[str, Any]:
        """The answer to a worker's request: from this host if possible, else from the caller."""
        if question.get("ask") == "paused":
            pause = JobFolder(os.path.join(self._own, "jobs", str(question["jid"]))).read_pause()
            self._caller.send({"is": "paused", "kind": pause.kind, "seconds": pause.seconds})
            return {}
        if question.get("ask") == "pillar" and self._pillar is not None:
            return {"pillar": self._pillar}
        if question.get("ask") in ("pillar", "render"):
            question = {**question, "grains": self._grains}
        if question.get("ask") == "file":
            return self._trees.fetch(str(question["tree"]), str(question["path"]), self._contents)
        answer: dict[str, Any] = next(self._answers(question))[0]["answer"]
        return answer

    def _contents(self, question: dict[str, Any]) -> Iterator[bytes]:
        for head, body in self._answers(question):
            if problem := head.get("problem"):
                raise NotFetched(problem)
            yield body

    def _answers(self, question: dict[str, Any]) -> Iterator[Frame]:
        """What the caller answers, in one frame or several."""
        answers: queue.Queue[Frame] = queue.Queue()
        with self._lock:
            self._number += 1
            number = self._number
            self._waiting[number] = answers
        self._caller.send({"is": "question", "number": number, "question": question})
        more = True
        while more:
            frame = answers.get()
            more = bool(frame[0].get("more"))
            yield frame
        del self._waiting[number]

    # -- other requests ------------------------------------------------------------------------------

    @cached_property
    def _grains(self) -> dict[str, Any]:
        """The grains of the machine, as data that can be sent."""
        from saltern.config.load import load
        from saltern.engine.nested_engine import make_session

        settings, _ = load(None, {"state_dir": os.path.join(self._base, "state")}, {})
        built: dict[str, Any] = msgspec.to_builtins(dict(make_session(settings).grains), enc_hook=str)
        return built

    def deploy(self, head: dict[str, Any], body: bytes) -> None:
        """Turn the host into an agent system, or back."""
        from saltern.fleet.ssh.remote import deploy

        act = deploy.deploy if head["do"] == "deploy" else deploy.undeploy
        self._caller.send({"is": "deployed", "problem": act(self._base, head, body)})

    def agent_there(self, head: dict[str, Any], _body: bytes) -> None:
        """Report whether this version of an agent is already installed."""
        there = os.path.isdir(os.path.join(self._base, "agent", str(head["digest"])))
        self._caller.send({"is": "agent", "there": there})

    def grains(self, _head: dict[str, Any], _body: bytes) -> None:
        """Report the grains of the machine."""
        self._caller.send({"is": "grains", "grains": self._grains})


def _names(here: Roots, there: Roots) -> dict[str, str]:
    """The directories of a tree here, and those that they are copies of."""
    pairs = ((here[name], there.get(name, [])) for name in here)
    return {one: other for ours, theirs in pairs for one, other in zip(ours, theirs, strict=False)}


def _progress(step: Step, leg: bytes, *, is_new: bool) -> dict[str, Any]:
    """Where the job is; with the leg of a chain that it drives, if there is something new in it."""
    found: dict[str, Any] = msgspec.to_builtins(step)
    if is_new and leg and len(leg) <= LARGEST_LEG:
        found["leg"] = msgspec.json.decode(leg)
    return found


def _cancel(folder: JobFolder, *, hard: bool) -> None:
    import signal

    with open(folder.file("cancel"), "w"):
        pass
    pid = folder.lock.holder() if hard else 0
    if pid:
        os.kill(pid, signal.SIGINT)


DO: dict[str, Callable[[Server, dict[str, Any], bytes], None]] = {
    "start": Server.start,
    "grains": Server.grains,
    "agent": Server.agent_there,
    "deploy": Server.deploy,
    "undeploy": Server.deploy,
}
