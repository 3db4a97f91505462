"""``actionchains``: the chunks of an action chain, as ``saltern chain render`` writes them.

``saltern chain run`` does more: it keeps a result for each action. These functions are for trees that are
also used with Salt, and for tools that drive chains themselves.
"""

from __future__ import annotations

import os

from saltern import __version__
from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.params import BadArgument
from saltern.modules.functions.state.access import or_problems, states
from saltern.modules.lib import chain_chunks

USUAL = "/var/lib/saltern"


def _path(ctx: Context) -> str:
    return os.path.join(str(ctx.opts.get("state_dir") or USUAL), chain_chunks.FILE)


def _apply_chunks(ctx: Context) -> chain_chunks.Apply:
    return lambda chunk: or_problems(lambda: states(ctx).apply([f"actionchains.{chunk}"], {}))


@function
def start(ctx: Context, actionchain_id: str, system: str = "") -> object:
    """Run a chain on this machine, from its first chunk.

    Args:
        actionchain_id: the ID of the chain; its chunks are in ``actionchains/`` of a file root.
        system: the name of this machine in the names of the chunks; its ID if not given.

    Example:
        ```console
        $ saltern call actionchains.start 123
        ```
    """
    chunk = chain_chunks.chunk_name(str(actionchain_id), system or str(ctx.opts["id"]), 1)
    try:
        return chain_chunks.begin(_path(ctx), chunk, _apply_chunks(ctx))
    except (chain_chunks.Refused, OSError) as problem:
        raise BadArgument(str(problem)) from None


@function(name="next")
def next_(ctx: Context, chunk: str, after: str = "") -> bool:
    """Store the name of the next chunk. It is on disk when this returns.

    Args:
        chunk: its name.
        after: ``reboot``, if it must not begin before the machine has rebooted.

    Example:
        ```console
        $ saltern call actionchains.next actionchain_123_web1_2 after=reboot
        ```
    """
    try:
        chain_chunks.remember(_path(ctx), str(chunk), str(after))
    except OSError as problem:
        raise BadArgument(str(problem)) from None
    return True


@function
def finish(ctx: Context, chunk: str = "") -> bool:  # noqa: ARG001 - as chunks call it
    """End the chain: nothing is left to resume.

    Args:
        chunk: the name of the last one.

    Example:
        ```console
        $ saltern call actionchains.finish actionchain_123_web1_2
        ```
    """
    chain_chunks.forget(_path(ctx))
    return True


@function
def resume(ctx: Context, force: bool = False) -> object:
    """Resume the chain that waits on this machine, if there is one.

    Args:
        force: repeat a chunk that was interrupted while it ran.

    Example:
        ```console
        $ saltern call actionchains.resume
        ```
    """
    try:
        return chain_chunks.resume_chunk(_path(ctx), _apply_chunks(ctx), force=force)
    except (chain_chunks.Refused, OSError) as problem:
        raise BadArgument(str(problem)) from None


@function
def updated(ctx: Context, version: str) -> bool:  # noqa: ARG001 - the run's own build is asked for
    """True if the running saltern has this version.

    Args:
        version: the version that the chain requires.

    Example:
        ```console
        $ saltern call actionchains.updated 0.1.0
        ```
    """
    return str(version) == __version__
