"""Find armoured blocks in values and texts, decrypt them together, and replace them.

A block can be anywhere in a value, and a value anywhere in the data. All blocks of a file are decrypted
together; a block is decrypted only once in a run.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from saltern.language import secrets
from saltern.language.diagnostics import CompileError, Diagnostic, Severity
from saltern.language.source import Mark
from saltern.language.texts import texts_in
from saltern.render.document import Job, Rendered
from saltern.render.encrypted import changed_text, changed_values, text_or_bytes
from saltern.system.gpg import Message

Found = Mapping[str, str | bytes]
Opts = Mapping[str, object]


class Unusable(Exception):
    """No block can be decrypted here; the text says why."""


class Armour(Struct, frozen=True, kw_only=True):
    """One kind of block. ``decrypt`` may raise ``Unusable``; ``optional`` names an option that, if false,
    keeps blocks that cannot be decrypted."""

    name: str
    block: re.Pattern[str]
    decrypt: Callable[[Sequence[str], Opts], Sequence[Message]]
    fix: str
    optional: str = ""


def pattern(title: str) -> re.Pattern[str]:
    return re.compile(f"-----BEGIN {title}-----.*?-----END {title}-----", re.DOTALL)


def decrypt_all(value: object, kind: Armour, job: Job) -> object:
    """The data with all blocks decrypted. Keys of mappings are unchanged, as in Salt."""
    blocks = [block for text in texts_in(value) for block in kind.block.findall(text)]
    if not blocks:
        return value
    found = _decrypt_blocks(blocks, kind, job)
    return changed_values(value, lambda text: _fill_in(text, kind.block, found))


def opened_text(made: Rendered, kind: Armour, job: Job) -> Rendered:
    """The same for a text that is not parsed yet: its values are as secret as its blocks."""
    found = _decrypt_blocks(kind.block.findall(made.text), kind, job)
    return changed_text(made, kind.block, {block: _as_text(data) for block, data in found.items()})


def _fill_in(text: str, pattern: re.Pattern[str], found: Found) -> str | bytes:
    """The text with its blocks decrypted, without line ends after them; bytes if the result is not text."""
    parts = pattern.split(text)
    if len(parts) == 1:
        return text
    whole = parts[0].encode("utf-8", "surrogateescape")
    for block, after in zip(pattern.findall(text), parts[1:], strict=True):
        data = found.get(block, block)
        whole += data if isinstance(data, bytes) else data.encode("utf-8", "surrogateescape")
        whole += after.encode("utf-8", "surrogateescape")
    return text_or_bytes(whole.rstrip(b"\n"))


def _as_text(data: str | bytes) -> str:
    return data if isinstance(data, str) else data.decode("utf-8", "replace")


def _decrypt_blocks(blocks: Sequence[str], kind: Armour, job: Job) -> Found:
    """The content of the blocks; those that cannot be decrypted are errors, or stay as they are."""
    known = job.decrypted
    wanted = list(dict.fromkeys(block for block in blocks if block not in known))
    if wanted:
        opts = job.values.get("opts")
        assert isinstance(opts, Mapping)
        try:
            messages = kind.decrypt([_unfold(block) for block in wanted], opts)
        except Unusable as problem:
            raise CompileError(_problem(str(problem), wanted[0], kind, job)) from None
        for block, message in zip(wanted, messages, strict=True):
            if not message.problem:
                known[block] = text_or_bytes(message.data)
                secrets.add(known[block])
        wrong = {block: one.problem for block, one in zip(wanted, messages, strict=True) if one.problem}
        if wrong:
            _report(wrong, kind, job, fails=not kind.optional or opts.get(kind.optional) is not False)
    return {block: known[block] for block in blocks if block in known}


def _unfold(block: str) -> str:
    """A block in one line has ``\\n`` for line ends; one in a YAML text may be indented."""
    lines = block.replace("\\n", "\n").splitlines()
    return "\n".join(line.strip() for line in lines) + "\n"


def _report(wrong: Mapping[str, str], kind: Armour, job: Job, *, fails: bool) -> None:
    severity = Severity.ERROR if fails else Severity.WARNING
    found = [_problem(problem, block, kind, job, severity) for block, problem in wrong.items()]
    if fails:
        raise CompileError(*found)
    job.warnings.extend(found)


def _problem(why: str, block: str, kind: Armour, job: Job, severity: Severity = Severity.ERROR) -> Diagnostic:
    return Diagnostic(
        severity=severity,
        code=f"{kind.name}-decrypt",
        what=f"this {kind.name} block cannot be decrypted: {why}",
        where=_place(block, job),
        fix=kind.fix,
    )


def _place(block: str, job: Job) -> Mark:
    """The line of the block in the file, however it is indented; only the file if it is not found."""
    rows = [re.escape(row.strip()) for row in re.split(r"\\n|\n", block)]
    found = re.search(r"\s*(?:\\n)?\s*".join(rows), job.source)
    return Mark(job.file, job.source.count("\n", 0, found.start()) + 1) if found else Mark(job.file)
