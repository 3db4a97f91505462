"""``mount.swap``: use a device or file as swap space."""

from __future__ import annotations

from saltern.language.result import Result
from saltern.modules.api.argv import vector
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Changes, Words, bring
from saltern.modules.api.declare import state
from saltern.modules.api.programs import tool
from saltern.modules.api.refused import Refused, one_line
from saltern.modules.lib.tables import fstab, mounts
from saltern.modules.lib.tables.fstab import USUAL
from saltern.modules.states.mount.fstab import entry_of, keep


@state
def swap(ctx: Context, name: str, *, persist: bool = True, config: str = USUAL) -> Result:
    """Make sure that a device or a file is used as swap space.

    Args:
        name: the device or file, formatted with ``mkswap``.
        persist: keep it in fstab.
        config: the fstab.

    Example:
        ```yaml
        /swapfile:
          mount.swap: []
        ```
    """
    entry = entry_of(one_line(name, "the device"), "none", "swap", ("defaults",), 0, 0)

    def differs() -> Changes:
        on = mounts.real_device(name) in mounts.swaps(ctx)
        known = any(one.device == name and one.fstype == "swap" for one in fstab.read(ctx, config).entries)
        changes: Changes = {} if on else {"new": True}
        return {**changes, **({"persist": "new"} if persist and not known else {})}

    def act(changes: Changes) -> None:
        if "new" in changes:
            tool(ctx, *vector(["swapon"], name))
        if "persist" in changes:
            keep(ctx, entry, "device", config)

    if name.startswith("-"):
        raise Refused(f"{name!r} cannot be used as swap space")
    return bring(
        ctx,
        differs,
        act,
        facts=lambda: {"name": name, **mounts.swaps(ctx).get(mounts.real_device(name), {})},
        words=Words(
            f"Swap {name} is active", f"Swap {name} would be activated", f"Swap {name} was activated"
        ),
    )
