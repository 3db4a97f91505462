"""A callback plugin: reports each result of a playbook as one line of JSON on stderr, as it comes.

It runs inside Ansible, with the user's Python and version of Ansible, beside whatever callback
writes to the terminal. So it imports only Ansible and the standard library, needs no syntax newer
than Python 3.8, and an error in it must not affect the playbook.
"""

from __future__ import annotations

import json
import os
import time

from ansible.plugins.callback import CallbackBase

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

DOCUMENTATION = """
name: saltern_steps
type: notification
short_description: one line of JSON for each result
description:
  - Used by saltern while it runs a playbook. Silent otherwise.
"""

MARK = "\x1e"
WANTED = "SALTERN_ANSIBLE_STEPS"
LONGEST = 16384  # characters of one text; the rest is in the log, if Ansible prints it
MOST = 500  # items of a list or mapping
DEEPEST = 8
# Reported in another way, or twice the same, or too much for every result.
LEFT_OUT = frozenset({"invocation", "stdout_lines", "stderr_lines", "results", "diff", "ansible_facts"})
NO_TASKS = frozenset({"meta", "ansible.builtin.meta", "ansible.legacy.meta", "noop"})


class CallbackModule(CallbackBase):  # type: ignore[misc]
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "notification"
    CALLBACK_NAME = "saltern_steps"
    CALLBACK_NEEDS_ENABLED = False
    CALLBACK_NEEDS_WHITELIST = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # A playbook that a task of this one runs has stderr for itself, and does not report steps.
        self.disabled = os.environ.pop(WANTED, "") != "1"
        self._play: Any = None
        self._plays: list[str] = []
        self._begun: dict[tuple[str, str], float] = {}
        self._items: dict[tuple[str, str], list[dict[str, Any]]] = {}
        self._seen: set[tuple[str, str]] = set()
        self._done: set[str] = set()
        self._lost: dict[str, None] = {}  # hosts that have failed, in order
        self._handlers: set[str] = set()

    # -- the playbook ----------------------------------------------------------------------------------

    def v2_playbook_on_start(self, playbook: Any) -> None:
        self._plays += [str(play.get_name()) for play in playbook.get_plays()]
        self._report("start", version=1)

    def v2_playbook_on_play_start(self, play: Any) -> None:
        self._play_over()
        again = self._play is not None and self._play._uuid == play._uuid  # the next hosts of a `serial`
        name = str(play.get_name())
        if not again and name in self._plays:
            self._plays.remove(name)
        self._play = play

    def v2_playbook_on_no_hosts_matched(self) -> None:
        self._report("no_hosts", play=self._play_name())

    def v2_playbook_on_handler_task_start(self, task: Any) -> None:
        self._handlers.add(task._uuid)

    def v2_playbook_on_stats(self, stats: Any) -> None:
        self._play_over()
        hosts = {host: stats.summarize(host) for host in sorted(stats.processed)}
        self._report("stats", hosts=hosts, plays=self._plays if self._lost else [])

    def _play_over(self) -> None:
        """Report the tasks that failed hosts, of this play or earlier ones, have not reached."""
        if self._play is None or not self._lost:
            return
        try:
            inventory = self._play.get_variable_manager()._inventory
            hosts = {host.get_name() for host in inventory.get_hosts(self._play.hosts)}
            for host in self._lost:
                for task in self._left(host) if host in hosts else ():
                    self._report("not_reached", host=host, **self._names(task))
        except Exception:  # a strategy or a version that keeps its tasks elsewhere
            return

    def _left(self, host: str) -> Iterator[Any]:
        play = self._play
        for task in _tasks(play.compile()):
            known = (task._uuid, host) in self._seen or (task.run_once and task._uuid in self._done)
            if known or task.action in NO_TASKS or getattr(task, "implicit", False):
                continue
            if task.evaluate_tags(play.only_tags, play.skip_tags, all_vars={}):
                self._seen.add((task._uuid, host))
                yield task

    # -- one task on one host --------------------------------------------------------------------------

    def v2_runner_on_start(self, host: Any, task: Any) -> None:
        key = (task._uuid, host.get_name())
        self._begun[key] = time.time()
        self._report("begin", host=key[1], **self._names(task))

    def v2_runner_on_ok(self, result: Any) -> None:
        self._result(result, "changed" if _given(result).get("changed") else "ok")

    def v2_runner_on_skipped(self, result: Any) -> None:
        self._result(result, "skipped")

    def v2_runner_on_failed(self, result: Any, ignore_errors: bool = False) -> None:
        self._result(
            result,
            "failed",
            ignored=bool(ignore_errors),
            rescued=not ignore_errors and _rescued(_task(result)),
        )

    def v2_runner_on_unreachable(self, result: Any) -> None:
        self._result(result, "unreachable", ignored=bool(getattr(_task(result), "ignore_unreachable", False)))

    def v2_runner_item_on_ok(self, result: Any) -> None:
        self._item(result, "changed" if _given(result).get("changed") else "ok")

    def v2_runner_item_on_skipped(self, result: Any) -> None:
        self._item(result, "skipped")

    def v2_runner_item_on_failed(self, result: Any) -> None:
        self._item(result, "failed")

    def _result(self, result: Any, word: str, **more: Any) -> None:
        task, host = _task(result), _host(result)
        key = (task._uuid, host)
        items = self._items.pop(key, [])
        now = time.time()
        begun = self._begun.pop(key, now)
        self._seen.add(key)
        self._done.add(task._uuid)
        if word in ("failed", "unreachable") and not any(more.values()):
            self._lost[host] = None
        self._report(
            "result",
            word=word,
            host=host,
            start=begun,
            took=max(now - begun, 0.0),
            check=bool(task.check_mode),
            items=items,
            **self._names(task),
            **self._body(_given(result)),
            **{key: value for key, value in more.items() if value},
        )

    def _item(self, result: Any, word: str) -> None:
        """Keep the item until its task has ended."""
        task, given = _task(result), _given(result)
        key = (task._uuid, _host(result))
        items = self._items.setdefault(key, [])
        now = time.time()
        start = items[-1]["end"] if items else self._begun.get(key, now)
        label = "(censored due to no_log)" if _is_secret(given, task) else str(self._get_item_label(given))
        items.append(
            {
                "word": word,
                "label": label[:LONGEST],
                "start": start,
                "took": max(now - start, 0.0),
                "end": now,
                **self._body(given),
            }
        )

    def _body(self, given: dict[str, Any]) -> dict[str, Any]:
        body: dict[str, Any] = {
            "result": {
                str(key): _plain(value)
                for key, value in given.items()
                if key not in LEFT_OUT and not str(key).startswith("_ansible_")
            }
        }
        facts = given.get("ansible_facts")
        if isinstance(facts, dict):
            body["facts"] = len(facts)
        diff = self._diff(given.get("diff"))
        return {**body, "diff": diff} if diff else body

    def _diff(self, diff: Any) -> str:
        if not diff:
            return ""
        try:
            return str(_plain(str(self._get_diff(diff) or "")))
        except Exception:
            return ""

    def _names(self, task: Any) -> dict[str, Any]:
        return {
            "task": task._uuid,
            "name": str(task.get_name()),
            "action": str(task.action),
            "path": str(task.get_path() or ""),
            "play": self._play_name(),
            "handler": task._uuid in self._handlers,
        }

    def _play_name(self) -> str:
        return str(self._play.get_name()) if self._play is not None else ""

    def _report(self, event: str, **values: Any) -> None:
        line = MARK + json.dumps({"event": event, **values}, default=str, separators=(",", ":")) + "\n"
        data = line.encode("ascii")
        try:
            while data:
                data = data[os.write(2, data) :]
        except OSError:  # no reader is left; the playbook continues
            self.disabled = True


# The names of a result's parts have changed with ansible-core 2.19; the old ones will be removed.


def _task(result: Any) -> Any:
    return result.task if hasattr(result, "task") else result._task


def _host(result: Any) -> str:
    host = result.host if hasattr(result, "host") else result._host
    return str(host.get_name())


def _given(result: Any) -> dict[str, Any]:
    given: dict[str, Any] = result.result if hasattr(result, "result") else result._result
    return given


def _is_secret(given: dict[str, Any], task: Any) -> bool:
    return bool(given.get("_ansible_no_log") or "censored" in given or task.no_log is True)


def _rescued(task: Any) -> bool:
    """True if a block around it has a ``rescue`` for it."""
    inner, outer = task, task._parent
    while outer is not None:
        if getattr(outer, "rescue", None) and any(one._uuid == inner._uuid for one in outer.block):
            return True
        inner, outer = outer, outer._parent
    return False


def _tasks(entries: Iterable[Any]) -> Iterator[Any]:
    """The tasks of blocks in order, without those of a ``rescue``."""
    for entry in entries:
        if hasattr(entry, "block"):
            yield from _tasks(entry.block)
            yield from _tasks(entry.always)
        else:
            yield entry


def _plain(value: Any, depth: int = 0) -> Any:
    """The value, truncated for the report."""
    if isinstance(value, str):
        return _cut(str(value))
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if depth >= DEEPEST:
        return "…"
    if isinstance(value, dict):
        return {str(key): _plain(inner, depth + 1) for key, inner in list(value.items())[:MOST]}
    if isinstance(value, (list, tuple, set)):
        return [_plain(inner, depth + 1) for inner in list(value)[:MOST]]
    return _cut(str(value))


def _cut(text: str) -> str:
    if len(text) <= LONGEST:
        return text
    half = LONGEST // 2
    return f"{text[:half]}\n… {len(text) - LONGEST} characters left out …\n{text[-half:]}"
