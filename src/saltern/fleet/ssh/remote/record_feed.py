"""Sends the journal of a job to a caller that stores it, one message at a time."""

from __future__ import annotations

import os
from contextlib import suppress

import msgspec

from saltern.fleet.agent.returns import kept_records
from saltern.fleet.agent.task import RECORDS, JobFolder
from saltern.fleet.ssh.remote.caller import Caller


class RecordFeed:
    """Sends the records of the worker's run. ``wanted``: the caller stores them; else they stay here."""

    def __init__(self, folder: JobFolder, caller: Caller, *, wanted: bool) -> None:
        self._folder = folder
        self._caller = caller
        self._wanted = wanted
        self._sent: dict[str, int] = {}  # the files of the message under way, and their inodes

    def send_next(self) -> bool:
        """Send a message if there is one and none is under way. False if the caller has everything."""
        if not self._wanted:
            return False
        if not self._sent and (files := self._folder.batches()):
            self._send(files)
        return bool(self._sent)

    def _send(self, files: list[str]) -> None:
        inodes = {path: os.stat(path).st_ino for path in files}
        message = next(kept_records(self._folder), None)
        if message is None:  # all of them are damaged
            return self._remove(inodes)
        past = message.first + len(message.records)
        self._sent = {path: inode for path, inode in inodes.items() if _number(path) < past}
        return self._caller.send({"is": "records"}, msgspec.json.encode(message))

    def confirmed(self) -> None:
        """The caller has stored the message that is under way."""
        self._remove(self._sent)
        self._sent = {}

    def _remove(self, files: dict[str, int]) -> None:
        """Remove files, unless another worker has put others in their places meanwhile."""
        for path, inode in files.items():
            with suppress(FileNotFoundError):
                if os.stat(path).st_ino == inode:
                    os.remove(path)


def _number(path: str) -> int:
    return int(os.path.basename(path).removeprefix(RECORDS))
