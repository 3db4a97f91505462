"""Make a bundle for a target, once: the same files give the same bytes, and the digest is its name.

For the interpreter that runs here the installed libraries are taken. For others, wheels are fetched with pip,
or were prepared beforehand by ``saltern ssh bundle``.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from saltern.fleet.ssh.bundle.contents import libraries, library_files, own_files, versions
from saltern.fleet.ssh.bundle.target import Target, local_target
from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.system import atomic

LEVEL = 6
Files = dict[str, bytes]


class Bundle(Struct, frozen=True):
    """The bytes that are sent, and their digest."""

    digest: str
    data: bytes


def bundle_directory() -> str:
    """Where this user's bundles are kept."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "saltern", "bundles")


class Bundles:
    """Bundles below a directory, with the wheels for other interpreters."""

    def __init__(self, directory: str) -> None:
        self.directory = Path(directory)
        self._made: dict[Target, Bundle] = {}

    def bundle(self, target: Target) -> Bundle:
        """The bundle for a target, made if it is not there. Raises ``OperationError``."""
        if target not in self._made:
            self._made[target] = self._kept(target) or self._make(target)
        return self._made[target]

    def _note(self, target: Target) -> Path:
        return self.directory / f"{target.name}.json"

    def _kept(self, target: Target) -> Bundle | None:
        """The one that was made of the files as they are now."""
        try:
            note = msgspec.json.decode(self._note(target).read_bytes(), type=dict[str, str])
            if note["made_of"] != fingerprint(target):
                return None
            data = (self.directory / f"{note['digest']}.tgz").read_bytes()
        except (OSError, msgspec.DecodeError, KeyError):
            return None
        digest = hashlib.sha256(data).hexdigest()
        return Bundle(digest, data) if digest == note["digest"] else None

    def _make(self, target: Target) -> Bundle:
        made_of = fingerprint(target)
        own = own_files(agent=target.agent)
        files = {name: path.read_bytes() for name, path in own} | self._libraries(target)
        data = packed(files)
        digest = hashlib.sha256(data).hexdigest()
        self.directory.mkdir(0o700, parents=True, exist_ok=True)
        atomic.write(str(self.directory / f"{digest}.tgz"), data)
        note = {"made_of": made_of, "digest": digest}
        atomic.write(str(self._note(target)), msgspec.json.encode(note))
        self._remove_old(digest)
        return Bundle(digest, data)

    def _remove_old(self, digest: str) -> None:
        """Remove bundles that no note names any more."""
        notes = (path.read_text(errors="replace") for path in self.directory.glob("*.json"))
        named = {digest, *(word for note in notes for word in note.split('"') if len(word) == 64)}
        for path in self.directory.glob("*.tgz"):
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
        if not all(list(wheels.glob(f"{name}-{version}-*.whl")) for name, version in wanted.items()):
            fetch_wheels(target, wanted, wheels)
        files: Files = {}
        for name, version in wanted.items():
            for wheel in wheels.glob(f"{name}-{version}-*.whl"):
                with zipfile.ZipFile(wheel) as archive:
                    files |= {one: archive.read(one) for one in archive.namelist() if not one.endswith("/")}
        return files


def fetch_wheels(target: Target, wanted: dict[str, str], directory: Path) -> None:
    """Fetch the compiled libraries for another interpreter with pip. Raises ``OperationError``."""
    directory.mkdir(0o700, parents=True, exist_ok=True)
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
    command += [f"--python-version={target.python}", "--implementation=cp", f"--abi={target.tag}"]
    command += ["--abi=abi3", "--abi=none"]
    command += [f"--platform={platform}" for platform in target.platforms]
    command += [f"--dest={directory}", *(f"{name}=={version}" for name, version in wanted.items())]
    done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise OperationError(
            Diagnostic(
                code="ssh-bundle",
                what=f"the libraries for {target.name} cannot be had: {said[-1] if said else 'pip failed'}",
                fix=f"on a machine with an index: saltern ssh bundle --python {target.python}"
                f" --platform {target.machine}, then copy {directory.parent}",
            )
        )


def _read(files: Iterable[tuple[str, Path]]) -> Files:
    return {name: path.read_bytes() for name, path in files}


def fingerprint(target: Target) -> str:
    """What a bundle is made of, without reading it: names, sizes and times of files, library versions."""
    agent = target.agent
    digest = hashlib.sha256(f"{target} {sorted(versions(agent=agent).items())}".encode())
    for name, status in _statuses(agent=agent):
        digest.update(f"\n{name} {status.st_size} {status.st_mtime_ns}".encode())
    return digest.hexdigest()


def _statuses(*, agent: bool) -> Iterator[tuple[str, os.stat_result]]:
    for name, path in own_files(agent=agent):
        yield name, path.stat()


def packed(files: Files) -> bytes:
    """An archive of these files; the same files give the same bytes."""
    buffer = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=buffer, mode="wb", compresslevel=LEVEL, mtime=0) as stream,
        tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for name in sorted(files):
            entry = tarfile.TarInfo(name)
            entry.size = len(files[name])
            entry.mode = 0o600
            archive.addfile(entry, io.BytesIO(files[name]))
    return buffer.getvalue()
