"""A job that one request starts, follows and reads to its end."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from tests.fleet.api.kit import Running, add_events, running_api
from tests.fleet.api.test_permission import POLICY, logged_in
from tests.fleet.controller.kit import LightAgent

from saltern.fleet.api import whole_job
from saltern.fleet.client import start
from saltern.fleet.client.client import Client
from saltern.fleet.client.follow import Follower
from saltern.fleet.client.problems import ControllerError, Unreachable

TOKEN = "0123456789abcdef"


def begin(client: Client, target: str = "*", **more: Any) -> tuple[dict[str, Any], Iterator[dict[str, Any]]]:
    job, follower = client.start("test.ping", target, **more)
    return job, follower.notices()


def give(api: Running, jid: str, *agents: LightAgent) -> None:
    """These systems return the job, and that is stored."""
    for agent in agents:
        api.run(agent.give(jid))
    api.run(api.bench.index())


def kinds(notices: Iterator[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(one["kind"], one.get("system", "")) for one in notices]


def test_it_has_the_job_then_what_happens_then_the_returns(api: Running, client: Client) -> None:
    agents = [api.agent("web1"), api.agent("web2")]
    add_events(api.database, "before")
    job, notices = begin(client)
    assert job["expected"] == ["web1", "web2"] and job["away"] == {} and not job["known"]
    give(api, job["jid"], *agents)
    found = [*notices]
    assert kinds(iter(found[2:])) == [("return", "web1"), ("return", "web2"), ("ended", "")]
    assert {one["kind"] for one in found[:2]} == {"status"}
    assert [one["body"] for one in found if one["kind"] == "return"] == [True, True]
    assert found[-1]["returns"] == 2 and found[-1]["counts"] == {"returned": 2}


def test_its_returns_are_those_of_the_job_however_many_pages_they_take(
    api: Running, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(whole_job, "AT_ONCE", 2)
    agents = [api.agent(f"web{number}") for number in range(5)]
    job, notices = begin(client)
    give(api, job["jid"], *agents)
    found = [one for one in notices if one["kind"] == "return"]
    kept = [*client.jobs.returns(job["jid"])]
    names = ("system", "status", "exit_code", "body")
    assert [[one.get(name, 0) for name in names] for one in found] == [
        [one[name] for name in names] for one in kept
    ]


def test_returns_can_be_left_out(api: Running, client: Client) -> None:
    agent = api.agent("web1")
    job, notices = begin(client, returns=False)
    give(api, job["jid"], agent)
    assert kinds(notices) == [("status", "web1"), ("ended", "")]


def test_a_connection_that_breaks_is_made_again_without_returns(api: Running, client: Client) -> None:
    agents = [api.agent("web1"), api.agent("web2")]
    job, follower = client.start("test.ping", "*")
    give(api, job["jid"], agents[0])
    with closing(follower.notices()) as notices:
        assert next(notices)["system"] == "web1"
    give(api, job["jid"], agents[1])
    assert kinds(follower.notices()) == [("status", "web1"), ("status", "web2"), ("ended", "")]


def test_the_same_client_token_is_the_same_job_and_followed_again(api: Running, client: Client) -> None:
    agent = api.agent("web1")
    first = client.jobs.submit("test.ping", "*", client_token=TOKEN)
    job, notices = begin(client, client_token=TOKEN)
    assert (job["jid"], job["known"], len(agent.jobs)) == (first["jid"], True, 1)
    give(api, job["jid"], agent)
    assert kinds(notices)[-3:] == [("status", "web1"), ("return", "web1"), ("ended", "")]
    job, notices = begin(client, client_token=TOKEN)
    assert kinds(notices) == [("status", "web1"), ("return", "web1"), ("ended", "")]


def test_who_may_not_read_jobs_gets_the_job_alone(api: Running, client: Client) -> None:
    api.agent("web1")
    client.policy.set(POLICY)
    joe = logged_in(api, client, "joe", "operator")
    ci = api.client(joe.own.make_token(label="ci", scopes=["jobs.submit:test.*"])["token"])
    job, follower = ci.start("test.ping", "web*")
    assert job["expected"] == ["web1"] and isinstance(follower, Follower)
    with pytest.raises(Exception, match=r"do not include jobs\.read"):
        next(follower.notices())


def test_a_controller_that_stops_says_which_job_it_has_started(
    api: Running, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(start, "PATIENCE", 0.0)
    agent = api.agent("web1")
    api.loop.call_soon_threadsafe(api.server.app.desk.closing.set)
    job, follower = client.start("test.ping", "*")
    follower.close()
    assert job["expected"] == ["web1"] and [one.jid for one in agent.jobs] == [job["jid"]]


class Cut:
    """Between a client and the controller: of the first answers only so many bytes arrive, or this proxy
    answers itself.
    """

    def __init__(self, folder: Path, target: str, *cuts: int | bytes) -> None:
        self.path, self._target, self.cuts = str(folder / "cut.sock"), target, [*cuts]
        self._server = socket.socket(socket.AF_UNIX)
        self._server.bind(self.path)
        self._server.listen()
        self._open = [self._server]
        self._threads: list[threading.Thread] = []
        self._begin(self._serve)

    def _begin(self, work: Callable[..., None], *given: object) -> None:
        self._threads.append(threading.Thread(target=work, args=given))
        self._threads[-1].start()

    def lead_to(self, target: str) -> None:
        """From now on the controller is another one."""
        self._target = target

    def _serve(self) -> None:
        with suppress(OSError):  # it was closed
            while True:
                near, far = self._server.accept()[0], socket.socket(socket.AF_UNIX)
                self._open += [near, far]
                cut = self.cuts.pop(0) if self.cuts else None
                if isinstance(cut, bytes):
                    near.recv(65536)
                    near.sendall(cut)
                    continue
                far.connect(self._target)
                self._begin(_copy, near, far, None)
                self._begin(_copy, far, near, cut)

    def close(self) -> None:
        for one in self._open:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(10)
        for one in self._open:
            one.close()


def _copy(source: socket.socket, sink: socket.socket, left: int | None) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            sink.sendall(data[:left])
            if left is not None and (left := left - len(data)) <= 0:
                break
        for one in (source, sink):
            one.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize("cuts", [(0,), (30,), (0, 400), (500,)])
def test_a_connection_that_breaks_before_the_answer_starts_no_second_job(
    api: Running, client: Client, tmp_path: Path, cuts: tuple[int, ...]
) -> None:
    agent = api.agent("web1")
    broken: list[ControllerError] = []
    with closing(Cut(tmp_path, api.socket, *cuts)) as cut:
        job, follower = Client(cut.path).start("test.ping", "*", on_break=broken.append)
        assert not cut.cuts and [one.jid for one in agent.jobs] == [job["jid"]]
        give(api, job["jid"], agent)
        assert kinds(follower.notices())[-1] == ("ended", "")
    assert len(broken) >= len(cuts) and {type(one) for one in broken} == {Unreachable}
    assert len([*client.jobs.list()]) == 1


BUSY = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 4\r\n\r\nbusy"


def test_a_start_that_is_lost_is_sent_again_until_a_proxy_finds_a_controller(
    api: Running, tmp_path: Path
) -> None:
    agent = api.agent("web1")
    with closing(Cut(tmp_path, api.socket, 0, BUSY, BUSY)) as cut:
        job, follower = Client(cut.path).start("test.ping", "*")
        follower.close()
        assert not cut.cuts and [one.jid for one in agent.jobs] == [job["jid"]]


def test_a_start_that_a_proxy_refuses_is_not_sent_again(api: Running, tmp_path: Path) -> None:
    agent = api.agent("web1")
    refused = pytest.raises(ControllerError, match="status 503")
    with closing(Cut(tmp_path, api.socket, BUSY)) as cut, refused:
        Client(cut.path).start("test.ping", "*")
    assert not agent.jobs


def test_it_continues_at_another_controller_behind_the_same_address(api: Running, tmp_path: Path) -> None:
    """The first is killed after the job was stored; the other one has the same database."""
    agent = api.agent("web1")
    other = running_api(tmp_path, socket=str(tmp_path / "other.sock"))
    with other as second, closing(Cut(tmp_path, api.socket, 0)) as cut:
        job, follower = Client(cut.path).start(
            "test.ping", "*", on_break=lambda _: cut.lead_to(second.socket)
        )
        assert [one.jid for one in agent.jobs] == [job["jid"]]
        give(api, job["jid"], agent)
        assert kinds(follower.notices())[-2:] == [("return", "web1"), ("ended", "")]


def test_a_controller_that_was_not_reached_is_not_waited_for(tmp_path: Path) -> None:
    with pytest.raises(Unreachable, match="there is no such socket"):
        Client(str(tmp_path / "none.sock")).start("test.ping", "*", on_break=None)  # type: ignore[arg-type]


def test_who_waits_in_vain_learns_that_the_job_may_have_begun(
    api: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(start, "PATIENCE", 0.0)
    api.agent("web1")
    refused = pytest.raises(Unreachable, match="it is not known whether the job has begun")
    with closing(Cut(tmp_path, api.socket, 0)) as cut, refused as caught:
        Client(cut.path).start("test.ping", "*")
    assert "saltern jobs" in caught.value.diagnostics[0].fix


def test_who_leaves_is_not_followed_for_any_longer(api: Running, client: Client) -> None:
    agent = api.agent("web1")
    job, follower = client.start("test.ping", "*")
    hub = api.bench.fleet.hub
    until(lambda: hub.following == 1)
    follower.close()
    until(lambda: hub.following == 0)
    give(api, job["jid"], agent)
    assert [one["body"] for one in client.jobs.returns(job["jid"])] == [True]


def until(is_so: Callable[[], bool]) -> None:
    for _ in range(1000):
        if is_so():
            return
        time.sleep(0.01)
    raise AssertionError("it did not happen")


def test_a_refusal_is_the_same_as_without_following(api: Running, client: Client) -> None:
    for submit in (client.start, client.jobs.submit):
        with pytest.raises(Exception, match="no system"):
            submit("test.ping", "none*")
