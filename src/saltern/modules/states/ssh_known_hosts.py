"""``ssh_known_hosts``: the keys of known hosts."""

from __future__ import annotations

from saltern.language.result import Outcome, Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Words, result_of
from saltern.modules.api.declare import state
from saltern.modules.api.refused import Refused
from saltern.modules.lib import known_hosts as known
from saltern.modules.lib import ssh_keys as ssh
from saltern.modules.lib.known_hosts import Host


@state
def present(
    ctx: Context,
    name: str,
    *,
    user: str | None = None,
    fingerprint: str | None = None,
    key: str | None = None,
    port: int | None = None,
    enc: str | None = None,
    config: str | None = None,
    hash_known_hosts: bool = True,
    timeout: int = 5,
) -> Result:
    """Make sure that the key of a host is known.

    Without ``key``, the key is fetched from the host itself; give ``fingerprint`` so that no other host can
    pretend to be it.

    Args:
        name: the host.
        user: the owner of the file; the file of the whole machine if not given.
        fingerprint: the fingerprint of the key, as ``SHA256:…`` or hexadecimal.
        key: the key itself, alone or as ``kind key``.
        port: the port of the host, if not 22.
        enc: the kind of key to ask for: ``ed25519``, ``rsa``, ``ecdsa``.
        config: another file.
        hash_known_hosts: False writes the name of the host in plain text.
        timeout: seconds to wait for the host.

    Example:
        ```yaml
        git.example.org:
          ssh_known_hosts.present:
            - user: ada
            - enc: ed25519
            - key: AAAAC3NzaC1lZDI1NTE5AAAAIDh2TYBQmchyyb1vNCXZGYmgwIj8XU8J92Nuuk5zp4+s
        ```
    """
    ctx.facts = {"host": name}
    if key and fingerprint and not known.fits(Host("", "", ssh.read_key(key, enc).blob), fingerprint):
        raise Refused("key and fingerprint do not belong together")
    where = known.address(name, port)
    path, home = _place(ctx, user, config)
    lines = ssh.lines_of(path) if path else []
    old = known.of(lines, where)
    if _right(old, key, fingerprint, enc):
        return _result(ctx, name, path, old, {}, "is already in")
    new = _wanted_hosts(ctx, name, key, fingerprint, port, enc, timeout)
    changes: dict[str, object] = {
        "old": [host.as_data(name) for host in old] or None,
        "new": [host.as_data(name) for host in new],
    }
    if not ctx.test:
        written = known.hash_name if hash_known_hosts else str
        added = [f"{written(where)} {host.kind} {host.blob}" for host in new]
        ssh.write_private(path, [*known.without(lines, where), *added], home, 0o600 if home else 0o644)
        new = known.of(ssh.lines_of(path), where)
    return _result(ctx, name, path, old if ctx.test else new, changes, "is set to be added to")


def _place(ctx: Context, user: str | None, config: str | None) -> tuple[str, ssh.Home | None]:
    """The path of the file; a user that an earlier state may create has none yet in test mode."""
    try:
        return known.place(user, config)
    except Refused as missing:
        if missing.later and ctx.test:
            return "", None
        raise


def _right(old: list[Host], key: str | None, fingerprint: str | None, enc: str | None) -> bool:
    if key:
        return [host.blob for host in old] == [ssh.read_key(key, enc).blob]
    if fingerprint:
        return bool(old) and all(known.fits(host, fingerprint) for host in old)
    if enc:
        kind = ssh.kind_named(enc)
        return any(host.kind == kind or (enc == "ecdsa" and host.kind.startswith("ecdsa-")) for host in old)
    return bool(old)


def _wanted_hosts(
    ctx: Context,
    name: str,
    key: str | None,
    fingerprint: str | None,
    port: int | None,
    enc: str | None,
    timeout: int,
) -> list[Host]:
    if key:
        one = ssh.read_key(key, enc)
        return [Host("", one.kind, one.blob)]
    found = known.scan(ctx, name, port, enc, timeout)
    if fingerprint:
        seen = ", ".join(ssh.fingerprints(host.blob)["SHA256"] for host in found)
        found = [host for host in found if known.fits(host, fingerprint)]
        if not found:
            raise Refused(
                f"{name} presents a key with the fingerprint {seen} instead of {fingerprint}; "
                "the connection may be intercepted"
            )
    return found


def _result(
    ctx: Context, name: str, path: str, hosts: list[Host], changes: dict[str, object], words: str
) -> Result:
    data: dict[str, object] = {"host": name, "path": path, "keys": [host.as_data(name) for host in hosts]}
    return result_of(
        ctx,
        changes,
        Words(f"Host {name} {words} {path}", f"Host {name} {words} {path}", f"{name}'s key saved to {path}"),
        data,
    )


@state(removes=True)
def absent(
    ctx: Context,
    name: str,
    *,
    user: str | None = None,
    config: str | None = None,
    port: int | None = None,
) -> Result:
    """Make sure that a host is not known.

    Args:
        name: the host.
        user: the owner of the file; the file of the whole machine if not given.
        config: another file.
        port: the port of the host, if not 22.

    Example:
        ```yaml
        old.example.org:
          ssh_known_hosts.absent:
            - user: ada
        ```
    """
    ctx.facts = {"host": name}
    where = known.address(name, port)
    try:
        path, home = known.place(user, config)
    except Refused as missing:
        if not missing.later:
            raise
        data: dict[str, object] = {"host": name, "path": "", "keys": []}
        return Result(outcome=Outcome.OK, comment=str(missing), data=data)
    lines = ssh.lines_of(path)
    old = known.of(lines, where)
    changes: dict[str, object] = {}
    if old:
        changes = {"old": [host.as_data(name) for host in old], "new": None}
        if not ctx.test:
            ssh.write_private(path, known.without(lines, where), home)
    return result_of(
        ctx,
        changes,
        Words(
            "Host is already absent",
            f"Host {name} is set to be removed from {path}",
            f"{name} removed from {path}",
        ),
        {"host": name, "path": path, "keys": [host.as_data(name) for host in old] if ctx.test else []},
    )
