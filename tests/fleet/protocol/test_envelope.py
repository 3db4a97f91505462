"""Nothing is obeyed but what a key certified by the fleet root has signed, for this system, now."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.fleet.protocol.examples import (
    CERTIFICATE,
    CONTROLLER,
    ENVELOPE,
    FLEET,
    ISSUER,
    JID,
    NOW,
    ROOT,
    TRUST,
)

from saltern.fleet.protocol.envelope import (
    EVERYONE,
    SKEW,
    Issuer,
    Refusal,
    Refused,
    Trust,
    Verified,
    certify,
    verify,
)
from saltern.fleet.protocol.keys import SigningKey
from saltern.fleet.protocol.messages import Audience, Control, Job, SyncAnswer

JOB = Job(jid=JID, function="test.ping")
WEB1 = Audience(ids=["web1"])
EVIL = SigningKey(b"e" * 32)


def opened(data: bytes, **more: Any) -> Verified:
    return verify(data, more.pop("trust", TRUST), **{"me": "web1", "now": NOW, **more})


def refusal(data: bytes, **more: Any) -> Refusal:
    with pytest.raises(Refused) as caught:
        opened(data, **more)
    assert str(caught.value)
    return caught.value.refusal


def issued(issuer: Issuer = ISSUER, audience: Audience = WEB1, **more: Any) -> bytes:
    return issuer.issue(JOB, audience, **{"now": NOW, "life": 600.0, **more})


def certified(**changes: Any) -> Issuer:
    """An issuer whose certificate differs in something."""
    root = changes.pop("root", ROOT)
    return replace(ISSUER, certificate=certify(root, replace(CERTIFICATE, **changes)))


def test_a_signed_job_is_obeyed_and_says_who_signed_it() -> None:
    verified = opened(issued())
    assert verified.of(Job) == JOB
    assert (verified.claims.jid, verified.certificate.name) == (JID, "c1")


def test_a_message_of_another_kind_is_not_taken_for_a_job() -> None:
    data = ISSUER.issue(Control(action="cancel", jid=JID), WEB1, now=NOW, life=600)
    with pytest.raises(Refused) as caught:
        opened(data).of(Job)
    assert caught.value.refusal is Refusal.WRONG_KIND


@given(st.data())
def test_a_changed_byte_anywhere_is_refused(data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(ENVELOPE) - 1))
    byte = data.draw(st.integers(0, 255).filter(lambda value: value != ENVELOPE[place]))
    changed = ENVELOPE[:place] + bytes([byte]) + ENVELOPE[place + 1 :]
    try:
        assert opened(changed).of(Job) == JOB  # a space, or the name of a field with a default
    except Refused:
        pass


@given(st.integers(0, len(ENVELOPE) - 1))
def test_a_cut_envelope_is_refused(length: int) -> None:
    with pytest.raises(Refused):
        opened(ENVELOPE[:length])


@given(st.binary(max_size=200))
def test_garbage_is_refused(data: bytes) -> None:
    assert refusal(data) is Refusal.MALFORMED


def test_what_another_key_signed_is_refused() -> None:
    assert refusal(issued(replace(ISSUER, key=EVIL))) is Refusal.BAD_SIGNATURE


def test_a_certificate_that_the_root_did_not_sign_is_refused() -> None:
    mine = replace(ISSUER, key=EVIL, certificate=certify(EVIL, replace(CERTIFICATE, key=EVIL.public)))
    assert refusal(issued(mine)) is Refusal.UNCERTIFIED


def test_a_signature_by_the_root_itself_of_something_else_is_no_certificate() -> None:
    text = msgspec.json.encode(replace(CERTIFICATE, key=EVIL.public))
    forged = msgspec.structs.replace(ISSUER.certificate, text=text.decode(), signature=ROOT.sign(text))
    assert refusal(issued(replace(ISSUER, key=EVIL, certificate=forged))) is Refusal.UNCERTIFIED


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"fleet": "other"}, Refusal.WRONG_FLEET),
        ({"expires": NOW - SKEW - 1}, Refusal.EXPIRED),
        ({"issued": NOW + SKEW + 1}, Refusal.FROM_FUTURE),
        ({"key": EVIL.public}, Refusal.BAD_SIGNATURE),
    ],
)
def test_a_certificate_must_count_here_and_now(change: dict[str, Any], why: Refusal) -> None:
    assert refusal(issued(certified(**change))) is why


def test_a_certificate_that_was_seen_before_is_still_refused_where_it_does_not_count() -> None:
    """Only the signature of a certificate is remembered, and only for the roots that it was checked with."""
    late = issued(life=10 * (CERTIFICATE.expires - NOW))
    assert opened(late).certificate.name == "c1"
    assert refusal(issued(), trust=replace(TRUST, withdrawn=frozenset({"c1-1"}))) is Refusal.WITHDRAWN
    assert refusal(issued(), trust=replace(TRUST, roots=(EVIL.public,))) is Refusal.UNCERTIFIED
    assert refusal(issued(), trust=replace(TRUST, fleet="other")) is Refusal.WRONG_FLEET
    assert refusal(late, now=CERTIFICATE.expires + 1000) is Refusal.EXPIRED


def test_a_withdrawn_certificate_is_refused() -> None:
    assert refusal(issued(), trust=replace(TRUST, withdrawn=frozenset({"c1-1"}))) is Refusal.WITHDRAWN


def test_a_second_root_can_take_over_from_the_first() -> None:
    new = certified(root=EVIL)
    assert refusal(issued(new)) is Refusal.UNCERTIFIED
    assert opened(issued(new), trust=Trust(fleet=FLEET, roots=(ROOT.public, EVIL.public))).of(Job) == JOB


def test_the_same_controller_of_another_fleet_is_refused() -> None:
    assert refusal(issued(replace(ISSUER, fleet="other"))) is Refusal.WRONG_FLEET


@pytest.mark.parametrize(
    ("later", "obeyed"),
    [
        (0, True),
        (600, True),
        (600 + SKEW, True),
        (601 + SKEW, False),
        (-SKEW, True),
        (-SKEW - 1, False),
        (86400, False),
    ],
)
def test_a_message_counts_between_its_dates_give_or_take_the_skew(later: float, obeyed: bool) -> None:
    if obeyed:
        opened(issued(), now=NOW + later)
    else:
        assert refusal(issued(), now=NOW + later) is (Refusal.EXPIRED if later > 0 else Refusal.FROM_FUTURE)


def is_web(expression: str) -> bool:
    return expression == "web*"


@pytest.mark.parametrize(
    ("audience", "matches", "obeyed"),
    [
        (Audience(ids=["web1", "web2"]), None, True),
        (Audience(ids=["web2"]), None, False),
        (Audience(ids=["web"]), None, False),
        (Audience(), None, False),
        (EVERYONE, None, True),
        (Audience(expression="web*"), is_web, True),
        (Audience(expression="db*"), is_web, False),
        (Audience(expression="web*"), None, False),
        (Audience(expression=""), lambda _: True, False),
    ],
)
def test_only_who_is_addressed_obeys(
    audience: Audience, matches: Callable[[str], bool] | None, obeyed: bool
) -> None:
    more = {"matches": matches} if matches else {}
    if obeyed:
        opened(issued(audience=audience), **more)
    else:
        assert refusal(issued(audience=audience), **more) is Refusal.NOT_ADDRESSED


def test_an_answer_is_taken_for_its_own_request_only() -> None:
    answer = ISSUER.issue(SyncAnswer(cursor=1), WEB1, now=NOW, life=60, nonce="n1")
    assert opened(answer, nonce="n1").of(SyncAnswer).cursor == 1
    assert refusal(answer, nonce="n2") is Refusal.WRONG_NONCE


def resigned(change: Callable[[dict[str, Any]], None]) -> bytes:
    """An envelope whose claims a controller changed and signed: what a fault of ours would send."""
    envelope = json.loads(ENVELOPE)
    claims = json.loads(envelope["signed"])
    change(claims)
    envelope["signed"] = json.dumps(claims)
    signature = CONTROLLER.sign(b"saltern envelope 1\n" + envelope["signed"].encode())
    return msgspec.json.encode({**envelope, "signature": signature})


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"v": 2}, Refusal.NEWER),
        ({"kind": "return"}, Refusal.WRONG_KIND),
        ({"kind": "nothing"}, Refusal.WRONG_KIND),
        ({"jid": "another"}, Refusal.MALFORMED),
        ({"body": {"v": 2, "jid": JID, "function": "x"}}, Refusal.NEWER),
        ({"body": {"jid": JID}}, Refusal.MALFORMED),
        ({"body": []}, Refusal.MALFORMED),
        ({"expires": None}, Refusal.MALFORMED),
    ],
)
def test_claims_that_make_no_sense_are_refused_even_if_signed(change: dict[str, Any], why: Refusal) -> None:
    assert refusal(resigned(lambda claims: claims.update(change))) is why


def test_depth_inside_of_the_signed_text_is_limited_too() -> None:
    nested: list[Any] = []
    for _ in range(100):
        nested = [nested]
    assert refusal(resigned(lambda claims: claims.update(body={"args": nested}))) is Refusal.TOO_DEEP
