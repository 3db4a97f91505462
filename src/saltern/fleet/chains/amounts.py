"""Numbers and percentages of systems: waves, limits of failures, systems in flight."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor
from re import fullmatch

from msgspec import Struct

from saltern.language.diagnostics import Diagnostic, OperationError

REST = "rest"


class Amount(Struct, frozen=True):
    """A number of systems, or a percentage of them."""

    number: float
    percent: bool = False

    def of(self, total: int) -> int:
        """The number for ``total`` systems: a percentage is rounded up, so that it is never zero."""
        return ceil(self.number * total / 100) if self.percent else int(self.number)

    def at_most(self, total: int) -> int:
        """The same as a limit: rounded down, but never to zero."""
        return max(1, floor(self.number * total / 100) if self.percent else int(self.number))

    def is_exceeded(self, failed: int, started: int) -> bool:
        """True if ``failed`` of ``started`` is strictly more. Nothing is rounded."""
        return failed * 100 > self.number * started if self.percent else failed > self.number


def read_amount(value: object) -> Amount:
    """``3`` or ``"10%"``; anything else is refused with its reason."""
    found = fullmatch(r"([0-9]+(?:\.[0-9]+)?)%|([0-9]+)", str(value))
    if found is None or isinstance(value, bool):
        raise _wrong(value)
    percent = found[1] is not None
    number = float(found[1] or found[2])
    if percent and number > 100:
        raise _wrong(value)
    return Amount(number, percent)


def is_amount(text: str, *, least: float = 0) -> bool:
    """True for an empty text, and for an amount of at least ``least``."""
    try:
        amount = read_amount(text) if text else None
    except OperationError:
        return False
    return amount is None or amount.number >= least or (amount.percent and amount.number > 0)


def _wrong(value: object) -> OperationError:
    what = f"{value!r} is not an amount of systems"
    fix = "give a number such as 3, or a percentage such as 10% (in quotes in YAML)"
    return OperationError(Diagnostic(code="chain-amount", what=what, fix=fix))


def split_waves(systems: Sequence[str], shares: Sequence[object]) -> list[list[str]]:
    """Cut systems into waves, in their order: ``[1, "10%", "rest"]``.

    A percentage is of all systems. The last share is repeated until none is left; without shares there is
    one wave.
    """
    left = list(systems)
    waves: list[list[str]] = []
    sizes = [_size(share, len(systems)) for share in shares] or [len(left)]
    while left:
        size = sizes[min(len(waves), len(sizes) - 1)]
        waves.append(left[:size])
        left = left[size:]
    return waves


def _size(share: object, total: int) -> int:
    if share == REST:
        return max(total, 1)
    size = read_amount(share).of(total)
    if size < 1:
        raise _wrong(share)
    return size
