"""Compares the low data and results of Salt with those of saltern, state by state. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

Low = Mapping[str, object]
NO_ARGUMENTS = frozenset(
    {"order", "__env__", "__prereq__", "__agg__", "__umask__", "reload_modules", "__orchestration_jid__"}
)
"""Keys of low data that depend on the compiler, and not on the state."""
REQUISITES = frozenset(
    {"require", "require_any", "watch", "watch_any", "onchanges", "onchanges_any", "onfail", "onfail_any",
     "onfail_all", "prereq", "listen", "use"}
)  # fmt: skip


class Difference(Struct, frozen=True, kw_only=True):
    """One difference of one state. ``about`` is ``missing``, ``additional``, ``order``, ``result``,
    ``changes``, or the name of an argument."""

    state: str
    id: str
    sls: str
    about: str
    salt: object = None
    saltern: object = None


def compare_low(salt: Sequence[Low], ours: Sequence[Low], *, whole: bool = True) -> list[Difference]:
    """The differences between two lists of low data, each in the order in which it runs.

    ``whole`` is False for Salt's ``state.show_low_sls``, which leaves out requisites that ``_in`` forms add.
    """
    theirs, own = _by_tag(salt), _by_tag(ours)
    found = [_only(low, "missing") for tag, low in theirs.items() if tag not in own]
    found += [_only(low, "additional") for tag, low in own.items() if tag not in theirs]
    for tag in (tag for tag in theirs if tag in own):
        found += _arguments(theirs[tag], own[tag], whole=whole)
    return [
        *found,
        *_order_differences(
            [tag for tag in theirs if tag in own], [tag for tag in own if tag in theirs], own
        ),
    ]


def _by_tag(lows: Iterable[Low]) -> dict[tuple[object, ...], Low]:
    """Low data by state, ID, name and function; equal ones are numbered."""
    seen: dict[tuple[object, ...], int] = defaultdict(int)
    found: dict[tuple[object, ...], Low] = {}
    for low in lows:
        tag = tuple(str(low.get(key, "")) for key in ("state", "__id__", "name", "fun"))
        found[*tag, seen[tag]] = low
        seen[tag] += 1
    return found


def _of(low: Low) -> dict[str, str]:
    return {
        "state": f"{low.get('state')}.{low.get('fun')}",
        "id": str(low.get("__id__", "")),
        "sls": str(low.get("__sls__", "")),
    }


def _only(low: Low, about: str) -> Difference:
    mine, theirs = ("", str(low.get("name", ""))) if about == "missing" else (str(low.get("name", "")), "")
    return Difference(**_of(low), about=about, salt=theirs or None, saltern=mine or None)


def _arguments(salt: Low, ours: Low, *, whole: bool) -> Iterator[Difference]:
    for name in dict.fromkeys((*salt, *ours)):
        mine, theirs = (_plain(name, low.get(name)) for low in (ours, salt))
        if name in NO_ARGUMENTS or mine == theirs:
            continue
        if whole or name not in REQUISITES or not _has_all(mine, theirs):
            yield Difference(**_of(salt), about=name, salt=theirs, saltern=mine)


def _has_all(ours: object, salt: object) -> bool:
    """True if all of Salt's requisites are among ours."""
    return isinstance(ours, list) and all(one in ours for one in (salt if isinstance(salt, list) else []))


def _plain(name: str, value: object) -> object:
    """A value in the form for comparison: the order of requisites does not matter."""
    if name in REQUISITES and isinstance(value, list):
        return sorted(value, key=str)
    return value


def _order_differences(
    salt: list[tuple[object, ...]], ours: list[tuple[object, ...]], lows: Mapping[tuple[object, ...], Low]
) -> Iterator[Difference]:
    """The common states whose order differs."""
    place = {tag: number for number, tag in enumerate(salt, 1)}
    for number, tag in enumerate(ours, 1):
        if place[tag] != number:
            yield Difference(**_of(lows[tag]), about="order", salt=place[tag], saltern=number)


def compare_results(salt: Mapping[str, Low], ours: Mapping[str, Low]) -> list[Difference]:
    """The differences between two test runs: a state's result, and whether it would change something."""
    found = []
    for tag in dict.fromkeys((*salt, *ours)):
        kind, id, _, function = tag.split("_|-", 3)
        of = {
            "state": f"{kind}.{function}",
            "id": id,
            "sls": str((salt.get(tag) or ours[tag]).get("__sls__", "")),
        }
        if tag not in salt or tag not in ours:
            about = "missing" if tag in salt else "additional"
            found.append(Difference(**of, about=about))
            continue
        pairs = {
            "result": (salt[tag].get("result"), ours[tag].get("result")),
            "changes": (bool(salt[tag].get("changes")), bool(ours[tag].get("changes"))),
        }
        found += [
            Difference(**of, about=about, salt=theirs, saltern=mine)
            for about, (theirs, mine) in pairs.items()
            if theirs != mine
        ]
    return found
