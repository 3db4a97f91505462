"""``nacl``: decrypt values of the form ``NACL[…]`` with the key that ``nacl.config`` names."""

from __future__ import annotations

import base64
import binascii
import os
import re
from collections.abc import Callable, Mapping

from saltern.language import secrets
from saltern.language.diagnostics import CompileError, Diagnostic
from saltern.language.source import Mark
from saltern.render.document import Job, Rendered
from saltern.render.encrypted import changed_text, changed_values, line_of, text_or_bytes

BOX = re.compile(r"NACL\[([^\]]*)\]")
WHOLE = re.compile(r"^NACL\[(.*)\]\s*$", re.DOTALL)


def nacl(value: object, job: Job) -> object:
    """The data with all boxes opened. A value that is more than a box is unchanged, as in Salt."""
    opened = _Key(job)

    def change(text: str) -> object:
        found = WHOLE.search(text)
        return opened(found[1], text) if found else text

    return changed_values(value, change)


def nacl_text(made: Rendered, job: Job) -> Rendered:
    """The same for a text that is not parsed yet."""
    opened = _Key(job)
    found = {box[0]: str(opened(box[1], box[0])) for box in BOX.finditer(made.text)}
    return changed_text(made, BOX, found)


class _Key:
    """Opens boxes with the configured key, which is read for the first box."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._open: Callable[[bytes], bytes] | None = None

    def __call__(self, box: str, text: str) -> str | bytes:
        known = self._job.decrypted
        if text not in known:
            try:
                if self._open is None:
                    self._open = _opener(_config(self._job))
                data = self._open(base64.b64decode(box.strip()))
            except (ValueError, binascii.Error, OSError, RuntimeError) as problem:
                raise CompileError(_problem(problem, text, self._job)) from None
            known[text] = text_or_bytes(data)
            secrets.add(known[text])
        return known[text]


def _config(job: Job) -> Mapping[str, object]:
    opts = job.values.get("opts")
    assert isinstance(opts, Mapping)
    usual = os.path.join(str(opts.get("pki_dir") or "/etc/salt/pki"), "master/nacl")
    given = opts.get("nacl.config")
    return {"box_type": "sealedbox", "sk_file": usual, **(given if isinstance(given, Mapping) else {})}


def _opener(config: Mapping[str, object]) -> Callable[[bytes], bytes]:
    from nacl.exceptions import CryptoError
    from nacl.public import PrivateKey, SealedBox
    from nacl.secret import SecretBox

    if config.get("sk"):
        secrets.add(config["sk"])
        text = str(config["sk"])
    else:
        with open(str(config["sk_file"]), encoding="ascii") as file:
            text = file.read()
    key = base64.b64decode(text.strip())
    box = SecretBox(key) if config["box_type"] == "secretbox" else SealedBox(PrivateKey(key))

    def decrypt(data: bytes) -> bytes:
        try:
            return bytes(box.decrypt(data))
        except CryptoError:
            raise ValueError("it was sealed with another key, or is damaged") from None

    return decrypt


def _problem(problem: Exception, text: str, job: Job) -> Diagnostic:
    if isinstance(problem, binascii.Error):
        why = "it is damaged: not base64"
    elif isinstance(problem, OSError):
        why = f"the key {problem.filename} cannot be read: {problem.strerror}"
    else:
        why = str(problem)
    return Diagnostic(
        code="nacl-decrypt",
        what=f"this NaCl box cannot be opened: {why}",
        where=Mark(job.file, line_of(text, job.source)),
        fix="set sk_file of nacl.config in the configuration to the matching secret key",
    )
