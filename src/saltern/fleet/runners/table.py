"""The tables of runners and of wheel functions, and how one is called."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module

from saltern.fleet.client.client import Client
from saltern.fleet.runners.ports import Around, Local, runner_problem
from saltern.language.diagnostics import Diagnostic, OperationError, did_you_mean

Runner = Callable[..., object]
# The module that has the runners of a name; each has a table RUNNERS of its functions.
RUNNERS: dict[str, str] = {
    "cache": "cache",
    "error": "small",
    "event": "small",
    "fileserver": "files",
    "jobs": "jobs",
    "manage": "manage",
    "mine": "cache",
    "pillar": "pillar",
    "reactor": "reactor",
    "salt": "remote",
    "saltutil": "files",
    "state": "states",
    "test": "small",
}
WHEEL: dict[str, str] = {"key": "keys", "minions": "keys", "error": "small"}


def run_runner(
    name: str,
    args: Sequence[object],
    kwargs: Mapping[str, object],
    ask: Client,
    *,
    jid: str = "",
    token: str = "",
    local: Local | None = None,
) -> object:
    """What a runner answers. ``ask`` is a client of the controller, ``jid`` the job that the runner belongs
    to, ``local`` the process. Raises ``OperationError``."""
    around = Around(ask=ask, jid=jid, token=token, local=local)
    own = local.runner(name) if local is not None else None
    found = own or _find(RUNNERS, name)
    if found is None:
        raise _unknown("runner", RUNNERS, name)
    return _call(name, found, () if own else (around,), args, kwargs)


def run_wheel(name: str, args: Sequence[object], kwargs: Mapping[str, object], ask: Client) -> object:
    """What a wheel function answers. Raises ``OperationError``."""
    found = _find(WHEEL, name)
    if found is None:
        raise _unknown("wheel function", WHEEL, name)
    return _call(name, found, (Around(ask=ask),), args, kwargs)


def names(table: Mapping[str, str] = RUNNERS) -> list[str]:
    """All of a table."""
    return sorted(name for key in table for name in _functions(table, key))


def unknown_name(kind: str, name: str) -> str:
    """Why a name in a built-in module is not a runner or wheel function; empty for all that may be one."""
    table = {"runner": RUNNERS, "wheel": WHEEL}[kind]
    if name in names(table) or (kind == "runner" and name.partition(".")[0] not in table):
        return ""
    problem = _unknown("runner" if kind == "runner" else "wheel function", table, name).diagnostics[0]
    return f"{problem.what}; {problem.fix}"


def about(name: str, table: Mapping[str, str] = RUNNERS) -> str:
    """The first line of its documentation."""
    found = _find(table, name)
    return (inspect.getdoc(found) or "").partition("\n")[0] if found else ""


def _find(table: Mapping[str, str], name: str) -> Runner | None:
    return _functions(table, name.partition(".")[0]).get(name)


def _functions(table: Mapping[str, str], key: str) -> Mapping[str, Runner]:
    if key not in table:
        return {}
    module = import_module(f"saltern.fleet.runners.{table[key]}")
    functions: Mapping[str, Runner] = module.RUNNERS
    return {name: one for name, one in functions.items() if name.partition(".")[0] == key}


def _call(
    name: str,
    function: Runner,
    first: Sequence[object],
    args: Sequence[object],
    kwargs: Mapping[str, object],
) -> object:
    """Call it; unknown arguments are an error before anything is done."""
    given = {str(key): value for key, value in kwargs.items() if not str(key).startswith("__")}
    try:
        inspect.signature(function).bind(*first, *args, **given)
    except TypeError as problem:
        raise runner_problem(f"{name} cannot be called: {problem}") from None
    return function(*first, *args, **given)


def _unknown(kind: str, table: Mapping[str, str], name: str) -> OperationError:
    what = f"no {kind} is called {name!r}"
    fix = did_you_mean(name, names(table)) or "`saltern runner --list` lists them"
    return OperationError(Diagnostic(code="runner-unknown", what=what, fix=fix))
