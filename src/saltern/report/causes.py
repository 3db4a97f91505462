"""Finds the failed state because of which others could not run."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct, field

from saltern.language.events import Answer
from saltern.language.result import Outcome

NAMED = 10  # the number of names that a reader can take in; the rest is counted


class Blame(Struct, kw_only=True):
    """``causes`` maps the number of each answer that is shown under its cause to the number of the cause;
    ``victims`` maps the number of a cause to the IDs of those answers."""

    causes: dict[int, int] = field(default_factory=dict)
    victims: dict[int, list[str]] = field(default_factory=dict)

    @property
    def hidden(self) -> Collection[int]:
        """Numbers of the answers that are shown under their cause."""
        return self.causes.keys()

    def note(self, answer: Answer) -> str:
        """The sentence under the root cause; empty if it blocked nothing."""
        names = self.victims.get(answer.number)
        if not names:
            return ""
        states = "1 state" if len(names) == 1 else f"{len(names)} states"
        more = " …" if len(names) > NAMED else ""
        return f"also not run because of this: {states} ({', '.join(names[:NAMED])}{more})"


def blocked(answer: Answer) -> bool:
    """True if the state was not run, which counts as a failure."""
    return answer.result.outcome is Outcome.FAILED and not answer.result.ran


def causes(answer: Answer) -> Sequence[str]:
    """The tags that the runtime reports as root causes of a blocked state."""
    named = answer.result.extra.get("root_cause")
    return [str(tag) for tag in named] if isinstance(named, list | tuple) else []


def assign(answers: Sequence[Answer]) -> Blame:
    """Assign every blocked state to the first of its causes that has a block of its own in the report."""
    blame = Blame()
    victims = [answer for answer in answers if blocked(answer)]
    if not victims:
        return blame
    blockers = _blockers(answers)
    for answer in victims:
        cause = _cause(answer, blockers)
        if cause is not None:
            blame.causes[answer.number] = cause.number
            blame.victims.setdefault(cause.number, []).append(answer.chunk.id)
    return blame


def _blockers(answers: Sequence[Answer]) -> dict[tuple[str, str], Answer]:
    """The failed states; for a state that succeeded itself, the first failure among those that it spawned: a
    sub state, or a state of a frame.
    """
    by_number = {answer.number: answer for answer in answers}
    guilty = [answer for answer in answers if _to_blame(answer)]
    blockers = {(one.frame, one.chunk.tag): one for one in guilty if not one.sub}
    for answer in guilty:
        above = by_number.get(answer.under)
        while above is not None:
            blockers.setdefault((above.frame, above.chunk.tag), answer)
            above = by_number.get(above.under)
    return blockers


def _to_blame(answer: Answer) -> bool:
    return answer.result.outcome is Outcome.FAILED and not (blocked(answer) and causes(answer))


def _cause(answer: Answer, blockers: Mapping[tuple[str, str], Answer]) -> Answer | None:
    places = [(answer.frame, tag) for tag in causes(answer)]
    return next((blockers[place] for place in places if place in blockers), None)
