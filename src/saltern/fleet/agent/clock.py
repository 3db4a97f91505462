"""The fleet's time, for a machine whose clock is wrong.

Signatures have times. An answer to our own question carries its nonce, so it is fresh whatever our clock
says, and the time in it is the controller's: by the difference every other message is judged. A time that is
earlier than one which was believed before is not believed, so an old key cannot turn the clock back; unless
our own clock agrees with it, and it is some days at most: that of a controller ran ahead, and was corrected.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import msgspec

from saltern.fleet.protocol.codec import BadMessage, decode
from saltern.fleet.protocol.envelope import SKEW, Refusal, Refused, Trust, Verified, verify
from saltern.fleet.protocol.messages import Envelope

WRONG = 60.0  # seconds from which on a clock counts as wrong
LONGEST_BACK = 7 * 86_400.0  # seconds that the clock of a fleet is corrected by at most


class _Issued(msgspec.Struct):
    issued: float


class FleetClock:
    """``offset`` is what to add to the machine's clock; ``latest`` the latest time that was believed."""

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
        """The answer to a request of ours; the clock is set by it."""
        try:
            found = verify(data, trust, me=me, now=self.now(), nonce=nonce)
        except Refused as problem:
            if problem.refusal not in (Refusal.EXPIRED, Refusal.FROM_FUTURE):
                raise
            issued = _issued(data)
            if issued < self.latest - SKEW and not self._is_corrected(issued):
                raise
            found = verify(data, trust, me=me, now=issued, nonce=nonce)
        self._learn(found.claims.issued)
        return found

    def _is_corrected(self, issued: float) -> bool:
        """Whether a time that is too early shows that the one which was believed before was wrong."""
        return abs(issued - self.local()) < WRONG and self.latest - issued <= LONGEST_BACK

    def _learn(self, issued: float) -> None:
        difference = issued - self.local()
        self.offset = difference if abs(difference) >= WRONG else 0.0
        self.latest = issued if self._is_corrected(issued) else max(self.latest, issued)


def _issued(data: bytes) -> float:
    """The time in an envelope, before it is known to be true."""
    try:
        text = decode(Envelope, data).signed
        return msgspec.json.decode(text, type=_Issued).issued
    except (BadMessage, msgspec.DecodeError) as problem:
        raise Refused(Refusal.MALFORMED, str(problem)) from None
