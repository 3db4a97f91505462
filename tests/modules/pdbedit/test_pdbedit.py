"""``pdbedit`` with the real program and a database of its own."""

from __future__ import annotations

import hashlib
import os
import pwd
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.modules.bench import Bench

from saltern.language.result import Outcome
from saltern.modules.functions import pdbedit as functions
from saltern.modules.lib.accounts import nt_hash, samba
from saltern.modules.states import pdbedit

needs_pdbedit = pytest.mark.skipif(
    shutil.which("pdbedit") is None or os.geteuid() != 0, reason="needs pdbedit (samba-common-bin) and root"
)
HASH = "8CC19B6A8CFEAC299C2871C86B38DE28"  # of "pw"
LOGIN = "daemon"  # a user of every machine


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    config = tmp_path / "smb.conf"
    places = {"private dir": "p", "state directory": "s", "cache directory": "c", "lock directory": "l"}
    lines = [f"{name} = {tmp_path / place}" for name, place in places.items()]
    for place in places.values():
        (tmp_path / place).mkdir()
    config.write_text("\n".join(["[global]", "netbios name = HERE", "passdb backend = tdbsam", *lines, ""]))
    monkeypatch.setenv("SMB_CONF_PATH", str(config))
    return Bench(tmp_path, pdbedit, functions={"pdbedit": functions})


@pytest.fixture
def call(bench: Bench) -> Callable[..., Any]:
    return lambda name, *args, **words: bench.run.functions[f"pdbedit.{name}"](*args, **words)


@pytest.mark.parametrize(
    "text, digest",
    [
        (b"", "31d6cfe0d16ae931b73c59d7e0c089c0"),
        (b"a", "bde52cb31de33e46245e05fbdbd6fb24"),
        (b"abcdefghijklmnopqrstuvwxyz", "d79e1c308aa5bbcdeea8ed63df412da9"),
        (b"1234567890" * 8, "e33b4ddc9c38f2199c3e7b164fcc0536"),
    ],
)
def test_md4_is_that_of_rfc_1320(text: bytes, digest: str) -> None:
    assert nt_hash.md4(text).hex() == digest


@pytest.mark.skipif("md4" not in hashlib.algorithms_available, reason="this OpenSSL has no MD4")
@given(st.binary(max_size=300))
def test_md4_is_that_of_openssl(data: bytes) -> None:
    assert nt_hash.md4(data) == hashlib.new("md4", data).digest()


@needs_pdbedit
@given(st.text(st.characters(exclude_characters="\n\r\0", codec="utf-8"), min_size=1, max_size=40))
@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@example("pass wörd \U0001f511 '\"$(x)")
@example(" blanks around ")
def test_what_samba_keeps_of_a_password_is_foreknown(call: Callable[..., Any], password: str) -> None:
    assert call("create", LOGIN, password)[LOGIN] in ("created", "updated")
    assert call("create", LOGIN, password) == {LOGIN: "unchanged"}
    assert call("get", LOGIN, hashes=True)["nt hash"] == call("generate_nt_hash", password)
    call("delete", LOGIN)


@needs_pdbedit
def test_an_account_is_made_changed_and_deleted(call: Callable[..., Any]) -> None:
    assert call("list") == {} and call("list", verbose=False) == [] and call("get", LOGIN) == {}
    assert call("modify", LOGIN, fullname="x") == {LOGIN: "absent"}
    assert call("create", LOGIN, HASH.lower(), password_hashed=True) == {LOGIN: "created"}
    assert call("create", LOGIN, "pw") == {LOGIN: "unchanged"}
    assert call("create", LOGIN, "other") == {LOGIN: "updated"}
    assert call("modify", LOGIN, fullname="A: B", drive="X:") == {LOGIN: "updated"}
    assert call("modify", LOGIN, fullname="A: B", drive="X:") == {LOGIN: "unchanged"}
    assert call("list", verbose=False) == [LOGIN]
    have = call("get", LOGIN)
    assert (have["full name"], have["homedir drive"], have["unix username"]) == ("A: B", "X:", LOGIN)
    assert "nt hash" not in have
    assert call("delete", LOGIN) == {LOGIN: "deleted"}
    assert call("delete", LOGIN) == {LOGIN: "absent"}


@needs_pdbedit
def test_what_cannot_be_done_is_the_answer(call: Callable[..., Any]) -> None:
    assert "is there a user" in call("create", "no-such-user", "pw")["no-such-user"]
    assert "Failed to add" in call("create", "no-such-user", "pw", machine_account=True)["no-such-user"]
    assert call("list", verbose=False) == []


FIELDS = {
    "domain": "WORKS",
    "profile": r"\\here\profiles\d",
    "script": "on.bat",
    "drive": "Z:",
    "homedir": r"\\here\homes",
    "fullname": "Grüße: -x",
    "account_desc": "--for 'tests' $(x)",
    "account_control": "[DX]",
    "user_sid": 4242,
}


@needs_pdbedit
@pytest.mark.parametrize("field", FIELDS)
def test_every_field_is_foretold_set_and_found_again(bench: Bench, field: str) -> None:
    made = bench.change("managed", LOGIN, password=HASH, password_hashed=True)
    assert made.changes == {LOGIN: "created"}
    changes: Any = bench.change("managed", LOGIN, **{field: FIELDS[field]}).changes
    assert set(changes[LOGIN]) == {
        samba.FIELDS[field][0]
        if field in samba.FIELDS
        else {"account_control": samba.FLAGS, "user_sid": samba.SID}[field]
    }


@needs_pdbedit
def test_one_run_makes_an_account_with_all_its_fields(bench: Bench) -> None:
    bench.change("present", LOGIN, password="pw", **FIELDS)
    bench.same("present", LOGIN, password="pw", reset_login_hours=True, reset_bad_password_count=True)
    bench.change("managed", LOGIN, account_control="[]")
    assert bench.change("managed", LOGIN, fullname="").changes
    assert bench.change("absent", LOGIN).changes == {LOGIN: "deleted"}
    bench.same("absent", LOGIN)


@needs_pdbedit
def test_no_answer_shows_a_password(bench: Bench) -> None:
    bench.change("managed", LOGIN, password="correct-horse")
    changed = bench.change("managed", LOGIN, password="battery-staple")
    failed = bench.call("managed", "no-such-user", password="battery-staple")
    assert failed.outcome is Outcome.FAILED and "is there a user 'no-such-user'" in failed.comment
    for result in (changed, failed):
        assert not any(
            secret in str(result)
            for secret in (
                "horse",
                "battery",
                nt_hash.nt_hash("battery-staple"),
                nt_hash.nt_hash("correct-horse"),
            )
        )


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "no account and no password": ({"fullname": "x"}, "give a password to create it"),
    "no hash": ({"password": "pw", "password_hashed": True}, "not an NT hash"),
    "a letter that cannot be set": (
        {"password": "pw", "account_control": "UX"},
        "account_control cannot set U",
    ),
    "two lines": ({"password": "pw", "fullname": "a\nb"}, "fullname must not contain"),
    "a password of two lines": ({"password": "zick\nzack"}, "the password must not contain"),
}


@needs_pdbedit
@pytest.mark.parametrize("case", REFUSED)
def test_what_no_account_can_have_is_refused_before_anything_is_done(bench: Bench, case: str) -> None:
    words, why = REFUSED[case]
    for test in (True, False):
        refused = bench.call("managed", LOGIN, test=test, **words)
        assert refused.outcome is Outcome.FAILED and why in refused.comment
        assert "zick" not in str(refused)
    assert bench.call("absent", LOGIN).changes == {}


@needs_pdbedit
def test_the_user_of_the_machine_stays(bench: Bench) -> None:
    bench.change("managed", LOGIN, password="pw")
    bench.change("absent", LOGIN)
    assert pwd.getpwnam(LOGIN)


def test_a_machine_without_samba_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    missing = Bench(tmp_path, pdbedit).call("managed", LOGIN, password="pw")
    assert missing.outcome is Outcome.FAILED and "'pdbedit' is not on this machine" in missing.comment
