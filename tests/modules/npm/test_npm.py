"""``npm``: the real npm, with a registry of our own on the loopback interface."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import shutil
import tarfile
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from saltern.modules.functions import npm as functions
from saltern.modules.lib.npm import split
from saltern.modules.states.npm import bootstrap, cache_cleaned, installed, removed

if TYPE_CHECKING:
    from tests.modules.file.conftest import Desk

pytestmark = [
    pytest.mark.skipif(not shutil.which("npm"), reason="needs npm"),
    pytest.mark.timeout(300),
]
VERSIONS = ("1.0.0", "1.2.0", "2.0.0")


def tarball(version: str) -> bytes:
    package = json.dumps({"name": "saltern-t-one", "version": version}).encode()
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w:gz") as archive:
        info = tarfile.TarInfo("package/package.json")
        info.size = len(package)
        archive.addfile(info, io.BytesIO(package))
    return held.getvalue()


class Registry(BaseHTTPRequestHandler):
    balls = {version: tarball(version) for version in VERSIONS}

    def do_GET(self) -> None:
        assert isinstance(self.server, ThreadingHTTPServer)
        port = self.server.server_port
        if self.path.endswith(".tgz"):
            self._send(self.balls[self.path.removeprefix("/t/").removesuffix(".tgz")])
        elif self.path == "/saltern-t-one":
            versions = {
                version: {
                    "name": "saltern-t-one",
                    "version": version,
                    "dist": {
                        "tarball": f"http://127.0.0.1:{port}/t/{version}.tgz",
                        "integrity": "sha512-" + base64.b64encode(hashlib.sha512(ball).digest()).decode(),
                    },
                }
                for version, ball in self.balls.items()
            }
            told = {"name": "saltern-t-one", "dist-tags": {"latest": "2.0.0"}, "versions": versions}
            self._send(json.dumps(told).encode())
        else:
            self.send_error(404)

    def _send(self, data: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def where(tmp_path: Path, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, object]]:
    """Arguments for a directory of our own, with nobody's settings and cache."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("npm_config_cache", str(tmp_path / "npm-cache"))
    monkeypatch.setenv("npm_config_userconfig", "/dev/null")
    (desk.scratch / "app").mkdir()
    with ThreadingHTTPServer(("127.0.0.1", 0), Registry) as serving:
        thread = threading.Thread(target=serving.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        url = f"http://127.0.0.1:{serving.server_port}/"
        monkeypatch.setenv("npm_config_registry", url)
        yield {"dir": desk.at("app"), "registry": url}
        serving.shutdown()
        thread.join()


def test_packages_come_in_versions_and_go(desk: Desk, where: dict[str, object]) -> None:
    result = desk.change(installed, "saltern-t-one@1.0.0", **where)
    assert result.changes == {"old": [], "new": ["saltern-t-one@1.0.0"]}
    assert result.data["packages"] == {"saltern-t-one": "1.0.0"}
    desk.same(installed, "saltern-t-one", **where)
    desk.same(installed, "saltern-t-one@^1", **where)
    result = desk.change(installed, "x", pkgs=["saltern-t-one@2"], **where)
    assert result.changes == {"old": ["saltern-t-one@1.0.0"], "new": ["saltern-t-one@2"]}
    listed = functions.list_(desk.context(), dir=desk.at("app"))
    assert listed == {"saltern-t-one": {"version": "2.0.0"}}
    assert desk.change(removed, "saltern-t-one", dir=desk.at("app")).changes == {"saltern-t-one": "Removed"}


def test_a_directory_is_bootstrapped(desk: Desk, where: dict[str, object]) -> None:
    desk.put("app/package.json", json.dumps({"name": "a", "dependencies": {"saltern-t-one": "^1.0.0"}}))
    result = desk.change(bootstrap, desk.at("app"), registry=where["registry"])
    assert result.data["packages"] == {"saltern-t-one": "1.2.0"}
    assert desk.change(cache_cleaned, "cache").changes == {"cache": "Removed"}


def test_bad_input_is_reported_plainly(desk: Desk, where: dict[str, object]) -> None:
    for call in (desk.foresee, desk.call):
        result = call(installed, "saltern-t-none", **where)
        assert "saltern-t-none" in result.comment
        assert not result.changes
    assert "not a package" in desk.refusal(installed, "--global", **where)
    assert "does not exist" in desk.refusal(installed, "x", dir="/none")
    assert "no package.json" in desk.refusal(bootstrap, desk.at("app"))
    assert "not the name" in desk.refusal(removed, "./x", dir=desk.at("app"))


@pytest.mark.parametrize(
    ("spec", "parts"),
    [
        ("a", ("a", "")),
        ("a@1.2.3", ("a", "1.2.3")),
        ("@s/a@^1", ("@s/a", "^1")),
        ("@s/a", ("@s/a", "")),
        ("./a", ("", "")),
        ("https://h/a.tgz", ("", "")),
    ],
)
def test_specs_are_read(spec: str, parts: tuple[str, str]) -> None:
    assert split(spec) == parts
