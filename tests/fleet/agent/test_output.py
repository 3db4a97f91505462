"""What workers print, before it leaves the machine."""

from __future__ import annotations

from saltern.fleet.agent.task import known_to_people


def test_directories_of_a_tree_are_called_as_people_know_them() -> None:
    names = {"/a/trees/1/roots/base": "salt://", "/a/trees/1/roots/dev": "/home/joe/dev"}
    text = "at /a/trees/1/roots/base/web.sls:4 and /a/trees/1/roots/dev/x.sls:1"
    assert known_to_people(text, names) == "at salt://web.sls:4 and /home/joe/dev/x.sls:1"
