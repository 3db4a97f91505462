"""The process that renders: when a run has ended, nothing in it leads to its texts and its pillar."""

from __future__ import annotations

import gc
import secrets
from pathlib import Path

import msgspec

from saltern.fleet.render.task import RenderTask, RunOptions, RunRenderers
from saltern.render.remote import Question

FILE = """#!controller|jinja|yaml
a:
  test.nop:
    - delayed_render:
      - block: later
#!delayed_block later
b {{{{ grains.id }}}}:
  test.nop:
    - name: {0}-{1} {{{{ pillar.word }}}}
{2}
#!end_delayed_block
"""
PARTS = secrets.token_hex(6), secrets.token_hex(6)  # apart, so that the test itself holds no whole one


def render(place: Path, runs: RunRenderers, run: str, wrong: str = "") -> bytes:
    """Have a file and its block rendered; what was sent of the block."""
    for name, text in {
        "salt/hidden.sls": FILE.format(*PARTS, wrong),
        "pillar/top.sls": "base: {'*': [own]}\n",
        "pillar/own.sls": f"word: of-{PARTS[0]}-{PARTS[1]}\n",
    }.items():
        (place / name).parent.mkdir(exist_ok=True)
        (place / name).write_text(text)
    roots = {f"{kind}_roots": {"base": [str(place / name)]} for kind, name in ROOTS}
    options = RunOptions(key=f"{run}facts", id="web1", options={**roots, "cachedir": str(place / "cache")})
    ask = msgspec.msgpack.encode
    question = ask(Question(name="hidden.sls", env="base"))
    runs.answer(RenderTask(key=options.key, run=options, question=question, name="n1"))
    second = RenderTask(key=options.key, question=ask(Question(block="later", scope="n1")), name="n2")
    return runs.answer(second).sent


ROOTS = (("file", "salt"), ("pillar", "pillar"))


def holders() -> int:
    """How many texts with both parts can be reached from any object."""
    gc.collect()
    whole = "-".join(PARTS)
    found = (one for known in gc.get_objects() for one in gc.get_referents(known))
    texts = (one.decode("latin-1") if type(one) is bytes else one for one in found)
    return sum(whole in one for one in texts if type(one) is str and one != whole)


def test_no_text_of_a_run_that_has_ended_can_be_reached(tmp_path: Path) -> None:
    runs = RunRenderers()
    assert "-".join(PARTS).encode() in render(tmp_path, runs, "j1 web1 ")
    render(tmp_path, runs, "j1 web10 ")
    render(tmp_path, runs, "j2 web1 ", wrong="b {{ grains.id }}:\n  test.nop")  # its lines are looked for
    assert holders() > 0
    runs.answer(RenderTask(key="", question=b"", name="", ended=["j1 web1 ", "j2 web1 "]))
    assert list(runs._runs) == ["j1 web10 facts"]
    runs.answer(RenderTask(key="", question=b"", name="", ended=["j1 web10 "]))
    assert holders() == 0
