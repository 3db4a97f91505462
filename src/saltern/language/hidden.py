"""``no_log`` and secrets: which parts of a state and its result may be shown. All outputs use this.

Its name, its arguments and its messages are hidden. Its ID is shown, unless it is or contains the name or an
argument. The state, the function, the place in the file, the result and the duration are shown. Of all other
states, everything is shown except the secrets of ``language.secrets``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from saltern.language import secrets
from saltern.language.chunk import HIDDEN, Chunk
from saltern.language.events import (
    Answer,
    ChunkFinished,
    ChunkStarted,
    Event,
    Fired,
    FrameStarted,
    RunFinished,
    RunStarted,
)
from saltern.language.result import Result, SubResult

COMMENT = "hidden: this state is marked no_log"
SAID = ("comment", "changes", "data", "warnings", "extra", "sent", "trace")  # of a result
UNSAID: Mapping[str, object] = {"hidden": "no_log"}  # replaces data
# Options of the engine whose values reveal nothing about the state, unless they are text.
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


def shown_chunk(chunk: Chunk) -> Chunk:
    """The state in the form that may be shown."""
    if not chunk.hidden or chunk.name == HIDDEN:
        return _mask_chunk(chunk) if secrets.known() else chunk
    label = chunk.label
    return replace(
        chunk,
        id=label,
        name=HIDDEN,
        args={word: _harmless(word, chunk.args[word]) for word in HARMLESS & chunk.args.keys()},
        broken=COMMENT if chunk.broken else "",
        declared=replace(chunk.declared, id=label, items=[chunk.fun], origin=Unseen(chunk)),
    )


def _mask_chunk(chunk: Chunk) -> Chunk:
    """The state without secrets; the same object if it has none."""
    before = (chunk.state, chunk.fun, chunk.id, chunk.name, chunk.args, chunk.broken)
    state, fun, id_, name, args, broken = after = secrets.mask_all(before)
    requisites = tuple(replace(one, value=secrets.mask(one.value)) for one in chunk.requisites)
    if after is before and requisites == chunk.requisites:
        return chunk
    declared = chunk.declared
    if id_ != chunk.id:
        declared = replace(declared, id=id_, items=[chunk.fun], origin=Unseen(chunk))
    more = {"requisites": requisites, "declared": declared}
    return replace(chunk, state=state, fun=fun, id=id_, name=name, args=args, broken=broken, **more)


def _harmless(word: str, value: object) -> object:
    """A number or a boolean unchanged; of texts, only the name of a register, which others refer to."""
    return value if word == "register" or not isinstance(value, str | list | dict) else bool(value)


class Unseen:
    """The place of a hidden state, without its text."""

    def __init__(self, chunk: Chunk) -> None:
        self._mark = chunk.mark()
        self.file = self._mark.file

    def mark(self, _path: Sequence[object] = ()) -> object:
        return self._mark


def shown_chunks(chunks: Sequence[Chunk]) -> Sequence[Chunk]:
    """The states of a run; those that wait for a hidden one do not show its name."""
    known = labels(chunks)
    if not known:
        return [_mask_chunk(chunk) for chunk in chunks] if secrets.known() else chunks
    return [_relabel_requisites(shown_chunk(chunk), known) for chunk in chunks]


def labels(chunks: Iterable[Chunk]) -> dict[str, str]:
    """A replacement for each name of a hidden state and each ID that may not be shown."""
    hidden = [chunk for chunk in chunks if chunk.hidden and chunk.name != HIDDEN]
    return {text: chunk.label for chunk in hidden for text in (str(chunk.name), chunk.id)}


def _relabel_requisites(chunk: Chunk, known: Mapping[str, str]) -> Chunk:
    if not any(one.value in known for one in chunk.requisites):
        return chunk
    requisites = tuple(replace(one, value=known.get(one.value, one.value)) for one in chunk.requisites)
    args = {word: relabel_values(value, known) for word, value in chunk.args.items()}
    return replace(chunk, requisites=requisites, args=args)


def relabel_values(value: object, known: Mapping[str, str]) -> object:
    """The data with the names of hidden states replaced."""
    if isinstance(value, str):
        return known.get(value, value)
    if isinstance(value, dict):
        return {relabel_values(key, known): relabel_values(inner, known) for key, inner in value.items()}
    return [relabel_values(inner, known) for inner in value] if isinstance(value, list | tuple) else value


def relabel_text(text: str, known: Mapping[str, str]) -> str:
    """A text with the names of hidden states replaced, the longest first."""
    for name in sorted(known, key=len, reverse=True):
        if name and name != known[name]:
            text = text.replace(name, known[name])
    return text


def shown_result(chunk: Chunk, result: Result) -> Result:
    """The result in the form that may be shown; of ``extra``, only what the engine has added."""
    if not chunk.hidden:
        return masked_result(result) if secrets.known() else result
    changes = dict(UNSAID) if result.changes else {}
    extra = {key: value for key, value in result.extra.items() if key == "root_cause" or value is True}
    return replace(
        result, comment=COMMENT, changes=changes, data={}, warnings=(), sub=(), extra=extra, trace=""
    )


def masked_result(result: Result) -> Result:
    """The result without secrets; the same object if it has none."""
    before = {name: getattr(result, name) for name in SAID}
    after = secrets.mask_all(before)
    sub = tuple(map(_masked_step, result.sub))
    if after is before and sub == result.sub:
        return result
    return replace(result, **after, sub=sub)


def _masked_step(step: SubResult) -> SubResult:
    names = ("name", "id", "comment", "changes", "data", "warnings")
    after = secrets.mask_all({name: getattr(step, name) for name in names})
    return replace(step, **after, sub=tuple(map(_masked_step, step.sub)))


def shown_answer(answer: Answer) -> Answer:
    """The answer in the form that may be shown, without secrets, including those that became known later."""
    if secrets.known():
        return replace(answer, chunk=shown_chunk(answer.chunk), result=masked_result(answer.result))
    return replace(answer, chunk=shown_chunk(answer.chunk)) if answer.chunk.hidden else answer


def shown_event(event: Event) -> Event:
    match event:
        case ChunkStarted(chunk=chunk) if chunk.hidden or secrets.known():
            return replace(event, chunk=shown_chunk(chunk))
        case ChunkFinished(answer=answer) if answer.chunk.hidden or secrets.known():
            return ChunkFinished(shown_answer(answer))
        case RunStarted() | FrameStarted():
            return replace(event, chunks=shown_chunks(event.chunks))
        case Fired() if secrets.known():
            return Fired(secrets.mask(event.tag), secrets.mask_all(event.data))
        case RunFinished() if secrets.known():
            return replace(event, stopped=secrets.mask(event.stopped))
        case _:
            return event
