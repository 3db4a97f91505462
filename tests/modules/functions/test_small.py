"""The small modules: what they answer, and that bad input is told in words."""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from saltern import __version__
from saltern.config.settings import Settings
from saltern.engine.session import Session
from saltern.modules.api.context import Context
from saltern.modules.api.params import BadArgument
from saltern.system.clock import FakeClock

Call = Callable[..., object]


@pytest.mark.parametrize(
    ("call", "args", "kwargs", "expected"),
    [
        ("test.echo", ("a b",), {}, "a b"),
        ("test.ping", (), {}, True),
        ("test.true", (), {}, True),
        ("test.false", (), {}, False),
        ("test.outputter", ({"a": 1},), {}, {"a": 1}),
        ("test.arg", (1, "x"), {"k": 2}, {"args": [1, "x"], "kwargs": {"k": 2}}),
        ("test.arg_clean", (1,), {"k": 2, "__pub": 3}, {"args": [1], "kwargs": {"k": 2}}),
        ("test.arg_type", (1, "x"), {}, {"args": ["<class 'int'>", "<class 'str'>"], "kwargs": {}}),
        ("test.arg_repr", (1, "x"), {}, {"args": "(1, 'x')", "kwargs": "{}"}),
        ("test.kwarg", (), {"a": 1}, {"a": 1}),
        ("test.fib", (7,), {}, (13, 0.0)),
        ("test.collatz", (6,), {}, ([6, 3, 10, 5, 16, 8, 4, 2], 0.0)),
        ("test.version", (), {}, __version__),
        ("test.cross_test", ("test.echo", ["x"]), {}, "x"),
        ("test.try", ("test.echo",), {"text": "x"}, "x"),
        ("test.try", ("test.exception",), {}, ""),
        ("test.conf_test", (), {}, "unconfigured"),
        ("test.not_loaded", (), {}, []),
        ("test.provider", ("cmd",), {}, "cmdmod"),
        ("test.provider", ("test",), {}, "test"),
        ("test.provider", ("nothing",), {}, ""),
        ("test.assertion", (True,), {}, None),
        ("random.get_str", (10,), {"chars": "a"}, "aaaaaaaaaa"),
        ("random.rand_int", (3, 3), {}, 3),
        ("random.hash", ("x", "md5"), {}, hashlib.md5(b"x").hexdigest()),
        ("random.hash", ("x",), {}, hashlib.sha512(b"x").hexdigest()),
        ("random.str_encode", ("x",), {}, "eA=="),
        ("random.str_encode", ("x", "hex"), {}, "78"),
        ("hashutil.digest", ("x",), {}, hashlib.md5(b"x").hexdigest()),
        ("hashutil.md5_digest", ("x",), {}, hashlib.md5(b"x").hexdigest()),
        ("hashutil.sha256_digest", ("x",), {}, hashlib.sha256(b"x").hexdigest()),
        ("hashutil.sha512_digest", ("x",), {}, hashlib.sha512(b"x").hexdigest()),
        ("hashutil.base64_b64encode", ("x",), {}, "eA=="),
        ("hashutil.base64_b64decode", ("eA==",), {}, "x"),
        ("hashutil.base64_encodestring", ("x",), {}, "eA==\n"),
        ("hashutil.base64_decodestring", ("eA==\n",), {}, "x"),
        ("hashutil.hmac_signature", ("x", "k", "eA=="), {}, False),
        ("environ.get", ("NO_SUCH_NAME", "d"), {}, "d"),
        ("environ.has_value", ("NO_SUCH_NAME",), {}, False),
        ("environ.item", (["NO_SUCH_NAME"],), {"default": "x"}, {"NO_SUCH_NAME": "x"}),
        ("user.info", ("no-such-user",), {}, {}),
        ("user.list_groups", ("no-such-user",), {}, []),
        ("user.primary_group", ("root",), {}, "root"),
        ("group.info", ("no-such-group",), {}, {}),
        ("network.interface_ip", ("lo",), {}, "127.0.0.1"),
        ("network.interface_ip", ("no-such",), {}, ""),
        ("network.ip_addrs", ("lo", True), {}, ["127.0.0.1"]),
        ("network.ip_addrs", (), {"cidr": "127.0.0.0/8", "include_loopback": True}, ["127.0.0.1"]),
        ("network.ip_addrs", ("lo",), {}, []),
        ("network.in_subnet", ("192.0.2.0/30", "192.0.2.1"), {}, True),
        ("network.calc_net", ("10.1.2.3/24",), {}, "10.1.2.0/24"),
        ("network.calc_net", ("10.1.2.3", "255.255.0.0"), {}, "10.1.0.0/16"),
        ("network.ip_in_subnet", ("10.0.0.5", "10.0.0.0/24"), {}, True),
        ("network.is_loopback", ("127.0.0.1",), {}, True),
        ("network.is_private", ("10.0.0.1",), {}, True),
        ("network.reverse_ip", ("127.0.0.1",), {}, "1.0.0.127.in-addr.arpa"),
        ("network.get_hostname", (), {}, os.uname().nodename),
        (
            "network.convert_cidr",
            ("10.0.0.0/24",),
            {},
            {"network": "10.0.0.0", "netmask": "255.255.255.0", "broadcast": "10.0.0.255"},
        ),
        ("saltutil.refresh_pillar", (), {}, True),
        ("saltutil.sync_modules", (), {"saltenv": "base"}, []),
        ("mine.get", ("*", "x"), {}, {}),
        ("data.get", ("x",), {}, None),
        ("log.info", ("said",), {}, True),
        ("sys.list_modules", ("te*",), {}, ["temp", "test"]),
        ("sys.list_functions", ("test.p*",), {}, ["test.ping", "test.provider", "test.providers"]),
        ("sys.reload_modules", (), {}, True),
        ("timezone.get_offset", (), {}, "+0000"),
        ("ini.get_option", ("/no/such/file", "a", "b"), {}, None),
    ],
)
def test_a_call_answers_as_salts_does(
    salt: Call, call: str, args: tuple[object, ...], kwargs: dict[str, object], expected: object
) -> None:
    assert salt(call, *args, **kwargs) == expected


@pytest.mark.parametrize(
    ("call", "args", "said"),
    [
        ("test.cross_test", ("no.such",), "no function is called 'no.such'"),
        ("test.raise_exception", ("NoSuchError",), "Python has no exception"),
        ("test.collatz", (0,), "of at least 1"),
        ("test.rand_str", (5, "zork"), "no digest is called 'zork'"),
        ("random.get_str", (5, "", False, False, False, False), "at least one kind"),
        ("random.sample", ([1], 2), "cannot take 2 of 1"),
        ("random.str_encode", ("x", "zork"), "not 'zork'"),
        ("random.hash", ("x", "zork"), "no digest is called 'zork'"),
        ("hashutil.base64_b64decode", ("x",), "not base64"),
        ("hashutil.digest_file", ("/no/such",), "cannot read /no/such"),
        ("environ.setval", ("A", "1", False, True), "permanently"),
        ("environ.setenv", (["A"],), "needs a mapping"),
        ("network.calc_net", ("zork",), "not a network"),
        ("disk.usage", ("-k; true",), "letters that df takes"),
        ("http.query", ("file:///etc/passwd",), "http:// or https://"),
    ],
)
def test_bad_input_is_reported_in_words(salt: Call, call: str, args: tuple[object, ...], said: str) -> None:
    with pytest.raises(BadArgument, match=said):
        salt(call, *args)


def test_sleeping_takes_the_clocks_time(ctx: Context, salt: Call) -> None:
    assert salt("test.sleep", "2") is True
    assert isinstance(ctx.clock, FakeClock) and ctx.clock.slept == [2.0]


def test_an_error_is_raised_on_request(salt: Call) -> None:
    with pytest.raises(KeyError, match="boo"):
        salt("test.raise_exception", "KeyError", "boo")
    assert isinstance(salt("test.try", "test.exception", return_try_exception=True), Exception)


def test_versions_name_what_saltern_stands_on(salt: Call) -> None:
    report = str(salt("test.versions_report"))
    assert __version__ in report and "jinja2" in report and "Python" in report


def test_random_values_with_a_seed_are_always_the_same(salt: Call) -> None:
    for call, args in (
        ("random.rand_int", (1, 10**9, "s")),
        ("random.seed", (10**9, "s")),
        ("random.shuffle", (list(range(50)), "s")),
        ("random.sample", (list(range(50)), 10, "s")),
    ):
        assert salt(call, *args) == salt(call, *args)
    assert salt("random.get_str", 30) != salt("random.get_str", 30)


def test_signatures_are_checked(salt: Call) -> None:
    made = hmac.new(b"k", b"x", "sha256")
    assert salt("hashutil.hmac_compute", "x", "k") == made.hexdigest()
    assert salt("hashutil.hmac_signature", "x", "k", base64.b64encode(made.digest()).decode()) is True
    sha1 = hmac.new(b"k", b"x", "sha1").hexdigest()
    assert salt("hashutil.github_signature", "x", "k", f"sha1={sha1}") is True
    assert salt("hashutil.github_signature", "x", "k", "zork=1") is False


def test_files_are_digested_and_encoded(salt: Call, tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_text("x")
    assert salt("hashutil.digest_file", str(one), "sha256") == hashlib.sha256(b"x").hexdigest()
    assert salt("hashutil.base64_decodefile", salt("hashutil.base64_encodefile", str(one)), str(two)) is True
    assert two.read_text() == "x"


def test_the_environment_can_be_set(salt: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SALTERN_TEST", "0")
    assert salt("environ.setval", "SALTERN_TEST", 1) == "1"
    assert salt("environ.has_value", "SALTERN_TEST", "1") is True
    assert salt("environ.setval", "SALTERN_TEST", False) == ""
    assert salt("environ.setenv", {"SALTERN_TEST": "2"}) == {"SALTERN_TEST": "2"}
    assert salt("environ.get", "SALTERN_TEST") == "2"
    assert salt("environ.setval", "SALTERN_TEST", False, false_unsets=True) is None
    assert "SALTERN_TEST" not in os.environ


def test_temporary_places_are_new(salt: Call, tmp_path: Path) -> None:
    file, place = (
        str(salt("temp.file", ".x", "p", str(tmp_path))),
        str(salt("temp.dir", parent=str(tmp_path))),
    )
    assert os.path.isfile(file) and file.endswith(".x") and os.path.isdir(place)


def test_users_and_groups_are_reported(salt: Call) -> None:
    root, group = salt("user.info", "root"), salt("group.info", "root")
    assert isinstance(root, dict) and isinstance(group, dict)
    assert (root["uid"], root["home"], "root" in root["groups"]) == (0, "/root", True)
    assert set(root) >= {"fullname", "roomnumber", "workphone", "homephone", "other", "shell", "gid"}
    assert group["gid"] == 0
    assert "root" in salt("user.list_users")  # type: ignore[operator]
    assert root in salt("user.getent") and group in salt("group.getent")  # type: ignore[operator]


def test_interfaces_have_their_addresses(salt: Call) -> None:
    found = salt("network.interfaces")
    assert isinstance(found, dict)
    assert found["lo"]["inet"][0]["netmask"] == "255.0.0.0"
    assert salt("network.hw_addr", "lo") == "00:00:00:00:00:00"


def test_a_machine_without_ip_knows_its_grains(
    make_context: Callable[..., Context], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/no/such/place")
    ctx = make_context(grains={"ip4_interfaces": {"eth0": ["192.0.2.1"]}})
    assert ctx.functions["network.ip_addrs"]() == ["192.0.2.1"]


def test_a_port_that_nobody_listens_to_is_reported(salt: Call) -> None:
    answer = salt("network.connect", "127.0.0.1", 1, timeout=1)
    assert isinstance(answer, dict) and answer["result"] is False


def test_data_lasts_for_a_run(salt: Call) -> None:
    assert salt("data.update", "k", [1]) is True
    assert (salt("data.get", "k"), salt("data.has_key", "k")) == ([1], True)
    assert salt("data.items") == {"k": [1]}
    assert salt("data.pop", "k") == [1]
    assert salt("data.clear") is True


def test_functions_tell_of_themselves(ctx: Context, salt: Call) -> None:
    known = salt("sys.list_functions")
    assert isinstance(known, list) and {"test.true", "pillar.get", "cmd.run"} <= set(known)
    told = salt("sys.doc", "test.ping")
    assert isinstance(told, dict) and told["test.ping"].startswith("Return true: the machine responds.")
    assert salt("sys.argspec", "test.echo") == {
        "test.echo": {"args": ["text"], "defaults": None, "varargs": None, "kwargs": None}
    }
    assert "functions" in salt("test.module_report")  # type: ignore[operator]


def test_the_machine_tells_how_busy_and_full_it_is(salt: Call) -> None:
    assert set(salt("status.loadavg")) == {"1-min", "5-min", "15-min"}  # type: ignore[call-overload]
    assert {"seconds", "since_t", "days", "time"} <= set(salt("status.uptime"))  # type: ignore[call-overload]
    assert "MemTotal" in salt("status.meminfo")  # type: ignore[operator]
    full = salt("disk.usage")
    assert isinstance(full, dict) and set(full["/"]) == {
        "filesystem",
        "1K-blocks",
        "used",
        "available",
        "capacity",
    }
    assert str(salt("disk.percent", "/")).endswith("%")
    assert salt("timezone.get_zone")


def test_sections_and_options_are_read(salt: Call, tmp_path: Path) -> None:
    file = tmp_path / "x.ini"
    file.write_text("top = 0\n# note\n[a]\nb = 1 = 2\n; c = 3\n\n[e]\n")
    assert salt("ini.get_option", str(file), "a", "b") == "1 = 2"
    assert salt("ini.get_option", str(file), "a", "c") is None
    assert salt("ini.get_section", str(file), "a") == {"b": "1 = 2"}
    assert salt("ini.get_ini", str(file)) == {"": {"top": "0"}, "a": {"b": "1 = 2"}, "e": {}}


@pytest.mark.parametrize(
    ("named", "family", "file"),
    [
        ("systemd", "Debian", "systemd_service"),
        ("sysv", "Debian", "debian_service"),
        ("sysv", "RedHat", "rh_service"),
        ("sysv", "Slackware", "service"),
        ("openrc", "Alpine", "gentoo_service"),
    ],
)
def test_the_provider_of_services_has_the_name_of_salts_file(named: str, family: str, file: str) -> None:
    settings = Settings(id="here", grains={"os_family": family}, extra={"providers": {"service": named}})
    assert Session(settings).salt["test.provider"]("service") == file


def test_providers_are_listed_with_their_modules(salt: Call) -> None:
    found = salt("test.providers")
    assert isinstance(found, dict) and (found["useradd"], found["test"]) == ("user", "test")


@pytest.mark.parametrize(
    ("program", "files"), [("apt-get", ["aptpkg", "dpkg_lowpkg"]), ("dnf", ["yumpkg", "rpm_lowpkg"])]
)
def test_the_provider_of_packages_is_that_of_the_manager(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str, files: list[str]
) -> None:
    (tmp_path / program).touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    salt = Session(Settings(id="here")).salt
    assert [salt["test.provider"](one) for one in ("pkg", "lowpkg")] == files
