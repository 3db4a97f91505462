"""``nftables``, for real, in a network of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.modules.bench import Bench, needs_root
from tests.modules.own_network import OtherHost, namespaces

from saltern.language.result import Outcome
from saltern.modules.functions import nftables as nftables_functions
from saltern.modules.lib.firewalls import nft_code
from saltern.modules.states import nftables

WEB: dict[str, object] = {"chain": "input", "proto": "tcp", "dport": 80, "jump": "accept"}
needs_nft: Callable[[Callable[..., None]], Callable[..., None]] = needs_root(
    "nft", "unshare", "nsenter", "ip"
)


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    """A table ``filter`` with a chain ``input``, and nothing else."""
    with namespaces() as pid:
        host = OtherHost(pid)
        bench = Bench(tmp_path, nftables, functions={"nftables": nftables_functions}, host=host)
        host.run(
            ["nft", "add table ip filter; add chain ip filter input { type filter hook input priority 0; }"]
        )
        yield bench


def listed(bench: Bench, *what: str) -> list[str]:
    lines = bench.run.host.run(["nft", "-s", "list", *(what or ("chain", "ip", "filter", "input"))]).out
    return [line.strip() for line in lines.splitlines() if line.startswith("\t\t") and " hook " not in line]


@needs_nft
def test_tables_and_chains_come_and_go(bench: Bench) -> None:
    done = bench.change("table_present", "saltern-t", family="inet")
    assert (done.changes, done.data["exists"]) == ({"locale": "saltern-t"}, True)
    done = bench.change("chain_present", "plain", table="saltern-t", family="inet")
    assert done.changes == {"locale": "plain"} and "hook" not in done.data
    done = bench.change(
        "chain_present",
        "in",
        table="saltern-t",
        family="inet",
        table_type="filter",
        hook="input",
        priority=-5,
    )
    assert (done.data["hook"], done.data["prio"], done.data["policy"]) == ("input", -5, "accept")
    bench.change("append", "leads there", table="saltern-t", chain="in", family="inet", jump="plain")
    bench.change("append", "in it", table="saltern-t", chain="plain", family="inet", jump="drop")
    assert "busy" in bench.refusal("chain_absent", "plain", table="saltern-t", family="inet")
    assert listed(bench, "chain", "inet", "saltern-t", "plain") == ["drop"]
    bench.change("chain_absent", "in", table="saltern-t", family="inet")
    bench.change("chain_absent", "plain", table="saltern-t", family="inet")
    bench.change("table_absent", "saltern-t", family="inet")
    bench.same("chain_absent", "plain", table="saltern-t", family="inet")
    assert "belong together" in bench.refusal("chain_present", "x", hook="input")


@needs_nft
def test_a_rule_is_appended_once_however_it_is_written(bench: Bench) -> None:
    done = bench.change(
        "append", "web", chain="input", proto="tcp", dports=[443, 80, "1000:2000"], jump="accept"
    )
    assert done.changes == {"locale": "web"}
    assert listed(bench) == ["tcp dport { 80, 443, 1000-2000 } accept"]
    bench.same(
        "append", "the same", chain="input", protocol="tcp", dports="1000-2000,80,443", target="ACCEPT"
    )


@needs_nft
@pytest.mark.parametrize(
    ("args", "rule"),
    [
        ({"connstate": "RELATED,ESTABLISHED", "jump": "ACCEPT"}, "ct state { established, related } accept"),
        ({"if": "lo", "of": "! eth0", "jump": "accept"}, 'iifname "lo" oifname != "eth0" accept'),
        ({"source": "10.0.0.0/8", "counter": True, "jump": "drop"}, "ip saddr 10.0.0.0/8 counter drop"),
        ({"saddr": "not 10.0.0.1", "jump": "drop"}, "ip saddr != 10.0.0.1 drop"),
        ({"daddr": ["10.0.0.1", "10.0.0.2"], "jump": "drop"}, "ip daddr { 10.0.0.1, 10.0.0.2 } drop"),
        ({"proto": "tcp", "jump": "drop"}, "meta l4proto tcp drop"),
        (
            {"proto": "udp", "sport": "1:99", "dport": 53, "jump": "accept"},
            "udp dport 53 udp sport 1-99 accept",
        ),
        ({"icmp-type": ["echo-request"], "jump": "accept"}, "icmp type echo-request accept"),
        ({"pkttype": "broadcast", "jump": "drop"}, "meta pkttype broadcast drop"),
        ({"reject-with": "icmp type host-unreachable"}, "reject with icmp host-unreachable"),
        ({"jump": 'log prefix "seen: " level warn'}, 'log prefix "seen: "'),
        ({"jump": "limit rate 5/minute accept"}, "limit rate 5/minute accept"),
        (
            {"proto": "tcp", "dport": 22, "jump": "accept", "comment": "ssh"},
            'tcp dport 22 accept comment "ssh"',
        ),
    ],
)
def test_every_kind_of_option_reaches_the_kernel(bench: Bench, args: dict[str, object], rule: str) -> None:
    done = bench.change("append", "saltern-t", chain="input", **args)
    assert done.data["exists"] is True
    assert listed(bench) == [rule]
    bench.change("delete", "saltern-t", chain="input", **args)
    assert listed(bench) == []


@needs_nft
def test_addresses_are_translated_and_ports_redirected(bench: Bench) -> None:
    bench.change("table_present", "nat")
    for chain, hook in (("pre", "prerouting"), ("post", "postrouting")):
        bench.change("chain_present", chain, table="nat", table_type="nat", hook=hook, priority="0")
    args: dict[str, object] = {"table": "nat", "chain": "pre", "proto": "tcp", "dport": 80}
    bench.change("append", "redirect", **args, **{"redirect-to": 8080})
    bench.same("append", "redirect", **args, jump="redirect", **{"to-ports": 8080})
    bench.change("append", "to", **args, jump="dnat", **{"to-destination": "10.0.0.1:80"})
    bench.change(
        "append", "from", table="nat", chain="post", of="eth0", jump="snat", **{"to-source": "10.0.0.9"}
    )
    assert listed(bench, "chain", "ip", "nat", "pre") == [
        "tcp dport 80 redirect to :8080",
        "tcp dport 80 dnat to 10.0.0.1:80",
    ]
    assert listed(bench, "chain", "ip", "nat", "post") == ['oifname "eth0" snat to 10.0.0.9']


@needs_nft
def test_a_rule_is_inserted_first_or_before_another(bench: Bench) -> None:
    bench.change("append", "web", **WEB)
    bench.change("insert", "ssh", **{**WEB, "dport": 22})
    handle = bench.salt["nftables.get_rule_handle"]("filter", "input", "tcp dport 80 accept")
    bench.change("insert", "mail", position=handle["handle"], **{**WEB, "dport": 25})  # type: ignore[index]
    assert listed(bench) == ["tcp dport 22 accept", "tcp dport 25 accept", "tcp dport 80 accept"]


@needs_nft
def test_a_rule_is_deleted_wherever_it_is(bench: Bench) -> None:
    for _ in range(2):
        bench.run.host.run(["nft", "add rule ip filter input tcp dport { 80 } accept"])
    assert bench.change("delete", "web", **WEB).changes == {"locale": "web"}
    bench.change("append", "ssh", **{**WEB, "dport": 22})
    handle = bench.salt["nftables.get_rule_handle"]("filter", "input", "tcp dport 22 accept")
    bench.change("delete", "ssh", chain="input", position=handle["handle"])  # type: ignore[index]
    assert listed(bench) == []
    assert "its handle" in bench.refusal("delete", "x", chain="input")


@needs_nft
def test_a_test_foresees_rules_for_what_an_earlier_state_would_make(bench: Bench) -> None:
    for args in ({**WEB, "chain": "later"}, {**WEB, "table": "later"}, {"chain": "input", "jump": "later"}):
        foreseen = bench.call("append", "rule", test=True, **args)
        assert (foreseen.outcome, foreseen.changes) == (Outcome.WOULD_CHANGE, {"locale": "rule"})
        assert "No such file or directory" in bench.refusal("append", "rule", **args)


@needs_nft
def test_the_policy_is_set_and_kept(bench: Bench, tmp_path: Path) -> None:
    file = tmp_path / "deep" / "rules.nft"
    done = bench.change("set_policy", "drop", chain="input", policy="DROP", save=str(file))
    assert (done.changes, done.data["policy"]) == ({"locale": "drop"}, "drop")
    assert "policy drop" in file.read_text()
    file.unlink()
    again = bench.change(
        "set_policy", "drop", chain="input", policy="drop", save=True, save_filename=str(file)
    )
    assert again.changes == {"saved": str(file)}
    bench.run.host.run(["nft", "flush", "ruleset"])
    assert bench.run.host.run(["nft", "-f", str(file)]).code == 0
    bench.same("set_policy", "drop", chain="input", policy="drop")
    bench.change("chain_present", "plain")
    assert "only those have a policy" in bench.refusal("set_policy", "x", chain="plain", policy="drop")
    assert "policy cannot be 'maybe'" in bench.refusal("set_policy", "x", chain="input", policy="maybe")


@needs_nft
def test_rules_are_kept_in_a_file_of_a_directory(bench: Bench, tmp_path: Path) -> None:
    done = bench.change("append", "web", save=str(tmp_path), **{**WEB, "counter": ""})
    file = tmp_path / "salt-all-in-one.nft"
    assert done.data["file"] == str(file)
    assert "tcp dport 80 counter accept" in file.read_text()
    bench.change("delete", "web", save=str(tmp_path), **{**WEB, "counter": ""})
    assert "tcp dport 80" not in file.read_text()


@needs_nft
def test_a_kept_rule_does_not_mind_others_that_are_not_kept(bench: Bench, tmp_path: Path) -> None:
    file = str(tmp_path / "rules")
    kept: dict[str, object] = {**WEB, "save": file}
    bench.change("append", "web", **kept)
    bench.change("append", "ssh", **{**WEB, "dport": 22})
    bench.same("append", "web", **kept)
    assert bench.change("append", "ssh", **{**WEB, "dport": 22, "save": file}).changes == {"saved": file}
    bench.change("delete", "web", **WEB)
    bench.same("append", "ssh", **{**WEB, "dport": 22, "save": file})
    assert bench.change("delete", "web", **kept).changes == {"saved": file}


@needs_nft
def test_chains_are_flushed_when_there_is_something_in_them(bench: Bench) -> None:
    bench.same("flush", "nothing to do")
    bench.change("append", "web", **WEB)
    assert bench.change("flush", "input", chain="input").changes == {"locale": "input"}
    bench.change("append", "web", **WEB)
    bench.change("flush", "all")
    assert listed(bench) == []
    assert "no ip gone to flush" in bench.refusal("flush", "x", table="gone")
    bench.same("flush", "x", table="gone", ignore_absence=True)


@needs_nft
@pytest.mark.parametrize(
    ("args", "words"),
    [
        ({**WEB, "chain": ""}, "chain is missing"),
        ({**WEB, "chain": "a b"}, "chain cannot be 'a b'"),
        ({**WEB, "table": "x;y"}, "table cannot be 'x;y'"),
        ({**WEB, "family": "ipx"}, "family cannot be 'ipx'"),
        ({**WEB, "dport": 99999}, "99999"),
        ({**WEB, "dprot": 80}, "no argument is called 'dprot'"),
        ({**WEB, "dport": None}, "'dport' needs a value"),
        ({**WEB, "source": "bogus words"}, "bogus words"),
        ({**WEB, "comment": "a; b"}, "must not contain"),
        ({"chain": "input", "dport": 80, "jump": "accept"}, "needs a protocol"),
        ({"chain": "input"}, "the rule is empty"),
        ({**WEB, "save": "rules"}, "absolute path"),
    ],
)
def test_what_is_no_rule_is_refused_in_words(bench: Bench, args: dict[str, object], words: str) -> None:
    assert words in bench.refusal("append", "saltern-t", **args)
    assert listed(bench) == []


def test_code_is_compared_without_counts_and_order() -> None:
    """What nft 1.0.6 prints of one rule: in force, and not yet."""
    in_force = (
        "ip f @__set0\n\telement 0000bb01  : 0 [end]\n\telement 00005000  : 0 [end]\nip f input 3 2\n"
        "  [ lookup reg 1 set __set0 0x0 ]\n  [ counter pkts 7 bytes 70 ]\n\ntable ip f {\n\tchain input {\n"
    )
    not_yet = (
        "__set%d f 3 size 2\n__set%d f 0\n\telement 00005000  : 0 [end]\telement 0000bb01  : 0 [end]\n"
        "ip f input\n"
        "  [ lookup reg 1 set __set%d ]\n  [ counter pkts 0 bytes 0 ]\n"
    )
    (one,), (two,) = nft_code.rules(in_force), nft_code.rules(not_yet)
    assert (one.handle, two.handle) == (3, 0)
    assert one.code == two.code == ("lookup reg 1 set {00005000 : 0; 0000bb01 : 0}", "counter pkts bytes")


@needs_nft
def test_functions_look_and_change(bench: Bench, tmp_path: Path) -> None:
    salt, rule = bench.salt, "tcp dport 22 accept"

    def worked(name: str, *args: object, **keywords: object) -> bool:
        return bool(salt[f"nftables.{name}"](*args, **keywords)["result"])  # type: ignore[index]

    assert str(salt["nftables.version"]()).startswith("v1.")
    assert worked("new_table", "saltern-t", family="inet") and worked("check_table", "saltern-t", "inet")
    assert worked("new_chain", "saltern-t", "in", "filter", "input", 0, "inet")
    assert not worked("new_chain", "saltern-t", "in", family="inet")
    assert worked("check_chain", "saltern-t", "in", "inet")
    assert [one["name"] for one in salt["nftables.list_tables"]("inet")] == ["saltern-t"]  # type: ignore[attr-defined]
    assert worked("append", "saltern-t", "in", rule, "inet")
    assert not worked("append", "saltern-t", "in", rule, "inet")
    assert worked("insert", "saltern-t", "in", None, "tcp dport 80 accept", "inet")
    assert worked("check", "saltern-t", "in", rule, "inet")
    assert rule in salt["nftables.get_rules"]("inet")[0]  # type: ignore[index]
    assert any("rule" in one for one in salt["nftables.get_rules_json"]("inet"))  # type: ignore[attr-defined]
    assert salt["nftables.get_policy"]("saltern-t", "in", "inet") == "accept"
    assert salt["nftables.set_policy"]("saltern-t", "in", "drop", "inet") is True
    assert salt["nftables.set_policy"]("saltern-t", "none", "drop", "inet") is False
    assert "policy drop" in str(salt["nftables.save"](str(tmp_path / "rules")))
    assert any(rule in line for line in salt["nftables.get_saved_rules"](str(tmp_path / "rules")))  # type: ignore[attr-defined]
    assert worked("delete", "saltern-t", "in", rule=rule, family="inet")
    assert not worked("delete", "saltern-t", "in", rule=rule, family="inet")
    assert not worked("delete", "saltern-t", "in", family="inet")
    assert worked("flush", "saltern-t", "in", "inet")
    assert worked("delete_chain", "saltern-t", "in", "inet") and worked("delete_table", "saltern-t", "inet")
    assert not worked("delete_table", "saltern-t", "inet")
    assert salt["nftables.build_rule"](
        "filter", "input", "add", full=True, proto="tcp", dport=80, jump="accept"
    ) == {
        "result": True,
        "comment": "Successfully built rule",
        "rule": "nft add rule ip filter input tcp dport { 80 } accept",
    }
