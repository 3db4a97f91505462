"""``file.accumulated``: collect texts for a file that a later state writes."""

from __future__ import annotations

from collections.abc import Mapping

from saltern.language.chunk import Chunk
from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import result_of
from saltern.modules.api.declare import state
from saltern.modules.api.params import Ignored
from saltern.modules.api.refused import Refused
from saltern.modules.lib.files.accumulators import collected_for, collected_texts

MAKERS = "file.accumulated.makers"  # {file: {accumulator: [ID, name, ID, …]}}


@state
def accumulated(ctx: Context, /, name: str, *, filename: str, text: object, **_: Ignored) -> Result:
    """Collect texts for a file that a later state of the same run writes.

    A template of that file (``file.managed``) sees them as ``accumulator[name]``, a list;
    ``file.blockreplace`` adds those to its block that name it in ``require_in`` or ``watch_in``.
    This state itself writes nothing, so one of the two is needed.

    Args:
        name: the name of the accumulator.
        filename: the path of the file, exactly as the other state names it.
        text: a text or a mapping, or a list of them; mappings are for templates.

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
    ctx.facts = {"path": filename}
    return _accumulate(ctx, name, filename, text)


def _accumulate(ctx: Context, name: str, filename: str, text: object) -> Result:
    texts = text if isinstance(text, list) else [text]
    if not all(isinstance(item, str | int | float | Mapping) for item in texts):
        raise Refused("text must be a text or a mapping, or a list of them")
    if ctx.chunk is not None and not _wanted_by_a_file(ctx):
        raise Refused(
            f"Orphaned accumulator {name} in {ctx.chunk.sls}:{ctx.chunk.id}; set require_in or watch_in to "
            "the file state that uses it"
        )
    mine = collected_texts(ctx).setdefault(filename, {}).setdefault(name, [])
    for item in texts:
        new = item if isinstance(item, Mapping) else str(item)
        if new not in mine:
            mine.append(new)
    if ctx.chunk is not None:
        makers = collected_texts(ctx, MAKERS).setdefault(filename, {}).setdefault(name, [])
        makers += [ctx.chunk.id, ctx.chunk.name]
    return result_of(
        ctx,
        {},
        f"Accumulator {name} for file {filename} has {len(mine)} texts",
        {"path": filename, "accumulator": name, "texts": list(mine)},
    )


def _wanted_by_a_file(ctx: Context) -> bool:
    assert ctx.chunk is not None
    mine = {ctx.chunk.id, ctx.chunk.name}
    return any(one.state == "file" and not mine.isdisjoint(_required_names(one)) for one in ctx.run.chunks)


def _required_names(chunk: Chunk) -> set[str]:
    """IDs and names of the states that this one names as its requisites."""
    return {ref.value for ref in chunk.requisites if ref.state in ("file", "")}


def required_for(ctx: Context, path: str) -> dict[str, list[object]]:
    """The accumulators of a file that this state requires, or all of them if it requires none."""
    found = collected_for(ctx, path)
    if not found or ctx.chunk is None:
        return found
    makers = collected_texts(ctx, MAKERS).get(path, {})
    required = _required_names(ctx.chunk)
    mine = {name: texts for name, texts in found.items() if not required.isdisjoint(makers.get(name, ()))}
    return mine or found
