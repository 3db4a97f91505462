"""A host imports the modules of a bundle from one file, and compiles what came as source once."""

from __future__ import annotations

import asyncio
import marshal
import os
import struct
import subprocess
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fleet.ssh.conftest import no_secrets

from saltern.config.load import load
from saltern.fleet.ssh.bundle.code import with_code_in_one_file
from saltern.fleet.ssh.bundle.elf import loaded_part
from saltern.fleet.ssh.bundle.make import Bundles
from saltern.fleet.ssh.bundle.target import local_target, target_of
from saltern.fleet.ssh.drive import Drive, Reach, Work
from saltern.fleet.ssh.pillar import HostPillar, sources_of
from saltern.fleet.ssh.pool import Limits
from saltern.fleet.ssh.remote.imports import FILE, KEPT, BundleModules
from saltern.fleet.ssh.roster.host import Host
from saltern.fleet.ssh.transport.local import LocalShell
from saltern.fleet.ssh.tree import local_tree

MODULES = {
    "saltern/__init__.py": b"here = True\n",
    "saltern/cli/__init__.py": b"",
    "saltern/cli/main.py": b"from saltern.cli import rare\n\n\ndef fail():\n    rare.fail()\n",
    "saltern/cli/rare.py": b"def fail():\n    raise ValueError('a rare problem')\n",
    "saltern/data.txt": b"as it is",
}


@pytest.fixture
def finder(tmp_path: Path) -> Iterator[BundleModules]:
    """The modules above, under a name that the real ones do not have."""
    files = {
        name.replace("saltern", "sample"): data.replace(b"saltern", b"sample")
        for name, data in MODULES.items()
    }
    put(with_code_in_one_file({**files, "saltern/__init__.py": b""}, is_ours=True), tmp_path)
    found = BundleModules(str(tmp_path))
    sys.meta_path.insert(0, found)
    yield found
    sys.meta_path.remove(found)
    for name in [name for name in sys.modules if name.partition(".")[0] == "sample"]:
        del sys.modules[name]


def put(files: dict[str, bytes], place: Path) -> None:
    for name, data in files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(data)


def test_a_traceback_has_the_lines_of_a_source_that_is_in_the_file(
    finder: BundleModules, tmp_path: Path
) -> None:
    from importlib import import_module

    main = import_module("sample.cli.main")
    assert main.__file__ == f"{tmp_path}/sample/cli/main.py"
    with pytest.raises(ValueError, match="a rare problem") as caught:
        main.fail()
    text = "".join(traceback.format_tb(caught.value.__traceback__))
    assert f'File "{tmp_path}/sample/cli/rare.py", line 2, in fail' in text
    assert "raise ValueError" in text
    assert (tmp_path / "sample" / "data.txt").read_text() == "as it is"


def test_what_came_as_source_is_compiled_once(finder: BundleModules, tmp_path: Path) -> None:
    finder.get_code("sample.cli.rare")
    kept = tmp_path / KEPT / "sample.cli.rare"
    other = compile("mark = 1", "elsewhere", "exec")
    kept.write_bytes(marshal.dumps(other))
    assert finder.get_code("sample.cli.rare").co_names == ("mark",)
    for damaged in (b"", b"garbage", bytes(50), marshal.dumps("no code"), marshal.dumps(other)[:-3]):
        kept.write_bytes(damaged)
        assert "fail" in finder.get_code("sample.cli.rare").co_names
    assert os.listdir(tmp_path / KEPT) == ["sample.cli.rare"]


def test_where_nothing_can_be_kept_it_is_compiled_again(finder: BundleModules, tmp_path: Path) -> None:
    (tmp_path / KEPT).write_text("no directory")
    assert finder.get_code("sample.cli.rare").co_names == ("fail",)


def test_usual_modules_travel_as_code_to_the_same_python_alone(tmp_path: Path) -> None:
    found = {}
    for is_ours in (True, False):
        place = tmp_path / str(is_ours)
        put(with_code_in_one_file(MODULES, is_ours=is_ours), place)
        found[is_ours] = BundleModules(str(place))
    assert found[True].get_source("saltern.cli.main") is None
    assert found[True].get_source("saltern.cli.rare") == MODULES["saltern/cli/rare.py"].decode()
    assert found[False].get_source("saltern.cli.main") == MODULES["saltern/cli/main.py"].decode()
    assert (
        found[False].get_code("saltern.cli.main").co_names
        == found[True].get_code("saltern.cli.main").co_names
    )


def test_code_that_another_build_compiles_is_not_sent_to_it() -> None:
    version, here = sys.version_info[:2], local_target()
    assert target_of(version, here.machine, here.libc) == here
    odd = target_of(version, here.machine, here.libc, "00000000")
    assert odd.odd and not odd.runs_our_code and odd.name != here.name
    assert not target_of((3, 99), here.machine, here.libc, "00000000").odd  # it gets sources in any case


# -- a real run ----------------------------------------------------------------------------------------

STATES = """
{{% set place = '{place}' %}}
{{{{ place }}}}/made:
  file.directory: []
{{{{ place }}}}/made/text:
  file.managed:
    - source: salt://text
    - template: jinja
    - require:
      - file: {{{{ place }}}}/made
{{{{ place }}}}/made/mode:
  file.managed:
    - contents: {{{{ pillar.get('x', grains['id']) }}}}
    - mode: '0640'
show:
  cmd.run:
    - name: echo hello
    - onchanges:
      - file: {{{{ place }}}}/made/text
"""


def test_a_usual_run_compiles_nothing_on_a_host_with_our_python(tmp_path: Path) -> None:
    """What is named here belongs into ``USUAL``, or should not be imported by every run."""
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "web.sls").write_text(STATES.format(place=tmp_path))
    (tmp_path / "tree" / "text").write_text("{{ grains['id'] }}\n")
    base = tmp_path / "base"
    host = Host(id="h", address="", python=sys.executable, directory=str(base))
    reach = Reach(LocalShell(), no_secrets, Limits(), Bundles(str(tmp_path / "bundles")))
    settings, _ = load(None, {"pillar_roots": {"base": [f"{tmp_path}/none"]}}, {})
    task = {
        "jid": "1",
        "function": "state.apply",
        "args": ["web"],
        "command": "apply",
        "overrides": {"id": "h"},
    }
    tree = local_tree({"base": [str(tmp_path / "tree")]}, str(tmp_path / "digests"))
    work = Work(task=task, tree=tree, pillar=HostPillar(sources_of(settings)))
    done = asyncio.run(Drive(host, work, reach, lambda _kind, _head: None).run())
    assert (done.status, done.code) == ("returned", 0), (done.why, done.body)
    (bundle,) = (base / "bundles").iterdir()
    assert (bundle / FILE).exists()
    assert sorted(os.listdir(bundle / KEPT) if (bundle / KEPT).exists() else []) == []


def test_a_program_that_is_us_again_finds_the_modules(tmp_path: Path) -> None:
    from saltern.fleet.ssh.bundle.archive import unpack_files

    place = tmp_path / "place"
    put(unpack_files(Bundles(str(tmp_path / "bundles")).bundle(local_target()).data), place)
    words = [sys.executable, "-P", "-S", "-m", "saltern", "apply", "--help"]
    env = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(place), "SALTERN_PLACE": str(place)}
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=env, cwd="/")
    assert done.returncode == 0, done.stderr
    assert "--test" in done.stdout


# -- compiled libraries --------------------------------------------------------------------------------


@given(st.binary(max_size=200))
def test_what_is_no_library_stays_as_it_is(data: bytes) -> None:
    assert loaded_part(data) == data or data.startswith(b"\x7fELF")
    assert len(loaded_part(b"\x7fELF" + data)) <= len(data) + 4


@pytest.mark.parametrize(("wide", "order"), [(2, "<"), (1, "<"), (2, ">"), (1, ">")])
def test_a_library_ends_where_what_is_loaded_ends(wide: int, order: str) -> None:
    word, head, size = ("Q", 64, 56) if wide == 2 else ("I", 52, 32)
    at_offset, at_size = (8, 32) if wide == 2 else (4, 16)
    data = bytearray(b"\x7fELF" + bytes([wide, 1 if order == "<" else 2]) + bytes(head - 6))
    struct.pack_into(order + word, data, 32 if wide == 2 else 28, head)  # segments follow the header
    struct.pack_into(order + word, data, 40 if wide == 2 else 32, 500)  # sections are after all
    struct.pack_into(f"{order}HHHHH", data, 54 if wide == 2 else 42, size, 2, 40, 9, 8)
    for begin, length in ((0, 200), (200, 99)):
        row = bytearray(size)
        struct.pack_into(order + word, row, at_offset, begin)
        struct.pack_into(order + word, row, at_size, length)
        data += row
    data += bytes(1000 - len(data))
    found = loaded_part(bytes(data))
    assert len(found) == 299
    assert struct.unpack_from(order + word, found, 40 if wide == 2 else 32) == (0,)
    assert struct.unpack_from(f"{order}HH", found, 54 if wide == 2 else 42) == (size, 2)
    assert struct.unpack_from(f"{order}HHH", found, 58 if wide == 2 else 46) == (0, 0, 0)
