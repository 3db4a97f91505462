"""The table of actions: every row names roles that exist, and says who may."""

from __future__ import annotations

import pytest

from saltern.fleet.access.ports import ACTIONS, ROLES, Principal


@pytest.mark.parametrize("name", ACTIONS)
def test_an_action_is_decided_by_roles_by_rules_or_for_everyone(name: str) -> None:
    row = ACTIONS[name]
    assert set(row.roles) <= set(ROLES)
    assert row.by_rules or row.own or "admin" in row.roles
    assert not (row.by_rules and row.roles)


def test_an_admin_has_every_role() -> None:
    assert all(Principal(name="anna", roles=("admin",)).has(role) for role in ROLES)
    assert not Principal(name="joe", roles=("viewer",)).has("operator")
