"""The fleet's time, for a machine whose clock is wrong.

Signatures carry times. An answer to our own request carries its nonce, so it is fresh whatever our clock
says, and its time is the controller's: the difference corrects the clock for all other messages. A time that
is earlier than one accepted before is not accepted, so an old key cannot turn the clock back. The exception:
it is at most some days earlier, and our own clock agrees with it; then a controller's clock was ahead, and
was corrected.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import msgspec

from saltern.fleet.protocol.codec import BadMessage, decode
from saltern.fleet.protocol.envelope import SKEW, Refusal, Refused, Trust, Verified, verify
from saltern.fleet.protocol.messages import Envelope

WRONG = 60.0  # seconds of difference from which a clock counts as wrong
LONGEST_BACK = 7 * 86_400.0  # the largest correction of a fleet's clock, in seconds


class _Issued(msgspec.Struct):
    issued: float


class FleetClock:
    """``offset`` is added to the machine's clock; ``latest`` is the latest time that was accepted."""

    def __init__(self, local: Callable[[], float] = time.time, latest: float = 0.0) -> None:
        self.local = local
        self.offset = 0.0
        self.latest = latest

    def now(self) -> float:
        return max(0.0, self.local() + self.offset)

    @property
    def is_wrong(self) -> bool:
        return abs(self.offset) >= WRONG

    def check_answer(self, data: bytes, trust: Trust, *, me: str, nonce: str) -> Verified:
        """Check the answer to our own request, and set the clock by it."""
        try:
            found = verify(data, trust, me=me, now=self.now(), nonce=nonce)
        except Refused as problem:
            if problem.refusal not in (Refusal.EXPIRED, Refusal.FROM_FUTURE):
                raise
            issued = _issue_time(data)
            if issued < self.latest - SKEW and not self._is_corrected(issued):
                raise
            found = verify(data, trust, me=me, now=issued, nonce=nonce)
        self._learn(found.claims.issued)
        return found

    def _is_corrected(self, issued: float) -> bool:
        """True if a time that is too early shows that the one accepted before was wrong."""
        return abs(issued - self.local()) < WRONG and self.latest - issued <= LONGEST_BACK

    def _learn(self, issued: float) -> None:
        difference = issued - self.local()
        self.offset = difference if abs(difference) >= WRONG else 0.0
        self.latest = issued if self._is_corrected(issued) else max(self.latest, issued)


def _issue_time(data: bytes) -> float:
    """The time in an envelope, before it is verified."""
    try:
        text = decode(Envelope, data).signed
        return msgspec.json.decode(text, type=_Issued).issued
    except (BadMessage, msgspec.DecodeError) as problem:
        raise Refused(Refusal.MALFORMED, str(problem)) from None
