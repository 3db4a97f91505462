"""Numbers of more digits than Python writes by itself."""

from __future__ import annotations

import re

import pytest
from tests.e2e.command import Done, Place, is_told_well

DIGITS = "1" + "0" * 5000
TREE = """\
#!py
def run():
    huge = 10 ** 5000
    kept = [{"name": "PLACE"}, {"contents": huge}]
    return {"a": {"test.nop": [{"given": huge}]}, "b": {"file.managed": kept}}
"""


@pytest.mark.parametrize("out", ["highstate", "json", "jsonl", "yaml", "nested", "pprint", "junit", "tree"])
def test_every_format_writes_them(place: Place, out: str) -> None:
    place.write({"main.sls": TREE.replace("PLACE", str(place.base / "file"))})
    assert place.run("apply", "main", "--out", out).code == 0
    assert (place.base / "file").read_text().strip() == DIGITS
    assert place.run("show", "run", "--out", out).code == 0


def test_plans_and_low_data_have_them(place: Place) -> None:
    place.write({"main.sls": TREE.replace("PLACE", str(place.base / "file"))})
    for out in ("json", "yaml", "nested", "pprint"):
        done = place.run("show", "low-sls", "main", "--out", out)
        assert done.code == 0
        assert DIGITS in done.out
    assert place.run("plan", "main", "-o", str(place.base / "kept.plan")).code == 0


# -- longer than what may be written ------------------------------------------------------------------

LONG = "7" * 120_000
HEX = "0x" + "f" * 120_000
BINARY = "0b" + "1" * 400_000
SIXTIES = ":".join(["59"] * 7_000)
STATE = "a:\n  test.nop:\n    - x: "
# What is written where, and the place that is named.
READ = {
    "yaml": ({"main.sls": STATE + LONG}, "main.sls:3:10"),
    "a negative one": ({"main.sls": STATE + "-" + LONG}, "main.sls:3:10"),
    "with underscores": ({"main.sls": STATE + "_".join([LONG, "0"])}, "main.sls:3:10"),
    "of base 16": ({"main.sls": STATE + HEX}, "main.sls:3:10"),
    "of base 2": ({"main.sls": STATE + BINARY}, "main.sls:3:10"),
    "of base 60": ({"main.sls": STATE + SIXTIES}, "main.sls:3:10"),
    "tagged": ({"main.sls": STATE + '!!int "' + HEX + '"'}, "main.sls:3:17"),
    "a key": ({"main.sls": f"a:\n  test.nop:\n    - {{{HEX}: 5}}\n"}, "main.sls:3:8"),
    "an anchor": ({"main.sls": STATE + f"&n {LONG}\n    - y: *n\n"}, "main.sls:3:13"),
    "order": ({"main.sls": f"a:\n  test.nop:\n    - order: {HEX}\n"}, "main.sls:3:14"),
    "json": ({"main.sls": f'#!json\n{{"a": {{"test.nop": [{{"x": {LONG}}}]}}}}\n'}, "main.sls:2:27"),
    "toml": ({"main.sls": f'#!toml\n[a]\n"test.nop" = [{{x = {LONG}}}]\n'}, "main.sls:3:20"),
    "toml of base 16": ({"main.sls": f'#!toml\n[a]\n"test.nop" = [{{x = {HEX}}}]\n'}, "main.sls:2"),
    "python": (
        {"main.sls": "#!py\ndef run():\n    return {'a': {'test.nop': [{'x': {'y': (1, 1 << 400000)}}]}}\n"},
        "main.sls:3",
    ),
    "python's keys": (
        {"main.sls": "#!py\ndef run():\n    return {'a': {'test.nop': [{1 << 400000: 2}]}}\n"},
        "main.sls:3",
    ),
    "python without end": (
        {"main.sls": "#!py\ndef run():\n    x = [1 << 400000]\n    x += [x]\n    return {'aa': {'b.c': x}}"},
        "main.sls:5",
    ),
    "what a template makes": ({"main.sls": STATE + "{{ '0x' ~ 'f' * 120000 }}\n"}, "main.sls:3"),
    "load_yaml": (
        {"main.sls": f"{{% load_yaml as x %}}\na: {HEX}\n{{% endload %}}\n{STATE}1\n"},
        "main.sls:1",
    ),
    "load_json": (
        {"main.sls": f'{{% load_json as x %}}\n{{"a": {LONG}}}\n{{% endload %}}\n{STATE}1\n'},
        "main.sls:1",
    ),
    "import_json": (
        {"main.sls": "{% import_json 'x.json' as x %}\n" + STATE + "1\n", "x.json": f'{{"a": {LONG}}}'},
        "x.json:1:7",
    ),
    "import_yaml": (
        {"main.sls": "{% import_yaml 'x.yaml' as x %}\n" + STATE + "1\n", "x.yaml": f"a: {HEX}\n"},
        "x.yaml:1:4",
    ),
    "pillar": (
        {"main.sls": STATE + "1", "pillar/top.sls": "base:\n  '*': [p]\n", "pillar/p.sls": f"a: 1\nb: {HEX}"},
        "p.sls:2:4",
    ),
    "top": ({"main.sls": STATE + "1", "top.sls": f"base:\n  '*': [{HEX}]\n"}, "top.sls:2:9"),
    "configuration": (
        {"main.sls": STATE + "1", "etc/saltern.yaml": f"test: false\nstate_output_pct: {HEX}\n"},
        "saltern.yaml:2",
    ),
}


def says(done: Done, *texts: str) -> bool:
    """Without pytest's own account of it, which takes minutes for texts of this length."""
    return all(text in done.out + done.err for text in texts)


@pytest.mark.parametrize("kind", READ)
def test_longer_ones_are_refused_where_they_stand(place: Place, kind: str) -> None:
    files, where = READ[kind]
    place.write(files)
    done = place.run("apply", *(["main"] if kind != "top" else []), "--no-journal")
    is_told_well(done)
    assert says(done, "is too long: at most 100,000 are allowed", f"{where}:"), (done.out + done.err)[:600]
    assert done.code in (1, 3, 5)


@pytest.mark.parametrize("kind", ["yaml", "python"])
def test_every_command_refuses_them(place: Place, kind: str) -> None:
    place.write(READ[kind][0])
    for words in (
        "show low-sls main",
        "show order main",
        "check",
        "plan main",
        "graph main",
        "explain a main",
    ):
        done = place.run(*words.split())
        is_told_well(done)
        assert says(done, "is too long") and done.code, words


def test_longer_ones_on_the_command_line_are_text_or_refused(place: Place) -> None:
    place.write({"main.sls": STATE + "1"})
    for long in (LONG, HEX):
        for words in (
            ["apply", "main", "--pillar", f"{{a: {long}}}"],
            ["call", "test.echo", long],
            ["single", "test.nop", "a", f"x={long}"],
            ["apply", "main", "--queue", long],
            ["show", "run", long],
            ["resume", long],
        ):
            is_told_well(place.run(*words))


CODE = """\
def made(*args, **kwargs):
    return 1 << 400000

def done(name):
    huge = 1 << 400000
    changes = {"a": huge, huge: 1}
    return {"name": name, "result": True, "changes": changes, "comment": huge, "warnings": [huge]}
"""


def test_longer_ones_of_modules_are_reported_and_end_nothing(place: Place) -> None:
    place.write({"_modules/own.py": CODE, "_states/own.py": CODE})
    place.write({"main.sls": "a:\n  own.done: []\nb:\n  test.nop: []\n"})
    for out in ("highstate", "json", "pprint"):
        done = place.run("apply", "main", "--out", out)
        is_told_well(done)
        assert done.code == 0, done.err
        assert says(done, "120,412")
        is_told_well(place.run("show", "run", "--out", out))
        called = place.run("call", "own.made", "--out", out)
        is_told_well(called)
        assert says(called, "is too long")
    place.write({"other.sls": STATE + "{{ salt['own.made']() }}\n"})
    done = place.run("apply", "other")
    is_told_well(done)
    assert done.code == 3


def test_longer_ones_in_a_plan_and_in_a_chain_are_refused(place: Place) -> None:
    place.write({"main.sls": STATE + "12345"})
    file = place.base / "kept.plan"
    assert place.run("plan", "main", "-o", str(file)).code == 0
    good = file.read_text()
    for long in (LONG, HEX, BINARY):
        file.write_text(re.sub(r'"made":[\d.]+', f'"made":{long}', good))
        done = place.run("apply", str(file))
        is_told_well(done)
        assert done.code != 0
        chain = place.base / "chain.yaml"
        chain.write_text(f"chain: c\nid: c1\nactions:\n  - {{id: a, reboot: {{notice: {long}}}}}\n")
        done = place.run("chain", "check", str(chain))
        is_told_well(done)
        assert says(done, "chain.yaml:4:", "is too long")
