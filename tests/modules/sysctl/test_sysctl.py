"""``sysctl`` with a parameter that is put back afterwards, and a file of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.modules.bench import Bench, alone, needs_root

from saltern.modules.functions import sysctl as sysctl_functions
from saltern.modules.lib.tables import sysctl
from saltern.modules.lib.tables.settings import with_value
from saltern.modules.states import sysctl as states

NAME = "net.ipv4.ip_default_ttl"


@pytest.fixture
def ttl() -> Iterator[str]:
    with alone():
        before = sysctl.running_value(NAME)
        assert before is not None
        yield before
        if sysctl.running_value(NAME) != before:
            sysctl.assign(NAME, before)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path, states, functions={"sysctl": sysctl_functions})


@needs_root()
def test_a_parameter_is_set_now_and_at_boot(bench: Bench, ttl: str, tmp_path: Path) -> None:
    config = tmp_path / "deep" / "sysctl.conf"
    done = bench.change("present", NAME, value=61, config=str(config))
    assert done.changes == {NAME: "61"}
    assert done.data == {"name": NAME, "running": "61", "at boot": "61", "config": str(config)}
    assert config.read_text() == f"{NAME} = 61\n"
    config.write_text(f"# mine\n{NAME}=1\nkernel.x = 2\n{NAME} = 3\n")
    bench.change("present", NAME, value="62", config=str(config))
    assert config.read_text() == f"# mine\n{NAME} = 62\nkernel.x = 2\n"


@needs_root()
def test_what_the_kernel_refuses_is_reported_and_not_kept(bench: Bench, ttl: str, tmp_path: Path) -> None:
    config = str(tmp_path / "sysctl.conf")
    assert "does not take" in bench.refusal("present", NAME, value="many", config=config)
    assert "has no parameter" in bench.refusal("present", "net.saltern.none", value=1, config=config)
    assert not (tmp_path / "sysctl.conf").exists()


def test_what_cannot_be_is_refused_in_words(bench: Bench) -> None:
    assert "cannot be the name" in bench.refusal("present", "../etc/passwd", value=1)
    assert "cannot be the name" in bench.refusal("present", "/etc/passwd", value=1)
    assert "needs a number or a text" in bench.refusal("present", NAME, value=[1])
    assert "argument 'value' is missing" in bench.refusal("present", NAME)


def test_names_with_dots_and_slashes_are_one_path() -> None:
    assert sysctl.path_of("net.ipv4.conf.eth0/1.mtu") == "/proc/sys/net/ipv4/conf/eth0.1/mtu"
    assert sysctl.path_of("net/ipv4/conf/eth0.1/mtu") == "/proc/sys/net/ipv4/conf/eth0.1/mtu"
    assert sysctl.normal("4096\t131072\t 6291456\n") == "4096 131072 6291456"
    assert with_value("", "a", "1", separator="=") == "a=1\n"


@needs_root()
def test_functions_get_and_set(bench: Bench, ttl: str, tmp_path: Path) -> None:
    salt = bench.salt
    config = str(tmp_path / "sysctl.conf")
    assert salt["sysctl.get"](NAME) == ttl
    assert salt["sysctl.assign"](NAME, 63) == {NAME: "63"}
    assert salt["sysctl.persist"](NAME, 63, config) == "Updated"
    assert salt["sysctl.persist"](NAME, 63, config) == "Already set"
    assert salt["sysctl.show"](config) == {NAME: "63"}
    assert salt["sysctl.show"]()[NAME] == "63"  # type: ignore[index]
