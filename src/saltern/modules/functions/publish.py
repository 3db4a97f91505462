"""``publish``: call functions on other systems of the fleet, or runners on the controller.

What a system may call is configured in ``peer`` and ``peer_run`` of the controller, as in
Salt; without them nothing is allowed. A refused call returns nothing here, and is reported there.
"""

from __future__ import annotations

import logging
import time
from typing import Any

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function

log = logging.getLogger(__name__)

PAUSES = (0.05, 0.1, 0.2, 0.3)  # seconds between two checks for returns
RUNNER_LEAST = 60.0  # seconds for a runner, however small the timeout
NO_FLEET = "No access to master. If using salt-call with --local, please remove."


@function
def publish(
    ctx: Context,
    tgt: object,
    fun: str,
    arg: object = None,
    tgt_type: str = "glob",
    returner: str = "",  # noqa: ARG001 - all returns are in the controller's database
    timeout: object = 5,
    via_master: object = None,  # noqa: ARG001 - controllers are equal
    expr_form: str | None = None,
) -> dict[str, object] | str:
    """Call a function on other systems. Returns the return of each.

    Args:
        tgt: the systems.
        fun: the function; not one of ``publish``.
        arg: its argument, or a list of them; ``KEY=VALUE`` is a keyword.
        tgt_type: how ``tgt`` is read: ``glob``, ``list``, ``grain``, ``pcre``, ``compound`` and others.
        returner: accepted, but has no effect: the controller stores all returns.
        timeout: how many seconds to wait for the returns.
        via_master: accepted, but has no effect: any controller responds.
        expr_form: the old name of ``tgt_type``.

    Example:
        ```console
        $ saltern call publish.publish 'db*' network.ip_addrs
        local:
            ----------
        ```
    """
    found = _returns(ctx, tgt, fun, arg, expr_form or tgt_type, timeout)
    return found if isinstance(found, str) else {name: one["ret"] for name, one in found.items()}


@function
def full_data(
    ctx: Context,
    tgt: object,
    fun: str,
    arg: object = None,
    tgt_type: str = "glob",
    returner: str = "",  # noqa: ARG001 - all returns are in the controller's database
    timeout: object = 5,
    expr_form: str | None = None,
) -> dict[str, Any] | str:
    """Call a function on other systems. Returns the return of each as ``ret``, with its outputter as ``out``.

    Args:
        tgt: the systems.
        fun: the function; not one of ``publish``.
        arg: its argument, or a list of them; ``KEY=VALUE`` is a keyword.
        tgt_type: how ``tgt`` is read: ``glob``, ``list``, ``grain``, ``pcre``, ``compound`` and others.
        returner: accepted, but has no effect: the controller stores all returns.
        timeout: how many seconds to wait for the returns.
        expr_form: the old name of ``tgt_type``.

    Example:
        ```console
        $ saltern call publish.full_data 'db*' test.ping
        local:
            ----------
        ```
    """
    return _returns(ctx, tgt, fun, arg, expr_form or tgt_type, timeout)


@function
def runner(ctx: Context, fun: str, arg: object = None, timeout: object = 5) -> object:
    """Run a runner on the controller. Returns its value.

    Args:
        fun: the runner.
        arg: its argument, or a list of them; ``KEY=VALUE`` is a keyword.
        timeout: how many seconds to wait for its end; at least a minute.

    Example:
        ```console
        $ saltern call publish.runner manage.up
        local:
            No access to master. If using salt-call with --local, please remove.
        ```
    """
    if not ctx.run.agent.is_there:
        return NO_FLEET
    args, kwargs = _words(arg)
    asked = ctx.run.agent.ask("publish", function=fun, args=args, kwargs=kwargs, runner=True)
    if _is_refused(asked):
        return {}
    seconds = max(float(str(timeout)), RUNNER_LEAST)
    found = _wait(ctx, asked, seconds, runner=True) if asked.get("jid") else asked
    return found["returns"].get("return") if found.get("done") else f"'{fun}' runner publish timed out"


def _returns(
    ctx: Context, tgt: object, fun: str, arg: object, tgt_type: str, timeout: object
) -> dict[str, Any] | str:
    """The returns that arrived in time, by system; a text if no controller responds."""
    if not ctx.run.agent.is_there:
        log.warning("publish: this machine is in no fleet; nothing was asked of %s", tgt)
        return {}
    if fun.startswith("publish."):
        log.warning("publish: %s cannot be published", fun)
        return {}
    args, kwargs = _words(arg)
    target, kind = (",".join(map(str, tgt)), "list") if isinstance(tgt, list) else (str(tgt), tgt_type)
    question = {"function": fun, "args": args, "kwargs": kwargs, "target": target, "matcher": kind}
    asked = ctx.run.agent.ask("publish", **question)
    if _is_refused(asked):
        return {}
    if "away" in asked:
        return f"'{fun}' publish timed out"
    found: dict[str, Any] = _wait(ctx, asked, float(str(timeout)))["returns"]
    return found


def _words(arg: object) -> tuple[list[object], dict[str, object]]:
    """The arguments of the call: one, a list of them, or the text of a list."""
    from saltern.render.call_words import read_word, read_words

    given = read_word(arg) if isinstance(arg, str) else arg
    if given is None or given == "":
        return [], {}
    return read_words(given if isinstance(given, list) else [given])


def _is_refused(asked: dict[str, Any]) -> bool:
    if why := asked.get("refused"):
        log.warning("publish: the controller refuses %s", why)
    return bool(asked.get("refused"))


def _wait(ctx: Context, asked: dict[str, Any], seconds: float, *, runner: bool = False) -> dict[str, Any]:
    """Poll until all have returned, or the time is over. Returns what has arrived by then."""
    until, found, tries = time.monotonic() + seconds, asked, 0
    while not found.get("done") and time.monotonic() < until:
        time.sleep(min(PAUSES[min(tries, len(PAUSES) - 1)], max(0.0, until - time.monotonic())))
        tries += 1
        answer = ctx.run.agent.ask("publish", of=asked["jid"], runner=runner)
        found = found if "away" in answer else answer
    return found
