"""The key of a sops file: encrypted for age keys and OpenPGP keys, any of which opens it.

A file may have several groups of keys. Then each group has a part of the key, and the file says how many
parts are needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from saltern.system.gpg import NoKeyRing
from saltern.system.gpg import decrypt as gpg_decrypt

SIZE = 32
CLOUDS = ("kms", "gcp_kms", "azure_kv", "hc_vault", "hckms")
Group = Mapping[str, object]


class NoKey(Exception):
    """No key of this machine opens the file; the text says why."""


def data_key(about: Mapping[str, object], opts: Mapping[str, object]) -> bytes:
    """The key that encrypts the values of a file. Raises ``NoKey``."""
    groups = _mappings(about.get("key_groups")) or [about]
    why: list[str] = []
    if len(groups) == 1:
        part = _part(groups[0], opts, why, SIZE)
        if part is None:
            raise NoKey(_reasons(why))
        return part
    needed = _threshold(about.get("shamir_threshold")) or len(groups)
    parts: list[bytes] = []
    for group in groups:
        part = _part(group, opts, why, SIZE + 1) if len(parts) < needed else None
        parts += [] if part is None else [part]
    return _combine_key(parts, needed, len(groups), why)


def _threshold(given: object) -> int:
    text = str(given or 0)
    if not text.isdecimal():
        raise NoKey(f"the required number of groups is {text!r}")
    return int(text)


def _combine_key(parts: Sequence[bytes], needed: int, groups: int, why: Sequence[str]) -> bytes:
    if len(parts) < needed:
        counts = f"{needed} of them are needed and {len(parts)} are here"
        raise NoKey(f"its key is shared between {groups} groups; {counts}: {_reasons(why)}")
    from saltern.render.shamir import combine_parts

    try:
        return combine_parts(parts)
    except ValueError as problem:
        raise NoKey(str(problem)) from None


def _reasons(why: Sequence[str]) -> str:
    return "; ".join(dict.fromkeys(why)) or "it names no key"


def _part(group: Group, opts: Mapping[str, object], why: list[str], size: int) -> bytes | None:
    """The part that any key of a group opens."""
    for found in (*_by_age(group, opts, why), *_by_gpg(group, opts, why)):
        if len(found) == size:
            return found
        why.append("the encrypted data is not a key")
    others = [name for name in CLOUDS if group.get(name)]
    why += [f"keys of {', '.join(others)} are not supported"] if others else []
    return None


def _mappings(given: object) -> list[Group]:
    return [one for one in given if isinstance(one, Mapping)] if isinstance(given, list) else []


def _by_age(group: Group, opts: Mapping[str, object], why: list[str]) -> Iterator[bytes]:
    entries = _mappings(group.get("age"))
    if not entries:
        return
    from saltern.render.age_keys import AgeKeys

    keys = AgeKeys(opts, ssh=any(str(entry.get("recipient")).startswith("ssh-") for entry in entries))
    why += keys.why
    for entry in entries:
        found = keys.decrypt(str(entry.get("enc", "")))
        if found is not None:
            yield found
        elif not keys.why:
            why.append(f"this machine has no age key for {entry.get('recipient')}")


def _by_gpg(group: Group, opts: Mapping[str, object], why: list[str]) -> Iterator[bytes]:
    entries = _mappings(group.get("pgp"))
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
