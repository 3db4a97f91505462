"""Adds a site to a fleet: stored on the controller, with a kit for the machine that runs its broker."""

from __future__ import annotations

import getpass
import os

import msgspec
from msgspec.structs import replace

from saltern.fleet.broker.accounts import REVOKED_FILE
from saltern.fleet.broker.authority import load_authority
from saltern.fleet.broker.sites import Kit, Site, Sites, make_kit, read_sites, split_address, write_sites
from saltern.fleet.broker.tls import CertificateFiles
from saltern.fleet.controller.addresses import Addresses
from saltern.fleet.controller.backup import database_address
from saltern.fleet.controller.identity import load_identity
from saltern.fleet.controller.machine import bracket_host
from saltern.fleet.controller.paths import ControllerPaths
from saltern.fleet.controller.settings import ControllerSettings
from saltern.fleet.identity.mint import check_site
from saltern.fleet.identity.revocation import prune
from saltern.fleet.protocol.ids import BadId
from saltern.fleet.store import audit
from saltern.fleet.store.database import open_database
from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.system.files import read


def add_site(
    paths: ControllerPaths,
    settings: ControllerSettings,
    name: str,
    addresses: tuple[str, ...],
    *,
    through: tuple[str, ...] = (),
    now: float,
) -> Kit:
    """Make a site, or its kit again. ``through``: the address at which its broker reaches this one, in place
    of the names of this machine. A running controller accepts links once there is a site.
    """
    _check(paths, settings, name, (*addresses, *through))
    where = Addresses(paths, settings, load_identity(paths.keys).file)
    sites = read_sites(paths.broker) or Sites(port=where.sites_port)
    write_sites(paths.broker, replace(sites, sites={**sites.sites, name: Site(addresses)}))
    _note(paths, settings, name, addresses, now)
    hub = through or tuple(f"{bracket_host(one)}:{sites.port}" for one in where.names)
    return make_kit(
        load_authority(os.path.join(paths.broker, "keys")),
        CertificateFiles(os.path.join(paths.broker, "tls")),
        name,
        addresses,
        tuple(f"tls://{one}" for one in hub),
        revoked=_revoked_keys(paths, now),
        now=now,
    )


def _check(
    paths: ControllerPaths, settings: ControllerSettings, name: str, addresses: tuple[str, ...]
) -> None:
    try:
        check_site(name)
    except BadId as problem:
        raise _bad(str(problem), "choose another name") from None
    for one in addresses:
        split_address(one)
    if settings.bus:
        raise _bad("this fleet uses an existing broker", "link the site's broker there")
    if not os.path.exists(os.path.join(paths.broker, "tls", "ca.key")):
        raise _bad(
            f"{paths.state} is not the state of a controller that has run",
            "start it once: saltern controller",
        )


def _note(
    paths: ControllerPaths, settings: ControllerSettings, name: str, addresses: tuple[str, ...], now: float
) -> None:
    """Record in the audit that the keys of a site were handed out."""
    database = open_database(database_address(paths, settings))
    try:
        with database.write() as connection:
            what = {"name": name, "addresses": list(addresses)}
            audit.append(connection, f"local:{getpass.getuser()}", "site.add", what, now)
    finally:
        database.close()


def _revoked_keys(paths: ControllerPaths, now: float) -> dict[str, int]:
    data = read(os.path.join(paths.broker, REVOKED_FILE))
    return prune(msgspec.json.decode(data, type=dict[str, int]), now) if data else {}


def _bad(what: str, fix: str) -> OperationError:
    return OperationError(Diagnostic(code="site-add", what=what, fix=fix))
