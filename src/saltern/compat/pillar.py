"""``_pillar`` and the option ``ext_pillar``: pillar from other sources, merged over that of the files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from saltern.compat.adapt import SaltFunction
from saltern.compat.external_pillar import SOURCES, external
from saltern.compat.pillars.ports import Asked
from saltern.language.diagnostics import Diagnostic, PillarError
from saltern.language.merge import merge
from saltern.language.source import Mark

if TYPE_CHECKING:
    from saltern.compat.library import Library


def ext_pillar(
    library: Library,
    entries: Sequence[object],
    pillar: dict[str, object],
    *,
    asked: Asked,
    strategy: str = "smart",
    merge_lists: bool = False,
    place: Callable[[int], Mark | None] = lambda _: None,
) -> dict[str, object]:
    """``entries`` are the items of the option, ``{name: arguments}``; ``asked`` has the machine; ``place``
    returns the position of an entry in the configuration. Raises ``PillarError``.
    """
    for index, entry in enumerate(entries):
        try:
            more = _entry(library, entry, replace(asked, pillar=pillar))
        except PillarError as problem:
            where = place(index)
            found = (one if one.where else replace(one, where=where) for one in problem.diagnostics)
            raise PillarError(*found) from None
        merged = merge(pillar, more, strategy=strategy, merge_lists=merge_lists)
        assert isinstance(merged, dict)
        pillar = merged
    return pillar


def _entry(library: Library, entry: object, asked: Asked) -> Mapping[Any, Any]:
    if not isinstance(entry, Mapping) or len(entry) != 1:
        raise _wrong("ext_pillar needs a list of '{name: arguments}'", f"got {type(entry).__name__}")
    ((name, given),) = entry.items()
    return _ask_source(library, str(name), given, asked)


def _ask_source(library: Library, name: str, given: object, asked: Asked) -> Mapping[Any, Any]:
    function = library.own.member("pillar", f"{name}.ext_pillar")
    if function is None and name in SOURCES:
        return external(name, given, asked)
    function = function or library.installed.member("pillar", f"{name}.ext_pillar")
    if not isinstance(function, SaltFunction):
        why = library.own.why("pillar", name) or library.installed.why("pillar", name)
        raise _wrong(f"no ext_pillar is called {name!r}", why or "put it in _pillar of a file root")
    args: tuple[Any, ...] = (asked.id, asked.pillar)
    keywords: dict[str, Any] = {}
    if isinstance(given, Mapping):
        keywords = {str(key): value for key, value in given.items()}
    else:
        args += tuple(given) if isinstance(given, list | tuple) else (given,)
    try:
        answer: object = function.body(library.call().ctx, *args, **keywords)
    except Exception as problem:
        raise _wrong(f"ext_pillar {name!r} failed: {type(problem).__name__}: {problem}") from None
    if not isinstance(answer, Mapping):
        raise _wrong(f"ext_pillar {name!r} gave {type(answer).__name__}, not a dictionary")
    return answer


def _wrong(what: str, fix: str = "") -> PillarError:
    return PillarError(Diagnostic(code="ext-pillar", what=what, fix=fix))
