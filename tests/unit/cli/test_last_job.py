"""``saltern job last``: the newest job of the person who asks."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from saltern.cli.job import _job_number
from saltern.language.diagnostics import OperationError

JOBS = [("3", "reactor"), ("2", "anna"), ("1", "anna")]


def client_of(name: str) -> Any:
    def listed(user: str = "") -> Iterator[dict[str, str]]:
        return iter([{"jid": jid, "user": by} for jid, by in JOBS if user in ("", by)])

    return SimpleNamespace(me=lambda: {"name": name}, jobs=SimpleNamespace(list=listed))


def test_jobs_of_reactions_and_others_are_not_meant() -> None:
    assert _job_number(client_of("anna"), "last") == "2"
    assert _job_number(client_of("anna"), "3") == "3"


def test_who_has_sent_none_gets_none_of_another() -> None:
    with pytest.raises(OperationError, match="you have not sent a job yet"):
        _job_number(client_of("ben"), "last")
