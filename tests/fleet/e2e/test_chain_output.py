"""What actions print on a real system, without end or no text: the controller has all of it, or its end."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.fleet.faults.kit import FaultFleet, local_fleet, resident, short_directory, wait_until

from saltern.chains.results import MOST_OUTPUT

SIZE = 100 << 20
CHAIN = rf"""
chain: loud
actions:
  - {{id: much, command: "head -c {SIZE - 5} /dev/zero | tr '\\0' x; echo last"}}
  - {{id: binary, command: "printf '\\0\\1\\377 text'; printf '\\0' >&2"}}
  - {{id: latin, command: "printf 'caf\\351 \\303'"}}
"""


@pytest.fixture
def fleet() -> Iterator[FaultFleet]:
    with short_directory() as directory, local_fleet(directory, "web1") as found:
        yield found


def test_38_what_an_action_prints_is_stored_within_bounds_whatever_it_is(fleet: FaultFleet) -> None:
    with fleet.client() as client:
        run = client.chain_runs.start("web1", text=CHAIN)["run"]
        wait_until(lambda: client.chain_runs.get(run)["status"] == "succeeded", "the run does not end", 300)
        texts = {(row["action"], row["stream"]): row for row in client.chain_runs.texts(run, "web1")}
    much = texts["much", "stdout"]
    assert much["cut"] and much["size"] > len(much["text"]), "I10: all of it, or flagged"
    assert much["text"].endswith("xxlast") and len(much["text"]) < 2 * MOST_OUTPUT
    assert texts["binary", "stdout"]["text"] == "\N{REPLACEMENT CHARACTER}\x01\N{REPLACEMENT CHARACTER} text"
    assert texts["latin", "stdout"]["text"] == "caf\N{REPLACEMENT CHARACTER} \N{REPLACEMENT CHARACTER}"
    assert not any(texts[name, "stdout"]["cut"] for name in ("binary", "latin"))
    for name in ("controller", "web1"):
        assert resident(fleet.pid(name)) < 3 * SIZE, "the output is not kept in memory"
