"""Find processes by a pattern, for services without a status."""

from __future__ import annotations

import os
import re

from saltern.modules.api.refused import Refused


def pids_of(pattern: str) -> list[int]:
    """The processes whose command line matches, without ourselves and our parents."""
    try:
        fits = re.compile(pattern).search
    except re.error as problem:
        raise Refused(f"sig is not a regular expression: {problem}") from None
    ours = {os.getpid(), os.getppid()}
    pids = sorted(map(int, filter(str.isdigit, os.listdir("/proc"))))
    return [pid for pid in pids if pid not in ours and (line := _line(pid)) and fits(line)]


def _line(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().replace(b"\0", b" ").decode("utf-8", "replace").strip()
    except OSError:
        return ""  # it has ended meanwhile
