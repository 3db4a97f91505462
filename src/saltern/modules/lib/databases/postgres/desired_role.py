"""The specification of a role from the arguments of the execution functions."""

from __future__ import annotations

from saltern.modules.lib.databases.postgres.client import check_name
from saltern.modules.lib.databases.postgres.passwords import form_of
from saltern.modules.lib.databases.postgres.role_states import read_groups
from saltern.modules.lib.databases.postgres.roles import DesiredRole


def desired_role(
    name: object,
    *,
    encrypted: object,
    rolepassword: object,
    groups: str | list[str] | None,
    valid_until: object = None,
    connlimit: int | None = None,
    **properties: bool | None,
) -> DesiredRole:
    return DesiredRole(
        name=check_name(name, "the name"),
        properties={key: bool(on) for key, on in properties.items() if on is not None},
        password=str(rolepassword) if rolepassword else None,
        form=form_of(encrypted),
        valid_until=str(valid_until) if valid_until else None,
        connlimit=connlimit,
        groups=tuple(read_groups(groups)),
    )
