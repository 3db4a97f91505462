"""Parse the data of a rendered file; the last stage that sees untyped data.

Short forms become the long form: ``id: pkg.installed`` and ``pkg.installed: [...]`` and
``pkg: [installed, ...]`` are the same from here on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from saltern.language.diagnostics import Diagnostics, did_you_mean
from saltern.language.high import Declaration, Exclusion, Extension, Include, SlsFile
from saltern.language.keywords import ENGINE_WORDS
from saltern.language.requisites import REQUISITE_WORDS
from saltern.language.source import SlsRef

if TYPE_CHECKING:
    from saltern.compiler.ports import Loaded

NO_WORDS: frozenset[str] = frozenset()
_NAMES = {dict: "a mapping", list: "a list", type(None): "nothing", bool: "true or false", str: "text"}


def kind_of(value: object) -> str:
    """The kind of a value, in the user's terms."""
    return _NAMES.get(type(value)) or ("a number" if isinstance(value, int | float) else type(value).__name__)


def parse(document: Loaded, found: Diagnostics) -> SlsFile:
    file = SlsFile(ref=document.ref, origin=document)
    data = document.data
    if data is None or (isinstance(data, str) and not data.strip()):
        return file
    if not isinstance(data, dict):
        found.error(
            "sls-not-mapping",
            f"this file renders to {kind_of(data)}, not to a mapping of state IDs",
            where=document.mark(),
            fix="every state needs an ID: 'some_id:' with the state indented below it",
        )
        return file
    for id_, body in data.items():
        if id_ in _SECTIONS:
            _SECTIONS[id_](body, file, document, found)
        elif not isinstance(id_, str):
            found.error(
                "id-not-text",
                f"the ID {id_!r} is {kind_of(id_)}; an ID is text",
                where=document.mark((id_,)),
                fix="put it in quotes",
            )
        else:
            _declare(id_, body, file, document, found)
    return file


def words_in(items: list[object]) -> frozenset[str]:
    """The engine's words among the arguments."""
    keys = {key for item in items if item.__class__ is dict for key in item}
    return NO_WORDS if keys.isdisjoint(ENGINE_WORDS) else frozenset(keys & ENGINE_WORDS)


def _declare(id_: str, body: object, file: SlsFile, document: Loaded, found: Diagnostics) -> None:
    if isinstance(body, str) and all(body.partition(".")):
        body = {body: []}
    if not isinstance(body, dict):
        found.error(
            "id-not-mapping",
            f"the ID {id_!r} holds {kind_of(body)}, not a state",
            where=document.mark((id_,)),
            fix=_misplaced_hint(id_, body),
        )
        return
    if id_.startswith("__"):
        return  # as in Salt: for notes and YAML anchors
    seen: dict[str, str] = {}
    for key, items in body.items():
        if not isinstance(key, str):
            found.error(
                "state-not-text",
                f"below the ID {id_!r} is the key {key!r}; a state is text such as 'pkg.installed'",
                where=document.mark((id_, key)),
            )
            continue
        if key.startswith("_"):
            continue  # the file's own notes
        state = _state(id_, key, document, found)
        if state in seen:
            found.error(
                "state-twice",
                f"the ID {id_!r} declares the state type {state!r} twice: {seen[state]!r} and {key!r}",
                where=document.mark((id_, key)),
                fix="give one of them its own ID",
                also=(("first", document.mark((id_, seen[state]))),),
            )
            continue
        seen[state] = key
        shaped = _items(id_, key, items, document, found)
        if shaped is not None:
            words = words_in(shaped)
            if not words.isdisjoint(REQUISITE_WORDS):
                _check_repeated((id_, key), shaped, document, found)
            file.declarations.append(
                Declaration(
                    id=id_,
                    state=state,
                    key=key,
                    items=shaped,
                    ref=file.ref,
                    origin=document,
                    words=words,
                )
            )


def _check_repeated(path: tuple[str, str], items: list[object], document: Loaded, found: Diagnostics) -> None:
    """Warn about two lists of one requisite: both count here, but Salt uses only the last."""
    first: dict[str, int] = {}
    for index, item in enumerate(items):
        for word in item if isinstance(item, dict) else ():
            if word not in REQUISITE_WORDS:
                continue
            if word in first:
                found.warn(
                    "requisite-repeated",
                    f"{word!r} of {path[0]!r} has two lists; both count here, and in Salt only the last one",
                    where=document.mark((*path, index)),
                    fix="make them one list",
                    also=(("first", document.mark((*path, first[word]))),),
                )
            first.setdefault(word, index)


def _misplaced_hint(id_: str, body: object) -> str:
    """A hint for an ID that contains no state."""
    if isinstance(body, list):
        if meant := did_you_mean(id_, _SECTIONS):
            return meant
        if all(id_.partition(".")) and "/" not in id_:
            return f"{id_!r} looks like a state: indent it below an ID"
    return "write the state below it, such as 'file.managed:', indented, and its arguments below that"


def _state(id_: str, key: str, document: Loaded, found: Diagnostics) -> str:
    state, _, fun = key.partition(".")
    if "." in fun:
        found.warn(
            "function-too-long",
            f"{key!r} has more than one dot; {state + '.' + fun.partition('.')[0]!r} is what runs",
            where=document.mark((id_, key)),
        )
    return state


def _items(id_: str, key: str, items: object, document: Loaded, found: Diagnostics) -> list[object] | None:
    """The arguments in Salt's long form: as written, then the function."""
    fun = key.partition(".")[2].partition(".")[0]
    if isinstance(items, list):
        return [*items, fun] if fun else items
    if items is None:
        found.error(
            "short-form-colon",
            f"{key!r} ends with ':' but nothing is below it",
            where=document.mark((id_, key)),
            fix=f"write '{key}: []', or '{id_}: {key}' on one line",
        )
    else:
        found.error(
            "arguments-not-list",
            f"the arguments of {key!r} are {kind_of(items)}, not a list",
            where=document.mark((id_, key)),
            fix="a blank is missing after a '-'" if _has_dash(items) else "begin each argument with '- '",
        )
    return None


def _no_list(body: object, section: str, each: str, document: Loaded, found: Diagnostics) -> None:
    found.error(
        f"{section}-not-list",
        f"{section} is {kind_of(body)}, not a list",
        where=document.mark((section,)),
        fix=f"begin each {each} with '- '",
    )


def _include(body: object, file: SlsFile, document: Loaded, found: Diagnostics) -> None:
    if not isinstance(body, list):
        _no_list(body, "include", "name", document, found)
        return
    for index, item in enumerate(body):
        env, name = document.ref.env, item
        if isinstance(item, dict) and len(item) == 1:
            ((env, name),) = item.items()
        if isinstance(name, int | float) and not isinstance(name, bool):
            name = str(name)
        if not isinstance(name, str) or not name or not isinstance(env, str):
            found.error(
                "include-shape",
                f"include has {kind_of(item)} where the name of an SLS belongs",
                where=document.mark(("include", index)),
                fix="write '- name' or '- environment: name'",
            )
            continue
        absolute = absolute_name(name, document.ref.name, is_init=document.is_init)
        if absolute is None:
            found.error(
                "include-beyond-top",
                f"{name!r} leads out of the tree from {document.ref.name!r}",
                where=document.mark(("include", index)),
                fix="remove a dot",
            )
            continue
        file.includes.append(Include(SlsRef(env, absolute), index))


def absolute_name(name: str, sls: str, *, is_init: bool) -> str | None:
    """A name as written in ``sls``, made absolute: each leading dot removes one part. None leads out of
    the tree.
    """
    if not name.startswith("."):
        return name
    rest = name.lstrip(".")
    dots = len(name) - len(rest)
    parts = sls.split(".")
    if is_init:
        parts.append("init")
    if dots > len(parts):
        return None
    kept = parts[: len(parts) - dots]
    return ".".join([*kept, rest] if rest else kept) or None


def _extend(body: object, file: SlsFile, document: Loaded, found: Diagnostics) -> None:
    if not isinstance(body, dict):
        found.error(
            "extend-not-mapping",
            f"extend is {kind_of(body)}, not a mapping of IDs",
            where=document.mark(("extend",)),
        )
        return
    for id_, states in body.items():
        if not isinstance(states, dict) or not isinstance(id_, str) or not states:
            found.error(
                "extend-shape",
                f"extend of {id_!r} holds {kind_of(states) if states else 'nothing'}, not a state",
                where=document.mark(("extend", str(id_))),
                fix="write the state below the ID, such as 'file:' and the arguments to change",
            )
            continue
        file.extensions.append(Extension(id=id_, bodies=states, ref=file.ref, origin=document))


def _exclude(body: object, file: SlsFile, document: Loaded, found: Diagnostics) -> None:
    if not isinstance(body, list):
        _no_list(body, "exclude", "item", document, found)
        return
    for index, item in enumerate(body):
        rule = exclusion(item)
        if rule is None:
            found.warn(
                "exclude-shape",
                f"the exclude item {item!r} excludes nothing",
                where=document.mark(("exclude", index)),
                fix="write '- sls: name' or '- id: name'",
            )
        else:
            file.exclusions.append(replace(rule, origin=document, index=index))


def exclusion(item: object) -> Exclusion | None:
    """``name``, ``{sls: glob}`` or ``{id: name}``; None for any other shape."""
    if isinstance(item, str):
        return Exclusion(sls=item, raw=item)
    if isinstance(item, dict) and len(item) == 1:
        ((what, value),) = item.items()
        if what == "sls":
            return Exclusion(sls=str(value), raw=item)
        if what == "id":
            return Exclusion(id=str(value), raw=item)
    return None


_SECTIONS = {"include": _include, "extend": _extend, "exclude": _exclude}


def _has_dash(items: object) -> bool:
    """True for ``-name: x``, which is one word in YAML."""
    return isinstance(items, dict) and any(str(key).startswith("-") for key in items)
