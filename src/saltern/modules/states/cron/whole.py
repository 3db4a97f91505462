"""``cron.file``: a file as a whole crontab."""

from __future__ import annotations

from saltern.language.result import Result
from saltern.modules.api import state
from saltern.modules.context import Context
from saltern.modules.machine import Changes, bring
from saltern.modules.states.cron.wording import words_for
from saltern.modules.states.file.answers import guarded
from saltern.modules.tables import crontab


@state
def file(
    ctx: Context,
    /,
    name: str,
    *,
    source_hash: str = "",
    source_hash_name: str | None = None,
    user: str = "root",
    template: str | None = None,
    context: object = None,
    replace: bool = True,
    defaults: object = None,
    backup: str = "",  # noqa: ARG001 - a crontab is no file of ours to keep a copy of
    **_: object,
) -> Result:
    """Make a file the whole crontab of a user.

    Args:
        name: the file: ``salt://``, a path or a web address.
        source_hash, source_hash_name: what the file must hash to, as in ``file.managed``.
        user: whose crontab.
        template: render the file first, with ``jinja`` or another engine.
        context, defaults: values for the template.
        replace: false leaves a crontab alone that is not empty.
        backup: of no effect.

    Example:
        ```yaml
        salt://web/crontab:
          cron.file:
            - user: www-data
            - template: jinja
        ```
    """

    def work() -> Result:
        new = _content(ctx, name, (source_hash, source_hash_name), template, context, defaults)

        def differs() -> Changes:
            old = crontab.read(ctx, user)
            if old == new or (old and not replace):
                return {}
            from saltern.modules.states.file.diffs import unified

            return {"diff": unified(old, new)}

        return bring(
            ctx,
            differs,
            lambda _: crontab.write(ctx, user, new),
            facts=lambda: {"user": user, "lines": len(crontab.read(ctx, user).splitlines())},
            words=words_for(f"The crontab of {user}", "is up to date", "replaced"),
        )

    return guarded(name, work)


def _content(
    ctx: Context,
    source: str,
    hashes: tuple[str, str | None],
    template: str | None,
    context: object,
    defaults: object,
) -> str:
    from saltern.modules.states.file import sources
    from saltern.modules.states.file.content import render_source, template_of

    found = sources.find(ctx, source, sources.Fetch(source_hash=hashes[0], source_hash_name=hashes[1] or ""))
    data = render_source(ctx, source, found, template_of(template, context, defaults))
    text = data.decode("utf-8", "surrogateescape")
    return text if text.endswith("\n") or not text else f"{text}\n"
