"""Files of known hosts, with plain or hashed names."""

from __future__ import annotations

import base64
import os
from collections.abc import Sequence

from msgspec import Struct

from saltern.modules.api.context import Context
from saltern.modules.api.programs import complaint, program
from saltern.modules.api.refused import Refused
from saltern.modules.lib import ssh_keys as ssh

GLOBAL = "/etc/ssh/ssh_known_hosts"
HASHED = "|1|"
SALT_SIZE = 20


class Host(Struct, frozen=True):
    """A key of a host."""

    hosts: str
    kind: str
    blob: str

    def as_data(self, name: str) -> dict[str, str]:
        return {
            "hostname": name,
            "enc": self.kind,
            "key": self.blob,
            "fingerprint": ssh.fingerprints(self.blob)["sha256"],
        }


def address(name: str, port: int | None) -> str:
    """The name of a host in the file: with its port unless that is 22."""
    if not name or any(mark in name for mark in " ,|*?!\t\n") or name.startswith("-"):
        raise Refused(f"{name!r} is not the name of a host")
    return name if port in (None, 22) else f"[{name}]:{port}"


def parse(line: str) -> Host | None:
    parts = line.split()
    if not parts or parts[0].startswith("#") or parts[0].startswith("@"):
        return None  # marked lines are about authorities, not about hosts
    return Host(parts[0], parts[1], parts[2]) if len(parts) > 2 and ssh.KIND.fullmatch(parts[1]) else None


def _digest(salt: bytes, name: str) -> str:
    import hmac

    return base64.b64encode(hmac.digest(salt, name.encode(), "sha1")).decode()


def hash_name(name: str) -> str:
    salt = os.urandom(SALT_SIZE)
    return f"{HASHED}{base64.b64encode(salt).decode()}|{_digest(salt, name)}"


def names(field: str, name: str) -> bool:
    """True if the first field of a line matches this host."""
    if not field.startswith(HASHED):
        return name.lower() in field.lower().split(",")
    salt, _, digest = field.removeprefix(HASHED).partition("|")
    return _digest(ssh.decode_blob(salt), name) == digest


def of(lines: Sequence[str], name: str) -> list[Host]:
    return [host for line in lines if (host := parse(line)) and names(host.hosts, name)]


def without(lines: Sequence[str], name: str) -> list[str]:
    """The lines without this host; other names on the same line keep their key."""
    kept = []
    for line in lines:
        host = parse(line)
        if host is None or not names(host.hosts, name):
            kept.append(line)
            continue
        others = [one for one in host.hosts.split(",") if one.lower() != name.lower()]
        if not host.hosts.startswith(HASHED) and others:
            kept.append(line.replace(host.hosts, ",".join(others), 1))
    return kept


def scan(ctx: Context, name: str, port: int | None, enc: str | None, timeout: int) -> list[Host]:
    """The keys that a host offers. Raises if it does not respond."""
    argv = ["ssh-keyscan", "-T", str(timeout), "-p", str(port or 22)]
    kinds = {"ssh-rsa": "rsa", "ssh-dss": "dsa", "ssh-ed25519": "ed25519"}
    if enc:
        named = ssh.kind_named(enc)
        argv += ["-t", kinds.get(named, "ecdsa")]
    ran = program(ctx, [*argv, "--", name])
    found = [host for line in ran.out.splitlines() if (host := parse(line))]
    if not found:
        raise Refused(complaint(ran, "ssh-keyscan", what=f"unable to receive the key of {name}"))
    return sorted(found, key=lambda host: host.kind)


def fits(host: Host, fingerprint: str) -> bool:
    """True if the key has this fingerprint, in Salt's hexadecimal form or as ``SHA256:…``."""
    known = ssh.fingerprints(host.blob)
    bare = fingerprint.removeprefix("MD5:").replace(":", "").lower()
    return fingerprint.rstrip("=") == known["SHA256"] or bare in (
        known["sha256"].replace(":", ""),
        known["md5"].replace(":", ""),
    )


def place(user: str | None, config: str | None) -> tuple[str, ssh.Home | None]:
    """The file, and its owner."""
    if not user:
        path = config or GLOBAL
        if not os.path.isabs(path):
            raise Refused(f"config {path!r} must be an absolute path, or give user")
        return path, None
    home = ssh.home_of(user)
    return ssh.file_of(home, config or ".ssh/known_hosts"), home
