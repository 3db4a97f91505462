"""A real key ring of gpg, with one key of its own, below a short path: sockets have short names."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

KEY = """\
%no-protection
Key-Type: eddsa
Key-Curve: ed25519
Subkey-Type: ecdh
Subkey-Curve: cv25519
Name-Email: {address}
Expire-Date: 0
"""


class KeyRing:
    """The directory of a key ring, and what is encrypted for the key in it."""

    def __init__(self, path: Path, address: str = "salt@example.com") -> None:
        self.path = path
        self.address = address

    def run(self, *words: str, data: bytes = b"") -> bytes:
        command = ["gpg", "--homedir", str(self.path), "--batch", "--yes", *words]
        return subprocess.run(command, input=data, capture_output=True, timeout=120, check=True).stdout

    def make_key(self, passphrase: str = "") -> None:
        text = KEY.format(address=self.address)
        if passphrase:
            text = text.replace("%no-protection\n", "") + f"Passphrase: {passphrase}\n"
        self.run("--pinentry-mode", "loopback", "--gen-key", data=text.encode())

    def encrypted(self, data: str | bytes) -> str:
        """An armoured block."""
        given = data if isinstance(data, bytes) else data.encode()
        words = ("--trust-model", "always", "--encrypt", "--armor", "-r", self.address)
        return self.run(*words, data=given).decode()


@contextmanager
def key_ring(*, key: bool = True, passphrase: str = "") -> Iterator[KeyRing]:
    path = Path(tempfile.mkdtemp(prefix="kr"))
    try:
        ring = KeyRing(path)
        if key:
            ring.make_key(passphrase)
        yield ring
    finally:
        subprocess.run(["gpgconf", "--homedir", str(path), "--kill", "all"], capture_output=True, check=False)
        shutil.rmtree(path, ignore_errors=True)


def indented(block: str, by: int = 4) -> str:
    """A block as the literal text of a YAML file."""
    return "|\n" + "\n".join(" " * by + line for line in block.rstrip("\n").split("\n"))
