"""High data to low data: one chunk for each call, with its name, order and requisites.

Checks the shape of every declaration in one pass, and reports all problems together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from saltern.compiler.number import number
from saltern.compiler.parse import kind_of
from saltern.compiler.references import read_requisites
from saltern.language.chunk import Chunk, Requisite
from saltern.language.diagnostics import Diagnostics
from saltern.language.high import Declaration, SlsFile
from saltern.language.keywords import ENGINE_WORDS
from saltern.language.requisites import ADDING, REQUISITE_WORDS


def lower(
    declarations: Iterable[Declaration],
    files: Sequence[SlsFile],
    found: Diagnostics,
    disabled: frozenset[str] = frozenset(),
) -> list[Chunk]:
    """``files`` are in the order in which they were opened."""
    chunks: list[Chunk] = []
    orders: list[object] = []  # as written
    indexes: list[int] = []  # among the `names` of one declaration, from 1; 0 for a chunk without `names`
    for declared in declarations:
        args: dict[str, object] = {}
        fun = ""
        for item in declared.items:
            if item.__class__ is dict and len(item) == 1 and not declared.words:
                args.update(item)
            elif item.__class__ is str:
                if fun:
                    _too_many(declared, found)
                fun = item
            else:
                _take(declared, item, args, found)
        if not fun:
            _no_function(declared, found)
            continue
        if " " in fun:
            _space(declared, fun, found)
            continue
        requisites = (
            read_requisites(declared, args, declared.words, disabled, found) if declared.words else ()
        )
        if args.get("names") == []:
            _no_names(declared, found)
            del args["names"]
        if "names" in args:
            for index, (chunk, order) in enumerate(
                _chunks_by_name(declared, fun, args, requisites, disabled, found), 1
            ):
                chunks.append(chunk)
                orders.append(order)
                indexes.append(index)
        else:
            orders.append(args.pop("order", declared.order))
            chunks.append(_chunk(declared, fun, args, requisites, found))
            indexes.append(0)
    number(chunks, orders, indexes, files, found)
    return chunks


def _take(declared: Declaration, item: object, args: dict[str, object], found: Diagnostics) -> None:
    if isinstance(item, bool):
        found.warn(
            "argument-bare",
            f"{declared.key!r} has {_describe(item)} without a name among its arguments; ignored, as in Salt",
            where=declared.mark(_place(declared.items, item)),
            fix=f"write '- name: {str(item).lower()}', or remove it",
        )
        return
    if not isinstance(item, dict) or not item:
        found.error(
            "argument-shape",
            f"{declared.key!r} has {_describe(item)} where an argument belongs",
            where=declared.mark(_place(declared.items, item)),
            fix="write '- name: value'",
        )
        return
    word = next(iter(item))
    if len(item) > 1 and word in REQUISITE_WORDS:
        found.error(
            "argument-several",
            f"{word!r} shares one list item with {', '.join(repr(key) for key in item if key != word)}",
            where=declared.mark(word),
            fix="begin each argument with '- '; check the indentation below it",
        )
    for key, value in item.items():
        before = args.get(key)
        if key in ADDING and isinstance(before, list) and isinstance(value, list):
            value = [*before, *value]
        args[key] = value


def _place(items: list[object], item: object) -> int:
    """The index of ``item`` by identity; True equals 1."""
    return next(index for index, one in enumerate(items) if one is item)


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
        name=name,
        order=0,
        args=args,
        requisites=requisites,
        words=declared.words,
        declared=declared,
    )


def _chunks_by_name(
    declared: Declaration,
    fun: str,
    args: dict[str, object],
    requisites: tuple[Requisite, ...],
    disabled: frozenset[str],
    found: Diagnostics,
) -> Iterator[tuple[Chunk, object]]:
    """One chunk for each of ``names``; the arguments of an entry override the shared ones."""
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
    for entry in _distinct(names):
        read = _entry(entry, args)
        if read is None:
            _odd_name(declared, entry, found)
            continue
        name, own = read
        waits, words = requisites, declared.words
        if not ENGINE_WORDS.isdisjoint(own):
            words = frozenset(ENGINE_WORDS & own.keys())
            if isinstance(entry, dict):
                waits = read_requisites(declared, own, words, disabled, found)
        order = own.pop("order", declared.order)
        chunk = Chunk(
            state=declared.state,
            fun=fun,
            id=declared.id,
            name=str(name),
            order=0,
            args=own,
            requisites=waits,
            words=words,
            broken="" if isinstance(name, str) else f"the name {name!r} is {kind_of(name)}; quote it",
            declared=declared,
        )
        yield chunk, order


def _distinct(names: list[object]) -> Iterator[object]:
    """The entries without duplicates. Texts are looked up in a set, since there may be thousands."""
    texts: set[str] = set()
    others: list[object] = []
    for entry in names:
        if entry in (texts if isinstance(entry, str) else others):
            continue
        if isinstance(entry, str):
            texts.add(entry)
        else:
            others.append(entry)
        yield entry


def _entry(entry: object, args: Mapping[str, object]) -> tuple[str | float, dict[str, object]] | None:
    """The name of an entry, and its arguments; None if it is malformed."""
    name, own = entry, dict(args)
    if isinstance(entry, dict) and len(entry) == 1:
        ((name, more),) = entry.items()
        items = more if isinstance(more, list) else [more]
        if not all(isinstance(item, dict) for item in items):
            return None
        for item in items:
            own.update(item)
    return (name, own) if isinstance(name, str | int | float) else None


# -- problems -----------------------------------------------------------------------------------


def _too_many(declared: Declaration, found: Diagnostics) -> None:
    functions = [item for item in declared.items if isinstance(item, str)]
    fix = "keep one; a bare word among the arguments is a function, so check for a missing ':'"
    glued = next((item for item in functions if ":" in item), None)
    if glued is not None:
        fix = f"a blank is missing after the ':': write '- {glued.replace(':', ': ', 1)}'"
    found.error(
        "function-twice",
        f"{declared.state!r} of {declared.id!r} names {len(functions)} functions: {', '.join(functions)}",
        where=declared.mark(declared.items.index(glued)) if glued is not None else declared.mark(),
        fix=fix,
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


def _no_names(declared: Declaration, found: Diagnostics) -> None:
    found.warn(
        "names-empty",
        f"names of {declared.id!r} is empty; one state runs, with the ID as its name, as in Salt",
        where=declared.mark("names"),
        fix="leave the whole state out if there are no names",
    )


def _odd_name(declared: Declaration, entry: object, found: Diagnostics) -> None:
    found.error(
        "names-shape",
        f"names of {declared.id!r} has {kind_of(entry)} where a name belongs: {entry!r}"[:200],
        where=declared.mark("names"),
        fix="write '- name', or '- name:' with a list of arguments below it",
    )


def _describe(item: object) -> str:
    return "an empty mapping" if item == {} else kind_of(item)
