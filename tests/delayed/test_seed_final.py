"""The proposal, from its summary to its examples: a test for each sentence that names a behaviour.

It goes on in ``test_seed_final_edges`` and, from the implementation notes on, in ``test_seed_final_notes``.
"""

from __future__ import annotations

import re

import pytest
from tests.delayed.thing import paths, problem, run, seen
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
