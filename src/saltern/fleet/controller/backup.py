"""Backup and restore of a controller: keys, certificates, configuration and database in one file.

The file contains every secret of the fleet: anyone who has it can act as the fleet. Streams and files are not
in it: agents and the roots have those.
"""

from __future__ import annotations

import gzip
import io
import os
import secrets
import tarfile
import tempfile
import time
import zlib
from collections.abc import Iterator

import msgspec
from msgspec import Struct

from saltern import __version__
from saltern.fleet.controller.identity import load_identity
from saltern.fleet.controller.paths import ControllerPaths
from saltern.fleet.controller.settings import ControllerSettings
from saltern.fleet.files.cache import digest_of_file
from saltern.fleet.store import audit
from saltern.fleet.store.database import open_database
from saltern.fleet.store.migrate import migrate
from saltern.fleet.store.settings import write_setting
from saltern.fleet.store.snapshot import put_snapshot, take_snapshot
from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.system.files import Attributes, write
from saltern.system.private import make_private

MANIFEST, DATABASE = "backup.json", "database"
LARGEST = 1 << 40
# Name in the archive → where it is: below the state (``state/``) or beside the configuration.
PARTS = (
    "keys/fleet.json",
    "keys/root.key",
    "keys/signing.key",
    "keys/certificate.json",
    "broker/keys/authority.json",
    "broker/tls/ca.pem",
    "broker/tls/ca.key",
    "broker/revoked.json",
)
CONFIGURATION = ("controller.yaml", "policy.yaml")
GENERATION, LAST = "generation", "last-backup"


class Manifest(Struct, frozen=True, kw_only=True):
    """The contents of an archive, with the digest of each part."""

    v: int = 1
    fleet: str
    made_at: float
    version: str = __version__
    database: str
    digests: dict[str, str]


def database_address(paths: ControllerPaths, settings: ControllerSettings) -> str:
    return settings.database or f"sqlite:///{paths.database}"


def back_up(paths: ControllerPaths, settings: ControllerSettings, path: str, *, now: float) -> Manifest:
    """Write the archive; the controller may run meanwhile."""
    identity = load_identity(paths.keys)
    address = database_address(paths, settings)
    folder = os.path.dirname(os.path.abspath(path))
    with tempfile.TemporaryDirectory(dir=folder, prefix=".saltern-backup-") as scratch:
        dump = os.path.join(scratch, DATABASE)
        take_snapshot(address, dump)
        parts = {**dict(_parts(paths)), DATABASE: dump}
        manifest = Manifest(
            fleet=identity.file.fleet,
            made_at=now,
            database="sqlite" if address.startswith("sqlite") else "postgresql",
            digests={name: digest_of_file(where) for name, where in parts.items()},
        )
        archive = os.path.join(scratch, "archive")
        _write_archive(archive, manifest, parts)
        os.rename(archive, path)
    _note(address, now)
    return manifest


def _parts(paths: ControllerPaths) -> Iterator[tuple[str, str]]:
    """The existing files, by their name in the archive."""
    beside = os.path.dirname(paths.config)
    rows = [(f"state/{name}", os.path.join(paths.state, name)) for name in PARTS]
    rows += [(f"config/{name}", os.path.join(beside, name)) for name in CONFIGURATION]
    return ((name, where) for name, where in rows if os.path.isfile(where))


def _write_archive(path: str, manifest: Manifest, parts: dict[str, str]) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        with tarfile.open(fileobj=file, mode="w:gz", compresslevel=3) as archive:
            data = msgspec.json.format(msgspec.json.encode(manifest))
            head = tarfile.TarInfo(MANIFEST)
            head.size, head.mode, head.mtime = len(data), 0o600, int(manifest.made_at)
            archive.addfile(head, io.BytesIO(data))
            for name, where in parts.items():
                archive.add(where, name, recursive=False)
        file.flush()
        os.fsync(file.fileno())


def _note(address: str, now: float) -> None:
    """Record the time of the last backup, for ``doctor``."""
    database = open_database(address)
    try:
        with database.write() as connection:
            write_setting(connection, LAST, now)
    finally:
        database.close()


def restore(paths: ControllerPaths, settings: ControllerSettings, path: str) -> Manifest:
    """Replace the controller's files by an archive, and keep the old ones beside it; the controller must not
    run.
    """
    with tempfile.TemporaryDirectory(dir=_make_folder(paths.state), prefix=".saltern-restore-") as scratch:
        manifest = _unpack(path, scratch)
        address = database_address(paths, settings)
        if (manifest.database == "sqlite") != address.startswith("sqlite"):
            kind = address.partition(":")[0]
            what = f"the backup has a {manifest.database} database, but the configuration names {kind}"
            raise _bad(what, "set 'database' in controller.yaml to one of the same kind")
        _set_aside(paths)
        for name in manifest.digests:
            if name != DATABASE:
                _put(paths, name, os.path.join(scratch, name))
        put_snapshot(address, os.path.join(scratch, DATABASE))
    _begin_generation(address, manifest)
    return manifest


def _make_folder(folder: str) -> str:
    make_private(folder)
    return folder


def _unpack(path: str, scratch: str) -> Manifest:
    """Extract only known parts, each checked against the digest in the manifest."""
    known = {
        MANIFEST,
        DATABASE,
        *(f"state/{name}" for name in PARTS),
        *(f"config/{name}" for name in CONFIGURATION),
    }
    try:
        with gzip.open(path) as stream, tarfile.open(fileobj=stream, mode="r|") as archive:
            for member in archive:
                if member.name not in known or not member.isreg() or member.size > LARGEST:
                    raise _bad(
                        f"{path} has a part that does not belong to a backup: {member.name[:100]!r}",
                        "use another file",
                    )
                target = os.path.join(scratch, member.name)
                os.makedirs(os.path.dirname(target), 0o700, exist_ok=True)
                _copy(archive, member, target)
            while stream.read(1 << 20):
                pass  # to the end: the last thing in it is its checksum
        with open(os.path.join(scratch, MANIFEST), "rb") as file:
            manifest = msgspec.json.decode(file.read(), type=Manifest)
    except (OSError, EOFError, zlib.error, tarfile.TarError, msgspec.DecodeError) as problem:
        raise _bad(f"{path} is not a backup of a controller: {problem}", "use another file") from None
    wrong = [
        name
        for name, digest in manifest.digests.items()
        if name not in known or digest_of_file(os.path.join(scratch, name)) != digest
    ]
    if wrong or DATABASE not in manifest.digests:
        raise _bad(f"{path} is damaged: {', '.join(wrong) or 'it has no database'}", "use another file")
    return manifest


def _copy(archive: tarfile.TarFile, member: tarfile.TarInfo, target: str) -> None:
    source = archive.extractfile(member)
    assert source is not None
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        while data := source.read(1 << 20):
            file.write(data)


def _set_aside(paths: ControllerPaths) -> None:
    """Move the old keys and database aside: a wrong archive must not destroy them."""
    stamp = time.strftime("%Y%m%dT%H%M%S")
    for name in ("keys", "broker/keys", "broker/tls", "fleet.db", "fleet.db-wal", "fleet.db-shm"):
        old = os.path.join(paths.state, name)
        if os.path.lexists(old):
            os.rename(old, f"{old}.before-{stamp}")


def _put(paths: ControllerPaths, name: str, where: str) -> None:
    kind, _, rest = name.partition("/")
    base = paths.state if kind == "state" else os.path.dirname(paths.config)
    target = os.path.join(base, rest)
    if kind == "config" and os.path.lexists(target):
        return  # keep the current configuration: it names the database
    make_private(os.path.dirname(target))
    with open(where, "rb") as file:
        write(target, file.read(), Attributes(mode=0o600))


def _begin_generation(address: str, manifest: Manifest) -> None:
    """Have everything in the streams read again: some of it is not in the backup."""
    detail = {"made_at": manifest.made_at, "version": manifest.version}
    database = open_database(address)
    try:
        migrate(database)
        with database.write() as connection:
            write_setting(connection, GENERATION, secrets.token_hex(4))
            audit.append(connection, "controller", "controller.restore", detail, time.time())
    finally:
        database.close()


def _bad(what: str, fix: str) -> OperationError:
    return OperationError(Diagnostic(code="controller-backup", what=what, fix=fix))
