"""``pkgrepo`` for apt: files in a directory of the test, which ``APT_CONFIG`` makes apt's own."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.modules.bench import Bench, ScriptedHost

from saltern.language.result import Outcome
from saltern.modules.states import pkgrepo
from saltern.system.host import LocalHost
from saltern.system.process import Ran

LINE = "deb https://packages.acme.example/debian bookworm main"
BINARY = bytes([0x99, 0x01, 0x0D, 4]) + bytes(range(60))
ARMOURED = (
    "-----BEGIN PGP PUBLIC KEY BLOCK-----\nComment: a test\n\n"
    + b64encode(BINARY).decode()
    + "\n=abcd\n-----END PGP PUBLIC KEY BLOCK-----\n"
)


@pytest.fixture
def etc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    etc = tmp_path / "etc"
    (etc / "sources.list.d").mkdir(parents=True)
    (tmp_path / "apt.conf").write_text(f'Dir::Etc "{etc}";\n')
    monkeypatch.setenv("APT_CONFIG", str(tmp_path / "apt.conf"))
    return etc


@pytest.fixture
def bench(tmp_path: Path, etc: Path) -> Bench:
    return Bench(tmp_path, pkgrepo)


def test_a_repository_goes_into_its_file(bench: Bench, etc: Path) -> None:
    file = etc / "sources.list.d/acme.list"
    done = bench.change("managed", LINE, file=str(file), refresh=False)
    assert done.changes == {"repo": LINE}
    assert done.comment == f"Configured package repo '{LINE}'"
    assert file.read_text() == f"{LINE}\n"
    assert done.data["comps"] == ["main"]


def test_without_a_file_it_goes_where_it_is_or_into_the_main_one(bench: Bench, etc: Path) -> None:
    (etc / "sources.list.d/other.list").write_text(f"{LINE} contrib\n")
    done = bench.change("managed", LINE, refresh=False)
    assert done.changes == {
        "comps": {"old": ["main", "contrib"], "new": ["main"]},
        "line": {"old": f"{LINE} contrib", "new": LINE},
    }
    bench.change("managed", LINE.replace("deb ", "deb [arch=amd64] "), refresh=False)
    done = bench.change("managed", LINE, refresh=False)
    assert done.changes["architectures"] == {"old": ["amd64"], "new": []}
    bench.change("managed", LINE.replace("bookworm", "trixie"), refresh=False)
    assert (etc / "sources.list").read_text() == f"{LINE.replace('bookworm', 'trixie')}\n"


def test_other_lines_and_comments_stay(bench: Bench, etc: Path) -> None:
    main = etc / "sources.list"
    main.write_text("# mine\ndeb http://a.example x main\n")
    bench.change("managed", LINE, refresh=False)
    assert main.read_text() == f"# mine\ndeb http://a.example x main\n{LINE}\n"
    bench.change("absent", LINE, refresh=False)
    assert main.read_text() == "# mine\ndeb http://a.example x main\n"


def test_a_remark_on_a_repository_stays_when_that_changes(bench: Bench, etc: Path) -> None:
    (etc / "sources.list").write_text(f"{LINE} more # ours, see ticket 7\n")
    bench.change("managed", LINE, refresh=False)
    assert (etc / "sources.list").read_text() == f"{LINE} # ours, see ticket 7\n"
    file = etc / "sources.list.d" / "a.sources"
    file.write_text(
        "# ours\nTypes: deb\nURIs: http://b.example\nSuites: x\n# and this\nComponents: main more\n"
    )
    bench.change("managed", "deb http://b.example x main", file=str(file), refresh=False)
    stanza = "Types: deb\nURIs: http://b.example\nSuites: x\nComponents: main\n"
    assert file.read_text() == f"# ours\n# and this\n{stanza}"


def test_a_repository_is_disabled_by_a_comment(bench: Bench, etc: Path) -> None:
    bench.change("managed", LINE, refresh=False)
    done = bench.change("managed", LINE, disabled=True, refresh=False)
    assert done.changes["disabled"] == {"old": False, "new": True}
    assert done.changes["line"] == {"old": LINE, "new": f"# {LINE}"}
    assert (etc / "sources.list").read_text() == f"# {LINE}\n"


def test_parts_of_the_entry_may_be_arguments(bench: Bench, etc: Path) -> None:
    bench.change(
        "managed",
        LINE,
        comps="main,contrib",
        architectures="amd64",
        signedby="/x/y.gpg",
        refresh=False,
    )
    assert (etc / "sources.list").read_text() == (
        "deb [arch=amd64 signed-by=/x/y.gpg] https://packages.acme.example/debian bookworm main contrib\n"
    )


def test_a_file_of_stanzas_is_written_as_such(bench: Bench, etc: Path) -> None:
    file = etc / "sources.list.d/acme.sources"
    file.write_text("Types: deb\nURIs: http://a.example\nSuites: x\nComponents: main\n")
    name = LINE.replace("deb ", "deb [signed-by=/k.asc arch=amd64,arm64] ")
    bench.change("managed", name, file=str(file), refresh=False)
    assert file.read_text() == (
        "Types: deb\nURIs: http://a.example\nSuites: x\nComponents: main\n\n"
        "Types: deb\nURIs: https://packages.acme.example/debian\nSuites: bookworm\nComponents: main\n"
        "Architectures: amd64 arm64\nSigned-By: /k.asc\n"
    )
    bench.change("managed", name, file=str(file), enabled=False, refresh=False)
    assert file.read_text().endswith("Enabled: no\n")
    bench.change("absent", name, refresh=False)
    assert file.read_text() == "Types: deb\nURIs: http://a.example\nSuites: x\nComponents: main\n"


def test_a_clean_file_holds_nothing_else(bench: Bench, etc: Path) -> None:
    file = etc / "sources.list.d/acme.list"
    file.write_text(f"deb http://old.example x main\n{LINE}\n")
    bench.change("managed", LINE, file=str(file), clean_file=True, refresh=False)
    assert file.read_text() == f"{LINE}\n"


def test_a_key_goes_where_the_entry_says(bench: Bench, etc: Path, tmp_path: Path) -> None:
    for name, content in (("acme.gpg", BINARY), ("acme.asc", ARMOURED.encode())):
        path = tmp_path / "keyrings" / name
        line = LINE.replace("deb ", f"deb [signed-by={path}] ")
        done = bench.change("managed", line, key_text=ARMOURED, refresh=False)
        assert done.changes["key"] == {"old": None, "new": str(path)}
        assert path.read_bytes() == content
        assert path.stat().st_mode & 0o777 == 0o644


def test_a_key_comes_from_the_tree_and_is_followed(bench: Bench, etc: Path) -> None:
    (bench.tree / "key.asc").write_text(ARMOURED)
    file = str(etc / "sources.list.d/acme.list")
    bench.change("managed", LINE, file=file, key_url="salt://key.asc", refresh=False)
    assert (etc / "trusted.gpg.d/acme.asc").read_text() == ARMOURED
    (bench.tree / "key.asc").write_text(ARMOURED.replace("a test", "another"))
    bench.change("managed", LINE, file=file, key_url="salt://key.asc", refresh=False)


@pytest.mark.parametrize(
    ("name", "args", "words"),
    [
        ("acme", {}, "is not a repository of apt"),
        ("deb http://x.example bookworm", {}, "names no components"),
        (LINE, {"file": "acme.list"}, "absolute path"),
        (LINE, {"file": "/etc/apt/sources.list.d/acme.repo"}, "must end in .list or .sources"),
        (LINE, {"key_text": "<html>not found</html>"}, "not an OpenPGP key"),
        (LINE, {"key_url": "salt://nowhere"}, "was not found"),
        (LINE, {"keyid": "--yes", "keyserver": "x"}, "is not the ID of a key"),
        (LINE, {"enabled": True, "disabled": True}, "contradict"),
        (LINE, {"ppa": "nobody"}, "owner/name"),
        (LINE, {"ppa": "nobody/things"}, "is for Ubuntu"),
    ],
)
def test_bad_input_is_refused(bench: Bench, name: str, args: dict[str, object], words: str) -> None:
    assert words in bench.refusal("managed", name, **args)


@pytest.mark.parametrize(
    ("ran", "words"),
    [
        (Ran(127), "install software-properties-common first"),
        (Ran(1, "", "ERROR: user '~nobody' not found\n"), "user '~nobody' not found"),
    ],
)
def test_a_personal_archive_that_cannot_be_had_is_reported(
    tmp_path: Path, etc: Path, ran: Ran, words: str
) -> None:
    """The message is that of software-properties 0.99; there is no network here, and no Ubuntu."""
    host = Through({"add-apt-repository": ran})
    bench = Bench(tmp_path, pkgrepo, host=host, grains={"os": "Ubuntu", "oscodename": "noble"})
    result = bench.call("managed", "x", ppa="nobody/things")
    assert result.outcome is Outcome.FAILED
    assert words in result.comment


class Through(ScriptedHost):
    """Programs that are not in the table are the real ones."""

    def run(self, command: str | Sequence[str], **options: object) -> Ran:
        answer = super().run(command, **options)
        return answer if "no such file" not in answer.err else LocalHost.run(command, **options)  # type: ignore[arg-type]


def test_a_password_in_the_address_is_not_shown(bench: Bench, etc: Path) -> None:
    line = LINE.replace("https://", "https://me:ge@heim@")
    done = bench.change("managed", line, refresh=False)
    assert (etc / "sources.list").read_text() == f"{line}\n"
    assert "https://me:***@packages.acme.example" in done.comment
    told = [done, bench.change("managed", line, comps="contrib", refresh=False)]
    told.append(bench.change("absent", line, refresh=False))
    assert "heim" not in repr(told)
    bad = bench.call("managed", LINE, key_url="http://me:geheim@127.0.0.1:9/key", refresh=False)
    assert bad.outcome is Outcome.FAILED and "geheim" not in bad.comment


def test_a_file_with_nothing_left_goes(bench: Bench, etc: Path) -> None:
    file = etc / "sources.list.d/acme.list"
    file.write_text(f"{LINE} contrib\n")
    assert bench.change("absent", LINE, refresh=False).changes == {"repo": LINE}
    assert not file.exists()
    assert "is not a repository of apt" in bench.refusal("absent", "acme")


def test_lists_that_cannot_be_fetched_are_a_warning(bench: Bench, etc: Path, tmp_path: Path) -> None:
    state = tmp_path / "state"
    (state / "lists/partial").mkdir(parents=True)
    with (tmp_path / "apt.conf").open("a") as conf:
        conf.write(f'Dir::State "{state}";\nDir::Cache "{tmp_path}";\nAPT::Sandbox::User "root";\n')
    done = bench.call("managed", f"deb [trusted=yes] copy:{tmp_path}/nowhere ./")
    assert done.outcome is Outcome.OK
    assert "could not be updated" in done.warnings[0]


PLAIN = "http://deb.example.org/debian stable main"


@pytest.mark.parametrize("name", ["a.list", "a.sources"])
def test_a_known_entry_is_changed_when_its_architectures_are(bench: Bench, etc: Path, name: str) -> None:
    file = etc / "sources.list.d" / name
    for line in (f"deb {PLAIN}", f"deb [arch=amd64] {PLAIN}", f"deb {PLAIN} contrib"):
        bench.change("managed", line, file=str(file), refresh=False)
        assert file.read_text().count("deb.example.org") == 1


def test_lines_for_other_architectures_stay_apart(bench: Bench, etc: Path) -> None:
    file = etc / "sources.list.d" / "a.list"
    for arch in ("amd64", "arm64"):
        bench.change("managed", f"deb [arch={arch}] {PLAIN}", file=str(file), refresh=False)
    bench.change("managed", f"deb {PLAIN}", file=str(file), refresh=False)
    assert file.read_text().splitlines() == [
        f"deb [arch=amd64] {PLAIN}",
        f"deb [arch=arm64] {PLAIN}",
        f"deb {PLAIN}",
    ]


@pytest.mark.parametrize(("given", "word"), [(True, "yes"), ("yes", "yes"), (False, "no")])
def test_an_entry_says_whether_it_is_trusted(bench: Bench, etc: Path, given: object, word: str) -> None:
    bench.change("managed", LINE, refresh=False, trusted=given)
    assert (etc / "sources.list").read_text() == f"{LINE.replace('deb ', f'deb [trusted={word}] ')}\n"
    bench.same("managed", LINE, refresh=False, trusted=given)
