"""``selinux.boolean``: switches of the policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from saltern.language.chunk import Chunk
from saltern.language.events import Answer
from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Changes, Words, bring
from saltern.modules.api.declare import state
from saltern.modules.api.refused import Refused
from saltern.modules.lib.selinux import booleans as policy


@state
def boolean(
    ctx: Context, name: str, *, value: object = None, booleans: object = None, persist: bool = False
) -> Result:
    """Set booleans of the policy.

    Args:
        name: the boolean; ignored if ``booleans`` is given.
        value: on or off; also for those of ``booleans`` without a value.
        booleans: several: a list of names, or of ``name: value``; or a mapping.
        persist: keep it after a reboot.

    Example:
        ```yaml
        httpd_can_network_connect:
          selinux.boolean:
            - value: true
            - persist: true
        ```
    """
    given = _wanted_values(name, value, booleans)
    wanted = {one: policy.read_switch(switch, one) for one, switch in given.items()}

    known: dict[str, policy.Boolean] = {}  # as last read: reading takes time

    def differs() -> Changes:
        now = policy.read(ctx)
        known.update(now)
        for one in wanted:
            if one not in now:
                raise Refused(f"Boolean {one} is not available")
        seen = {one: (now[one]["State"], now[one]["Default"]) for one in wanted}
        if not persist:
            return {one: _step(seen[one][0], new) for one, new in wanted.items() if seen[one][0] != new}
        return {
            one: _step(list(seen[one]), [new, new]) for one, new in wanted.items() if seen[one] != (new, new)
        }

    what = f"SELinux boolean {', '.join(wanted)}"
    return bring(
        ctx,
        differs,
        lambda changes: policy.change(ctx, {one: wanted[one] for one in changes}, persist=persist),
        facts=lambda: {one: known[one] for one in wanted},
        words=Words(f"{what} is set as specified", f"{what} would be changed", f"{what} was changed"),
    )


def _step(old: object, new: object) -> Changes:
    return {"old": old, "new": new}


def _wanted_values(name: str, value: object, booleans: object) -> dict[str, object]:
    if not booleans:
        return {name: value}
    if isinstance(booleans, Mapping):
        return {str(one): switch for one, switch in booleans.items()}
    if not isinstance(booleans, list):
        raise Refused("booleans needs a list of names, or a mapping of names to values")
    found: dict[str, object] = {}
    for one in booleans:
        found |= (
            {str(key): switch for key, switch in one.items()}
            if isinstance(one, Mapping)
            else {str(one): value}
        )
    return found


def enlarge_chunk(chunk: Chunk, group: Sequence[Chunk], answered: Mapping[str, Answer]) -> Chunk:
    """The chunk with the booleans of all others that have not run yet and have the same ``persist``."""
    if chunk.fun != "boolean":
        return chunk
    wanted: dict[str, object] = {}
    for one in (chunk, *group):
        alike = one.fun == chunk.fun and one.args.get("persist") == chunk.args.get("persist")
        if alike and one.tag not in answered:
            wanted = {**_wanted_values(one.name, one.args.get("value"), one.args.get("booleans")), **wanted}
    return replace(chunk, args={**chunk.args, "booleans": wanted})
