"""The guide "saltern on your Salt fleet": its files are those that Salt and the extension understand."""

from __future__ import annotations

import re

import pytest
import yaml
from jinja2 import Template
from tests.salt_fleet.conftest import EXTENSION, ROOT

from saltern import __version__

PAGE = (ROOT / "docs" / "guides" / "salt-fleet.md").read_text()
MODULES = EXTENSION / "saltext" / "saltern"


def file_in_guide(path: str) -> str:
    """The text of a file that the guide shows."""
    [found] = re.findall(rf"```yaml\n *# {re.escape(path)}\n(.*?)```", PAGE, re.DOTALL)
    return str(found)


def functions(kind: str) -> set[str]:
    """The public functions of the modules of one kind, as users call them."""
    names = re.findall(r"^def ([a-z]\w*)\(", (MODULES / kind / "saltern.py").read_text(), re.MULTILINE)
    return {f"saltern.{name.removesuffix('_')}" for name in names}


def test_the_reaction_is_found_where_the_master_looks_and_calls_what_there_is() -> None:
    [[rule]] = [yaml.safe_load(file_in_guide("/etc/salt/master.d/saltern.conf"))["reactor"]]
    [[path]] = rule.values()
    text = Template(file_in_guide(path)).render(data={"id": "web1"})
    reactions = yaml.safe_load(text)
    called = {next(iter(one)).removeprefix("local.") for one in reactions.values()}
    assert called == {"saltern.chain_continue", "saltern.resume"} <= functions("modules")
    assert all(options == [{"tgt": "web1"}] for one in reactions.values() for options in one.values())


def test_the_state_file_installs_this_version() -> None:
    [state] = yaml.safe_load(file_in_guide("/srv/salt/saltern/init.sls"))["saltern"].items()
    function, arguments = state
    assert function in functions("states")
    assert {"version": __version__} in arguments


@pytest.mark.parametrize("kind", ["modules", "runners"])
def test_every_function_of_the_guide_is_there(kind: str) -> None:
    command = "salt-run" if kind == "runners" else r"salt '?[\w*]+'?"
    named = set(re.findall(rf"(?<![\w-]){command} (saltern\.\w+)", PAGE))
    assert named and named <= functions(kind)
