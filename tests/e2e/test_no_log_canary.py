"""A random secret in every argument of no_log states of many kinds: in no output, log, plan or cache.

Once as text in the state file, and once from the pillar; and in texts that do not parse because of it.
"""

from __future__ import annotations

import secrets
from pathlib import Path

import pytest
from tests.e2e.command import Place, is_told_well

KINDS = {
    "serializer": "file.serialize: [{name: AT/s}, {dataset: {a: WORD}}, {serializer: WORD}]",
    "merged": "file.serialize: [{name: AT/bad.json}, {dataset: {a: WORD}}, {merge_if_exists: true}]",
    "template": "file.managed: [{name: AT/t}, {contents: 'WORD {% if %}'}, {template: jinja}]",
    "context": "file.managed: [{name: AT/t}, {source: salt://t.j2}, {template: jinja}, {context: {w: WORD}}]",
    "mode": "file.managed: [{name: AT/e}, {mode: WORD}, {user: WORD}]",
    "runas": "cmd.run: [{name: echo}, {runas: WORD}]",
    "shell": "cmd.run: [{name: echo}, {shell: /no/WORD}]",
    "stateful": "cmd.run: [{name: 'echo \"{ WORD\"'}, {stateful: true}]",
    "script": "cmd.script: [{source: salt://s.sh}, {args: WORD}, {env: [{W: WORD}]}]",
    "function": "module.run: [{test.echo: [WORD]}]",
    "address": "http.query: [{name: 'http://127.0.0.1:1/WORD'}, {status: 200}, {header_dict: {A: WORD}}]",
    "ini": "ini.options_present: [{name: AT/i.ini}, {sections: {a: {b: WORD}}}]",
    "pattern": "file.replace: [{name: AT/none}, {pattern: '(WORD'}, {repl: WORD}]",
    "line": "file.line: [{name: AT/none}, {content: WORD}, {mode: WORD}]",
    "check": "cmd.run: [{name: echo WORD}, {check_cmd: ['echo WORD; false']}]",
    "condition": "cmd.run: [{name: echo}, {onlyif: [{fun: test.WORD}]}]",
    "slot": "cmd.run: [{name: '__slot__:salt:test.echo(WORD'}]",
    "archive": "archive.extracted: [{name: AT/a}, {source: 'http://u:WORD@127.0.0.1:1/x.tar'}]",
    "repository": "git.latest: [{name: 'https://u:WORD@127.0.0.1:1/x'}, {target: AT/g}]",
    "environment": "environ.setenv: [{name: W}, {value: WORD}]",
    "database": "mysql_user.present: [{name: a}, {password: WORD}, {connection_pass: WORD}]",
    "key": "x509.private_key_managed: [{name: AT/k}, {passphrase: WORD}, {cipher: WORD}]",
    "event": "event.send: [{name: a/b}, {data: {w: WORD}}]",
    "beside": "cmd.run: [{name: echo WORD; exit 1}, {parallel: true}]",
    "digest": "file.managed: [{name: AT/h}, {source: salt://s.sh}, {source_hash: WORD}]",
    "order": "cmd.run: [{name: x}, {order: WORD}]",
    "requisite": "cmd.run: [{name: echo WORD}, {require: [{cmd: WORD}]}]",
}
# A text with the value of the pillar in it that is wrong, wherever that is noticed.
WRONG = {
    "json": '#!jinja|json\n{"a": {"test.nop": [{"x": "WORD" "y"}]}}\n',
    "json, twice": '#!jinja|json\n{"WORD": 1, "WORD": 2}\n',
    "toml": "#!jinja|toml\n[a]\nx = WORD\n",
    "toml, twice": "#!jinja|toml\n[WORD]\n[WORD]\n",
    "yaml, twice": "WORD:\n  test.nop: []\nWORD:\n  test.nop: []\n",
    "yaml, a tag": "a: !WORD b\n",
    "yaml, a number": "a: !!int WORD\n",
    "yaml, an alias": "a: *WORD\n",
    "yaml": "a: WORD: b\n",
    "load_yaml": "{% load_yaml as x %}\na: WORD: b\n{% endload %}\n",
    "load_yaml, twice": "{% load_yaml as x %}\nWORD: 1\nWORD: 2\n{% endload %}\n",
    "load_yaml, a tag": "{% load_yaml as x %}\na: !WORD 1\n{% endload %}\n",
    "load_json": '{% load_json as x %}\n{"a": WORD\n{% endload %}\n',
    "a requisite": "a:\n  cmd.run: [{name: echo WORD}, {no_log: true}, {require: [{cmd: 'WORD'}]}]\n",
    "a circle": "echo WORD:\n  cmd.run: [{no_log: true}, {require: [{cmd: b}]}]\n"
    "b:\n  cmd.run: [{name: x}, {require: [{cmd: echo WORD}]}]\n",
    "a hint": "echo WORD:\n  cmd.run: [{no_log: true}]\nb:\n  test.nop: [{require: [{cmd: ech0 x}]}]\n",
}


def files_of(place: Place) -> None:
    at = place.base / "made"
    at.mkdir(exist_ok=True)
    (at / "bad.json").write_text('{"a": ')
    place.write({"t.j2": "{{ w }} {{ w.y.z }}\n", "s.sh": "#!/bin/sh\necho $1 $W\nexit 3\n"})


def is_silent(place: Place, secret: str, words: list[str]) -> None:
    done = place.run(*words)
    is_told_well(done)
    leaks = [line[:300] for line in (done.out + done.err).splitlines() if secret in line]
    assert not leaks, words
    kept = [*(place.base / "cache").rglob("*"), *(place.base / "runs").rglob("*.plan")]
    holding: list[Path] = [path for path in kept if path.is_file() and secret.encode() in path.read_bytes()]
    assert not holding, words


@pytest.mark.parametrize("given", ["text", "pillar"])
@pytest.mark.parametrize("kind", KINDS)
def test_no_argument_of_any_kind_is_shown(place: Place, kind: str, given: str) -> None:
    secret = "s" + secrets.token_hex(6)
    files_of(place)
    state = KINDS[kind].replace("AT", str(place.base / "made"))[:-1] + ", {no_log: true}]"
    text = f"{kind}:\n  {state}\nafter:\n  test.nop: [{{require: [{{id: {kind}}}]}}]\n"
    word = secret if given == "text" else "{{ pillar.word }}"
    text = text.replace("{% if %}", "{{ '{% if %}' }}")  # a mistake of the file's template, not of this one
    place.write({"main.sls": text.replace("WORD", word)})
    more = ["--pillar", f"{{word: {secret}}}"] if given == "pillar" else []
    is_silent(place, secret, ["apply", "main", "--expand", "-l", "debug", "--no-journal", *more])
    is_silent(place, secret, ["plan", "main", *more])


@pytest.mark.parametrize("kind", WRONG)
def test_no_mistake_in_what_a_template_made_quotes_it(place: Place, kind: str) -> None:
    secret = "s" + secrets.token_hex(6)
    place.write({"main.sls": WRONG[kind].replace("WORD", "{{ pillar.word }}")})
    is_silent(place, secret, ["apply", "main", "-l", "debug", "--pillar", f"{{word: {secret}}}"])


def test_a_file_with_no_log_is_not_kept_in_the_cache(place: Place) -> None:
    place.write({"main.sls": "a:\n  test.nop: [{word: s3cretly}, {no_log: true}]\n"})
    assert place.run("apply", "main").code == 0
    held = [path for path in (place.base / "cache").rglob("*") if path.is_file()]
    assert not [path for path in held if b"s3cretly" in path.read_bytes()]
