"""A process that has imported everything once, and runs each example in a sandbox forked from itself.

Asked over stdin with the key of an example, it answers with one line of JSON on stdout. It needs root; what
it mounts ends with it.
"""

from __future__ import annotations

import importlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
from tests.large_pages import keep_for_forks
from tests.modules.examples import running, sandbox
from tests.modules.examples.exceptions import ELSEWHERE
from tests.modules.examples.forking import Fork
from tests.modules.examples.reading import Example, examples
from tests.modules.examples.world import LAYERS, SERVERS, layers_for, script_for, server_for

from saltern.modules.api.registry import Registry, schema

ROOT = Path(__file__).parent.parent.parent.parent
NEEDED = (str(ROOT), sys.prefix, sys.base_prefix)
TRIAL = "trial"
USUAL = (
    "functions.test.echo",
    "functions.pillar.get",
    "states.file.managed",
    "functions.docker.networks",
    "functions.x509.read_certificates",
)
"""Examples that import what most of them import."""


class Zygote:
    """The sandboxes of one process; ``scratch`` is an empty directory."""

    def __init__(self, scratch: str) -> None:
        self._scratch = scratch
        self._layers: dict[str, str] = {}
        self._servers: dict[str, Fork] = {}
        self._count = 0
        self._examples = examples()

    def trial(self) -> object:
        """Whether a sandbox can be made at all, and what can be done in it."""
        return self._once([], lambda _: running.mischief())

    def run(self, key: str) -> object:
        layers, problem = self._below(layers_for(key))
        if problem:
            return {"problem": problem}
        if server := server_for(key):
            return self._with_server(server, layers, key)
        return self._once(layers, lambda _: _done(self._examples[key]))

    def learn(self) -> None:
        """Import what the usual examples import: else each example would, in a process of its own."""
        for key in USUAL:
            for name in self._imported_by(self._examples[key]):
                importlib.import_module(name)

    def _imported_by(self, example: Example) -> list[str]:
        layers, _ = self._below(layers_for(example.key))
        names = self._once(layers, lambda _: _imported_by(example))
        return names if isinstance(names, list) else []

    def _below(self, names: tuple[str, ...]) -> tuple[list[str], object]:
        """The layers of these names, the uppermost first; what a script leaves is made once."""
        below: list[str] = []
        for name in names:
            if name not in self._layers:
                problem, self._layers[name] = self._made(LAYERS[name], below)
                if problem:
                    del self._layers[name]
                    return [], f"{name}: {problem}"
            below.insert(0, self._layers[name])
        return below, ""

    def _made(self, script: str, below: list[str]) -> tuple[object, str]:
        with self._fork(below, lambda _: running.prepare(script)) as made:
            return made.ask(), os.path.join(made.place, "upper")

    def _with_server(self, name: str, layers: list[str], key: str) -> object:
        """In the one sandbox where that server runs; examples with it share its disk."""
        if name not in self._servers:
            self._servers[name] = self._fork(
                layers, lambda key: _done(self._examples[key]), lambda: running.prepare(SERVERS[name])
            )
        return self._servers[name].ask(key)

    def _once(self, layers: list[str], job: running.Job) -> object:
        with self._fork(layers, job) as made:
            answer = made.ask()
        shutil.rmtree(made.place, ignore_errors=True)
        return answer

    def _fork(self, layers: list[str], job: running.Job, start: running.Start = str) -> Fork:
        self._count += 1
        place = os.path.join(self._scratch, str(self._count))
        os.mkdir(place)
        return Fork(place, layers, NEEDED, job, start)


def _done(example: Example) -> object:
    running.name_machine()
    script = script_for(example.key)
    if script and (problem := running.prepare(script)):
        return {"problem": problem}
    if example.kind == "states":
        return {"passes": running.state(example.text("yaml"), only_test=bool(elsewhere(example.name)))}
    if text := example.text("jinja"):
        return {"steps": [{**one, "said": example.text("text")} for one in running.template(text)]}
    return {"steps": running.transcript(example.text("console"))}


def _imported_by(example: Example) -> list[str]:
    """The names of the modules in files that an example imports."""
    known = set(sys.modules)
    _done(example)
    return [name for name in sys.modules.keys() - known if _is_in_file(name)]


def _is_in_file(name: str) -> bool:
    spec = getattr(sys.modules[name], "__spec__", None)
    return spec is not None and spec.has_location


def elsewhere(name: str) -> tuple[bool | None, str, str] | None:
    return ELSEWHERE.get(name) or ELSEWHERE.get(name.partition(".")[0])


def _warm() -> None:
    """Import all modules, and read the signatures, before the first fork."""
    registry = Registry()
    for module in registry.names("states"):
        for member in registry.members("states", module):
            if (found := registry.state(module, member)) is not None:
                schema(found)
    for name in ("apply", "call", "docs"):
        __import__(f"saltern.cli.{name}")


def main() -> None:
    scratch = sys.argv[1]
    _warm()
    sandbox.hide(scratch)
    zygote = Zygote(scratch)
    zygote.learn()
    keep_for_forks()
    for line in sys.stdin:
        key = line.strip()
        answer = zygote.trial() if key == TRIAL else zygote.run(key)
        sys.stdout.buffer.write(msgspec.json.encode([key, answer]) + b"\n")
        sys.stdout.buffer.flush()


class Client:
    """The zygote, as the tests ask it."""

    def __init__(self, scratch: Path) -> None:
        command = [sys.executable, "-m", __name__, str(scratch)]
        self._process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def useless(self) -> str:
        """Why no sandbox can be made here; empty if one can."""
        answer = self.ask(TRIAL)
        return (
            f"no throw-away copy of this machine can be made: {answer['problem']}"
            if "problem" in answer
            else ""
        )

    def ask(self, key: str) -> dict[str, object]:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(key.encode() + b"\n")
        self._process.stdin.flush()
        while True:  # a test that was stopped has left its answer behind
            told: tuple[str, dict[str, object]] = msgspec.json.decode(self._process.stdout.readline())
            if told[0] == key:
                return told[1]

    def close(self) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()


if __name__ == "__main__":
    main()
