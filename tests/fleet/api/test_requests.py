"""Wrong requests: each gets the right status, and is told what is wrong and what to do."""

from __future__ import annotations

import http.client
import json
import socket
from collections.abc import Iterator
from typing import Any

import pytest
from tests.fleet.api.kit import Running, running_api


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """One for all: nothing here changes anything."""
    with running_api(tmp_path_factory.mktemp("requests")) as running:
        yield running


class Plain(http.client.HTTPConnection):
    """A client that sends what it is given."""

    def __init__(self, path: str) -> None:
        super().__init__("localhost", timeout=30)
        self.path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(30)
        self.sock.connect(self.path)


def ask(
    api: Running, path: str, method: str = "GET", *, body: bytes | None = None, **headers: Any
) -> tuple[int, Any, dict[str, str]]:
    connection = Plain(api.socket)
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, path, body, names)
    answer = connection.getresponse()
    data = answer.read()
    connection.close()
    found = {name.lower(): value for name, value in answer.getheaders()}
    return answer.status, json.loads(data) if data else None, found


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("/v2/systems", 404, "api-no-route"),
        ("/", 404, "api-no-route"),
        ("/v1/systems/", 404, "api-no-route"),
        ("/v1/systems?limit=0", 400, "api-bad-parameter"),
        ("/v1/systems?limit=1001", 400, "api-bad-parameter"),
        ("/v1/systems?limit=many", 400, "api-bad-parameter"),
        ("/v1/systems?state=lost", 400, "api-bad-parameter"),
        ("/v1/systems?targt=x", 400, "api-bad-parameter"),
        ("/v1/systems?target=%00", 400, "api-bad-parameter"),
        ("/v1/systems?cursor=x", 400, "api-bad-cursor"),
        ("/v1/jobs?cursor=WyJhIl0", 400, "api-bad-cursor"),
        ("/v1/systems/%00", 400, "api-bad-path"),
        ("/v1/systems/" + "x" * 600, 400, "api-bad-path"),
        ("/v1/events?after=-1", 400, "api-bad-parameter"),
    ],
)
def test_a_wrong_request_is_refused(api: Running, path: str, status: int, code: str) -> None:
    found, problem, _ = ask(api, path)
    assert (found, problem["code"]) == (status, code)
    assert set(problem) == {"code", "what", "fix"} and problem["what"] and problem["fix"]


def test_a_slip_in_a_parameter_is_explained(api: Running) -> None:
    assert ask(api, "/v1/systems?targt=x")[1]["fix"] == "did you mean 'target'?"


def test_another_method_is_refused_with_those_that_are_allowed(api: Running) -> None:
    status, problem, headers = ask(api, "/v1/systems", "PATCH")
    assert (status, problem["code"], headers["allow"]) == (405, "api-bad-method", "GET, HEAD")


def test_head_is_get_without_a_body(api: Running) -> None:
    status, body, headers = ask(api, "/v1/health", "HEAD")
    assert (status, body) == (200, None) and int(headers["content-length"]) > 0


def test_a_request_has_an_id_which_the_client_may_give(api: Running) -> None:
    assert ask(api, "/v1/health", X_Request_Id="my.id-1")[2]["x-request-id"] == "my.id-1"
    for bad in ("a b", "x" * 65, "é"):
        made = ask(api, "/v1/health", X_Request_Id=bad)[2]["x-request-id"]
        assert made != bad and len(made) == 16


def test_a_proxy_on_the_socket_is_not_its_user(api: Running) -> None:
    for name in ("X_Forwarded_For", "Forwarded", "Via"):
        forwarded: dict[str, Any] = {name: "1.2.3.4"}
        status, problem, headers = ask(api, "/v1/me", **forwarded)
        assert (status, problem["code"]) == (401, "api-not-authenticated")
        assert headers["www-authenticate"].startswith("Bearer")


def test_answers_are_kept_by_no_cache(api: Running) -> None:
    assert ask(api, "/v1/me")[2]["cache-control"] == "no-store"
