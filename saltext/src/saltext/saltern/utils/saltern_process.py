"""Run a saltern command in a process of its own, and answer its questions until it ends.

The command asks through a UNIX socket, one line of JSON for a question and one for the answer. Questions are
answered in the thread that waits for the command, because Salt's functions belong to that thread.
"""

import contextlib
import json
import os
import selectors
import signal
import socket
import subprocess
import time

STEP = 0.5  # seconds between two checks of a process whose end cannot be awaited
LONGEST = 1 << 20  # bytes of output that are passed on at once
QUESTION = 1 << 26  # bytes of a question; an event has all changes of a state
JOB = "SALTERN_WORKER_JOB"
"""The environment variable that names the job that a run belongs to."""
PATIENCE = 10  # seconds for a question to arrive


def start(command, folder, others=(), time_limit=None, job=""):
    """Start the command; its output is kept in ``folder``. It may ask questions there and in ``others``.

    ``job``: the Salt job that it belongs to.
    """
    return Command(command, folder, others, time_limit, job)


class Command:
    """A command that runs. Iterate over ``questions`` to the end, then call ``result``."""

    def __init__(self, command, folder, others, time_limit, job):
        self._end = time.monotonic() + time_limit if time_limit else None
        self._listeners = {_listen(one): one for one in (folder, *others)}
        self._out, self._err = _file(folder, "out"), _file(folder, "err")
        self._read = 0  # bytes of the output that were passed on
        self._process = subprocess.Popen(
            command,
            cwd="/",
            env={**os.environ, JOB: job} if job else None,
            stdin=subprocess.DEVNULL,
            stdout=self._out,
            stderr=self._err,
            start_new_session=True,
        )

    def questions(self, on_line=None):
        """Each question, with its folder and the function that sends its answer, until the command ends.

        After the time limit the command gets SIGTERM: it ends after the state it is at, and can be resumed.
        ``on_line`` is called with each line of its output, at most half a second after it was written.
        """
        watched = self._end or on_line
        with selectors.DefaultSelector() as ready, contextlib.ExitStack() as opened:
            for listener in self._listeners:
                ready.register(listener, selectors.EVENT_READ)
            ended = _watch_end(self._process, ready, opened)
            while self._process.poll() is None:
                for key, _ in ready.select(STEP if watched or not ended else None):
                    if key.fileobj in self._listeners:
                        yield from _received(key.fileobj, self._listeners[key.fileobj])
                self._hand_lines(on_line)
                if self._end and time.monotonic() > self._end:
                    self._process.send_signal(signal.SIGTERM)
                    self._end = None
            self._hand_lines(on_line)

    def _hand_lines(self, on_line):
        """Call ``on_line`` with the complete lines that were not passed to it yet."""
        if on_line is None:
            return
        found = os.pread(self._out.fileno(), LONGEST, self._read)
        whole = found[: found.rfind(b"\n") + 1]
        self._read += len(whole)
        for line in whole.splitlines():
            on_line(line.decode("utf-8", "replace"))

    def result(self):
        """The exit code, the output and the errors of a command that has ended."""
        code, texts = self._process.wait(), [_text(file) for file in (self._out, self._err)]
        self.close()
        return code, *texts

    def close(self):
        for one in (*self._listeners, self._out, self._err):
            one.close()


def _listen(folder):
    """A socket in ``folder``, whose path may be longer than the kernel allows for an address."""
    path = os.path.join(folder, "socket")
    if os.path.lexists(path):
        os.unlink(path)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    directory = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        listener.bind(f"/proc/self/fd/{directory}/socket")
    finally:
        os.close(directory)
    listener.listen(16)
    return listener


def is_served(folder):
    """True if a process answers questions in ``folder``."""
    directory = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
        try:
            line.connect(f"/proc/self/fd/{directory}/socket")
        except OSError:
            return False
        finally:
            os.close(directory)
    return True


def _file(folder, name):
    number = os.open(os.path.join(folder, name), os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
    return os.fdopen(number, "w+b")


def _text(file):
    file.seek(0)
    return file.read().decode("utf-8", "replace")


def _watch_end(process, ready, opened):
    """True if ``ready`` reports the end of the process; the kernel must have a descriptor for it."""
    try:
        ended = os.pidfd_open(process.pid)
    except (AttributeError, OSError):
        return False
    opened.callback(os.close, ended)
    ready.register(ended, selectors.EVENT_READ)
    return True


def _received(listener, folder):
    """The question of a caller that has connected; none if it has disconnected."""
    line, _ = listener.accept()
    with line:
        line.settimeout(PATIENCE)
        try:
            with line.makefile("rb") as stream:
                question = json.loads(stream.readline(QUESTION))
        except (OSError, ValueError):
            return
        yield folder, question, lambda answer: _send(line, answer)


def _send(line, answer):
    with contextlib.suppress(OSError):  # the command has gone, or asks again
        line.sendall(json.dumps(answer).encode() + b"\n")
