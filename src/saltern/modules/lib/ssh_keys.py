"""Public SSH keys: parse and check them, and find those in a user's files."""

from __future__ import annotations

import binascii
import os
import re
from typing import TYPE_CHECKING

from msgspec import Struct

from saltern.modules.api.refused import Refused
from saltern.system import files

if TYPE_CHECKING:
    from pwd import struct_passwd

KINDS: dict[str, str] = {
    "rsa": "ssh-rsa",
    "dsa": "ssh-dss",
    "dss": "ssh-dss",
    "ed25519": "ssh-ed25519",
    "ecdsa": "ecdsa-sha2-nistp256",
}
KIND = re.compile(r"(?:ssh-|ecdsa-sha2-|sk-ssh-|sk-ecdsa-)[\w.@-]+")
# Options are separated by commas; quoted text may contain anything.
OPTION = r'[^\s",=]+(?:=(?:"(?:\\.|[^"\\])*"|[^\s",]*))?'
OPTIONS = re.compile(rf"{OPTION}(?:,{OPTION})*(?=\s)")


class Key(Struct, frozen=True, kw_only=True):
    """One line of an ``authorized_keys`` file. The key itself is not secret."""

    kind: str
    blob: str
    comment: str = ""
    options: tuple[str, ...] = ()

    def line(self) -> str:
        parts = (",".join(self.options), self.kind, self.blob, self.comment)
        return " ".join(part for part in parts if part)


def decode_blob(blob: str) -> bytes:
    import base64

    try:
        return base64.b64decode(blob, validate=True)
    except (binascii.Error, ValueError):
        return b""


def kind_in(blob: str) -> str:
    """The kind in a key; empty if it is not a key."""
    data = decode_blob(blob)
    size = int.from_bytes(data[:4], "big")
    return data[4 : 4 + size].decode("ascii", "replace") if len(data) > 4 and 0 < size <= 64 else ""


def kind_named(enc: str) -> str:
    name = KINDS.get(enc, enc)
    if not KIND.fullmatch(name):
        raise Refused(f"no kind of key is called {enc!r}; use one of {', '.join(KINDS)}")
    return name


def split_options(text: str) -> tuple[str, ...]:
    """The options in a text; ``command="a,b",no-pty`` has two."""
    return tuple(re.findall(OPTION, text))


def parse(line: str) -> Key | None:
    """A line of ``authorized_keys``; None for a comment, an empty line, or an invalid key."""
    line = line.strip()
    if not line or line.startswith("#"):
        return None
    options: tuple[str, ...] = ()
    if not KIND.match(line):
        match = OPTIONS.match(line)
        if match is None:
            return None
        options, line = split_options(match[0]), line[match.end() :].strip()
    parts = line.split(None, 2)
    if len(parts) < 2 or not KIND.fullmatch(parts[0]):
        return None
    return Key(kind=parts[0], blob=parts[1], comment=parts[2] if len(parts) > 2 else "", options=options)


def read_key(text: str, enc: str | None, comment: str = "", options: tuple[str, ...] = ()) -> Key:
    """A key from a user's text: a whole line, whose own comment and options take precedence, or only the
    key. Raises if it is invalid.
    """
    whole = parse(text) if " " in text.strip() else None
    if " " in text.strip() and whole is None:
        raise Refused(f"{text!r:.60} is not a public key")
    key = whole or Key(kind="", blob=text.strip())
    kind = kind_in(key.blob)
    if not kind:
        raise Refused(f"{text!r:.60} is not a public key; it should be base64 text such as AAAAC3NzaC1lZDI1…")
    wanted = key.kind or (kind_named(enc) if enc else kind)
    if wanted != kind and not (enc == "ecdsa" and kind.startswith("ecdsa-")):
        raise Refused(f"the key {key.blob[:20]}… is of the kind {kind}, not {wanted}")
    return Key(kind=kind, blob=key.blob, comment=key.comment or comment, options=key.options or options)


def fingerprints(blob: str) -> dict[str, str]:
    """The fingerprints of a key: Salt's hexadecimal ones and those of ``ssh-keygen -l``."""
    import base64
    import hashlib

    data = decode_blob(blob)
    found = {}
    for form in ("sha256", "md5"):
        digest = hashlib.new(form, data, usedforsecurity=False).digest()
        found[form] = ":".join(f"{byte:02x}" for byte in digest)
        if form == "sha256":
            found["SHA256"] = "SHA256:" + base64.b64encode(digest).decode().rstrip("=")
    return found


# -- a user's files ----------------------------------------------------------------------------


class Home(Struct, frozen=True):
    """A user and the home directory."""

    name: str
    uid: int
    gid: int
    path: str


def home_of(user: str) -> Home:
    """The home of a user. Raises ``Refused`` (``later``) for a user that does not exist (yet)."""
    import pwd

    try:
        entry: struct_passwd = pwd.getpwnam(user)
    except KeyError:
        raise Refused(f"User {user} is not available", later=True) from None
    return Home(user, entry.pw_uid, entry.pw_gid, entry.pw_dir)


def file_of(home: Home, config: str) -> str:
    """The path of ``config`` as in sshd: with ``%h``, ``%u`` and ``%%``, relative to the home directory."""
    marks = {"%h": home.path, "%u": home.name, "%%": "%"}
    path = re.sub("%[hu%]", lambda mark: marks[mark[0]], config)
    if path.startswith("~/"):
        path = home.path + path[1:]
    return path if os.path.isabs(path) else os.path.join(home.path, path)


def write_private(path: str, lines: list[str], home: Home | None, mode: int = 0o600) -> None:
    """Write the lines; a new file and a new directory are private to the user."""
    owner = files.Attributes(uid=home.uid, gid=home.gid) if home else files.Attributes()
    parent = os.path.dirname(path)
    if files.look(parent, follow=True) is None:
        files.make_directories(parent, files.Attributes(0o700 if home else 0o755, owner.uid, owner.gid))
    new = files.look(path, follow=True) is None
    text = "".join(f"{line}\n" for line in lines)
    attributes = files.Attributes(mode if new else None, owner.uid, owner.gid)
    files.write(path, text.encode("utf-8", "surrogateescape"), attributes)


def lines_of(path: str) -> list[str]:
    data = files.read(path)
    return [] if data is None else data.decode("utf-8", "surrogateescape").splitlines()
