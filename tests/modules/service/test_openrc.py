"""``service`` with OpenRC, played by a fake host with output as ``rc-service`` and ``rc-update`` print it."""

from __future__ import annotations

from pathlib import Path

from tests.modules.bench import Bench, ScriptedHost

from saltern.modules.states import service
from saltern.system.process import Ran


class Rc:
    def __init__(self) -> None:
        self.runs = False
        self.levels = {"sshd": "default"}
        self.host = ScriptedHost(
            {
                "rc-service --exists": lambda argv: Ran(0 if argv[2] == "web" else 1),
                "rc-service web status": lambda _: Ran(0 if self.runs else 3, " * status: told\n"),
                "rc-update show": lambda _: Ran(0, self.table()),
                "rc-update add": self.add,
                "rc-update --all del": self.drop,
                "/bin/sh -c": self.move,
            }
        )

    def table(self) -> str:
        rows = [f"{name:>20} | {levels}" for name, levels in self.levels.items()]
        return "\n".join([*rows, f"{'other':>20} |      "])

    def add(self, argv: list[str]) -> Ran:
        self.levels[argv[2]] = "default"
        return Ran(0)

    def drop(self, argv: list[str]) -> Ran:
        del self.levels[argv[3]]
        return Ran(0)

    def move(self, argv: list[str]) -> Ran:
        self.runs = argv[-1] in ("start", "restart")
        return Ran(0)


def test_a_service_comes_and_goes(tmp_path: Path) -> None:
    rc = Rc()
    bench = Bench(tmp_path, service, host=rc.host, opts={"providers": {"service": "openrc"}})
    assert bench.change("running", "web", enable=True).data["enabled"] is True
    assert bench.react("running", "web").changes == {"web": True}
    bench.change("dead", "web", enable=False)
    assert rc.levels == {"sshd": "default"}
    assert "does not exist" in bench.refusal("running", "none")
    assert "cannot mask" in bench.refusal("masked", "web")
