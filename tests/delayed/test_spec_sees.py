"""The decisions, “What a frame sees”: a test for each sentence."""

from __future__ import annotations

import pytest
from tests.delayed.thing import attempted, comment_of, run, seen
from tests.kit import ids

CALLER = """
    a:
      thing.made:
        - data: {ip: 10.0.0.7, ports: [80, 443]}
        - changed: true
        - delayed_render:
          - block: B
    """


def with_block(inside: str, *, words: str = "", before: str = "", after: str = "") -> str:
    """The caller, and a block whose state shows ``inside``."""
    return (
        f"{before}{CALLER}{after}"
        f"\n    #!delayed_block B {words}\n    later:\n      test.nop:\n        - seen: {inside}"
        "\n    #!end_delayed_block\n"
    )


def shown(inside: str, **more: str) -> object:
    return seen(run(with_block(inside, **more)), "a>B#1>later")


# -- prev_ret ------------------------------------------------------------------------------------------

KEYS = {
    "name",
    "changes",
    "result",
    "comment",
    "duration",
    "start_time",
    "__id__",
    "__sls__",
    "__run_num__",
    "__state_ran__",
    "state",
    "fun",
    "data",
    "sub_states",
    "delayed",
}


def test_prev_ret_has_all_its_keys() -> None:
    """“`prev_ret`: a read-only copy of the caller's stored return: `name, changes, result, …`”."""
    returned = shown("{{ prev_ret | tojson }}")
    assert isinstance(returned, dict)
    assert returned.keys() == KEYS
    assert {key: returned[key] for key in ("__id__", "__sls__", "__run_num__", "__state_ran__")} == {
        "__id__": "a",
        "__sls__": "main",
        "__run_num__": 0,
        "__state_ran__": True,
    }
    assert (returned["state"], returned["fun"], returned["result"]) == ("thing", "made", True)
    assert returned["changes"] == {"thing": {"old": None, "new": "a"}}
    assert (returned["sub_states"], returned["delayed"]) == ([], [])


@pytest.mark.parametrize("words", ["fails: true", "onlyif: 'false'", "require: [{thing: bad}]"])
def test_prev_ret_has_all_its_keys_whatever_became_of_the_caller(words: str) -> None:
    """The same sentence, for a caller that failed or did not run."""
    text = with_block("{{ prev_ret | tojson }}").replace("- block: B", "- block: B\n            when: always")
    text = text.replace("- changed: true", f"- {words}")
    report = run("\n    bad:\n      thing.made:\n        - fails: true\n" + text)
    returned = seen(report, "a>B#1>later")
    assert isinstance(returned, dict)
    assert returned.keys() >= KEYS


def test_prev_ret_is_a_copy() -> None:
    """“a read-only copy”: whatever a template does to it, the return stays what it was."""
    report = run(
        with_block("{{ prev_ret.data.ip }}", words="").replace(
            "    later:", "    {% do prev_ret.data.update({'ip': 'mine'}) %}\n    later:"
        )
    )
    assert seen(report, "a>B#1>later") == "mine"
    assert report.answers[0].result.data["ip"] == "10.0.0.7"
    assert report.answers[0].chunk.args["data"] == {"ip": "10.0.0.7", "ports": [80, 443]}


def test_prev_ret_has_the_results_of_earlier_targets() -> None:
    """“`delayed` (results of earlier targets of the same caller)”."""
    report = run(
        """
        a:
          test.nop:
            - delayed_render:
              - block: first
              - block: second
        #!delayed_block first
        one:
          thing.made:
            - data: {number: 1}
        #!end_delayed_block
        #!delayed_block second
        two:
          test.nop:
            - seen: {{ prev_ret.delayed | tojson }}
        #!end_delayed_block
        """
    )
    earlier = seen(report, "a>second#1>two")
    assert isinstance(earlier, list)
    assert [(one["__id__"], one["result"], one["data"]) for one in earlier] == [("one", True, {"number": 1})]


def test_data_is_there_when_nothing_changed() -> None:
    """“**`data` is always there.** … whether or not anything changed”."""
    text = with_block("{{ prev_ret.data.ip }}").replace("- changed: true", "- changed: false")
    assert seen(run(text), "a>B#1>later") == "10.0.0.7"
    nothing = with_block("{{ prev_ret.data }}").replace("- data: {ip: 10.0.0.7, ports: [80, 443]}", "- x: 1")
    assert seen(run(nothing), "a>B#1>later") == {}


def test_the_second_run_of_a_built_in_state_knows_as_much_as_the_first() -> None:
    """“Every built-in state returns `data` with what it knows about the thing (path, mode, hash …)”."""
    report = run(
        """
        {% for name in ('first', 'second') %}
        {{ name }}:
          file.managed:
            - name: {{ pillar.scratch }}/f
            - contents: text
            - mode: '0640'
            - delayed_render:
              - block: B
        {% endfor %}
        #!delayed_block B delayed_repeat_limit=2
        later:
          test.nop:
            - seen: {{ prev_ret.data | tojson }}
            - changed: {{ prev_ret.changes | length > 0 }}
        #!end_delayed_block
        """
    )
    first, second = (f"{name}>B#{number}>later" for number, name in enumerate(("first", "second"), 1))
    assert (seen(report, first, "changed"), seen(report, second, "changed")) == (True, False)
    assert seen(report, first) == seen(report, second) != {}


# -- scoped --------------------------------------------------------------------------------------------


def test_scoped_sees_a_variable_as_it_is_at_the_end_of_the_render() -> None:
    """“as they are at the *end* of its render (… `{% set %}` after the caller)”."""
    change = "\n    {% set x = 'late' %}\n"
    assert shown("{{ x }}", words="scoped", before="\n    {% set x = 'early' %}", after=change) == "late"


def test_scoped_sees_macros_and_imports() -> None:
    """“all template-level variables of the caller's file … (imports, macros …)”."""
    report = run(
        with_block(
            "{{ [own(1), lib.double(2), half(8), defaults.port] | tojson }}",
            words="scoped",
            before="""
    {% import 'lib.jinja' as lib %}
    {% from 'lib.jinja' import half with context %}
    {% import_yaml 'defaults.yaml' as defaults %}
    {% macro own(x) %}{{ x + 1 }}{% endmacro %}
    """,
        ),
        {
            "lib.jinja": "{% macro double(x) %}{{ x * 2 }}{% endmacro %}\n"
            "{% macro half(x) %}{{ x // 2 }}{% endmacro %}\n",
            "defaults.yaml": "port: 80\n",
        },
    )
    assert seen(report, "a>B#1>later") == ["2", "4", "4", 80]


def test_without_scoped_a_name_is_undefined_and_the_error_says_what_to_do() -> None:
    """“Without `scoped` they are undefined, and the error says "exists in the outer scope: add `scoped`".”"""
    report = run(with_block("{{ x }}", before="\n    {% set x = 1 %}"))
    assert "'x' exists in the outer scope: add 'scoped' to the tag" in comment_of(report, "a>B")


@pytest.mark.parametrize("words", ["", "scoped"])
def test_a_name_of_a_scope_further_out_needs_scoped_on_all_tags_between(words: str) -> None:
    """The same sentence, for a block in a block."""
    inner = f"#!delayed_block C {words}\n{{{{ x }}}}\n#!end_delayed_block\n"
    report = run(
        "{% set x = 1 %}\na:\n  test.nop:\n    - delayed_render:\n      - block: B\n"
        "#!delayed_block B\nb:\n  test.nop:\n    - delayed_render:\n      - block: C\n"
        f"{inner}#!end_delayed_block\n"
    )
    told = comment_of(report, "a>B#1>b>C")
    assert (
        "'x' exists in the outer scope: add 'scoped' to the tags of this block and of those around it" in told
    )


def test_a_name_that_nobody_has_gets_no_such_hint() -> None:
    """The same sentence: only what exists."""
    told = comment_of(run(with_block("{{ nowhere }}", before="\n    {% set x = 1 %}")), "a>B")
    assert "'nowhere' is undefined" in told
    assert "outer scope" not in told


def test_a_loop_variable_is_not_at_template_level() -> None:
    """“all template-level variables”: what a loop counts with is gone at its end."""
    report = run(with_block("{{ i }}", words="scoped", before="\n    {% for i in 'xy' %}{% endfor %}"))
    assert "'i' is undefined" in comment_of(report, "a>B")


def test_scoped_reaches_through_nested_blocks() -> None:
    """The caller's file of an inner block is the outer block, with all that it saw itself."""
    report = run(
        """
        {% set x = 'of the file' %}
        a:
          test.nop:
            - delayed_render:
              - block: outer
                context: {c: of the entry}
        #!delayed_block outer scoped
        {% set y = 'of the block' %}
        b:
          test.nop:
            - delayed_render:
              - block: inner
        #!delayed_block inner scoped
        c:
          test.nop:
            - seen: {{ [x, y, c] | tojson }}
        #!end_delayed_block
        #!end_delayed_block
        """
    )
    assert seen(report, "a>outer#1>b>inner#1>c") == ["of the file", "of the block", "of the entry"]


# -- precedence ------------------------------------------------------------------------------------------


def test_grains_pillar_salt_and_opts_are_always_the_live_ones() -> None:
    """“`grains`, `pillar`, `salt`, `opts` are always the live ones.”"""
    names = ("grains", "pillar", "salt", "opts", "sls", "saltenv", "tplpath")
    before = "".join(f"\n    {{% set {name} = 'mine' %}}" for name in names if name != "pillar")
    text = with_block(
        "{{ [grains.g, pillar.p, opts.id, sls, saltenv] | tojson }}", words="scoped", before=before
    )
    context = "{" + ", ".join(f"{name}: mine" for name in names) + "}"
    text = text.replace("- block: B", f"- block: B\n            context: {context}")
    assert seen(run(text, grains={"g": 1}, pillar={"p": 2}), "a>B#1>later") == [1, 2, "here", "main", "base"]


def test_prev_ret_wins_over_the_entrys_context_and_that_over_scoped_names() -> None:
    """“Precedence: special names > `prev_ret` > entry `context` > scoped variables.”"""
    text = with_block(
        "{{ [prev_ret.name, x, y] | tojson }}",
        words="scoped",
        before="\n    {% set x = 'scoped' %}{% set y = 'scoped' %}{% set prev_ret = 'scoped' %}",
    ).replace("- block: B", "- block: B\n            context: {x: entry, prev_ret: entry}")
    assert seen(run(text), "a>B#1>later") == ["a", "entry", "scoped"]


def test_context_of_an_entry_is_seen_by_a_file_too() -> None:
    """“`context: {zone: example.org}` # extra template variables for this frame”."""
    report = run(
        """
        a:
          test.nop:
            - delayed_render:
              - sls: other
                context: {zone: one}
              - sls: other
                context: {zone: two}
        """,
        {"other.sls": "#!delayed_sls delayed_repeat_limit=2\n{{ zone }}:\n  test.nop: []\n"},
    )
    assert ids(report) == ["a", "one", "two"]


# -- refresh -----------------------------------------------------------------------------------------------

SETS_A_GRAIN = """
    a:
      cmd.run:
        - name: 'echo "fresh: 1" > {{ pillar.scratch }}/grains'
        - delayed_render:
          - block: B
    #!delayed_block B WORDS
    later:
      test.nop:
        - seen: {{ grains.get('fresh') | tojson }}
    #!end_delayed_block
    """


@pytest.mark.parametrize(
    ("words", "value"), [("", None), ("refresh=grains", 1), ("refresh=pillar,grains", 1)]
)
def test_refresh_looks_again_before_the_render(words: str, value: object, tmp_path: object) -> None:
    """“`refresh=` … refreshes them before the render”."""
    grains = f"{tmp_path}/grains"
    text = SETS_A_GRAIN.replace("WORDS", words).replace("{{ pillar.scratch }}/grains", grains)
    assert seen(run(text, config={"grains_file": grains}), "a>B#1>later") == value


def test_pillar_is_compiled_again_if_asked(tmp_path: object) -> None:
    """The same sentence, for the pillar."""
    value = f"{tmp_path}/value"
    report = run(
        f"""
        a:
          cmd.run:
            - name: echo 2 > {value}
            - delayed_render:
              - block: stale
              - block: fresh
        #!delayed_block stale
        s:
          test.nop:
            - seen: {{{{ pillar.value }}}}
        #!end_delayed_block
        #!delayed_block fresh refresh=pillar
        f:
          test.nop:
            - seen: {{{{ pillar.value }}}}
        #!end_delayed_block
        """,
        {
            "pillar/top.sls": "base:\n  '*': [p]\n",
            "pillar/p.sls": f"{{% set file = '{value}' %}}\n"
            "value: {{ salt['file.read'](file) if salt['file.file_exists'](file) else 1 }}\n",
        },
    )
    assert (seen(report, "a>stale#1>s"), seen(report, "a>fresh#1>f")) == (1, 2)


def test_a_caller_that_sets_grains_refreshes_them_by_itself(tmp_path: object) -> None:
    """“(or a caller that is a grains/pillar/module-sync state)”."""
    grains = f"{tmp_path}/grains"
    report = run(
        """
        role:
          grains.present:
            - value: web
            - delayed_render:
              - block: B
        #!delayed_block B
        later:
          test.nop:
            - seen: {{ grains.role }}
        #!end_delayed_block
        """,
        config={"grains_file": grains},
    )
    assert seen(report, "role>B#1>later") == "web"


def test_an_unknown_word_for_refresh_is_reported() -> None:
    """“[refresh=grains,pillar,modules]”."""
    (told,) = attempted(with_block("x", words="refresh=grain")).texts
    assert "refresh does not support 'grain' [delayed-word]" in told
    assert "did you mean 'grains'?" in told
