"""The names that Salt injects into modules, one row each, as views of the current call.

A view is made once per module and looks up its value at every access, through a context variable: two runs in
one process do not affect each other, and a module that is loaded once serves calls both in and outside of
test mode.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from saltern.compat.library import Library
    from saltern.modules.api.context import Context


class Call:
    """One call of the engine into Salt-style code, including all nested calls."""

    __slots__ = ("_opts", "ctx", "library")

    def __init__(self, ctx: Context, library: Library) -> None:
        self.ctx = ctx
        self.library = library
        self._opts: dict[str, Any] | None = None

    @property
    def opts(self) -> dict[str, Any]:
        """A dictionary of this call: a module that changes ``__opts__`` affects only this call."""
        if self._opts is None:
            from saltern.compat.options import options

            self._opts = options(self.ctx, self.library)
        return self._opts

    @property
    def low(self) -> dict[str, Any]:
        return self.ctx.chunk.low() if self.ctx.chunk is not None else {}


current: ContextVar[Call | None] = ContextVar("saltern.compat.current", default=None)

Lookup = Callable[[Call], Any]

DUNDERS: dict[str, Lookup] = {
    "__salt__": lambda call: call.library.functions,
    "__states__": lambda call: call.library.states,
    "__utils__": lambda call: call.library.utilities,
    "__serializers__": lambda call: call.library.serializers,
    "__opts__": lambda call: call.opts,
    "__grains__": lambda call: call.ctx.grains,
    "__pillar__": lambda call: call.ctx.pillar,
    "__context__": lambda call: call.ctx.run.context,
    "__low__": lambda call: call.low,
    "__running__": lambda call: call.library.running,
    "__proxy__": lambda _: {},
    "__ext_pillar__": lambda _: {},
}

# Names that are lists.
LISTS: dict[str, Lookup] = {
    "__lowstate__": lambda call: [chunk.low() for chunk in call.ctx.run.chunks],
}

# Names that are plain values: set in the module's globals before each call from the engine.
VALUES: dict[str, Lookup] = {
    "__env__": lambda call: call.ctx.env,
    "__user__": lambda call: str(call.ctx.opts.get("user", "")),
    "__instance_id__": lambda call: str(id(call.ctx.run)),
}


class ListView(Sequence[Any]):
    """One injected name that is a list."""

    __slots__ = ("_library", "_lookup")

    def __init__(self, library: Library, lookup: Lookup) -> None:
        self._library = library
        self._lookup = lookup

    def __getitem__(self, index: Any) -> Any:
        return self._lookup(self._library.call())[index]

    def __iter__(self) -> Iterator[Any]:
        return iter(self[:])

    def __len__(self) -> int:
        return len(self[:])

    def __repr__(self) -> str:
        return repr(self[:])

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        from copy import deepcopy

        return deepcopy(self[:], memo)


class ReadView(Mapping[str, Any]):
    """A read-only view of one injected name. It behaves like the mapping that it stands for, including
    methods and attributes.
    """

    __slots__ = ("_library", "_lookup")

    def __init__(self, library: Library, lookup: Lookup) -> None:
        self._library = library
        self._lookup = lookup

    def value(self) -> Any:
        return self._lookup(self._library.call())

    def __getitem__(self, key: str) -> Any:
        return self.value()[key]

    def __contains__(self, key: object) -> bool:
        return key in self.value()

    def __iter__(self) -> Iterator[str]:
        return iter(self.value())

    def __len__(self) -> int:
        return len(self.value())

    def __bool__(self) -> bool:
        return bool(self.value())

    def get(self, key: str, default: Any = None) -> Any:
        return self.value().get(key, default)

    def copy(self) -> dict[str, Any]:
        return dict(self.value())

    def __eq__(self, other: object) -> bool:
        return bool(self.value() == (other.value() if isinstance(other, ReadView) else other))

    __hash__ = None  # type: ignore[assignment]

    def __or__(self, other: Any) -> Any:
        return {**self.value(), **other}

    def __ror__(self, other: Any) -> Any:
        return {**other, **self.value()}

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles are plain dictionaries."""
        return dict, (dict(self.value()),)

    def __repr__(self) -> str:
        return repr(self.value())

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.value(), name)


class View(ReadView, MutableMapping[str, Any]):
    """A view of one injected name. Changes by a module are made in the mapping that it stands for."""

    __slots__ = ()

    def __setitem__(self, key: str, value: Any) -> None:
        self.value()[key] = value

    def __delitem__(self, key: str) -> None:
        del self.value()[key]
