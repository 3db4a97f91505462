"""``gpg``: the values of a file with their OpenPGP blocks decrypted, by the key ring of this machine.

A block may stand anywhere in a value, and a value anywhere in the data. All blocks of a file are decrypted
together; what was decrypted once in a run is not decrypted again.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping

from saltern.language import secrets
from saltern.language.diagnostics import CompileError, Diagnostic, Severity
from saltern.language.source import Mark
from saltern.render.document import Job, Rendered
from saltern.render.encrypted import changed_text, changed_values, texts_in
from saltern.system.gpg import NoKeyRing, decrypt

BLOCK = re.compile(r"-----BEGIN PGP MESSAGE-----.*?-----END PGP MESSAGE-----", re.DOTALL)
SALTS = "/etc/salt/gpgkeys"
Found = Mapping[str, str | bytes]


def gpg(value: object, job: Job) -> object:
    """Data with all blocks in it decrypted. Keys of mappings stay as they are, as in Salt."""
    found = _decrypted([block for text in texts_in(value) for block in _blocks(text)], job)
    return changed_values(value, lambda text: _filled(text, found)) if found else value


def gpg_text(made: Rendered, job: Job) -> Rendered:
    """The same for a text that is not read yet: what it says in the end is as secret as its blocks."""
    found = _decrypted(list(_blocks(made.text)), job)
    return changed_text(made, BLOCK, {block: _as_text(data) for block, data in found.items()})


def _blocks(text: str) -> Iterator[str]:
    if "-----BEGIN PGP" in text:
        yield from BLOCK.findall(text)


def _filled(text: str, found: Found) -> str | bytes:
    """The text with its blocks decrypted; bytes if what was decrypted is no text."""
    parts = BLOCK.split(text)
    if len(parts) == 1:
        return text
    whole = parts[0].encode("utf-8", "surrogateescape")
    for block, after in zip(BLOCK.findall(text), parts[1:], strict=True):
        data = found.get(block, block)
        whole += data if isinstance(data, bytes) else data.encode("utf-8", "surrogateescape")
        whole += after.encode("utf-8", "surrogateescape")
    whole = whole.rstrip(b"\n")
    try:
        return whole.decode()
    except UnicodeDecodeError:
        return whole


def _as_text(data: str | bytes) -> str:
    return data if isinstance(data, str) else data.decode("utf-8", "replace")


def _decrypted(blocks: list[str], job: Job) -> Found:
    """What the blocks hold; those that cannot be decrypted are errors, or stay as they are."""
    known = job.decrypted
    wanted = list(dict.fromkeys(block for block in blocks if block not in known))
    if wanted:
        opts = job.values.get("opts")
        assert isinstance(opts, Mapping)
        try:
            messages = decrypt([_unfolded(block) for block in wanted], key_ring(opts))
        except NoKeyRing as problem:
            raise CompileError(_problem(str(problem), wanted[0], job)) from None
        for block, message in zip(wanted, messages, strict=True):
            if not message.problem:
                known[block] = _read(message.data)
                secrets.add(known[block])
        wrong = {block: one.problem for block, one in zip(wanted, messages, strict=True) if one.problem}
        if wrong:
            _report(wrong, job, fails=opts.get("gpg_decrypt_must_succeed") is not False)
    return {block: known[block] for block in blocks if block in known}


def _unfolded(block: str) -> str:
    """A block in one line has ``\\n`` for its ends of lines; one of a YAML text may be indented."""
    lines = block.replace("\\n", "\n").splitlines()
    return "\n".join(line.strip() for line in lines) + "\n"


def _read(data: bytes) -> str | bytes:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data


def key_ring(opts: Mapping[str, object]) -> str:
    """The directory of the key ring: as configured, or beside the configuration, or Salt's."""
    if given := opts.get("gpg_keydir"):
        return os.path.expanduser(str(given))
    beside = os.path.join(str(opts.get("config_dir") or "/etc/saltern"), "gpgkeys")
    return SALTS if not os.path.isdir(beside) and os.path.isdir(SALTS) else beside


def _report(wrong: Mapping[str, str], job: Job, *, fails: bool) -> None:
    severity = Severity.ERROR if fails else Severity.WARNING
    found = [_problem(problem, block, job, severity) for block, problem in wrong.items()]
    if fails:
        raise CompileError(*found)
    job.warnings.extend(found)


def _problem(why: str, block: str, job: Job, severity: Severity = Severity.ERROR) -> Diagnostic:
    return Diagnostic(
        severity=severity,
        code="gpg-decrypt",
        what=f"this gpg block cannot be decrypted: {why}",
        where=_place(block, job),
        fix="encrypt it for a key whose secret part is in the key ring, or set gpg_keydir",
    )


def _place(block: str, job: Job) -> Mark:
    """The line of the block in the file, however it is indented there; the file alone if it is not there."""
    rows = [re.escape(row.strip()) for row in re.split(r"\\n|\n", block)]
    found = re.search(r"\s*(?:\\n)?\s*".join(rows), job.source)
    return Mark(job.file, job.source.count("\n", 0, found.start()) + 1) if found else Mark(job.file)
