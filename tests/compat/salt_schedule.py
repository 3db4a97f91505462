"""The scheduler of Salt's minion without the minion: it answers at once, in the same process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Self
from unittest.mock import patch


class Bus:
    """In place of the sockets between Salt's states and its scheduler, which reads its file anew."""

    def __init__(self, options: dict[str, Any], functions: Any) -> None:
        import salt.utils.schedule  # type: ignore[import-not-found,unused-ignore]
        import salt.utils.yaml  # type: ignore[import-not-found,unused-ignore]

        file = Path(options["conf_file"]).parent / Path(options["default_include"]).parent / "_schedule.conf"
        kept = salt.utils.yaml.safe_load(file.read_text()) if file.exists() else None
        options = {**options, "schedule": (kept or {}).get("schedule") or {}, "pillar": {}}
        self._minion = SimpleNamespace(
            schedule=salt.utils.schedule.Schedule(options, functions, standalone=True, new_instance=True)
        )
        self._events: dict[str, Any] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """There is nothing to close."""

    def fire_event(self, data: dict[str, Any], tag: str) -> bool:
        import salt.minion  # type: ignore[import-not-found,unused-ignore]
        import salt.payload  # type: ignore[import-not-found,unused-ignore]

        data = salt.payload.loads(salt.payload.dumps(data))  # as it comes through a socket
        if tag == "manage_schedule":
            salt.minion.Minion.manage_schedule(self._minion, tag, data)
        else:
            self._events[tag] = data
        return True

    def get_event(self, tag: str, **_: object) -> Any:
        return self._events.pop(tag, None)


@contextmanager
def scheduler(options: dict[str, Any], functions: Any) -> Iterator[None]:
    bus = Bus(options, functions)
    with patch("salt.utils.event.get_event", lambda *_, **__: bus):
        yield
