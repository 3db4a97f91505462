"""What the examples find when they start.

A layer is what a script of ``layers/`` leaves on the disk; it is made once and lies below all examples that
want it. ``scripts`` has what is done before one single example, such as starting a server.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from pathlib import Path

from tests.modules.examples import databases, scripts

SALTERN = f'saltern() {{ {shlex.quote(sys.executable)} -m saltern "$@"; }}'
LAYERS = {
    file.stem: file.read_text(encoding="utf-8") for file in (Path(__file__).parent / "layers").glob("*.sh")
}

SERVERS = {
    file.stem: file.read_text(encoding="utf-8") for file in (Path(__file__).parent / "servers").glob("*.sh")
}

SCRIPTS = scripts.SCRIPTS | databases.SCRIPTS

OWN_SERVICE = tuple(
    f"functions.firewalld.{verb}"
    for verb in (
        "add_service_port",
        "add_service_protocol",
        "delete_service",
        "delete_zone",
        "remove_service",
        "remove_service_port",
        "remove_service_protocol",
    )
)
HAVE_PACKAGES = tuple(
    f"states.pkg.{fun}" for fun in ("held", "latest", "purged", "removed", "unheld", "uptodate")
)

# Which layers an example wants beside ``machine``: by its key, or by the first words of it.
NEEDS: dict[str, tuple[str, ...]] = {
    "functions.archive": ("web",),
    "functions.cp": ("web",),
    **dict.fromkeys(OWN_SERVICE, ("firewall",)),
    "functions.gem": ("web", "gem"),
    "functions.gem.list": ("tidy",),
    "functions.gem.uninstall": ("tidy",),
    "functions.git": ("git",),
    "functions.http": ("web",),
    "functions.lowpkg": ("apt", "webserver"),
    "functions.mysql": ("mariadb",),
    "functions.network": ("web",),
    "functions.npm": ("npm",),
    "functions.npm.list": ("trimmed",),
    "functions.npm.uninstall": ("trimmed",),
    "functions.pip": ("pip",),
    "functions.pkg": ("apt", "webserver"),
    "functions.postgres": ("postgres",),
    "functions.service": ("services",),
    "functions.status": ("web",),
    "functions.virtualenv": ("pip",),
    "functions.x509": ("pki",),
    "states.archive": ("web",),
    "states.file": ("web",),
    "states.gem": ("web", "gem"),
    "states.gem.removed": ("tidy",),
    "states.git": ("git",),
    "states.http": ("web",),
    **dict.fromkeys(
        (key for key in databases.SCRIPTS if re.fullmatch(r"states\.mysql_\w+", key)), ("mariadb",)
    ),
    "states.npm": ("npm",),
    "states.npm.cache_cleaned": ("trimmed",),
    "states.npm.removed": ("trimmed",),
    "states.pip": ("pip",),
    "states.pkg": ("apt",),
    **dict.fromkeys(HAVE_PACKAGES, ("webserver",)),
    "states.pkgrepo": ("apt",),
    **dict.fromkeys(
        (key for key in databases.SCRIPTS if re.fullmatch(r"states\.postgres_\w+", key)), ("postgres",)
    ),
    "states.service": ("services",),
    "states.virtualenv": ("pip",),
    "states.x509": ("pki",),
}


# The programs that the examples of a module run; where one is missing, they are skipped.
PROGRAMS = {
    "alternatives": "update-alternatives",
    "at": "at",
    "augeas": "augtool",
    "cron": "crontab",
    "debconf": "debconf-set-selections",
    "firewalld": "firewall-offline-cmd",
    "gem": "gem",
    "git": "git",
    "ip": "ifup",
    "iptables": "iptables",
    "locale": "locale-gen",
    "logrotate": "logrotate",
    "lvm": "lvm",
    "mysql": "mariadbd",
    "nftables": "nft",
    "npm": "npm",
    "pdbedit": "pdbedit",
    "pkg": "apt-get",
    "postgres": "pg_createcluster",
    "selinux": "semodule",
    "service": "update-rc.d",
    "ssh": "sshd",
    "x509": "openssl",
}


def missing_for(key: str) -> str:
    """Why an example cannot be run on this machine; empty if it can."""
    module = key.split(".")[1]
    program = PROGRAMS.get(module) or PROGRAMS.get(module.partition("_")[0])
    path = f"{os.environ['PATH']}:/usr/sbin:/sbin"
    return f"needs {program}" if program and shutil.which(program, path=path) is None else ""


def layers_for(key: str) -> tuple[str, ...]:
    """The lowest first."""
    wanted = (NEEDS.get(part, ()) for part in _parts(key))
    return ("machine", *(name for names in wanted for name in names))


def server_for(key: str) -> str:
    """The server that an example wants to find running, of the name of its layer; empty if none."""
    return next((name for name in layers_for(key) if name in SERVERS), "")


def script_for(key: str) -> str:
    """What prepares the machine for an example; empty if it needs nothing."""
    found = [SCRIPTS[part] for part in _parts(key) if part in SCRIPTS]
    return "\n".join([SALTERN, *found]) if found else ""


def _parts(key: str) -> list[str]:
    """``states.file.managed``: ``states.file``, then the whole."""
    return [key.rpartition(".")[0], key]
