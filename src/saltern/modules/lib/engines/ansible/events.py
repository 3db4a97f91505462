"""Events of the callback plugin → steps. The table ``OUTCOMES`` maps Ansible's words."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from saltern.language.result import Outcome, SubResult
from saltern.modules.lib.engines.drive import MARK
from saltern.modules.lib.engines.marked_lines import Listener
from saltern.modules.lib.engines.steps import Steps

STATE = "ansible"
Event = dict[str, Any]

# word → outcome, whether it ran
OUTCOMES: dict[str, tuple[Outcome, bool]] = {
    "ok": (Outcome.OK, True),
    "changed": (Outcome.OK, True),
    "failed": (Outcome.FAILED, True),
    "unreachable": (Outcome.FAILED, True),
    "skipped": (Outcome.OK, False),
    "not_reached": (Outcome.FAILED, False),
}
OWN_NAMES = ("ansible.builtin.", "ansible.legacy.")  # prefixes that are left out
# Keys of a result that are about the result, not about what it changed.
NO_CHANGES = frozenset(
    {"changed", "failed", "msg", "start", "end", "delta", "attempts", "retries"}
    | {"item", "ansible_loop_var", "ansible_index_var", "exception", "warnings", "deprecations"}
    | {"skip_reason", "false_condition", "failed_when_result"}
)
MOST_SHOWN = 2000


class Reader(Listener):
    """Reads each line of stderr; the lines of the plugin become steps, all others are Ansible's messages."""

    def __init__(self, steps: Steps) -> None:
        super().__init__({name: partial(handle, self) for name, handle in HANDLERS.items()})
        self._steps = steps
        self._running: dict[tuple[str, str], Event] = {}
        self.hosts: dict[str, object] = {}  # the statistics
        self.errors: list[str] = []

    def read_line(self, line: str) -> None:
        if not line.startswith(MARK.decode()):
            self._own_words(line)
            return
        super().read_line(line)

    def _own_words(self, line: str) -> None:
        """Keep Ansible's last error, which may have several lines: why a playbook cannot be read."""
        if line.startswith(("[ERROR]", "ERROR!")):
            self.errors = [line]
        elif self.errors and len(self.errors) < 30:
            self.errors.append(line)

    def begin(self, event: Event) -> None:
        self._running[_key(event)] = event

    def result(self, event: Event) -> None:
        self._running.pop(_key(event), None)
        self._steps.add(_step(event))

    def not_reached(self, event: Event) -> None:
        comment = f"not reached: {event.get('host')} failed before"
        self._steps.add(_step({**event, "word": "not_reached", "result": {"msg": comment}}))

    def no_hosts(self, event: Event) -> None:
        self._steps.add(_play(event.get("play"), Outcome.OK, "no hosts matched"))

    def stats(self, event: Event) -> None:
        self.hosts = dict(event.get("hosts") or {})
        for name in event.get("plays") or []:
            self._steps.add(_play(name, Outcome.FAILED, "not reached: no hosts are left"))

    def broken_off(self) -> None:
        """Report the tasks that had begun when Ansible ended."""
        for event in self._running.values():
            reported = "it had begun when Ansible ended; how far it got is unknown"
            self._steps.add(_step({**event, "word": "failed", "result": {"msg": reported}}))
        self._running.clear()


HANDLERS = {
    "begin": Reader.begin,
    "result": Reader.result,
    "not_reached": Reader.not_reached,
    "no_hosts": Reader.no_hosts,
    "stats": Reader.stats,
}


def _key(event: Event) -> tuple[str, str]:
    return str(event.get("task")), str(event.get("host"))


def _play(name: object, outcome: Outcome, comment: str) -> SubResult:
    return SubResult(
        name=str(name),
        id=f"play: {name}",
        state=STATE,
        fun="play",
        outcome=outcome,
        comment=comment,
        ran=False,
    )


def _step(event: Event) -> SubResult:
    name, host = str(event.get("name") or event.get("action")), str(event.get("host"))
    fun = short(str(event.get("action")))
    forgiven = next((word for word in ("ignored", "rescued") if event.get(word)), "")
    items = event.get("items") or []
    return _make_step(
        event,
        name=f"{host}: {name}",
        id_=f"{host}: {name}",
        fun=fun,
        check=bool(event.get("check")),
        forgiven=forgiven,
        data={
            "host": host,
            "task": name,
            **{key: event[key] for key in ("play", "path", "action") if event.get(key)},
            **({"handler": True} if event.get("handler") else {}),
        },
        sub=tuple(
            _make_step(
                item,
                name=str(item.get("label")),
                id_=f"{host}: {name} ({item.get('label')})",
                fun=fun,
                check=bool(event.get("check")),
                forgiven=forgiven,
                data={"host": host},
                sub=(),
            )
            for item in items
        ),
    )


def _make_step(
    event: Event,
    *,
    name: str,
    id_: str,
    fun: str,
    check: bool,
    forgiven: str,
    data: dict[str, object],
    sub: tuple[SubResult, ...],
) -> SubResult:
    word = str(event.get("word"))
    outcome, ran = OUTCOMES.get(word, (Outcome.FAILED, True))
    given: Mapping[str, Any] = event.get("result") or {}
    changes = _changes(event, given, looped=bool(sub)) if ran else {}
    comment = _comment(word, given)
    if check and changes and outcome is Outcome.OK:
        outcome, comment = Outcome.WOULD_CHANGE, "would change" if comment == word else comment
    if forgiven and outcome is Outcome.FAILED:
        outcome, comment = Outcome.OK, f"{word}, but {forgiven}: {comment}"
    return SubResult(
        name=name,
        id=id_,
        state=STATE,
        fun=fun,
        outcome=outcome,
        comment=comment,
        changes=changes,
        data={**data, "word": word, "result": _known_values(event, given)},
        warnings=_texts(given.get("warnings")),
        ran=ran,
        started=float(event.get("start") or 0.0),
        took=float(event.get("took") or 0.0),
        timed="took" in event,
        sub=sub,
    )


def short(action: str) -> str:
    """The short name: ``copy`` for ``ansible.builtin.copy``; names of other collections stay unchanged."""
    for start in OWN_NAMES:
        action = action.removeprefix(start)
    return action


def _changes(event: Event, given: Mapping[str, Any], *, looped: bool) -> dict[str, object]:
    """The diff if there is one, else the output of the module. The items of a loop have their own."""
    if not given.get("changed"):
        return {}
    if event.get("diff"):
        return {"diff": str(event["diff"]).rstrip("\n")}
    said = {key: value for key, value in given.items() if key not in NO_CHANGES and value not in ("", [], {})}
    return {"changed": True} if looped or not said else said


def _known_values(event: Event, given: Mapping[str, Any]) -> dict[str, object]:
    facts = {"facts": event["facts"]} if "facts" in event else {}
    return {**given, **facts}


def _comment(word: str, given: Mapping[str, Any]) -> str:
    reported = given.get("censored", given.get("msg", ""))
    if reported in ("", None) and word == "skipped":
        reported = _why_skipped(given)
    if word == "failed":
        output = str(given.get("stderr") or given.get("module_stderr") or given.get("stdout") or "").strip()
        reported = f"{_text(reported)}\n{output[-MOST_SHOWN:]}".strip() if output else reported
    text = _text(reported) or word
    attempts = given.get("attempts")
    return f"{text} (after {attempts} attempts)" if isinstance(attempts, int) and attempts > 1 else text


def _why_skipped(given: Mapping[str, Any]) -> str:
    reason = str(given.get("skip_reason") or given.get("skipped_reason") or "")
    condition = given.get("false_condition")
    return f"{reason}: {condition}" if condition not in (None, "") else reason


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(map(str, value))
    return str(value) if value is not None else ""


def _texts(value: object) -> tuple[str, ...]:
    return tuple(map(_text, value)) if isinstance(value, list) else ()
