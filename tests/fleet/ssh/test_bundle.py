"""What is sent to a host: the same bytes for the same files, whole or not at all, for its interpreter."""

from __future__ import annotations

import io
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.fleet.ssh.conftest import no_secrets
from tools.pythons import SUPPORTED, find

from saltern.config.load import load
from saltern.fleet.ssh.bundle import make
from saltern.fleet.ssh.bundle.contents import is_sent
from saltern.fleet.ssh.bundle.make import Bundle, Bundles, packed
from saltern.fleet.ssh.bundle.target import Target, local_target
from saltern.fleet.ssh.drive import Drive, Reach, Work
from saltern.fleet.ssh.pillar import HostPillar, sources_of
from saltern.fleet.ssh.pool import Limits
from saltern.fleet.ssh.roster.host import Host
from saltern.fleet.ssh.transport.local import LocalShell
from saltern.language.diagnostics import OperationError


@pytest.fixture(scope="module")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> Bundles:
    return Bundles(str(tmp_path_factory.mktemp("bundles")))


@pytest.fixture(scope="module")
def bundle(bundles: Bundles) -> Bundle:
    return bundles.bundle(local_target())


def test_the_same_files_give_the_same_bytes() -> None:
    files = {"b": b"2", "a": b"1" * 100_000}
    assert packed(files) == packed(dict(reversed(files.items())))


def test_it_is_made_once(bundles: Bundles, bundle: Bundle, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(make, "packed", None)
    assert Bundles(str(bundles.directory)).bundle(local_target()) == bundle


def test_a_damaged_one_is_made_anew(bundles: Bundles, bundle: Bundle) -> None:
    (bundles.directory / f"{bundle.digest}.tgz").write_bytes(b"damaged")
    assert Bundles(str(bundles.directory)).bundle(local_target()) == bundle


def test_it_has_the_engine_and_not_the_servers(bundle: Bundle) -> None:
    with tarfile.open(fileobj=io.BytesIO(bundle.data)) as archive:
        names = set(archive.getnames())
    assert {"saltern/cli/apply.py", "saltern/fleet/ssh/remote/serve.py", "jinja2/__init__.py"} <= names
    assert not [name for name in names if name.startswith(("saltern/fleet/store", "saltern/fleet/api"))]
    assert not [name for name in names if name.startswith("/") or ".." in name.split("/")]


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


def test_it_runs_alone(bundle: Bundle, tmp_path: Path) -> None:
    """With nothing but the standard library around it."""
    with tarfile.open(fileobj=io.BytesIO(bundle.data)) as archive:
        archive.extractall(tmp_path, filter="data")
    code = (
        f"import sys; sys.path[:0] = [{str(tmp_path)!r}]\nfrom saltern.cli.main import run\nrun(['--help'])"
    )
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
    monkeypatch.setattr(make, "versions", lambda **_options: {"msgspec": "9.9"})
    with zipfile.ZipFile(wheels / "msgspec-9.9-cp399-cp399-linux_x86_64.whl", "w") as wheel:
        wheel.writestr("msgspec/__init__.py", "# another one")
    made = Bundles(str(tmp_path)).bundle(target)
    with tarfile.open(fileobj=io.BytesIO(made.data)) as archive:
        found = archive.extractfile("msgspec/__init__.py")
        assert found is not None
        assert found.read() == b"# another one"


def test_an_agent_travels_with_its_libraries_and_not_the_servers(bundles: Bundles) -> None:
    made = bundles.bundle(replace(local_target(), agent=True))
    with tarfile.open(fileobj=io.BytesIO(made.data)) as archive:
        names = set(archive.getnames())
    assert {"nats/__init__.py", "nacl/__init__.py", "saltern/fleet/identity/token.py"} <= names
    assert not any(name.startswith(("saltern/fleet/store", "saltern/fleet/controller")) for name in names)


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
