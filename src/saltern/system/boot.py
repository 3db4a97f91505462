"""Which boot of this machine it is: proof that it went down and came back, without any clock."""

from __future__ import annotations

import os

NONCE = "/run/saltern.boot"


def boot_identity(root: str = "/") -> dict[str, str]:
    """The kernel's boot ID, the start of process 1, and a word that a boot discards; empty if unknown."""
    return {
        "boot_id": boot_id(root),
        "pid1": _start(os.path.join(root, "proc/1/stat")),
        "nonce": _nonce(os.path.join(root, NONCE.lstrip("/"))),
    }


def boot_id(root: str = "/") -> str:
    """The kernel's boot ID; empty if it is unknown."""
    return text_of(os.path.join(root, "proc/sys/kernel/random/boot_id")).strip()


def has_rebooted(before: dict[str, str], now: dict[str, str]) -> bool:
    """True if a part that is known of both boots differs."""
    return any(before.get(key) and now.get(key) and before[key] != now[key] for key in before)


def is_same_boot(before: dict[str, str], now: dict[str, str]) -> bool:
    """True if parts that are known of both boots are equal, and none differs."""
    known = [key for key in before if before[key] and now.get(key)]
    return bool(known) and all(before[key] == now[key] for key in known)


def text_of(path: str) -> str:
    """The text of a small file; empty if it cannot be read."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def process_start(pid: int) -> str:
    """The start time of a process, which with its ID is unique. Empty if there is no such process."""
    return _start(f"/proc/{pid}/stat")


def _start(path: str) -> str:
    """The start of a process in ticks since boot; the name before it may contain any character."""
    fields = text_of(path).strip().rpartition(")")[2].split()
    return fields[19] if len(fields) > 19 else ""


def _nonce(path: str) -> str:
    if known := text_of(path).strip():
        return known
    word = os.urandom(16).hex()
    try:
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except OSError:
        return text_of(path).strip()
    with os.fdopen(file, "w", encoding="utf-8") as out:
        out.write(word)
    return word
