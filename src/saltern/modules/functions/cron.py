"""``cron``: read and change crontabs."""

from __future__ import annotations

from saltern.language.nature import Nature
from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.refused import one_line
from saltern.modules.lib.tables import crontab
from saltern.modules.lib.tables.crontab import FIELDS, Crontab, Job

NATURE = Nature(runs_commands=True)
NO_ID = "NO ID SET"  # Salt's word for a job without an identifier


def _table(ctx: Context, user: str) -> Crontab:
    return crontab.parse(crontab.read(ctx, user))


def _as_dict(job: Job) -> dict[str, object]:
    when: dict[str, object] = {"spec": job.special} if job.special else {}
    if not job.special:
        when = dict(zip(FIELDS, job.times, strict=True))
    return {
        **when,
        "cmd": job.command,
        "identifier": job.identifier or NO_ID,
        "comment": job.comment or None,
        "commented": job.commented,
    }


@function
def raw_cron(ctx: Context, user: str) -> str:
    """The crontab of a user as text.

    Example:
        ```console
        $ saltern call cron.raw_cron root
        local:
            # Lines below here are managed by Salt, do not edit
            MAILTO=ada
            # SALT_CRON_IDENTIFIER:backup
            5 4 * * * /usr/local/bin/backup
            @daily /usr/local/bin/reindex
        ```
    """
    return crontab.read(ctx, user)


@function
def list_tab(ctx: Context, user: str) -> dict[str, object]:
    """The crontab of a user: unmanaged lines (``pre``), jobs, and variables.

    Example:
        ```console
        $ saltern call cron.list_tab root
        ```
    """
    table = _table(ctx, user)
    return {
        "pre": list(table.before),
        "crons": [_as_dict(job) for job in table.jobs if not job.special],
        "special": [_as_dict(job) for job in table.jobs if job.special],
        "env": [{"name": name, "value": value} for name, value in table.variables.items()],
    }


@function
def ls(ctx: Context, user: str) -> dict[str, object]:
    """The same as ``cron.list_tab``.

    Example:
        ```console
        $ saltern call cron.ls root
        ```
    """
    return list_tab(ctx, user)


@function
def get_entry(ctx: Context, user: str, identifier: str | None = None, cmd: str | None = None) -> object:
    """A job by its identifier or its command; false if there is none.

    Example:
        ```console
        $ saltern call cron.get_entry root identifier=backup
        local:
            ----------
            cmd:
                /usr/local/bin/backup
            comment:
                None
            commented:
                False
        …
        ```
    """
    found = _table(ctx, user).find(cmd or "", identifier or cmd or "")
    return _as_dict(found) if found else False


def _set(ctx: Context, user: str, job: Job) -> str:
    table = _table(ctx, user)
    have = table.find(job.command, job.identifier)
    if have == job:
        return "present"
    crontab.write(ctx, user, table.with_job(job, have).text())
    return "updated" if have else "new"


@function
def set_job(
    ctx: Context,
    user: str,
    minute: object,
    hour: object,
    daymonth: object,
    month: object,
    dayweek: object,
    cmd: str,
    commented: bool = False,
    comment: str | None = None,
    identifier: str | None = None,
) -> str:
    """Add a job to a crontab, or change it. Returns ``new``, ``updated`` or ``present``.

    Example:
        ```console
        $ saltern call cron.set_job root 30 2 '*' '*' 1 /usr/local/bin/report identifier=report
        local:
            new
        ```
    """
    times = tuple(one_line(str(value), "a time") for value in (minute, hour, daymonth, month, dayweek))
    return _set(ctx, user, _job(cmd, comment, identifier, commented, times=times))


@function
def set_special(
    ctx: Context,
    user: str,
    special: str,
    cmd: str,
    commented: bool = False,
    comment: str | None = None,
    identifier: str | None = None,
) -> str:
    """Add a job with ``@daily`` or the like to a crontab. Returns ``new``, ``updated`` or ``present``.

    Example:
        ```console
        $ saltern call cron.set_special root @daily /usr/local/bin/backup
        local:
            new
        ```
    """
    return _set(ctx, user, _job(cmd, comment, identifier, commented, special=one_line(special, "special")))


def _job(
    cmd: str,
    comment: str | None,
    identifier: str | None,
    commented: bool,
    *,
    times: tuple[str, ...] = ("*",) * 5,
    special: str = "",
) -> Job:
    return Job(
        command=one_line(cmd.strip(), "the command"),
        times=times,
        special=special,
        comment=comment or "",
        identifier=one_line(identifier or "", "identifier"),
        commented=commented,
    )


@function
def rm_job(
    ctx: Context,
    user: str,
    cmd: str,
    minute: object = None,  # noqa: ARG001 - Salt's signature
    hour: object = None,  # noqa: ARG001
    daymonth: object = None,  # noqa: ARG001
    month: object = None,  # noqa: ARG001
    dayweek: object = None,  # noqa: ARG001
    identifier: str | None = None,
) -> str:
    """Remove a job. Returns ``removed`` or ``absent``.

    Example:
        ```console
        $ saltern call cron.rm_job root /usr/local/bin/backup identifier=backup
        local:
            removed
        ```
    """
    table = _table(ctx, user)
    found = table.find(cmd, identifier or cmd)
    if found is None:
        return "absent"
    crontab.write(ctx, user, table.without(found).text())
    return "removed"


@function
def rm(ctx: Context, user: str, cmd: str, identifier: str | None = None) -> str:
    """The same as ``cron.rm_job``.

    Example:
        ```console
        $ saltern call cron.rm root /usr/local/bin/backup identifier=backup
        local:
            removed
        ```
    """
    return rm_job(ctx, user, cmd, identifier=identifier)


@function
def rm_special(
    ctx: Context,
    user: str,
    cmd: str,
    special: str | None = None,  # noqa: ARG001 - Salt's signature
    identifier: str | None = None,
) -> str:
    """Remove a job with ``@daily`` or the like. Returns ``removed`` or ``absent``.

    Example:
        ```console
        $ saltern call cron.rm_special root /usr/local/bin/reindex
        local:
            removed
        ```
    """
    return rm_job(ctx, user, cmd, identifier=identifier)


@function
def set_env(ctx: Context, user: str, name: str, value: str | None = None) -> str:
    """Set a variable in a crontab. Returns ``new``, ``updated`` or ``present``.

    Example:
        ```console
        $ saltern call cron.set_env root MAILTO ada@example.org
        local:
            updated
        ```
    """
    table = _table(ctx, user)
    text = one_line(value or "", "value")
    had = table.variables.get(name)
    if had == text:
        return "present"
    crontab.write(ctx, user, table.with_variable(one_line(name, "name"), text).text())
    return "new" if had is None else "updated"


@function
def rm_env(ctx: Context, user: str, name: str) -> str:
    """Remove a variable from a crontab. Returns ``removed`` or ``absent``.

    Example:
        ```console
        $ saltern call cron.rm_env root MAILTO
        local:
            removed
        ```
    """
    table = _table(ctx, user)
    if name not in table.variables:
        return "absent"
    crontab.write(ctx, user, table.without_variable(name).text())
    return "removed"


@function
def write_cron_file(ctx: Context, user: str, path: str) -> bool:
    """Make a file the whole crontab of a user.

    Example:
        ```console
        $ saltern call cron.write_cron_file ada /srv/salt/web/crontab
        local:
            True
        ```
    """
    crontab.write(ctx, user, ctx.host.read(path) or "")
    return True
