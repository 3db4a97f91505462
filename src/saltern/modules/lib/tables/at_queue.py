"""The queue of ``at``: commands that run once, later."""

from __future__ import annotations

import re
from time import strptime

from msgspec import Struct

from saltern.modules.api.context import Context
from saltern.modules.api.programs import error_text, tool
from saltern.modules.api.refused import Refused, one_line

TAG = "### SALT: "  # Salt's, so that its jobs are recognized
ROW = re.compile(r"(\d+)\s+(.+?)\s+([a-zA-Z=])\s+(\S+)\s*")


class Queued(Struct, frozen=True, kw_only=True):
    job: int
    when: str
    queue: str
    user: str
    script: str = ""

    @property
    def tag(self) -> str:
        found = re.search(rf"^{re.escape(TAG)}(.+)$", self.script, re.MULTILINE)
        return found[1].strip() if found else ""

    @property
    def times(self) -> tuple[int, ...]:
        """Year (two digits), month, day, hour and minute; five times -1 if the form is unknown."""
        try:
            when = strptime(self.when, "%a %b %d %H:%M:%S %Y")
        except ValueError:
            return (-1,) * 5
        return when.tm_year % 100, when.tm_mon, when.tm_mday, when.tm_hour, when.tm_min

    def asdict(self) -> dict[str, object]:
        return {"job": self.job, "when": self.when, "queue": self.queue, "user": self.user, "tag": self.tag}


def queued_jobs(ctx: Context) -> list[Queued]:
    rows = (ROW.fullmatch(line) for line in tool(ctx, "atq").out.splitlines())
    return [
        Queued(
            job=int(row[1]),
            when=row[2],
            queue=row[3],
            user=row[4],
            script=tool(ctx, "at", "-c", row[1]).out,
        )
        for row in rows
        if row
    ]


def submit(ctx: Context, job: str, timespec: str, *, tag: str = "", user: str | None = None) -> None:
    words = timespec.split()
    if not words or words[0].startswith("-"):
        raise Refused(
            f"timespec cannot be {timespec!r}; use a time such as 'now + 1 hour' or '09:30 tomorrow'"
        )
    one_line(tag, "tag")
    text = f"{TAG}{tag}\n{job}\n" if tag else f"{job}\n"
    ran = ctx.host.run(["at", *words], stdin=text, user=user)
    if ran.code:
        raise Refused(f"at {timespec}: {error_text(ran)}")


def remove(ctx: Context, jobs: list[int]) -> None:
    tool(ctx, "atrm", *map(str, jobs))
