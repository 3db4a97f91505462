"""Functions of ``selinux`` for modules of the policy."""

from __future__ import annotations

from collections.abc import Callable

from saltern.modules.api.context import Context
from saltern.modules.api.declare import function
from saltern.modules.api.refused import Refused
from saltern.modules.lib.selinux import policy_modules as modules

ModuleFacts = dict[str, object]


def _module_facts(module: modules.Module) -> ModuleFacts:
    """The module in Salt's form; current semodule has no versions."""
    return {"Enabled": module.enabled, "Version": None}


def _worked(act: Callable[[], object]) -> bool:
    try:
        act()
    except Refused:
        return False
    return True


@function
def list_semod(ctx: Context) -> dict[str, ModuleFacts]:
    """All modules, and whether they are enabled.

    Example:
        ```console
        $ saltern call selinux.list_semod
        ```
    """
    return {name: _module_facts(module) for name, module in modules.read(ctx).items()}


@function
def getsemod(ctx: Context, module: str) -> ModuleFacts:
    """Whether a module is enabled; empty if there is none.

    Args:
        module: the module.

    Example:
        ```console
        $ saltern call selinux.getsemod apache
        ```
    """
    found = modules.read(ctx).get(module)
    return _module_facts(found) if found else {}


@function
def setsemod(ctx: Context, module: str, state: str) -> bool:
    """Enable or disable a module. Returns true on success.

    Args:
        module: the module.
        state: ``enabled`` or ``disabled``.

    Example:
        ```console
        $ saltern call selinux.setsemod zabbix disabled
        ```
    """
    enabled = modules.switched(state, module)
    return _worked(lambda: modules.switch(ctx, module, enabled))


@function
def install_semod(ctx: Context, module_path: str) -> bool:
    """Install a module. Returns true on success.

    Args:
        module_path: its file, as an absolute path or ``salt://``.

    Example:
        ```console
        $ saltern call selinux.install_semod /root/mine.cil
        ```
    """
    return _worked(lambda: modules.install(ctx, modules.source(ctx, module_path)))


@function
def remove_semod(ctx: Context, module: str) -> bool:
    """Remove a module. Returns true on success.

    Args:
        module: the module.

    Example:
        ```console
        $ saltern call selinux.remove_semod mine
        ```
    """
    if module not in modules.read(ctx):
        return False
    return _worked(lambda: modules.remove(ctx, module))
