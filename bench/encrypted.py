"""W11: a pillar of 1,000 encrypted values, beside one call of gpg that decrypts the same 1,000 messages.

The goal is three times that call, in CPU: gpg itself, and saltern around it. Salt calls gpg once for each
value; that is measured with a few values, and shown for comparison. Needs gpg.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence

VALUES = 1000
FEW = 20
MOST = 3.0
KEY = """\
%no-protection
Key-Type: eddsa
Key-Curve: ed25519
Subkey-Type: ecdh
Subkey-Curve: cv25519
Name-Email: bench@example.com
Expire-Date: 0
"""


def rows(work: str, env: Mapping[str, str], rounds: int) -> Iterator[tuple[str, float, float]]:
    """Each a name, a ratio, and what it may be; nothing where there is no gpg."""
    if shutil.which("gpg") is None:
        return
    ring = tempfile.mkdtemp(prefix="kr", dir="/tmp")  # sockets have short names
    try:
        yield from _rows(os.path.join(work, "encrypted"), ring, env, rounds)
    finally:
        subprocess.run(["gpgconf", "--homedir", ring, "--kill", "all"], capture_output=True, check=False)
        shutil.rmtree(ring, ignore_errors=True)


def _rows(work: str, ring: str, env: Mapping[str, str], rounds: int) -> Iterator[tuple[str, float, float]]:
    messages = _write(work, ring)
    gpg = ["gpg", "--homedir", ring, "--batch", "--yes", "--quiet"]
    show = [env["SALTERN"], "show", "pillar", "--out", "json", "--file-root", work]
    show += ["--config", f"{work}/saltern.yaml"]
    taken: dict[str, list[float]] = {"one": [], "saltern": [], "each": []}
    for _ in range(rounds):
        taken["one"].append(_cost([[*gpg, "--multifile", "--decrypt", *messages]], env))
        few = [[*gpg, "--output", os.devnull, "--decrypt", one] for one in messages[:FEW]]
        taken["each"].append(_cost(few, env) * VALUES / FEW)
        taken["saltern"].append(_cost([[*show, "--pillar-root", f"{work}/pillar"]], env))
    one, ours, each = (min(taken[name]) for name in ("one", "saltern", "each"))
    yield f"W11.gpg{VALUES} / one call", ours / one, MOST
    yield f"W11.gpg{VALUES} / a call each", ours / each, 1.0


def _cost(commands: Sequence[Sequence[str]], env: Mapping[str, str]) -> float:
    """CPU seconds of the commands and all they waited for."""
    before = _used()
    for command in commands:
        subprocess.run(
            command, env=dict(env), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True
        )
    return _used() - before


def _used() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _write(work: str, ring: str) -> list[str]:
    """A pillar with the values, and the messages in files of their own."""
    for folder in ("pillar", "messages"):
        os.makedirs(f"{work}/{folder}")
    gpg = ["gpg", "--homedir", ring, "--batch", "--yes"]
    quiet = {"capture_output": True, "check": True}
    subprocess.run([*gpg, "--gen-key"], input=KEY.encode(), **quiet)  # type: ignore[call-overload]
    plain = [f"{work}/messages/{number}" for number in range(VALUES)]
    for number, path in enumerate(plain):
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"the secret {number} of the bench")
    given = ("--trust-model", "always", "--armor", "-r", "bench@example.com", "--multifile", "--encrypt")
    subprocess.run([*gpg, *given, *plain], **quiet)  # type: ignore[call-overload]
    entries = ["#!yaml|gpg"]
    for number, path in enumerate(plain):
        os.unlink(path)
        with open(f"{path}.asc", encoding="utf-8") as file:
            entries += [f"k{number}: |", *("  " + line for line in file.read().splitlines())]
    for name, text in {
        "pillar/top.sls": "base: {'*': [data]}\n",
        "pillar/data.sls": "\n".join(entries) + "\n",
        "saltern.yaml": f"gpg_keydir: {ring}\n",
    }.items():
        with open(f"{work}/{name}", "w", encoding="utf-8") as file:
            file.write(text)
    return [f"{path}.asc" for path in plain]
