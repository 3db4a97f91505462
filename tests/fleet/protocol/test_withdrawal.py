"""Keys of controllers that were withdrawn: only the root can do that, and it counts for every certificate."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from tests.fleet.protocol.examples import CERTIFICATE, CONTROLLER, ENVELOPE, FLEET, JID, NOW, ROOT, TRUST

from saltern.fleet.protocol.envelope import Issuer, Refusal, Refused, certify, verify
from saltern.fleet.protocol.keys import SigningKey
from saltern.fleet.protocol.messages import Audience, Job, Signed
from saltern.fleet.protocol.withdrawal import newly_withdrawn, withdraw, withdrawn_key

EVIL = SigningKey(b"e" * 32)
KEY = CONTROLLER.public.hex()
GOOD = withdraw(ROOT, replace(CERTIFICATE, serial="", issued=NOW))


def test_what_the_key_signs_is_refused_under_any_certificate() -> None:
    assert verify(ENVELOPE, TRUST, me="web1", now=NOW)
    known = replace(TRUST, withdrawn=newly_withdrawn([GOOD], TRUST))
    with pytest.raises(Refused) as caught:
        verify(ENVELOPE, known, me="web1", now=NOW)
    assert caught.value.refusal is Refusal.WITHDRAWN
    assert newly_withdrawn([GOOD], known) == frozenset()


@pytest.mark.parametrize(
    "signed",
    [
        withdraw(EVIL, CERTIFICATE),
        withdraw(CONTROLLER, CERTIFICATE),  # a controller has no say about another one, nor about itself
        certify(ROOT, CERTIFICATE),  # a certificate is no withdrawal
        withdraw(ROOT, replace(CERTIFICATE, fleet="other")),
        Signed(text=GOOD.text.replace("c1", "c2"), signature=GOOD.signature),
        Signed(text="{}", signature=ROOT.sign(b"saltern withdrawal 1\n{}")),
    ],
)
def test_what_is_no_word_of_the_root_is_left_out(signed: Signed) -> None:
    assert withdrawn_key(signed, FLEET, TRUST.roots) == ""
    assert newly_withdrawn([signed, GOOD], TRUST) == {KEY}


def test_a_withdrawal_is_no_certificate() -> None:
    issuer = Issuer(fleet=FLEET, key=CONTROLLER, certificate=withdraw(ROOT, CERTIFICATE))
    data = issuer.issue(Job(jid=JID, function="test.ping"), Audience(ids=["web1"]), now=NOW, life=60)
    with pytest.raises(Refused) as caught:
        verify(data, TRUST, me="web1", now=NOW)
    assert caught.value.refusal is Refusal.UNCERTIFIED
