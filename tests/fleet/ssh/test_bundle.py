"""What is sent to a host: the same bytes for the same files, whole or not at all, for its interpreter."""

from __future__ import annotations

import subprocess
import sys
import zipfile
import zlib
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.fleet.ssh.conftest import no_secrets
from tools.pythons import SUPPORTED, find

from saltern.config.load import load
from saltern.fleet.ssh.bundle import make
from saltern.fleet.ssh.bundle.archive import pack_files, unpack_files
from saltern.fleet.ssh.bundle.contents import OF_A_HOST, OF_AN_AGENT, is_sent
from saltern.fleet.ssh.bundle.make import Bundle, Bundles, digest_of, sum_of
from saltern.fleet.ssh.bundle.target import Target, local_target
from saltern.fleet.ssh.bundle.usual import USUAL
from saltern.fleet.ssh.drive import Drive, Reach, Work
from saltern.fleet.ssh.pillar import HostPillar, sources_of
from saltern.fleet.ssh.pool import Limits
from saltern.fleet.ssh.remote.bootstrap import write_files
from saltern.fleet.ssh.remote.imports import BundleModules
from saltern.fleet.ssh.roster.host import Host
from saltern.fleet.ssh.transport.local import LocalShell
from saltern.language.diagnostics import OperationError


@pytest.fixture(scope="module")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> Bundles:
    return Bundles(str(tmp_path_factory.mktemp("bundles")))


@pytest.fixture(scope="module")
def bundle(bundles: Bundles) -> Bundle:
    return bundles.bundle(local_target())


def place(bundle: Bundle, directory: Path) -> Path:
    """Put it where a host would."""
    write_files(str(directory), zlib.decompress(bundle.data))
    return directory


@pytest.fixture(scope="module")
def placed(bundle: Bundle, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return place(bundle, tmp_path_factory.mktemp("place") / "bundle")


def test_an_archive_has_the_files_in_any_order() -> None:
    files = {"b/c": b"2", "a": b"1" * 100_000, "empty": b""}
    assert pack_files(files) == pack_files(dict(reversed(files.items())))
    assert unpack_files(pack_files(files)) == files


def test_its_name_is_what_it_is_made_of() -> None:
    """Compiled code may differ from one making to the next; what is made of the same files is the same."""
    target, files = local_target(), {"a": b"1", "b": b"2"}
    assert digest_of(files, target) == digest_of(dict(reversed(files.items())), target)
    others = ({**files, "a": b"x"}, {**files, "c": b""}, {"a": b"1"})
    assert digest_of(files, target) not in {digest_of(one, target) for one in others}
    assert digest_of(files, target) != digest_of(files, replace(target, odd=True))


def test_many_who_want_it_at_once_get_the_same_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[object] = []

    def once(files: dict[str, bytes]) -> bytes:
        made.append(None)
        return pack_files(files)

    monkeypatch.setattr(make, "pack_files", once)
    bundles = Bundles(str(tmp_path))
    wanted = [bundles.request(local_target()) for _ in range(20)]
    assert len({one.result().digest for one in wanted}) == len(made) == 1


def test_who_no_longer_waits_for_it_ends_it_for_no_other(bundles: Bundles) -> None:
    wanted = Bundles(str(bundles.directory)).request(local_target())
    assert not wanted.cancel()
    assert wanted.result().data


def test_a_failure_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bundles = Bundles(str(tmp_path))
    with monkeypatch.context() as broken:
        broken.setattr(make, "pack_files", None)
        with pytest.raises(TypeError):
            bundles.bundle(local_target())
    assert bundles.bundle(local_target()).data


def test_it_is_made_once(bundles: Bundles, monkeypatch: pytest.MonkeyPatch) -> None:
    first = Bundles(str(bundles.directory)).bundle(local_target())
    monkeypatch.setattr(make, "pack_files", None)
    assert Bundles(str(bundles.directory)).bundle(local_target()) == first


def test_a_damaged_one_is_made_anew(bundles: Bundles, bundle: Bundle) -> None:
    (bundles.directory / f"{bundle.digest}.bundle").write_bytes(b"damaged")
    again = Bundles(str(bundles.directory)).bundle(local_target())
    assert again.digest == bundle.digest
    assert sum_of(again.data) == again.sum


def test_it_has_the_engine_and_not_the_servers(bundle: Bundle, placed: Path) -> None:
    modules = BundleModules(str(placed))
    for name in ("saltern.cli.apply", "saltern.fleet.ssh.remote.serve", "jinja2", "jinja2.nodes"):
        assert modules.find_spec(name), name
    for name in ("saltern.fleet.store", "saltern.fleet.api", "saltern.cli.console"):
        assert not modules.find_spec(name), name
    names = unpack_files(bundle.data)
    assert not [name for name in names if name.startswith("/") or ".." in name.split("/")]
    assert len(names) < 150  # each takes a host as long as many modules in one file


@pytest.mark.parametrize(
    ("name", "sent"),
    [
        ("cli/apply.py", True),
        ("lsp/server.py", False),
        ("fleet/agent/task.py", True),
        ("fleet/controller/service.py", False),
        ("fleet/ssh/remote/serve.py", True),
        ("fleet/ssh/drive.py", False),
        ("engine/__pycache__/x.pyc", False),
    ],
)
def test_what_is_sent(name: str, sent: bool) -> None:
    assert is_sent(name) is sent


def test_what_the_tables_name_exists() -> None:
    fleet = Path(make.__file__).parents[2]
    assert [name for name in {*OF_A_HOST, *OF_AN_AGENT} if not (fleet / name).exists()] == []
    modules = [f"{package}.{name}" for package, names in USUAL.items() for name in names.split() if package]
    named = [one for one in modules if one.startswith("saltern.") and not one.endswith("*")]
    places = [fleet.parents[1] / one.replace(".", "/") for one in named]
    assert [str(one) for one in places if not (one.is_dir() or one.with_suffix(".py").exists())] == []


def test_it_runs_alone(placed: Path) -> None:
    """With nothing but the standard library around it."""
    code = f"import sys; sys.path[:0] = [{str(placed)!r}]\nfrom saltern.cli.main import run\nrun(['--help'])"
    command = [sys.executable, "-I", "-S", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={"PATH": "/bin"})
    assert done.returncode == 0, done.stderr
    assert "apply" in done.stdout


def test_wheels_for_another_interpreter_that_cannot_be_had(tmp_path: Path) -> None:
    with pytest.raises(OperationError) as caught:
        Bundles(str(tmp_path)).bundle(Target("3.99", "x86_64"))
    assert "saltern ssh bundle --python 3.99 --platform x86_64" in str(caught.value)


def test_wheels_that_were_prepared_are_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = Target("3.99", "x86_64")
    wheels = tmp_path / "wheels" / target.name
    wheels.mkdir(parents=True)
    monkeypatch.setattr(make, "versions", lambda **_options: {"msgspec": "9.9", "pyyaml": "8.8"})
    for name, module in (("msgspec-9.9", "msgspec"), ("PyYAML-8.8", "yaml")):
        with zipfile.ZipFile(wheels / f"{name}-cp399-cp399-linux_x86_64.whl", "w") as wheel:
            wheel.writestr(f"{module}/__init__.py", "# another one")
    place(Bundles(str(tmp_path)).bundle(target), tmp_path / "placed")
    modules = BundleModules(str(tmp_path / "placed"))
    assert modules.get_source("msgspec") == modules.get_source("yaml") == "# another one"


def test_an_agent_travels_with_its_libraries_and_not_the_servers(bundles: Bundles, tmp_path: Path) -> None:
    made = bundles.bundle(replace(local_target(), agent=True))
    modules = BundleModules(str(place(made, tmp_path / "placed")))
    for name in ("nats", "nacl", "saltern.fleet.identity.token"):
        assert modules.find_spec(name), name
    for name in ("saltern.fleet.store", "saltern.fleet.controller"):
        assert not modules.find_spec(name), name


def other_pythons() -> list[str]:
    here = f"{sys.version_info.major}.{sys.version_info.minor}"
    return [path for version in SUPPORTED if version != here and (path := find(version))]


@pytest.mark.slow
def test_a_host_with_another_python(tmp_path: Path) -> None:
    """Its libraries are fetched, and states run there."""
    import asyncio

    others = other_pythons()
    if not others:
        pytest.skip("needs a second Python, 3.12 or newer")
    host = Host(id="h", address="", python=others[0], directory=str(tmp_path / "base"))
    reach = Reach(LocalShell(), no_secrets, Limits(), Bundles(str(tmp_path / "bundles")))
    task = {"jid": "1", "function": "grains.get", "args": ["pythonversion"], "command": "call"}
    settings, _ = load(None, {"pillar_roots": {"base": [f"{tmp_path}/none"]}}, {})
    work = Work(task=task, pillar=HostPillar(sources_of(settings)))
    done = asyncio.run(Drive(host, work, reach, lambda _kind, _head: None).run())
    if done.problem == "bundle":
        pytest.skip(f"its libraries cannot be had here: {done.why}")
    assert done.status == "returned", done.why
    assert b"3" in done.body


def test_versions_are_those_that_are_installed() -> None:
    from importlib import metadata

    from saltern.fleet.ssh.bundle.contents import LIBRARIES, versions

    assert versions() == {name: metadata.version(name) for name in LIBRARIES}
