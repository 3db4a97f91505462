"""Runs of Chef: real ones where it is installed, and recorded ones everywhere.

``python -m tests.modules.chef.runs`` records them again, with the Chef of the machine. Those that are here
were recorded with Chef 17.10.168, run from its sources with Ruby 3.1, without InSpec.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.modules.engine import Engine, program

from saltern.language.result import Result
from saltern.modules.lib.engines.marked_lines import INSIDE
from saltern.modules.states import chef

HERE = Path(__file__).parent
# a name of a recording → recipe, further options, whether the recipe has been run before
RUNS: dict[str, tuple[str, tuple[str, ...], bool]] = {
    "first": ("default", (), False),
    "again": ("default", (), True),
    "why-run": ("default", ("--why-run",), False),
    "fails": ("fails", (), False),
    "secret": ("secret", (), False),
    "broken": ("broken", (), False),
}
# Prints what was recorded, and ends with the exit code of then.
PLAYER = """#!/usr/bin/env python3
import json, os, sys
with open(os.environ["RECORDING"], encoding="utf-8") as file:
    run = json.load(file)
sys.stdout.write(run["out"])
sys.stdout.flush()
sys.stderr.write(run["err"])
sys.exit(run["code"])
"""


class Chef(Engine):
    """Calls ``chef.client`` for one of ``RUNS``."""

    def __init__(self, base: Path, place: str | None) -> None:
        super().__init__(base, chef, "client", localmode=True)
        self._real = place is not None
        self._place = place or str(self._player())

    def _player(self) -> Path:
        for name in ("chef-client", "chef-solo"):
            file = self.base / "player" / name
            file.parent.mkdir(exist_ok=True)
            file.write_text(PLAYER)
            file.chmod(0o755)
        return file.parent

    def play(self, name: str, **args: object) -> Result:
        """A real run of the recipe, or what was recorded of it."""
        recipe, _, before = RUNS[name]
        given = {**arguments(self.base, recipe), "bin_dir": self._place, **args}
        if not self._real:
            given["env"] = {"RECORDING": str(HERE / "recorded" / f"{name}.json")}
        elif before:
            self.run("before", test=False, **given)
        return self.run(name, test=name == "why-run", **given)


def arguments(base: Path, recipe: str) -> dict[str, object]:
    target = base / "target"
    target.mkdir(exist_ok=True)
    config = base / "client.rb"
    places = {"cookbook_path": HERE / "cookbooks", "chef_repo_path": base, "file_cache_path": base / "chef"}
    config.write_text("".join(f"{name} '{place}'\n" for name, place in places.items()))
    attributes = {"target": str(target), "run_list": [f"recipe[shop::{recipe}]"]}
    return {"config": str(config), "json_attributes": attributes}


def record(name: str) -> None:
    recipe, options, before = RUNS[name]
    with tempfile.TemporaryDirectory() as directory:
        base = Path(directory)
        given = arguments(base, recipe)
        config, attributes = base / "client.rb", base / "attributes.json"
        attributes.write_text(json.dumps(given["json_attributes"]))
        with config.open("a") as file:
            file.write(f"require '{INSIDE}/saltern_chef.rb'\nevent_handlers << SalternChef.new\n")
        argv = [
            program("chef-client"),
            "-z",
            "--no-color",
            f"--config={config}",
            f"--json-attributes={attributes}",
        ]
        for more in ((), options) if before else (options,):
            done = subprocess.run([*map(str, argv), *more], capture_output=True, text=True, check=False)
        run = {"code": done.returncode, "out": clean(done.stdout, base), "err": clean(done.stderr, base)}
    (HERE / "recorded" / f"{name}.json").write_text(json.dumps(run, indent=1) + "\n")


def clean(text: str, base: Path) -> str:
    """Without what is only so on the machine that recorded it."""
    text = text.replace(str(base), "/srv/chef").replace(str(HERE), "/srv/chef")
    text = re.sub(r"(program_name|executable)=.*", r"\1=/usr/bin/chef-client", text)
    return re.sub(r"\[\d{4}-\d\d-\d\dT[^]]*\]", "[2026-01-01T12:00:00+00:00]", text)


if __name__ == "__main__":
    for one in sys.argv[1:] or RUNS:
        record(one)
