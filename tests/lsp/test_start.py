"""The command itself: how it starts, what it says when it cannot, how it ends."""

from __future__ import annotations

import fcntl
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.lsp.editor import Editor, write

BODY = b'{"jsonrpc": "2.0", "id": 1, "method": "textDocument/hover", "params": {}}'
QUESTION = b"Content-Length: %d\r\n\r\n%s" % (len(BODY), BODY)
SALTERN = [sys.executable, "-m", "saltern"]


def test_without_its_packages_it_says_what_to_install(tmp_path: Path) -> None:
    write(tmp_path, {"sitecustomize.py": "import sys\nsys.modules['pygls'] = None\n"})
    run = subprocess.run(
        [*SALTERN, "lsp"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        input="",
        capture_output=True,
        text=True,
    )
    assert run.returncode == 1
    assert "pip install 'saltern[lsp]'" in run.stderr
    assert "Traceback" not in run.stderr
    assert run.stdout == ""


def test_no_other_command_imports_it() -> None:
    code = "import sys; from saltern.cli.main import run; run(['docs', 'test'])"
    code += "; print('pygls' in sys.modules, 'asyncio' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stdout.splitlines()[-1] == "False False"


@pytest.mark.parametrize("address", ["nowhere", "localhost:", "127.0.0.1:99999"])
def test_an_address_that_is_none_is_reported(address: str) -> None:
    run = subprocess.run([*SALTERN, "lsp", "--tcp", address], capture_output=True, text=True)
    assert run.returncode == 1
    assert "HOST:PORT" in run.stderr


def test_a_word_too_many_is_reported() -> None:
    run = subprocess.run([*SALTERN, "lsp", "states"], input="", capture_output=True, text=True)
    assert run.returncode == 1
    assert "unrecognized arguments: states" in run.stderr


def test_the_end_of_its_input_ends_it() -> None:
    run = subprocess.run([*SALTERN, "lsp"], input="", capture_output=True, text=True, timeout=200)
    assert (run.returncode, run.stdout) == (0, "")


def test_nonsense_on_the_wire_does_not_end_it(shared: Editor, tmp_path: Path) -> None:
    process = subprocess.Popen(
        [*SALTERN, "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdin and process.stdout
    for body in (b"{", b'{"jsonrpc": "2.0", "id": 1, "method": "textDocument/hover", "params": {}}'):
        process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
    process.stdin.flush()
    assert process.stdout.readline().startswith(b"Content-Length")
    assert process.poll() is None
    try:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=200)
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_it_while_its_editor_is_silent(number: signal.Signals) -> None:
    with subprocess.Popen(
        [*SALTERN, "lsp"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),  # nohup ignores some
    ) as process:
        try:
            _answered(process)
            process.send_signal(number)
            assert process.wait(timeout=200) == 130  # its input is open, and nothing comes
        finally:
            process.kill()


HEARD_ELSEWHERE = """
import os, signal, threading, time
from saltern.lsp.termination import ended_by_signals

def interrupt():
    waits = f"/proc/self/task/{os.getpid()}/wchan"
    for _ in range(100):  # times at most: a kernel may not say what a thread waits for
        if "pipe_read" in open(waits).read():
            break
        time.sleep(0.05)
    signal.pthread_kill(threading.get_ident(), signal.SIGINT)

with ended_by_signals(lambda: print("cleaned up", flush=True), 130):
    threading.Thread(target=interrupt).start()
    os.read(os.pipe()[0], 1)
"""


def test_a_signal_ends_it_while_its_main_thread_cannot_handle_it() -> None:
    """As if it came just before the main thread waits; here, another thread is interrupted by it."""
    done = subprocess.run(
        [sys.executable, "-c", HEARD_ELSEWHERE],
        capture_output=True,
        text=True,
        timeout=200,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert (done.returncode, done.stdout) == (130, "cleaned up\n"), done.stderr


def test_a_signal_ends_it_while_its_editor_does_not_read() -> None:
    with subprocess.Popen(
        [*SALTERN, "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        try:
            _answered(process)
            fcntl.fcntl(process.stdout or 0, fcntl.F_SETPIPE_SZ, 4096)
            os.set_blocking(process.stdin.fileno() if process.stdin else 0, False)
            _ask_until_it_waits(process)
            process.send_signal(signal.SIGTERM)
            assert process.wait(timeout=200) == 130
        finally:
            process.kill()


def _answered(process: subprocess.Popen[bytes]) -> None:
    """It has read a question: its signals are its own by then."""
    assert process.stdin and process.stdout
    process.stdin.write(QUESTION)
    process.stdin.flush()
    assert process.stdout.readline().startswith(b"Content-Length")


def _ask_until_it_waits(process: subprocess.Popen[bytes]) -> None:
    """Until it takes no more questions, since it cannot write its answers."""
    assert process.stdin
    full, end = 0, time.monotonic() + 200
    while full < 20 and time.monotonic() < end:
        try:
            os.write(process.stdin.fileno(), QUESTION)
            full = 0
        except BlockingIOError:
            full += 1
            time.sleep(0.05)
    assert full == 20


def test_an_editor_may_connect_over_tcp() -> None:
    process = subprocess.Popen([*SALTERN, "lsp", "--tcp", "127.0.0.1:0"], stderr=subprocess.PIPE, text=True)
    assert process.stderr
    host, _, port = process.stderr.readline().split()[-1].rpartition(":")
    body = b'{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}}'
    with socket.create_connection((host, int(port)), timeout=200) as wire, wire.makefile("rwb") as file:
        file.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        file.flush()
        length = int(file.readline().split()[-1])
        while file.readline().strip():
            pass
        assert b'"completionProvider"' in file.read(length)
    process.communicate(timeout=200)
    assert process.returncode == 0
