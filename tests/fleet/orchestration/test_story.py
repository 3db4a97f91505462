"""The story of delayed rendering: a file makes a machine, a network and a PID namespace with an agent, and
continues with what is known of it once it has joined.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.fleet.orchestration import new_machine
from tests.fleet.orchestration.kit import LIMIT, Site, site
from tests.fleet.orchestration.new_machine import NewMachine

KILLS = 4
NUMBERS = {"new1": 1, "new2": 2, "chaos": 3}
STORY = """\
{% set make = [pillar['python'], pillar['make'], pillar['base'], pillar['socket'], pillar['name']] %}
make it:
  cmd.run:
    - name: {{ make | join(' ') }} {{ pillar['number'] }}
    - creates: {{ pillar['base'] }}/{{ pillar['name'] }}.pid
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
set up {{ grains['id'] }} at {{ grains['ipv4'] | reject('equalto', '127.0.0.1') | first }}:
  salt.state:
    - tgt: {{ name }}
    - highstate: true
    - wait: 120
    - pillar:
        place: {{ pillar['base'] }}/{{ name }}.done
        address: {{ grains['ipv4'] | reject('equalto', '127.0.0.1') | first }}
#!end_delayed_block
"""
FILES = {
    "top.sls": "base:\n  'new*':\n    - set_up\n",
    # What the machine itself has: its address, and no processes but its own.
    "set_up.sls": "done:\n  cmd.run:\n    - name: (echo {{ pillar['address'] }}; ip -o -4 addr show eth0;"
    " head -c 300 /proc/1/cmdline | tr '\\0' ' ') >> {{ pillar['place'] }}\n",
    "story.sls": STORY,
}
CONFIG = "host: 0.0.0.0\nport: 0\nnames: [{names}]\napi: {{port: 0}}\n"


@pytest.fixture(scope="module")
def here() -> Iterator[Site]:
    if os.geteuid() != 0 or not shutil.which("ip"):
        pytest.skip("network namespaces can only be made by root, with ip")
    names = ["127.0.0.1", *(f"10.214.{number}.1" for number in NUMBERS.values())]
    with site((), FILES, config=CONFIG.format(names=", ".join(names))) as found:
        try:
            yield found
        finally:
            for path in found.base.glob("*.pid"):
                end(int(path.read_text()))
            for name, number in NUMBERS.items():
                NewMachine(found.base, name, number).remove()


def end(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def words(here: Site, name: str) -> list[str]:
    given = {
        "name": name,
        "number": NUMBERS[name],
        "python": sys.executable,
        "make": Path(new_machine.__file__),
        "base": here.base,
        "socket": here.fleet.socket,
    }
    return ["story", "--pillar", "{" + ", ".join(f"{key}: {value}" for key, value in given.items()) + "}"]


def is_done(here: Site, name: str) -> None:
    """The machine was made once, has joined once, and has set itself up once, with its own address."""
    machine = NewMachine(here.base, name, NUMBERS[name])
    assert (here.base / f"{name}.made").read_text().split() == ["machine", "joined"]
    said = (here.base / f"{name}.done").read_text().splitlines()
    assert said[0] == machine.there
    assert f"inet {machine.there}/24" in said[1]
    assert "agent run" in said[2]
    assert len(said) == 3


def test_one_file_and_one_command(here: Site) -> None:
    done = here.run("orchestrate", *words(here, "new1"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "set up new1 at 10.214.1.2" in done.stdout
    is_done(here, "new1")


def test_killed_and_resumed_in_the_middle(here: Site) -> None:
    """Whatever moment it is killed at, the machine is made once and set up once."""
    chance = random.Random(18)
    command = here.command("orchestrate", "--jid", "20261116T000000.story", *words(here, "new2"))
    for _ in range(KILLS):
        process = subprocess.Popen(
            command, env=here.env, cwd=here.base, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            process.wait(chance.uniform(0.5, 4))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
    done = subprocess.run(
        command, env=here.env, cwd=here.base, capture_output=True, text=True, timeout=LIMIT, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    is_done(here, "new2")
