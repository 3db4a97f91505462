"""Watches running jobs: reports their progress, and that their machine is about to go down."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from saltern.fleet.agent.runner import Runner
from saltern.fleet.agent.task import JobFolder, Pause, Step
from saltern.fleet.bus.ports import Bus, BusError
from saltern.fleet.protocol.codec import encode
from saltern.fleet.protocol.messages import Away, Progress
from saltern.fleet.protocol.subjects import SUBJECTS

log = logging.getLogger(__name__)

LOOK = 0.5  # seconds between two checks of a running job
OFTEN = 1.0  # seconds between two messages of one job, except for a failure
AGAIN = 30.0  # seconds after which a leg is sent again although nothing has changed: a message may be lost
LARGEST = 200_000  # bytes of a leg; a larger one is reported at its end
BACK = 600.0  # seconds after which a machine is expected back if nothing else is known
WORD = 255


class Seen(Struct):
    """What was last sent about a job, and when."""

    step: Step = Step()
    at: float = float("-inf")
    paused: Pause = Pause()
    leg: bytes = b""
    leg_at: float = float("-inf")


def is_worth_sending(seen: Seen, step: Step, now: float) -> bool:
    """True for news that do not come too soon after the last; a failure is never too soon."""
    if step == seen.step:
        return False
    return step.failed > seen.step.failed or now - seen.at >= OFTEN


def progress_of(jid: str, step: Step) -> Progress:
    outcome: Any = step.outcome
    return Progress(
        jid=jid,
        done=step.done,
        total=step.total,
        state=step.state[:WORD],
        outcome=outcome,
        failed=step.failed,
        comment=step.comment,
    )


class Watch:
    """Checks the folders of running jobs; idle while there are none."""

    def __init__(
        self,
        bus: Bus,
        runner: Runner,
        id: str,
        *,
        running: Callable[[], list[str]],
        away: Callable[[Away], Awaitable[None]],
        now: Callable[[], float],
        collect: Callable[[str], None] = lambda _jid: None,
    ) -> None:
        self._bus = bus
        self._runner = runner
        self._id = id
        self._running = running
        self._away = away
        self._now = now
        self._collect = collect
        self._seen: dict[str, Seen] = {}
        self._wanted = asyncio.Event()

    def wake(self) -> None:
        """Start checking, because a job has begun."""
        self._wanted.set()

    async def run(self) -> None:
        """Check for ever."""
        while True:
            self._wanted.clear()
            running = self._running()
            self._seen = {jid: seen for jid, seen in self._seen.items() if jid in running}
            for jid in running:
                await self._look(jid)
            if running:
                await asyncio.sleep(LOOK)
            else:
                await self._wanted.wait()

    async def _look(self, jid: str) -> None:
        seen = self._seen.setdefault(jid, Seen())
        folder = self._runner.folder(jid)
        self._collect(jid)
        await self.note_pause(jid)
        step = folder.step()
        tick = asyncio.get_running_loop().time()
        leg = self._leg(folder, seen, tick)
        if not leg and (step is None or not is_worth_sending(seen, step, tick)):
            return
        step = step or Step()
        seen.step, seen.at = step, tick
        subject = SUBJECTS["progress"].of(id=self._id, jid=jid)
        try:
            await self._bus.publish(subject, encode(replace(progress_of(jid, step), leg=leg)))
        except BusError:
            seen.leg_at = float("-inf")  # the next check sends it

    def _leg(self, folder: JobFolder, seen: Seen, tick: float) -> dict[str, Any]:
        """The leg that the job drives, if it has changed, or nothing was sent for a long time."""
        data = folder.bytes("leg")
        if not data or (data == seen.leg and tick - seen.leg_at < AGAIN) or len(data) > LARGEST:
            return {}
        seen.leg, seen.leg_at = data, tick
        found: dict[str, Any] = msgspec.json.decode(data)
        return found

    async def note_pause(self, jid: str) -> None:
        """Report, once, that the machine or the program will be away for a while."""
        seen = self._seen.setdefault(jid, Seen())
        pause = self._runner.folder(jid).read_pause()
        if pause == seen.paused:
            return
        seen.paused = pause
        seen.leg_at = float("-inf")
        if pause.kind in ("reboot", "update"):
            why: Any = pause.kind
            log.info("job %s: %s; it continues afterwards", jid, pause.kind)
            await self._away(Away(why=why, jid=jid, back_by=self._now() + (pause.seconds or BACK)))
