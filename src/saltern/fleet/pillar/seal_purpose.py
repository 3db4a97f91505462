"""What a sealed pillar is bound to, on both sides."""

from __future__ import annotations

from saltern.fleet.protocol.messages import PillarRequest


def purpose_of(request: PillarRequest) -> str:
    """The purpose of a sealed pillar, which includes its environment."""
    return f"pillar {request.environment}"
