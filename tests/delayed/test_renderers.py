"""Delayed blocks in files that are not, or not only, Jinja and YAML."""

from __future__ import annotations

import pytest
from tests.delayed.thing import answer_of, comment_of, paths, problem, problems, run, seen, value_of
from tests.kit import ids

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of Cheetah itself

CALLER = "a:\n  thing.made:\n    - data: {ports: [80, 443]}\n    - delayed_render:\n      - block: B\n"
ENGINES = {
    # the shebang, a variable set in the file, how a value prints, one that is not there
    "jinja": ("#!jinja|yaml", "{% set x = 'of the file' %}", "{{ x }}", "{{ missing }}"),
    "mako": ("#!mako|yaml", "<% x = 'of the file' %>", "${x}", "${missing}"),
    "mako module": ("#!mako|yaml", "<%! x = 'of the file' %>", "${x}", "${missing}"),
    "genshi": ("#!genshi -text|yaml", "{% python x = 'of the file' %}", "${x}", "${missing}"),
    "cheetah": ("#!cheetah|yaml", "#set $x = 'of the file'", "$x", "$missing"),
}


def file(engine: str, inside: str, words: str = "") -> str:
    shebang, sets, *_ = ENGINES[engine]
    state = f"later:\n  test.nop:\n    - seen: {inside}\n"
    return f"{shebang}\n{sets}\n{CALLER}#!delayed_block B {words}\n{state}#!end_delayed_block\n"


@pytest.mark.parametrize("engine", ENGINES)
def test_scoped_has_the_variables_of_the_file(engine: str) -> None:
    """“all template-level variables of the caller's file as they are at the *end* of its render”."""
    assert seen(run(file(engine, ENGINES[engine][2], "scoped")), "a>B#1>later") == "of the file"


@pytest.mark.parametrize("engine", ENGINES)
def test_without_scoped_they_are_not_there_and_the_error_says_so(engine: str) -> None:
    """“Without `scoped` they are undefined, and the error says "exists in the outer scope: add `scoped`"”."""
    report = run(file(engine, ENGINES[engine][2]))
    assert value_of(report, "a>B") is False
    assert "'x' exists in the outer scope: add 'scoped' to the tag" in comment_of(report, "a>B")


@pytest.mark.parametrize("engine", ENGINES)
def test_an_error_is_reported_at_the_original_line(engine: str) -> None:
    """“all its errors are reported at the original file:line”."""
    told = comment_of(run(file(engine, ENGINES[engine][3])), "a>B")
    assert "main.sls:11: " in told
    assert "missing" in told


@pytest.mark.parametrize("engine", ENGINES)
def test_what_is_broken_in_a_block_waits_for_its_frame(engine: str) -> None:
    """“Contents may be anything”."""
    broken = {"jinja": "{% if", "mako": "${(", "mako module": "${(", "genshi": "${(", "cheetah": "#if"}[
        engine
    ]
    report = run(file(engine, f"x\n{broken}\n") + "last:\n  test.nop: []\n")
    assert ids(report) == ["a", "B", "last"]
    assert "main.sls:" in comment_of(report, "a>B")


@pytest.mark.parametrize("engine", ENGINES)
def test_loops_work_in_a_block(engine: str) -> None:
    loop = {
        "jinja": "{% for n in prev_ret.data.ports %}\np{{ n }}:\n  test.nop: []\n{% endfor %}",
        "mako": "% for n in prev_ret['data']['ports']:\np${n}:\n  test.nop: []\n% endfor",
        "genshi": "{% for n in prev_ret.data.ports %}\np${n}:\n  test.nop: []\n{% end %}",
        "cheetah": "#for $n in $prev_ret['data']['ports']\np$n:\n  test.nop: []\n#end for",
    }[engine.split()[0]]
    shebang = ENGINES[engine][0]
    report = run(f"{shebang}\n{CALLER}#!delayed_block B\n{loop}\n#!end_delayed_block\n")
    assert ids(report) == ["a", "p80", "p443"]


def test_a_block_inside_a_loop_stands_there_once() -> None:
    """The tags are found before the loop is: the block is one, however often its lines are rendered."""
    report = run(
        """
        {% for i in range(2) %}
        s{{ i }}:
          test.nop:
            - delayed_render:
              - block: B
        #!delayed_block B delayed_repeat_limit=2
        later:
          test.nop:
            - seen: {{ prev_ret.name }}
        #!end_delayed_block
        {% endfor %}
        """
    )
    assert [seen(report, path) for path in ("s0>B#1>later", "s1>B#2>later")] == ["s0", "s1"]


def test_blocks_are_found_in_yaml_and_json_too() -> None:
    """“Found before any renderer runs, whatever the renderer is.”"""
    report = run(
        "#!yaml\n"
        + CALLER
        + "#!delayed_block B\nlater:\n  test.nop:\n    - seen: '{{ raw }}'\n#!end_delayed_block\n"
    )
    assert seen(report, "a>B#1>later") == "{{ raw }}"
    json = '#!json\n{"a": {"test.nop": [{"delayed_render": [{"block": "B"}]}]}}\n'
    assert ids(run(json + '#!delayed_block B\n{"later": {"test.nop": []}}\n#!end_delayed_block\n')) == [
        "a",
        "later",
    ]


def test_a_renderer_of_the_tree_may_have_blocks() -> None:
    """“whatever the renderer is”: also one of the user's own."""
    own = "def render(data, saltenv='base', sls='', **kwargs):\n    return data.replace('<X>', 'test.nop')\n"
    text = (
        "#!angle|yaml\na:\n  <X>:\n    - delayed_render:\n      - block: B\n"
        "#!delayed_block B\nlater:\n  <X>: []\n#!end_delayed_block\n"
    )
    assert ids(run(text, {"_renderers/angle.py": own})) == ["a", "later"]


# -- Python ------------------------------------------------------------------------------------------------

PYTHON = """\
    #!py
    def run():
        return {"a": {"test.nop": [{"delayed_render": [{"block": "use"}]}]}}

    ANSWER = 42

    @delayed_block("use"WORDS)
    def use(prev_ret):
        BODY
    """


def python(body: str, words: str = "") -> str:
    return PYTHON.replace("BODY", body).replace("WORDS", words)


def test_a_python_block_sees_its_own_module() -> None:
    report = run(
        python('return {"later": {"test.nop": [{"seen": [ANSWER, __grains__["g"]]}]}}'), grains={"g": 1}
    )
    assert seen(report, "a>use#1>later") == [42, 1]


def test_a_python_block_may_return_nothing() -> None:
    """“A frame that yields no states is a success with zero states.”"""
    assert paths(run(python("return {}"))) == ["a"]
    assert paths(run(python("pass"))) == ["a"]


@pytest.mark.parametrize(
    "body", ['raise ValueError("no luck")', "return prev_ret['nothing']", "return 'text'"]
)
def test_what_a_python_block_does_wrong_is_reported_at_its_line(body: str) -> None:
    report = run(python(body))
    assert value_of(report, "a>use") is False
    assert "main.sls" in comment_of(report, "a>use")


def test_a_python_block_changes_nothing_of_the_return() -> None:
    """“a read-only copy of the caller's stored return”."""
    report = run(python('prev_ret["comment"] = "mine"'))
    assert answer_of(report, "a").result.comment == "Success!"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (", delayed_repeat_limit=0", "delayed_repeat_limit is 0 [delayed-limit]"),
        (", delayed_repeat_limit=1.5", "delayed_repeat_limit is 1.5 [delayed-limit]"),
        (", limit=3", "delayed_block takes no 'limit' [delayed-word]"),
        (", refresh=['grain']", "refresh does not support 'grain' [delayed-word]"),
        (", scoped='yes'", "scoped"),
    ],
)
def test_wrong_words_of_the_decorator_are_reported(words: str, said: str) -> None:
    told = problem(python("pass", words))
    assert told.startswith("main.sls:7: ")
    assert said in told


def test_the_decorator_takes_a_list_to_refresh_and_no_limit() -> None:
    report = run(
        python('return {"x": {"test.nop": []}}', ", refresh=['grains', 'pillar'], delayed_repeat_limit=None")
    )
    assert ids(report) == ["a", "x"]


@pytest.mark.parametrize(
    "decorator", ["@delayed_block(7)", '@delayed_block("")', "@delayed_block(' ')", "@delayed_block(['use'])"]
)
def test_a_decorator_with_something_else_for_a_name_is_reported(decorator: str) -> None:
    told = problem(python("pass").replace('@delayed_block("use")', decorator))
    assert told.startswith("main.sls:")
    assert "@delayed_block('NAME')" in told


@pytest.mark.parametrize("decorator", ["@delayed_block", "@delayed_block()", "@delayed_block(scoped=False)"])
def test_a_decorator_without_a_name_takes_that_of_the_function(decorator: str) -> None:
    """“functions that, when decorated by `@delayed_block`, could be evaluated in delayed fashion”."""
    body = 'return {"later": {"test.nop": [{"seen": prev_ret["name"]}]}}'
    report = run(python(body).replace('@delayed_block("use")', decorator))
    assert seen(report, "a>use#1>later") == "a"


def test_all_wrong_words_of_a_decorator_are_reported() -> None:
    told = problems(python("pass", ", limt=3, scoped=1, delayed_repeat_limit=0, refresh=['grain', 'x']"))
    assert sorted(one.partition(" [")[0].partition(": ")[2] for one in told) == [
        "'scoped' is 1",
        "delayed_block takes no 'limt'",
        "delayed_repeat_limit is 0",
        "refresh does not support 'grain'",
        "refresh does not support 'x'",
    ]


def test_two_python_blocks_of_one_name_are_an_error() -> None:
    told = problem(python("pass") + '\n    @delayed_block("use")\n    def again(prev_ret):\n        pass\n')
    assert "two blocks of one file are called 'use'" in told
