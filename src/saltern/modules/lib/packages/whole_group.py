"""Package groups with the groups that they consist of."""

from __future__ import annotations

from msgspec.structs import replace

from saltern.modules.lib.packages.model import Group, Manager, PackageError


def whole(manager: Manager, name: str) -> Group:
    """A group, including the packages of its groups. Raises if there is none."""
    group = manager.groups.find(name)
    if group is None:
        raise PackageError(f"{manager.name} has no group {name!r}")
    parts = [found for one in group.groups if (found := manager.groups.find(one))]
    return replace(
        group,
        mandatory=_together(group.mandatory, *(one.mandatory for one in parts)),
        default=_together(group.default, *(one.default for one in parts)),
        optional=_together(group.optional, *(one.optional for one in parts)),
    )


def _together(*lists: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for some in lists for name in some))
