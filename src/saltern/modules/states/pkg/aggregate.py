"""Several ``pkg`` states in one transaction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from saltern.language.chunk import Chunk
from saltern.language.events import Answer

TOGETHER = frozenset({"installed", "latest", "removed", "purged"})
# Arguments that name packages; all other arguments must be the same in all states.
PACKAGES = frozenset({"name", "version", "pkgs", "sources"})
# Whether a state with one of these runs at all is not known yet.
UNDECIDED = frozenset({"onlyif", "unless", "creates", "onchanges", "onchanges_any", "onfail", "prereq"})


def merge_chunks(chunk: Chunk, group: Sequence[Chunk], answered: Mapping[str, Answer]) -> Chunk:
    """``chunk`` with the packages of those in ``group`` that have the same other arguments."""
    form = "sources" if chunk.args.get("sources") else "pkgs"
    others = [
        one for one in group if one is not chunk and one.tag not in answered and _alike(one, chunk, form)
    ]
    if chunk.fun not in TOGETHER or chunk.args.get("hold") is not None or not others:
        return chunk
    packages: list[object] = []
    for one in (chunk, *others):
        packages += [item for item in _packages(one, form) if item not in packages]
    args = {key: value for key, value in chunk.args.items() if key != "version"}
    return msgspec.structs.replace(chunk, args={**args, form: packages})


def _alike(one: Chunk, chunk: Chunk, form: str) -> bool:
    same_form = bool(one.args.get("sources")) == (form == "sources")
    return (
        one.state == chunk.state
        and one.fun == chunk.fun
        and same_form
        and one.args.get("hold") is None
        and not UNDECIDED & {*one.words, *(requisite.kind for requisite in one.requisites)}
        and _options(one) == _options(chunk)
    )


def _options(chunk: Chunk) -> dict[str, object]:
    engine = {*chunk.words, "order", "failhard", "retry", "aggregate"}
    return {key: value for key, value in chunk.args.items() if key not in PACKAGES and key not in engine}


def _packages(chunk: Chunk, form: str) -> Iterable[object]:
    given = chunk.args.get(form)
    if given is None:
        version = chunk.args.get("version")
        return [chunk.name if version is None else {chunk.name: version}]
    return given if isinstance(given, list) else [given]
