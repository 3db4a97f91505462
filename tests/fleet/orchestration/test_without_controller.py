"""An orchestration whose controller is not there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from saltern.fleet.client.problems import Unreachable
from saltern.fleet.remote.calls import RemoteCalls
from saltern.language.diagnostics import Diagnostic


def test_one_that_was_never_there_is_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "deploy.sls").write_text("a:\n  salt.function:\n    - name: test.ping\n    - tgt: '*'\n")
    words = ["orchestrate", "deploy", "--controller", f"{tmp_path}/none.sock", "--file-root", str(tmp_path)]
    ran = subprocess.run(
        [sys.executable, "-m", "saltern", *words],
        env={"HOME": str(tmp_path), "SALTERN_STATE_DIR": f"{tmp_path}/state"},
        capture_output=True, text=True, timeout=200,
    )  # fmt: skip
    assert (ran.returncode, "[controller-unreachable]" in ran.stderr) == (1, True), ran.stderr
    assert not (tmp_path / "state").exists()


def test_one_that_is_away_for_a_while_is_named_once() -> None:
    said: list[str] = []
    tries = iter(range(10))

    class Client:
        def __enter__(self) -> Client:
            if next(tries) < 2:
                raise Unreachable(Diagnostic(code="controller-unreachable", what="nothing listens there"))
            return self

        def __exit__(self, *_problem: object) -> None: ...

    calls = RemoteCalls(Client, "1", waits=said.append)  # type: ignore[arg-type]
    assert calls.ask(lambda _client: 7) == 7
    assert said == ["nothing listens there"]
