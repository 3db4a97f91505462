"""Addresses and networks."""

from __future__ import annotations

import ipaddress
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import TemplateRuntimeError

from saltern.render.filters import resolve

MIXED = ["10.0.0.1", "nope", "fe80::1", "8.8.8.8", "10.0.0.0/8", 5]

ANSWERS: list[tuple[str, Any, tuple[Any, ...], Any]] = [
    ("is_ip", "10.0.0.1", (), True),
    ("is_ip", "10.0.0.1/24", (), True),
    ("is_ip", "10.0.0.999", (), False),
    ("is_ip", None, (), False),
    ("is_ip", "fe80::1%eth0", (), True),
    ("is_ip", "010.0.0.1", (), False),
    ("is_ipv4", "fe80::1", (), False),
    ("is_ipv6", "fe80::1", (), True),
    ("is_ip", "10.0.0.1", ("private",), True),
    ("is_ip", "8.8.8.8", ("private",), False),
    ("is_ip", "8.8.8.8", ("public",), True),
    ("is_ip", "8.8.8.8", ("global",), True),
    ("is_ip", "10.0.0.1", ("loopback, private",), False),
    ("is_ip", "127.0.0.1", ("lo,private",), True),
    ("is_ip", "224.0.0.1", ("multicast",), True),
    ("is_ip", "169.254.0.1", ("link-local",), True),
    ("is_ip", "0.0.0.0", ("unspecified",), True),
    ("is_ip", "240.0.0.1", ("reserved",), True),
    ("is_ip", "fec0::1", ("site_local",), True),
    ("is_ip", "10.0.0.1", ("sl",), False),
    ("is_ip", "10.0.0.1", ("unheard-of",), True),
    ("ipaddr", "10.0.0.1/24", (), "10.0.0.1/24"),
    ("ipaddr", "FE80::1", (), "fe80::1"),
    ("ipaddr", "nope", (), None),
    ("ipaddr", {"a": 1}, (), None),
    ("ipaddr", MIXED, (), ["10.0.0.1", "8.8.8.8", "10.0.0.0/8", "fe80::1"]),
    ("ipaddr", MIXED, ("private",), ["10.0.0.1", "10.0.0.0/8", "fe80::1"]),
    ("ipv4", MIXED, (), ["10.0.0.1", "8.8.8.8", "10.0.0.0/8"]),
    ("ipv6", MIXED, (), ["fe80::1"]),
    ("ipv6", "10.0.0.1", (), None),
    ("ip_host", "192.168.0.12/24", (), "192.168.0.12/24"),
    ("ip_host", "192.168.0.12", (), "192.168.0.12/32"),
    ("ip_host", ["192.168.0.12/24", "fe80::1/64"], (None, 4), ["192.168.0.12/24"]),
    ("network_hosts", "192.168.0.12/30", (), ["192.168.0.13", "192.168.0.14"]),
    ("network_hosts", "192.168.0.1", (), ["192.168.0.1"]),
    ("network_hosts", "fe80::/126", (), ["fe80::1", "fe80::2", "fe80::3"]),
    ("network_hosts", ["10.0.0.0/31"], (), [["10.0.0.0", "10.0.0.1"]]),
    ("network_hosts", "nope", (), None),
    ("network_size", "192.168.0.0/24", (), 256),
    ("network_size", "192.168.0.1", (), 1),
    ("network_size", ["10.0.0.0/8", "fe80::/64"], (), [2**24, 2**64]),
    ("filter_by_networks", ["192.168.0.10", "10.0.0.1"], (["192.168.0.0/24"],), ["192.168.0.10"]),
    ("filter_by_networks", {"eth0": ["fe80::1", "10.0.0.1"]}, (["fe80::/64"],), {"eth0": ["fe80::1"]}),
    ("filter_by_networks", ["10.0.0.1"], (None,), ["10.0.0.1"]),
    ("filter_by_networks", ["10.0.0.1"], ([],), []),
    ("ipwrap", "fe80::1", (), "[fe80::1]"),
    ("ipwrap", ["fe80::1", "10.0.0.1", "host"], (), ["[fe80::1]", "10.0.0.1", "host"]),
    ("ipwrap", "[fe80::1]", (), "[fe80::1]"),
    ("ip_to_int", "10.0.0.1", (), 167772161),
    ("int_to_ipv4", 167772161, (), "10.0.0.1"),
    ("int_to_ipv6", "1", (), "::1"),
    ("nth_host", "10.0.0.0/24", (5,), "10.0.0.5"),
    ("nth_host", "10.0.0.0/24", (-1,), "10.0.0.255"),
    ("network_subnets", "10.0.0.0/24", (26,), 4),
    ("network_subnets", "10.0.0.0/24", (26, 1), "10.0.0.64/26"),
    ("network_subnets", "fe80::/64", (66, -1), "fe80::c000:0:0:0/66"),
    ("cidr_merge", ["fe80::1", "10.0.0.0/25", "10.0.0.128/25"], (), ["10.0.0.0/24", "fe80::1/128"]),
    ("cidr_merge", ["10.0.0.1", "10.0.0.200"], ("span",), "10.0.0.0/24"),
    ("cidr_merge", [], ("span",), None),
    ("cidr_to_ipv4_netmask", 24, (), "255.255.255.0"),
    ("cidr_to_ipv4_netmask", "99", (), ""),
    ("cidr_to_ipv4_netmask", "x", (), ""),
    ("slaac", "2001:db8::/64", ("00:11:22:33:44:55",), "2001:db8::211:22ff:fe33:4455"),
    ("dns_check", "127.0.0.1", (80,), "127.0.0.1"),
    ("dns_check", "::1", (80,), "[::1]"),
]

PROBLEMS: list[tuple[str, Any, tuple[Any, ...], str]] = [
    ("filter_by_networks", ["foo"], (["10.0.0.0/8"],), "'foo' does not appear to be"),
    ("filter_by_networks", 5, (["10.0.0.0/8"],), "needs a list of addresses"),
    ("nth_host", "10.0.0.0/24", (300,), "has only 256 addresses"),
    ("network_subnets", "10.0.0.0/24", (20,), "cannot be split"),
    ("network_subnets", "10.0.0.0/24", (26, 4), "only 4 networks"),
    ("cidr_merge", ["10.0.0.1"], ("sum",), "must be 'merge' or 'span'"),
    ("cidr_merge", ["10.0.0.1", "::1"], ("span",), "both IPv4 and IPv6"),
    ("slaac", "10.0.0.0/8", ("00:11:22:33:44:55",), "needs an IPv6 network"),
    ("ip_to_int", "x", (), "does not appear to be"),
    ("dns_check", "no.such.host.invalid", (80,), "no address is known"),
]


@pytest.mark.parametrize(("name", "value", "arguments", "answer"), ANSWERS)
def test_a_network_filter_answers_as_salt_does(
    name: str, value: Any, arguments: tuple[Any, ...], answer: Any
) -> None:
    assert resolve(name)(value, *arguments) == answer


@pytest.mark.parametrize(("name", "value", "arguments", "message"), PROBLEMS)
def test_a_network_problem_is_reported(
    name: str, value: Any, arguments: tuple[Any, ...], message: str
) -> None:
    with pytest.raises(TemplateRuntimeError, match=message):
        resolve(name)(value, *arguments)


def test_the_hosts_of_a_huge_network_are_not_listed() -> None:
    with pytest.raises(OverflowError, match="network_hosts lists up to"):
        resolve("network_hosts")("fe80::/64")


def test_a_made_up_mac_address_has_the_prefix_and_six_bytes() -> None:
    assert re.fullmatch(r"AC:DE:48(:[0-9A-F]{2}){3}", resolve("gen_mac")("AC:DE:48"))


@given(st.ip_addresses())
def test_an_address_is_its_number(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> None:
    number = resolve("ip_to_int")(str(address))
    assert resolve(f"int_to_ipv{address.version}")(number) == str(address)


@given(st.lists(st.ip_addresses(v=4).map(str), min_size=1, max_size=6))
def test_merged_and_spanning_networks_hold_every_address(addresses: list[str]) -> None:
    merged = resolve("cidr_merge")(addresses)
    span = resolve("cidr_merge")(addresses, "span")
    assert resolve("filter_by_networks")(addresses, merged) == addresses
    assert resolve("filter_by_networks")(addresses, [span]) == addresses
