from __future__ import annotations

from pathlib import Path

import pytest

from saltern.compat.installed_salt import InstalledSalt, installed_salt
from saltern.compat.shim.exceptions import CommandExecutionError, SaltException


def test_a_directory_that_is_only_called_salt_is_no_salt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "salt" / "states").mkdir(parents=True)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert installed_salt() == ""


def test_without_a_salt_our_own_exceptions_stand_in() -> None:
    salt = InstalledSalt(lambda: "")
    assert salt.directories("states") == []
    assert salt.defaults == {}
    assert salt.exception("CommandExecutionError") is CommandExecutionError
    assert SaltException in salt.exceptions


def test_a_salt_is_looked_for_once_and_only_when_it_is_needed() -> None:
    asked: list[str] = []

    def find() -> str:
        asked.append("")
        return "/opt/salt"

    salt = InstalledSalt(find)
    assert not asked
    assert salt.directories("states") == ["/opt/salt/states"]
    assert salt.directories("functions") == ["/opt/salt/modules"]
    assert len(asked) == 1
