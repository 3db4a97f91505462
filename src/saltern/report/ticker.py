"""Redraws a terminal from a thread until it is closed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import threading

PERIOD = 0.25  # seconds between two drawings


class Ticker:
    """Calls ``draw`` at intervals, with ``lock`` held, until it is stopped or closed."""

    def __init__(self, draw: Callable[[], None]) -> None:
        import threading

        self.lock = threading.RLock()
        self.is_closed = False
        self._draw = draw
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, name: str) -> None:
        """Start the thread, unless it was started or closed."""
        from threading import Thread

        if self._thread is None and not self.is_closed:
            self._thread = Thread(target=self._tick, name=name, daemon=True)
            self._thread.start()

    def stop(self) -> None:
        self._over.set()

    def close(self, last: Callable[[], object]) -> None:
        """Stop drawing, and call ``last`` once, however often this is called."""
        self.stop()
        if self._thread is not None:
            self._thread.join(1)
        with self.lock:
            if not self.is_closed:
                self.is_closed = True
                last()

    def _tick(self) -> None:
        while not self._over.wait(PERIOD):
            with self.lock:
                if not self.is_closed:
                    self._draw()
