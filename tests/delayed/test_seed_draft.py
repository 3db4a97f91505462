"""The first draft and its spellings: a test for each sentence that names a behaviour."""

from __future__ import annotations

from tests.delayed.thing import paths, run, seen
from tests.kit import ids

SIMPLE = """
    # init.sls
    my_state1:
      thing.made:
        - data: {ip: 10.0.0.7}
        - delayed_blocks:
            - dependant_block_A

    {% delayed_block dependant_block_A %}
    my_state2:
      test.nop:
        - seen: {{ prev_ret.data.ip }}
    {% end_delayed_block %}

    my_state3:
      test.nop: []
    """


def test_delayed_blocks_names_what_is_rendered_after_the_state() -> None:
    """“`dependant_block_A` will be rendered and its states executed after it finishes”."""
    report = run(SIMPLE)
    assert paths(report)[:2] == ["my_state1", "my_state1>dependant_block_A#1>my_state2"]


def test_delayed_blocks_run_immediately_after() -> None:
    """“`delayed_blocks` determines what will be executed **imediately after** this state”."""
    assert ids(run(SIMPLE)) == ["my_state1", "my_state2", "my_state3"]


def test_the_jinja_tag_cuts_its_text() -> None:
    """“the `delayed_block` Jinja tag is effectively cuts all of the text in the block”."""
    other = "\n    {% delayed_block other %}\n    {% end_delayed_block %}\n"
    report = run(SIMPLE.replace("- dependant_block_A", "- other") + other)
    assert ids(report) == ["my_state1", "my_state3"]


def test_the_text_is_associated_with_the_job() -> None:
    """“and associates it with the original job”: rendered with what its caller returned."""
    report = run(SIMPLE)
    assert seen(report, "my_state1>dependant_block_A#1>my_state2") == "10.0.0.7"
    assert report.frames[0].parent_jid == report.jid


def test_delayed_slses_names_entire_files() -> None:
    """“`delayed_slses` specifies an entire sls file to render and execute when `my_state1` finishes”."""
    report = run(
        """
        my_state1:
          test.nop:
            - delayed_slses:
                - my_state
        """,
        {"my_state.sls": "my_state2:\n  test.nop:\n    - seen: {{ prev_ret.name }}\n"},
    )
    assert seen(report, "my_state1>sls:my_state#1>my_state2") == "my_state1"


def test_two_files_and_two_blocks_in_the_order_of_the_keys() -> None:
    """“It calls two sls files and two blocks.”"""
    report = run(
        """
        my_state1:
          test.nop:
            - delayed_slses:
                - state_file1
                - state_file2
            - delayed_blocks:
                - dependant_block_A
                - dependant_block_B
        {% delayed_block dependant_block_A %}
        a:
          test.nop: []
        {% end_delayed_block %}
        {%- delayed_block dependant_block_B -%}
        b:
          test.nop: []
        {%- end_delayed_block dependant_block_B -%}
        """,
        {"state_file1.sls": "one:\n  test.nop: []\n", "state_file2.sls": "two:\n  test.nop: []\n"},
    )
    assert ids(report) == ["my_state1", "one", "two", "a", "b"]


def test_a_block_has_what_jinja_has_in_a_state() -> None:
    """“everything that Jinja typically has in a state, including logic, grains, pillars, `salt`”."""
    report = run(
        SIMPLE.replace(
            "{{ prev_ret.data.ip }}",
            "{{ [grains.own, pillar.own, salt['test.echo']('e')] | tojson if prev_ret.result }}",
        ),
        grains={"own": "g"},
        pillar={"own": "p"},
    )
    assert seen(report, "my_state1>dependant_block_A#1>my_state2") == ["g", "p", "e"]
