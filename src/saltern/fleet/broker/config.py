"""The configuration file of the broker. Every limit is written down: defaults change between its versions."""

from __future__ import annotations

import json
from collections.abc import Mapping

from msgspec import Struct

from saltern.fleet.broker.tls import CertificateFiles

MIB = 1024 * 1024
MAX_PAYLOAD = MIB
PID_FILE = "broker.pid"
LOG_FILE = "broker.log"


class Cluster(Struct, frozen=True, kw_only=True):
    """Brokers that share streams. ``routes`` are the addresses of all of them, this one included."""

    name: str
    host: str = "127.0.0.1"
    port: int
    routes: tuple[str, ...]
    replicas: int = 3


class BrokerSettings(Struct, frozen=True, kw_only=True):
    """What a user may set. ``names`` are the names and addresses by which agents reach the broker."""

    host: str = "127.0.0.1"
    port: int = 4222
    names: tuple[str, ...] = ("localhost", "127.0.0.1")
    server_name: str = "saltern"
    max_file_store: int = 16 * 1024 * MIB
    max_connections: int = 65_536
    cluster: Cluster | None = None


class ConfigParts(Struct, frozen=True, kw_only=True):
    """The other inputs of the configuration."""

    folder: str
    certificates: CertificateFiles
    operator_jwt: str
    system_account: str
    accounts: dict[str, str]
    sites_port: int = 0


def server_lines(name: str, host: str, port: int, folder: str, certificate: str, key: str) -> str:
    """What every broker has: where it listens and logs, the limits of connections, and its certificate."""
    quoted = json.dumps
    return f"""\
# Made by saltern at each start; changes are lost.
server_name: {quoted(name)}
host: {quoted(host)}
port: {port}
pid_file: {quoted(f"{folder}/{PID_FILE}")}
log_file: {quoted(f"{folder}/{LOG_FILE}")}
logfile_size_limit: {32 * MIB}
logfile_max_num: 3

max_payload: {MAX_PAYLOAD}
max_pending: {64 * MIB}
max_control_line: 4096
write_deadline: "10s"
ping_interval: "20s"
ping_max: 2

tls {{
  cert_file: {quoted(certificate)}
  key_file: {quoted(key)}
  min_version: "1.3"
  timeout: 5
}}
"""


def account_lines(
    operator: str, system_account: str, accounts: Mapping[str, str], folder: str, interval: str
) -> str:
    """Who is trusted, and where the broker keeps accounts; it compares them with others each ``interval``."""
    quoted = json.dumps
    preload = "\n".join(f"  {name}: {quoted(jwt)}" for name, jwt in accounts.items())
    return f"""\
operator: {quoted(operator)}
system_account: {system_account}
resolver {{
  type: full
  dir: {quoted(f"{folder}/accounts")}
  allow_delete: false
  interval: {quoted(interval)}
}}
resolver_preload {{
{preload}
}}"""


def render_config(settings: BrokerSettings, parts: ConfigParts) -> str:
    """The file, whole. Acknowledged means synced (``sync_interval``), unless a stream says otherwise."""
    tls, quoted = parts.certificates, json.dumps
    return f"""\
{server_lines(settings.server_name, settings.host, settings.port, parts.folder, tls.server, tls.server_key)}
max_connections: {settings.max_connections}
lame_duck_duration: "30s"
lame_duck_grace_period: "1s"

jetstream {{
  store_dir: {quoted(f"{parts.folder}/streams")}
  max_memory_store: {64 * MIB}
  max_file_store: {settings.max_file_store}
  sync_interval: always
}}

{account_lines(parts.operator_jwt, parts.system_account, parts.accounts, parts.folder, "2m")}
{_cluster(settings.cluster, tls) if settings.cluster else ""}{_sites(settings, parts)}"""


def links_of(config: str) -> str:
    """The end of a configuration: the brokers that this one is linked with. Changing them needs a restart."""
    return config.rpartition("\nresolver_preload {")[2].partition("\n}\n")[2]


def _sites(settings: BrokerSettings, parts: ConfigParts) -> str:
    """Where the brokers of sites connect; empty if there are no sites."""
    if not parts.sites_port:
        return ""
    quoted, tls = json.dumps, parts.certificates
    plain = ", ".join(f'{name}: ""' for name in parts.accounts if name != parts.system_account)
    return f"""
default_js_domain {{ {plain} }}
leafnodes {{
  host: {quoted(settings.host)}
  port: {parts.sites_port}
  tls {{
    cert_file: {quoted(tls.server)}
    key_file: {quoted(tls.server_key)}
    min_version: "1.3"
    timeout: 5
  }}
}}
"""


def _cluster(cluster: Cluster, tls: CertificateFiles) -> str:
    """Brokers authenticate each other by certificates of the fleet's CA: no other process can join them."""
    quoted = json.dumps
    routes = ", ".join(quoted(f"tls://{route}") for route in cluster.routes)
    return f"""
cluster {{
  name: {quoted(cluster.name)}
  host: {quoted(cluster.host)}
  port: {cluster.port}
  routes: [{routes}]
  tls {{
    cert_file: {quoted(tls.server)}
    key_file: {quoted(tls.server_key)}
    ca_file: {quoted(tls.ca)}
    verify: true
    min_version: "1.3"
    timeout: 5
  }}
}}
"""
