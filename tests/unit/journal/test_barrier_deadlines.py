"""How long a barrier may take, by the wishes of the state that asks."""

from __future__ import annotations

import pytest

from saltern.journal.barriers import longest

ASKED = {
    "a reboot": ("reboot", {}, 4200.0),
    "a reboot with a notice": ("reboot", {"notice": 60, "start_deadline": 30}, 3690.0),
    "a reboot and checks after it": ("reboot", {"start_deadline": 30, "return_deadline": 120}, 150.0),
    "wishes that are no numbers": ("reboot", {"notice": "soon", "start_deadline": None}, 4200.0),
    "another build": ("update", {"deadline": 20.0}, 20.0),
    "another build, in its usual time": ("update", {}, 60.0),
}


@pytest.mark.parametrize("name", ASKED)
def test_the_time_in_which_the_other_side_is_reached(name: str) -> None:
    kind, ask, seconds = ASKED[name]
    assert longest({"kind": kind, "ask": ask}) == seconds
