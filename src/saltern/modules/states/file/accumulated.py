"""``file.accumulated``: collect texts for a file that a later state writes."""

from __future__ import annotations

from saltern.language.result import Result
from saltern.modules.api import state
from saltern.modules.context import Context
from saltern.modules.params import Ignored
from saltern.modules.states.file.answers import Refusal, guarded, unchanged

KEY = "file.accumulated"  # in the run's context: {file: {accumulator: [text, …]}}

Collected = dict[str, dict[str, list[str]]]


@state
def accumulated(ctx: Context, /, name: str, *, filename: str, text: str | list[str], **_: Ignored) -> Result:
    """Collect texts for a file written later in the same run.

    A template of that file (``file.managed``) sees them as ``accumulator[name]``, a list;
    ``file.blockreplace`` puts them into its block. Nothing is written by this state itself, so
    say ``require_in`` or ``watch_in`` to make the other one come later.

    Args:
        name: the name of the accumulator.
        filename: the path of the file, exactly as the other state names it.
        text: a text, or a list of them.

    Example:
        ```yaml
        allowed addresses:
          file.accumulated:
            - filename: /etc/app.conf
            - text: allow 10.0.0.7
            - require_in:
              - file: /etc/app.conf

        /etc/app.conf:
          file.blockreplace:
            - marker_start: '# addresses'
            - marker_end: '# end of addresses'
            - append_if_not_found: true
        ```
    """
    return guarded(filename, lambda: _accumulated(ctx, name, filename, text))


def _accumulated(ctx: Context, name: str, filename: str, text: object) -> Result:
    texts = text if isinstance(text, list) else [text]
    if not all(isinstance(item, str | int | float) for item in texts):
        raise Refusal("text must be a text or a list of texts")
    mine = collected(ctx).setdefault(filename, {}).setdefault(name, [])
    mine.extend(new for item in texts if (new := str(item)) not in mine)
    return unchanged(
        f"Accumulator {name} for file {filename} has {len(mine)} texts",
        {"path": filename, "accumulator": name, "texts": list(mine)},
    )


def collected(ctx: Context) -> Collected:
    found = ctx.run.context.setdefault(KEY, {})
    assert isinstance(found, dict)
    return found


def collected_for(ctx: Context, path: str) -> dict[str, list[str]]:
    """The accumulators of one file. Costs nothing where there are none."""
    return collected(ctx).get(path, {}) if KEY in ctx.run.context else {}
