"""``debconf``: answer in advance the questions that packages ask when they are installed."""

from __future__ import annotations

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Changes, Words, bring
from saltern.modules.api.declare import state
from saltern.modules.api.params import Ignored, Variables
from saltern.modules.lib.packages import debconf
from saltern.modules.lib.packages.model import PackageError


@state(name="set")
def set_(ctx: Context, /, name: str, *, data: dict[str, object], **_: Ignored) -> Result:
    """Answer the questions of a package in advance.

    Args:
        name: the package.
        data: its questions, each with ``type`` (string, boolean, select, password …) and ``value``.

    Example:
        ```yaml
        tzdata:
          debconf.set:
            - data:
                tzdata/Areas: {type: select, value: Europe}
                tzdata/Zones/Europe: {type: select, value: Berlin}
        ```
    """
    return _set_answers(ctx, debconf.answers(name, data))


@state
def set_file(
    ctx: Context,
    /,
    name: str,
    *,
    source: str,
    template: str | None = None,
    context: dict[str, object] | None = None,
    defaults: dict[str, object] | None = None,
    **variables: Variables,
) -> Result:
    """Answer questions from a file in the form of ``debconf-get-selections``.

    Args:
        name: only a title.
        source: the file: ``salt://``, or a path.
        template: the engine to render it with, such as ``jinja``.
        context: values for the template.
        defaults: values for the template that ``context`` overrides.
        **variables: with ``template``, further arguments are values for it, too.

    Example:
        ```yaml
        answers for the mail server:
          debconf.set_file:
            - source: salt://mail/answers
        ```
    """
    del name

    from saltern.modules.lib.addresses import on_disk, read

    path = on_disk(ctx, source)
    if path is None:
        raise PackageError(f"the file {source} was not found")
    text = read(path).decode("utf-8", "replace")
    if template:
        values = {**variables, **(defaults or {}), **(context or {})}
        text = ctx.templates.text(text, engine=template, env=ctx.env, path=source, values=values)
    return _set_answers(ctx, debconf.parse(text))


def _set_answers(ctx: Context, answers: list[debconf.DebconfAnswer]) -> Result:
    stale = debconf.stale(ctx, answers)
    names = ", ".join(one.question for one in stale)

    def differs() -> Changes:
        return {one.question: f"New value: {one.shown}" for one in debconf.stale(ctx, answers)}

    return bring(
        ctx,
        differs,
        lambda _: debconf.store(ctx, stale),
        facts=lambda: {"answers": {one.question: one.shown for one in answers}},
        words=Words(
            "All answers are already set", f"Answers would be set: {names}", f"Answers were set: {names}"
        ),
        why=lambda left: f"debconf did not accept: {', '.join(left)}",
    )
