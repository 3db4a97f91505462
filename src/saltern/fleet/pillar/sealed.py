"""What a sealed pillar is bound to, on both sides."""

from __future__ import annotations

from saltern.fleet.protocol.messages import PillarRequest


def purpose_of(request: PillarRequest) -> str:
    """A pillar of one environment is not taken for that of another."""
    return f"pillar {request.environment}"
