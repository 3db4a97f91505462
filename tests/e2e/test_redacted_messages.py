"""What goes wrong in a template is reported without the values of the pillar that it worked with."""

from __future__ import annotations

import secrets
from base64 import b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.e2e.command import Place

from saltern.render.redact import HIDDEN, redact

# Each fails with a message that has the value, as Python, a library or we put it.
WRONG = {
    "a function": "{{ salt['test.' ~ pillar.word]() }}",
    "an argument": "{{ salt['file.read']('/no/' ~ pillar.word) }}",
    "a command": "{{ salt['cmd.run']('true', cwd='/no/' ~ pillar.word) }}",
    "a keyword": "{{ salt['test.echo'](**{pillar.word: 1}) }}",
    "a raised error": "{{ salt['test.exception'](pillar.word) }}",
    "a hash": "{{ 'x' | hash_file }}{{ ('/no/' ~ pillar.word) | file_hashsum }}",
    "a filter's pattern": "{{ 'x' | regex_search('(' ~ pillar.word) }}",
    "a filter's number": "{{ pillar.word | int(base=77) }}{{ pillar.word | to_num + 1 }}",
    "a filter's date": "{{ pillar.word | strftime('%Y') }}",
    "a filter's data": "{{ ('{' ~ pillar.word) | load_json }}",
    "a filter's YAML": "{{ ('a: ' ~ pillar.word ~ ': b') | load_yaml }}",
    "an include": "{% include pillar.word ~ '.sls' %}",
    "an import": "{% import '/x/' ~ pillar.word as y %}",
    "an import of data": "{% import_yaml pillar.word as y %}",
    "what is imported": "{% import_yaml 'data.yaml' as y %}",
    "a key": "{{ {}[pillar.word] }}",
    "a key of the pillar": "{{ pillar[pillar.word] }}",
    "a key of the grains": "{{ grains[pillar.word] }}",
    "an attribute": "{{ pillar.word.nosuch.more }}",
    "arithmetic": "{{ pillar.word + 1 }}",
    "a call": "{{ pillar.word() }}",
    "a format": "{{ '%d' % pillar.word }}",
    "upper case": "{{ {}[pillar.word | upper] }}",
    "a part": "{{ {}[pillar.word[1:]] }}",
    "backwards": "{{ {}[pillar.word | reverse] }}",
    "encoded": "{{ {}[pillar.word | base64_encode] }}",
    "several lines": "{{ {}[pillar.word ~ '\\n' ~ pillar.word] }}",
    "a list": "{{ [pillar.word].index('x') }}{{ [pillar.word] + 1 }}",
    "a macro": "{% macro m(a) %}{{ a.b.c }}{% endmacro %}{{ m(pillar.word) }}",
    "Python": "#!py\ndef run():\n    return {}[__pillar__['word']]\n",
    "Python, a number": "#!py\ndef run():\n    return int(__pillar__['word'])\n",
    "Python, its own words": "#!py\ndef run():\n    raise ValueError('bad ' + __pillar__['word'])\n",
    "Mako": "#!mako|yaml\n${int(pillar['word'])}\n",
    "Mako, a key": "#!mako|yaml\n${{}[pillar['word']]}\n",
}


NUMBERED = {f"k{at}": text for at, text in enumerate(WRONG.values())}
TEMPLATES = {name: text for name, text in NUMBERED.items() if not text.startswith("#!")}


def leaks(place: Place, *words: str, most: int) -> list[str]:
    """The lines that have the secret, in any form; at least so many problems must be reported."""
    secret = "s" + secrets.token_hex(8)
    done = place.run(*words, "--pillar", f"{{word: {secret}}}")
    assert done.code in (2, 3), done.err
    assert (done.out + done.err).count("[template-") + (done.out + done.err).count("[py-") >= most
    encoded = b64encode(secret.encode()).decode()
    forms = (secret, secret.upper(), secret[1:], secret[::-1], encoded)
    return [line for line in (done.out + done.err).splitlines() if any(form in line for form in forms)]


@pytest.mark.parametrize("words", [["apply", *NUMBERED], ["check"]], ids=["apply", "check"])
def test_mistakes_in_state_files_are_reported_without_the_value(place: Place, words: list[str]) -> None:
    place.write({f"{name}.sls": f"{text}\n" for name, text in NUMBERED.items()})
    place.write({"data.yaml": "a: {{ pillar.word }}: b\n"})
    assert leaks(place, *words, most=len(NUMBERED)) == []


def test_mistakes_in_templates_of_files_are_reported_without_the_value(place: Place) -> None:
    managed = "{0}/{1}:\n  file.managed: [{{source: salt://{1}.j2}}, {{template: jinja}}]\n"
    place.write({f"{name}.j2": text for name, text in TEMPLATES.items()})
    place.write({"main.sls": "".join(managed.format(place.base, name) for name in TEMPLATES)})
    place.write({"data.yaml": "a: {{ pillar.word }}: b\n"})
    assert leaks(place, "apply", "main", "--no-journal", most=len(TEMPLATES)) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{{ salt['test.pimg']() }}", "'test.pimg'"),
        ("{{ {}['a key'] }}", "'a key'"),
        ("{% include 'no/such.sls' %}", "'no/such.sls'"),
        ("{% include 'no/such.sls' %}", "in the roots of saltenv 'base'"),
        ("{{ grains['id'].nosuch.x }}", "'nosuch'"),
        ("{{ salt['file.read']('/no/' ~ grains.os ~ '/such') }}", "/such"),
        ("{{ raise('no pass for ' ~ pillar.who) }}", "no pass for joe!"),
        ("{% set x = {'one': 1} %}{{ x['two' ~ '-three'] }}", "'two-three'"),
    ],
)
def test_words_of_the_template_facts_of_the_machine_and_messages_of_the_author_are_shown(
    place: Place, text: str, said: str
) -> None:
    place.write({"main.sls": text + "\n"})
    done = place.run("apply", "main", "--pillar", "{who: joe!}")
    assert done.code == 3
    assert said in done.err


words = st.text("abcdefghijklmnop0123456789", min_size=6, max_size=12)
frames = st.sampled_from(
    ["{}", "'{}'", '"{}"', "x '{}' y", "no {}: isn't", "/a/{}/b", "[{!r}]", "don't '{}'"]
)


@given(words, frames, st.sampled_from([str, str.upper, lambda one: f"a {one} b", lambda one: {"x": [one]}]))
def test_no_value_of_the_pillar_is_left_in_a_message(secret: str, frame: str, shape: object) -> None:
    pillar = {"deep": [{"word": shape(secret)}]}  # type: ignore[operator]
    text = frame.format(secret)
    assert secret not in redact(text, "{{ pillar.deep }}", pillar=pillar)
    assert HIDDEN in redact(text, "{{ pillar.deep }}", pillar=pillar)
    assert redact(text, f"it is written: {text}", pillar=pillar) == text
