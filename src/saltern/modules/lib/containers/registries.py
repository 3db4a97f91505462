"""Logins for registries, from the pillar or from ``docker login``.

A password is only sent in a header of one request.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import msgspec

from saltern.modules.api.context import Context
from saltern.modules.api.refused import Refused

HUB = "https://index.docker.io/v1/"
HUB_NAMES = ("", "hub", "docker.io", "index.docker.io", "registry-1.docker.io")
HEADER = "X-Registry-Auth"


def registry_of(repository: str) -> str:
    """The registry of a repository: ``registry:5000`` for ``registry:5000/a/b``, the hub for ``a/b``."""
    first, slash, _ = repository.partition("/")
    return first if slash and ("." in first or ":" in first or first == "localhost") else HUB


def header(ctx: Context, repository: str) -> dict[str, str]:
    """The header for a pull or a push; empty if no login is known."""
    registry = registry_of(repository)
    for known in (_pillar(ctx), _stored_registries()):
        for address, entry in known.items():
            if host(address) == host(registry):
                return {HEADER: encode_entry({**entry, "serveraddress": registry})}
    return {}


def encode_entry(entry: Mapping[str, str]) -> str:
    from base64 import urlsafe_b64encode

    return urlsafe_b64encode(msgspec.json.encode(entry)).decode()


def host(address: str) -> str:
    """The host of a registry's address, for comparison."""
    name = address.partition("://")[2] or address
    name = name.partition("/")[0]
    return "docker.io" if name in HUB_NAMES else name


def configured_registries(ctx: Context) -> dict[str, dict[str, str]]:
    """The registries of the pillar: ``docker-registries``, and every key with that ending."""
    return _pillar(ctx)


def _pillar(ctx: Context) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for key, value in ctx.pillar.items():
        if str(key).endswith("docker-registries") and isinstance(value, Mapping):
            found |= {str(one): _entry(str(one), given) for one, given in value.items()}
    return found


def _entry(address: str, given: object) -> dict[str, str]:
    if not isinstance(given, Mapping) or not {"username", "password"} <= given.keys():
        raise Refused(f"docker-registries: {address!r} needs a username and a password")
    return {str(key): str(value) for key, value in given.items()}


def _stored_registries() -> dict[str, dict[str, str]]:
    return {
        address: entry
        for address, reported in (stored_file().get("auths") or {}).items()
        if (entry := _decode_entry(reported.get("auth", "")))
    }


def _decode_entry(text: str) -> dict[str, str]:
    import binascii
    from base64 import b64decode

    try:
        user, _, password = b64decode(text).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return {}
    return {"username": user, "password": password} if user else {}


def stored_path() -> str:
    place = os.environ.get("DOCKER_CONFIG") or os.path.expanduser("~/.docker")
    return os.path.join(place, "config.json")


def stored_file() -> dict[str, Any]:
    try:
        with open(stored_path(), "rb") as file:
            reported = msgspec.json.decode(file.read())
    except (OSError, msgspec.DecodeError):
        return {}
    return reported if isinstance(reported, dict) else {}


def remember(ctx: Context, address: str, entry: Mapping[str, str] | None) -> None:
    """Store a login where the ``docker`` program stores its own; None removes it."""
    from base64 import b64encode

    reported = stored_file()
    auths = {one: kept for one, kept in (reported.get("auths") or {}).items() if host(one) != host(address)}
    if entry is not None:
        secret = b64encode(f"{entry['username']}:{entry['password']}".encode()).decode()
        auths[HUB if host(address) == "docker.io" else address] = {"auth": secret}
    path = stored_path()
    ctx.host.makedirs(os.path.dirname(path), mode=0o700)
    ctx.host.write(
        path, msgspec.json.format(msgspec.json.encode({**reported, "auths": auths}), indent=2), mode=0o600
    )
