"""``docker_container.running`` with a real engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.modules.bench import Bench

from saltern.language.result import Outcome
from saltern.modules.lib.containers.engine import Engine

pytestmark = pytest.mark.machine

NAME, IMAGE, SLEEP = "saltern-t-web", "busybox:1.36", "sleep 600"
AT_ONCE: dict[str, Any] = {"image": IMAGE, "shutdown_timeout": 0}


def seen(engine: Engine, name: str = NAME) -> dict[str, object]:
    found = engine.find(f"/containers/{name}/json")
    assert found is not None
    return found


def test_a_container_is_made_kept_and_replaced(containers: Bench, engine: Engine) -> None:
    done = containers.change("running", NAME, image=IMAGE, command=SLEEP, environment={"A": 1})
    assert done.changes == {"state": {"old": None, "new": "running"}}
    assert done.data["state"] == "running" and done.data["image"] == IMAGE
    first = seen(engine)["Id"]
    done = containers.change("running", NAME, **AT_ONCE, command="sleep 700", environment=["A=1"])
    assert done.changes == {
        "container": {"Config": {"Cmd": {"old": ["sleep", "600"], "new": ["sleep", "700"]}}}
    }
    assert seen(engine)["Id"] != first
    assert [one["Names"] for one in engine.get("/containers/json", {"all": True})] == [[f"/{NAME}"]]


# Each of them must be the same on the second run: the engine's own way to write a value is not a change.
ARGUMENTS: dict[str, object] = {
    "binds": ["/tmp:/host", "/usr/share:/share:ro"],
    "blkio_weight": 0,
    "cap_add": ["NET_ADMIN", "sys_time"],
    "cap_drop": "MKNOD,KILL",
    "cgroup_parent": "/saltern-t/inner",
    "cpu_period": 100000,
    "cpu_quota": 50000,
    "cpu_shares": 512,
    "cpuset_cpus": "0",
    "cpuset_mems": "0",
    "detach": True,
    "devices": "/dev/null:/dev/nothing:rw",
    "dns": ["10.0.0.53", "10.0.0.54"],
    "dns_opt": "ndots:2",
    "dns_search": "example.org",
    "domainname": "example.org",
    "environment": [{"A": "x=y"}, "B=2", {"C": True}],
    "extra_hosts": {"db": "10.0.0.7"},
    "group_add": ["7", "8"],
    "healthcheck": {"test": "true", "interval": "30s", "retries": 3},
    "hostname": "box",
    "init": False,
    "ipc_mode": "host",
    "labels": ["lonely", "a=b", {"c": "d"}],
    "log_driver": "none",
    "log_opt": {"max-size": "10m"},
    "mac_address": "02:42:ac:11:00:22",
    "mem_limit": "64m",
    "mem_reservation": "32m",
    "memswap_limit": "128m",
    "nano_cpus": 500000000,
    "network_disabled": True,
    "network_mode": "none",
    "oom_kill_disable": False,
    "oom_score_adj": 500,
    "pid_mode": "host",
    "pids_limit": 50,
    "port_bindings": ["8080:80", "127.0.0.1:5353:53/udp", "9000-9001:7000-7001", "443"],
    "ports": [80, "53/udp", "3000-3002"],
    "publish_all_ports": True,
    "read_only": True,
    "restart_policy": "on-failure:5",
    "runtime": "runc",
    "security_opt": "no-new-privileges",
    "shm_size": "8m",
    "stdin_open": True,
    "stop_signal": "SIGUSR1",
    "stop_timeout": 1,
    "sysctls": {"net.ipv4.ip_forward": 1},
    "tmpfs": {"/run": "size=1m"},
    "tty": True,
    "ulimits": ["nofile=1024:2048", "nproc=100"],
    "user": "web",
    "userns_mode": "host",
    "uts_mode": "host",
    "volume_driver": "local",
    "volumes": ["/data", "/more"],
    "working_dir": "/tmp",
}


NEEDS = {"memswap_limit": {"mem_limit": "64m"}, "log_opt": {"log_driver": "json-file"}}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_every_argument_is_taken_and_then_stays_as_it_is(name: str, containers: Bench) -> None:
    given: dict[str, Any] = {"image": IMAGE, "command": SLEEP, "shutdown_timeout": 0}
    containers.change("running", NAME, **given, **NEEDS.get(name, {}), **{name: ARGUMENTS[name]})
    plain = containers.call("running", NAME, **given)
    assert plain.outcome is Outcome.OK, plain
    containers.same("running", NAME, **given)


def test_a_privileged_container_is_as_wanted(containers: Bench) -> None:
    """It is only made, not started: machines that are containers themselves may not start one."""
    create = containers.salt["docker.create"]
    create(IMAGE, name=NAME, command=SLEEP, privileged=True)
    foreseen = containers.call("running", NAME, test=True, image=IMAGE, command=SLEEP, privileged=True)
    assert foreseen.changes == {"state": {"old": "stopped", "new": "running"}}
    foreseen = containers.call("running", NAME, test=True, image=IMAGE, command=SLEEP)
    assert foreseen.changes["container"] == {"HostConfig": {"Privileged": {"old": True, "new": None}}}


def test_all_arguments_of_a_usual_container_together(containers: Bench, engine: Engine) -> None:
    left_out = {"network_mode", "network_disabled", "publish_all_ports", "cgroup_parent"}
    left_out |= {"mac_address", "cpu_period", "cpu_quota", "pid_mode", "ipc_mode", "uts_mode", "userns_mode"}
    given: dict[str, Any] = {name: value for name, value in ARGUMENTS.items() if name not in left_out}
    containers.change("running", NAME, image=IMAGE, entrypoint="/bin/sleep", command="600", **given)
    config = seen(engine)["Config"]
    assert isinstance(config, dict)
    assert (config["Entrypoint"], config["Cmd"]) == (["/bin/sleep"], ["600"])
    assert sorted(config["Env"]) == ["A=x=y", "B=2", "C=true"]


def test_other_names_of_arguments_mean_the_same(containers: Bench) -> None:
    containers.change(
        "running",
        NAME,
        image=IMAGE,
        cmd=SLEEP,
        env="A=1",
        publish="8080:80",
        restart="always",
        workdir="/tmp",
    )
    containers.same(
        "running",
        NAME,
        image=IMAGE,
        command=SLEEP,
        environment={"A": "1"},
        port_bindings={80: 8080},
        restart_policy={"Name": "always"},
        working_dir="/tmp",
    )
    why = containers.refusal("running", NAME, image=IMAGE, cmd=SLEEP, command="true")
    assert why == "'cmd' and 'command' are the same argument; give one of them"
    containers.same(
        "running",
        NAME,
        image=IMAGE,
        command=SLEEP,
        cmd="other",
        ignore_collisions=True,
        environment="A=1",
        publish="8080:80",
        restart="always",
        workdir="/tmp",
    )


def test_arguments_can_be_given_as_the_engine_has_them(containers: Bench) -> None:
    containers.change(
        "running",
        NAME,
        image=IMAGE,
        command=SLEEP,
        skip_translate="port_bindings,ports",
        port_bindings={"80/tcp": [{"HostIp": "", "HostPort": "8080"}]},
        ports={"80/tcp": {}},
    )
    containers.same("running", NAME, image=IMAGE, command=SLEEP, publish="8080:80")


def test_what_an_image_brings_is_no_difference(containers: Bench, images: Bench, tmp_path: Path) -> None:
    context = tmp_path / "context"
    context.mkdir()
    (context / "Dockerfile").write_text(
        f"FROM {IMAGE}\nENV A=1 B=2\nLABEL one=1\nEXPOSE 80\nVOLUME /data\nWORKDIR /etc\nUSER web\n"
        'STOPSIGNAL SIGUSR1\nHEALTHCHECK CMD true\nENTRYPOINT ["sleep"]\nCMD ["600"]\n'
    )
    images.change("present", "saltern-t/rich", build=str(context), tag="1")
    containers.change("running", NAME, image="saltern-t/rich:1", env={"A": 3}, labels={"two": 2}, ports=81)
    containers.change(
        "running", NAME, image="saltern-t/rich:1", entrypoint="sleep", command="50", shutdown_timeout=0
    )
    done = containers.change("running", NAME, **AT_ONCE, command=SLEEP)
    assert isinstance(done.changes["image"], dict)


def test_a_new_image_of_the_same_name_replaces_the_container(
    containers: Bench, images: Bench, tmp_path: Path
) -> None:
    context = tmp_path / "context"
    context.mkdir()
    for number in (1, 2):
        (context / "Dockerfile").write_text(f"FROM {IMAGE}\nENV NUMBER={number}\n")
        built = images.call("present", "saltern-t/moving", build=str(context), tag="1", force=True)
        assert built.outcome is Outcome.OK and built.changes, built
        done = containers.change(
            "running", NAME, image="saltern-t/moving:1", command=SLEEP, shutdown_timeout=0
        )
    assert done.changes.keys() == {"image", "container"}
    assert done.changes["container"] == {"Config": {"Env": {"old": ["NUMBER"], "new": ["NUMBER"]}}}


def test_a_stopped_or_paused_container_is_started(containers: Bench, engine: Engine) -> None:
    given: dict[str, Any] = {"image": IMAGE, "command": SLEEP}
    containers.change("running", NAME, **given)
    engine.ask("POST", f"/containers/{NAME}/kill")
    done = containers.change("running", NAME, **given)
    assert done.changes == {"state": {"old": "stopped", "new": "running"}}
    engine.ask("POST", f"/containers/{NAME}/pause")
    done = containers.change("running", NAME, **given)
    assert done.changes == {"state": {"old": "paused", "new": "running"}}


def test_a_container_that_shall_not_be_started_runs_once(containers: Bench, engine: Engine) -> None:
    given: dict[str, Any] = {"image": IMAGE, "command": "true", "start": False}
    done = containers.call("running", NAME, **given)
    assert done.outcome is Outcome.OK
    assert done.changes == {"state": {"old": None, "new": "created"}}
    engine.ask("POST", f"/containers/{NAME}/wait")
    containers.same("running", NAME, **given)


def test_force_replaces_what_is_right(containers: Bench, engine: Engine) -> None:
    given: dict[str, Any] = {"image": IMAGE, "command": SLEEP, "shutdown_timeout": 0}
    containers.change("running", NAME, **given)
    first = seen(engine)["Id"]
    foreseen = containers.call("running", NAME, test=True, force=True, **given)
    done = containers.call("running", NAME, force=True, **given)
    assert foreseen.changes == done.changes == {"forced_update": True}
    assert seen(engine)["Id"] != first


def test_a_watch_replaces_or_signals(containers: Bench, engine: Engine) -> None:
    given: dict[str, Any] = {
        "image": IMAGE,
        "command": ["sh", "-c", "trap 'echo hup' HUP; while :; do sleep 0.1; done"],
    }
    containers.change("running", NAME, **given)
    first = seen(engine)["Id"]
    for test in (True, False):
        told = containers.react("running", NAME, test=test, watch_action="SIGHUP", **given)
        assert told.changes == {"signal": "SIGHUP"}
    assert seen(engine)["Id"] == first
    for test in (True, False):
        told = containers.react("running", NAME, test=test, shutdown_timeout=0, **given)
        assert told.changes == {"forced_update": True}
    assert seen(engine)["Id"] != first


def test_networks_are_joined_left_and_rejoined(containers: Bench, networks: Bench, engine: Engine) -> None:
    networks.change("present", "saltern-t-a", subnet="10.231.1.0/24")
    networks.change("present", "saltern-t-b", subnet="10.231.2.0/24")
    given: dict[str, Any] = {"image": IMAGE, "command": SLEEP}
    placed = {"saltern-t-a": [{"ipv4_address": "10.231.1.7"}, {"aliases": ["www", "web"]}]}
    done = containers.change("running", NAME, networks=[placed, "saltern-t-b"], **given)
    told = done.data["networks"]
    assert isinstance(told, dict)
    assert told["saltern-t-a"] == "10.231.1.7" and told["saltern-t-b"].startswith("10.231.2.")
    first = seen(engine)["Id"]
    moved = {"saltern-t-a": {"ipv4_address": "10.231.1.8", "aliases": "web,www"}}
    done = containers.change("running", NAME, networks=[moved], **given)
    assert done.changes == {
        "container": {
            "Networks": {
                "saltern-t-a": {
                    "IPAMConfig": {
                        "old": {"IPv4Address": "10.231.1.7"},
                        "new": {"IPv4Address": "10.231.1.8"},
                    }
                },
                "saltern-t-b": {"IPConfiguration": {"old": "automatic", "new": None}},
            }
        }
    }
    done = containers.change("running", NAME, networks="saltern-t-b,bridge", **given)
    assert seen(engine)["Id"] == first, "networks are changed in place"
    containers.change("running", NAME, networks=[], **given)


def test_a_container_can_share_the_network_of_another(containers: Bench) -> None:
    containers.change("running", "saltern-t-other", image=IMAGE, command=SLEEP)
    containers.change("running", NAME, image=IMAGE, command=SLEEP, network_mode="container:saltern-t-other")


def test_the_old_container_is_back_if_the_new_one_cannot_start(containers: Bench, engine: Engine) -> None:
    containers.change("running", NAME, image=IMAGE, command=SLEEP)
    first = seen(engine)["Id"]
    done = containers.call("running", NAME, image=IMAGE, command="/no/such/program", shutdown_timeout=0)
    assert done.outcome is Outcome.FAILED and "/no/such/program" in done.comment
    assert done.changes == {}
    again = seen(engine)
    assert again["Id"] == first
    containers.same("running", NAME, image=IMAGE, command=SLEEP)
    assert len(engine.get("/containers/json", {"all": True})) == 1


def test_a_new_container_that_cannot_start_is_not_left_behind(containers: Bench, engine: Engine) -> None:
    done = containers.call("running", NAME, image=IMAGE, command="/no/such/program")
    assert done.outcome is Outcome.FAILED
    assert engine.find(f"/containers/{NAME}/json") is None


def test_a_container_that_ends_at_once_is_a_failure_with_its_exit_code(containers: Bench) -> None:
    for _ in range(20):  # on a busy machine it may end only after the state has looked
        done = containers.call("running", NAME, image=IMAGE, command="false")
        if done.outcome is Outcome.FAILED:
            break
    assert done.outcome is Outcome.FAILED
    assert "exit code 1" in done.comment


def test_values_of_the_environment_are_shown_nowhere(containers: Bench) -> None:
    secret, other = "s3cr3t-one", "s3cr3t-two"
    given: dict[str, Any] = {**AT_ONCE, "command": SLEEP, "log_driver": "json-file"}
    results = [containers.call("running", NAME, environment={"DB_PASSWORD": secret}, **given)]
    results += [
        containers.call("running", NAME, test=test, environment={"DB_PASSWORD": other}, **given)
        for test in (True, False)
    ]
    assert results[-1].changes == {
        "container": {"Config": {"Env": {"old": ["DB_PASSWORD"], "new": ["DB_PASSWORD"]}}}
    }
    for bad in ([[f"A={secret}"]], {"A": [secret]}, [f"={secret}"]):
        results.append(containers.call("running", NAME, environment=bad, **given))
        assert results[-1].outcome is Outcome.FAILED
    results.append(containers.call("running", NAME, environment={"A": other}, dns="x", **given))
    for result in results:
        assert secret not in repr(result) and other not in repr(result), result


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"image": None}, "the argument 'image' is missing"),
        ({"image": "no such image"}, "an image name is"),
        ({"port_bindings": "80:a"}, "argument 'port_bindings' needs a port"),
        ({"port_bindings": "1-3:5-6"}, "has 3 ports outside and 2 inside"),
        ({"port_bindings": "nowhere:80:80"}, "is not an IP address"),
        ({"port_bindings": "99999:80"}, "from 1 to 65535"),
        ({"mem_limit": "lots"}, "argument 'mem_limit' needs a size"),
        ({"binds": "/only"}, "argument 'binds' needs /here:/there"),
        ({"environment": [["A"]]}, "argument 'environment' needs NAME=value"),
        ({"restart_policy": "sometimes"}, "needs no, always"),
        ({"ulimits": "nofile"}, "needs name=value"),
        ({"dns": "somewhere"}, "'somewhere' is not an IP address"),
        ({"command": "'open"}, "cannot be split into words"),
        ({"hostname": "a", "network_mode": "host"}, "leave out hostname"),
        ({"publish": "80", "publish_all": True}, "leave out port_bindings"),
        ({"networks": "a", "network_mode": "host"}, "excludes networks"),
        ({"networks": [{"a": {"color": "red"}}]}, "network 'a' has no setting 'color'"),
        ({"networks": [{"a": [{"aliases": None}]}]}, "needs a value for 'aliases'"),
        ({"networks": "saltern-t-none"}, "network saltern-t-none not found"),
        ({"healthcheck": {"prove": 1}}, "not 'prove'"),
        ({"cap_add": "FLY"}, "CAP_FLY"),
        ({"privileged": "perhaps"}, "needs true or false"),
    ],
    ids=str,
)
def test_bad_input_is_reported(given: dict[str, Any], why: str, containers: Bench, engine: Engine) -> None:
    assert why in containers.refusal("running", NAME, **{"image": IMAGE, "command": SLEEP, **given})
    assert engine.get("/containers/json", {"all": True}) == []


def test_a_container_has_a_name_that_is_one(containers: Bench) -> None:
    assert "a container name has" in containers.refusal("running", "../images", image=IMAGE)
