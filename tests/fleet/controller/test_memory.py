"""A controller stays for months: what is forgotten in circles is removed, and what it takes is known."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from tests.fleet.controller.processes import ControllerProcess

CONFIG = "host: 127.0.0.1\nport: 0\nnames: [127.0.0.1]\napi: {port: 0}\n"


def numbers(text: str, name: str) -> list[float]:
    return [float(one) for one in re.findall(rf"^{name}(?:{{.*?}})? (\S+)$", text, re.MULTILINE)]


def test_a_controller_removes_what_is_forgotten_in_circles(tmp_path: Path) -> None:
    controller = ControllerProcess(tmp_path / "c", CONFIG)
    try:
        controller.start()
        before = numbers(controller.client.metrics(), "saltern_garbage_collections_total")
        controller.client.send_event("my/event", {"many": [[number] for number in range(30_000)]})
        text = controller.client.metrics()
        assert numbers(text, "saltern_garbage_collections_total")[0] > before[0]
        assert numbers(text, "saltern_process_memory_bytes")[0] > 1e6
        assert numbers(text, "saltern_process_cpu_seconds_total")[0] > 0
    finally:
        controller.clean_up()


def test_a_command_compiles_without_the_collector_and_a_process_that_stays_has_it() -> None:
    text = (
        "import gc; gc.disable(); from saltern.system.garbage import collect_from_now_on as stay, BUSY;"
        "stay(BUSY); print(gc.isenabled(), gc.get_threshold()[0] == BUSY, gc.get_freeze_count() > 0)"
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "True", "True"]
