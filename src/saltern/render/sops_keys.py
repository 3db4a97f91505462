"""The key of a sops file: encrypted for age keys and OpenPGP keys, any one of which opens it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from saltern.system.gpg import NoKeyRing
from saltern.system.gpg import decrypt as gpg_decrypt

SIZE = 32
CLOUDS = ("kms", "gcp_kms", "azure_kv", "hc_vault", "hckms")


class NoKey(Exception):
    """No key of this machine opens the file; the text says why."""


def data_key(about: Mapping[str, object], opts: Mapping[str, object]) -> bytes:
    """The key that the values of a file are encrypted with. Raises ``NoKey``."""
    if about.get("key_groups") or about.get("shamir_threshold"):
        raise NoKey("its key is shared between several groups, which saltern cannot put together")
    why: list[str] = []
    for found in (*_by_age(about, opts, why), *_by_gpg(about, opts, why)):
        if len(found) == SIZE:
            return found
        why.append("what is encrypted is no key")
    others = [name for name in CLOUDS if about.get(name)]
    why += [f"keys of {', '.join(others)} are not supported"] if others else []
    raise NoKey("; ".join(dict.fromkeys(why)) or "it names no key")


def _entries(about: Mapping[str, object], kind: str) -> list[Mapping[str, object]]:
    given = about.get(kind)
    return [one for one in given if isinstance(one, Mapping)] if isinstance(given, list) else []


def _by_age(about: Mapping[str, object], opts: Mapping[str, object], why: list[str]) -> Iterator[bytes]:
    entries = _entries(about, "age")
    if not entries:
        return
    import pyrage

    identities = list(_identities(opts, why))
    for entry in entries if identities else ():
        try:
            yield pyrage.decrypt(str(entry.get("enc", "")).encode(), identities)
        except pyrage.DecryptError:
            why.append(f"no age key here is that of {entry.get('recipient')}")


def _identities(opts: Mapping[str, object], why: list[str]) -> Iterator[object]:
    """Those of the environment, as sops has it, and of the files that are configured or usual."""
    import pyrage

    texts = [os.environ["SOPS_AGE_KEY"]] if os.environ.get("SOPS_AGE_KEY") else []
    looked = _files(opts)
    for path in looked:
        try:
            with open(path, encoding="utf-8") as file:
                texts.append(file.read())
        except (OSError, UnicodeDecodeError):
            continue
    for text in texts:
        if "PRIVATE KEY-----" in text:
            yield pyrage.ssh.Identity.from_buffer(text.encode())
            continue
        for line in text.splitlines():
            if line.strip().startswith("AGE-SECRET-KEY-"):
                try:
                    yield pyrage.x25519.Identity.from_str(line.strip())
                except pyrage.IdentityError:
                    why.append("a line of the age keys is damaged")
    if not texts:
        why.append(f"there is no age key: looked for {' and '.join(looked)}")


def _files(opts: Mapping[str, object]) -> list[str]:
    environ = os.environ
    home = environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    beside = os.path.join(str(opts.get("config_dir") or "/etc/saltern"), "age", "keys.txt")
    named = [opts.get("sops_age_key_file"), environ.get("SOPS_AGE_KEY_FILE")]
    named.append(environ.get("SOPS_AGE_SSH_PRIVATE_KEY_FILE"))
    usual = [beside, os.path.join(home, "sops", "age", "keys.txt")]
    return [os.path.expanduser(str(one)) for one in named if one] or usual


def _by_gpg(about: Mapping[str, object], opts: Mapping[str, object], why: list[str]) -> Iterator[bytes]:
    entries = _entries(about, "pgp")
    if not entries:
        return
    from saltern.render.gpg import key_ring

    try:
        messages = gpg_decrypt([str(entry.get("enc", "")) for entry in entries], key_ring(opts))
    except NoKeyRing as problem:
        why.append(str(problem))
        return
    for message in messages:
        if message.problem:
            why.append(message.problem)
        else:
            yield message.data
