"""Turn requisites as written into references, or report problems with their place."""

from __future__ import annotations

from saltern.compiler.parse import kind_of
from saltern.language.chunk import Requisite
from saltern.language.diagnostics import Diagnostics
from saltern.language.high import Declaration
from saltern.language.requisites import IN_FORMS, REQUISITES

# All requisites in the order in which they are pulled, then their reverse forms.
_PULLED = (*REQUISITES, *IN_FORMS)


def read_requisites(
    declared: Declaration,
    args: dict[str, object],
    words: frozenset[str],
    disabled: frozenset[str],
    found: Diagnostics,
) -> tuple[Requisite, ...]:
    """``words`` are the engine's words among ``args``; disabled requisites are removed from both."""
    result: list[Requisite] = []
    for word in _PULLED:
        if word not in words:
            continue
        if word in disabled or word.removesuffix("_in") in disabled:
            del args[word]
            continue
        value = args[word]
        if isinstance(value, dict) and word in IN_FORMS:
            value = [value]
        if not isinstance(value, list):
            found.error(
                "requisite-not-list",
                f"{word!r} of {declared.id!r} is {kind_of(value)}, not a list",
                where=declared.mark(word),
                fix="begin each target with '- '"
                if value is not None
                else f"write its targets below it, indented more than {word!r}: '- pkg: nginx'",
            )
            continue
        for index, item in enumerate(value):
            one = _requisite(declared, word, index, item, found)
            if one is not None:
                result.append(one)
    return tuple(result)


def _requisite(
    declared: Declaration, word: str, index: int, item: object, found: Diagnostics
) -> Requisite | None:
    if isinstance(item, str):
        return Requisite(word, "", item, index)
    if not isinstance(item, dict) or len(item) != 1:
        found.error(
            "requisite-shape",
            f"{word!r} of {declared.id!r} has {kind_of(item)} where a target belongs",
            where=declared.mark(word, index),
            fix="write '- type: id', such as '- file: /etc/nginx.conf'; one target for each '- '",
        )
        return None
    ((state, value),) = item.items()
    if value is None:
        return None
    if not isinstance(state, str) or not isinstance(value, str):
        bad = state if not isinstance(state, str) else value
        found.error(
            "requisite-value",
            f"{word!r} of {declared.id!r} names a target that is {kind_of(bad)}: {bad!r}",
            where=declared.mark(word, index),
            fix="a target is text: quote it" if isinstance(bad, int | float) else "write '- type: id'",
        )
        return None
    if "." in state:
        found.error(
            "requisite-dotted",
            f"{word!r} of {declared.id!r} names the type {state!r}; a type has no function",
            where=declared.mark(word, index),
            fix=f"write '- {state.partition('.')[0]}: {value}'",
        )
        return None
    return Requisite(word, "" if state == "id" else state, value, index)
