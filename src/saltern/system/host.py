"""This machine: its files and programs, behind a seam that tests can replace."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from saltern.system import files, process
from saltern.system.process import Ran, Sink

if TYPE_CHECKING:
    from saltern.system.keeper import ProgramKeeper


class Host(Protocol):
    """The operations on a machine for state and execution functions.

    A file that cannot be read or written raises ``OSError``; a missing one is None.
    """

    def run(
        self,
        command: str | Sequence[str],
        *,
        shell: str | None = None,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        clean_env: bool = False,
        user: str | None = None,
        stdin: str | bytes | None = None,
        umask: int | None = None,
        timeout: float | None = None,
        merge_err: bool = False,
        sink: Sink | None = None,
    ) -> Ran: ...

    def read(self, path: str) -> str | None:
        """The text of a file; bytes that are not UTF-8 are preserved if the same text is written again."""
        ...

    def read_bytes(self, path: str) -> bytes | None: ...

    def write(self, path: str, data: str | bytes, *, mode: int | None = None) -> None:
        """Replace a file atomically; mode and owner of the old one are kept. Follows trusted links."""
        ...

    def exists(self, path: str) -> bool:
        """True if the path exists; links are not followed."""
        ...

    def is_directory(self, path: str) -> bool: ...

    def makedirs(self, path: str, *, mode: int | None = None) -> list[str]:
        """Make the directory and its missing parents; return the new ones."""
        ...

    def remove(self, path: str) -> bool:
        """Remove a file, a link, or a directory with its contents; False if it does not exist."""
        ...


class HasPrograms(Protocol):
    """The part of a run that a machine needs."""

    @property
    def programs(self) -> ProgramKeeper | None: ...


class LocalHost:
    """The machine that saltern runs on. ``owner`` is the run that uses it, and has the keeper of its
    programs.
    """

    _owner: HasPrograms | None = None
    run = staticmethod(process.run)
    read_bytes = staticmethod(files.read)
    remove = staticmethod(files.remove)

    def __init__(self, owner: HasPrograms | None = None) -> None:
        self._owner = owner

    def kept_run(self, command: str | Sequence[str], **options: Any) -> Ran:
        """Like ``run``; by a process that outlives us, if the run is recorded and the programs are ours."""
        programs = self._owner.programs if self._owner is not None else None
        return self.run(command, **options) if programs is None else programs.run(command, **options)

    def read(self, path: str) -> str | None:
        data = files.read(path)
        return None if data is None else data.decode("utf-8", "surrogateescape")

    def write(self, path: str, data: str | bytes, *, mode: int | None = None) -> None:
        content = data.encode("utf-8", "surrogateescape") if isinstance(data, str) else data
        files.write(path, content, files.Attributes(mode=mode))

    def exists(self, path: str) -> bool:
        return files.look(path) is not None

    def is_directory(self, path: str) -> bool:
        found = files.look(path, follow=True)
        return found is not None and files.kind_of(found) == "directory"

    def makedirs(self, path: str, *, mode: int | None = None) -> list[str]:
        return files.make_directories(path, files.Attributes(mode=mode))


def kept_runner(host: Host) -> Callable[..., Ran]:
    """The ``kept_run`` of a host; its ``run`` if it has none, like a machine in memory."""
    return getattr(host, "kept_run", host.run)
