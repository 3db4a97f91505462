"""Keys, tokens and membership: on disk, in a terminal, and damaged."""

from __future__ import annotations

import os
import stat
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from saltern.fleet.identity.keys import SEALING, SIGNING, load_keys, load_or_make_keys
from saltern.fleet.identity.membership import (
    FILE,
    Membership,
    count_start,
    load_membership,
    save_membership,
)
from saltern.fleet.identity.token import (
    JoinToken,
    TokenRecord,
    is_proven,
    joiner_key,
    new_secret,
    proof,
    proof_key,
    read_token,
    write_token,
)
from saltern.language.diagnostics import OperationError

NOW = 1_800_000_000.0
TOKEN = JoinToken(
    fleet="fleet-1",
    servers=("tls://c1.example.com:4222", "tls://10.0.0.1:4222"),
    ca=b"\x30" + bytes(range(200)) * 2,
    roots=(b"r" * 32,),
    account="A" * 56,
    issuer="B" * 56,
    id="0a1b2c3d",
    secret=b"s" * 16,
    credential="eyJ0eXAiOiJKV1QiLCJhbGciOiJlZDI1NTE5LW5rZXkifQ." + "x" * 400 + ".y",
    expires=NOW + 3600,
)
MEMBER = Membership(
    id="web1",
    fleet="fleet-1",
    servers=TOKEN.servers,
    roots=TOKEN.roots,
    account=TOKEN.account,
    issuer=TOKEN.issuer,
    credential=TOKEN.credential,
)


def code_of(caught: pytest.ExceptionInfo[OperationError]) -> str:
    return caught.value.diagnostics[0].code


# -- keys ------------------------------------------------------------------------------------------


def test_keys_are_made_once_and_only_their_owner_can_read_them(tmp_path: Path) -> None:
    folder = tmp_path / "var" / "keys"
    mask = os.umask(0)
    try:
        made = load_or_make_keys(str(folder))
    finally:
        os.umask(mask)
    assert (
        load_or_make_keys(str(folder)).fingerprint == made.fingerprint == load_keys(str(folder)).fingerprint
    )
    assert {stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()} == {0o600}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.parametrize("name", [SIGNING, SEALING])
@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604])
def test_a_key_that_others_can_read_is_not_used(tmp_path: Path, name: str, mode: int) -> None:
    load_or_make_keys(str(tmp_path))
    (tmp_path / name).chmod(mode)
    with pytest.raises(OperationError, match=f"{mode:04o}") as caught:
        load_or_make_keys(str(tmp_path))
    assert code_of(caught) == "fleet-keys-exposed"


@pytest.mark.parametrize("name", [SIGNING, SEALING])
@pytest.mark.parametrize(
    "damage", [b"", b"garbage\n", b"\xff\xfe", b"SU" + b"A" * 56 + b"\n", b"ab" * 31 + b"\n", None]
)
def test_damaged_keys_are_an_error_and_never_replaced(
    tmp_path: Path, name: str, damage: bytes | None
) -> None:
    """New keys would be another machine: that is for a person to decide."""
    load_or_make_keys(str(tmp_path))
    other = (tmp_path / ({SIGNING, SEALING} - {name}).pop()).read_bytes()
    if damage is None:
        (tmp_path / name).unlink()
    else:
        (tmp_path / name).write_bytes(damage)
    with pytest.raises(OperationError) as caught:
        load_or_make_keys(str(tmp_path))
    assert code_of(caught) == "fleet-keys-damaged"
    assert (tmp_path / ({SIGNING, SEALING} - {name}).pop()).read_bytes() == other


# -- tokens ----------------------------------------------------------------------------------------


def test_a_token_is_one_word_and_is_read_back_as_it_was() -> None:
    text = write_token(TOKEN)
    assert text.isascii() and not set(text) - set(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"
    )
    assert len(text) < 1600
    assert read_token(text, NOW) == TOKEN


def test_a_token_survives_the_line_breaks_of_a_mail() -> None:
    text = write_token(TOKEN)
    broken = "\n  ".join(text[start : start + 60] for start in range(0, len(text), 60))
    assert read_token(f"  {broken}\n", NOW) == TOKEN


@given(st.data())
def test_a_token_that_was_cut_or_changed_is_refused(data: st.DataObject) -> None:
    text = write_token(TOKEN)
    place = data.draw(st.integers(0, len(text) - 2))
    sign = data.draw(st.sampled_from("abcXYZ019-_"))
    for changed in (text[:place], text[:place] + sign + text[place + 1 :]):
        if changed != text:
            with pytest.raises(OperationError) as caught:
                read_token(changed, NOW)
            assert code_of(caught) == "fleet-token-invalid"


@given(st.text(max_size=100))
def test_what_is_no_token_is_refused(text: str) -> None:
    for word in (text, "saltern-join-" + text):
        with pytest.raises(OperationError):
            read_token(word, NOW)


def test_an_expired_token_says_so_before_anything_is_sent() -> None:
    with pytest.raises(OperationError, match="expired 60 s ago"):
        read_token(write_token(TOKEN), TOKEN.expires + 60)


def test_a_token_of_another_version_says_so() -> None:
    with pytest.raises(OperationError, match="another version"):
        read_token(write_token(replace(TOKEN, v=2)), NOW)


def test_a_proof_is_good_for_what_was_said_and_who_knows_the_secret() -> None:
    id, secret = new_secret()
    record = TokenRecord(id=id, key=proof_key(secret), expires=time.time() + 60)
    given = proof(proof_key(secret), b"said")
    assert is_proven(record, b"said", given)
    assert not is_proven(record, b"else", given)
    assert not is_proven(record, b"said", proof(proof_key(new_secret()[1]), b"said"))
    assert not is_proven(record, b"said", b"")
    assert secret not in record.key and joiner_key(secret).seed != record.key


# -- membership ------------------------------------------------------------------------------------


def test_membership_is_kept_privately_and_counts_starts(tmp_path: Path) -> None:
    save_membership(str(tmp_path), MEMBER)
    assert load_membership(str(tmp_path)) == MEMBER
    assert [count_start(str(tmp_path)).starts for _ in range(3)] == [1, 2, 3]
    assert load_membership(str(tmp_path)).starts == 3
    assert stat.S_IMODE((tmp_path / FILE).stat().st_mode) == 0o600


def test_a_machine_in_no_fleet_is_told_how_to_join(tmp_path: Path) -> None:
    with pytest.raises(OperationError, match="saltern agent join") as caught:
        load_membership(str(tmp_path))
    assert code_of(caught) == "fleet-not-joined"


@pytest.mark.parametrize("damage", [b"", b"{}", b'{"id": 3}', b"garbage"])
def test_a_damaged_membership_is_an_error(tmp_path: Path, damage: bytes) -> None:
    save_membership(str(tmp_path), MEMBER)
    (tmp_path / FILE).write_bytes(damage)
    with pytest.raises(OperationError) as caught:
        load_membership(str(tmp_path))
    assert code_of(caught) == "fleet-membership-damaged"


def test_fields_of_a_later_version_are_skipped(tmp_path: Path) -> None:
    save_membership(str(tmp_path), MEMBER)
    text = (tmp_path / FILE).read_text().replace('"v": 1', '"v": 1, "later": {"a": 1}', 1)
    (tmp_path / FILE).write_text(text)
    assert load_membership(str(tmp_path)) == MEMBER
