"""Every wrong state file is told at its line, with a code, and never as a traceback."""

from __future__ import annotations

import pytest
from tests.e2e.command import Place, is_told_well

STATE = "x:\n  test.nop: []\n"
DEEP = "[" * 3000 + "]" * 3000
BOMB = "a: &a [x,x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{name}: &{name} [{','.join([f'*{before}'] * 10)}]\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


def argument(text: str) -> str:
    """One more argument of a state; it stands at 5:7."""
    return f"y:\n  test.nop: []\nx:\n  test.nop:\n    - {text}\n"


# What stands in main.sls, and the place and code that are told for it.
YAML = [
    (f"a: {DEEP}", "1:104", "yaml-too-deep"),
    (BOMB, "6:29", "yaml-bomb"),
    ("a: &a [*a]", "1:8", "yaml-alias"),
    ("a: &a {b: *a}", "1:11", "yaml-alias"),
    ("a: &a\n  <<: *a\n", "2:7", "yaml-alias"),
    ("? [a, b]\n: test.nop", "1:3", "yaml-key"),
    ("{a: b}: test.nop", "1:1", "yaml-key"),
    ("a:\n  <<: [1, 2]\n  test.nop: []", "2:7", "yaml-merge"),
    ("a:\n  <<: 3\n", "2:7", "yaml-merge"),
    ("a: {test.nop: []}\na: {test.nop: []}\n", "2:1", "yaml-duplicate-key"),
    ("a: {test.nop: []}\n---\nb: {test.nop: []}\n", "2:1", "yaml-documents"),
    ("a: !!python/object/apply:os.system [ls]", "1:4", "yaml-tag"),
    ("a: !!int x", "1:4", "yaml-value"),
    ("a: !foo b", "1:4", "yaml-tag"),
    ("a: *b", "1:4", "yaml-alias"),
    ('a: "b\n', "1:4", "yaml-syntax"),
    ("x:\n\ttest.nop: []\n", "2:1", "yaml-syntax"),
    ("a\0b: test.nop", "1", "yaml-character"),
    ("a\x1b[31m: test.nop\n", "1", "yaml-character"),
    ('"\\ud800": test.nop\n', "1:1", "yaml-syntax"),
    (f"a: {'9' * 5000}", "1:1", "id-not-mapping"),
]
SHAPES = [
    ("- a\n- b", "1:1", "sls-not-mapping"),
    ("hello", "1:1", "sls-not-mapping"),
    ("5", "1:1", "sls-not-mapping"),
    ("5: {test.nop: []}", "1:1", "id-not-text"),
    ("null: {test.nop: []}", "1:1", "id-not-text"),
    ("true: {test.nop: []}", "1:1", "id-not-text"),
    ("1.5: {test.nop: []}", "1:1", "id-not-text"),
    ("? !!binary aGk=\n: test.nop\n", "1:1", "id-not-text"),
    ("x: 5", "1:1", "id-not-mapping"),
    ("x:\n", "1:1", "id-not-mapping"),
    ('"a\\nb\\e]0;evil\\a": 5\n', "1:1", "id-not-mapping"),
    ("x: {5: []}", "1:5", "state-not-text"),
    ("x: {test.nop: foo}", "1:5", "arguments-not-list"),
    ("x: {test.nop: {a: 1}}", "1:5", "arguments-not-list"),
    ("x:\n  test.nop:\n", "2:3", "short-form-colon"),
    ("x:\n  test: []\n", "2:3", "function-missing"),
    ("x:\n  test:\n    - nop\n    - succeed_without_changes\n", "2:3", "function-twice"),
    ("x:\n  test.nop: []\n  test.succeed_without_changes: []\n", "3:3", "state-twice"),
    (argument("5"), "5:7", "argument-shape"),
    (argument("null"), "5:7", "argument-shape"),
    (argument("[a, b]"), "5:7", "argument-shape"),
    (argument("{}"), "5:7", "argument-shape"),
    (argument("names: 5"), "5:7", "names-not-list"),
    (argument("names: {a: 1}"), "5:7", "names-not-list"),
    ("include: 5\n" + STATE, "1:1", "include-not-list"),
    ("include: {a: b}\n" + STATE, "1:1", "include-not-list"),
    ("include: [null]\n" + STATE, "1:11", "include-shape"),
    ("include: [[a]]\n" + STATE, "1:11", "include-shape"),
    ('include: [""]\n' + STATE, "1:11", "include-shape"),
    ("include: [nosuch]\n" + STATE, "1:11", "sls-not-found"),
    ("include: [{dev: a}]\n" + STATE, "1:11", "env-not-found"),
    ("include: [..x]\n" + STATE, "1:11", "include-beyond-top"),
    ('include: ["../../etc/passwd"]\n' + STATE, "1:11", "include-beyond-top"),
    ('include: ["/etc/passwd"]\n' + STATE, "1:11", "sls-not-found"),
    ('include: ["a\\0b"]\n' + STATE, "1:11", "sls-not-found"),
    ('include: ["\\e[31m"]\n' + STATE, "1:11", "sls-not-found"),
    ("extend: 5\n" + STATE, "1:1", "extend-not-mapping"),
    ("extend: {a: null}\n" + STATE, "1:10", "extend-shape"),
    ("extend: {5: {test: []}}\n" + STATE, "1:10", "extend-shape"),
    ("extend: {x: {test: 5}}\n" + STATE, "1:14", "extend-shape"),
    ("extend: {nosuch: {test: []}}\n" + STATE, "1:19", "extend-unknown"),
    ("extend:\n  x:\n    test:\n      - 5\n" + STATE, "4:9", "extend-shape"),
    ("extend:\n  x:\n    test:\n      - require: 5\n" + STATE, "4:9", "extend-shape"),
    (f'\ninclude: ["{"x" * 5000}"]\n', "2:11", "sls-not-found"),
    (argument("names: [null]"), "5:7", "names-shape"),
    ("exclude: 5\n" + STATE, "1:1", "exclude-not-list"),
    ("exclude: {a: 1}\n" + STATE, "1:1", "exclude-not-list"),
]
REQUISITES = [
    *(
        (argument(f"require: {value}"), "5:7", "requisite-not-list")
        for value in ("5", "null", "y", "{test: y}", "true")
    ),
    *(
        (argument(f"require: {value}"), "5:17", "requisite-shape")
        for value in ("[5]", "[null]", "[[]]", "[[test: y]]", "[{}]")
    ),
    (argument("require: [{test: y, id: y}]"), "5:17", "requisite-shape"),
    *(
        (argument(f"require: [{{{value}}}]"), "5:17", "requisite-value")
        for value in ("test: 5", "test: [y]", "test: {a: b}", "5: y", "null: y", "true: y", "sls: 5")
    ),
    (argument("require: [{nosuch: y}]"), "5:17", "requisite-unknown"),
    (argument("require: [{test: nosuch}]"), "5:17", "requisite-unknown"),
    (argument("require: [nosuch]"), "5:17", "requisite-unknown"),
    (argument("require: [{sls: nosuch}]"), "5:17", "requisite-unknown"),
    (argument("prereq_in: 5"), "5:7", "requisite-not-list"),
    (argument("use: 5"), "5:7", "requisite-not-list"),
    (argument("use_in: [null]"), "5:16", "requisite-shape"),
    (argument("listen: [{test: nosuch}]"), "5:16", "requisite-unknown"),
    (argument("onchanges_any: null"), "5:7", "requisite-not-list"),
]
KEYWORDS = [
    (argument(text), "5:7", "keyword-shape")
    for text in (
        'retry: "x"',
        "retry: {attempts: x}",
        "retry: {attempts: .inf}",
        "retry: {attempts: .nan}",
        "retry: {until: x}",
        "retry: {5: 1}",
        "retry: [1]",
        "check_cmd: {a: 1}",
        "check_cmd: 5",
        'parallel: "yes please"',
        "umask: 999",
        "umask: [1]",
        "failhard: x",
        "no_log: x",
        "reload_grains: x",
    )
]
CYCLES = [
    ("a: {test.nop: [require: [{test: a}]]}", "1:26", "requisite-cycle"),
    ("a:\n  test.nop:\n    - prereq: [{test: a}]\n", "3:16", "requisite-cycle"),
    ("a:\n  test.nop:\n    - require: [{sls: main}]\n", "3:18", "requisite-cycle"),
    (
        "a:\n  test.nop:\n    - require: [{test: b}]\nb:\n  test.nop:\n    - require: [{test: a}]\n",
        "3:17",
        "requisite-cycle",
    ),
    (
        "a:\n  test.nop:\n    - require: [{test: b}]\nb:\n  test.nop:\n    - watch: [{test: c}]\n"
        "c:\n  test.nop:\n    - onchanges: [{test: a}]\n",
        "3:17",
        "requisite-cycle",
    ),
    (
        "a:\n  test.nop:\n    - require_in: [{test: b}]\n    - require: [{test: b}]\nb:\n  test.nop: []\n",
        "4:17",
        "requisite-cycle",
    ),
    (
        "a:\n  test.nop:\n    - prereq: [{test: b}]\nb:\n  test.nop:\n    - prereq: [{test: a}]\n",
        "6:16",
        "requisite-cycle",
    ),
]
TEMPLATES = [
    ("a: {{ nosuch }}", "1", "template-undefined"),
    ("a\n{{ pillar.nosuch.b }}", "2", "template-undefined"),
    ("\n\na: {{ salt['test.pingg']() }}", "3", "template-function"),
    ("a: {{ salt['test.ping'](1, 2, 3) }}", "1", "template-failed"),
    ("a:\n{% if x %}\n", "2", "template-syntax"),
    ("{{ a b }}", "1", "template-syntax"),
    ("{% nosuch %}", "1", "template-syntax"),
    ("\n{{ 1|nosuch }}", "2", "template-syntax"),
    ("a\n{{ 1/0 }}", "2", "template-failed"),
    ("a\n\n{{ raise('boom') }}", "3", "template-failed"),
    ("{% call nosuch() %}x{% endcall %}", "1", "template-undefined"),
    (
        "{% macro m() %}{{ caller() }}{% endmacro %}\n{% call m() %}\n{{ 1/0 }}\n{% endcall %}",
        "3",
        "template-failed",
    ),
    ("{{ ''.__class__.__mro__ }}", "1", "template-forbidden"),
    ("{{ salt.__init__.__globals__ }}", "1", "template-forbidden"),
    ("{{ '{0.__class__}'.format(1) }}", "1", "template-forbidden"),
    ("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "1", "template-recursion"),
    ("{{ 99999999**99999 }}", "1", "template-too-large"),
    ("{{ 'x' * 10**10 }}", "1", "template-too-large"),
    ("{{ range(10**12)|list }}", "1", "template-too-large"),
    ("{{ 'x'|center(10000000000) }}", "1", "template-too-large"),
    ("{% include '../../etc/passwd' %}", "1", "template-not-found"),
    ("{% include '/etc/passwd' %}", "1", "template-not-found"),
    ("{% include 'a/../../../../etc/passwd' %}", "1", "template-not-found"),
    ("{% import_yaml '../../../etc/passwd' as x %}", "1", "template-not-found"),
    ("{{ '\\0' }}: test.nop", "1", "yaml-character"),
    ("{{ '\\ud800' }}: test.nop", "1", "yaml-character"),
]
RENDERERS = [
    ("#!nosuch\na: 1", "1:3", "unknown-renderer"),
    ("#!jinjaa|yaml\n", "1:3", "unknown-renderer"),
    ("#!yaml|vault\nx:\n", "1:8", "unknown-renderer"),
    ("#!\x1b[31mfoo\nx:", "1:3", "unknown-renderer"),
    ('#!json\n{"a": \n  b}', "3:3", "json-syntax"),
    ('#!json\n{"a": 1, "a": 2}', "2:10", "json-syntax"),
    ("#!toml\na=1\nb =\nc=1", "3:4", "toml-syntax"),
    ("#!py\ndef run(:\n", "2:9", "py-syntax"),
    ("#!py\ndef run():\n    a = 1\n    raise ValueError('x')\n", "4", "py-failed"),
    ("#!py\nimport sys\ndef run():\n    sys.exit()\n", "4", "py-failed"),
    ("#!py\ndef run():\n    return run()\n", "3", "py-failed"),
    ("#!py\nx = 1\n", "1", "py-no-run"),
    ("#!mako|yaml\na: 1\n% if x\n", "3:1", "template-syntax"),
    ("#!mako|yaml\na: 1\nb: ${1/0}\n", "3", "template-failed"),
    ("#!genshi|yaml\na: 1\n${ a b }\n", "3", "template-syntax"),
]
NO_LINE = [  # what has no line to tell: the file and the code
    (f'#!json\n{{"a": {DEEP}}}', "json-too-deep"),
    (f"#!toml\na = {DEEP}", "toml-syntax"),
    ("#!msgpack\nxxx", "msgpack-syntax"),
    ("#!cheetah|yaml\na: $nosuch\n", "template-undefined"),
    ("#!jinja\nx: 1\n", "sls-not-mapping"),
]


@pytest.mark.parametrize(
    ("text", "where", "code"),
    [*YAML, *SHAPES, *REQUISITES, *KEYWORDS, *CYCLES, *TEMPLATES, *RENDERERS],
    ids=lambda value: repr(value)[:50],
)
def test_a_wrong_state_file_is_reported_at_its_line(place: Place, text: str, where: str, code: str) -> None:
    done = place.write({"main.sls": text}).run("apply", "main")
    is_told_well(done)
    assert done.code == 3
    assert done.out == ""
    assert f"{place.states}/main.sls:{where}: " in done.err
    assert f"[{code}]" in done.err
    assert "nothing was run" in done.err


@pytest.mark.parametrize(("text", "code"), NO_LINE, ids=lambda value: repr(value)[:50])
def test_a_wrong_state_file_is_named_where_there_is_no_line(place: Place, text: str, code: str) -> None:
    done = place.write({"main.sls": text}).run("apply", "main")
    is_told_well(done)
    assert done.code == 3
    assert f"{place.states}/main.sls" in done.err
    assert f"[{code}]" in done.err


@pytest.mark.parametrize(
    ("text", "word"),
    [
        (STATE + "y: {test.nop: [require: [{test: xx}]]}\nxxx: test.nop", "did you mean 'xxx'?"),
        ("include: [mani]\n", "did you mean 'main'?"),
        ("{{ piller }}", "did you mean 'pillar'?"),
        ("{{ 'x'|uper }}", "did you mean 'upper'?"),
        ("#!jinjaa|yaml\n", "did you mean 'jinja'?"),
        ("{{ salt['test.pingg']() }}", "did you mean 'ping'?"),
        (argument("retry: {attemps: 3}"), "did you mean 'attempts'?"),
    ],
)
def test_a_slip_of_the_pen_is_answered_with_what_was_meant(place: Place, text: str, word: str) -> None:
    done = place.write({"main.sls": text}).run("apply", "main")
    is_told_well(done)
    assert done.code == 3
    assert word in done.err


def test_a_state_that_does_not_exist_fails_alone_and_is_reported_with_its_line(place: Place) -> None:
    done = place.write({"main.sls": f"{STATE}z:\n  test.nopp: []\n"}).run("apply", "main", "--out", "json")
    is_told_well(done)
    assert done.code == 2
    assert {name: answer["result"] for name, answer in done.answers().items()} == {"x": True, "z": False}
    assert "main.sls:4:3" in str(done.answers()["z"]["comment"])
    assert "did you mean 'nop'?" in done.err


@pytest.mark.parametrize(
    "text",
    [
        "x:\r\n  test.nop:\r\n    - foo: bar\r\n",
        "x:\r  test.nop: []\r",
        "\ufeffx:\n  test.nop: []\n",
        '"a\\nb": test.nop',
        '"a\\0b": test.nop',
        '"a\\e[31mred": test.nop',
        '"a_|-b_|-c": test.nop',
        f"? {'x' * 100_000}\n: test.nop",
        "<<: {a: {test.nop: []}}\n",
        "a: &a {test.nop: []}\nb:\n  <<: *a\n",
        '#!json\n{"\\u0000": {"test.nop": []}}',
        argument("names: [{a: [b: 1]}]"),
        argument("order: [1]"),
        argument("order: x"),
        argument("order: 99999999999999999999999"),
        argument("name: {a: 1}"),
        argument("a: 1\n      b: 2"),
    ],
    ids=lambda text: repr(text)[:40],
)
def test_odd_but_right_files_run_in_every_format(place: Place, text: str) -> None:
    place.write({"main.sls": text})
    for out in ("highstate", "json", "jsonl", "yaml", "junit", "quiet"):
        done = place.run("apply", "main", "--out", out)
        is_told_well(done)
        assert done.code == 0, done.err
    assert len(place.run("apply", "main", "--out", "json").json()["local"]) >= 1


def test_an_argument_that_looks_like_a_requisite_is_warned_of(place: Place) -> None:
    done = place.write({"main.sls": argument("requires: [{test: y}]")}).run("apply", "main")
    assert done.code == 0
    assert "main.sls:5:7: warning: " in done.err
    assert "'require'" in done.err


@pytest.mark.parametrize(
    "text", ["", "# hi", "{% if False %}x{% endif %}", "#!py\ndef run():\n    return None\n", "x: {}"]
)
def test_a_file_without_states_is_fine_and_says_so(place: Place, text: str) -> None:
    done = place.write({"main.sls": text}).run("apply", "main")
    assert done.code == 0
    assert "no states to run" in done.err
    assert place.run("apply", "main", "--out", "json").json() == {"local": {}}


@pytest.mark.parametrize("line", ["#!", "#!|", "#! | "])
def test_an_empty_renderer_line_loses_no_states(place: Place, line: str) -> None:
    done = place.write({"main.sls": f"{line}\n{STATE}"}).run("apply", "main", "--out", "json")
    is_told_well(done)
    assert done.code == 3 or list(done.answers()) == ["x"]


@pytest.mark.parametrize("word", ["onlyif", "unless", "check_cmd", "creates"])
def test_a_guard_that_cannot_be_asked_fails_its_state_and_no_other(place: Place, word: str) -> None:
    text = f'a: {{test.succeed_with_changes: [{word}: "a\\0b"]}}\nb: test.nop\n'
    done = place.write({"main.sls": text}).run("apply", "main", "--out", "json")
    is_told_well(done)
    assert done.answers()["b"]["result"] is True


@pytest.mark.parametrize(
    "guard",
    [
        "onlyif: {fun: 5}",
        "onlyif: {fun: nosuch.fun}",
        "onlyif: [{fun: test.ping, x: 5}]",
        "unless: 7",
        "creates: {}",
        "onlyif: [[]]",
        "onlyif: [null]",
        "creates: [5]",
        "unless: [{}]",
    ],
)
def test_a_guard_of_the_wrong_shape_stops_nothing_else(place: Place, guard: str) -> None:
    place.write({"main.sls": f"a: {{test.nop: [{guard}]}}\nb: test.nop\n"})
    done = place.run("apply", "main", "--out", "json")
    is_told_well(done)
    assert done.code == 3 or done.answers()["b"]["result"] is True


@pytest.mark.parametrize("key", ["5", "null", "1.5", "true"])
def test_an_argument_whose_key_is_no_text_is_reported(place: Place, key: str) -> None:
    done = place.write({"main.sls": argument(f"{key}: 6")}).run("apply", "main")
    is_told_well(done)
    assert done.code in (2, 3)
    assert "main.sls:4" in done.out or "main.sls:5:7" in done.err


@pytest.mark.parametrize("names", ["[{a: {b: {c: 1}}}]", "[{a: 5}]", "[{a: [b]}]", "[{a: [{}]}]", "[]"])
def test_odd_names_are_no_crash(place: Place, names: str) -> None:
    is_told_well(place.write({"main.sls": argument(f"names: {names}")}).run("apply", "main"))


@pytest.mark.parametrize("saltenv", ["5", "[a]", "null"])
def test_an_odd_saltenv_of_a_state_is_no_crash(place: Place, saltenv: str) -> None:
    is_told_well(place.write({"main.sls": argument(f"saltenv: {saltenv}")}).run("apply", "main"))


MANY = {
    "ids": "".join(f"s{number}: 5\n" for number in range(10_000)),
    "unknown requisites": "".join(
        f"s{n}:\n  test.nop:\n    - require: [{{test: n{n}}}]\n" for n in range(10_000)
    ),
    "unknown functions": "".join(f"s{n}:\n  test.nopp: []\n" for n in range(10_000)),
    "missing files": "include:\n" + "".join(f"  - nosuch{n}\n" for n in range(10_000)),
    "a long cycle": "".join(
        f"s{n}:\n  test.nop:\n    - require: [{{test: s{(n + 1) % 3000}}}]\n" for n in range(3000)
    ),
}


@pytest.mark.parametrize("text", MANY.values(), ids=MANY)
def test_ten_thousand_mistakes_are_reported_in_bounded_time_and_length(place: Place, text: str) -> None:
    done = place.write({"main.sls": text}).run("apply", "main", "--out", "quiet")
    is_told_well(done)
    assert done.code in (2, 3)
    assert 0 < len(done.err) < 200_000


ENDLESS = {
    "jinja": "{% for i in range(90000) %}{% for j in range(90000) %}{% endfor %}{% endfor %}",
    "py": "#!py\ndef run():\n    while True: pass\n",
    "lipsum": "{{ lipsum(100000000) }}",
    "regex": "{{ ('a' * 40 ~ 'b') | regex_match('(a+)+$') }}",
}


@pytest.mark.parametrize("text", ENDLESS.values(), ids=ENDLESS)
def test_an_endless_template_is_stopped_and_told(place: Place, text: str) -> None:
    place.write({"main.sls": text, "etc/saltern.yaml": "render_time_limit: 0.3\n"})
    done = place.run("apply", "main")
    is_told_well(done)
    assert done.code == 3
    assert f"{place.states}/main.sls" in done.err


def test_an_in_form_that_names_nothing_is_a_warning_and_with_strict_an_error(place: Place) -> None:
    place.write({"main.sls": argument("watch_in: [nosuch]")})
    done = place.run("apply", "main")
    assert done.code == 0
    assert "main.sls:5:18: warning" in done.err
    assert "[requisite-in-unknown]" in done.err
    assert place.run("apply", "main", "--strict").code == 3
