"""Where callbacks may go, how they are signed, when they are sent again: the rules."""

from __future__ import annotations

import base64
import hashlib
import hmac
from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saltern.chains.statuses import OVER, Leg, Run
from saltern.fleet.callbacks.mail import mail_of
from saltern.fleet.callbacks.occurrences import NAMES, check_patterns, name_of, wants
from saltern.fleet.callbacks.reach import Destinations, check_url, masked_url
from saltern.fleet.callbacks.retry import FIRST, LONGEST, MOST, next_attempt
from saltern.fleet.callbacks.webhook import key_bytes, new_key, signature
from saltern.language.diagnostics import OperationError

FORBIDDEN = (
    "127.0.0.1", "127.8.8.8", "169.254.169.254", "0.0.0.0", "224.0.0.1", "255.255.255.255", "100.100.100.200",
    "::1", "::", "fe80::1", "fe80::1%eth0", "ff02::1", "fd00:ec2::254", "::ffff:127.0.0.1",
    "::ffff:169.254.169.254", "::127.0.0.1", "64:ff9b::a9fe:a9fe", "2002:7f00:1::",
)  # fmt: skip


@pytest.mark.parametrize("address", FORBIDDEN)
def test_what_only_the_controller_may_reach_is_refused_in_every_form(address: str) -> None:
    assert Destinations().refusal(address)
    host = f"[{address}]" if ":" in address else address
    with pytest.raises(OperationError, match="subscription-address"):
        check_url(f"http://{host}/x", Destinations())


@pytest.mark.parametrize("address", ["10.0.0.5", "192.168.1.1", "8.8.8.8", "2001:4860:4860::8888", "fd12::1"])
def test_other_addresses_are_reached(address: str) -> None:
    assert Destinations().refusal(address) == ""


def test_what_is_allowed_is_allowed_whatever_denies_it() -> None:
    reach = Destinations(("127.0.0.0/8",), ("127.0.0.0/8", "10.0.0.0/8"))
    assert (reach.refusal("127.0.0.1"), reach.refusal("::ffff:127.0.0.1")) == ("", "")
    assert reach.refusal("10.1.2.3")
    assert reach.refusal("169.254.169.254") == "", "a list of one's own replaces ours"


@given(st.ip_addresses())
def test_every_address_is_judged(address: IPv4Address | IPv6Address) -> None:
    why = Destinations().refusal(str(address))
    if address.version == 4:
        special = address.is_loopback or address.is_link_local or address.is_multicast or address.is_reserved
        assert bool(why) or not special
    assert bool(why) is bool(Destinations().refusal(str(ip_address(int(address))))) or address.version == 6


@pytest.mark.parametrize(
    "address",
    [
        "",
        "ftp://h/",
        "https://",
        "http://a:b@h/",
        "https://h:0/",
        "https://h:99999/",
        "//h",
        "http://h/\n",
        "x",
    ],
)
def test_what_is_no_web_address_is_refused(address: str) -> None:
    with pytest.raises(OperationError):
        check_url(address, Destinations())


def test_lists_show_no_paths_which_may_be_secrets() -> None:
    assert masked_url("https://hooks.example.org:8443/T0/B0/secret?k=v") == "https://hooks.example.org:8443/…"
    assert masked_url("https://example.org/") == "https://example.org/"


@given(st.binary(max_size=50), st.integers(0, 2**40))
def test_signatures_are_those_of_standard_webhooks(body: bytes, at: int) -> None:
    key = new_key()
    secret = base64.b64decode(key.removeprefix("whsec_"))
    wanted = hmac.new(secret, b"msg_1." + str(at).encode() + b"." + body, hashlib.sha256).digest()
    assert signature(key, "msg_1", at, body) == "v1," + base64.b64encode(wanted).decode()


@pytest.mark.parametrize(
    "key", ["", "x", "whsec_", "whsec_!!!!", "whsec_" + base64.b64encode(b"x" * 23).decode()]
)
def test_a_key_that_is_too_weak_or_none_is_refused(key: str) -> None:
    with pytest.raises(ValueError):
        key_bytes(key)


def test_waits_grow_and_end() -> None:
    waits: list[float] = []
    attempts = 1
    while (at := next_attempt(attempts, 1000.0)) is not None:
        waits.append(at - 1000.0)
        attempts += 1
    assert waits[0] == FIRST and waits == sorted(waits) and waits[-1] <= LONGEST and attempts == MOST
    assert next_attempt(1, 0.0, for_good=True) is None


def test_every_status_that_ends_something_has_a_name() -> None:
    ends = {name_of("leg", one.value) for one in Leg if one in OVER}
    assert ends | {name_of("run", one.value) for one in Run if one is not Run.DRAFT} <= set(NAMES)
    assert wants(["leg.*"], "leg.failed") and not wants(["run.*"], "leg.failed")


@pytest.mark.parametrize("pattern", ["run.fail", "legs.*", "", "RUN.*"])
def test_a_pattern_that_never_matches_is_refused(pattern: str) -> None:
    with pytest.raises(OperationError, match="subscription-event"):
        check_patterns(["run.*", pattern])


@given(st.text(max_size=40), st.text(max_size=40))
def test_a_mail_cannot_be_given_other_headers(chain: str, why: str) -> None:
    body = {"id": "msg_1", "event": "run.halted", "chain": chain, "run": "r", "version": 1, "author": "joe"}
    mail = mail_of({**body, "at": 0.0, "status": "halted", "before": "running", "why": why}, "a@b", "c@d")
    text = mail.as_bytes().decode()
    assert set(mail.keys()) <= {
        "Subject", "From", "To", "Date", "Message-ID", "Content-Type", "Content-Transfer-Encoding",
        "MIME-Version",
    }  # fmt: skip
    assert text.count("\nTo: ") + text.startswith("To: ") <= 1 + why.count("To: ")
