"""Files and words that mean harm: each is answered with a message, and without a control character."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from tests.e2e.command import Place, is_told_well

from saltern.cli.commands import COMMANDS

CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
HOSTILE = "x\x1b[31m\x9b2J\u202ey"
DEEP = "[" * 100_000
BOMB = "a0: &a0 {k: 1, l: 2}\n" + "".join(
    f"a{at}: &a{at}\n  <<: [{', '.join([f'*a{at - 1}'] * 10)}]\n" for at in range(1, 12)
)
ALIASES = "a0: &a0 [x, x]\n" + "".join(
    f"a{at}: &a{at} [{', '.join([f'*a{at - 1}'] * 10)}]\n" for at in range(1, 12)
)


@pytest.fixture
def tree(place: Place) -> Place:
    place.write({"a.sls": "x:\n  test.nop: []\n"})
    return place


@pytest.mark.parametrize("text", [DEEP, BOMB, ALIASES], ids=["deep", "merges", "aliases"])
@pytest.mark.parametrize("flag", ["--config", "--grains", "--machine"])
def test_yaml_that_grows_is_refused_wherever_it_is_read(tree: Place, flag: str, text: str) -> None:
    path = tree.base / "m.yaml"
    path.write_text(text)
    done = tree.run("check", f"{flag}={path}")
    assert done.code == 1, done.err


@pytest.mark.parametrize("text", [DEEP, BOMB, ALIASES], ids=["deep", "merges", "aliases"])
def test_in_state_files_top_files_and_imports(tree: Place, text: str) -> None:
    tree.write(
        {
            "b.sls": text,
            "data.yaml": text,
            "c.sls": "{% import_yaml 'data.yaml' as d %}\n",
            "d.sls": "{% set d = salt['slsutil.deserialize']('yaml', '"
            + text.replace("\n", "\\n")
            + "') %}\n",
            "e.sls": "#!json\n" + text,
            "top.sls": text,
        }
    )
    for words in (["b"], ["c"], ["d"], ["e"], []):
        assert tree.run("apply", *words).code in (1, 3), words
    chain = tree.base / "chain.yaml"
    chain.write_text(text)
    assert tree.run("chain", "check", str(chain)).code in (1, 3)


def test_values_are_counted_and_not_only_collections(tree: Place) -> None:
    tree.write(
        {"b.sls": "x: [" + "1, " * 2000 + "1]\n", "c.sls": "".join(f"k{at}: v\n" for at in range(2000))}
    )
    config = tree.base / "conf.yaml"
    config.write_text("max_yaml_nodes: 1000\n")
    for name in ("b", "c"):
        assert "[yaml-too-large]" in tree.run("apply", name, f"--config={config}").err


GROWING = {
    "repeats": "{{ 'a' * 10**10 }}",
    "centres": "{{ 'a' | center(10**10) }}",
    "justifies": "{{ 'a'.ljust(10**10) }}",
    "fills": "{{ '1'.zfill(10**10) }}",
    "lists": "{{ range(10**12) | list }}",
    "batches": "{{ [1] | batch(10**10, 'x') | list }}",
    "indents": "{{ 'a\nb' | indent(10**10) }}",
    "joins": "{% set ns = namespace(t='ab') %}{% for i in range(40) %}"
    "{% set ns.t = [ns.t, ns.t] | join %}{% endfor %}{{ ns.t | length }}",
    "adds": "{% set ns = namespace(t='ab') %}{% for i in range(40) %}"
    "{% set ns.t = ns.t ~ ns.t %}{% endfor %}{{ ns.t | length }}",
    "replaces": "{% set t = 'a' * 10**5 %}{{ t | replace('a', t) | length }}",
    "pads": "{{ '%1000000000000d' % 1 }}",
}


@pytest.mark.parametrize("text", GROWING.values(), ids=GROWING)
def test_a_template_has_no_more_memory_than_it_may(tree: Place, text: str) -> None:
    config = tree.base / "conf.yaml"
    config.write_text("render_memory_limit: 200000000\n")
    tree.write({"b.sls": text})
    done = tree.run("apply", "b", f"--config={config}")
    assert done.code == 3, done.err
    assert "[template-" in done.err


def test_a_program_that_a_template_calls_does_not_inherit_the_limit(tree: Place) -> None:
    tree.write({"b.sls": "x:\n  test.nop:\n    - name: \"{{ salt['cmd.shell']('ulimit -v') }}\"\n"})
    before = subprocess.run("ulimit -v", shell=True, capture_output=True, text=True, check=True).stdout
    done = tree.real("apply", "b", "--out", "json")
    assert done.answers()["x"]["name"] == before.strip()


def test_errors_show_the_template_and_not_what_it_made(tree: Place) -> None:
    secret = "hunter2"
    for text in (
        "x: {{ pillar.pw }}: y\n",
        "{{ pillar.pw }}: 1\n{{ pillar.pw }}: 2\n",
        "x: [{{ pillar.pw }}\n",
        "x: !{{ pillar.pw }} 1\n",
        "x: *{{ pillar.pw }}\n",
        "x: !!int '{{ pillar.pw }}'\n",
    ):
        tree.write({"b.sls": text})
        done = tree.run("apply", "b", "--pillar", f"{{pw: {secret}}}")
        assert done.code == 3, text
        assert secret not in done.err, text


@pytest.mark.parametrize("command", COMMANDS)
def test_words_of_the_command_line_cannot_steer_a_terminal(tree: Place, command: str) -> None:
    for words in ((HOSTILE,), (f"--{HOSTILE}",), ("--config", HOSTILE), (f"--out={HOSTILE}",)):
        done = tree.run(command, *words)
        assert not CONTROLS.search(done.out + done.err), (command, words)
        assert "a bug in saltern" not in done.err


def test_graphs_and_data_have_no_control_characters(tree: Place) -> None:
    tree.write({"b.sls": '"a\\e[31mb\\x9bc":\n  test.nop: []\n'})
    for words in (("--format", "dot"), ("--format", "mermaid"), ("--format", "svg")):
        assert not CONTROLS.search(tree.run("graph", "b", *words).out), words
    for out in ("json", "yaml", "highstate", "nested", "jsonl", "tree", "junit", "pprint"):
        assert not CONTROLS.search(tree.run("apply", "b", "--out", out).out), out


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/full", "/proc/self/mem", "/"])
def test_what_is_no_file_is_no_chain(tree: Place, path: str) -> None:
    for word in ("check", "run", "render"):
        assert tree.run("chain", word, path).code == 1


@pytest.mark.parametrize("root", ["/proc", "/proc/self", "/dev", "/sys/kernel"])
def test_roots_of_the_kernel_are_answered(tree: Place, root: str) -> None:
    done = tree.run("apply", "a", f"--file-root={root}")
    assert done.code in (1, 3)
    assert "a bug in saltern" not in done.err


def test_a_byte_that_is_no_text_in_a_delayed_block_is_kept_in_a_plan(tree: Place) -> None:
    text = (
        b"#!delayed_block b\n\xab\n#!end_delayed_block\nx:\n  test.nop:\n    - delayed_render: [{block: b}]\n"
    )
    (Path(tree.states) / "d.sls").write_bytes(text)
    done = tree.run("plan", "d", "-o", "d.plan")
    assert done.code == 2, done.err
    assert tree.run("apply", "d.plan").code in (1, 2)


@pytest.mark.parametrize("piece", ["7", "1:", "{{ ", "{% ", "{# ", "{{}", "- ", " "], ids=repr)
def test_a_long_row_of_the_same_is_read_in_one_go(place: Place, piece: str) -> None:
    """What looks through the rest of the text for each of them takes minutes, and is ended by a signal."""
    place.write(
        {"main.sls": f"a:\n  test.nop:\n    - x: q\n    # {piece * 100_000}\n    - y: z{piece * 100_000}\n"}
    )
    for words in (["check"], ["check", "--untrusted"], ["fmt", "--check"], ["show", "low-sls", "main"]):
        is_told_well(place.run(*words))


SIXTIES = "a: " + ":".join(["59"] * 20_000)
READERS = {
    "a state file": ({"main.sls": "#!yaml\nTEXT"}, ["apply", "main", "--test"]),
    "a configuration": (
        {"main.sls": "a: test.nop\n", "etc/saltern.yaml": "TEXT"},
        ["apply", "main", "--test"],
    ),
    "a check": ({"main.sls": "TEXT"}, ["check"]),
    "a pillar": (
        {"main.sls": "a: test.nop\n", "pillar/top.sls": "base: {'*': [x]}\n", "pillar/x.sls": "TEXT"},
        ["apply", "main", "--test"],
    ),
}


@pytest.mark.parametrize(
    "text", [SIXTIES, f"{SIXTIES}.5", "a: 1e999999999", "a: !!float '" + SIXTIES[3:] + ".5'"]
)
@pytest.mark.parametrize("reader", READERS)
def test_numbers_of_base_sixty_are_bounded(place: Place, reader: str, text: str) -> None:
    files, words = READERS[reader]
    place.write({name: content.replace("TEXT", f"{text}\n") for name, content in files.items()})
    is_told_well(place.run(*words))


def test_many_problems_in_a_long_line_take_no_longer_than_their_number(place: Place) -> None:
    """Ten thousand states in one line, each wrong: the line is not measured again for each of them."""
    row = ", ".join(f"k{number}: é" for number in range(10_000))
    place.write({"main.sls": f"#!yaml\n{{{row}}}\n"})
    done = place.run("apply", "main")
    is_told_well(done)
    assert "10000 errors" in done.err
    assert max(map(len, done.err.splitlines())) < 400


def test_a_configuration_with_many_unknown_keys_names_the_first(place: Place) -> None:
    place.write({"main.sls": "a: test.nop\n"})
    place.write({"etc/saltern.yaml": "".join(f"k{number}: 1\n" for number in range(5_000))})
    done = place.run("apply", "main", "--test")
    assert done.code == 0, done.err
    assert "and 4900 more" in done.err
