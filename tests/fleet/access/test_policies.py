"""Which policy is in force: one source of truth, for all controllers alike."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from tests.fleet.access.test_accounts import NOW, code

from saltern.fleet.access.policies import Policies
from saltern.fleet.access.service import Access
from saltern.fleet.store import audit
from saltern.fleet.store.database import Database
from saltern.fleet.store.policies import policy_versions
from saltern.language.diagnostics import OperationError

ONE = "rules:\n  - {name: one, who: anna, functions: '*'}\n"
TWO = ONE.replace("one", "two")


def rules(policies: Policies) -> list[str]:
    return [rule.name for rule in policies.current().rules]


def test_without_a_policy_only_admins_run_jobs(access: Access) -> None:
    assert access.policies.load_file(NOW) == ()
    assert access.policies.current().rules == ()


def test_a_file_owns_the_policy(access: Access, tmp_path: Path, database: Database) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text(ONE)
    access.policies.load_file(NOW)
    access.policies.load_file(NOW + 1)  # unchanged: no other version
    assert rules(access.policies) == ["one"]
    with pytest.raises(OperationError) as refused:
        access.policies.edit(TWO, who="anna", now=NOW)
    assert code(refused) == "policy-from-file" and str(file) in str(refused.value)
    with database.read() as connection:
        assert [one.version for one in policy_versions(connection)] == [1]
        assert [one.action for one in audit.entries(connection)] == ["policy.write"]


def test_a_file_with_mistakes_leaves_the_policy_as_it_was(access: Access, tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text(ONE)
    access.policies.load_file(NOW)
    file.write_text("rules: [{who: x}]\nrulse: []\n")
    with pytest.raises(OperationError) as refused:
        access.policies.load_file(NOW)
    assert len(refused.value.diagnostics) == 2
    assert all(str(one.where).startswith(f"{file}:") for one in refused.value.diagnostics)
    assert rules(access.policies) == ["one"]


def test_a_file_that_cannot_be_read_is_refused(access: Access, tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").write_bytes(b"\xff\xfe")
    with pytest.raises(OperationError) as refused:
        access.policies.load_file(NOW)
    assert code(refused) == "policy-unreadable"


def test_without_a_file_the_api_owns_the_policy(access: Access) -> None:
    made = access.policies.edit(ONE, who="anna", now=NOW, after=0)
    assert made.version == 1 and rules(access.policies) == ["one"]
    with pytest.raises(OperationError) as refused:
        access.policies.edit(TWO, who="joe", now=NOW, after=0)
    assert code(refused) == "policy-changed"
    with pytest.raises(OperationError):
        access.policies.edit("rules: 7", who="joe", now=NOW)
    assert rules(access.policies) == ["one"]


def test_another_controller_decides_by_the_same_version(access: Access, database: Database) -> None:
    other = Policies(database)
    access.policies.edit(ONE, who="anna", now=NOW)
    assert rules(other) == ["one"]
    access.policies.edit(TWO, who="anna", now=NOW)
    assert rules(other) == ["two"]


def test_a_controller_that_starts_with_an_old_file_does_not_bring_it_back(
    tmp_path: Path, database: Database
) -> None:
    """Each controller publishes its file when it has changed, not when it starts."""
    first, second = tmp_path / "a.yaml", tmp_path / "b.yaml"
    first.write_text(ONE)
    second.write_text(ONE)
    for path, host in ((first, "a"), (second, "b")):
        Policies(database, str(path), host).load_file(NOW)
    first.write_text(TWO)
    Policies(database, str(first), "a").load_file(NOW)
    late = Policies(database, str(second), "b")
    late.load_file(NOW)
    assert rules(late) == ["two"]


def test_edits_at_once_have_one_winner_each(access: Access, database: Database) -> None:
    refused: list[str] = []

    def edit(name: str) -> None:
        try:
            access.policies.edit(ONE.replace("one", name), who=name, now=NOW, after=0)
        except OperationError as problem:
            refused.append(problem.diagnostics[0].code)

    threads = [threading.Thread(target=edit, args=(f"n{number}",)) for number in range(6)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert refused == ["policy-changed"] * 5
