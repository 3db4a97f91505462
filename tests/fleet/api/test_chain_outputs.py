"""What actions of chains have printed, as people ask for it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.fleet.api.kit import add_chain_run, add_system, running_api

from saltern.language.diagnostics import OperationError


def test_what_actions_printed_is_listed_and_read(tmp_path: Path) -> None:
    with running_api(tmp_path) as api:
        add_system(api.database, "web1")
        add_chain_run(api.database, "r", "web1")
        runs = api.client().chain_runs
        same = {"system": "web1", "action": "a", "attempt": 1, "stream": "stdout", "size": 6, "cut": False}
        assert list(runs.outputs("r")) == [same]
        assert list(runs.texts("r", "web1")) == [{**same, "text": "hello\n"}]
        assert list(runs.texts("r", "web1", action="a", attempt=1)) == list(runs.texts("r", "web1"))
        assert list(runs.texts("r", "web1", action="b")) == list(runs.texts("r", "web1", attempt=2)) == []
        for asked in (runs.outputs("x"), runs.texts("r", "x"), runs.texts("x", "web1")):
            with pytest.raises(OperationError, match="there is no"):
                list(asked)
