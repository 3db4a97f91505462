"""``no_log``: what of a state, and of what it came to, may be shown. All outputs ask here.

Its name, its arguments and all that it says are hidden. Its ID is shown, unless it is, or holds, the name or
an argument. The state, the function, the place in the file, the result and the time it took stay.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from saltern.language.chunk import HIDDEN, Chunk
from saltern.language.events import (
    Answer,
    ChunkFinished,
    ChunkStarted,
    Event,
    FrameStarted,
    RunStarted,
)
from saltern.language.result import Result

COMMENT = "hidden: this state is marked no_log"
UNSAID: Mapping[str, object] = {"hidden": "no_log"}  # stands for data
# Words of the engine whose values say nothing of what the state works on. A text may, though.
HARMLESS = frozenset(
    {
        "aggregate",
        "failhard",
        "fire_event",
        "force_reload_modules",
        "no_log",
        "onfail_stop",
        "order",
        "parallel",
        "register",
        "reload_grains",
        "reload_modules",
        "reload_pillar",
    }
)


def shown(chunk: Chunk) -> Chunk:
    """The state as every reader of a report may see it."""
    if not chunk.hidden or chunk.name == HIDDEN:
        return chunk
    label = chunk.label
    return replace(
        chunk,
        id=label,
        name=HIDDEN,
        args={word: _harmless(word, chunk.args[word]) for word in HARMLESS & chunk.args.keys()},
        broken=COMMENT if chunk.broken else "",
        declared=replace(chunk.declared, id=label, items=[chunk.fun], origin=Unseen(chunk)),
    )


def _harmless(word: str, value: object) -> object:
    """A number or a switch as it is; of a text only the name of a register, which others refer to."""
    return value if word == "register" or not isinstance(value, str | list | dict) else bool(value)


class Unseen:
    """Where a hidden state is written, without the text."""

    def __init__(self, chunk: Chunk) -> None:
        self._mark = chunk.mark()
        self.file = self._mark.file

    def mark(self, _path: Sequence[object] = ()) -> object:
        return self._mark


def shown_chunks(chunks: Sequence[Chunk]) -> Sequence[Chunk]:
    """The states of a run; those that wait for a hidden one do not quote its name."""
    known = labels(chunks)
    return [_referring(shown(chunk), known) for chunk in chunks] if known else chunks


def labels(chunks: Iterable[Chunk]) -> dict[str, str]:
    """The names of hidden states, and IDs that may not be shown → what stands for them."""
    hidden = [chunk for chunk in chunks if chunk.hidden and chunk.name != HIDDEN]
    return {text: chunk.label for chunk in hidden for text in (str(chunk.name), chunk.id)}


def _referring(chunk: Chunk, known: Mapping[str, str]) -> Chunk:
    if not any(one.value in known for one in chunk.requisites):
        return chunk
    requisites = tuple(replace(one, value=known.get(one.value, one.value)) for one in chunk.requisites)
    args = {word: relabelled(value, known) for word, value in chunk.args.items()}
    return replace(chunk, requisites=requisites, args=args)


def relabelled(value: object, known: Mapping[str, str]) -> object:
    """Data in which no text is the name of a hidden state."""
    if isinstance(value, str):
        return known.get(value, value)
    if isinstance(value, dict):
        return {relabelled(key, known): relabelled(inner, known) for key, inner in value.items()}
    return [relabelled(inner, known) for inner in value] if isinstance(value, list | tuple) else value


def unquoted(text: str, known: Mapping[str, str]) -> str:
    """A text of others without the names of hidden states, the longest first."""
    for name in sorted(known, key=len, reverse=True):
        if name and name != known[name]:
            text = text.replace(name, known[name])
    return text


def shown_result(chunk: Chunk, result: Result) -> Result:
    """What it came to; of ``extra`` only what the run itself has put there."""
    if not chunk.hidden:
        return result
    changes = dict(UNSAID) if result.changes else {}
    extra = {key: value for key, value in result.extra.items() if key == "root_cause" or value is True}
    return replace(
        result, comment=COMMENT, changes=changes, data={}, warnings=(), sub=(), extra=extra, trace=""
    )


def shown_answer(answer: Answer) -> Answer:
    return replace(answer, chunk=shown(answer.chunk)) if answer.chunk.hidden else answer


def shown_event(event: Event) -> Event:
    match event:
        case ChunkStarted(chunk=chunk) if chunk.hidden:
            return replace(event, chunk=shown(chunk))
        case ChunkFinished(answer=answer) if answer.chunk.hidden:
            return ChunkFinished(shown_answer(answer))
        case RunStarted() | FrameStarted():
            return replace(event, chunks=shown_chunks(event.chunks))
        case _:
            return event
