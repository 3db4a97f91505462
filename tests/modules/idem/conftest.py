from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.modules.engine import Engine, program

from saltern.modules.states import idem

CONF = "CLI_CONFIG = {}\nCONFIG = {}\nDYNE = {'states': ['states']}\n"

# Idem brings few states of its own: these are a resource and what a test may need of others.
TRIAL = """
import asyncio
import os

__contracts__ = ["resource"]


async def present(hub, ctx, name: str, path=None, content="", password="", **kwargs):
    old = {"content": open(path).read()} if os.path.exists(path) else None
    new = {"content": content, "password": password} if password else {"content": content}
    same = old is not None and old["content"] == content
    if not same and not ctx.test:
        with open(path, "w") as file:
            file.write(content)
    word = "as it should be" if same else "would be written" if ctx.test else "written"
    old = new if same else old
    return {"name": name, "result": True, "comment": word, "old_state": old, "new_state": new}


async def absent(hub, ctx, name: str, **kwargs):
    return {"name": name, "result": True, "comment": "", "old_state": None, "new_state": None}


async def describe(hub, ctx):
    return {}
"""
PLAIN = """
import asyncio
import os


async def nop(hub, ctx, name, seconds=0, flag="", until="", comment="fine", **kwargs):
    while until and not os.path.exists(until):
        await asyncio.sleep(0.05)
    if flag:
        with open(flag, "w") as file:
            file.write(f"{os.getpid()}\\\\n")
    await asyncio.sleep(seconds)
    return {"name": name, "result": True, "comment": comment, "changes": {}}


def fail(hub, ctx, name, **kwargs):
    return {"name": name, "result": False, "comment": ["no", "way"], "changes": {}}


def burst(hub, ctx, name, **kwargs):
    raise ValueError("burst")


def look(hub, ctx, name, **kwargs):
    with open("/proc/self/cmdline") as file:
        return {"name": name, "result": True, "comment": file.read().replace("\\\\0", " "), "changes": {}}


def much(hub, ctx, name, **kwargs):
    for _ in range(53):
        print("cafe " * 200000)
    os.write(1, b"caf\\\\xe9\\\\n")
    return {"name": name, "result": True, "comment": "cafe " * 1000000 + "\\\\udce9", "changes": {}}
""".replace("\\\\", "\\")


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    found = program("idem")
    if found is None:
        pytest.skip("needs Idem: make engines")
    states = tmp_path / "plugin" / "saltern_trial" / "states"
    states.mkdir(parents=True)
    (states.parent / "conf.py").write_text(CONF)
    (states / "trial.py").write_text(TRIAL)
    (states / "plain.py").write_text(PLAIN)
    return Engine(
        tmp_path,
        idem,
        "state",
        bin_dir=os.path.dirname(found),
        env={"PYTHONPATH": str(tmp_path / "plugin")},
        root_dir=str(tmp_path / "root"),
        cache_dir=str(tmp_path / "cache"),
    )
