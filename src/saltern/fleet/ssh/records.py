"""Jobs over SSH that were begun from this machine, so that the same command can find one again."""

from __future__ import annotations

import os
from typing import Any

import msgspec
from msgspec import Struct

from saltern.fleet.ssh.kept_blocks import SUFFIX, KeptBlocks
from saltern.system import atomic

KEPT = 100


class Record(Struct, frozen=True, kw_only=True):
    """A job, what it called, and the hosts that it was meant for."""

    jid: str
    call: dict[str, Any]
    hosts: list[str]


class Records:
    """One file for each job, below a directory; the names sort by time."""

    def __init__(self, directory: str) -> None:
        self._directory = directory

    def write(self, record: Record) -> None:
        """Keep a record, before its job is begun anywhere."""
        os.makedirs(self._directory, 0o700, exist_ok=True)
        atomic.write(os.path.join(self._directory, f"{record.jid}.json"), msgspec.json.encode(record))
        for name in self._names()[:-KEPT]:
            path = os.path.join(self._directory, name)
            KeptBlocks(path.removesuffix(".json") + SUFFIX).remove()
            os.remove(path)

    def latest(self, call: dict[str, Any]) -> Record | None:
        """The newest job with the same call."""
        for name in reversed(self._names()):
            record = self._read(name)
            if record is not None and record.call == call:
                return record
        return None

    def _names(self) -> list[str]:
        try:
            return sorted(name for name in os.listdir(self._directory) if name.endswith(".json"))
        except FileNotFoundError:
            return []

    def _read(self, name: str) -> Record | None:
        try:
            with open(os.path.join(self._directory, name), "rb") as file:
                return msgspec.json.decode(file.read(), type=Record)
        except (OSError, msgspec.DecodeError):
            return None
