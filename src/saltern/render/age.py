"""``age``: decrypt age blocks in the values of a file, with the age keys of this machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from saltern.language.diagnostics import CompileError
from saltern.render.armour import Armour, Unusable, decrypt_all, opened_text, pattern
from saltern.render.document import Job, Rendered
from saltern.system.gpg import Message


def age(value: object, job: Job) -> object:
    """The data with all blocks decrypted."""
    try:
        return decrypt_all(value, BLOCKS, job)
    except ImportError as problem:
        raise _missing_package(problem, job) from None


def age_text(made: Rendered, job: Job) -> Rendered:
    """The text with its blocks decrypted, before it is parsed."""
    try:
        return opened_text(made, BLOCKS, job)
    except ImportError as problem:
        raise _missing_package(problem, job) from None


def _by_keys(blocks: Sequence[str], opts: Mapping[str, object]) -> Sequence[Message]:
    from saltern.render.age_keys import AgeKeys

    keys = AgeKeys(opts, ssh=True)
    if not keys.usable:
        raise Unusable("; ".join(dict.fromkeys(keys.why)))
    found = [keys.decrypt(block) for block in blocks]
    return [Message(problem=_NOT_OURS) if data is None else Message(data=data) for data in found]


def _missing_package(problem: ImportError, job: Job) -> CompileError:
    from saltern.render.stages import missing_package

    return missing_package("age", problem, job)


_NOT_OURS = "no age key of this machine fits, or it is damaged"
BLOCKS = Armour(
    name="age",
    block=pattern("AGE ENCRYPTED FILE"),
    decrypt=_by_keys,
    fix="encrypt it for an age key of this machine; the guide on secrets says where keys are searched",
)
