"""Dictionaries that are filled as they are read.

C functions that bypass the methods (``msgspec.json.encode``) see only entries that were read
before: pass them ``copy()``.
"""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, KeysView, Mapping, ValuesView

_MISSING = object()


class LazyReads(dict[str, object]):
    """Reading: an entry is collected when it is read, and all entries when all are."""

    __slots__ = ()

    def collect(self, name: object) -> None:
        """Collect the entry ``name``, if that is possible and not done yet."""
        raise NotImplementedError

    def full(self) -> LazyReads:
        """The same object, with everything collected."""
        raise NotImplementedError

    def __missing__(self, name: str) -> object:
        self.collect(name)
        value = super().get(name, _MISSING)
        if value is _MISSING:
            raise KeyError(name)
        return value

    def __contains__(self, name: object) -> bool:
        if not super().__contains__(name):
            self.collect(name)
        return super().__contains__(name)

    def get(self, name: str, default: object = None) -> object:
        return super().get(name) if name in self else default

    def __iter__(self) -> Iterator[str]:
        self.full()
        return super().__iter__()

    def __reversed__(self) -> Iterator[str]:
        self.full()
        return super().__reversed__()

    def __len__(self) -> int:
        self.full()
        return super().__len__()

    def __bool__(self) -> bool:
        return super().__len__() > 0 or len(self) > 0

    def keys(self) -> KeysView[str]:  # type: ignore[override]
        self.full()
        return super().keys()

    def values(self) -> ValuesView[object]:  # type: ignore[override]
        self.full()
        return super().values()

    def items(self) -> ItemsView[str, object]:  # type: ignore[override]
        self.full()
        return super().items()

    def copy(self) -> dict[str, object]:
        """A plain dictionary of all entries."""
        return dict(self.items())


class LazyDict(LazyReads):
    """The other methods of a dictionary."""

    __slots__ = ()

    def setdefault(self, name: str, default: object = None) -> object:
        self.collect(name)
        return super().setdefault(name, default)

    def pop(self, name: str, *default: object) -> object:
        self.collect(name)
        return super().pop(name, *default)

    def __delitem__(self, name: str) -> None:
        self.collect(name)
        super().__delitem__(name)

    def popitem(self) -> tuple[str, object]:
        self.full()
        return super().popitem()

    def __or__(self, other: Mapping[str, object]) -> dict[str, object]:  # type: ignore[override]
        return self.copy() | dict(other)

    def __ror__(self, other: Mapping[str, object]) -> dict[str, object]:  # type: ignore[override]
        return dict(other) | self.copy()

    def __eq__(self, other: object) -> bool:
        return self.copy() == (other.copy() if isinstance(other, LazyDict) else other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(self.copy())

    def __reduce__(self) -> tuple[object, ...]:
        """Copy and pickle as a plain dictionary."""
        return dict, (self.copy(),)
