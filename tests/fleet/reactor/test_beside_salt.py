"""Reaction files as people have them: what saltern would do is what Salt's own reactor would."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from bench.fleet_salt import environment, is_there
from tests.fleet.reactor.files import CASES

from saltern.config.settings import Settings
from saltern.engine.nested_engine import make_session
from saltern.fleet.reactor.render import RenderTask, render_file
from saltern.targeting.salt_types import compound_of

# Runs with Salt's own code: its reactor compiles the files, and what its clients are called with is noted.
SALT = """
import json, sys
import salt.config, salt.runner, salt.utils.reactor as reactor
folder = sys.argv[1]
cases = json.load(open(folder + "/cases.json"))
opts = salt.config.master_config(folder + "/master")
opts["reactor"] = []
found = {}
class Wrap(reactor.ReactWrap):
    def __init__(self, opts):
        self.opts = opts
        self.calls = []
        reactor.ReactWrap.client_cache = {"runner": salt.runner.RunnerClient(opts)}
        self.client_cache = reactor.ReactWrap.client_cache
    def populate_client_cache(self, low):
        self.client_cache.setdefault(low["state"], None)
    def note(self, kind, fun, tgt="", **kw):
        self.calls.append([kind, fun, tgt, kw.get("tgt_type") or "glob", list(kw["arg"]), dict(kw["kwarg"])])
    def local(self, fun, tgt, **kwargs):
        self.note("local", fun, tgt, **kwargs)
    def runner(self, fun, **kwargs):
        self.note("runner", fun, **kwargs)
    def wheel(self, fun, **kwargs):
        self.calls.append(["wheel", fun, "", "glob", list(kwargs["arg"]), dict(kwargs["kwarg"])])
    def caller(self, fun, **kwargs):
        self.note("caller", fun, **kwargs)
made = reactor.Reactor(opts)
for name, (tag, data) in cases.items():
    wrap = Wrap(opts)
    import salt.wheel
    wrap.client_cache["wheel"] = salt.wheel.WheelClient(opts)
    for chunk in made.reactions(tag, data, [folder + "/" + name + ".sls"]):
        wrap.run(chunk)
    found[name] = wrap.calls
json.dump(found, open(folder + "/found.json", "w"))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("reactor")
    for name, case in CASES.items():
        (made / f"{name}.sls").write_text(case.text)
    return made


def ours(folder: Path, name: str) -> list[list[Any]]:
    case = CASES[name]
    session = make_session(Settings(id="c1_master"))
    task = RenderTask(id="c1_master", tag=case.tag, data=case.data)
    made, wrong = render_file(session, str(folder / f"{name}.sls"), "x", task)
    assert not wrong, wrong
    return [[one.kind, one.function, one.target, one.args, one.kwargs] for one in made]


@pytest.mark.parametrize("name", CASES)
def test_a_file_that_people_have_is_followed(folder: Path, name: str) -> None:
    assert bool(ours(folder, name)) is (name != "leave-other-keys")


@pytest.mark.slow
@pytest.mark.skipif(not is_there(), reason="the real Salt is not built here: make salt")
def test_salt_would_do_the_same(folder: Path) -> None:
    (folder / "master").write_text(f"root_dir: {folder}/root\nfile_roots: {{base: [{folder}]}}\n")
    (folder / "cases.json").write_text(json.dumps({name: [one.tag, one.data] for name, one in CASES.items()}))
    command = [sys.executable, "-c", SALT, str(folder)]
    done = subprocess.run(
        command, env=environment(), capture_output=True, text=True, check=False, timeout=240
    )
    assert done.returncode == 0, done.stderr[-3000:]
    salt = json.loads((folder / "found.json").read_text())
    for name in CASES:
        theirs = [
            [kind, fun, compound_of(tgt, how) if tgt else "", args, kwargs]
            for kind, fun, tgt, how, args, kwargs in salt[name]
        ]
        mine = [_as_salt_has_it(one) for one in ours(folder, name)]
        assert mine == [_as_salt_has_it(one) for one in theirs], name


def _as_salt_has_it(call: list[Any]) -> list[Any]:
    """Arguments of runners that are given by name are the same as those that are given in order, and Salt
    adds those that were not given.
    """
    kind, function, target, args, kwargs = call
    if kind not in ("runner", "wheel"):
        return call
    if args:
        names = {"state.orch": ("mods",), "key.accept": ("match",), "key.delete": ("match",)}[function]
        kwargs = {**dict(zip(names, args, strict=False)), **kwargs}
        args = []
    given = {key: value for key, value in kwargs.items() if value and (key, value) != ("saltenv", "base")}
    return [kind, function, target, args, given]
