"""What signatures say before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kit import chunk

from saltern.language.chunk import Chunk
from saltern.language.diagnostics import Diagnostics
from saltern.language.keywords import ENGINE_WORDS
from saltern.modules.api.check import check
from saltern.modules.api.params import BadArgument, bind
from saltern.modules.api.registry import Registry, schema
from saltern.modules.api.salt_arguments import DECISIVE
from saltern.modules.lib.x509.extensions import CERTIFICATE
from saltern.modules.lib.x509.names import ALIASES, ATTRIBUTES


def found(*chunks: Chunk, strict: bool = False) -> Diagnostics:
    result = Diagnostics()
    check(chunks, Registry(), result, strict=strict)
    return result


@pytest.mark.parametrize(
    ("one", "code", "told"),
    [
        (chunk("a", state="tset"), "state-unknown", "did you mean 'test'?"),
        (chunk("a", fun="nopp"), "state-unknown", "did you mean 'nop'?"),
        (chunk("a", state="file", fun="touch", atimes=1), "argument-unknown", "did you mean 'atime'?"),
        (chunk("a", state="file", fun="copy"), "argument-missing", "'source'"),
    ],
)
def test_a_problem_is_a_warning_and_with_strict_an_error(one: Chunk, code: str, told: str) -> None:
    (warning,) = found(one).warnings
    assert warning.code == code and told in str(warning)
    (error,) = found(one, strict=True).errors
    assert (error.code, error.what) == (warning.code, warning.what)


def test_words_of_the_engine_are_never_unknown() -> None:
    one = chunk("a", state="file", fun="touch", require=[], order=1, onlyif="true", name="x", __note__=1)
    assert not found(one)


def test_a_function_that_takes_anything_has_no_unknown_arguments() -> None:
    assert not found(chunk("a", whatever=1))


@pytest.mark.parametrize(
    ("one", "told"),
    [
        (chunk("/k", state="x509", fun="private_key_managed", passfrase="x"), "'passphrase'"),
        (chunk("/k", state="x509", fun="private_key_managed", modee="0600"), "'mode'"),
        (chunk("/c", state="x509", fun="certificate_managed", days_vald=3), "'days_valid'"),
        (chunk("r", state="pkgrepo", fun="managed", keyurl="http://x"), "'key_url'"),
        (chunk("h", state="http", fun="query", metod="POST"), "'method'"),
        (chunk("f", state="iptables", fun="append", chian="INPUT", table="nat"), "'chain'"),
        (chunk("n", state="network", fun="managed", type="eth", gatway="x"), "'gateway'"),
        (chunk("v", state="lvm", fun="lv_present", vgname="v", siz="1G"), "'size'"),
    ],
)
def test_a_slip_of_an_argument_of_a_function_that_takes_anything_is_found(one: Chunk, told: str) -> None:
    (error,) = found(one, strict=True).errors
    assert error.code == "argument-unknown"
    assert told in error.what
    assert [problem.what for problem in found(one).warnings] == [error.what]


REPOSITORY = (  # what files of dnf and zypper may have
    *("autorefresh", "bandwidth", "cost", "countme", "deltarpm", "enablegroups", "exclude", "excludepkgs"),
    *(
        "failovermethod",
        "fastestmirror",
        "gpgcakey",
        "includepkgs",
        "ip_resolve",
        "keepcache",
        "keeppackages",
    ),
    *("localpkg_gpgcheck", "max_parallel_downloads", "metadata_expire", "minrate", "mirrorlist_expire"),
    *(
        "module_hotfixes",
        "password",
        "path",
        "pkg_gpgcheck",
        "priority",
        "protect",
        "proxy",
        "proxy_username",
    ),
    *("repo_gpgcheck", "retries", "skip_if_unavailable", "sslcacert", "sslclientcert", "sslclientkey"),
    *("sslverify", "throttle", "timeout", "type", "user_agent", "username", "zchunk"),
)
RULE = ("comment", "connstate", "destination", "dport", "dports", "jump", "match", "proto", "source", "sport")


@pytest.mark.parametrize(
    ("one", "words"),
    [
        (chunk("r", state="pkgrepo", fun="managed"), REPOSITORY),
        (chunk("i", state="iptables", fun="append", chain="INPUT"), RULE),
        (chunk("i", state="nftables", fun="append", chain="input"), RULE),
        (chunk("c", state="x509", fun="certificate_managed"), (*ATTRIBUTES, *ALIASES, *CERTIFICATE)),
        (chunk("c", state="x509", fun="csr_managed", private_key="x"), (*ATTRIBUTES, *ALIASES, *CERTIFICATE)),
        (chunk("h", state="http", fun="query"), ("data", "data_file", "header_dict", "params", "username")),
    ],
)
def test_words_that_such_a_function_passes_on_are_no_slips(one: Chunk, words: tuple[str, ...]) -> None:
    one.args.update(dict.fromkeys(words, "x"))
    assert [problem.what for problem in found(one, strict=True).errors] == []


def test_every_chunk_is_reported_not_only_the_first_of_its_kind() -> None:
    assert len(found(chunk("a", fun="nopp"), chunk("b", fun="nopp")).warnings) == 2


def test_the_place_of_an_unknown_argument_is_its_own() -> None:
    (warning,) = found(chunk("a", state="file", fun="touch", atimes=1)).warnings
    assert str(warning.where) == "main.sls"


@pytest.mark.parametrize(
    ("one", "told"),
    [
        (chunk("a", state="pkg", fun="installed", verison="1"), "did you mean 'version'?"),
        (chunk("a", state="pkg", fun="removed", pkg=["b"]), "did you mean 'pkgs'?"),
        (chunk("a", state="service", fun="running", enabel=True), "did you mean 'enable'?"),
        (chunk("a", state="service", fun="dead", enabled=False), "did you mean 'enable'?"),
        (chunk("a", state="cmd", fun="run", cwdd="/"), "did you mean 'cwd'?"),
        (chunk("a", state="cmd", fun="run", user="ada"), "did you mean 'runas'?"),
        (chunk("a", state="cmd", fun="wait", cwdd="/"), "did you mean 'cwd'?"),
        (chunk("a", state="cmd", fun="script", runass="ada"), "did you mean 'runas'?"),
        (chunk("a", state="file", fun="managed", content="x"), "did you mean 'contents'?"),
        (chunk("a", state="file", fun="directory", makedir=True), "did you mean 'makedirs'?"),
        (chunk("a", state="file", fun="absent", mod="644"), "did you mean 'mode'?"),
        (chunk("a", state="git", fun="latest", target="/x", brnach="main"), "did you mean 'branch'?"),
        (chunk("a", state="pip", fun="installed", bin_enf="/x"), "did you mean 'bin_env'?"),
        (chunk("a", state="virtualenv", fun="managed", requirments="x"), "did you mean 'requirements'?"),
        (
            chunk("a", state="mount", fun="mounted", device="x", fstype="ext4", opt="ro"),
            "did you mean 'opts'?",
        ),
        (chunk("a", state="archive", fun="extracted", source="/x", if_misssing="/y"), "'if_missing'?"),
        (chunk("a", state="cron", fun="file", usr="ada"), "did you mean 'user'?"),
        (chunk("a", state="debconf", fun="set", data={}, requires=[]), "did you mean 'require'?"),
    ],
)
def test_a_slip_in_a_function_that_lets_anything_pass_is_found(one: Chunk, told: str) -> None:
    (warning,) = found(one).warnings
    assert warning.code == "argument-unknown" and told in str(warning)
    assert [error.code for error in found(one, strict=True).errors] == ["argument-unknown"]


@pytest.mark.parametrize(
    "one",
    [
        chunk("a", state="cmd", fun="wait", cwd="/", stateful=True, root="/x", output_loglevel="quiet"),
        chunk("a", state="pkg", fun="removed", refresh=True, fromrepo="x", install_recommends=False),
        chunk("a", state="service", fun="dead", reload=True, full_restart=True, enable=False),
        chunk("a", state="service", fun="running", provider="systemd", timeout=3),
        chunk("a", state="file", fun="absent", source="salt://x", user="root", template="jinja"),
        chunk("a", state="git", fun="config_set", more={"value": "x", "global": True}),
        chunk("a", state="schedule", fun="absent", function="test.ping", seconds=3),
        chunk("a", state="file", fun="managed", contents="x", win_owner="Administrators"),
    ],
)
def test_what_salt_takes_and_what_a_sister_function_takes_is_known_by_name(one: Chunk) -> None:
    assert not found(one, strict=True)


def test_an_argument_of_salt_that_does_nothing_here_is_reported_with_its_effect() -> None:
    one = chunk("a", state="pkg", fun="installed", pkg_verify=True)
    (warning,) = found(one, strict=True)
    assert (warning.code, warning.severity.value) == ("argument-unsupported", "warning")
    assert "not supported here and is ignored" in warning.what and "not verified" in warning.what


def test_one_of_a_function_that_takes_anything_is_reported_too() -> None:
    (warning,) = found(chunk("deb http://x ./", state="pkgrepo", fun="managed", comments=["a"])).warnings
    assert (warning.code, "no comment is written" in warning.what) == ("argument-unsupported", True)


def test_one_that_asks_for_nothing_is_not_reported() -> None:
    assert not found(chunk("a", state="pkg", fun="installed", pkg_verify=False, downloadonly=False, root=""))


@pytest.mark.parametrize(
    ("key", "name"), [("pkg.installed", "root"), ("pkg.uptodate", "dryrun"), ("cmd.run", "group")]
)
def test_a_state_fails_if_doing_without_an_argument_would_do_what_nobody_asked_for(
    key: str, name: str
) -> None:
    state, _, fun = key.partition(".")
    one = chunk("a", state=state, fun=fun, more={name: "/mnt"})
    (warning,) = found(one).warnings
    (error,) = found(one, strict=True).errors
    assert warning.what == error.what and f"{name!r} is not supported: " in error.what
    function = Registry().state(state, fun)
    assert function is not None
    with pytest.raises(BadArgument, match=f"the argument '{name}' is not supported: "):
        bind(schema(function), {name: "/mnt"})
    assert bind(schema(function), {name: None}).get(name) is None


class Texts:
    """A tree of templates, for the rule about variables."""

    def __init__(self, folder: Path, texts: dict[str, str]) -> None:
        self._folder = folder
        for name, text in texts.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
        self._names = list(texts)

    def find(self, path: str, env: str) -> str | None:
        return str(self._folder / path) if path in self._names and env == "base" else None

    def names(self, env: str) -> list[str]:
        return self._names if env == "base" else []


def rendered(tmp_path: Path, texts: dict[str, str], **args: object) -> list[tuple[str, str]]:
    given: dict[str, object] = {"source": "salt://t.j2", "template": "jinja", **args}
    one = chunk("/x", state="file", fun=str(given.pop("fun", "managed")), more=given)
    result = Diagnostics()
    check([one], Registry(), result, strict=True, files=Texts(tmp_path, texts))
    return [(told.code, told.severity.value) for told in result]


@pytest.mark.parametrize(
    ("texts", "args"),
    [
        ({"t.j2": "{{ port }}"}, {"port": 80}),
        ({"t.j2": "nothing"}, {"port": 80, "hostname": "x"}),  # near no argument: who knows what for
        ({"t.j2": "{{ users }} {% if modes %}{% endif %}"}, {"users": [], "modes": 1}),
        ({"t.j2": "{% include 'inner.j2' %}", "inner.j2": "{{ users }}"}, {"users": []}),
        (
            {"d/t.j2": "{% import './m.j2' as m with context %}", "d/m.j2": "{{ users }}"},
            {"source": "salt://d/t.j2", "users": 1},
        ),
        ({"d/a": "x", "d/b": "{{ users }}"}, {"fun": "recurse", "source": "salt://d", "users": 1}),
        ({"t.j2": "{{ users }}"}, {"source": ["salt://not-there", "salt://t.j2"], "users": 1}),
        ({"t.j2": "{{ textt }}"}, {"fun": "append", "textt": 1}),
        ({"t.j2": "{{ textt }}"}, {"fun": "append", "textt": 1, "template": "jinja"}),
        ({"t.j2": "{{ contents }}"}, {"fun": "blockreplace", "contents": 1}),
    ],
)
def test_a_variable_of_a_template_is_no_unknown_argument(
    tmp_path: Path, texts: dict[str, str], args: dict[str, object]
) -> None:
    assert rendered(tmp_path, texts, **args) == []


@pytest.mark.parametrize(
    ("texts", "args"),
    [
        ({"t.j2": "{{ port }}"}, {"mod": "644"}),
        ({"t.j2": "the model"}, {"mod": "644"}),
        ({"t.j2": "{{ port }}"}, {"usr": "ada"}),
        ({"t.j2": "{{ port }}"}, {"makedir": True}),
        ({"t.j2": "{{ port }}"}, {"contex": {"port": 80}}),
        ({"d/a": "x", "d/b": "y"}, {"fun": "recurse", "source": "salt://d", "file_mod": 644}),
        ({"t.j2": "x"}, {"template": None, "port": 80}),  # no template, so it can be no variable
        ({"t.j2": "x"}, {"source": None, "contents": "{{ port }}", "port": 80}),  # as in Salt
    ],
)
def test_a_slip_beside_a_template_is_found_unless_the_template_uses_the_name(
    tmp_path: Path, texts: dict[str, str], args: dict[str, object]
) -> None:
    assert rendered(tmp_path, texts, **args) == [("argument-unknown", "error")]


@pytest.mark.parametrize(
    ("texts", "args"),
    [
        ({}, {"source": "https://example.org/t.j2", "mod": "644"}),
        ({"t.j2": "{% include other %}"}, {"mod": "644"}),
    ],
)
def test_where_the_template_cannot_be_read_a_slip_is_only_a_warning(
    tmp_path: Path, texts: dict[str, str], args: dict[str, object]
) -> None:
    assert rendered(tmp_path, texts, **args) == [("argument-suspicious", "warning")]


NAMES = sorted({one for row in DECISIVE["file.managed"] for one in row})


@given(st.sampled_from(NAMES), st.data())
def test_any_single_slip_of_a_decisive_argument_fails_the_state(name: str, data: st.DataObject) -> None:
    """A letter left out, doubled, or two letters swapped: never a state that does something else."""
    at = data.draw(st.integers(0, len(name) - 2))
    slip = data.draw(
        st.sampled_from(
            [
                name[:at] + name[at + 1 :],
                name[: at + 1] + name[at:],
                name[:at] + name[at + 1] + name[at] + name[at + 2 :],
            ]
        )
    )
    function = Registry().state("file", "managed")
    assert function is not None
    known = schema(function)
    if slip in known.params or slip in ENGINE_WORDS:
        return
    with pytest.raises(BadArgument, match="did you mean"):
        bind(known, {slip: "x"})
