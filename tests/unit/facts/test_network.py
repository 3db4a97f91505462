from __future__ import annotations

import threading

from saltern.facts import names, network

IP = """[{"ifname":"lo","address":"00:00:00:00:00:00","addr_info":[
 {"family":"inet","local":"127.0.0.1"},{"family":"inet6","local":"::1"}]},
 {"ifname":"ifb0","address":"6e:1a:18:73:07:2d","addr_info":[]},
 {"ifname":"eth0","address":"02:fc:00:00:00:01","addr_info":[
 {"family":"inet","local":"192.0.2.2"},{"family":"inet","local":"192.0.2.3","secondary":true},
 {"family":"inet6","local":"fd00::2"}]}]"""

ROUTE = """\
Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT
eth1\t00000000\t010000C0\t0003\t0\t0\t200\t00000000\t0\t0\t0
eth0\t00000000\t010200C0\t0003\t0\t0\t100\t00000000\t0\t0\t0
eth0\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0
"""
ZERO = "0" * 32
ROUTE6 = f"""\
fd000000000000000000000000000000 40 {ZERO} 00 {ZERO} 00000100 00000001 00000000 00000001     eth0
{ZERO} 00 {ZERO} 00 fd000000000000000000000000000001 00000400 00000001 00000000 00000003     eth0
{ZERO} 00 {ZERO} 00 {ZERO} ffffffff 00000001 00000000 00200200       lo
"""


def test_ip_tells_addresses_by_interface() -> None:
    found = network.from_ip(IP)
    assert list(found) == ["lo", "ifb0", "eth0"]
    assert found["eth0"].inet == ["192.0.2.2"]
    assert found["eth0"].others == ["192.0.2.3"]
    assert found["eth0"].inet6 == ["fd00::2"]
    assert found["ifb0"].inet == []


def test_an_ip_program_that_says_nonsense_finds_nothing() -> None:
    assert network.from_ip("") == {}
    assert network.from_ip("Usage: ip") == {}


def test_every_way_to_ask_knows_the_loopback() -> None:
    for found in (network.interfaces(), network._from_kernel(), network._from_psutil()):
        assert "127.0.0.1" in found["lo"].inet


def test_the_default_gateway_is_the_one_with_the_lowest_metric() -> None:
    assert network.gateway(ROUTE) == "192.0.2.1"
    assert network.gateway6(ROUTE6) == "fd00::1"


def test_no_default_route_is_no_gateway_and_a_route_without_address_is_true() -> None:
    assert network.gateway("") is False
    assert network.gateway6("") is False
    assert (
        network.gateway(ROUTE.splitlines()[0] + "\ntun0 00000000 00000000 0001 0 0 0 00000000 0 0 0\n")
        is True
    )


def test_the_resolver_file_is_read_and_the_later_of_domain_and_search_counts() -> None:
    text = (
        "# x\nnameserver 10.0.0.1\nnameserver fd00::1 # here\ndomain a.example\nsearch b.example c.example\n"
    )
    found = network.resolv(text + "options ndots:2 rotate\n")
    assert found["nameservers"] == ["10.0.0.1", "fd00::1"]
    assert found["ip4_nameservers"] == ["10.0.0.1"]
    assert found["ip6_nameservers"] == ["fd00::1"]
    assert found["domain"] == ""
    assert found["search"] == ["b.example", "c.example"]
    assert found["options"] == ["ndots:2", "rotate"]


def test_hosts_lines_are_found_by_any_of_their_names() -> None:
    text = "127.0.0.1 localhost\n127.0.1.1 web1.example.com web1 # me\n"
    assert names.in_hosts(text, "web1") == [("127.0.1.1", ["web1.example.com", "web1"])]
    assert names.in_hosts(text, "me") == []


def test_a_resolver_that_hangs_is_left_behind() -> None:
    released = threading.Event()

    def slow() -> str:
        released.wait(60)
        return "late"

    assert names.within(slow, "in time") == "in time"
    released.set()


def test_a_resolver_that_fails_gives_the_other_answer() -> None:
    def fails() -> str:
        raise OSError

    assert names.within(fails, "other") == "other"
