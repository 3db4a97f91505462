"""What an editor does not let a template do."""

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
    "a shell is run": "os.system('touch ' + place)",
    "a process is forked": "os.fork()",
    "a connection is made": "socket.create_connection(('127.0.0.1', 9))",
    "a process is killed": "os.kill(os.getppid(), 0)",
    "compiled code is planted": "open(os.path.join(os.path.dirname(place), '__pycache__', 'x.pyc'), 'wb')",
}


@pytest.mark.parametrize("act", ACTS.values(), ids=ACTS.keys())
def test_it_is_refused(act: str, tmp_path: Path) -> None:
    (tmp_path / "__pycache__").mkdir()
    script = tmp_path / "script.py"
    script.write_text(
        "import os, socket, subprocess, sys\n"
        "from saltern.lsp.guard import Refused, refuse\n"
        "place = sys.argv[1]\n"
        "refuse()\n"
        "os.listdir('.'), open(__file__).read(), open(os.devnull, 'w').write('x')\n"
        f"try:\n    {act}\nexcept Refused as problem:\n    print(problem)\n"
    )
    run = subprocess.run(
        [sys.executable, str(script), str(tmp_path / "made")], capture_output=True, text=True, check=True
    )
    assert "refused in the editor" in run.stdout
    assert not (tmp_path / "made").exists()
    assert list((tmp_path / "__pycache__").iterdir()) == []
    assert script.exists()
