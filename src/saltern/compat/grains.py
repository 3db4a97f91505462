"""``_grains``: calls every function in the user's files; their results are grains."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from saltern.language.merge import deep

if TYPE_CHECKING:
    from saltern.compat.library import Library
    from saltern.compat.loader import Loaded, Raw


def custom_grains(library: Library) -> tuple[dict[str, object], list[str]]:
    """The grains, and the functions that failed with their reasons; a failure does not end the run."""
    found: dict[Any, Any] = {}
    usable = library.own.usable_modules("grains")
    problems = library.own.unusable("grains")
    for loaded in usable:
        for name, raw in loaded.functions.items():
            try:
                given = _call_function(library, loaded, raw, found)
            except Exception as problem:
                problems.append(f"{loaded.path}: {name} failed: {type(problem).__name__}: {problem}")
                continue
            if isinstance(given, dict):
                found = deep(found, given, False)
            else:
                problems.append(f"{loaded.path}: {name} gave {type(given).__name__}, not a dictionary")
    return found, problems


def _call_function(library: Library, loaded: Loaded, raw: Raw, so_far: dict[str, object]) -> object:
    """Call a function; some take the grains found so far."""
    from inspect import signature

    wanted = signature(raw).parameters
    known: dict[str, object] = (
        {"grains": {**library.call().ctx.grains, **so_far}} if "grains" in wanted else {}
    )
    known |= {"proxy": {}} if "proxy" in wanted else {}
    with library.enter_call(library.call().ctx, loaded.module):
        return raw(**known)
