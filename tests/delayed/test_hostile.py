"""A return may say anything: whatever it looks like, in a frame and in a late value it stays data."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from tests.delayed.thing import comment_of, result_of, run, seen, value_of
from tests.kit import chunk

from saltern.journal import chunk_codec
from saltern.language.delayed import Block, BlockScope, Target
from saltern.language.diagnostics import Diagnostics
from saltern.language.late import Literal, literals
from saltern.plan.make import make_plan

SLOT = "__slot__:salt:cmd.run(touch {scratch}/owned)"

HOSTILE = {
    "jinja": "{{ salt['cmd.run']('touch {scratch}/owned') }}",
    "jinja statement": "{% include '/etc/passwd' %}",
    "mapping": "x: {y: z}",
    "sequence": "- a\n- b",
    "quotes": '"\'\\"',
    "newlines": "a\nb\n\n  c\r\nd",
    "states": "ok\nevil:\n  cmd.run:\n    - name: touch {scratch}/owned",
    "comment": "x # y",
    "anchor": "&a *a !!python/object:os.system",
    "document": "---\n...\n",
    "boolean": "yes",
    "null": "~",
    "number": "0777",
    "slot": SLOT,
    "slot in a line": "first\n" + SLOT + "\nlast",
    "slot with spaces": "  " + SLOT + "  ",
    "reference": "${delayed:vm.data.secret}",
    "broken reference": "${delayed:",
    "escaped reference": "$${delayed:vm.data.ip}",
    "tag": "\n#!delayed_block A\n#!end_delayed_block B\n",
    "control": "\x1b[31m\x00\x7f",
    "id": "x>y#1_|-\n: {{",
    "unicode": "\u2028ä\ufeff𝄞",
}

CALLER = """
    vm:
      thing.made:
        - data: {secret: of the caller}
        - file: {{ pillar.said }}
        - register: vm
        - delayed_render:
          - block: B
    """


def written(kind: str, place: Path) -> dict[str, str]:
    """The pillar that says which file the caller reads."""
    (place / "said").write_text(said(kind, place), encoding="utf-8", newline="")
    return {"said": str(place / "said")}


def said(kind: str, place: Path) -> str:
    return HOSTILE[kind].replace("{scratch}", str(place))


def outcome(text: str, kind: str, tmp_path: Path) -> tuple[str, object]:
    """What was hostile, and what the state ``later`` was called with."""
    report = run(text, pillar=written(kind, tmp_path))
    inner = [answer.path for answer in report.answers][-1]
    assert value_of(report, inner) is True, comment_of(report, inner)
    assert inner.endswith("later")
    assert not (tmp_path / "owned").exists()
    return said(kind, tmp_path), result_of(report, inner).data["seen"]


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_quoted_value_is_what_was_said(kind: str, tmp_path: Path) -> None:
    """“a `prev_ret` with hostile content (`{{ }}`, YAML syntax, newlines) that must stay data”."""
    block = """
    #!delayed_block B
    later:
      thing.made:
        - data: {seen: {{ prev_ret.data.said | tojson }}}
    #!end_delayed_block
    """
    hostile, got = outcome(CALLER + block, kind, tmp_path)
    assert got == hostile
    assert type(got) is str


@pytest.mark.parametrize("kind", HOSTILE)
def test_the_whole_return_is_data(kind: str, tmp_path: Path) -> None:
    """“Never spliced as text into the source.”"""
    block = """
    #!delayed_block B
    later:
      thing.made:
        - data: {seen: {{ prev_ret | tojson }}}
    #!end_delayed_block
    """
    hostile, got = outcome(CALLER + block, kind, tmp_path)
    assert isinstance(got, dict)
    assert got["data"]["said"] == hostile
    assert json.dumps(got)


@pytest.mark.parametrize("kind", HOSTILE)
@pytest.mark.parametrize("how", ["'${delayed:vm.data.said}'", "{deep: [{er: '${delayed:vm.data.said}'}]}"])
def test_a_late_value_is_what_was_said(kind: str, how: str, tmp_path: Path) -> None:
    text = CALLER.partition("        - delayed_render")[0] + (
        f"\n    later:\n      thing.made:\n        - data: {{seen: {how}}}\n"
        "        - other: '${delayed:vm.data.said}'\n"
    )
    hostile, got = outcome(text, kind, tmp_path)
    assert got in (hostile, {"deep": [{"er": hostile}]})


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_late_value_at_the_beginning_of_text_is_what_was_said(kind: str, tmp_path: Path) -> None:
    text = CALLER.partition("        - delayed_render")[0] + (
        "\n    later:\n      thing.made:\n        - data: {seen: '${delayed:vm.data.said} and more'}"
        "\n        - other: '${delayed:vm.data.said} and more'\n"
    )
    hostile, got = outcome(text, kind, tmp_path)
    assert got == f"{hostile} and more"


@pytest.mark.parametrize("kind", ["slot", "slot in a line", "slot with spaces"])
@pytest.mark.parametrize(
    "cut",
    [
        "prev_ret.data.said | trim | tojson",
        "prev_ret.data.said.strip().splitlines()[-2:][0] | tojson",
        "prev_ret.data.said.strip().splitlines() | tojson",
        "(prev_ret.data.said | replace('first', '')).strip() | tojson",
        "prev_ret.data.said.partition('__slot__')[1:] | join | tojson",
        "('__slot' ~ prev_ret.data.said.partition('__slot')[2]) | tojson",
    ],
)
def test_a_template_that_cuts_a_return_to_pieces_makes_no_slot_of_it(
    kind: str, cut: str, tmp_path: Path
) -> None:
    block = f"""
    #!delayed_block B
    later:
      thing.made:
        - other: {{{{ {cut} }}}}
        - data: {{seen: 1}}
    #!end_delayed_block
    """
    outcome(CALLER + block, kind, tmp_path)


@pytest.mark.parametrize("how", ["prev_ret.data.said", "said_before"])
def test_nor_does_a_block_inside_that_is_given_it(how: str, tmp_path: Path) -> None:
    block = f"""
    #!delayed_block B
    {{% set said_before = prev_ret.data.said.strip() %}}
    middle:
      thing.made:
        - data: {{said: {{{{ prev_ret.data.said | tojson }}}}}}
        - delayed_render:
          - block: C
    #!delayed_block C scoped
    later:
      thing.made:
        - other: {{{{ {how} | tojson }}}}
        - data: {{seen: 1}}
    #!end_delayed_block
    #!end_delayed_block
    """
    outcome(CALLER + block, "slot", tmp_path)


def test_nor_does_a_name(tmp_path: Path) -> None:
    block = """
    #!delayed_block B
    later:
      thing.made:
        - name: {{ prev_ret.data.said | tojson }}
        - changed: true
        - data: {seen: 1}
    #!end_delayed_block
    """
    report = run(CALLER + block, pillar=written("slot", tmp_path))
    assert result_of(report, "vm>B#1>later").changes["thing"] == {"old": None, "new": said("slot", tmp_path)}
    assert not (tmp_path / "owned").exists()


def test_nor_does_the_context_of_an_entry(tmp_path: Path) -> None:
    text = (
        CALLER.partition("        - delayed_render")[0]
        + """
    caller:
      test.nop:
        - delayed_render:
          - block: B
            context: {given: '${delayed:vm.data.said}'}
    #!delayed_block B
    later:
      thing.made:
        - other: {{ given | tojson }}
        - data: {seen: {{ given | tojson }}}
    #!end_delayed_block
    """
    )
    hostile, got = outcome(text, "slot", tmp_path)
    assert got == hostile


def test_slots_and_references_that_the_block_itself_writes_still_work(tmp_path: Path) -> None:
    """Also beside hostile data: what stands in the file word for word is the author's."""
    block = """
    #!delayed_block B
    first:
      thing.made:
        - data: {ip: 10.0.0.7}
        - register: first
    later:
      thing.made:
        - comment: __slot__:salt:test.echo(mine)
        - data: {seen: '${delayed:first.data.ip}'}
    #!end_delayed_block
    """
    report = run(CALLER + block, pillar=written("slot", tmp_path))
    assert comment_of(report, "vm>B#1>later") == "mine"
    assert result_of(report, "vm>B#1>later").data == {"seen": "10.0.0.7"}


def test_a_slot_that_is_given_a_return_works_where_that_is_harmless(tmp_path: Path) -> None:
    block = """
    #!delayed_block B
    later:
      thing.made:
        - comment: __slot__:salt:test.echo({{ prev_ret.data.said }})
    #!end_delayed_block
    """
    report = run(CALLER + block, pillar=written("boolean", tmp_path))
    assert comment_of(report, "vm>B#1>later") == "yes"


MAKO = """\
    #!mako|yaml
    vm:
      thing.made:
        - file: ${pillar['said']}
        - delayed_render:
          - block: B
    #!delayed_block B
    <% import json %>
    later:
      thing.made:
        - other: ${json.dumps(prev_ret['data']['said'] + ' ')}
        - data: {seen: ${json.dumps(prev_ret['data']['said'])}}
    #!end_delayed_block
    """
PYTHON = """\
    #!py
    def run():
        return {"vm": {"thing.made": [{"file": pillar["said"]}, {"delayed_render": [{"block": "B"}]}]}}

    @delayed_block("B")
    def b(prev_ret):
        said = prev_ret["data"]["said"]
        return {"later": {"thing.made": [{"other": said + " "}, {"data": {"seen": said}}]}}
    """


# What the json of Python's own library writes is not always YAML.
NO_JSON = ("control", "unicode")


@pytest.mark.parametrize(
    ("kind", "text"),
    [*((kind, PYTHON) for kind in HOSTILE), *((kind, MAKO) for kind in HOSTILE if kind not in NO_JSON)],
)
def test_other_renderers_keep_it_as_data_too(kind: str, text: str, tmp_path: Path) -> None:
    hostile, got = outcome(text, kind, tmp_path)
    assert got == hostile


def test_a_hostile_id_is_only_an_id(tmp_path: Path) -> None:
    block = """
    #!delayed_block B
    {{ prev_ret.data.said | tojson }}:
      test.nop:
        - seen: 1
    #!end_delayed_block
    """
    report = run(CALLER + block, pillar=written("id", tmp_path))
    assert seen(report, "vm>B#1>x>y#1_|-\n: {{") == 1


def test_a_journal_remembers_what_is_data() -> None:
    """A frame that is resumed has its chunks from the journal, and they mean what they meant."""
    made = chunk("later", more={"deep": [{"x": Literal(SLOT)}], "own": SLOT + "1"})
    made.name, made.literal = Literal(SLOT), True
    body = chunk_codec.plan_out(make_plan([made], ["main"], Diagnostics()))
    (back,) = chunk_codec.chunks_in(msgspec.msgpack.decode(msgspec.msgpack.encode(body)), {})
    assert literals([back.name, back.args]) == {SLOT}
    assert (back.name, back.args, back.literal) == (made.name, made.args, True)


def test_a_journal_remembers_blocks_that_are_no_text() -> None:
    block = Block(name="B", file="main.sls", line=1, text="a\udcff")
    made = chunk("a")
    made.delayed = (Target(kind="block", name="B", block=block, scope=BlockScope(blocks={"B": block})),)
    body = chunk_codec.plan_out(make_plan([made], ["main"], Diagnostics()))
    (back,) = chunk_codec.chunks_in(msgspec.msgpack.decode(msgspec.msgpack.encode(body)), {})
    assert back.delayed[0].block == block
