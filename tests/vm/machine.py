"""A virtual machine with a console, to be typed at and looked at as a person would."""

from __future__ import annotations

import os
import re
import select
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from tests.vm.disk import KERNEL

PATIENCE = 600.0  # seconds for anything; all is software here, and a Python starts in one or two at best


class VirtualMachine:
    """Running from its making on. To leave it is to pull the plug. ``word`` is for its command line, and
    ``network`` for that of qemu."""

    def __init__(self, disk: Path, start: Path, *, word: str = "", network: Sequence[str] = ()) -> None:
        words = [
            *("-accel", "tcg", "-m", "512", "-nodefaults", "-no-user-config"),
            *("-nographic", "-serial", "stdio"),
            *("-kernel", str(KERNEL), "-initrd", str(start)),
            *("-append", f"console=ttyS0 quiet panic=-1 rw {word}"),
            *("-drive", f"file={disk},format=raw,if=virtio,cache=writeback"),
            *network,
        ]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(
            ["qemu-system-x86_64", *words], stdin=pipe, stdout=pipe, stderr=subprocess.STDOUT
        )
        self.said = ""
        self._seen = 0

    def sees(self, pattern: str, within: float = PATIENCE) -> re.Match[str]:
        """What the console says, from where the last look ended."""
        end = time.monotonic() + within
        while (found := re.compile(pattern).search(self.said, self._seen)) is None:
            assert self._read(end), f"{pattern!r} is not on the console:\n{self.said[-3000:]}"
        self._seen = found.end()
        return found

    def _read(self, end: float) -> bool:
        """Whether there was more before the time is over."""
        out = self._process.stdout
        assert out is not None
        ready, _, _ = select.select([out], [], [], max(0.0, end - time.monotonic()))
        text = os.read(out.fileno(), 65536).decode(errors="replace") if ready else ""
        self.said += text
        return bool(text)

    def enter(self, line: str) -> None:
        into = self._process.stdin
        assert into is not None
        into.write(f"{line}\n".encode())
        into.flush()

    def run(self, command: str) -> str:
        """Its output."""
        self.enter(f"{command}; echo code=$?.")
        begun = self._seen
        code = self.sees(r"code=(\d+)\.")[1]
        said = self.said[begun : self._seen].replace("\r", "")
        assert code == "0", said
        return said

    def up(self) -> str:
        """It has booted, and has a shell; which boot it is."""
        boot = self.sees(r"guest is up in boot (\S+)\s")[1]
        self.sees("# ")
        return boot

    def is_off(self) -> None:
        """It has switched itself off."""
        while self._read(time.monotonic() + PATIENCE):
            pass
        assert self._process.wait(PATIENCE) == 0, self.said[-3000:]

    def unplug(self) -> None:
        """Its memory is gone, with all that it had not written."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()

    def __enter__(self) -> VirtualMachine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.unplug()
