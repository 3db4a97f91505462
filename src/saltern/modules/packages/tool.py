"""Runs the programs of a package manager, and says in its words why one failed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from saltern.language.mask import mask
from saltern.modules.packages.model import PackageError
from saltern.system.clock import Clock
from saltern.system.host import Host, kept
from saltern.system.process import NOT_FOUND, Ran

# Its output is read by us, so in English; maintainer scripts still get a UTF-8 locale.
ENV: dict[str, str] = {"LC_ALL": "C.UTF-8", "LANGUAGE": "C"}
MOST_SAID = 12  # lines
BUSY = (
    "could not get lock",
    "is locked by another process",
    "unable to lock",
    "resource temporarily",
    "system management is locked",
)
TRIES, PAUSE = 60, 5.0
ERROR = re.compile(r"E:|error|problem|.*\bfailed\b", re.IGNORECASE)
REASON = re.compile(r"(?:E|error|problem):|:: .* (?:in conflict|required by)", re.IGNORECASE)
NOISE = re.compile(
    r"\(try to add|Please see the above|W:|warning:|Failed loading plugin|Error:$", re.IGNORECASE
)


class Tool:
    """``ask`` for an answer, ``order`` for an action that has to wait its turn."""

    def __init__(self, host: Host, clock: Clock, env: Mapping[str, str] | None = None) -> None:
        self.host = host
        self.clock = clock
        self.env = {**ENV, **(env or {})}

    def run(self, argv: Sequence[str], *, stdin: str | None = None) -> Ran:
        return self.host.run(list(argv), env=self.env, stdin=stdin)

    def act(self, argv: Sequence[str]) -> Ran:
        """A package manager that loses whoever started it in the middle leaves a broken machine."""
        return kept(self.host)(list(argv), env=self.env)

    def ask(self, *argv: str, fine: tuple[int, ...] = (0,), stdin: str | None = None) -> str:
        """What it printed. Raises ``PackageError`` for an exit code that is not ``fine``."""
        ran = self.run(argv, stdin=stdin)
        if ran.code not in fine:
            raise PackageError(why(argv, ran))
        return ran.out

    def order(self, *argv: str, fine: tuple[int, ...] = (0,)) -> str:
        """As ``ask``; but if another one is at work, waits and tries again for some minutes."""
        for _ in range(TRIES):
            ran = self.act(argv)
            if ran.code in fine or not _busy(ran):
                break
            self.clock.sleep(PAUSE)
        if ran.code not in fine:
            raise PackageError(why(argv, ran))
        return ran.out


def _busy(ran: Ran) -> bool:
    said = (ran.err + ran.out[-2000:]).lower()
    return ran.code != NOT_FOUND and any(word in said for word in BUSY)


def why(argv: Sequence[str], ran: Ran) -> str:
    """What it said from its first error on; if it names none, its last words.

    Some print the reason (which packages are in conflict) beside the errors, on the other stream.
    """
    if ran.code == NOT_FOUND and not ran.out:
        return f"the program {argv[0]!r} is not on this machine; install the package that has it"
    said = _from(REASON, ran.out) + _from(ERROR, ran.err)
    said = said or _lines(ran.err) or _lines(ran.out) or [f"it ended with exit code {ran.code}"]
    return mask(f"{argv[0]} failed: " + "\n".join(said[-MOST_SAID:]))


def _from(start: re.Pattern[str], text: str) -> list[str]:
    lines = _lines(text)
    first = next((at for at, line in enumerate(lines) if start.match(line)), len(lines))
    return lines[first:]


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip() and not NOISE.match(line.strip())]
