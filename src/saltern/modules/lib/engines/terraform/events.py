"""Terraform's machine-readable output (``-json``) → steps."""

from __future__ import annotations

from collections import deque
from typing import Any

from saltern.language.result import Outcome, SubResult
from saltern.modules.lib.engines.drive import TAIL
from saltern.modules.lib.engines.entries import moment
from saltern.modules.lib.engines.lines import decode_line
from saltern.modules.lib.engines.steps import MOST_SHOWN, Steps
from saltern.modules.lib.engines.terraform.plan import (
    NOTHING,
    PlannedChange,
    TerraformPlan,
    hidden_outputs,
    hide,
)

STATE = "terraform"
WOULD = {
    "create": "would be created",
    "update": "would be changed in place",
    "delete": "would be destroyed",
    "replace": "would be replaced",
    "read": "would be read",
    "forget": "would be forgotten, not destroyed",
}
DONE = {
    "create": "created",
    "update": "changed in place",
    "delete": "destroyed",
    "replace": "replaced",
    "read": "read",
    "forget": "forgotten, not destroyed",
}
Message = dict[str, Any]


class Stream:
    """Reads each line. ``errors`` and ``warnings`` are Terraform's diagnostics."""

    def __init__(self) -> None:
        self.heard = False
        self.errors: list[str] = []
        self.warnings: list[str] = []
        self.values: dict[str, object] = {}

    def read_line(self, line: str) -> None:
        message = decode_line(line)
        if not isinstance(message, dict):
            return
        self.heard = True
        if message.get("type") == "diagnostic":
            self.diagnostic(message.get("diagnostic") or {})
        else:
            self.message(str(message.get("type")), message)

    def diagnostic(self, found: Message) -> None:
        kept = self.errors if found.get("severity") == "error" else self.warnings
        kept.append(message_text(found))

    def message(self, kind: str, message: Message) -> None:
        """Ignore other messages: the rest of a plan is in its file."""


class Applied(Stream):
    """The application of a plan. A resource is reported when its last action is done."""

    def __init__(self, steps: Steps, plan: TerraformPlan) -> None:
        super().__init__()
        self._steps = steps
        self._plan = plan
        self._left = {
            address: list(one.actions) for address, one in plan.resources.items() if one.actions != NOTHING
        }
        self._began: dict[str, float] = {}
        self._printed: dict[str, deque[str]] = {}
        self._failed: dict[str, float] = {}  # the time; its diagnostic comes later

    def message(self, kind: str, message: Message) -> None:
        hook = message.get("hook") or {}
        address = str((hook.get("resource") or {}).get("addr"))
        now = moment(message.get("@timestamp")) or 0.0
        if kind == "outputs":
            self.values = hidden_outputs(message.get("outputs") or {}, self._plan.secrets)
        elif address not in self._left:
            return
        elif kind == "apply_start":
            self._began.setdefault(address, now)
        elif kind == "provision_progress":
            self._printed.setdefault(address, deque(maxlen=TAIL)).append(str(hook.get("output")))
        elif kind == "apply_errored":
            self._failed[address] = now
        elif kind == "apply_complete":
            self._complete(address, str(hook.get("action")), hook, now)

    def diagnostic(self, found: Message) -> None:
        super().diagnostic(found)
        address = str(found.get("address"))
        if found.get("severity") == "error" and address in self._failed:
            self._report_failed(address, message_text(found))

    def over(self, code: int) -> None:
        """Report the rest when Terraform has ended. Actions without hooks, such as forgetting, are done on
        success.
        """
        for address in list(self._failed):
            self._report_failed(address, "failed")
        for address, left in self._left.items():
            one = self._plan.resources[address]
            if code == 0:
                self._steps.add(step(one, Outcome.OK, DONE.get(one.word, one.word), changes=one.changes))
            elif address in self._began:
                far = "; it was destroyed, and not created again" if "delete" not in left else ""
                lost = "it had begun when Terraform ended; how far it got is unknown"
                self._steps.add(step(one, Outcome.FAILED, lost + (far if one.word == "replace" else "")))
            else:
                self._steps.add(step(one, Outcome.FAILED, "not reached", ran=False))
        self._left = {}

    def _complete(self, address: str, action: str, hook: Message, now: float) -> None:
        left = self._left[address]
        if action in left:
            left.remove(action)
        if left:
            return
        del self._left[address]
        one = self._plan.resources[address]
        made = {str(hook["id_key"]): hook.get("id_value")} if hook.get("id_key") else {}
        began = self._began.get(address, now)
        comment = DONE.get(one.word, one.word)
        changes = {**one.changes, **_id(one, made)}
        self._steps.add(
            step(
                one,
                Outcome.OK,
                comment,
                changes=changes,
                began=began,
                took=max(now - began, 0.0),
                printed=self._lines(address),
            )
        )

    def _report_failed(self, address: str, comment: str) -> None:
        now = self._failed.pop(address)
        left = self._left.pop(address, [])
        one = self._plan.resources[address]
        if one.word == "replace" and "delete" not in left:
            comment += "\nit was destroyed, and not created again"
        began = self._began.get(address, now)
        self._steps.add(
            step(
                one,
                Outcome.FAILED,
                comment,
                began=began,
                took=max(now - began, 0.0),
                printed=self._lines(address),
            )
        )

    def _lines(self, address: str) -> str:
        printed = "\n".join(self._printed.get(address, ()))[-MOST_SHOWN:]
        return str(hide(printed, False, self._plan.secrets))


def _id(one: PlannedChange, made: dict[str, object]) -> dict[str, object]:
    """The ID of a created resource, which is not in the plan."""
    return {
        name: {**old, "new": value}
        for name, value in made.items()
        if isinstance(old := one.changes.get(name), dict)
    }


def step(
    one: PlannedChange,
    outcome: Outcome,
    comment: str,
    *,
    changes: dict[str, object] | None = None,
    ran: bool = True,
    began: float | None = None,
    took: float = 0.0,
    printed: str = "",
) -> SubResult:
    reason = f" ({one.reason})" if one.reason and outcome is not Outcome.FAILED else ""
    return SubResult(
        name=one.address,
        id=one.address,
        state=STATE,
        fun=one.word if one.actions != NOTHING else one.kind,
        outcome=outcome,
        comment=comment + reason,
        changes=changes or {},
        data={"action": one.word, "type": one.kind, **({"output": printed} if printed else {})},
        ran=ran,
        started=began or 0.0,
        took=max(took, 0.0),
        timed=began is not None,
    )


def message_text(found: Message) -> str:
    """One diagnostic as text, with its file and line."""
    place = found.get("range") or {}
    line = (place.get("start") or {}).get("line")
    where = f"{place['filename']}:{line}: " if place.get("filename") else ""
    detail = str(found.get("detail") or "").strip()
    return f"{where}{found.get('summary')}" + (f"\n{detail}" if detail else "")
