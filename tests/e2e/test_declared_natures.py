"""A state of the user that declares what it is is treated so: in plans, frames, by what it installs."""

from __future__ import annotations

import pytest
from tests.e2e.command import Place

OWN = """
def _ret(name, **changes):
    return {"name": name, "result": None if __opts__["test"] else True, "changes": changes, "comment": "done"}

def swept(name):
    return _ret(name, swept=name)

def absent(name):
    return _ret(name, swept=name)

def told(name, path, text):
    with open(path, "w") as file:
        file.write(text)
    return _ret(name, told=text)
"""


@pytest.mark.parametrize(
    ("declared", "fun", "sign"),
    [
        ("", "swept", "~"),
        ('__saltern__ = {"swept": {"removes": True}}', "swept", "-"),
        ("", "absent", "-"),
        ('__saltern__ = {"absent": {"removes": False}}', "absent", "~"),
    ],
)
def test_a_plan_shows_what_takes_something_away(place: Place, declared: str, fun: str, sign: str) -> None:
    place.write({"_states/own.py": declared + OWN, "main.sls": f"gone: {{own.{fun}: []}}"})
    shown = place.run("plan", "main").out.splitlines()
    assert [line.split()[0] for line in shown if f"own.{fun}" in line] == [sign]


FRAME = """\
tell:
  own.told:
    - path: {{ pillar['grains'] }}
    - text: "colour: blue"
    - delayed_render: [{block: after}]
#!delayed_block after
see:
  test.nop: [{name: "colour {{ grains.get('colour') }}"}]
#!end_delayed_block
"""


@pytest.mark.parametrize(
    ("declared", "colour"),
    [("", "red"), ('__saltern__ = {"told": {"refreshes": ["grains"]}}', "blue")],
)
def test_what_is_rendered_after_it_sees_what_it_refreshes(place: Place, declared: str, colour: str) -> None:
    place.write({"_states/own.py": declared + OWN, "main.sls": FRAME})
    grains = place.base / "etc" / "grains"
    grains.parent.mkdir(exist_ok=True)
    grains.write_text("colour: red")
    (grains.parent / "saltern.yaml").write_text(f"grains_file: {grains}\n")
    done = place.run("apply", "main", "--pillar", f"{{grains: {grains}}}", "--out", "json")
    assert [one["name"] for one in done.answers().values()][1:] == [f"colour {colour}"], done.err


LATER = """\
bring:
  own.told:
    - path: {{ pillar['module'] }}
    - text: "def made(name): return {'name': name, 'result': True, 'changes': {}, 'comment': 'made'}"
use:
  late.made: [{require: [{own: bring}]}]
"""


@pytest.mark.parametrize(
    ("declared", "result"),
    [("", False), ('__saltern__ = {"*": {"reloads": True}}', True)],
)
def test_a_module_that_it_installs_is_found_by_the_states_after_it(
    place: Place, declared: str, result: bool
) -> None:
    place.write({"_states/own.py": declared + OWN, "main.sls": LATER})
    module = place.states / "_states" / "late.py"
    done = place.run("apply", "main", "--pillar", f"{{module: {module}}}", "--out", "json")
    assert done.answers()["use"]["result"] is result, done.err
