"""The story of delayed rendering: a file makes a machine, and goes on with what is known once joined."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest
from tests.fleet.orchestration.kit import LIMIT, Site, site

MAKE = """\
import os, subprocess, sys
base, socket, name = sys.argv[1:]
from saltern.fleet.client.client import Client
from saltern.system import own_program
folder = os.path.join(base, name)
with Client(socket) as client:
    token = client.tokens.make()
words = ["agent", "join", token, "--directory", folder, "--id", name]
subprocess.run(own_program.command("saltern", words), check=True, stdout=subprocess.DEVNULL)
words = ["agent", "run", "--directory", folder]
quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
agent = subprocess.Popen(own_program.command("saltern", words), start_new_session=True, **quiet)
with open(os.path.join(base, name + ".pid"), "w") as file:
    file.write(str(agent.pid))
print(name, end="")
"""
STORY = """\
{% set name = pillar['name'] %}
make it:
  cmd.run:
    - name: {{ pillar['python'] }} {{ pillar['make'] }} {{ pillar['base'] }} {{ pillar['socket'] }} {{ name }}
    - creates: {{ pillar['base'] }}/{{ name }}.pid
    - delayed_render:
      - block: joined

#!delayed_block joined
salt/minion/{{ pillar['name'] }}/start:
  salt.wait_for_event:
    - id_list:
      - {{ pillar['name'] }}
    - timeout: 120
    - delayed_render:
      - block: set_up
#!end_delayed_block

#!delayed_block set_up
{% set name = prev_ret['changes']['minions_seen'][0] %}
{% set grains = salt['saltutil.runner']('cache.grains', tgt=name)[name] %}
set up {{ grains['id'] }}:
  salt.state:
    - tgt: {{ name }}
    - highstate: true
    - wait: 120
    - pillar:
        place: {{ pillar['base'] }}/{{ name }}.done
        address: {{ grains['ipv4'][0] }}
#!end_delayed_block
"""
FILES = {
    "top.sls": "base:\n  'new*':\n    - set_up\n",
    "set_up.sls": "done:\n  cmd.run:\n    - name: echo {{ pillar['address'] }} >> {{ pillar['place'] }}\n",
    "story.sls": STORY,
}


@pytest.fixture(scope="module")
def here() -> Iterator[Site]:
    with site(("web1",), FILES) as found:
        (found.base / "make.py").write_text(MAKE)
        try:
            yield found
        finally:
            for path in found.base.glob("new*.pid"):
                end_agent(int(path.read_text()))


def end_agent(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def words(here: Site, name: str) -> list[str]:
    given = {"name": name, "python": sys.executable, "make": here.base / "make.py", "base": here.base}
    pillar = "{" + ", ".join(f"{key}: {value}" for key, value in given.items())
    return ["story", "--pillar", f"{pillar}, socket: {here.fleet.socket}}}"]


def test_one_file_and_one_command(here: Site) -> None:
    done = here.run("orchestrate", *words(here, "new1"))
    assert done.returncode == 0, done
    assert "set up new1" in done.stdout
    assert (here.base / "new1.done").read_text().count(".") == 3


def test_killed_and_resumed_in_the_middle(here: Site) -> None:
    """Whatever moment it is killed at, the machine is made once and set up once."""
    chance = random.Random(18)
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    command = here.command("orchestrate", "--jid", "20261116T000000.story", *words(here, "new2"))
    end = time.monotonic() + LIMIT
    for number in range(40):
        process = subprocess.Popen(command, env=here.env, cwd=here.base, **quiet)  # type: ignore[call-overload]
        try:
            if process.wait(chance.uniform(0.5, 2.5) if number < 4 else LIMIT) == 0:
                break
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
        assert time.monotonic() < end
    assert len((here.base / "new2.done").read_text().split()) == 1
