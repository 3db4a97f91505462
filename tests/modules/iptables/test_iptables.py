"""``iptables``, for real, in a network of its own: with the nf_tables backend, and with the legacy one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests import kit
from tests.modules.bench import Bench, needs_root
from tests.modules.own_network import OtherHost, namespaces

from saltern.language.result import Outcome
from saltern.modules.api.registry import Registry
from saltern.modules.functions import iptables as iptables_functions
from saltern.modules.states import iptables

BACKENDS = {
    backend: {
        f"ip{six}tables{save}": f"ip{six}tables-{backend}{save}"
        for six in ("", "6")
        for save in ("", "-save")
    }
    for backend in ("nft", "legacy")
}
WEB: dict[str, object] = {"chain": "INPUT", "proto": "tcp", "dport": 80, "jump": "ACCEPT"}
needs_iptables: Callable[[Callable[..., None]], Callable[..., None]] = needs_root(
    "iptables-nft", "iptables-legacy", "unshare", "nsenter", "ip"
)


@pytest.fixture(params=BACKENDS)
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Bench]:
    with namespaces() as pid:
        host = OtherHost(pid, instead=BACKENDS[request.param])
        yield Bench(tmp_path, iptables, functions={"iptables": iptables_functions}, host=host)


def rules(bench: Bench, table: str = "filter", program: str = "iptables") -> list[str]:
    lines = bench.run.host.run([program, "-t", table, "-S"]).out.splitlines()
    return [line for line in lines if line.startswith("-A")]


@needs_iptables
def test_a_rule_is_appended_once(bench: Bench) -> None:
    done = bench.change("append", "saltern-t-web", **WEB)
    assert done.changes == {"locale": "saltern-t-web"}
    assert done.data["exists"] is True and done.data["rule"] == "-p tcp --dport 80 --jump ACCEPT"
    assert rules(bench) == ["-A INPUT -p tcp -m tcp --dport 80 -j ACCEPT"]
    bench.same("append", "another name", chain="INPUT", protocol="tcp", dport="80", target="ACCEPT")


@needs_iptables
def test_every_kind_of_option_reaches_the_kernel(bench: Bench) -> None:
    change = bench.change
    change(
        "append",
        "one",
        chain="INPUT",
        match=["state", "comment"],
        comment="let it in",
        connstate="NEW",
        jump="ACCEPT",
    )
    change("append", "two", chain="INPUT", proto="tcp", dports=[80, 443], sports="1024:65535", jump="ACCEPT")
    change("append", "three", chain="INPUT", source="! 10.0.0.0/8", destination="not 10.0.0.1", jump="DROP")
    change(
        "append",
        "four",
        chain="INPUT",
        proto="tcp",
        **{"tcp-flags": "SYN,ACK SYN", "in-interface": "! eth0"},
        jump="DROP",
    )
    change(
        "append",
        "five",
        chain="INPUT",
        match="limit",
        limit="5/min",
        jump="LOG",
        **{"log-prefix": "seen it: "},
    )
    change("append", "six", chain="INPUT", proto="tcp", syn="", jump="REJECT", **{"reject-with": "tcp-reset"})
    change(
        "append",
        "seven",
        chain="INPUT",
        match="recent",
        name_="ssh",
        update="",
        seconds=60,
        hitcount=4,
        jump="DROP",
    )
    assert rules(bench)[:6] == [
        '-A INPUT -m state --state NEW -m comment --comment "let it in" -j ACCEPT',
        "-A INPUT -p tcp -m multiport --dports 80,443 -m multiport --sports 1024:65535 -j ACCEPT",
        "-A INPUT ! -s 10.0.0.0/8 ! -d 10.0.0.1/32 -j DROP",
        "-A INPUT ! -i eth0 -p tcp -m tcp --tcp-flags SYN,ACK SYN -j DROP",
        '-A INPUT -m limit --limit 5/min -j LOG --log-prefix "seen it: "',
        "-A INPUT -p tcp -m tcp --tcp-flags FIN,SYN,RST,ACK SYN -j REJECT --reject-with tcp-reset",
    ]
    assert "--update --seconds 60 --hitcount 4 --name ssh" in rules(bench)[6]


@needs_iptables
def test_addresses_are_translated_and_ports_redirected(bench: Bench) -> None:
    args: dict[str, object] = {"table": "nat", "chain": "PREROUTING", "proto": "tcp", "dport": 80}
    bench.change("append", "redirect", jump="REDIRECT", **args, **{"to-ports": 8080})
    bench.change("append", "masquerade", table="nat", chain="POSTROUTING", of="eth0", jump="MASQUERADE")
    assert rules(bench, "nat") == [
        "-A PREROUTING -p tcp -m tcp --dport 80 -j REDIRECT --to-ports 8080",
        "-A POSTROUTING -o eth0 -j MASQUERADE",
    ]


@needs_iptables
def test_a_rule_is_inserted_at_its_place(bench: Bench) -> None:
    for port in (1, 2, 3):
        bench.change("append", f"p{port}", **{**WEB, "dport": port})
    bench.change("insert", "first", **{**WEB, "dport": 10})
    bench.change("insert", "third", position=3, **{**WEB, "dport": 30})
    bench.change("insert", "before the last", position=-1, **{**WEB, "dport": 99})
    ports = [line.partition("--dport ")[2].split()[0] for line in rules(bench)]
    assert ports == ["10", "1", "30", "2", "99", "3"]
    bench.same("insert", "anywhere", position=1, **{**WEB, "dport": 3})
    assert "position counts from 1" in bench.refusal("insert", "x", position=0, **{**WEB, "dport": 5})
    assert "too big" in bench.refusal("insert", "x", position=99, **{**WEB, "dport": 5})


@needs_iptables
def test_a_rule_is_deleted_as_often_as_it_is_there(bench: Bench) -> None:
    for _ in range(2):
        bench.run.host.run(["iptables", "-A", "INPUT", "-p", "tcp", "--dport", "80", "-j", "ACCEPT"])
    assert bench.change("delete", "saltern-t-web", **WEB).changes == {"locale": "saltern-t-web"}
    assert rules(bench) == []


@needs_iptables
def test_a_rule_is_deleted_by_its_number(bench: Bench) -> None:
    for port in (1, 2):
        bench.change("append", f"p{port}", **{**WEB, "dport": port})
    foreseen = bench.call("delete", "first", test=True, chain="INPUT", position=1)
    done = bench.call("delete", "first", chain="INPUT", position=1)
    assert foreseen.changes == done.changes == {"locale": "first"}
    assert (foreseen.outcome, done.outcome) == (Outcome.WOULD_CHANGE, Outcome.OK)
    assert rules(bench) == ["-A INPUT -p tcp -m tcp --dport 2 -j ACCEPT"]
    bench.same("delete", "none", chain="INPUT", position=7)
    assert "the position of one" in bench.refusal("delete", "x", chain="INPUT")


@needs_iptables
def test_chains_come_and_go_but_not_while_in_use(bench: Bench) -> None:
    assert bench.change("chain_present", "saltern-t").changes == {"locale": "saltern-t"}
    bench.change("append", "leads there", chain="INPUT", jump="saltern-t")
    bench.change("append", "in it", chain="saltern-t", jump="DROP")
    assert "INPUT has the rule -j saltern-t" in bench.refusal("chain_absent", "saltern-t")
    bench.change("delete", "leads there", chain="INPUT", jump="saltern-t")
    assert bench.change("chain_absent", "saltern-t").changes == {"locale": "saltern-t"}
    assert "built in" in bench.refusal("chain_absent", "INPUT")


@needs_iptables
def test_a_test_foresees_rules_for_chains_that_an_earlier_state_would_make(bench: Bench) -> None:
    for args in ({"chain": "saltern-t", "jump": "DROP"}, {"chain": "INPUT", "jump": "saltern-t"}):
        foreseen = bench.call("append", "rule", test=True, **args)
        assert (foreseen.outcome, foreseen.changes) == (Outcome.WOULD_CHANGE, {"locale": "rule"})
        assert "saltern-t" in bench.refusal("append", "rule", **args)


@needs_iptables
def test_the_policy_is_set(bench: Bench) -> None:
    done = bench.change("set_policy", "drop", chain="FORWARD", policy="drop")
    assert (done.changes, done.data["policy"]) == ({"locale": "drop"}, "DROP")
    bench.same("set_policy", "accept", chain="INPUT", policy="ACCEPT")
    assert "not a built-in chain" in bench.refusal("set_policy", "x", chain="saltern-t", policy="DROP")
    assert "Bad policy" in bench.refusal("set_policy", "x", chain="INPUT", policy="MAYBE")


@needs_iptables
def test_chains_are_flushed_when_there_is_something_in_them(bench: Bench) -> None:
    bench.same("flush", "nothing to do")
    bench.change("append", "web", **WEB)
    bench.change("append", "out", chain="OUTPUT", jump="ACCEPT")
    assert bench.change("flush", "input", chain="INPUT").changes == {"locale": "input"}
    assert rules(bench) == ["-A OUTPUT -j ACCEPT"]
    bench.change("flush", "all")
    assert rules(bench) == []
    assert "no chain" in bench.refusal("flush", "x", chain="saltern-t")
    assert bench.call("flush", "x", test=True, chain="saltern-t").outcome is Outcome.OK


@needs_iptables
def test_ipv6_has_its_own_rules(bench: Bench) -> None:
    bench.change("append", "web", family="ipv6", **WEB)
    assert rules(bench) == []
    assert rules(bench, program="ip6tables") == ["-A INPUT -p tcp -m tcp --dport 80 -j ACCEPT"]


@needs_iptables
def test_rules_are_kept_in_a_file(bench: Bench, tmp_path: Path) -> None:
    file = tmp_path / "deep" / "rules.v4"
    done = bench.change("append", "web", save=str(file), **WEB)
    assert (done.changes, done.data["file"]) == ({"locale": "web"}, str(file))
    assert "-A INPUT -p tcp -m tcp --dport 80 -j ACCEPT\n" in file.read_text()
    file.write_text("*filter\n:INPUT DROP [0:0]\nCOMMIT\n")
    assert bench.change("append", "web", save=str(file), **WEB).changes == {"saved": str(file)}
    bench.change("set_policy", "drop", chain="FORWARD", policy="DROP", save=str(file))
    assert ":FORWARD DROP" in file.read_text()
    bench.change("delete", "web", save=str(file), **WEB)
    assert "--dport 80" not in file.read_text()
    assert "absolute path" in bench.refusal("append", "web", save="rules", **WEB)


@needs_iptables
def test_a_kept_rule_does_not_mind_others_that_are_not_kept(bench: Bench, tmp_path: Path) -> None:
    file = str(tmp_path / "rules")
    kept: dict[str, object] = {**WEB, "source": "10.0.0.1", "comment": "a b", "save": file}
    bench.change("append", "web", **kept)
    bench.change("append", "ssh", **{**WEB, "dport": 22})
    bench.same("append", "web", **kept)
    assert bench.change("append", "ssh", **{**WEB, "dport": "ssh", "save": file}).changes == {"saved": file}
    bench.change("delete", "web", **{**kept, "save": False})
    bench.same("append", "ssh", **{**WEB, "dport": 22, "save": file})
    assert bench.change("delete", "web", **kept).changes == {"saved": file}


@needs_iptables
def test_what_the_machine_does_not_want_to_keep_is_left_out(bench: Bench, tmp_path: Path) -> None:
    bench.run.opts["iptables.save_filters"] = ["--dport 22"]
    file = tmp_path / "rules"
    bench.change("append", "ssh", **{**WEB, "dport": 22})
    bench.change("append", "web", save=str(file), **WEB)
    assert "--dport 80" in file.read_text() and "--dport 22" not in file.read_text()
    bench.run.opts["iptables.save_filters"] = ["("]
    assert "is not a pattern" in bench.refusal("append", "web", save=str(file), **WEB)


@needs_iptables
def test_several_rules_are_one_state(bench: Bench, tmp_path: Path) -> None:
    file = tmp_path / "rules"
    both = [{**WEB, "name": "one", "save": str(file)}, {**WEB, "name": "two", "dport": 443}]
    done = bench.change("append", "both", rules=both)
    assert done.changes == {"locale": ["one", "two"]}
    assert file.exists() and len(rules(bench)) == 2
    assert bench.change(
        "append", "three", rules=[*both, {**WEB, "name": "three", "dport": 8080}]
    ).changes == {"locale": ["three"]}


def test_states_that_append_go_together() -> None:
    one, two, other = (
        kit.chunk(name, state="iptables", fun=fun, name=name, more={**WEB, "dport": port})
        for name, fun, port in (("one", "append", 80), ("two", "append", 443), ("other", "insert", 22))
    )
    enlarge = Registry().companion("iptables", "mod_aggregate")
    assert callable(enlarge)
    made = enlarge(None, one, [one, two, other], {})
    assert [(rule["name"], rule["dport"]) for rule in made.args["rules"]] == [("one", 80), ("two", 443)]
    flush = kit.chunk("f", state="iptables", fun="flush", name="f")
    assert enlarge(None, flush, [flush, one], {}) is flush


@needs_iptables
@pytest.mark.parametrize(
    ("args", "words"),
    [
        ({**WEB, "chain": ""}, "chain is missing"),
        ({**WEB, "chain": "-F"}, "chain cannot be '-F'"),
        ({**WEB, "table": "bogus"}, "bogus"),
        ({**WEB, "family": "ipx"}, "family cannot be 'ipx'"),
        ({**WEB, "dport": 99999}, "99999"),
        ({**WEB, "bogus": 1}, "unknown option"),
        ({**WEB, "comment": "two\nlines"}, "must not contain"),
        ({"chain": "INPUT", "dports": [1, 2], "jump": "ACCEPT"}, "need a protocol"),
        ({"chain": "INPUT"}, "the rule is empty"),
        ({"chain": "INPUT", "source": {"a": 1}}, "needs a text"),
        ({"rules": "no"}, "list of mappings"),
        ({**WEB, "position": "first"}, "position needs a number"),
    ],
)
def test_what_is_no_rule_is_refused_in_words(bench: Bench, args: dict[str, object], words: str) -> None:
    assert words in bench.refusal("append", "saltern-t", **args)
    assert rules(bench) == []


@needs_iptables
def test_functions_look_and_change(bench: Bench, tmp_path: Path) -> None:
    salt, file = bench.salt, str(tmp_path / "rules")
    rule = '-p tcp --dport 80 -m comment --comment "hello there" -j ACCEPT'
    assert str(salt["iptables.version"]()).startswith("v1.")
    assert salt["iptables.append"]("filter", "INPUT", rule) is True
    assert salt["iptables.append"]("filter", "INPUT", rule) is False
    assert salt["iptables.check"]("filter", "INPUT", rule) is True
    assert salt["iptables.insert"]("filter", "INPUT", 1, "-i lo -j ACCEPT") == ""
    assert salt["iptables.new_chain"]("filter", "saltern-t") is True
    assert "exists" in str(salt["iptables.new_chain"]("filter", "saltern-t"))
    assert salt["iptables.check_chain"]("filter", "saltern-t") is True
    assert salt["iptables.delete_chain"]("filter", "saltern-t") is True
    assert salt["iptables.set_policy"]("filter", "FORWARD", "DROP") == ""
    assert salt["iptables.get_policy"]("filter", "FORWARD") == "DROP"
    found = salt["iptables.get_rules"]()["filter"]["INPUT"]  # type: ignore[index]
    assert found["policy"] == "ACCEPT"
    assert (
        found["rules"][1]
        == found["rules_comment"]["hello there"]
        == {
            "protocol": ["tcp"],
            "match": ["tcp", "comment"],
            "destination_port": ["80"],
            "comment": ["hello there"],
            "jump": ["ACCEPT"],
        }
    )
    assert salt["iptables.save"](file) == file
    assert salt["iptables.get_saved_rules"](file)["filter"]["INPUT"]["rules"] == found["rules"]  # type: ignore[index]
    assert salt["iptables.get_saved_policy"]("filter", "FORWARD", file) == "DROP"
    assert salt["iptables.delete"]("filter", "INPUT", rule=rule) == ""
    assert "Bad rule" in str(salt["iptables.delete"]("filter", "INPUT", rule=rule))
    assert salt["iptables.delete"]("filter", "INPUT", position=1) == ""
    assert salt["iptables.flush"]("filter") == ""


def test_a_rule_is_built_as_text(tmp_path: Path) -> None:
    build = Bench(tmp_path, iptables, functions={"iptables": iptables_functions}).salt["iptables.build_rule"]
    assert build(match="state", connstate="RELATED,ESTABLISHED", jump="ACCEPT") == (
        "-m state --state RELATED,ESTABLISHED --jump ACCEPT"
    )
    assert build("filter", "INPUT", "I", 3, full=True, source="!127.0.0.1", jump="DROP") == (
        "iptables --wait -t filter -I INPUT 3 ! --source 127.0.0.1 --jump DROP"
    )
    assert build(match="policy", dir="in", pol="ipsec", proto="esp", jump="ACCEPT") == (
        "-m policy --proto esp --dir in --pol ipsec --jump ACCEPT"
    )
    assert build(**{"match-set": ["! bad src", "good dst"], "jump": "DROP", "comment": 'say "no"'}) == (
        '-m set ! --match-set bad src -m set --match-set good dst -m comment --comment "say \\"no\\"" '
        "--jump DROP"
    )
