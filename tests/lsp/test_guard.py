"""What a check of an untrusted tree may not do, whatever in it asks for that: each wall by itself."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ACTS = {
    "a file is written": "open(place, 'w')",
    "a file is written by number": "os.open(place, os.O_WRONLY | os.O_CREAT)",
    "a directory is made": "os.mkdir(place)",
    "a file is removed": "os.remove(__file__)",
    "a program is run": "subprocess.run(['touch', place])",
    "a shell is run": "shell()",
    "a process is forked": "os.fork()",
    "a process is forked below Python": "fork_below()",
    "a connection is made": "socket.create_connection(('127.0.0.1', 9))",
    "a socket is made": "socket.socket(socket.AF_UNIX)",
    "a name is looked up": "look_up()",
    "a process is killed": "os.kill(os.getppid(), 0)",
    "a file outside is read": "open('/etc/passwd').read()",
    "a directory outside is listed": "os.listdir('/etc')",
    "compiled code is planted": "open(os.path.join(os.path.dirname(place), '__pycache__', 'x.pyc'), 'wb')",
}
NOT_OF_THE_GUARD = {"a process is forked below Python"}  # Python does not report it; only code can call it
PREPARED = """\
import ctypes, os, socket, subprocess, sys
place = sys.argv[1]
libc = ctypes.CDLL(None)

def shell():
    if os.system("touch " + place):
        raise OSError("no shell")

def fork_below():
    if libc.fork() < 0:
        raise OSError("no fork")

def look_up():
    if socket.getaddrinfo("localhost", 80):
        return
"""


def script(tmp_path: Path, text: str) -> str:
    (tmp_path / "__pycache__").mkdir()
    place = tmp_path / "script.py"
    place.write_text(text)
    run = subprocess.run(
        [sys.executable, str(place), str(tmp_path / "made")], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    assert not (tmp_path / "made").exists()
    assert list((tmp_path / "__pycache__").iterdir()) == []
    assert place.exists()
    return run.stdout


@pytest.mark.parametrize("act", sorted(ACTS.keys() - NOT_OF_THE_GUARD))
def test_saltern_refuses(act: str, tmp_path: Path) -> None:
    told = script(
        tmp_path,
        f"{PREPARED}from saltern.system.guard import Refused, refuse\n"
        "refuse([os.path.dirname(place)])\n"
        "os.listdir(os.path.dirname(place)), open(__file__).read(), open(os.devnull, 'w').write('x')\n"
        f"try:\n    {ACTS[act]}\nexcept Refused as problem:\n    print(problem)\n",
    )
    assert "refused in an untrusted tree" in told


@pytest.mark.parametrize("act", ACTS)
def test_the_kernel_refuses(act: str, tmp_path: Path) -> None:
    """Without our hook: as if code had got past it."""
    told = script(
        tmp_path,
        f"{PREPARED}from saltern.system.confine import confine\n"
        "from saltern.system.guard import interpreter\n"
        "layers = confine([os.path.dirname(place), *interpreter()])\n"
        "print(*layers)\n"
        "open(__file__).read(), os.listdir(os.path.dirname(place))\n"
        f"try:\n    {ACTS[act]}\nexcept OSError as problem:\n    print('refused', problem)\n",
    )
    layers, _, rest = told.partition("\n")
    if not {"landlock", "seccomp"} <= set(layers.split()):
        pytest.skip(f"this kernel offers only {layers}")
    assert rest.startswith("refused")


def test_memory_and_children_are_bounded(tmp_path: Path) -> None:
    told = script(
        tmp_path,
        f"{PREPARED}import threading\nfrom saltern.system.confine import confine\n"
        "from saltern.system.guard import interpreter\n"
        "confine([os.path.dirname(place), *interpreter()])\n"
        "try:\n    'a' * 10**10\nexcept MemoryError:\n    print('memory')\n"
        "thread = threading.Thread(target=lambda: print('thread'))\n"
        "thread.start(); thread.join()\n",
    )
    assert told.split() == ["memory", "thread"]
