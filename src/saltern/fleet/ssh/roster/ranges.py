"""Names with ranges, as in inventories: ``web[01:20].example.org``, ``db-[a:c]``, ``n[1:9:2]``."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator

from saltern.fleet.ssh.roster.values import BadValue

MOST = 100_000  # names that one range may stand for
_RANGE = re.compile(r"\[([0-9a-zA-Z]+):([0-9a-zA-Z]+)(?::([0-9]+))?\]")


def expand(name: str) -> Iterator[str]:
    """Every name that is meant, in order. Raises ``BadValue``."""
    found = _RANGE.search(name)
    if found is None:
        if "[" in name or "]" in name:
            raise BadValue("a name, or one with ranges such as web[01:20]")
        yield name
        return
    before, after = name[: found.start()], name[found.end() :]
    rests = list(expand(after))
    for one in _steps(found[1], found[2], int(found[3] or 1)):
        for rest in rests:
            yield f"{before}{one}{rest}"


def _steps(first: str, last: str, step: int) -> list[str]:
    if step < 1:
        raise BadValue("a range with a step of at least 1")
    if first.isdecimal() and last.isdecimal():
        return _numbers(first, last, step)
    letters = string.ascii_letters
    if len(first) != 1 or len(last) != 1 or first not in letters or last not in letters:
        raise BadValue("a range of numbers, or of single letters")
    start, end = letters.index(first), letters.index(last)
    if end < start:
        raise BadValue(f"a range that goes up, and {first} comes after {last}")
    return list(letters[start : end + 1 : step])


def _numbers(first: str, last: str, step: int) -> list[str]:
    padded = len(first) > 1 and first.startswith("0")
    if padded and len(first) != len(last):
        raise BadValue(f"a range whose ends have as many digits as each other, unlike {first}:{last}")
    start, end = int(first[:18]), int(last[:18])
    if end < start:
        raise BadValue(f"a range that goes up, and {first} comes after {last}")
    if (end - start) // step >= MOST:
        raise BadValue(f"a range of at most {MOST:,} names")
    return [str(number).zfill(len(first) if padded else 0) for number in range(start, end + 1, step)]
