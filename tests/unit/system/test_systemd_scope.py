"""A scope of systemd for a process that runs already; test_systemd.py asks a real systemd."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from saltern.system import systemd_scope as scope

OK = b"OK 0123456789abcdef\r\n"


def answer(kind: int) -> bytes:
    """A message with one field and a body of four bytes."""
    return struct.pack("<BBBBIII", ord("l"), kind, 0, 1, 4, 7, 3) + b"abc".ljust(8, b"\0") + b"body"


@contextmanager
def manager(place: Path, *said: bytes) -> Iterator[str]:
    """A manager that reads one call, answers it with these words, and closes the connection."""
    path = str(place / "private")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path)
        listening.listen()

        def serve() -> None:
            line, _ = listening.accept()
            with line, line.makefile("rb") as file:
                assert file.readline().startswith(b"\0AUTH EXTERNAL ")
                assert file.readline() == b"BEGIN\r\n"
                size, fields = struct.unpack("<4xI4xI", file.read(scope.HEAD))
                # Closed before all of it was read, the connection would be reset, and the answer lost.
                file.read(-(-fields // 8) * 8 + size)
                line.sendall(b"".join(said))

        thread = threading.Thread(target=serve)
        thread.start()
        yield path
        thread.join()


def test_a_message_has_the_lengths_that_its_head_says() -> None:
    sent = scope.request("saltern-job-j.scope", 4242)
    kind, size, fields = struct.unpack("<xBxxIxxxxI", sent[: scope.HEAD])
    assert kind == scope.CALL
    assert len(sent) == scope.HEAD + -(-fields // 8) * 8 + size
    assert struct.pack("<I", 4242) in sent


@pytest.mark.parametrize(
    "said",
    [
        (b"REJECTED EXTERNAL\r\n",),
        (OK, answer(3)),
        (OK,),
        (OK, answer(4)[:9]),
        (),
    ],
    ids=["not root", "an error", "nothing", "half of an answer", "gone"],
)
def test_a_manager_that_does_not_do_it_is_no_scope(tmp_path: Path, said: tuple[bytes, ...]) -> None:
    with manager(tmp_path, *said) as path:
        assert not scope.enter("saltern-job-j.scope", path)


def test_no_manager_is_no_scope(tmp_path: Path) -> None:
    assert not scope.enter("saltern-job-j.scope", str(tmp_path / "none"))


def test_an_answer_after_signals_counts_when_the_kernel_agrees(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with manager(tmp_path, OK, answer(4), answer(2)) as path:
        monkeypatch.setattr(scope, "WAIT", 0.5)
        assert not scope.enter("saltern-job-j.scope", path)  # this process was not moved
    own = Path("/proc/self/cgroup").read_text().strip().rpartition("/")[2]
    (tmp_path / "private").unlink()
    monkeypatch.setattr(scope, "WAIT", 60.0)
    with manager(tmp_path, OK, answer(4), answer(2)) as path:
        assert scope.enter(own, path)
