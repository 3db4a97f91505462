"""``mount``: file systems that are mounted, now and after a reboot.

``LAZY`` says which submodule has which function; none is imported before it is called.
"""

from __future__ import annotations

from saltern.language.result import Outcome, Result, failed
from saltern.modules.api.context import Context
from saltern.modules.api.declare import state
from saltern.modules.api.params import Unused

LAZY: dict[str, str] = {
    "fstab_absent": "entries",
    "fstab_present": "entries",
    "mounted": "mounted",
    "swap": "swap",
    "unmounted": "mounted",
}


@state
def mod_watch(
    ctx: Context,
    /,
    name: str,
    *,
    sfun: str = "mounted",
    opts: list[str] | None = None,
    config: str = "/etc/fstab",
    user: str | None = None,
    **_: Unused,
) -> Result:
    """The reaction of ``mount.mounted`` to a change in a watched state: it remounts.

    Example:
        ```yaml
        /etc/app.conf:
          file.managed:
            - contents: port = 8080

        /srv/data:
          mount.mounted:
            - device: tmpfs
            - fstype: tmpfs
            - mkmnt: true
            - watch:
              - file: /etc/app.conf
        ```
    """
    if sfun != "mounted":
        return failed(f"mount.{sfun} cannot react to a watch; use mount.mounted")
    from saltern.modules.lib.tables import mounts
    from saltern.modules.states.mount.fstab import facts, options_of, place_of

    outcome, comment = Outcome.WOULD_CHANGE, f"{name} would be remounted"
    if not ctx.test:
        mounts.remount(ctx, place_of(name), options_of(opts), user=user)
        outcome, comment = Outcome.OK, f"{name} was remounted"
    return Result(
        outcome=outcome, comment=comment, changes={"remount": True}, data=facts(ctx, place_of(name), config)
    )
