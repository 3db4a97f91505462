"""``iptables``: rules, chains and policies of the kernel's packet filter.

``LAZY`` says which submodule has which function; none is imported before it is called.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from saltern.language.chunk import Chunk
    from saltern.language.events import Answer
    from saltern.modules.api.context import Context

LAZY: dict[str, str] = {
    "append": "rules",
    "chain_absent": "chains",
    "chain_present": "chains",
    "delete": "rules",
    "flush": "chains",
    "insert": "rules",
    "set_policy": "chains",
}


def mod_aggregate(
    ctx: Context,  # noqa: ARG001
    chunk: Chunk,
    group: Sequence[Chunk],
    answered: Mapping[str, Answer],
) -> Chunk:
    """Append or insert the rules of several states in one step, so that they are saved once."""
    from saltern.modules.states.iptables.aggregate import enlarge_chunk

    return enlarge_chunk(chunk, group, answered)
