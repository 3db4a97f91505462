"""Signing keys of repositories: fetch them, and store them as files for apt."""

from __future__ import annotations

import os
import re

from saltern.modules.api.context import Context
from saltern.modules.lib.addresses import download, is_web, on_disk, read
from saltern.modules.lib.packages.model import PackageError
from saltern.system.process import Ran
from saltern.system.temporary import private_directory

ARMOUR = re.compile(
    rb"-----BEGIN PGP PUBLIC KEY BLOCK-----\s(.*?)-----END PGP PUBLIC KEY BLOCK-----", re.DOTALL
)
KEY_ID = re.compile(r"(?:0x)?[0-9A-Fa-f]{8,40}")


def fetch_key(ctx: Context, source: str) -> bytes:
    """The key at a URL, ``salt://`` or path."""
    if is_web(source):
        return check_key(download(source), source)
    path = on_disk(ctx, source)
    if path is None:
        raise PackageError(f"the key {source} was not found")
    return check_key(read(path), source)


def check_key(data: bytes, source: str) -> bytes:
    """The data, if it is a key: a server's error page, for example, must not be trusted as one."""
    if not ARMOUR.search(data) and not (data[:1] and data[0] & 0x80):
        raise PackageError(f"the content of {source} is not an OpenPGP key")
    return data


def for_file(data: bytes, path: str) -> bytes:
    """The key in the form that apt expects: armoured in ``.asc``, binary in any other file."""
    return data if path.endswith(".asc") or not ARMOUR.search(data) else dearmour(data)


def dearmour(data: bytes) -> bytes:
    """The binary data of all blocks, without headers and checksums."""
    from base64 import b64decode

    blocks = []
    for block in ARMOUR.findall(data):
        text = block.replace(b"\r", b"")
        body = text.partition(b"\n\n")[2] if b"\n\n" in text else text
        lines = [line for line in body.split() if not line.startswith(b"=")]
        try:
            blocks.append(b64decode(b"".join(lines), validate=True))
        except ValueError:
            raise PackageError("the key is damaged: it is not base64") from None
    return b"".join(blocks)


def key_ids(ctx: Context, path: str) -> list[str]:
    """The fingerprints of the keys in a file; none if the file or ``gpg`` is missing."""
    if not ctx.host.exists(path):
        return []
    ran = _gpg(ctx, "--show-keys", path)
    rows = [line.split(":") for line in ran.out.splitlines()]
    return [row[9] for row in rows if row[0] == "fpr"]


FIELDS = {"validity": 1, "size": 2, "keyid": 4, "date_creation": 5, "date_expiration": 6, "capability": 11}


def describe_keys(ctx: Context, path: str) -> list[dict[str, object]]:
    """The keys in a file, in Salt's form."""
    found: list[dict[str, object]] = []
    for row in (line.split(":") for line in _gpg(ctx, "--show-keys", path).out.splitlines()):
        if row[0] == "pub":
            found.append({"file": path, **{name: row[at] for name, at in FIELDS.items() if row[at]}})
        elif row[0] == "fpr" and found and "fingerprint" not in found[-1]:
            found[-1]["fingerprint"] = row[9]
        elif row[0] == "uid" and found:
            found[-1].setdefault("uid", row[9])
    for key in found:
        key["keyid"] = str(key["keyid"])[-8:]
    return found


def from_server(ctx: Context, ids: list[str], server: str) -> bytes:
    """Keys by ID from a key server."""
    if bad := [one for one in ids if not KEY_ID.fullmatch(one)]:
        raise PackageError(f"{bad[0]!r} is not the ID of a key")
    if server.startswith("-"):
        raise PackageError(f"{server!r} is not a key server")
    with private_directory("keys") as home:
        got = _gpg(ctx, "--homedir", home, "--keyserver", server, "--recv-keys", *ids)
        if got.code:
            raise PackageError(f"{server} returned no key {', '.join(ids)}: {got.err.strip()[-300:]}")
        armoured = _gpg(ctx, "--homedir", home, "--armor", "--export", *ids)
        _gpgconf(ctx, home)
    return check_key(armoured.out.encode(), server)


def _gpg(ctx: Context, *argv: str) -> Ran:
    return ctx.host.run(["gpg", "--batch", "--no-tty", "--with-colons", *argv], env={"LC_ALL": "C"})


def _gpgconf(ctx: Context, home: str) -> None:
    """Stop the agents that gpg has started for this home directory."""
    ctx.host.run(["gpgconf", "--homedir", home, "--kill", "all"])


def keyring_path(file: str) -> str:
    """The default path of a repository's key: beside apt's own."""
    name = os.path.basename(file).rpartition(".")[0] or os.path.basename(file)
    return f"/etc/apt/trusted.gpg.d/{name}.asc"
