"""Where orchestrations are kept: a folder for each, with its journal and a note of how its fleet is reached.

Each has its own lock: orchestrations run in parallel with each other and with runs of this machine.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from saltern.config.settings import Settings, state_directory
from saltern.fleet.protocol.ids import is_jid
from saltern.journal.runs import Runs
from saltern.journal.summaries import RESUMABLE, Summary
from saltern.language.diagnostics import Diagnostic, OperationError, did_you_mean
from saltern.system import atomic

FOLDER, NOTE = "orchestrations", "orchestration.json"


class Note(Struct, frozen=True, kw_only=True):
    """How an orchestration was started: its SLS, its controller or roster, and its parent orchestration."""

    jid: str
    sls: tuple[str, ...] = ()
    controller: str = ""
    ssh: dict[str, Any] = {}
    parent: str | None = None


class Orchestrations:
    """The orchestrations below one directory."""

    def __init__(self, settings: Settings) -> None:
        self.base = os.path.join(state_directory(settings), FOLDER)

    def path(self, jid: str) -> str:
        return os.path.join(self.base, jid)

    def add(self, note: Note) -> None:
        """Make the folder of a new orchestration, with its note."""
        path = self.path(note.jid)
        os.makedirs(path, 0o700, exist_ok=True)
        atomic.write(os.path.join(path, NOTE), msgspec.json.encode(note))

    def note(self, jid: str) -> Note:
        """How an orchestration was started. Raises ``OperationError`` if there is none with this number."""
        try:
            with open(os.path.join(self.path(jid), NOTE), "rb") as file:
                return msgspec.json.decode(file.read(), type=Note)
        except (OSError, msgspec.DecodeError):
            fix = did_you_mean(jid, self.jids()) or "`saltern orchestrate --list` lists them"
            what = f"no orchestration is called {jid!r}"
            raise OperationError(Diagnostic(code="orchestration-unknown", what=what, fix=fix)) from None

    def jids(self) -> list[str]:
        """The numbers of all orchestrations, the newest first."""
        try:
            return sorted((name for name in os.listdir(self.base) if is_jid(name)), reverse=True)
        except OSError:
            return []

    def settings(self, jid: str, settings: Settings) -> Settings:
        return msgspec.structs.replace(settings, state_dir=self.path(jid))

    def summary(self, jid: str, settings: Settings) -> Summary | None:
        """The summary of an orchestration; None if it broke before it had a journal."""
        return next(iter(Runs(self.settings(jid, settings)).summaries()), None)

    def summaries(self, settings: Settings) -> Iterable[tuple[str, Summary | None]]:
        for jid in self.jids():
            yield jid, self.summary(jid, settings)

    def last_broken(self, settings: Settings) -> str | None:
        """The newest orchestration that can be resumed."""
        found = (jid for jid, one in self.summaries(settings) if one is not None and one.status in RESUMABLE)
        return next(found, None)

    def prune(self, settings: Settings) -> None:
        """Remove the oldest orchestrations, except those that can still be resumed."""
        import shutil

        for jid in self.jids()[settings.keep_runs :]:
            one = self.summary(jid, settings)
            if one is None or one.status not in (*RESUMABLE, "running"):
                shutil.rmtree(self.path(jid), ignore_errors=True)


class CursorFile:
    """The number of the event that the last job began after, in a file."""

    def __init__(self, folder: str) -> None:
        self._path = os.path.join(folder, "cursor")

    def read(self) -> int:
        try:
            with open(self._path, encoding="ascii") as file:
                return int(file.read())
        except (OSError, ValueError):
            return 0

    def write(self, number: int) -> None:
        atomic.write(self._path, str(number).encode())


def given_options(args: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """The options that were given on the command line."""
    return {name: args[name] for name in names if args.get(name) not in (None, False)}
