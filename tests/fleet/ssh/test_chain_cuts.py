"""41: the connection of a system without an agent is cut at any point of its leg.

Points are counted in a leg without a cut. Each action leaves a mark, so that one which ran twice is seen.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.fleet.ssh.test_cuts import Budget, CutTransport, Field, points

from saltern.fleet.protocol.codec import Body, unpack_body
from saltern.fleet.ssh.bundle.make import Bundles
from saltern.fleet.ssh.drive import Done, Work
from saltern.fleet.ssh.transport.local import LocalShell

MOST = 60 if os.environ.get("CHAOS_SECONDS") else 3  # points of each kind
ACTIONS = ("A1", "A2", "A3")


class LegField(Field):
    """A host whose job is an order about its leg."""

    def __init__(self, directory: Path, bundles: Bundles) -> None:
        super().__init__(directory, bundles)
        actions = "".join(f"  - {{id: {one}, command: 'echo {one} >> {self.mark}'}}\n" for one in ACTIONS)
        self.text = f"chain: cut\nactions:\n{actions}"

    def work(self, number: int) -> Work:
        usual = super().work(number)
        run = f"20260101T0000{number:08d}Z"
        order = {"run": run, "order": 1, "verb": "run", "step": "", "text": self.text, "pillar": {}}
        task: dict[str, Any] = {
            **usual.task,
            "function": "chain.leg",
            "args": [],
            "kwargs": order,
            "command": "chain",
        }
        return Work(task=task, tree=usual.tree, pillar=usual.pillar, patience=usual.patience)


def leg_of(done: Done) -> dict[str, Any]:
    assert done.status == "returned", done
    body = unpack_body(Body(encoding=done.encoding, size=done.size, parts=(done.body,)))
    assert isinstance(body, dict)
    return body


def check(done: Done, field: LegField, point: object) -> None:
    leg = leg_of(done)
    found = {row["action"]: row["status"] for row in leg["steps"]}
    assert (leg["status"], found) == ("succeeded", dict.fromkeys(ACTIONS, "succeeded")), point
    assert field.mark.read_text().split() == list(ACTIONS), point  # in order, and each once


@pytest.fixture(scope="module")
def field(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LegField]:
    directory = tmp_path_factory.mktemp("cuts")
    yield LegField(directory, Bundles(str(directory / "bundles")))


@pytest.mark.parametrize("kind", ["write", "read"])
def test_41_a_leg_whose_connection_is_cut_at_any_point_is_done_once(field: LegField, kind: str) -> None:
    whole, first = Budget(), 1000 * (1 + (kind == "read"))
    field.mark.unlink(missing_ok=True)
    check(field.run(CutTransport(LocalShell(), whole), first), field, "no cut")
    for point in points(whole.counts[kind], MOST):
        field.mark.unlink(missing_ok=True)
        if kind == "write":
            field.forget_bundle()
        transport = CutTransport(LocalShell(), Budget(kind, point))
        done = field.run(transport, first + point)
        if done.problem == "cut" and transport.opened == 1:
            assert not field.mark.exists(), "it was never let in, and says so"
            done = field.run(CutTransport(LocalShell(), Budget()), first + point)
        check(done, field, point)
