"""Which failed state is to blame for those that could not run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from saltern.language.events import Answer
from saltern.language.result import Outcome

NAMED = 10  # as many as a reader takes in; the count tells the rest


class Blame(Struct, kw_only=True):
    """``hidden`` are numbers of answers told under their cause; ``victims`` their IDs, by its number."""

    hidden: set[int] = field(default_factory=set)
    victims: dict[int, list[str]] = field(default_factory=dict)

    def note(self, answer: Answer) -> str:
        """The sentence under the root cause; empty when nothing waited for it."""
        names = self.victims.get(answer.number)
        if not names:
            return ""
        states = "1 state" if len(names) == 1 else f"{len(names)} states"
        more = " …" if len(names) > NAMED else ""
        return f"also not run because of this: {states} ({', '.join(names[:NAMED])}{more})"


def blocked(answer: Answer) -> bool:
    """Not run, and that is a failure."""
    return answer.result.outcome is Outcome.FAILED and not answer.result.ran


def causes(answer: Answer) -> Sequence[str]:
    """The tags the runtime names as root cause of a blocked state."""
    named = answer.result.extra.get("root_cause")
    return [str(tag) for tag in named] if isinstance(named, list | tuple) else []


def assign(answers: Sequence[Answer]) -> Blame:
    """Every blocked state under the first of its causes that is in the report and has its own block."""
    blame = Blame()
    victims = [answer for answer in answers if blocked(answer)]
    if not victims:
        return blame
    blockers = {(answer.frame, answer.chunk.tag): answer for answer in answers if _to_blame(answer)}
    for answer in victims:
        cause = _cause(answer, blockers)
        if cause is not None:
            blame.hidden.add(answer.number)
            blame.victims.setdefault(cause.number, []).append(answer.chunk.id)
    return blame


def _to_blame(answer: Answer) -> bool:
    return answer.result.outcome is Outcome.FAILED and not (blocked(answer) and causes(answer))


def _cause(answer: Answer, blockers: Mapping[tuple[str, str], Answer]) -> Answer | None:
    places = [(answer.frame, tag) for tag in causes(answer)]
    return next((blockers[place] for place in places if place in blockers), None)
