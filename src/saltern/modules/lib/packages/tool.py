"""Run the programs of a package manager, and quote their errors."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence

from saltern.language.mask import mask
from saltern.modules.api.programs import AS_ROOT, PLAIN_UTF8, missing_program
from saltern.modules.lib.packages.model import PackageError
from saltern.system.clock import Clock
from saltern.system.host import Host, kept_runner
from saltern.system.process import NOT_FOUND, Ran
from saltern.system.waits import report_wait

MOST_SAID = 12  # lines
BUSY = (
    "could not get lock",
    "is locked by another process",
    "unable to lock",
    "resource temporarily",
    "system management is locked",
)
# Messages of apt, dpkg, dnf, yum, zypper, pacman, apk and debconf for missing permissions. They come with
# those for a lock that another process holds, and another try would not help.
NOT_ROOT = re.compile(
    r"permission denied|are you root|(?:must|need to|should) be (?:run as )?root|as root\b|root privileges"
    r"|superuser privilege|required read/write access|operation not permitted|not allowed to",
    re.IGNORECASE,
)
TRIES, PAUSE = 60, 5.0
ERROR = re.compile(r"E:|error|problem|.*\bfailed\b", re.IGNORECASE)
REASON = re.compile(r"(?:E|error|problem):|:: .* (?:in conflict|required by)", re.IGNORECASE)
NOISE = re.compile(
    r"\(try to add|Please see the above|W:|warning:|Failed loading plugin|Error:$", re.IGNORECASE
)


class Tool:
    """Runs programs: ``ask`` for queries, ``order`` for actions that wait for a lock."""

    def __init__(self, host: Host, clock: Clock, env: Mapping[str, str] | None = None) -> None:
        self.host = host
        self.clock = clock
        self.env = {**PLAIN_UTF8, **(env or {})}  # maintainer scripts need a UTF-8 locale

    def run(self, argv: Sequence[str], *, stdin: str | None = None) -> Ran:
        return self.host.run(list(argv), env=self.env, stdin=stdin)

    def act(self, argv: Sequence[str]) -> Ran:
        """Run to the end, even if we are killed: an interrupted package manager leaves a broken machine."""
        return kept_runner(self.host)(list(argv), env=self.env)

    def ask(self, *argv: str, fine: tuple[int, ...] = (0,), stdin: str | None = None) -> str:
        """The output. Raises ``PackageError`` for an exit code that is not ``fine``."""
        ran = self.run(argv, stdin=stdin)
        if ran.code not in fine:
            raise PackageError(why(argv, ran))
        return ran.out

    def order(self, *argv: str, fine: tuple[int, ...] = (0,)) -> str:
        """Like ``ask``; but if another process holds the lock, wait and try again for some minutes."""
        for attempt in range(TRIES):
            ran = self.act(argv)
            if ran.code in fine or not is_busy(ran):
                break
            if not attempt:
                report_wait(f"another program that uses {argv[0]}, at most {TRIES * PAUSE:g} seconds")
            self.clock.sleep(PAUSE)
        if ran.code not in fine:
            raise PackageError(why(argv, ran))
        return ran.out


def is_busy(ran: Ran) -> bool:
    """True if another process holds the lock, and not if the lock may not be opened."""
    said = (ran.err + ran.out[-2000:]).lower()
    return ran.code != NOT_FOUND and any(word in said for word in BUSY) and not needs_root(ran)


def needs_root(ran: Ran) -> bool:
    return os.geteuid() != 0 and NOT_ROOT.search(ran.err + ran.out[-2000:]) is not None


def why(argv: Sequence[str], ran: Ran) -> str:
    """Why a program failed: its output from the first error on, or its last lines.

    Some print the reason (such as conflicting packages) on the other stream.
    """
    if ran.code == NOT_FOUND and not ran.out:
        return missing_program(argv[0])
    said = _from(REASON, ran.out) + _from(ERROR, ran.err)
    said = said or _lines(ran.err) or _lines(ran.out) or [f"it ended with exit code {ran.code}"]
    if needs_root(ran):
        said = [*said[: MOST_SAID - 1], AS_ROOT]
    return mask(f"{argv[0]} failed: " + "\n".join(said[-MOST_SAID:]))


def _from(start: re.Pattern[str], text: str) -> list[str]:
    lines = _lines(text)
    first = next((at for at, line in enumerate(lines) if start.match(line)), len(lines))
    return lines[first:]


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip() and not NOISE.match(line.strip())]
