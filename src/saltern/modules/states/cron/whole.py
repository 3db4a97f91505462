"""``cron.file``: a file as the whole crontab of a user."""

from __future__ import annotations

from typing import TYPE_CHECKING

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Changes, bring
from saltern.modules.api.declare import state
from saltern.modules.api.params import Variables
from saltern.modules.lib.tables import crontab
from saltern.modules.states.cron.comments import words_for

if TYPE_CHECKING:
    from saltern.modules.lib.files.content import Template


@state(name_is="source")
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
    **variables: Variables,
) -> Result:
    """Make a file the whole crontab of a user.

    Args:
        name: the file: ``salt://``, a path or a web address.
        source_hash, source_hash_name: the checksum of the file, as in ``file.managed``.
        user: the user whose crontab is meant.
        template: render the file first, with ``jinja`` or another engine.
        context, defaults: values for the template.
        **variables: with ``template``, further arguments are values for it, too.
        replace: false keeps a crontab that is not empty.

    Example:
        ```yaml
        salt://web/crontab:
          cron.file:
            - user: www-data
            - template: jinja
        ```
    """
    from saltern.modules.lib.files.content import template_of

    ctx.facts = {"path": name}
    how = template_of(template, context, defaults, variables=variables)
    new = _content(ctx, name, (source_hash, source_hash_name), how)

    def differs() -> Changes:
        old = crontab.read(ctx, user)
        if old == new or (old and not replace):
            return {}
        from saltern.modules.lib.files.diffs import unified_diff_of

        return {"diff": unified_diff_of(old, new)}

    return bring(
        ctx,
        differs,
        lambda _: crontab.write(ctx, user, new),
        facts=lambda: {"user": user, "lines": len(crontab.read(ctx, user).splitlines())},
        words=words_for(f"The crontab of {user}", "is up to date", "replaced"),
    )


def _content(
    ctx: Context,
    source: str,
    hashes: tuple[str, str | None],
    how: Template,
) -> str:
    from saltern.modules.lib.files import sources
    from saltern.modules.lib.files.content import render_source

    found = sources.find(ctx, source, sources.Fetch(source_hash=hashes[0], source_hash_name=hashes[1] or ""))
    data = render_source(ctx, source, found, how)
    text = data.decode("utf-8", "surrogateescape")
    return text if text.endswith("\n") or not text else f"{text}\n"
