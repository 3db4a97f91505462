"""Decrypt many OpenPGP messages with the system's gpg: one process for up to ``BATCH`` of them.

gpg writes each message to a separate output file in the memory of this process: decrypted data is never on a
disk. It cannot prompt for a passphrase, so it never waits for one.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

BATCH = 200  # messages of one process: each has a file descriptor
LIMIT = 300.0  # seconds for one process
NO_GPG = "the program 'gpg' is not on this machine: install gnupg"
# Reports of gpg about a message that it could not decrypt, and their meaning, the most precise first.
REASONS: Mapping[str, str] = {
    "NEED_PASSPHRASE_SYM": "it is encrypted with a passphrase, not for a key",
    "BADMDC": "the block is damaged: it was changed after it was encrypted",
    "DECRYPTION_KEY": "the block is damaged: its key is right, but the rest cannot be read",
    "ERROR": "the secret key {keys} cannot be used: without its passphrase, or at all",
    "NO_SECKEY": "the key ring {keydir} lacks the secret key {keys}",
    "ENC_TO": "gpg cannot decrypt it",
    "": "the block is damaged: it is cut off, or its checksum is wrong",
}


class NoKeyRing(Exception):
    """gpg cannot be used at all; the text says why."""


class Message(Struct, frozen=True, kw_only=True):
    """The result for one message: its data, or why there is none."""

    data: bytes = b""
    problem: str = ""


def decrypt(blocks: Sequence[str], keydir: str) -> list[Message]:
    """Decrypt messages; results are in their order. Raises ``NoKeyRing``."""
    if shutil.which("gpg") is None:
        raise NoKeyRing(NO_GPG)
    if not os.path.isdir(keydir):
        raise NoKeyRing(f"there is no key ring {keydir}: the option gpg_keydir names it")
    found: list[Message] = []
    for begin in range(0, len(blocks), BATCH):
        found += _batch(blocks[begin : begin + BATCH], keydir)
    return found


def _batch(blocks: Sequence[str], keydir: str) -> list[Message]:
    outputs: list[int] = []
    try:
        with tempfile.TemporaryDirectory(prefix="saltern-gpg-") as folder:
            for index, block in enumerate(blocks):
                outputs.append(os.memfd_create(f"message{index}"))
                with open(f"{folder}/{index}.asc", "w", encoding="utf-8", errors="replace") as file:
                    file.write(block)
                os.symlink(f"/proc/self/fd/{outputs[-1]}", f"{folder}/{index}")
            said = _run(folder, len(blocks), keydir, outputs)
        return [_message(said.get(index, []), output, keydir) for index, output in enumerate(outputs)]
    finally:
        for output in outputs:
            os.close(output)


def _run(folder: str, count: int, keydir: str, outputs: Sequence[int]) -> dict[int, list[str]]:
    """Run gpg, and return its reports about each message, by its index."""
    command = [
        *("gpg", "--homedir", keydir, "--batch", "--yes", "--no-tty", "--status-fd", "1"),
        *("--no-auto-key-locate", *_no_questions(keydir), "--multifile", "--decrypt"),
        *(f"{folder}/{index}.asc" for index in range(count)),
    ]
    try:
        done = subprocess.run(
            command,
            pass_fds=outputs,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=LIMIT,
            check=False,
            env={**_surroundings(), "LC_ALL": "C"},
        )
    except subprocess.TimeoutExpired:
        raise NoKeyRing(f"gpg took longer than {LIMIT:.0f} seconds") from None
    return dict(_by_message(done.stdout.decode("utf-8", "replace")))


def _surroundings() -> dict[str, str]:
    """The environment without variables that let gpg prompt."""
    asks = ("GPG_TTY", "DISPLAY", "WAYLAND_DISPLAY", "PINENTRY_USER_DATA", "GNUPGHOME")
    return {name: value for name, value in os.environ.items() if name not in asks}


def _by_message(status: str) -> Iterator[tuple[int, list[str]]]:
    said: list[str] = []
    index = -1
    for line in status.splitlines():
        words = line.removeprefix("[GNUPG:] ")
        if words.startswith("FILE_START "):
            name = os.path.basename(words.rpartition("/")[2])
            index, said = int(name.removesuffix(".asc")), []
            yield index, said
        else:
            said.append(words)


def _no_questions(keydir: str) -> tuple[str, ...]:
    """Options that prevent prompts for a passphrase, unless the configuration of the key ring says how to get
    one.
    """
    try:
        with open(f"{keydir}/gpg.conf", encoding="utf-8", errors="replace") as file:
            decided = "pinentry-mode" in file.read()
    except OSError:
        decided = False
    return () if decided else ("--pinentry-mode", "error")


def _message(said: Sequence[str], output: int, keydir: str) -> Message:
    """The result for one message. Only data that gpg reports as complete and unchanged is accepted."""
    first = {line.partition(" ")[0] for line in said}
    if "DECRYPTION_OKAY" in first and "DECRYPTION_FAILED" not in first:
        return Message(data=os.pread(output, os.fstat(output).st_size, 0))
    keys = list(dict.fromkeys(line.split()[1] for line in said if line.startswith(("ENC_TO ", "NO_SECKEY "))))
    reason = next(text for word, text in REASONS.items() if word in first or not word)
    return Message(problem=reason.format(keydir=keydir, keys=" or ".join(keys)))
