"""How values of an SLS become those of the engine; no engine is needed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given as examples
from hypothesis import strategies as st

from saltern.modules.api.refused import Refused
from saltern.modules.lib.containers import driver_secrets, endpoints, forms, images, ports, stream, values
from saltern.modules.lib.containers.desired_container import DesiredContainer, differences
from saltern.modules.lib.containers.options import ALIASES, OPTIONS, read_arguments


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("512m", 1 << 29),
        ("1g", 1 << 30),
        ("1.5k", 1536),
        (1024, 1024),
        ("10MB", 10 << 20),
        ("2GiB", 2 << 30),
        (-1, -1),
    ],
)
def test_sizes(text: object, size: int) -> None:
    assert values.size(text) == size


@pytest.mark.parametrize("bad", ["", "m", "1x", "1mmm", None, [], "nan", "inf"])
def test_what_is_no_size_is_refused(bad: object) -> None:
    with pytest.raises(Refused, match="needs a size"):
        values.size(bad)


@pytest.mark.parametrize(
    ("given", "made"),
    [
        ("80", {"80/tcp": [("", "")]}),
        ("8080:80", {"80/tcp": [("", "8080")]}),
        (["8080:80/udp", "8081:80/udp"], {"80/udp": [("", "8080"), ("", "8081")]}),
        ("127.0.0.1:8080:80", {"80/tcp": [("127.0.0.1", "8080")]}),
        ("127.0.0.1::80", {"80/tcp": [("127.0.0.1", "")]}),
        ("[::1]:8080:80", {"80/tcp": [("::1", "8080")]}),
        ("1-2:3-4", {"3/tcp": [("", "1")], "4/tcp": [("", "2")]}),
        ({80: 8080}, {"80/tcp": [("", "8080")]}),
        ({"53/udp": ["10.0.0.1", 5353]}, {"53/udp": [("10.0.0.1", "5353")]}),
        ({80: [8080, 8081]}, {"80/tcp": [("", "8080"), ("", "8081")]}),
        ({80: None}, {"80/tcp": [("", "")]}),
        ({80: [{"HostIp": "", "HostPort": "1"}]}, {"80/tcp": [("", "1")]}),
    ],
    ids=str,
)
def test_ports(given: object, made: dict[str, list[tuple[str, str]]]) -> None:
    found = ports.bindings(given)
    assert {
        port: [(one["HostIp"], one["HostPort"]) for one in places] for port, places in found.items()
    } == made


WORDS = st.sampled_from(["1:2", "a=b", "80/udp", "127.0.0.1:80:80", "/a:/b:ro", "Name", "name", "30s", "-1"])
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | WORDS
NESTED = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text() | WORDS, inner))


@examples(NESTED)
def test_no_value_makes_a_reader_stumble(value: Any) -> None:
    for option in OPTIONS.values():
        try:
            option.form(option.read(value))
        except Refused:
            pass
    try:
        endpoints.read(value)
    except Refused:
        pass


def test_every_other_name_is_of_an_argument_that_is_there() -> None:
    assert set(ALIASES.values()) <= set(OPTIONS)
    assert not set(ALIASES) & set(OPTIONS)


def test_host_config_has_settings_by_the_names_of_the_engine() -> None:
    whole = {"Memory": 67108864, "AutoRemove": True}
    assert read_arguments({"mem_limit": "1g", "host_config": whole}).options == {
        "mem_limit": 67108864,
        "auto_remove": True,
    }
    with pytest.raises(Refused, match="'host_config' has no setting 'Memorry'; did you mean 'Memory'"):
        read_arguments({"host_config": {"Memorry": 1}})
    with pytest.raises(Refused, match="'host_config' needs a mapping"):
        read_arguments({"host_config": "Memory"})


def test_names_of_images_are_split() -> None:
    assert images.split("a/b:1") == ("a/b", "1")
    assert images.split("host:5000/a/b") == ("host:5000/a/b", "")
    assert images.split("a@sha256:12") == ("a", "sha256:12")


def test_arguments_that_mean_nothing_are_reported() -> None:
    assert read_arguments({"detach": True}).warnings == ()
    assert "always runs in the background" in read_arguments({"detach": False}).warnings[0]
    assert "put '/a:/b' under binds" in read_arguments({"volumes": "/a:/b"}).warnings[0]
    assert read_arguments({"volumes": "/a:/b"}).options == {"volumes": {"/b": {}}}


def test_engines_that_write_the_same_otherwise_do_not_differ() -> None:
    """What other versions tell, as the published reference of the interface has it (1.24 to 1.51)."""
    seen: dict[str, Any] = {
        "Config": {"Cmd": ["a"], "StopSignal": "SIGTERM", "Volumes": {"/b": {}}, "Hostname": "0123456789ab"},
        "HostConfig": {
            "NetworkMode": "default",
            "RestartPolicy": {"Name": "", "MaximumRetryCount": 0},
            "Binds": ["/a:/b:rw"],
            "CapAdd": ["CAP_NET_ADMIN"],
            "MemorySwappiness": -1,
            "ShmSize": 67108864,
            "SecurityOpt": ["label=disable"],
            "PortBindings": {},
        },
    }
    options = read_arguments({"command": "a", "binds": "/a:/b", "cap_add": "net_admin"}).options
    assert differences(DesiredContainer(image="a", options=options), seen, {"Config": {}}) == {}
    seen["HostConfig"]["NetworkMode"] = "bridge"
    assert differences(DesiredContainer(image="a", options=options), seen, {"Config": None}) == {}


def test_output_of_two_streams_is_taken_apart() -> None:
    body = b"\1\0\0\0\0\0\0\3out\2\0\0\0\0\0\0\3err\1\0\0\0\0\0\0\1!"
    assert stream.output(body) == ("out!", "err")
    assert stream.output(b"plain", raw=True) == ("plain", "")
    assert stream.output(b"\1\0\0") == ("", "")


def test_a_failure_in_the_middle_of_a_pull_is_one() -> None:
    body = b'{"status": "Pulling"}\r\n{"errorDetail": {"message": "gone"}, "error": "gone"}\r\n'
    with pytest.raises(Refused, match="gone"):
        stream.progress(body)


def test_passwords_in_options_are_hidden() -> None:
    told = driver_secrets.hide_passwords(
        {"splunk-token": "abc", "o": "user=a,password=b,ro", "max-size": "1m"}
    )
    assert told == {"splunk-token": "(hidden)", "o": "user=a,password=(hidden),ro", "max-size": "1m"}


def test_links_are_compared_by_their_ends() -> None:
    assert forms.links(["/db:/web/alias"]) == forms.links(["db:alias"]) == ["db:alias"]
