"""``kmod``, with ``modprobe`` played by a fake host and files as the kernel and the system keep them."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.modules.bench import Bench, ScriptedHost

from saltern.modules.functions import kmod as kmod_functions
from saltern.modules.lib.tables import kernel_modules
from saltern.modules.states import kmod
from saltern.system.process import Ran


class Kernel:
    def __init__(self, place: Path) -> None:
        self.file = place / "modules"
        self.boot = place / "boot"
        self.names = ["loop"]
        self.host = ScriptedHost({"modprobe --": self.load, "modprobe -r --": self.remove})
        self.write()

    def write(self) -> None:
        self.file.write_text("".join(f"{name} 16384 0 - Live 0x0\n" for name in self.names))

    def load(self, argv: list[str]) -> Ran:
        if argv[-1] == "nonsense":
            return Ran(1, err="modprobe: FATAL: Module nonsense not found.\n")
        self.names.append(argv[-1].replace("-", "_"))
        self.write()
        return Ran(0)

    def remove(self, argv: list[str]) -> Ran:
        self.names.remove(argv[-1].replace("-", "_"))
        self.write()
        return Ran(0)


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kernel:
    made = Kernel(tmp_path)
    monkeypatch.setattr(kernel_modules, "LOADED", str(made.file))
    monkeypatch.setattr(kernel_modules, "usual_config", lambda: str(made.boot))
    return made


@pytest.fixture
def bench(tmp_path: Path, kernel: Kernel) -> Bench:
    return Bench(tmp_path, kmod, functions={"kmod": kmod_functions}, host=kernel.host)


def test_modules_are_loaded_and_kept(bench: Bench, kernel: Kernel) -> None:
    assert bench.change("present", "br-netfilter").changes == {"br-netfilter": "loaded"}
    done = bench.change("present", "several", mods=["br_netfilter", "dummy"], persist=True)
    assert done.changes == {"br_netfilter": "loaded", "dummy": "loaded"}
    assert done.data["dummy"] == {"loaded": True, "persisted": True}
    assert kernel.boot.read_text() == "br_netfilter\ndummy\n"


def test_modules_go_and_leave_a_remark_or_nothing(bench: Bench, kernel: Kernel) -> None:
    kernel.boot.write_text("# mine\nloop\ndummy\n")
    assert bench.change("absent", "loop", persist=True).changes == {"loop": "removed"}
    bench.change("absent", "dummy", persist=True, comment=False)
    assert kernel.boot.read_text() == "# mine\n#loop\n"
    bench.change("present", "loop", persist=True)
    assert kernel.boot.read_text() == "# mine\nloop\n"


def test_what_cannot_be_is_refused_in_words(bench: Bench) -> None:
    assert "Module nonsense not found" in bench.refusal("present", "nonsense")
    assert "cannot be the name" in bench.refusal("present", "--all")


def test_functions_look_and_load(bench: Bench, kernel: Kernel) -> None:
    salt = bench.salt
    assert salt["kmod.load"]("dummy", persist=True) == ["dummy"]
    assert salt["kmod.is_loaded"]("dummy") is True
    assert salt["kmod.mod_list"]() == ["dummy", "loop"] and salt["kmod.mod_list"](True) == ["dummy"]
    assert salt["kmod.remove"]("dummy") == ["dummy"]
    assert [row["module"] for row in salt["kmod.lsmod"]()] == ["loop"]  # type: ignore[attr-defined]
