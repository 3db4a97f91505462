"""Events of pyinfra → steps."""

from __future__ import annotations

from saltern.language.result import Outcome, SubResult
from saltern.modules.lib.engines.marked_lines import Event
from saltern.modules.lib.engines.steps import Steps

STATE = "pyinfra"
LONGEST_NAME = 160
MOST_SHOWN = 2000
Key = tuple[str, str]


class Operations:
    """The operations of one run. Nested operations are steps below their parent."""

    def __init__(self, steps: Steps) -> None:
        self._steps = steps
        self._planned: dict[Key, Event] = {}
        self._begun: dict[Key, Event] = {}
        self._inner: dict[Key, list[SubResult]] = {}
        self._lost: set[str] = set()  # hosts that failed
        self.hosts: dict[str, dict[str, int]] = {}
        self.handlers = {
            "plan": self._plan,
            "begin": self._begin,
            "done": self._done,
            "skipped": self._skipped,
            "would": self._would,
            "unreachable": self._unreachable,
        }

    def _plan(self, event: Event) -> None:
        for host in event.get("hosts") or []:
            self._planned[_key({**event, "host": host})] = {**event, "host": host}

    def _begin(self, event: Event) -> None:
        self._begun[_key(event)] = event

    def _done(self, event: Event) -> None:
        key = _key(event)
        self._begun.pop(key, None)
        self._planned.pop(key, None)
        step = _finished_step(event, tuple(self._inner.pop(key, ())))
        if event.get("parent"):
            self._inner.setdefault((str(event["parent"]), key[1]), []).append(step)
        else:
            self._report(event, step)

    def _skipped(self, event: Event) -> None:
        self._planned.pop(_key(event), None)
        self._report(event, _step(event, Outcome.OK, comment="not for this host", ran=False))

    def _would(self, event: Event) -> None:
        if not event.get("changed"):
            self._report(event, _step(event, Outcome.OK, comment="no changes"))
            return
        comment = "would change" + (", if its condition holds then" if event.get("conditional") else "")
        self._report(event, _step(event, Outcome.WOULD_CHANGE, comment=comment, changes=_changes(event)))

    def _unreachable(self, event: Event) -> None:
        named = {**event, "name": "connect", "fun": "connect"}
        self._lost.add(str(event.get("host")))
        self._report(named, _step(named, Outcome.FAILED, comment=f"unreachable: {event.get('error')}"))

    def over(self) -> None:
        """Report the operations that were not finished or not begun when pyinfra ended."""
        lost = set(self._lost)
        for key, event in self._begun.items():
            self._planned.pop(key, None)
            reported = "it had begun when pyinfra ended; how far it got is unknown"
            inner = tuple(self._inner.pop(key, ()))
            self._report(event, _step(event, Outcome.FAILED, comment=reported, sub=inner))
        for event in self._planned.values():
            host = str(event["host"])
            why = f"{host} failed before" if host in lost else "pyinfra ended before"
            self._report(event, _step(event, Outcome.FAILED, comment=f"not reached: {why}", ran=False))
        self._begun, self._planned = {}, {}

    def _report(self, event: Event, step: SubResult) -> None:
        host = str(event.get("host"))
        if step.outcome is Outcome.FAILED and step.ran:
            self._lost.add(host)
        self._steps.add(step)
        word = str(step.data["word"])
        counts = self.hosts.setdefault(host, {})
        counts[word] = counts.get(word, 0) + 1


def _key(event: Event) -> Key:
    return str(event.get("hash")), str(event.get("host"))


def _finished_step(event: Event, inner: tuple[SubResult, ...]) -> SubResult:
    changes = _changes(event) if event.get("changed") else {}
    again = f" (after {event['retries']} retries)" if event.get("retries") else ""
    if event.get("success"):
        if event.get("held"):
            return _step(event, Outcome.OK, comment="its condition does not hold", ran=False)
        comment = ("changed" if changes else "no changes") + again
        return _step(event, Outcome.OK, comment=comment, changes=changes, sub=inner)
    output = str(event.get("stderr") or event.get("stdout") or "").strip()[-MOST_SHOWN:]
    comment = f"failed{again}" + (f"\n{output}" if output else "")
    if event.get("ignored"):
        return _step(event, Outcome.OK, comment=f"failed, but ignored{comment[6:]}", sub=inner)
    return _step(event, Outcome.FAILED, comment=comment, sub=inner)


def _changes(event: Event) -> dict[str, object]:
    return {"commands": event["commands"]} if event.get("commands") else {"changed": True}


def _step(
    event: Event,
    outcome: Outcome,
    *,
    comment: str,
    changes: dict[str, object] | None = None,
    ran: bool = True,
    sub: tuple[SubResult, ...] = (),
) -> SubResult:
    host, name = str(event.get("host")), _name(event)
    known = {key: event[key] for key in ("stdout", "stderr", "commands", "retries") if event.get(key)}
    return SubResult(
        name=f"{host}: {name}",
        id=f"{host}: {name}",
        state=STATE,
        fun=str(event.get("fun") or "operation"),
        outcome=outcome,
        comment=comment,
        changes=changes or {},
        data={"host": host, "operation": name, "word": _word(outcome, changes, ran), **known},
        ran=ran,
        started=float(event.get("start") or 0.0),
        took=float(event.get("took") or 0.0),
        timed="took" in event,
        sub=sub,
    )


def _name(event: Event) -> str:
    """The name of an operation; without one, its arguments distinguish it."""
    name, args = str(event.get("name")), event.get("args") or []
    whole = f"{name} ({', '.join(map(str, args))})" if args else name
    return whole if len(whole) <= LONGEST_NAME else f"{whole[: LONGEST_NAME - 1]}…"


def _word(outcome: Outcome, changes: dict[str, object] | None, ran: bool) -> str:
    words = {
        (Outcome.OK, True): "changed" if changes else "ok",
        (Outcome.OK, False): "skipped",
        (Outcome.FAILED, True): "failed",
        (Outcome.FAILED, False): "not_reached",
    }
    return words.get((outcome, ran), "would_change")
