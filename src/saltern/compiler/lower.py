"""High data to low data: one chunk for each call, its name, its order, its requisites read.

Everything about the shape of a declaration is checked here, in one pass, and told together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from saltern.compiler.parse import kind_of
from saltern.language.chunk import Chunk, Requisite
from saltern.language.diagnostics import Diagnostics
from saltern.language.high import Declaration, SlsFile
from saltern.language.keywords import ENGINE_WORDS
from saltern.language.requisites import IN_FORMS, REQUISITE_WORDS, REQUISITES

# All requisites in the order in which they are pulled, then their reverse forms.
_PULLED = (*REQUISITES, *IN_FORMS)


def lower(
    declarations: Iterable[Declaration],
    files: Sequence[SlsFile],
    found: Diagnostics,
    disabled: frozenset[str] = frozenset(),
) -> list[Chunk]:
    """``files`` in the order in which they were opened."""
    chunks: list[Chunk] = []
    places: list[int] = []  # among the `names` of one declaration, from 1; 0 for a chunk of its own
    for declared in declarations:
        args: dict[str, object] = {}
        fun = ""
        for item in declared.items:
            if item.__class__ is dict and len(item) == 1 and not declared.words:  # type: ignore[arg-type]
                args.update(item)  # type: ignore[call-overload]
            elif item.__class__ is str:
                if fun:
                    _too_many(declared, found)
                fun = item  # type: ignore[assignment]
            else:
                _take(declared, item, args, found)
        if not fun:
            _no_function(declared, found)
            continue
        if " " in fun:
            _space(declared, fun, found)
            continue
        requisites = _requisites(declared, args, disabled, found) if declared.words else ()
        if "names" in args:
            members = list(_named(declared, fun, args, requisites, found))
            chunks += members
            places += range(1, len(members) + 1)
        else:
            chunks.append(_chunk(declared, fun, args, requisites, found))
            places.append(0)
    _number(chunks, places, files, found)
    return chunks


def _take(declared: Declaration, item: object, args: dict[str, object], found: Diagnostics) -> None:
    if not isinstance(item, dict) or not item:
        found.error(
            "argument-shape",
            f"{declared.key!r} has {kind_of(item) if item != {} else 'an empty mapping'} where an argument belongs",
            where=declared.mark(declared.items.index(item)),
            fix="write '- name: value'",
        )
        return
    if len(item) > 1 and (words := REQUISITE_WORDS & item.keys()):
        word = sorted(words)[0]
        found.error(
            "argument-several",
            f"{word!r} shares one list item with {', '.join(repr(key) for key in item if key != word)}",
            where=declared.mark(word),
            fix="begin each argument with '- '; check the indentation below it",
        )
    for key, value in item.items():
        before = args.get(key)
        if key in REQUISITE_WORDS and isinstance(before, list) and isinstance(value, list):
            value = [*before, *value]
        args[key] = value


def _chunk(
    declared: Declaration,
    fun: str,
    args: dict[str, object],
    requisites: tuple[Requisite, ...],
    found: Diagnostics,
) -> Chunk:
    name = args.pop("name", declared.id)
    if name.__class__ is not str:
        found.warn(
            "name-not-text",
            f"the name {name!r} is {kind_of(name)}; the ID {declared.id!r} is used instead",
            where=declared.mark("name"),
            fix=f"quote it: '{name}'",
        )
        name = declared.id
    return Chunk(
        state=declared.state,
        fun=fun,
        id=declared.id,
        name=name,  # type: ignore[arg-type]
        order=args.pop("order", declared.order),  # type: ignore[arg-type]
        args=args,
        requisites=requisites,
        words=declared.words,
        declared=declared,
    )


def _named(
    declared: Declaration,
    fun: str,
    args: dict[str, object],
    requisites: tuple[Requisite, ...],
    found: Diagnostics,
) -> Iterator[Chunk]:
    """One chunk for each of ``names``; an entry with arguments of its own overrides the shared ones."""
    names = args.pop("names")
    args.pop("name", None)
    if not isinstance(names, list):
        found.error(
            "names-not-list",
            f"names is {kind_of(names)}, not a list",
            where=declared.mark("names"),
            fix="begin each name with '- '",
        )
        return
    seen: list[object] = []
    for entry in names:
        if entry in seen:
            continue
        seen.append(entry)
        own = dict(args)
        name = entry
        if isinstance(entry, dict) and len(entry) == 1:
            ((name, more),) = entry.items()
            for item in more if isinstance(more, list) else [more]:
                if isinstance(item, dict):
                    own.update(item)
        words = declared.words
        if not ENGINE_WORDS.isdisjoint(own):
            words = frozenset(ENGINE_WORDS & own.keys())
        order = own.pop("order", declared.order)
        yield Chunk(
            state=declared.state,
            fun=fun,
            id=declared.id,
            name=str(name),
            order=order,  # type: ignore[arg-type]
            args=own,
            requisites=requisites,
            words=words,
            broken="" if isinstance(name, str) else f"the name {name!r} is {kind_of(name)}; quote it",
            declared=declared,
        )


# -- requisites ---------------------------------------------------------------------------------


def _requisites(
    declared: Declaration, args: dict[str, object], disabled: frozenset[str], found: Diagnostics
) -> tuple[Requisite, ...]:
    result: list[Requisite] = []
    for word in _PULLED:
        if word not in declared.words:
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
                fix="begin each target with '- '",
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
        return Requisite(word, "", item)
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
    return Requisite(word, "" if state == "id" else state, value)


# -- order --------------------------------------------------------------------------------------


def _number(
    chunks: list[Chunk], places: list[int], files: Sequence[SlsFile], found: Diagnostics
) -> None:
    """Give every chunk the number it is sorted by.

    ``last`` and negative numbers count from beyond the highest number in use, ``first`` is 0, and a
    chunk without a number comes after all that have one. The members of ``names`` follow each other.
    """
    if all(chunk.order.__class__ is int and chunk.order >= 0 for chunk in chunks) and not any(places):
        return
    highest = _beyond(chunks, files)
    end = highest + 1_000_000
    words = {"first": 0, "last": end}
    for chunk, place in zip(chunks, places, strict=True):
        order = _numeric(chunk.order)
        if not isinstance(order, int | float) or isinstance(order, bool):
            if order is not None and order not in words:
                _odd_order(chunk, order, found)
            chunk.order = words.get(str(order), highest)
        else:
            chunk.order = end + order if order < 0 else order
        if place:
            chunk.order = round(chunk.order + place / 10000, 4)


def _beyond(chunks: list[Chunk], files: Sequence[SlsFile]) -> int:
    """A number beyond those in use, as Salt counts: files as they were opened, a hundred at a time."""
    opened = {id(file.origin): at for at, file in enumerate(files)}
    highest = 1
    for chunk in sorted(chunks, key=lambda chunk: opened.get(id(chunk.declared.origin), 0)):
        order = _numeric(chunk.order)
        if order.__class__ is int and order > highest - 1:  # type: ignore[operator]
            highest = order + 100  # type: ignore[operator]
    return highest


def _numeric(order: object) -> object:
    """Quoted numbers are numbers."""
    for kind in (int, float) if isinstance(order, str) else ():
        try:
            return kind(order)
        except ValueError:
            continue
    return order


def _odd_order(chunk: Chunk, order: object, found: Diagnostics) -> None:
    found.warn(
        "order-unknown",
        f"the order {order!r} of {chunk.id!r} is not known; it runs after all numbered states",
        where=chunk.mark("order"),
        fix="write a number, 'first' or 'last'",
    )


# -- problems -----------------------------------------------------------------------------------


def _too_many(declared: Declaration, found: Diagnostics) -> None:
    functions = [item for item in declared.items if isinstance(item, str)]
    found.error(
        "function-twice",
        f"the state {declared.state!r} of {declared.id!r} names {len(functions)} functions: {', '.join(functions)}",
        where=declared.mark(),
        fix="keep one; a word among the arguments is taken for a function, so check for a missing ':'",
    )


def _no_function(declared: Declaration, found: Diagnostics) -> None:
    found.error(
        "function-missing",
        f"the state {declared.state!r} of {declared.id!r} names no function",
        where=declared.mark(),
        fix=f"write '{declared.state}.FUNCTION:', such as 'file.managed:'",
    )


def _space(declared: Declaration, fun: str, found: Diagnostics) -> None:
    found.error(
        "function-space",
        f"the function {fun!r} of {declared.id!r} has a space in it",
        where=declared.mark(),
        fix="is a ':' missing after the first word?",
    )


