"""The proposal, from its implementation notes on: a test for each sentence that names a behaviour."""

from __future__ import annotations

from io import StringIO

import pytest
from tests.delayed.thing import answer_of, comment_of, paths, problem, result_of, run, seen, value_of
from tests.kit import ids

from saltern.report.human import show
from saltern.report.outputs import OutputOptions

CALLER = """
    my_state1:
      test.nop:
        - delayed_render:
          - block: A
    """


# -- general flow ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "contents",
    [
        "simple:\n  test.nop: []",
        "{% for i in range(2) %}\nmany{{ i }}:\n  test.nop: []\n{% endfor %}",
        "{% unrenderable Jinja",
        "a: [unreadable YAML",
        "#!delayed_block inner\na: [\n#!end_delayed_block",
    ],
)
def test_it_does_not_matter_what_a_block_contains_before_its_frame(contents: str) -> None:
    """“At this step it doesn't matter at all what the contents are, be it a simple state, …”."""
    report = run(f"a:\n  test.nop: []\n#!delayed_block A\n{contents}\n#!end_delayed_block A\n")
    assert ids(report) == ["a"]
    assert [block.name for block in report.unused] == ["A"]


def test_the_chain_of_states_pauses_until_the_frame_is_done() -> None:
    """“the minion pauses it's chain of state executions”, then “it can proceed to the next step”."""
    report = run(
        """
        one:
          test.nop:
            - delayed_render:
              - block: A
        two:
          test.nop: []
        #!delayed_block A
        x:
          test.nop: []
        y:
          test.nop: []
        #!end_delayed_block
        """
    )
    assert ids(report) == ["one", "x", "y", "two"]


def test_a_frame_knows_the_job_id_of_its_parent() -> None:
    """“This callback should contain its parent's job id.”"""
    report = run(CALLER + "\n    #!delayed_block A\n    x:\n      test.nop: []\n    #!end_delayed_block\n")
    assert report.frames[0].parent_jid == report.jid
    assert report.frames[0].jid != report.jid


def test_a_block_is_scanned_for_blocks_before_it_is_rendered() -> None:
    """“then renders the block or sls (again starting with a scan for `#!delayed_block`s)”."""
    report = run(
        """
        a:
          test.nop:
            - delayed_render:
              - sls: other
        """,
        {
            "other.sls": """
            b:
              test.nop:
                - delayed_render:
                  - block: inner
            #!delayed_block inner
            c:
              test.nop:
                - seen: {{ prev_ret.name }}
            #!end_delayed_block
            """
        },
    )
    assert paths(report)[-1] == "a>sls:other#1>b>inner#1>c"


def test_a_block_that_nobody_calls_is_discarded_at_the_end() -> None:
    """“its stored contents will be discarded at the ultimate end of the original job”."""
    report = run("a:\n  test.nop: []\n#!delayed_block A\nb:\n  test.nop: []\n#!end_delayed_block\n")
    assert ids(report) == ["a"]
    assert [(block.name, block.line) for block in report.unused] == [("A", 3)]


def test_an_unused_delayed_sls_remains_unused() -> None:
    """“Similarly, an unused `delayed_sls` will simply remain unused.”"""
    report = run("a:\n  test.nop: []\n", {"other.sls": "#!delayed_sls\nb:\n  test.nop: []\n"})
    assert ids(report) == ["a"]


# -- user interface ----------------------------------------------------------------------------------


def test_states_of_a_delayed_render_are_indented_on_the_terminal() -> None:
    """“states that came from a delayed render should be slightly indented in the normal output”."""
    report = run(CALLER + "\n    #!delayed_block A\n    x:\n      test.nop: []\n    #!end_delayed_block\n")
    out = StringIO()
    show(report, OutputOptions(label="here"), out)
    rows = out.getvalue().splitlines()
    assert "          ID: my_state1" in rows
    assert "            ID: x" in rows


# -- end tags ------------------------------------------------------------------------------------------


def test_an_end_tag_may_have_the_name_of_its_block() -> None:
    """“You should also be able to specify named block end-tags”."""
    report = run(CALLER + "\n    #!delayed_block A\n    x:\n      test.nop: []\n    #!end_delayed_block A\n")
    assert ids(report) == ["my_state1", "x"]


def test_the_name_of_an_end_tag_must_match() -> None:
    """“if a `#!end_delayed_block` has a specified name, then it must match the corresponding, starting …”."""
    told = problem(
        CALLER + "\n    #!delayed_block A\n    x:\n      test.nop: []\n    #!end_delayed_block B\n"
    )
    assert told.startswith(
        "main.sls:10: end_delayed_block names 'B', but the block it ends is 'A' [delayed-end-name]"
    )
    assert "begun: main.sls:7" in told


# -- finding blocks ------------------------------------------------------------------------------------

TEMPLATE = "#!delayed_block A\nx:\n  test.nop: []\n#!end_delayed_block\n{% block here %}{% endblock %}\n"


@pytest.mark.parametrize("how", ["{% include 'part.jinja' %}", "{% extends 'part.jinja' %}"])
def test_a_block_of_a_template_that_is_included_or_extended_is_found(how: str) -> None:
    """“will not be found or used unless that template is included or extended with a template renderer”."""
    body = CALLER.replace("\n    ", "\n")
    text = (
        f"{how}\n{{% block here %}}\n{body}\n{{% endblock %}}\n" if "extends" in how else f"{how}\n{body}\n"
    )
    assert ids(run(text, {"part.jinja": TEMPLATE})) == ["my_state1", "x"]


def test_a_block_of_another_template_is_not_found() -> None:
    """The same sentence, the other way round."""
    told = problem(CALLER, {"part.jinja": TEMPLATE})
    assert "names the block 'A', which this file does not have [delayed-unknown]" in told


def test_a_template_is_scanned_before_it_is_rendered() -> None:
    """“that template must be read and first scanned for these hashbangs”."""
    part = "#!delayed_block A\nx:\n  test.nop:\n    - seen: {{ prev_ret.name }}\n#!end_delayed_block\n"
    report = run(CALLER + "\n    {% include 'part.jinja' %}\n", {"part.jinja": part})
    assert seen(report, "my_state1>A#1>x") == "my_state1"


# -- delayed scope ---------------------------------------------------------------------------------------


def test_a_block_does_not_access_outer_variables_unless_scoped() -> None:
    """“by default, delayed_blocks may not access variables from outer scope, unless `scoped` is included”."""
    text = CALLER + (
        "\n    {% set x = 'foo' %}"
        "\n    #!delayed_block A\n    later:\n      test.nop:\n        - seen: {{ x }}"
        "\n    #!end_delayed_block\n"
    )
    report = run(text)
    assert value_of(report, "my_state1>A") is False
    assert "'x' is undefined" in comment_of(report, "my_state1>A")
    assert (
        seen(run(text.replace("block A\n    later", "block A scoped\n    later")), "my_state1>A#1>later")
        == "foo"
    )


def test_there_is_no_super() -> None:
    """“*Unlike* traditional Jinja `block` tags, there is no functional `super()` call.”"""
    report = run(CALLER + "\n    #!delayed_block A\n    {{ super() }}\n    #!end_delayed_block\n")
    assert "'super' is undefined" in comment_of(report, "my_state1>A")


def test_scoped_adds_the_context_to_an_sls_as_well() -> None:
    """“the Jinja context of the calling state is added to … the `delayed_block` or `delayed_sls`”."""
    report = run(
        "{% set x = 'foo' %}\na:\n  test.nop:\n    - delayed_render:\n      - sls: other\n",
        {"other.sls": "#!delayed_sls scoped\nb:\n  test.nop:\n    - seen: {{ x }}\n"},
    )
    assert seen(report, "a>sls:other#1>b") == "foo"


def test_no_requisite_of_the_outer_scope_reaches_into_a_block() -> None:
    """“No requisite from the outer scope can reference a state in the inner scope”."""
    told = problem(
        CALLER
        + """
    outer:
      test.nop:
        - require:
          - test: inner
    #!delayed_block A
    inner:
      test.nop: []
    #!end_delayed_block
    """
    )
    assert "inside block 'A'" in told


def test_no_requisite_of_a_block_reaches_out_of_it() -> None:
    """“no state in the inner scope can reference a state in the outer scope”."""
    report = run(
        CALLER
        + """
    #!delayed_block A
    inner:
      test.nop:
        - require:
          - test: my_state1
    #!end_delayed_block
    """
    )
    assert value_of(report, "my_state1>A") is False
    assert "it is outside of this block" in comment_of(report, "my_state1>A")


def test_the_same_id_is_used_in_different_scopes() -> None:
    """“the same state id can be reused in different scopes”."""
    report = run(
        CALLER + "\n    #!delayed_block A\n    my_state1:\n      test.nop: []\n    #!end_delayed_block\n"
    )
    assert paths(report) == ["my_state1", "my_state1>A#1>my_state1"]


def test_each_delayed_state_is_identified_with_its_parent() -> None:
    """“Each delayed render state can also still be uniquely identified by associating it with its parent”."""
    report = run(
        """
        {% for name in 'ab' %}
        {{ name }}:
          test.nop:
            - delayed_render:
              - block: A
        {% endfor %}
        #!delayed_block A delayed_repeat_limit=2
        same:
          test.nop: []
        #!end_delayed_block
        """
    )
    assert answer_of(report, "a>A#1>same").parent == "test_|-a_|-a_|-nop"
    assert answer_of(report, "b>A#2>same").parent == "test_|-b_|-b_|-nop"
    assert len({frame.jid for frame in report.frames}) == 2


def test_prev_ret_is_always_there_also_when_scoped() -> None:
    """“delayed renders always have the return dict of the state that called it as `prev_ret`”."""
    report = run(
        CALLER
        + """
    {% set prev_ret = 'not this' %}
    #!delayed_block A scoped
    x:
      test.nop:
        - seen: {{ prev_ret.name }}
    #!end_delayed_block
    """
    )
    assert seen(report, "my_state1>A#1>x") == "my_state1"


# -- alternative renderers ---------------------------------------------------------------------------------


def test_a_python_file_has_functions_for_blocks() -> None:
    """“functions that, when decorated by `@delayed_block`, could be evaluated in delayed fashion”."""
    report = run(
        """\
        #!py
        def run():
            args = [{"data": {"ip": "10.0.0.7"}}, {"delayed_render": [{"block": "use"}]}]
            return {"vm": {"thing.made": args}}

        @delayed_block("use")
        def use(prev_ret):
            return {"later": {"test.nop": [{"seen": prev_ret["data"]["ip"]}]}}
        """
    )
    assert seen(report, "vm>use#1>later") == "10.0.0.7"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of Cheetah itself
@pytest.mark.parametrize("shebang", ["mako|yaml", "genshi -text|yaml", "cheetah|yaml", "yaml", "json"])
def test_any_renderer_calls_a_delayed_sls(shebang: str) -> None:
    """“References to `delayed_sls` files should be straight-forward.”"""
    data = '{"a": {"test.nop": [{"delayed_render": [{"sls": "other"}]}]}}'
    report = run(f"#!{shebang}\n{data}\n", {"other.sls": "b:\n  test.nop: []\n"})
    assert ids(report) == ["a", "b"]


# -- drawbacks ---------------------------------------------------------------------------------------------


def test_existing_setups_run_unaffected() -> None:
    """“This is not a breaking change. Existing setups should run unaffected.”"""
    report = run(
        """
        # a word on delayed things
        a:
          cmd.run:
            - name: echo ${HOME} ${x:-y} delayed
        delayed:
          test.nop: []
        """
    )
    assert result_of(report, "a").changes["stdout"] != ""
    assert (ids(report), report.frames, report.warnings) == (["a", "delayed"], [], [])
