"""Groups of parameters, declared once: a ``TypedDict`` that a function takes with ``Unpack``.

``def present(ctx, name, *, owner: str, **login: Unpack[LoginArguments])`` has the parameters of the group
after its own. A key is optional (``total=False``): not given, it is None, or false if it is a ``bool``, and
is not passed. ``_: Ignored`` among the keys is ``**_: Ignored`` of such a function. The docstring of the
group has its own ``Args:``, which is read as part of that of the function. ``rest_of`` are the keywords that
are not keys of the group.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import reduce

from msgspec import Struct

UNPACK = "Unpack["
REST = "_"
# The indentation of docstrings in a module; since Python 3.13 the compiler removes it.
_MARGIN = "" if sys.version_info >= (3, 13) else "    "
_ARGS = f"\n{_MARGIN}Args:\n"
_END = rf"\n\n{_MARGIN}[A-Z]\w*:\n|\s*\Z"


class Group(Struct, frozen=True):
    """The keys with their annotations as texts, the required ones, and the kind of further keywords."""

    keys: dict[str, str]
    required: frozenset[str]
    rest: str
    doc: str


def group_of(body: Callable[..., object], annotation: str) -> Group | None:
    """The group of a ``**`` parameter with this annotation; None for any other."""
    if not annotation.startswith(UNPACK):
        return None
    first, *others = annotation[len(UNPACK) : -1].split(".")
    made = reduce(getattr, others, body.__globals__[first])
    keys = {name: _text(value) for name, value in made.__annotations__.items()}
    rest = keys.pop(REST, "")
    return Group(keys, made.__required_keys__ - {REST}, rest, made.__doc__ or "")


def _text(annotation: object) -> str:
    """The annotation as text; a class by its name."""
    return str(getattr(annotation, "__forward_arg__", None) or getattr(annotation, "__name__", annotation))


def rest_of(given: Mapping[str, object], group: type) -> dict[str, object]:
    """The keywords of a call that the group does not name."""
    return {name: value for name, value in given.items() if name not in group.__annotations__}


def default_of(name: str, annotation: str) -> object:
    """The default of an optional key."""
    if annotation == "bool":
        return False
    if annotation == "object" or "None" in annotation.split(" | "):
        return None
    raise TypeError(f"{name!r} of a parameter group is optional: write '{name}: {annotation} | None'")


def documented_with(doc: str, group: Group | None) -> str:
    """The docstring with the ``Args:`` of its group after its own."""
    rows = _rows(group.doc) if group is not None else ""
    if not rows:
        return doc
    head, args, rest = doc.partition(_ARGS)
    if not args:
        return f"{doc.rstrip()}\n{_ARGS}{rows}\n{_MARGIN}"
    import re

    end = re.search(_END, rest)
    at = end.start() if end else len(rest)
    return f"{head}{args}{rest[:at]}\n{rows}{rest[at:]}"


def _rows(doc: str) -> str:
    _, _, rest = doc.partition(_ARGS)
    return rest.rstrip()


def unpacked_group(body: Callable[..., object]) -> Group | None:
    """The group of a function, if it takes one."""
    annotations: Mapping[str, object] = getattr(body, "__annotations__", {})
    found = (one for one in annotations.values() if isinstance(one, str) and one.startswith(UNPACK))
    return group_of(body, next(found, ""))
