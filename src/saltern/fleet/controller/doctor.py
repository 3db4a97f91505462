"""``saltern controller doctor``: everything that must be right, checked without changing anything."""

from __future__ import annotations

import fcntl
import os
import shutil
import ssl
import time
from collections.abc import Callable, Iterator

from msgspec import Struct

from saltern.fleet.broker.binary import find_binary
from saltern.fleet.controller.backup import LAST, database_address
from saltern.fleet.controller.identity import ROOT, load_identity
from saltern.fleet.controller.paths import ControllerPaths
from saltern.fleet.controller.settings import ControllerSettings, load_settings
from saltern.fleet.store import audit
from saltern.fleet.store.database import Database, open_database
from saltern.fleet.store.inspection import find_damage
from saltern.fleet.store.leases import database_time
from saltern.fleet.store.migrate import newest, present
from saltern.fleet.store.settings import read_setting
from saltern.fleet.store.systems import presence_of
from saltern.language.diagnostics import OperationError

DAY = 86_400.0
LEAST_FREE = 1 << 30
SKEW = 5.0
WEEK = 7 * DAY


class Finding(Struct, frozen=True, kw_only=True):
    """The finding of a check: ok, warning or error, and what to do."""

    check: str
    level: str  # ok, warning, error
    what: str
    fix: str = ""


class Patient(Struct, frozen=True, kw_only=True):
    """What the checks examine."""

    paths: ControllerPaths
    settings: ControllerSettings
    now: float


Check = Callable[[Patient], Iterator[Finding]]


def examine(paths: ControllerPaths, *, now: float) -> list[Finding]:
    """All findings, in the order of the table. A check that fails to run is itself an error."""
    try:
        settings = load_settings(paths)
    except OperationError as problem:
        return [*_findings("configuration", problem)]
    patient = Patient(paths=paths, settings=settings, now=now)
    found = [Finding(check="configuration", level="ok", what=_configuration(paths))]
    for name, check in CHECKS.items():
        try:
            found += check(patient)
        except OperationError as problem:
            found += _findings(name, problem)
        except OSError as problem:
            found.append(Finding(check=name, level="error", what=str(problem)))
    return found


def _configuration(paths: ControllerPaths) -> str:
    return (
        paths.config if os.path.isfile(paths.config) else f"{paths.config} does not exist; all defaults apply"
    )


def _findings(name: str, problem: OperationError) -> Iterator[Finding]:
    for one in problem.diagnostics:
        where = f"{one.where}: " if one.where else ""
        yield Finding(check=name, level="error", what=f"{where}{one.what}", fix=one.fix)


def _process(patient: Patient) -> Iterator[Finding]:
    running = is_running(patient.paths.lock)
    what = "the controller runs" if running else "the controller does not run"
    yield Finding(
        check="process",
        level="ok" if running else "warning",
        what=what,
        fix="" if running else "saltern controller",
    )


def is_running(path: str) -> bool:
    """True if a process holds the lock."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


def _keys(patient: Patient) -> Iterator[Finding]:
    identity = load_identity(patient.paths.keys)
    days = (identity.expires - patient.now) / DAY if identity.certificate.text else 365.0
    level = "ok" if days > 30 else "warning" if days > 0 else "error"
    fix = "" if level == "ok" else f"put {ROOT} into {patient.paths.keys} and start the controller"
    what = f"fleet {identity.file.fleet}, controller {identity.file.name}; certificate for {days:.0f} days"
    yield Finding(check="keys", level=level, what=what, fix=fix)


def _tls(patient: Patient) -> Iterator[Finding]:
    path = os.path.join(patient.paths.broker, "tls", "server.pem")
    if not os.path.isfile(path):
        return
    decoded = ssl._ssl._test_decode_cert(path)  # type: ignore[attr-defined]
    days = (ssl.cert_time_to_seconds(decoded["notAfter"]) - patient.now) / DAY
    level = "ok" if days > 20 else "warning"
    fix = "" if level == "ok" else "restart the controller: it renews the certificate at its start"
    yield Finding(check="tls", level=level, what=f"certificate of the broker for {days:.0f} days", fix=fix)


def _database(patient: Patient) -> Iterator[Finding]:
    database = open_database(database_address(patient.paths, patient.settings))
    try:
        yield from _inspect(database, patient)
    finally:
        database.close()


def _inspect(database: Database, patient: Patient) -> Iterator[Finding]:
    schema = present(database)
    if schema != newest():
        fix = "it is migrated when the controller starts" if schema else "start the controller once"
        yield Finding(
            check="database", level="warning", what=f"schema {schema or 'none'}, not {newest()}", fix=fix
        )
        return
    if damage := find_damage(database):
        fix = "restore a backup: saltern controller restore FILE"
        yield Finding(check="database", level="error", what=damage, fix=fix)
        return
    yield Finding(check="database", level="ok", what=f"{database.engine.dialect.name}, schema {schema}")
    with database.read() as connection:
        skew = database_time(connection) - time.time()
        last = read_setting(connection, LAST, float)
        wrong = audit.verify(connection)
        systems = presence_of(connection)
    if abs(skew) > SKEW:
        fix = "synchronize both clocks"
        yield Finding(check="clock", level="warning", what=f"the database is {skew:.0f} s off", fix=fix)
    yield _audit(wrong)
    yield _backup(last, patient.now)
    away = sum(not online for online in systems.values())
    yield Finding(check="systems", level="ok", what=f"{len(systems)} accepted, {away} of them away")


def _audit(wrong: str) -> Finding:
    if not wrong:
        return Finding(check="audit", level="ok", what="the hash chain is intact")
    return Finding(check="audit", level="error", what=wrong, fix="find out who can write to the database")


def _backup(last: float | None, now: float) -> Finding:
    fix = "saltern controller backup FILE, every day"
    if last is None:
        return Finding(check="backup", level="warning", what="there is none yet", fix=fix)
    age = (now - last) / DAY
    level = "ok" if age < 7 else "warning"
    what = f"the last one is {age:.1f} days old"
    return Finding(check="backup", level=level, what=what, fix="" if level == "ok" else fix)


def _disk(patient: Patient) -> Iterator[Finding]:
    folder = patient.paths.state
    while not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    free = shutil.disk_usage(folder).free
    level = "ok" if free > LEAST_FREE else "warning" if free > LEAST_FREE // 10 else "error"
    fix = "" if level == "ok" else "free space: without it no return can be stored"
    yield Finding(check="disk", level=level, what=f"{free / (1 << 30):.1f} GiB free at {folder}", fix=fix)


def _broker(patient: Patient) -> Iterator[Finding]:
    if patient.settings.bus:
        yield Finding(check="broker", level="ok", what="an existing one")
        return
    binary = find_binary(patient.settings.broker_program)
    yield Finding(check="broker", level="ok", what=f"{binary.path}")


def _roots(patient: Patient) -> Iterator[Finding]:
    roots = patient.settings.file_roots or {"base": [patient.paths.root("salt")]}
    for environment, several in roots.items():
        for root in several:
            if "://" in root or os.path.isdir(root):
                continue
            what = f"the root {root!r} of the environment {environment!r} does not exist"
            yield Finding(
                check="roots", level="warning", what=what, fix="create it, or name another one in file_roots"
            )


CHECKS: dict[str, Check] = {
    "process": _process,
    "keys": _keys,
    "tls": _tls,
    "broker": _broker,
    "disk": _disk,
    "database": _database,
    "roots": _roots,
}
