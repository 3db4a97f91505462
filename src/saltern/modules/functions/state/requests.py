"""``state``: request a run, which is tried in test mode now and applied later by name.

The requests are stored in ``cachedir``, in Salt's file and format.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

import msgspec

from saltern.config.settings import cache_directory
from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.params import BadArgument
from saltern.modules.functions.state.apply import apply_

NAME = "req_state.p"
DEFAULT = "default"

Requests = dict[str, dict[str, object]]


def _path(ctx: Context) -> str:
    return os.path.join(cache_directory(ctx.settings), NAME)


def _read(ctx: Context) -> Requests:
    path = _path(ctx)
    packed = ctx.host.read_bytes(path)
    if packed is None:
        return {}
    try:
        return msgspec.msgpack.decode(packed, type=Requests)
    except msgspec.DecodeError as problem:
        raise BadArgument(f"{path} contains no requests: {problem}; remove it") from None


def _keep(ctx: Context, requests: Requests) -> None:
    """Store the requests in a file that only its owner can read: the arguments may contain secrets."""
    path = _path(ctx)
    if not requests:
        ctx.host.remove(path)
        return
    ctx.host.makedirs(os.path.dirname(path))
    ctx.host.write(path, msgspec.msgpack.encode(requests, enc_hook=str), mode=0o600)


@function
def request(ctx: Context, /, mods: object = None, **options: object) -> object:
    """Request a run: report what it would change, and store it until ``state.run_request`` applies it.

    Args:
        mods: the names of the files; a list, or text with commas; all of the top file if not given.
        options: those of ``state.apply``, and ``name``, the name of the request; ``default`` if not given.

    Example:
        ```console
        $ saltern call state.request web name=evening
        ```
    """
    given = {**options, "test": True}
    tried = apply_(ctx, mods, **given)  # type: ignore[arg-type]
    if not ctx.test:
        kept: dict[str, object] = {"test_run": tried, "mods": mods, "kwargs": given}
        _keep(ctx, {**_read(ctx), str(options.get("name", DEFAULT)): kept})
    return tried


@function
def check_request(ctx: Context, name: str | None = None) -> object:
    """The requested runs: what they would change, and their arguments.

    Args:
        name: only this request.

    Example:
        ```console
        $ saltern call state.check_request
        ```
    """
    requests = _read(ctx)
    if not name:
        return requests
    if name not in requests:
        raise BadArgument(f"no request is called {name!r}; there are: {', '.join(requests) or 'none'}")
    return requests[name]


@function
def clear_request(ctx: Context, name: str | None = None) -> bool:
    """Remove requests without applying them.

    Args:
        name: only this request; False is returned if there are others, but not this one.

    Example:
        ```console
        $ saltern call state.clear_request
        ```
    """
    requests = _read(ctx) if name else {}
    if name and requests and name not in requests:
        return False
    if not ctx.test:
        _keep(ctx, {known: one for known, one in requests.items() if known != name})
    return True


@function
def run_request(ctx: Context, /, name: str = DEFAULT, **options: object) -> object:
    """Apply a requested run, and remove the request. Without such a request nothing happens.

    Args:
        name: the name of the request.
        options: options that override those of the request.

    Example:
        ```console
        $ saltern call state.run_request evening
        ```
    """
    wanted = _read(ctx).get(name)
    if wanted is None:
        return {}
    made = wanted.get("kwargs")
    given = {**(made if isinstance(made, Mapping) else {}), **options}
    done = apply_(ctx, wanted.get("mods"), **{**given, "test": None})
    if not ctx.test:
        _keep(ctx, {known: one for known, one in _read(ctx).items() if known != name})
    return done
