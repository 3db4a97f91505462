"""``pkg``: packages of the machine's package manager.

``LAZY`` says which submodule has which function; none is imported before it is called.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from saltern.language.nature import Nature
from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.declare import state
from saltern.modules.api.params import call_bound
from saltern.modules.api.refused import Refused

if TYPE_CHECKING:
    from saltern.language.chunk import Chunk
    from saltern.language.events import Answer

NATURE = Nature(installs=True, reloads=True)
LAZY: dict[str, str] = {
    "downloaded": "downloaded",
    "group_installed": "groups",
    "held": "held",
    "installed": "installed",
    "latest": "installed",
    "purged": "removed",
    "removed": "removed",
    "unheld": "held",
    "uptodate": "uptodate",
}
WATCHING = ("installed", "latest", "removed", "purged")


@state
def mod_watch(ctx: Context, /, name: str, *, sfun: str = "installed", **kwargs: object) -> Result:
    """The reaction of a ``pkg`` state to a change in a watched state: it runs again.

    Args:
        name: the package.
        sfun: the function that watches.

    Example:
        ```yaml
        /etc/webserver.conf:
          file.managed:
            - contents: port = 8080

        webserver:
          pkg.installed:
            - watch:
              - file: /etc/webserver.conf
        ```
    """
    if sfun not in WATCHING:
        raise Refused(f"pkg.{sfun} does not work with the watch requisite; {', '.join(WATCHING)} do")
    from importlib import import_module

    found = getattr(import_module(f"{__name__}.{LAZY[sfun]}"), sfun)
    body: Callable[..., Result] = found.body
    return call_bound(body, ctx, name, kwargs)


def mod_aggregate(
    ctx: Context, chunk: Chunk, group: Sequence[Chunk], answered: Mapping[str, Answer]
) -> Chunk:
    """The chunk with the packages of all others that fit in the same transaction."""
    from saltern.modules.states.pkg.aggregate import merge_chunks

    del ctx
    return merge_chunks(chunk, group, answered)
