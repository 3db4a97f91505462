"""A socket at a path that the kernel would not take."""

from __future__ import annotations

import os
import socket
import stat
from pathlib import Path

import pytest

from saltern.system import long_sockets


@pytest.mark.parametrize("length", [1, 90, 200])
def test_both_ends_meet_at_a_path_of_any_length(tmp_path: Path, length: int) -> None:
    path = tmp_path / ("d" * length) / "s.sock"
    path.parent.mkdir()
    with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as client:
        before = len(os.listdir("/proc/self/fd"))
        long_sockets.bind(server, str(path))
        server.listen()
        long_sockets.connect(client, str(path))
        assert len(os.listdir("/proc/self/fd")) == before
        assert stat.S_ISSOCK(path.stat().st_mode)


def test_nothing_listens_at_a_long_path(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as client, pytest.raises(FileNotFoundError):
        long_sockets.connect(client, str(tmp_path / ("d" * 200) / "s.sock"))
