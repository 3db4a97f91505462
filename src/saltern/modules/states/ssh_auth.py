"""``ssh_auth``: the keys that may log in as a user."""

# ruff: noqa: ARG001 - the signatures are the interface

from __future__ import annotations

from msgspec.structs import replace

from saltern.language.result import Outcome, Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Words, result_of
from saltern.modules.api.declare import state
from saltern.modules.api.params import Ignored
from saltern.modules.api.refused import Refused
from saltern.modules.lib import ssh_keys as ssh
from saltern.modules.lib.authorized_keys import merge_keys, without
from saltern.modules.lib.files import sources
from saltern.modules.lib.ssh_keys import Home, Key

CONFIG = ".ssh/authorized_keys"
GONE = ("Removed", "Key removed")  # of ``absent`` and of ``manage``


def _options(options: object) -> tuple[str, ...]:
    if not options:
        return ()
    listed = options if isinstance(options, list) else [options]
    found = tuple(one for text in listed for one in ssh.split_options(str(text)))
    if any("\n" in one for one in found):
        raise Refused("an option cannot have more than one line")
    return found


def _wanted_keys(
    ctx: Context,
    name: str,
    enc: str | None,
    comment: str,
    source: str,
    source_hash: str,
    options: object,
) -> list[Key]:
    """The keys: those in ``source`` if it is given, else the one in ``name``."""
    chosen = _options(options)
    if "\n" in comment:
        raise Refused("a comment cannot have more than one line")
    if not source:
        return [ssh.read_key(name, enc, comment, chosen)]
    keys = [ssh.read_key(line, enc, "", chosen) for line in _texts(ctx, name, source, source_hash)]
    if not keys:
        raise Refused(f"{source} contains no public key")
    return keys


def _texts(ctx: Context, name: str, source: str, source_hash: str) -> list[str]:
    """The texts of the keys: the lines of ``source`` if it is given, else ``name``."""
    if not source:
        return [name]
    found = sources.find(ctx, source, sources.Fetch(source_hash=source_hash, skip_verify=not source_hash))
    lines = found.data.decode("utf-8", "replace").splitlines()
    return [line for line in lines if line.strip() and line.lstrip()[0] != "#"]


def _blob(text: str) -> str:
    """The key in a text, valid or not; empty if there is none."""
    words = text.split()
    if len(words) == 1:
        return words[0]
    key = ssh.parse(text)
    return key.blob if key else ""


def _find_home(ctx: Context, user: str) -> Home | None:
    """The home directory; None in test mode if the user does not exist, since an earlier state may create
    it.
    """
    try:
        return ssh.home_of(user)
    except Refused as missing:
        if missing.later and ctx.test:
            return None
        raise


def _settle(
    ctx: Context,
    home: Home | None,
    user: str,
    path: str,
    lines: list[str],
    changes: dict[str, object],
    words: tuple[str, str, str],
) -> Result:
    if changes and not ctx.test:
        ssh.write_private(path, lines, home)
        left = [key.blob for line in ssh.lines_of(path) if (key := ssh.parse(line))]
        gone = [blob for blob, what in changes.items() if (what in GONE) == (blob in left)]
        if gone:
            raise Refused(f"{path} was written, but is still wrong")
    present = [key for line in (ssh.lines_of(path) if home else []) if (key := ssh.parse(line))]
    data: dict[str, object] = {
        "user": user,
        "path": path,
        "keys": [{"enc": key.kind, "fingerprint": ssh.fingerprints(key.blob)["SHA256"]} for key in present],
    }
    return result_of(ctx, changes, Words(words[0], words[1], words[2]), data)


@state
def present(
    ctx: Context,
    /,
    name: str,
    *,
    user: str,
    enc: str | None = None,
    comment: str = "",
    source: str = "",
    source_hash: str = "",
    options: object = None,
    config: str = CONFIG,
    **_: Ignored,
) -> Result:
    """Make sure that a public key may log in as a user.

    Args:
        name: the key, alone or as the whole line of a ``.pub`` file.
        user: the user to log in as.
        enc: the kind of the key (``ed25519``, ``rsa`` …), to check it; a key contains its kind.
        comment: the comment after the key.
        source: a file of keys instead, ``salt://`` or a path.
        source_hash: the checksum of that file.
        options: a list such as ``no-pty`` or ``command="…"``.
        config: the file, relative to the user's home directory; ``%h`` and ``%u`` are expanded.

    Example:
        ```yaml
        AAAAC3NzaC1lZDI1NTE5AAAAIKfddk6S6o/9dJNpi74NwnN/siKMGIEbIuN90oWFW4Lw:
          ssh_auth.present:
            - user: ada
            - enc: ed25519
            - comment: ada@laptop
        ```
    """
    ctx.facts = {"user": user}
    wanted = _wanted_keys(ctx, name, enc, comment, source, source_hash, options)
    home = _find_home(ctx, user)
    path = ssh.file_of(home, config) if home else config
    lines, changes = merge_keys(ssh.lines_of(path) if home else [], wanted)
    what = source or f"{wanted[0].blob[:20]}…"
    return _settle(
        ctx,
        home,
        user,
        path,
        lines,
        changes,
        (
            f"The authorized host key {what} is already present for user {user}",
            f"Key {what} for user {user} is set to be added",
            f"The authorized host key {what} for user {user} was added",
        ),
    )


@state(removes=True)
def absent(
    ctx: Context,
    name: str,
    *,
    user: str,
    source: str = "",
    source_hash: str = "",
    config: str = CONFIG,
) -> Result:
    """Make sure that a public key may not log in as a user.

    Args:
        name: the key, alone or as a whole line. An invalid key counts as absent.
        user: the user to log in as.
        source: a file of keys instead, ``salt://`` or a path.
        source_hash: the checksum of that file.
        config: the file, relative to the user's home directory.

    Example:
        ```yaml
        AAAAC3NzaC1lZDI1NTE5AAAAIDh2TYBQmchyyb1vNCXZGYmgwIj8XU8J92Nuuk5zp4+s:
          ssh_auth.absent:
            - user: ada
        ```
    """
    ctx.facts = {"user": user}
    blobs = {blob for text in _texts(ctx, name, source, source_hash) if (blob := _blob(text))}
    try:
        home = ssh.home_of(user)
    except Refused as missing:  # a user who does not exist cannot log in
        if not missing.later:
            raise
        data: dict[str, object] = {"user": user, "path": config, "keys": []}
        return Result(outcome=Outcome.OK, comment=f"User {user} does not exist", data=data)
    path = ssh.file_of(home, config)
    lines, changes = without(ssh.lines_of(path), blobs)
    words = ("Key is already absent", "The key is set to be removed", "Key removed")
    return _settle(ctx, home, user, path, lines, changes, words)


@state
def manage(
    ctx: Context,
    /,
    name: str,
    *,
    ssh_keys: list[str],
    user: str,
    enc: str | None = None,
    comment: str = "",
    options: object = None,
    config: str = CONFIG,
    **_: Ignored,
) -> Result:
    """Make sure that exactly these keys may log in as a user.

    Args:
        name: any text.
        ssh_keys: the keys, each alone or as a whole line.
        user: the user to log in as.
        enc, comment, options: for keys that do not contain them.
        source: accepted for compatibility with Salt.
        config: the file, relative to the user's home directory.

    Example:
        ```yaml
        keys of ada:
          ssh_auth.manage:
            - user: ada
            - ssh_keys:
              - ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKfddk6S6o/9dJNpi74NwnN/siKMGIEbIuN90oWFW4Lw ada@laptop
        ```
    """
    ctx.facts = {"user": user}
    wanted = [ssh.read_key(text, enc, "", _options(options)) for text in ssh_keys]
    wanted = [key if key.comment or not comment else replace(key, comment=comment) for key in wanted]
    home = _find_home(ctx, user)
    path = ssh.file_of(home, config) if home else config
    there = ssh.lines_of(path) if home else []
    others = {key.blob for line in there if (key := ssh.parse(line))} - {key.blob for key in wanted}
    kept, removed = without(there, others)
    lines, changes = merge_keys(kept, wanted)
    words = (
        f"The keys of user {user} are in the correct state",
        f"The keys of user {user} are set to be changed",
        f"The keys of user {user} were changed",
    )
    return _settle(ctx, home, user, path, lines, {**dict.fromkeys(removed, GONE[1]), **changes}, words)
