"""``selinux.module`` and others: modules of the policy."""

from __future__ import annotations

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Changes, Words, bring
from saltern.modules.api.declare import state
from saltern.modules.api.refused import Refused
from saltern.modules.lib.selinux import policy_modules as modules

STATES = ("disabled", "enabled")


@state
def module(
    ctx: Context,
    name: str,
    *,
    module_state: object = "Enabled",
    version: str = "any",
    install: bool = False,
    source: str | None = None,
    remove: bool = False,
) -> Result:
    """Make sure that a module of the policy is enabled or disabled, and optionally install it first.

    Args:
        name: the module.
        module_state: ``enabled`` or ``disabled``.
        version: only ``any``: semodule 2.4 and later has no versions of modules.
        install: install it from ``source``.
        source: the file of the module, as an absolute path or ``salt://``.
        remove: remove it instead.

    Example:
        ```yaml
        zabbix:
          selinux.module:
            - module_state: disabled
        ```
    """
    if install and remove:
        raise Refused("a module cannot be installed and removed at the same time")
    if version != "any":
        raise Refused(
            f"{name}: the version of a module can no longer be determined, so it cannot be {version}"
        )
    if remove:
        return _remove(ctx, name)
    enabled = modules.switched(module_state, name)
    path = modules.source(ctx, source or name) if install else ""
    if path and modules.name_of(path) != name:
        raise Refused(
            f"{path} installs the module {modules.name_of(path)}, not {name}; the names must be the same"
        )
    return _settle(ctx, name, path, enabled)


@state
def module_install(ctx: Context, name: str) -> Result:
    """Make sure that the module of a file is installed.

    Args:
        name: the file, as an absolute path or ``salt://``; its name up to the dot is that of the module.

    Example:
        ```yaml
        /root/mine.cil:
          file.managed:
            - contents: (allow httpd_t self (process (signal)))
          selinux.module_install:
            - require:
              - file: /root/mine.cil
        ```
    """
    path = modules.source(ctx, name)
    return _settle(ctx, modules.name_of(path), path, None)


@state
def module_remove(ctx: Context, name: str) -> Result:
    """Make sure that a module is not installed.

    Args:
        name: the module.

    Example:
        ```yaml
        mine:
          selinux.module_remove: []
        ```
    """
    return _remove(ctx, name)


def _settle(ctx: Context, name: str, path: str, enabled: bool | None) -> Result:
    """Install, enable or disable the module; ``enabled`` None does not change that."""

    def differs() -> Changes:
        now = modules.read(ctx).get(name)
        changes: Changes = {}
        if path and not modules.is_installed(ctx, name, path):
            changes[name] = {"old": "installed otherwise" if now else None, "new": "installed"}
        elif now is None:
            raise Refused(f"Module {name} is not available")
        if enabled not in (None, now is None or now.enabled):
            changes["state"] = {"old": STATES[not enabled], "new": STATES[bool(enabled)]}
        return changes

    def act(changes: Changes) -> None:
        if name in changes:
            modules.install(ctx, path)
        if "state" in changes:
            modules.switch(ctx, name, bool(enabled))

    what = f"SELinux module {name}"
    return bring(
        ctx,
        differs,
        act,
        facts=lambda: _facts(ctx, name),
        words=Words(f"{what} is in the desired state", f"{what} would be changed", f"{what} was changed"),
    )


def _remove(ctx: Context, name: str) -> Result:
    what = f"SELinux module {name}"
    return bring(
        ctx,
        lambda: {name: {"old": "installed", "new": None}} if name in modules.read(ctx) else {},
        lambda _: modules.remove(ctx, name),
        facts=lambda: _facts(ctx, name),
        words=Words(f"{what} is absent", f"{what} would be removed", f"{what} was removed"),
    )


def _facts(ctx: Context, name: str) -> Changes:
    now = modules.read(ctx).get(name)
    return {"module": name, "installed": now is not None, "enabled": now is not None and now.enabled}
