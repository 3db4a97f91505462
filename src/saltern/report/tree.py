"""``--out tree``: JSON with every frame and sub state below the state that spawned it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TextIO, TypeVar

from saltern.language.delayed import Frame
from saltern.language.events import Answer, Report
from saltern.report.salt import keys_of, salt_return, time_of_day, write_data
from saltern.report.verdict import failed

if TYPE_CHECKING:
    from saltern.report.outputs import OutputOptions

Node = dict[str, object]
T = TypeVar("T")


def write(report: Report, out: TextIO, options: OutputOptions) -> None:
    write_data(to_tree(report), out, options)


def to_tree(report: Report) -> Node:
    """The run as nested data. ``states`` are in the order in which they ran."""
    return {
        "jid": report.jid,
        "result": not failed(report),
        "test": report.test,
        "duration": round(report.took * 1000, 3),
        "stopped": report.stopped,
        "states": _Tree(report).below(-1),
        "unused_blocks": [{"name": block.name, "where": str(block.mark)} for block in report.unused],
    }


class _Tree:
    def __init__(self, report: Report) -> None:
        self._keys = keys_of(report.answers)
        self._clock: Callable[[float], str] = time_of_day()
        self._under: Mapping[int, Sequence[Answer]] = _group(report.answers, lambda answer: answer.under)
        self._frames: Mapping[int, Sequence[Frame]] = _group(report.frames, lambda frame: frame.caller)

    def below(self, number: int) -> list[Node]:
        return [self.node(answer) for answer in self._under.get(number, ()) if not answer.frame]

    def node(self, answer: Answer) -> Node:
        frames = [self.frame(frame) for frame in self._frames.get(answer.number, ())]
        inside = {str(frame["path"]) for frame in frames}
        below = self._under.get(answer.number, ())
        others = [one for one in below if one.frame not in inside and not one.sub]
        shaped: Node = {
            "state": answer.chunk.state,
            "fun": answer.chunk.fun,
            **salt_return(answer, self._clock, self._keys.parent(answer)),
            "where": str(answer.chunk.mark()),
        }
        if steps := [self.node(one) for one in below if one.sub]:
            shaped["sub_states"] = steps
        if frames or others:
            shaped["delayed"] = sorted(
                [*frames, *map(self.node, others)],
                key=lambda one: int(str(one.get("first", one.get("__run_num__", 0)))),
            )
        return shaped

    def frame(self, frame: Frame) -> Node:
        states = [one for one in self._under.get(frame.caller, ()) if one.frame == frame.path]
        return {
            "path": frame.path,
            "kind": frame.kind,
            "name": frame.name,
            "where": str(frame.where),
            "jid": frame.jid,
            "parent_jid": frame.parent_jid,
            "first": frame.first,
            "duration": round(frame.took * 1000, 3),
            "states": [self.node(answer) for answer in states],
        }


def _group(items: Sequence[T], key: Callable[[T], int]) -> dict[int, list[T]]:
    groups: dict[int, list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups
