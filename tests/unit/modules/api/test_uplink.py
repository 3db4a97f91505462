"""The way from a run to its agent."""

from __future__ import annotations

from saltern.config.options import OPTIONS
from saltern.modules.api.uplink import JOB, SOCKET


def test_what_a_worker_leaves_in_the_environment_is_no_option() -> None:
    """A saltern that a state starts would take the pillar and the files of the fleet for its own."""
    assert {SOCKET, JOB}.isdisjoint(f"SALTERN_{name.upper()}" for name in OPTIONS)
