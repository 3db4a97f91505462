"""Makes a bundle for a target, once; its name is the digest of its files.

For the interpreter that runs here, the installed libraries are used. For others, wheels are fetched with pip,
or were prepared with ``saltern ssh bundle``.
"""

from __future__ import annotations

import hashlib
import os
import threading
import zipfile
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from saltern.fleet.ssh.bundle.archive import pack_files
from saltern.fleet.ssh.bundle.code import with_code_in_one_file
from saltern.fleet.ssh.bundle.contents import is_of_use, libraries, library_files, own_files, versions
from saltern.fleet.ssh.bundle.elf import loaded_part
from saltern.fleet.ssh.bundle.target import Target, local_target
from saltern.fleet.ssh.bundle.wheels import fetch_wheels, found_wheels
from saltern.system import atomic

FORM = 2  # of what is sent
ENDING = ".bundle"
Files = dict[str, bytes]


class Bundle(Struct, frozen=True):
    """``digest`` is that of its files, and ``sum`` that of the bytes that are sent.

    The bytes may differ for the same files: Python sometimes compiles the same source to different bytes.
    """

    digest: str
    sum: str
    data: bytes


class Note(Struct, frozen=True):
    """The metadata of a cached bundle."""

    made_of: str
    digest: str
    sum: str


def bundle_directory() -> str:
    """Where this user's bundles are kept."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "saltern", "bundles")


class Bundles:
    """Bundles below a directory, with the wheels for other interpreters."""

    def __init__(self, directory: str) -> None:
        self.directory = Path(directory)
        self._wanted: dict[Target, Future[Bundle]] = {}
        self._lock = threading.Lock()

    def bundle(self, target: Target) -> Bundle:
        """The bundle for a target, made if it does not exist. Raises ``OperationError``."""
        return self.request(target).result()

    def request(self, target: Target) -> Future[Bundle]:
        """The bundle for a target, made in a thread for all callers; after a failure it is made again."""
        with self._lock:
            known = self._wanted.get(target)
            if known is not None and not (known.done() and known.exception()):
                return known
            future = self._wanted[target] = Future()
            future.set_running_or_notify_cancel()  # one caller cannot cancel it for the others
        threading.Thread(target=self._answer, args=(target, future), daemon=True).start()
        return future

    def _answer(self, target: Target, future: Future[Bundle]) -> None:
        try:
            future.set_result(self._kept_bundle(target) or self._make(target))
        except BaseException as problem:
            future.set_exception(problem)

    def _note(self, target: Target) -> Path:
        return self.directory / f"{target.name}.json"

    def _kept_bundle(self, target: Target) -> Bundle | None:
        """The bundle that was made from the files as they are now; None if there is none."""
        try:
            note = msgspec.json.decode(self._note(target).read_bytes(), type=Note)
            if note.made_of != fingerprint(target):
                return None
            data = (self.directory / f"{note.digest}{ENDING}").read_bytes()
        except (OSError, msgspec.DecodeError):
            return None
        return Bundle(note.digest, note.sum, data) if sum_of(data) == note.sum else None

    def _make(self, target: Target) -> Bundle:
        made_of = fingerprint(target)
        own = own_files(agent=target.agent)
        files = {name: path.read_bytes() for name, path in own} | self._libraries(target)
        digest, data = digest_of(files, target), pack_files(_as_sent(files, target))
        bundle = Bundle(digest, sum_of(data), data)
        self.directory.mkdir(0o700, parents=True, exist_ok=True)
        atomic.write(str(self.directory / f"{digest}{ENDING}"), data)
        atomic.write(str(self._note(target)), msgspec.json.encode(Note(made_of, digest, bundle.sum)))
        self._remove_old(digest)
        return bundle

    def _remove_old(self, digest: str) -> None:
        """Remove bundles that no note names any more."""
        notes = (path.read_text(errors="replace") for path in self.directory.glob("*.json"))
        named = {digest, *(word for note in notes for word in note.split('"') if len(word) == 64)}
        for path in (*self.directory.glob(f"*{ENDING}"), *self.directory.glob("*.tgz")):
            if path.stem not in named:
                path.unlink(missing_ok=True)

    def _libraries(self, target: Target) -> Files:
        wanted = libraries(agent=target.agent)
        if replace(target, agent=False) == local_target():
            return _read(pair for name in wanted for pair in library_files(name))
        same = _read(
            pair for name, compiled in wanted.items() if not compiled for pair in library_files(name)
        )
        return same | self._from_wheels(target)

    def _from_wheels(self, target: Target) -> Files:
        wheels = self.directory / "wheels" / target.name
        known = libraries(agent=target.agent)
        wanted = {name: version for name, version in versions(agent=target.agent).items() if known[name]}
        if len(found_wheels(wheels, wanted)) < len(wanted):
            fetch_wheels(target, wanted, wheels)
        files: Files = {}
        for wheel in found_wheels(wheels, wanted):
            with zipfile.ZipFile(wheel) as archive:
                files |= {one: archive.read(one) for one in archive.namelist() if is_of_use(one)}
        return files


def _read(files: Iterable[tuple[str, Path]]) -> Files:
    return {name: path.read_bytes() for name, path in files}


def digest_of(files: Files, target: Target) -> str:
    digest = hashlib.sha256(f"{FORM} {target}".encode())
    for name in sorted(files):
        digest.update(f"\n{name} {sum_of(files[name])}".encode())
    return digest.hexdigest()


def sum_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _as_sent(files: Files, target: Target) -> Files:
    """The files without what no host needs, and with their modules in one."""
    lean = {name: loaded_part(data) for name, data in files.items()}
    return with_code_in_one_file(lean, is_ours=target.runs_our_code)


def fingerprint(target: Target) -> str:
    """A fingerprint of a bundle's inputs without reading them: names, sizes and times of files, library
    versions.
    """
    agent = target.agent
    digest = hashlib.sha256(f"{FORM} {target} {sorted(versions(agent=agent).items())}".encode())
    for name, status in _statuses(agent=agent):
        digest.update(f"\n{name} {status.st_size} {status.st_mtime_ns}".encode())
    return digest.hexdigest()


def _statuses(*, agent: bool) -> Iterator[tuple[str, os.stat_result]]:
    for name, path in own_files(agent=agent):
        yield name, path.stat()
