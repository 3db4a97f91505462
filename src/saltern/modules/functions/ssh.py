"""``ssh``: keys of users and hosts."""

# ruff: noqa: ARG001 - signatures are Salt's

from __future__ import annotations

import os

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.params import BadArgument
from saltern.modules.functions.file.errors import explain_errors
from saltern.modules.lib import known_hosts as known
from saltern.modules.lib import ssh_keys as ssh
from saltern.modules.lib.authorized_keys import merge_keys, without

AUTHORIZED = ".ssh/authorized_keys"
Entry = dict[str, object]


def _place(user: str, config: str) -> tuple[str, ssh.Home]:
    with explain_errors(config):
        home = ssh.home_of(user)
        return ssh.file_of(home, config), home


@function
def auth_keys(
    ctx: Context, user: object, config: str = AUTHORIZED, fingerprint_hash_type: str | None = None
) -> Entry:
    """The keys that may log in as a user; for a list of users, by user.

    Example:
        ```console
        $ saltern call ssh.auth_keys ada
        ```
    """
    if isinstance(user, list):
        return {str(one): auth_keys(ctx, one, config) for one in user}
    path, _ = _place(str(user), config)
    found: Entry = {}
    for line in ssh.lines_of(path):
        if key := ssh.parse(line):
            found[key.blob] = {
                "enc": key.kind,
                "comment": key.comment,
                "options": list(key.options),
                "fingerprint": ssh.fingerprints(key.blob)["sha256"],
            }
    return found


@function
def check_key(
    ctx: Context,
    user: str,
    key: str,
    enc: str | None = None,
    comment: str = "",
    options: object = None,
    config: str = AUTHORIZED,
    cache_keys: object = None,
    fingerprint_hash_type: str | None = None,
) -> str:
    """What setting the key would do: ``add``, ``update``, or nothing (``exists``).

    Example:
        ```console
        $ saltern call ssh.check_key ada \\
            AAAAC3NzaC1lZDI1NTE5AAAAIKfddk6S6o/9dJNpi74NwnN/siKMGIEbIuN90oWFW4Lw ed25519
        local:
            add
        ```
    """
    path, _ = _place(user, config)
    with explain_errors(path):
        _, changes = merge_keys(ssh.lines_of(path), [_key(key, enc, comment, options)])
    words = {"New": "add", "Updated": "update"}
    return next((words[str(what)] for what in changes.values()), "exists")


def _key(key: str, enc: str | None, comment: str, options: object) -> ssh.Key:
    listed = options if isinstance(options, list) else [options] if options else []
    return ssh.read_key(
        key, enc, comment, tuple(one for text in listed for one in ssh.split_options(str(text)))
    )


@function
def set_auth_key(
    ctx: Context,
    user: str,
    key: str,
    enc: str | None = None,
    comment: str = "",
    options: object = None,
    config: str = AUTHORIZED,
    cache_keys: object = None,
    fingerprint_hash_type: str | None = None,
) -> str:
    """Allow a key to log in as a user. Returns ``new``, ``replace`` or ``no change``.

    Example:
        ```console
        $ saltern call ssh.set_auth_key ada \\
            AAAAC3NzaC1lZDI1NTE5AAAAIKfddk6S6o/9dJNpi74NwnN/siKMGIEbIuN90oWFW4Lw \\
            enc=ed25519 comment=ada@laptop
        local:
            new
        ```
    """
    path, home = _place(user, config)
    with explain_errors(path):
        lines, changes = merge_keys(ssh.lines_of(path), [_key(key, enc, comment, options)])
        if changes:
            ssh.write_private(path, lines, home)
    words = {"New": "new", "Updated": "replace"}
    return next((words[str(what)] for what in changes.values()), "no change")


@function
def rm_auth_key(
    ctx: Context,
    user: str,
    key: str,
    config: str = AUTHORIZED,
    fingerprint_hash_type: str | None = None,
) -> str:
    """Remove a key that may log in as a user. Returns ``Key removed`` or ``Key not present``.

    Example:
        ```console
        $ saltern call ssh.rm_auth_key ada \\
            AAAAC3NzaC1lZDI1NTE5AAAAIDh2TYBQmchyyb1vNCXZGYmgwIj8XU8J92Nuuk5zp4+s
        local:
            Key removed
        ```
    """
    path, home = _place(user, config)
    with explain_errors(path):
        lines, changes = without(ssh.lines_of(path), {ssh.read_key(key, None).blob})
        if changes:
            ssh.write_private(path, lines, home)
    return "Key removed" if changes else "Key not present"


@function
def get_known_host_entries(
    ctx: Context,
    user: str | None,
    hostname: str,
    config: str | None = None,
    port: int | None = None,
    fingerprint_hash_type: str | None = None,
) -> list[dict[str, str]] | None:
    """The known keys of a host, or None.

    Example:
        ```console
        $ saltern call ssh.get_known_host_entries ada old.example.org
        ```
    """
    with explain_errors(hostname):
        path, _ = known.place(user, config)
        found = known.of(ssh.lines_of(path), known.address(hostname, port))
    return [host.as_data(hostname) for host in found] or None


@function
def recv_known_host_entries(
    ctx: Context,
    hostname: str,
    enc: str | None = None,
    port: int | None = None,
    hash_known_hosts: bool = True,
    timeout: int = 5,
    fingerprint_hash_type: str | None = None,
) -> list[dict[str, str]] | None:
    """The keys that a host offers.

    Example:
        ```console
        $ saltern call ssh.recv_known_host_entries localhost enc=ed25519 port=2222
        ```
    """
    with explain_errors(hostname):
        known.address(hostname, port)
        return [host.as_data(hostname) for host in known.scan(ctx, hostname, port, enc, timeout)]


@function
def check_known_host(
    ctx: Context,
    user: str | None = None,
    hostname: str | None = None,
    key: str | None = None,
    fingerprint: str | None = None,
    config: str | None = None,
    port: int | None = None,
    fingerprint_hash_type: str | None = None,
) -> str:
    """``add`` for an unknown host, ``update`` for another key, else ``exists``.

    Example:
        ```console
        $ saltern call ssh.check_known_host ada git.example.org \\
            key=AAAAC3NzaC1lZDI1NTE5AAAAIKfddk6S6o/9dJNpi74NwnN/siKMGIEbIuN90oWFW4Lw
        local:
            add
        ```
    """
    if not hostname:
        raise BadArgument("hostname is missing")
    with explain_errors(hostname):
        path, _ = known.place(user, config)
        found = known.of(ssh.lines_of(path), known.address(hostname, port))
        if not found:
            return "add"
        blob = ssh.read_key(key, None).blob if key else None
    right = all(
        (blob is None or host.blob == blob) and (not fingerprint or known.fits(host, fingerprint))
        for host in found
    )
    return "exists" if right else "update"


@function
def rm_known_host(
    ctx: Context,
    user: str | None = None,
    hostname: str | None = None,
    config: str | None = None,
    port: int | None = None,
) -> dict[str, str]:
    """Remove a known host.

    Example:
        ```console
        $ saltern call ssh.rm_known_host ada old.example.org
        local:
            ----------
            comment:
                /home/ada/.ssh/known_hosts
            status:
                removed
        ```
    """
    if not hostname:
        raise BadArgument("hostname is missing")
    with explain_errors(hostname):
        path, home = known.place(user, config)
        lines = ssh.lines_of(path)
        left = known.without(lines, known.address(hostname, port))
        if left != lines:
            ssh.write_private(path, left, home)
    return {"status": "removed" if left != lines else "absent", "comment": path}


@function
def user_keys(ctx: Context, user: object = None, pubfile: str | None = None, prvfile: object = None) -> Entry:
    """The public keys in the home directories of users. Private keys are never read.

    Example:
        ```console
        $ saltern call ssh.user_keys ada
        ```
    """
    from pwd import getpwall

    names = user if isinstance(user, list) else [user] if user else [entry.pw_name for entry in getpwall()]
    found: Entry = {}
    for name in map(str, names):
        home = ssh.home_of(name)
        place = os.path.join(home.path, ".ssh")
        files = [pubfile] if pubfile else sorted(_public(place))
        keys = {file: open_text(ssh.file_of(home, os.path.join(place, file))) for file in files}
        if any(keys.values()):
            found[name] = {file: text for file, text in keys.items() if text}
    return found


def _public(place: str) -> list[str]:
    try:
        return [name for name in os.listdir(place) if name.startswith("id_") and name.endswith(".pub")]
    except OSError:
        return []


@function
def host_keys(ctx: Context, keydir: str = "/etc/ssh", private: bool = False, certs: bool = True) -> Entry:
    """The public keys of this machine, by kind.

    Example:
        ```console
        $ saltern call ssh.host_keys
        ```
    """
    found: Entry = {}
    for name in sorted(os.listdir(keydir)) if os.path.isdir(keydir) else []:
        if name.startswith("ssh_host_") and name.endswith("_key.pub"):
            kind = name.removeprefix("ssh_host_").removesuffix("_key.pub")
            found[f"{kind}.pub"] = open_text(os.path.join(keydir, name))
    return found


def open_text(path: str) -> str:
    return "\n".join(ssh.lines_of(path)).strip()
