"""``controller.yaml`` as settings. All mistakes are reported at once."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from saltern.config.files import Read, read
from saltern.fleet.access.peers import PeerRules
from saltern.fleet.callbacks.reach import DENIED
from saltern.fleet.controller.paths import ControllerPaths
from saltern.fleet.controller.setting_keys import KEYS
from saltern.fleet.reactor.rules import Rule
from saltern.fleet.store.retention import LIMITS, Limit
from saltern.language.diagnostics import Diagnostic, OperationError, did_you_mean

_DEFAULTS: dict[str, object] = {}


class ControllerSettings(Struct, frozen=True, kw_only=True):
    """What a user may set. A port of 0 is chosen once, and kept."""

    fleet: str = ""
    name: str = ""
    host: str = ""
    port: int = -1
    names: tuple[str, ...] = ()
    database: str = ""
    bus: str = ""
    bus_ca: str = ""
    broker_program: str = ""
    broker_store: int = 16
    cluster_host: str = ""
    cluster_port: int = -1
    cluster_routes: tuple[str, ...] = ()
    api_host: str = ""
    api_port: int = -1
    api_certificate: str = ""
    api_key: str = ""
    api_proxies: tuple[str, ...] = ()
    api_prefix: str = ""
    api_console: bool = True
    socket: str = ""
    file_roots: dict[str, list[str]] = {}
    pillar_roots: dict[str, list[str]] = {}
    ext_pillar: list[Any] = []
    pillar_config: dict[str, Any] = {}
    pillar_source_merging_strategy: str = "smart"
    pillar_merge_lists: bool = False
    pillar_seconds: float = 60.0
    pinned_grains: dict[str, dict[str, Any]] = {}
    render: dict[str, str] = {}
    render_files: tuple[str, ...] = ()
    delayed_repeat_limit: int | None = None
    nodegroups: dict[str, Any] = {}
    roster: tuple[str, ...] = ()
    ssh_known_hosts: str = ""
    ssh_accept_new_keys: bool = False
    ssh_connections: int = 50
    ssh_transport: str = "openssh"
    retention_jobs_days: float = LIMITS["jobs"].days
    retention_jobs_rows: int = LIMITS["jobs"].rows
    retention_events_days: float = LIMITS["events"].days
    retention_events_rows: int = LIMITS["events"].rows
    retention_approvals_days: float = LIMITS["approvals"].days
    retention_approvals_rows: int = LIMITS["approvals"].rows
    retention_policies_days: float = LIMITS["policies"].days
    retention_policies_rows: int = LIMITS["policies"].rows
    retention_chains_days: float = LIMITS["chains"].days
    retention_chains_rows: int = LIMITS["chains"].rows
    retention_notifications_days: float = LIMITS["notifications"].days
    retention_notifications_rows: int = LIMITS["notifications"].rows
    retention_trees: int = 30
    git_seconds: float = 60.0
    sync_seconds: float = 600.0
    reactor: tuple[Rule, ...] | str = ()
    reactor_rate: float = 50.0
    reactor_depth: int = 8
    reactor_family: int = 100
    reactor_patience: float = 3600.0
    peer: PeerRules = PeerRules()
    peer_run: PeerRules = PeerRules()
    callbacks_allow: tuple[str, ...] = ()
    callbacks_deny: tuple[str, ...] = DENIED
    callbacks_ca: str = ""
    mail_host: str = ""
    mail_port: int = 0
    mail_from: str = ""
    mail_security: str = "starttls"
    mail_user: str = ""
    mail_password_file: str = ""
    mail_ca: str = ""
    health_checks: dict[str, tuple[str, ...]] = {}

    @property
    def limits(self) -> dict[str, Limit]:
        return {
            name: Limit(
                days=getattr(self, f"retention_{name}_days"), rows=getattr(self, f"retention_{name}_rows")
            )
            for name in LIMITS
        }


SECTIONS = {key.rpartition(".")[0] for key in KEYS if "." in key} | {"retention"}


def load_settings(paths: ControllerPaths) -> ControllerSettings:
    """The settings of the file, if there is one. Raises ``OperationError`` with all mistakes."""
    if not os.path.isfile(paths.config):
        return ControllerSettings()
    found = read(paths.config)
    values: dict[str, Any] = {}
    problems: list[Diagnostic] = []
    for path, value in _leaves(found.values):
        name = ".".join(path)
        key = KEYS.get(name)
        if key is None:
            problems.append(_unknown(found, path))
            continue
        try:
            values[name.replace(".", "_")] = key.reader(value)
        except ValueError:
            what = f"{name!r} must be {key.needs}, not {value!r}"
            problems.append(Diagnostic(code="controller-option", what=what, where=found.mark(*path)))
    if problems:
        raise OperationError(*problems)
    return ControllerSettings(**values)


def _leaves(
    values: Mapping[str, object], above: tuple[str, ...] = ()
) -> list[tuple[tuple[str, ...], object]]:
    """Each key with its path; only sections have keys inside."""
    found: list[tuple[tuple[str, ...], object]] = []
    for name, value in values.items():
        path = (*above, str(name))
        if ".".join(path) in SECTIONS and isinstance(value, dict):
            found += _leaves({str(key): inner for key, inner in value.items()}, path)
        elif path not in (("include",), ("default_include",)):
            found.append((path, value))
    return found


def _unknown(found: Read, path: tuple[str, ...]) -> Diagnostic:
    name = ".".join(path)
    is_section = name in SECTIONS
    what = f"{name!r} must be a section with keys" if is_section else f"the controller has no option {name!r}"
    fix = did_you_mean(name, KEYS) or "docs/reference/controller-options.md lists them"
    return Diagnostic(code="controller-option", what=what, where=found.mark(*path), fix=fix)
