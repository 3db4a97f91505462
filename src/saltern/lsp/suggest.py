"""Suggests what may be written at the cursor.

``RULES`` lists the situations; the first that fits is used. Nothing is rendered or run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from saltern.language.delayed import WORDS as DELAYED
from saltern.language.keywords import KEYWORDS
from saltern.language.requisites import IN_FORMS, REQUISITE_WORDS, REQUISITES
from saltern.lsp.cursor import Cursor
from saltern.lsp.desk import Desk, Found, Suggestion, function_of, make_suggestion
from saltern.lsp.manual import Entry, Manual, keyword
from saltern.lsp.name_suggestions import files, ids, sls, suggest_delayed, suggest_targets, tags, targets
from saltern.lsp.outline import TOP_WORDS
from saltern.lsp.templates import in_template

MOST = 1000  # as many as an editor can show at once


def suggest(desk: Desk, cursor: Cursor) -> list[Suggestion]:
    """The suggestions, best first. If there are more than ``MOST``, only those that match the typed text."""
    if cursor.where == "template":
        found: Iterable[Suggestion] = in_template(desk, cursor)
    elif "salt://" in cursor.typed or "salt://" in cursor.before.rpartition(" ")[2]:
        found = files(desk, cursor)
    elif cursor.where == "other":
        found = tags(desk, cursor)
    else:
        rules = RULES[desk.site.kind(desk.path)]
        found = next((rule(desk, cursor) for fits, rule in rules if fits(cursor, _plain(cursor))), ())
    some = sorted(found, key=lambda one: (one.rank, one.order, one.label))
    if len(some) > MOST:
        typed = cursor.typed.lower()
        some = [one for one in some if typed in one.label.lower()]
    return some


def _plain(cursor: Cursor) -> tuple[str, ...]:
    """The keys above, as if an ``extend`` were a declaration."""
    return cursor.path[1:] if cursor.path[:1] == ("extend",) else cursor.path


# -- a state file ----------------------------------------------------------------------------------------


def _top_words(desk: Desk, cursor: Cursor) -> Found:
    for word in TOP_WORDS:
        yield make_suggestion(cursor, word, "keyword", tail=":", rank=6)
    yield from tags(desk, cursor)


def _functions(desk: Desk, cursor: Cursor) -> Found:
    """``pkg.installed``: the module first, its functions after the dot."""
    module, dot, _ = cursor.typed.partition(".")
    if not dot:
        for name in desk.manual.modules("states"):
            yield make_suggestion(cursor, name, "module", text=f"{name}.", detail="state module")
        return
    for fun in desk.manual.members("states", module):
        name = f"{module}.{fun}"
        yield make_suggestion(cursor, name, "function", tail=":", about=f"states:{name}")


def _arguments(desk: Desk, cursor: Cursor) -> Found:
    """Arguments of the function; then requisites, and options of every state."""
    path = _plain(cursor)
    name = function_of(desk.outline, path, desk.manual)
    entry = desk.manual.entry("states", name)
    if "." not in path[1]:
        for fun in desk.manual.members("states", path[1]):
            yield make_suggestion(
                cursor, fun, "function", about=f"states:{path[1]}.{fun}", rank=1 if entry is None else 7
            )
    for at, argument in enumerate(entry.arguments.values() if entry else ()):
        rank = 2 if argument.default else 1
        detail = argument.type + (f" = {argument.default}" if argument.default else " (needed)")
        yield make_suggestion(
            cursor, argument.name, "argument", tail=": ", detail=detail, doc=argument.doc, rank=rank, order=at
        )
    known = entry.arguments if entry else {}
    for word in (*REQUISITES, *IN_FORMS):
        yield make_suggestion(
            cursor, word, "keyword", tail=":", detail="requisite", doc=keyword(word), rank=3
        )
    for word in ("names", *KEYWORDS):
        if word not in known:
            shape = KEYWORDS[word].shape if word in KEYWORDS else "list of names"
            yield make_suggestion(cursor, word, "keyword", tail=": ", detail=shape, doc=keyword(word), rank=4)


def _value(desk: Desk, cursor: Cursor) -> Found:
    """Values of an argument, by its type."""
    path = _plain(cursor)
    entry = desk.manual.entry("states", function_of(desk.outline, path, desk.manual))
    argument = entry.arguments.get(cursor.key) if entry else None
    shape = argument.type if argument else KEYWORDS[cursor.key].shape if cursor.key in KEYWORDS else ""
    if "bool" in shape or "true" in shape:
        for word in ("true", "false"):
            yield make_suggestion(cursor, word, "value")
    if "source" in cursor.key:
        yield make_suggestion(cursor, "salt://", "file")


Path = tuple[str, ...]
Fits = Callable[[Cursor, Path], bool]
Rule = tuple[Fits, Callable[[Desk, Cursor], Found]]


def _below(words: Iterable[str]) -> Callable[[Path], bool]:
    known = frozenset(words)
    return lambda path: bool(path) and path[-1] in known


_in_requisite, _in_delayed = _below(REQUISITE_WORDS), _below(DELAYED)

RULES: dict[str, tuple[Rule, ...]] = {
    "states": (
        (lambda _, path: path == ("include",), sls),
        (lambda one, path: path == ("exclude",) and one.key in ("", "sls"), sls),
        (lambda one, path: path == ("exclude",) or one.path == ("extend",), ids),
        (lambda one, path: not path and not one.key and not one.item, _top_words),
        (lambda one, path: len(path) == 1 and not one.item and not one.key, _functions),
        (lambda one, path: len(path) == 2 and one.item and not one.key, _arguments),
        (lambda one, path: len(path) == 2 and bool(one.key), _value),
        (lambda one, path: _in_requisite(path) and not one.key, targets),
        (lambda _, path: _in_requisite(path), suggest_targets),
        (lambda _, path: _in_delayed(path), suggest_delayed),
    ),
    "top": ((lambda one, path: len(path) == 2 and one.item, sls),),
    "pillar": (),
    "template": (),
}


def documentation_of(manual: Manual, about: str) -> Entry | None:
    """The documentation of a suggestion, requested when it is selected."""
    kind, _, name = about.partition(":")
    return manual.entry(kind, name) if name else None
