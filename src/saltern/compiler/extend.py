"""``extend``: change the arguments of states that are declared elsewhere.

Extensions of the including file are applied before those of the files it includes, as in Salt, so
the included file wins for the same argument. That surprises people; it is
reported as a warning.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from saltern.compiler.parse import kind_of, words_in
from saltern.language.delayed import WORDS as DELAYED_WORDS
from saltern.language.diagnostics import Diagnostics, did_you_mean
from saltern.language.high import Added, Declaration, Extension, High
from saltern.language.requisites import ADDING, IN_FORMS, REQUISITE_WORDS


def extend(high: High, found: Diagnostics) -> High:
    if not high.extensions:
        return high
    dropped = {rule.sls for rule in high.exclusions if rule.sls}
    table = _Table(high.declarations)
    setters: dict[tuple[int, str], Extension] = {}
    done: dict[str, list[dict[str, object]]] = {}
    for extension in high.extensions:
        same = done.setdefault(extension.id, [])
        if extension.ref.name in dropped or extension.bodies in same:
            continue
        same.append(extension.bodies)
        bodies: Iterable[tuple[object, object]] = extension.bodies.items()  # YAML keys can have any type
        for key, items in bodies:
            if not isinstance(key, str):
                what = f"extend of {extension.id!r} has the key {key!r}; a state is text such as 'file'"
                found.error("extend-shape", what, where=extension.mark(key))
                continue
            if key.startswith("_"):
                continue
            shaped = _check_items(extension, key, items, found)
            if shaped is not None:
                _apply(extension, key, shaped, table, setters, found)
    return replace(high, declarations=table.declarations)


class _Table:
    """The declarations, indexed by ID and state, and by name."""

    def __init__(self, declarations: Iterable[Declaration]) -> None:
        self.declarations = list(declarations)
        self.at = {(one.id, one.state): index for index, one in enumerate(self.declarations)}
        self.ids = {one.id: index for index, one in enumerate(self.declarations)}

    def with_name(self, name: str, state: str, *, loosely: bool) -> list[int]:
        return [
            index
            for index, one in enumerate(self.declarations)
            if one.state == state and name in _values(one, loosely)
        ]

    def add(self, declared: Declaration) -> None:
        self.at[declared.id, declared.state] = len(self.declarations)
        self.declarations.append(declared)


def _values(declared: Declaration, loosely: bool) -> list[object]:
    """The values that identify a state besides its ID; ``loosely``: of any argument."""
    values: list[object] = []
    for item in declared.items:
        if isinstance(item, dict) and len(item) == 1:
            ((key, value),) = item.items()
            if key == "names" and isinstance(value, list):
                values += [next(iter(one), None) if isinstance(one, dict) else one for one in value]
            elif loosely or key == "name":
                values.append(value)
    return values


def _check_items(extension: Extension, key: str, items: object, found: Diagnostics) -> list[object] | None:
    fun = key.partition(".")[2].partition(".")[0]
    if isinstance(items, list):
        for index, item in enumerate(items):
            problem = _odd(item)
            if problem:
                what = f"extend of {extension.id!r}: {key!r} {problem}"
                found.error("extend-shape", what, where=extension.mark(key, index))
        return [*items, fun] if fun else items
    found.error(
        "extend-shape",
        f"extend of {extension.id!r}: {key!r} holds {kind_of(items)}, not a list of arguments",
        where=extension.mark(key),
        fix="begin each argument with '- '",
    )
    return None


def _odd(item: object) -> str:
    """The mistake in an argument of an extension, as part of a sentence."""
    if not isinstance(item, dict | str) or not item:
        return f"has {kind_of(item)} where an argument belongs"
    for word, value in item.items() if isinstance(item, dict) else ():
        mapping = isinstance(value, dict) and word in IN_FORMS
        if word in REQUISITE_WORDS and not isinstance(value, list) and not mapping:
            return f"has {kind_of(value)} for {word!r}, which is a list of targets"
    return ""


def _apply(
    extension: Extension,
    key: str,
    items: list[object],
    table: _Table,
    setters: dict[tuple[int, str], Extension],
    found: Diagnostics,
) -> None:
    state = key.partition(".")[0]
    index = table.at.get((extension.id, state))
    if index is None and extension.id in table.ids:
        model = table.declarations[table.ids[extension.id]]
        table.add(replace(model, state=state, key=key, items=items, words=words_in(items), order=None))
        return
    if index is None:
        index = _by_name(extension, key, state, table, found)
    if index is None:
        return
    for item in items:
        if isinstance(item, dict):
            for word in item:
                _warn_of_override(index, str(word), extension, key, setters, found)
    old = table.declarations[index]
    merged = _merge_items(old.items, items)
    table.declarations[index] = replace(
        old, items=merged, words=words_in(merged), added=(*old.added, *_additions(old, items, extension, key))
    )


def _additions(old: Declaration, items: list[object], extension: Extension, key: str) -> Iterable[Added]:
    """Record the file of ``delayed_render`` entries: their names are relative to it."""
    brought = {word for item in items if isinstance(item, dict) for word in item}
    for word in DELAYED_WORDS:
        if word in brought:
            before = [one[word] for one in old.items if isinstance(one, dict) and word in one]
            start = sum(len(some) for some in before if isinstance(some, list))
            yield Added(word, start, extension.origin, ("extend", extension.id, key))


def _by_name(extension: Extension, key: str, state: str, table: _Table, found: Diagnostics) -> int | None:
    for loosely in (False, True):
        indexes = table.with_name(extension.id, state, loosely=loosely)
        if len(indexes) == 1:
            if loosely:
                found.warn(
                    "extend-by-argument",
                    f"extend of {extension.id!r} fits an argument of another state, not a name",
                    where=extension.mark(),
                    fix=f"write the ID: {table.declarations[indexes[0]].id!r}",
                )
            return indexes[0]
        if indexes:
            found.error(
                "extend-ambiguous",
                f"extend of {extension.id!r} fits {len(indexes)} states",
                where=extension.mark(),
                fix="write the ID of the state you mean",
                also=tuple(("this one", table.declarations[index].mark()) for index in indexes[:5]),
            )
            return None
    found.error(
        "extend-unknown",
        f"extend of {extension.id!r}: no state {state!r} with this ID is part of the run",
        where=extension.mark(key),
        fix=did_you_mean(extension.id, table.ids) or "include the file that declares it",
    )
    return None


def _warn_of_override(
    index: int,
    word: str,
    extension: Extension,
    key: str,
    setters: dict[tuple[int, str], Extension],
    found: Diagnostics,
) -> None:
    before = setters.setdefault((index, word), extension)
    if before.ref != extension.ref and word not in REQUISITE_WORDS:
        found.warn(
            "extend-overridden",
            f"{word!r} of {extension.id!r} is extended twice; this one, from a file it includes, wins",
            where=extension.mark(key, word),
            also=(("overridden", before.mark()),),
        )


def _merge_items(old: list[object], new: list[object]) -> list[object]:
    """Merge ``new`` over ``old``: functions and other arguments replace, requisites add up."""
    result = list(old)
    for item in new:
        if isinstance(item, str):
            result = [one for one in result if not isinstance(one, str)]
            result.append(item)
        elif isinstance(item, dict):
            for key, value in item.items():
                result = _with(result, key, value)
        else:
            result.append(item)
    return result


def _with(items: list[object], key: object, value: object) -> list[object]:
    if key == "name":
        items = [one for one in items if not (isinstance(one, dict) and "names" in one)]
    for index, one in enumerate(items):
        if isinstance(one, dict) and key in one:
            if key in ADDING and isinstance(one[key], list) and isinstance(value, list):
                value = [*one[key], *value]
            return [*items[:index], {**one, key: value}, *items[index + 1 :]]
    return [*items, {key: value}]
