"""Real runs of ansible-core, from the environment that ``make engines`` prepares."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from tests import kit
from tests.modules.bench import Bench

from saltern.language.result import Result, SubResult
from saltern.modules.functions import ansible as functions
from saltern.modules.states import ansible as module

PREPARED = Path(__file__).parents[3] / "build" / "engines" / "bin"


def program(name: str = "ansible-playbook") -> str | None:
    """That of the machine, or else the prepared one."""
    return shutil.which(name, path=f"{PREPARED}{os.pathsep}{os.environ.get('PATH', os.defpath)}")


class Plays:
    """Runs playbooks given as text. ``told`` are the steps of the last one, as they came."""

    def __init__(self, base: Path, place: str) -> None:
        self.base = base
        self.place = place
        self.bench = Bench(base, module, functions={"ansible": functions})
        self.told: list[SubResult] = []

    def run(self, text: str, *, test: bool = False, **args: object) -> Result:
        playbook = self.base / "play.yml"
        playbook.write_text(text)
        return self.file(str(playbook), test=test, **args)

    def file(self, name: str, *, test: bool = False, **args: object) -> Result:
        given: dict[str, object] = {
            "inventory": "localhost,",
            "connection": "local",
            "extra_vars": {"ansible_python_interpreter": sys.executable, "scratch": str(self.base)},
            "bin_dir": self.place,
            "env": {
                "ANSIBLE_HOME": str(self.base / "home"),
                "ANSIBLE_REMOTE_TEMP": str(self.base / "remote"),
            },
            **args,
        }
        self.told = []
        chunk = kit.chunk("it", state="ansible", fun="playbooks", name=name, more=given)
        return self.bench.caller.call(chunk, chunk.args, test=test, emit=self.told.append)

    def __getitem__(self, id_: str) -> SubResult:
        return next(step for step in self.told if step.id == id_)
