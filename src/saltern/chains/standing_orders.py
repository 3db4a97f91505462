"""The orders of users to cancel or pause a leg while it is driven."""

from __future__ import annotations

from saltern.chains.legs import Legs


class StandingOrders:
    """The current orders for one leg. None of them stops the actions at the end, which are done in any
    case.
    """

    def __init__(self, legs: Legs, name: str) -> None:
        self._legs = legs
        self._name = name

    def cancel_reason(self) -> str:
        """Why the leg is to be cancelled; empty if it is not."""
        reason = self._legs.orders.reason(self._name, "cancel")
        return "" if reason and self._in_finalizers() else reason

    def is_cancelled(self) -> bool:
        return bool(self.cancel_reason())

    def is_paused(self) -> bool:
        return bool(self._legs.orders.reason(self._name, "pause")) and not self._in_finalizers()

    def _in_finalizers(self) -> bool:
        """True if the running segment has only actions for the end."""
        state = self._legs.load(self._name).state
        last = {action.id for action in state.plan.finalizers}
        return state.segment is not None and last.issuperset(state.segment.actions)
