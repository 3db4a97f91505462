"""``cron`` with the real ``crontab`` program, taken out of Debian's package without installing it.

Where it cannot be had, a stand-in keeps the crontabs; so the states are tried in any case.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.modules.bench import Bench, ScriptedHost, alone, needs_root

from saltern.language.result import Outcome
from saltern.modules.functions import cron as cron_functions
from saltern.modules.lib.tables.crontab import MARKER, parse
from saltern.modules.states import cron
from saltern.system.process import Ran


class Crontabs(ScriptedHost):
    """``crontab -u user -l`` and ``crontab -u user -``, as cron's program answers."""

    def __init__(self) -> None:
        super().__init__({})
        self.kept: dict[str, str] = {}

    def run(self, command: object, **options: object) -> Ran:
        assert isinstance(command, list)
        user = command[2]
        if user == "nobody-there":
            return Ran(1, err="crontab:  user `nobody-there' unknown\n")
        if command[3] == "-":
            self.kept[user] = str(options["stdin"])
            return Ran(0)
        if user not in self.kept:
            return Ran(1, err=f"no crontab for {user}\n")
        return Ran(0, self.kept[user])


@pytest.fixture
def host() -> Crontabs:
    return Crontabs()


@pytest.fixture
def bench(tmp_path: Path, host: Crontabs) -> Bench:
    return Bench(tmp_path, cron, functions={"cron": cron_functions}, host=host)


def test_a_job_is_written_as_salt_writes_it(bench: Bench, host: Crontabs) -> None:
    host.kept["root"] = "# mine\n0 0 * * * own\n"
    done = bench.change("present", "echo one", minute=5, hour="*/2", comment="first\nsecond")
    assert done.changes == {"root": "echo one"}
    assert done.data["hour"] == "*/2"
    assert host.kept["root"] == (
        f"# mine\n0 0 * * * own\n{MARKER}\n"
        "# first\n# second SALT_CRON_IDENTIFIER:echo one\n5 */2 * * * echo one\n"
    )


def test_an_identifier_finds_the_job_again(bench: Bench, host: Crontabs) -> None:
    bench.change("present", "old", identifier="backup", user="web")
    bench.change("present", "new --all", identifier="backup", user="web", commented=True)
    assert host.kept["web"] == f"{MARKER}\n# SALT_CRON_IDENTIFIER:backup\n#DISABLED#* * * * * new --all\n"
    bench.change("present", "new --all", identifier="backup", user="web", special="@daily")
    assert host.kept["web"].endswith("@daily new --all\n")
    bench.same("absent", "x", identifier="backup", special="@hourly", user="web")
    assert bench.change("absent", "x", identifier="backup", user="web").changes == {"web": "x"}
    assert host.kept["web"] == f"{MARKER}\n"


def test_a_job_salt_wrote_is_known_and_neighbours_stay(bench: Bench, host: Crontabs) -> None:
    text = (
        f"{MARKER}\nMAILTO=ops\n# nightly SALT_CRON_IDENTIFIER:night\n0 3 * * * run\n"
        "# just a remark\n\n@reboot other\n1 2 3 4 5 plain\n"
    )
    host.kept["root"] = text
    assert parse(text).text() == text
    bench.same("present", "run", minute=0, hour=3, identifier="night")
    bench.same("present", "run", minute=0, hour=3, identifier="night", comment="nightly")
    bench.change("absent", "plain")
    assert host.kept["root"] == text.removesuffix("1 2 3 4 5 plain\n")


def test_a_random_minute_is_chosen_once(bench: Bench, host: Crontabs) -> None:
    first = bench.change("present", "job", minute="random", hour="random").data
    assert str(first["minute"]).isdigit()
    bench.change("present", "job", minute=7, hour="random")
    assert bench.same("present", "job", minute="random", hour="random").data["minute"] == "7"


def test_variables_come_and_go(bench: Bench, host: Crontabs) -> None:
    bench.change("present", "job")
    assert bench.change("env_present", "PATH", value="/bin").changes == {"root": "PATH"}
    bench.change("env_present", "PATH", value="/bin:/usr/bin")
    assert host.kept["root"].startswith(f"{MARKER}\nPATH=/bin:/usr/bin\n# SALT")
    bench.change("env_absent", "PATH")
    assert "PATH" not in host.kept["root"]


def test_a_file_is_the_whole_crontab(bench: Bench, host: Crontabs) -> None:
    (bench.tree / "tab").write_text("1 1 * * * {what}")
    done = bench.change("file", "salt://tab", template="braces", context={"what": "run"})
    assert host.kept["root"] == "1 1 * * * run\n"
    assert "+1 1 * * * run" in str(done.changes["diff"])
    (bench.tree / "tab").write_text("2 2 * * * other\n")
    bench.same("file", "salt://tab", replace=False)
    assert "salt://none" in bench.refusal("file", "salt://none")


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ({"special": "@never"}, "special cannot be '@never'"),
        ({"minute": "1 2"}, "minute cannot be '1 2'"),
        ({"user": "nobody-there"}, "unknown"),
        ({"user": "-r"}, "cannot be the name of a user"),
        ({"minutes": 1}, "did you mean 'minute'?"),
    ],
)
def test_what_cannot_be_is_refused_in_words(bench: Bench, args: dict[str, object], words: str) -> None:
    assert words in bench.refusal("present", "job", **args)
    assert "must not contain" in bench.refusal("present", "a\nb")


def test_without_the_program_a_run_fails_and_a_test_foresees(tmp_path: Path) -> None:
    bench = Bench(tmp_path, cron, host=ScriptedHost({}))
    assert "install cron" in bench.refusal("present", "job")
    assert bench.call("present", "job", test=True).outcome is Outcome.WOULD_CHANGE


def test_functions_look_and_change(bench: Bench) -> None:
    salt = bench.salt
    assert salt["cron.set_job"]("root", 1, 2, "*", "*", "*", "run", identifier="id") == "new"
    assert salt["cron.set_job"]("root", 1, 2, "*", "*", "*", "run", identifier="id") == "present"
    assert salt["cron.set_special"]("root", "@daily", "day") == "new"
    assert salt["cron.set_env"]("root", "A", "b") == "new"
    found = salt["cron.list_tab"]("root")
    assert isinstance(found, dict)
    assert [job["identifier"] for job in found["crons"]] == ["id"]
    assert found["special"][0]["spec"] == "@daily"
    assert found["env"] == [{"name": "A", "value": "b"}]
    assert salt["cron.rm"]("root", "x", identifier="id") == "removed"
    assert salt["cron.rm_env"]("root", "A") == "removed" and salt["cron.rm_env"]("root", "A") == "absent"


# -- the real program ------------------------------------------------------------------------------

SPOOL = Path("/var/spool/cron/crontabs")


@pytest.fixture
def real(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    if os.geteuid() or shutil.which("apt-get") is None:
        pytest.skip("needs root and apt")
    if shutil.which("crontab") is None:
        download = ["apt-get", "-qq", "download", "cron"]
        subprocess.run(download, cwd=tmp_path, check=False, capture_output=True)
        for package in tmp_path.glob("*.deb"):
            subprocess.run(["dpkg", "-x", package, tmp_path], check=True)
        if not (tmp_path / "usr/bin/crontab").exists():
            pytest.skip("the package cron cannot be had")
        monkeypatch.setenv("PATH", f"{tmp_path}/usr/bin:{os.environ['PATH']}")
    with alone():
        made = [place for place in (SPOOL, SPOOL.parent) if not place.exists()]
        SPOOL.mkdir(parents=True, exist_ok=True)
        subprocess.run(["useradd", "-M", "saltern-t-cron"], check=True)
        try:
            yield "saltern-t-cron"
        finally:
            (SPOOL / "saltern-t-cron").unlink(missing_ok=True)
            subprocess.run(["userdel", "saltern-t-cron"], check=True)
            for place in made:
                place.rmdir()


@needs_root("dpkg", "useradd")
def test_the_real_program_keeps_what_was_set(tmp_path: Path, real: str) -> None:
    bench = Bench(tmp_path, cron)
    bench.change("present", "echo 'a  b' % c", user=real, minute=1, identifier="it")
    bench.change("env_present", "MAILTO", value='""', user=real)
    bench.change("absent", "it", user=real)
    bench.change("env_absent", "MAILTO", user=real)


def test_special_times_make_the_five_fields_meaningless(bench: Bench, host: Crontabs) -> None:
    done = bench.change("present", "nightly", special="@daily", hour=1, month="*")
    assert done.warnings == ("special is given, so hour has no effect",)
    assert "@daily nightly" in host.kept["root"]


def test_a_job_at_special_times_is_removed_by_its_command(bench: Bench, host: Crontabs) -> None:
    bench.change("present", "nightly", special="@daily", identifier="one")
    bench.same("absent", "nightly", special="@hourly", identifier="two")
    bench.change("absent", "nightly", special="@daily", identifier="two")
    assert "nightly" not in host.kept["root"]


@pytest.mark.parametrize("value", ["", None, '""'])
def test_a_variable_may_be_empty(bench: Bench, host: Crontabs, value: str | None) -> None:
    bench.change("env_present", "MAILTO", value=value)
    assert host.kept["root"] == f'{MARKER}\nMAILTO=""\n'
    bench.same("env_present", "MAILTO", value=value)
    bench.change("env_absent", "MAILTO")
