"""``pip``: Python packages of the system or of a virtual environment.

``LAZY`` says which submodule has which function; none is imported before it is called.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from saltern.language.nature import Nature

if TYPE_CHECKING:
    from saltern.language.chunk import Chunk
    from saltern.language.events import Answer
    from saltern.modules.api.context import Context

NATURE = Nature(installs=True, reloads=True)
LAZY: dict[str, str] = {"installed": "installed", "removed": "removed", "uptodate": "removed"}


def mod_aggregate(
    ctx: Context,  # noqa: ARG001
    chunk: Chunk,
    group: Sequence[Chunk],
    answered: Mapping[str, Answer],
) -> Chunk:
    """Combine all states that install plain packages in the same way into one call of pip."""
    from saltern.modules.states.pip.aggregate import enlarge_chunk

    return enlarge_chunk(chunk, group, answered)
