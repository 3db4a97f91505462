"""``cron.present`` and ``cron.absent``: commands that run at certain times."""

from __future__ import annotations

from msgspec.structs import replace

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Changes, bring
from saltern.modules.api.declare import state
from saltern.modules.api.params import Unused
from saltern.modules.api.refused import Refused, one_line
from saltern.modules.lib.tables import crontab
from saltern.modules.lib.tables.crontab import FIELDS, Crontab, Job
from saltern.modules.states.cron.comments import words_for

RANGES = {"minute": (0, 59), "hour": (0, 23), "daymonth": (1, 28), "month": (1, 12), "dayweek": (0, 6)}
SPECIALS = ("@reboot", "@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly")


@state
def present(
    ctx: Context,
    name: str,
    *,
    user: str = "root",
    minute: str = "*",
    hour: str = "*",
    daymonth: str = "*",
    month: str = "*",
    dayweek: str = "*",
    comment: str | None = None,
    commented: bool = False,
    identifier: object = False,
    special: str | None = None,
) -> Result:
    """Make sure that a command is in the crontab of a user.

    Args:
        name: the command.
        user: the user whose crontab is meant.
        minute, hour, daymonth, month, dayweek: when it runs, in crontab syntax; ``random`` chooses a value
            once and keeps it.
        comment: a comment above it.
        commented: keep it in the crontab, but commented out.
        identifier: a name that finds the job again when its command has changed; the command itself if
            not given.
        special: ``@daily``, ``@reboot`` and the like; the five fields are ignored then.

    Example:
        ```yaml
        /usr/local/bin/backup --all:
          cron.present:
            - identifier: backup
            - minute: random
            - hour: 3
        ```
    """
    command = one_line(name.strip(), "the command")
    times = (minute, hour, daymonth, month, dayweek)
    known_as = one_line(str(identifier or command), "identifier")
    if special is not None and special not in SPECIALS:
        raise Refused(f"special cannot be {special!r}; it must be one of {', '.join(SPECIALS)}")
    for field, value in zip(FIELDS, times, strict=True):
        if not value or any(sign.isspace() for sign in value):
            raise Refused(f"{field} cannot be {value!r}")

    def wanted_job(table: Crontab) -> tuple[Job, Job | None]:
        have = table.find(command, known_as)
        job = Job(
            command=command,
            times=_times(ctx, times, have, known_as) if special is None else ("*",) * 5,
            special=special or "",
            comment=(have.comment if have else "") if comment is None else comment.strip(),
            identifier=known_as,
            commented=commented,
        )
        return job, have

    def differs() -> Changes:
        job, have = wanted_job(crontab.parse(crontab.read(ctx, user)))
        return {} if job == have else {user: name}

    def act(_: Changes) -> None:
        table = crontab.parse(crontab.read(ctx, user))
        crontab.write(ctx, user, table.with_job(*wanted_job(table)).text())

    result = bring(
        ctx,
        differs,
        act,
        facts=lambda: _facts(ctx, user, command, known_as),
        words=words_for(f"Cron {name}", "is present", "set"),
    )
    if special is not None and set(times) != {"*"}:
        given = ", ".join(field for field, value in zip(FIELDS, times, strict=True) if value != "*")
        return replace(result, warnings=(*result.warnings, f"special is given, so {given} has no effect"))
    return result


def _times(ctx: Context, times: tuple[str, ...], have: Job | None, seed: str) -> tuple[str, ...]:
    return tuple(
        value if value.lower() != "random" else _choose_time(ctx, field, have.times[at] if have else "", seed)
        for at, (field, value) in enumerate(zip(FIELDS, times, strict=True))
    )


def _choose_time(ctx: Context, field: str, now: str, seed: str) -> str:
    """A random value, seeded so that a test run predicts the value of the real run."""
    if now.isdigit():
        return now
    import hashlib

    first, last = RANGES[field]
    text = f"{ctx.settings.id} {field} {seed}".encode()
    number = int.from_bytes(hashlib.sha256(text).digest()[:8], "big")
    return str(first + number % (last - first + 1))


def _facts(ctx: Context, user: str, command: str, identifier: str) -> Changes:
    have = crontab.parse(crontab.read_any(ctx, user)).find(command, identifier)
    return {"user": user, "exists": have is not None, **(have.asdict() if have else {"command": command})}


@state(removes=True)
def absent(
    ctx: Context,
    /,
    name: str,
    *,
    user: str = "root",
    identifier: object = False,
    special: str | None = None,
    **_: Unused,
) -> Result:
    """Make sure that a command is not in the crontab of a user.

    Args:
        name: the command.
        user: the user whose crontab is meant; a user that does not exist has none.
        identifier: the name the job was given.
        special: remove it only if it runs at ``@daily`` or the like; the command identifies it then.

    Example:
        ```yaml
        old-backup:
          cron.absent:
            - identifier: backup
        ```
    """
    command = name.strip()
    known_as = str(identifier or command)

    def find(table: Crontab) -> Job | None:
        if special is not None:
            return table.find_special(command, known_as, special)
        return table.find(command, known_as)

    def act(_: Changes) -> None:
        table = crontab.parse(crontab.read(ctx, user))
        while job := find(table):
            table = table.without(job)
        crontab.write(ctx, user, table.text())

    return bring(
        ctx,
        lambda: {user: name} if find(crontab.parse(crontab.read_any(ctx, user))) else {},
        act,
        facts=lambda: _facts(ctx, user, command, known_as),
        words=words_for(f"Cron {name}", "is absent", "removed"),
    )
