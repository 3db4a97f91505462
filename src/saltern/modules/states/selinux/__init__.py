"""``selinux``: its mode, and local changes to its policy.

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
    "boolean": "booleans",
    "fcontext_policy_absent": "contexts",
    "fcontext_policy_applied": "contexts",
    "fcontext_policy_present": "contexts",
    "mode": "modes",
    "module": "policy_modules",
    "module_install": "policy_modules",
    "module_remove": "policy_modules",
    "port_policy_absent": "ports",
    "port_policy_present": "ports",
}


def mod_aggregate(
    ctx: Context,  # noqa: ARG001
    chunk: Chunk,
    group: Sequence[Chunk],
    answered: Mapping[str, Answer],
) -> Chunk:
    """Set all booleans in one call: each change of the policy takes seconds."""
    from saltern.modules.states.selinux.booleans import enlarge_chunk

    return enlarge_chunk(chunk, group, answered)
