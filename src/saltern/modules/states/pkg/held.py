"""``pkg.held`` and ``pkg.unheld``."""

from __future__ import annotations

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Changes, Words, bring
from saltern.modules.api.declare import state
from saltern.modules.api.params import Ignored
from saltern.modules.lib.packages.choose import expected_names, pending
from saltern.modules.lib.packages.choose import manager as manager_of
from saltern.modules.lib.packages.desired_packages import read_wanted
from saltern.modules.lib.packages.model import Manager, PackageError
from saltern.modules.lib.packages.versions import fulfils
from saltern.modules.states.pkg.words import join_names


@state
def held(
    ctx: Context,
    /,
    name: str,
    *,
    version: str | None = None,
    pkgs: object = None,
    replace: bool = False,
    **_: Ignored,
) -> Result:
    """Hold packages, so that no upgrade changes them.

    Args:
        name: the package; only a label if ``pkgs`` is given.
        version: hold it only if it is installed in this version.
        pkgs: several packages: names, and ``{name: version}``.
        replace: release all other held packages.

    Example:
        ```yaml
        webserver:
          pkg.held: []
        ```
    """
    manager = manager_of(ctx)
    names = _names(manager, name, pkgs, version)
    now = manager.holds.held_names()
    others = sorted(now - set(names)) if replace else []
    return _change_holds(ctx, manager, names, [one for one in names if one not in now], others)


@state
def unheld(
    ctx: Context,
    /,
    name: str,
    *,
    version: str | None = None,
    pkgs: object = None,
    all: bool = False,
    **_: Ignored,
) -> Result:
    """Release held packages.

    Args:
        name: the package; only a label if ``pkgs`` is given.
        version: release it only if it is installed in this version.
        pkgs: several packages: names, and ``{name: version}``.
        all: release every held package.

    Example:
        ```yaml
        webserver:
          pkg.unheld: []
        ```
    """
    manager = manager_of(ctx)
    now = manager.holds.held_names()
    names = sorted(now) if all else _names(manager, name, pkgs, version)
    return _change_holds(ctx, manager, names, [], [one for one in names if one in now])


def _names(manager: Manager, name: str, pkgs: object, version: str | None) -> list[str]:
    """The packages to change; an installed version other than the named one is an error."""
    wants = read_wanted(name, pkgs, version, plain_name=manager.plain_name)
    if any(one.must for one in wants):
        listing = manager.listing()
        for one in wants:
            current = listing.get(one.name, "")
            if one.must and not fulfils(current, one.must, manager.compare):
                raise PackageError(
                    f"Package {one.name} is not installed as {one.version}, but as {current or 'nothing'}"
                )
    return [one.name for one in wants]


def _change_holds(
    ctx: Context, manager: Manager, names: list[str], hold: list[str], release: list[str]
) -> Result:
    # In test mode an earlier state may have installed the package, or added its repository.
    doubtful = () if pending(ctx) else [one for one in hold if one not in expected_names(ctx)]
    if (hold or release) and (why := manager.holds.why_not(doubtful)):
        raise PackageError(why)

    def differs() -> Changes:
        now = marks()
        return {
            one: {"old": now[one], "new": word}
            for some, word in ((hold, "hold"), (release, "install"))
            for one in some
            if now[one] != word
        }

    def marks() -> dict[str, str]:
        now = manager.holds.held_names()
        return {one: "hold" if one in now else "install" for one in sorted({*names, *release, *hold})}

    def act(_: Changes) -> None:
        if hold:
            manager.holds.hold(hold, on=True)
        if release:
            manager.holds.hold(release, on=False)

    reported = "; ".join(
        f"{word}: {join_names(some)}" for word, some in (("held", hold), ("released", release)) if some
    )
    return bring(
        ctx,
        differs,
        act,
        facts=lambda: {"manager": manager.name, "packages": marks()},
        words=Words(
            "The packages are already in the desired state", f"Would be {reported}", f"Now {reported}"
        ),
    )
