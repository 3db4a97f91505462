"""``ret`` of an orchestration, ``--return`` of a command: systems call the returners that a job names."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.fleet.orchestration.kit import Site, site

FILE_LOG = '''"""Appends each return to a file of the system that it comes from."""

import json


def returner(ret):
    with open(__salt__["pillar.get"]("file_log") + "-" + __grains__["id"], "a") as log:
        log.write(json.dumps(ret) + "\\n")
'''
FILES = {
    "_returners/file_log.py": FILE_LOG,
    "_returners/broken.py": "def returner(ret):\n    raise ValueError('no room')\n",
    "web.sls": "first:\n  test.succeed_with_changes\n",
    "wrong.sls": "disk:\n  test.fail_without_changes:\n    - comment: no disk\n",
    "orch/both.sls": "web servers:\n  salt.state:\n    - tgt: 'web*'\n    - sls: web\n    - ret: file_log\n\n"
    "test.echo:\n  salt.function:\n    - tgt: web2\n    - arg: [hi]\n    - ret: [broken, file_log]\n"
    "    - ret_config: second\n    - ret_kwargs: {host: logs}\n",
    "orch/wrong.sls": "bad:\n  salt.state:\n    - tgt: web1\n    - sls: wrong\n    - ret: broken\n",
}


@pytest.fixture(scope="module")
def here() -> Iterator[Site]:
    with site(("web1", "web2"), FILES) as found:
        top, log = "base:\n  '*':\n    - log\n", f"file_log: {found.base}/log\n"
        found.fleet.write("controller/pillar/top.sls", top)
        found.fleet.write("controller/pillar/log.sls", log)
        yield found


def read(here: Site, system: str) -> list[dict[str, Any]]:
    path = Path(f"{here.base}/log-{system}")
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def test_each_system_hands_its_return_to_them_and_one_that_fails_is_a_warning(here: Site) -> None:
    rows = here.data("orchestrate", "orch.both")["local"].values()
    jids = {one["__id__"]: one["__jid__"] for one in rows if "__jid__" in one}
    for system in ("web1", "web2"):
        [states] = [one for one in read(here, system) if one["jid"] == jids["web servers"]]
        assert (states["id"], states["fun"], states["success"]) == (system, "state.apply", True)
        assert [one["__id__"] for one in states["return"].values()] == ["first"]
    assert [one["return"] for one in read(here, "web2") if one["jid"] == jids["test.echo"]] == ["hi"]
    [echo] = [one for one in read(here, "web2") if one["jid"] == jids["test.echo"]]
    assert (echo["ret_config"], echo["ret_kwargs"]) == ("second", {"host": "logs"})
    assert all(one["result"] for one in rows)
    warnings = [line for one in rows for line in one.get("warnings", [])]
    assert warnings == ["the returner 'broken' failed: ValueError: no room"]


def test_why_states_failed_is_still_said(here: Site) -> None:
    _, found = here.orchestrate("orch.wrong")
    assert "disk" in found["bad"]["comment"]
    assert "returner" not in found["bad"]["comment"]


def test_on_the_command_line(here: Site) -> None:
    before = len(read(here, "web1"))
    done = here.run("call", "test.ping", "--on", "web1", "--return", "file_log,broken")
    assert done.returncode == 0, done.stderr
    assert "web1: the returner 'broken' failed: ValueError: no room" in done.stderr
    assert [one["fun"] for one in read(here, "web1")[before:]] == ["test.ping"]
    settings = ("--return-config", "second", "--return-kwargs", "{host: logs}")
    here.run("call", "test.ping", "--on", "web1", "--return", "file_log", *settings)
    last = read(here, "web1")[-1]
    assert (last["ret_config"], last["ret_kwargs"]) == ("second", {"host": "logs"})
    wrong = here.run("call", "test.ping", "--on", "web1", "--return", "no-name")
    assert "'no-name' is not the name of a returner" in wrong.stderr
