"""Fill in late references just before a state is called."""

from __future__ import annotations

from saltern.language.chunk import Chunk, with_values
from saltern.language.late import BadReference, Reference, follow, literal
from saltern.language.result import Outcome, Result, not_called
from saltern.runtime.answers import Registers, Returned
from saltern.runtime.slots import PREFIX


def filled_in(chunk: Chunk, registers: Registers, *, test: bool) -> Chunk | Result:
    """The chunk with its references filled in, or the reason why it cannot be called."""
    if test:
        unknown = [name for name in chunk.late if _is_unknown(registers.get(name))]
        if unknown:
            return deferred_result(unknown)
    try:
        return with_values(chunk, lambda reference: _mark_as_data(_value(reference, registers)))
    except BadReference as problem:
        return not_called(str(problem))


def _mark_as_data(value: object) -> object:
    """Mark the content of a return as data, even if it looks like a slot."""
    return literal(value, lambda text: PREFIX in text)


def deferred_result(names: list[str]) -> Result:
    """The result in a test run when a value is unknown until another state is applied."""
    comment = f"known after {' and '.join(names)} {'is' if len(names) == 1 else 'are'} applied"
    return Result(outcome=Outcome.WOULD_CHANGE, comment=comment, ran=False, called=False)


def _is_unknown(returned: Returned | None) -> bool:
    return returned is not None and returned.result.outcome is Outcome.WOULD_CHANGE


def _value(reference: Reference, registers: Registers) -> object:
    returned = registers.get(reference.name)
    if returned is None:
        raise BadReference(f"{reference.text}: {reference.name!r} has no return yet")
    result, chunk = returned.result, returned.answer.chunk
    if not result.ran and reference.path[0] in ("data", "changes"):
        missing = f"{chunk.label!r} did not run, so there is no {reference.path[0]}"
        raise BadReference(f"{reference.text}: {missing}")
    return follow(
        {
            "id": chunk.id,
            "name": chunk.name,
            "result": result.outcome.value,
            "comment": result.comment,
            "changes": result.changes,
            "data": result.data,
        },
        reference,
    )
