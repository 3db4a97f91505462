"""The proposal, from its summary to the edge cases: a test for each sentence that names a behaviour.

Its second half, from the implementation notes on, is in ``test_seed_final_notes``.
"""

from __future__ import annotations

import re

import pytest
from tests.delayed.thing import comment_of, paths, problem, result_of, run, seen, value_of
from tests.kit import ids

SIMPLE = """
    my_state1:
      test.nop:
        - do_something: true
        - delayed_render:
          - block: dependant_block_A

    #!delayed_block dependant_block_A
    my_state2:
      test.nop:
        - seen: {{ prev_ret.name }}
    #!end_delayed_block
    """

REPEATED = """
    {% for i in range(5) %}
    my_state{{ i }}:
      test.nop:
        - delayed_render:
          - block: dependant_block_A
    {% endfor %}

    #!delayed_block dependant_block_A LIMIT
    my_stateA:
      test.nop:
        - seen: {{ prev_ret.name }}
    #!end_delayed_block
    """


# -- summary ---------------------------------------------------------------------------------------


def test_rendering_is_delayed_until_another_state_has_executed() -> None:
    """“a way to delay rendering of states until after other states have executed”."""
    report = run(
        """
        key:
          cmd.run:
            - name: head -c 8 /dev/urandom | od -An -tx1 | tr -d ' \\n' > {{ pillar.scratch }}/key
            - delayed_render:
              - block: use_it
        #!delayed_block use_it
        use_it:
          test.nop:
            - seen: {{ salt['file.read'](pillar.scratch ~ '/key') }}
        #!end_delayed_block
        """
    )
    assert re.fullmatch("[0-9a-f]{16}", str(seen(report, "key>use_it#1>use_it")))


def test_the_physical_place_of_a_file_is_known_after_it_is_written() -> None:
    """“Writing to disk and then querying for the exact physical location on disk of a file.”"""
    report = run(
        """
        {{ pillar.scratch }}/file:
          file.managed:
            - contents: text
            - delayed_render:
              - block: where
        #!delayed_block where
        {% set inode = salt['file.stats'](prev_ret.name).inode %}
        inode:
          test.nop:
            - seen: {{ inode }}
        #!end_delayed_block
        """
    )
    assert isinstance(seen(report, report.frames[0].path + ">inode"), int)


def test_an_id_that_somebody_else_gives_is_used_in_the_same_run() -> None:
    """“Instancing any cloud device or service that has an associated id … that is not predictable.”"""
    report = run(
        """
        vm:
          thing.made:
            - data: {ip: 10.0.0.7, id: i-17}
            - delayed_render:
              - block: use_vm
        #!delayed_block use_vm
        host entry:
          test.nop:
            - ip: {{ prev_ret.data.ip | tojson }}
        #!end_delayed_block
        """
    )
    assert seen(report, "vm>use_vm#1>host entry", "ip") == "10.0.0.7"


# -- design summary --------------------------------------------------------------------------------


def test_delayed_render_takes_a_list_to_render_after_its_state_has_finished() -> None:
    """“a new requisite called `delayed_render`, that takes a list of things to render and execute”."""
    report = run(SIMPLE)
    assert paths(report) == ["my_state1", "my_state1>dependant_block_A#1>my_state2"]


def test_the_list_contains_blocks_or_names_of_entire_sls_files() -> None:
    """“This list contains either 1) blocks … or 2) the names of entire sls files”."""
    report = run(
        """
        first:
          test.nop:
            - delayed_render:
              - block: A
              - sls: web.later
        #!delayed_block A
        of the block:
          test.nop: []
        #!end_delayed_block
        """,
        {"web/later.sls": "of the file:\n  test.nop: []\n"},
    )
    assert paths(report) == ["first", "first>A#1>of the block", "first>sls:web.later#1>of the file"]


def test_a_block_has_loops_conditionals_and_the_special_names() -> None:
    """“Doing this allows for loops, conditionals, Salt's special context vars like `salt` and `grains`”."""
    report = run(
        """
        first:
          thing.made:
            - data: {users: [ada, bob]}
            - delayed_render:
              - block: A
        #!delayed_block A
        {% for user in prev_ret.data.users %}
        {% if user != 'bob' %}
        {{ user }}:
          test.nop:
            - seen: {{ [grains.os_test, salt['test.echo']('yes'), pillar.p, opts.id, sls] | tojson }}
        {% endif %}
        {% endfor %}
        #!end_delayed_block
        """,
        grains={"os_test": "Own"},
        pillar={"p": 7},
    )
    assert ids(report) == ["first", "ada"]
    assert seen(report, "first>A#1>ada") == ["Own", "yes", 7, "here", "main"]


def test_logic_is_built_around_data_that_did_not_exist_before() -> None:
    """“accessing and building logic around data at delayed render time, where that data did not exist”."""
    report = run(
        """
        {% set there = salt['file.file_exists'](pillar.scratch ~ '/made') %}
        first:
          cmd.run:
            - name: echo {{ there }} > {{ pillar.scratch }}/made
            - delayed_render:
              - block: A
        #!delayed_block A
        {% if salt['file.file_exists'](pillar.scratch ~ '/made') %}
        it was not there:
          test.nop:
            - seen: {{ salt['file.read'](pillar.scratch ~ '/made') }}
        {% endif %}
        #!end_delayed_block
        """
    )
    assert seen(report, "first>A#1>it was not there") is False


def test_what_is_delayed_runs_immediately_after_its_state() -> None:
    """“`delayed_render` determines what will be executed **immediately after** this state”."""
    report = run(SIMPLE + "\n    my_state3:\n      test.nop: []\n")
    assert ids(report) == ["my_state1", "my_state2", "my_state3"]


def test_each_start_tag_must_have_a_matching_end_tag() -> None:
    """“Each start tag must have a matching ending tag.”"""
    assert problem(SIMPLE.replace("#!end_delayed_block", "")).startswith(
        "main.sls:8: the block 'dependant_block_A' is not ended [delayed-no-end]"
    )


def test_the_text_between_the_tags_is_cut_before_the_first_render() -> None:
    """“all of the text between a matching pair is effectively cut and stored in memory”."""
    report = run(SIMPLE.replace("- block: dependant_block_A", "- sls: other"), {"other.sls": ""})
    assert ids(report) == ["my_state1"]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of Cheetah itself
@pytest.mark.parametrize(
    ("shebang", "expression"),
    [
        ("#!jinja|yaml", "{{ prev_ret.data.ip }}"),
        ("#!mako|yaml", "${prev_ret['data']['ip']}"),
        ("#!genshi -text|yaml", "${prev_ret.data.ip}"),
        ("#!cheetah|yaml", "$prev_ret['data']['ip']"),
    ],
)
def test_the_tags_do_not_depend_on_the_renderer(shebang: str, expression: str) -> None:
    """“an implementation that is not dependent on the renderer chosen”."""
    report = run(
        f"""\
        {shebang}
        vm:
          thing.made:
            - data: {{ip: 10.0.0.7}}
            - delayed_render:
              - block: A
        #!delayed_block A
        later:
          test.nop:
            - seen: {expression}
        #!end_delayed_block
        """
    )
    assert seen(report, "vm>A#1>later") == "10.0.0.7"


def test_an_entire_separate_file_is_a_target() -> None:
    """“you have an `sls` enabling you to target an *entire, separate* file”."""
    report = run(
        """
        my_state1:
          test.nop:
            - delayed_render:
              - sls: my_state_file
        """,
        {"my_state_file.sls": "my_state2:\n  test.nop:\n    - seen: {{ prev_ret.comment }}\n"},
    )
    assert seen(report, "my_state1>sls:my_state_file#1>my_state2") == "Success!"


# -- supplying additional data ---------------------------------------------------------------------


def test_the_return_of_the_caller_is_prev_ret_in_the_template() -> None:
    """“This return dict is added to the template (e.g. Jinja) context as `prev_ret`.”"""
    report = run(SIMPLE.replace("{{ prev_ret.name }}", "{{ prev_ret }}"))
    returned = seen(report, "my_state1>dependant_block_A#1>my_state2")
    assert isinstance(returned, dict)
    assert (returned["__id__"], returned["result"], returned["comment"]) == ("my_state1", True, "Success!")


SCOPED = """
    my_state1:
      test.nop:
        - delayed_render:
          - block: dependant_block_A

    {% set local_context = "foo" %}

    #!delayed_block dependant_block_A scoped
    my_state2:
      test.nop:
        - seen: {{ local_context }}
    #!end_delayed_block
    """


def test_scoped_brings_the_context_of_the_file_into_the_block() -> None:
    """“the `scoped` positional argument [says] that this state's template context should be included”."""
    assert seen(run(SCOPED), "my_state1>dependant_block_A#1>my_state2") == "foo"


def test_several_blocks_and_files_run_in_the_order_of_the_list() -> None:
    """“they should be rendered and executed in this particular order; `state_file1`, then …”."""
    report = run(
        """
        my_state1:
          test.nop:
            - delayed_render:
              - sls: state_file1
              - block: dependant_block_A
              - sls: state_file2
              - block: dependant_block_B
        #!delayed_block dependant_block_B
        b:
          test.nop: []
        #!end_delayed_block
        #!delayed_block dependant_block_A
        a:
          test.nop: []
        #!end_delayed_block
        """,
        {"state_file1.sls": "one:\n  test.nop: []\n", "state_file2.sls": "two:\n  test.nop: []\n"},
    )
    assert ids(report) == ["my_state1", "one", "a", "two", "b"]


# -- edge cases ------------------------------------------------------------------------------------


def test_nested_blocks_are_a_chain_of_renders() -> None:
    """“In this case, there are three renders. The first … and the next two …, in a chain.”"""
    report = run(
        """
        my_state1:
          test.nop:
            - delayed_render:
              - block: dependant_block_A

        #!delayed_block dependant_block_A
        my_state2:
          test.nop:
            - seen: {{ prev_ret.name }}
            - delayed_render:
              - block: dependant_block_A_a

        #!delayed_block dependant_block_A_a
        my_state3:
          test.nop:
            - seen: {{ prev_ret.name }}
        #!end_delayed_block

        #!end_delayed_block
        """
    )
    inner = "my_state1>dependant_block_A#1>my_state2>dependant_block_A_a#1>my_state3"
    assert seen(report, inner) == "my_state2"
    assert [frame.depth for frame in sorted(report.frames, key=lambda frame: frame.depth)] == [1, 2]


def test_a_block_is_rendered_once_for_each_state_that_calls_it() -> None:
    """“*5 times* to render `dependant_block_A`, once for each state that calls it”."""
    report = run(REPEATED.replace("LIMIT", "delayed_repeat_limit=5"))
    called = [f"my_state{i}>dependant_block_A#{i + 1}>my_stateA" for i in range(5)]
    assert [seen(report, path) for path in called] == [f"my_state{i}" for i in range(5)]


def test_by_default_nothing_is_rendered_more_than_once() -> None:
    """“This flag should default to `1`”."""
    report = run(REPEATED.replace("LIMIT", ""))
    assert ids(report).count("my_stateA") == 1


@pytest.mark.parametrize("limit", ["delayed_repeat_limit=None", "delayed_repeat_limit=7"])
def test_the_limit_is_any_positive_integer_or_none(limit: str) -> None:
    """“`delayed_repeat_limit` can be set to any positive integer, or `None`”."""
    assert ids(run(REPEATED.replace("LIMIT", limit))).count("my_stateA") == 5


def test_over_the_limit_the_render_does_not_occur_and_an_error_is_returned() -> None:
    """“the exceeding render should not occur, and instead return and issue an error”."""
    report = run(REPEATED.replace("LIMIT", ""))
    assert value_of(report, "my_state1>dependant_block_A") is False
    assert "may be rendered once, and my_state0 used that up" in comment_of(
        report, "my_state1>dependant_block_A"
    )


def test_over_the_limit_the_build_goes_on() -> None:
    """“it should not cause an entire build to fail unless `failhard: True`”: without."""
    report = run(REPEATED.replace("LIMIT", "") + "\n    last:\n      test.nop: []\n")
    assert result_of(report, "my_state4").ran
    assert result_of(report, "last").ran


@pytest.mark.parametrize("config", [{"failhard": True}, {}])
def test_over_the_limit_failhard_ends_the_build(config: dict[str, object]) -> None:
    """“… unless `failhard: True`”: in the configuration or on the state."""
    text = REPEATED.replace("LIMIT", "")
    if not config:
        text = text.replace("- delayed_render", "- failhard: true\n        - delayed_render")
    report = run(text, config=config)
    assert result_of(report, "my_state1").ran
    assert not result_of(report, "my_state2").ran
    assert "failhard" in report.stopped


def test_the_limit_stands_on_the_tag_of_a_block() -> None:
    """“1. The `delayed_block` hashbang … `delayed_repeat_limit=3`”."""
    report = run(REPEATED.replace("LIMIT", "delayed_repeat_limit=3"))
    assert ids(report).count("my_stateA") == 3
    assert "may be rendered 3 times" in comment_of(report, "my_state3>dependant_block_A")


CALLS_A_FILE = """
    {% for i in range(5) %}
    my_state{{ i }}:
      test.nop:
        - delayed_render:
          - sls: my_delayed_sls
    {% endfor %}
    """


def test_the_limit_stands_at_the_top_of_an_sls_file() -> None:
    """“2. The top of an sls file”."""
    file = "# my_delayed_sls.sls\n#!delayed_sls delayed_repeat_limit=3\n\nmy_stateA:\n  test.nop: []\n"
    report = run(CALLS_A_FILE, {"my_delayed_sls.sls": file})
    assert ids(report).count("my_stateA") == 3


def test_delayed_sls_must_stand_at_the_top() -> None:
    """“It must be placed at the top of a file”."""
    file = "my_stateA:\n  test.nop: []\n#!delayed_sls delayed_repeat_limit=3\n"
    report = run(CALLS_A_FILE, {"my_delayed_sls.sls": file})
    assert ids(report).count("my_stateA") == 1


def test_a_file_has_one_delayed_sls_at_most() -> None:
    """“There can only be at most one such hashbang in a `delayed_render` file.”"""
    told = problem(
        """
        a:
          test.nop:
            - delayed_render:
              - sls: other
        """,
        {"other.sls": "#!delayed_sls\n# a comment\n#!delayed_sls scoped\na:\n  test.nop: []\n"},
    )
    assert told.startswith("other.sls:3: this file has two '#!delayed_sls' lines [delayed-sls-twice]")
    assert "first: other.sls:1" in told


def test_delayed_sls_in_a_file_used_normally_is_a_comment() -> None:
    """“the hashbang will have no effect, and be treated like any other YAML comment”."""
    report = run("#!delayed_sls delayed_repeat_limit=nonsense\na:\n  test.nop: []\n")
    assert ids(report) == ["a"]


def test_the_configuration_has_an_alternative_default() -> None:
    """“3. In the master configuration, as an alternative default value.”"""
    report = run(REPEATED.replace("LIMIT", ""), config={"delayed_repeat_limit": 3})
    assert ids(report).count("my_stateA") == 3
