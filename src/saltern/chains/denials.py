"""Finds the action that the deny list of a machine forbids, by the functions it calls. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from saltern.chains.action_body import Body
from saltern.chains.applied_actions import Transaction
from saltern.chains.document import Action

COMMANDS = ("cmd.run", "cmd.run_all", "cmd.run_stdout", "cmd.shell")
STATES = ("state.apply", "state.sls", "state.highstate")
# States of chains, and the functions that do the same: denying one of them denies all.
SAME: dict[str, tuple[str, ...]] = {
    "cmd.run": COMMANDS,
    "cmd.script": ("cmd.script",),
    "file.managed": ("file.managed",),
    "http.query": ("http.query",),
    "module.run": ("module.run",),
    "pkg.installed": ("pkg.installed", "pkg.install"),
    "pkg.latest": ("pkg.latest", "pkg.install", "pkg.upgrade"),
    "pkg.removed": ("pkg.removed", "pkg.remove"),
    "pkg.purged": ("pkg.purged", "pkg.purge"),
    "pkg.uptodate": ("pkg.uptodate", "pkg.upgrade"),
    "saltern.updated": ("saltern.updated",),
    "service.status": ("service.status",),
    "state.apply": STATES,
    "state.highstate": STATES,
    "system.reboot": ("system.reboot",),
    "system.transaction": ("system.transaction",),
    "test.sleep": ("test.sleep",),
}
RUN_BESIDE = ("unless", "onlyif", "verify", "checks")  # commands that an action runs besides its state


def denied_by(action: Action, patterns: Sequence[str]) -> tuple[str, str]:
    """The function of the action that is denied, and the pattern that denies it; empty if none is."""
    for name in _calls(action):
        for pattern in patterns:
            if fnmatchcase(name, pattern):
                return name, pattern
    return "", ""


def _calls(action: Action) -> Iterable[str]:
    for name in _names(action.body):
        yield from SAME.get(name, (name,))
    if isinstance(action.body, Transaction) and action.body.run is not None:
        yield from COMMANDS
    if any(getattr(action.body, field, None) for field in RUN_BESIDE):
        yield from COMMANDS


def _names(body: Body) -> Iterable[str]:
    """The function of its state, and those that it calls; for a transaction, those within the snapshot."""
    call = body.call(False)
    yield call.function
    if call.function == "module.run":
        yield from (key for key in call.args if "." in key)
    if isinstance(body, Transaction) and (inner := body.inner()) is not None:
        yield from _names(inner)
