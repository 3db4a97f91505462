"""The line of an ID in the text of a file, when nothing but the text is left."""

from __future__ import annotations

import pytest

from saltern.render.document import find_word

TEXT = """\
include:
  - users
website:
  pkg.installed: []
{% for user in users %}
home of {{ user }}:
  file.directory: []
{{ user }}:
  user.present: []
{% endfor %}
web:
  service.running: []
'quoted one': # why
  test.nop: []
short: {test.nop: []}
"""


@pytest.mark.parametrize(
    ("word", "place"),
    [
        ("web", (11, 1)),  # and not the website above it
        ("quoted one", (13, 1)),
        ("home of ada", (6, 1)),  # of two templates that fit, the one that says more
        ("ada", (8, 1)),
        ("short", (15, 1)),
    ],
)
def test_the_line_that_declares_it_is_found(word: str, place: tuple[int, int]) -> None:
    assert find_word(TEXT, (word,)) == place


@pytest.mark.parametrize(
    ("path", "place"),
    [
        (("website", "pkg.installed"), (4, 3)),
        (("home of ada", "file.directory"), (7, 3)),
        (("home of ada", "user.present"), (6, 1)),  # which stands below another ID
        (("quoted one", "test.nop"), (14, 3)),
        (("short", "test.nop"), (15, 9)),
        (("short", "test.succeed"), (15, 1)),
    ],
)
def test_the_function_of_an_id_is_found_below_it(path: tuple[str, ...], place: tuple[int, int]) -> None:
    assert find_word(TEXT, path) == place


def test_a_body_continues_behind_a_tag_of_a_template() -> None:
    text = "web:\n{% if yes %}\n  {# why #}\n  pkg:\n    - installed\n{% endif %}\n"
    assert find_word(text, ("web", "pkg")) == (4, 3)


def test_two_templates_that_are_as_good_are_no_answer() -> None:
    assert find_word("{{ a }}:\n  test.nop: []\n{{ b }}:\n  test.nop: []\n", ("x",)) == (0, 0)


def test_a_word_that_is_only_spelled_somewhere_is_better_than_nothing() -> None:
    assert find_word("def run():\n    return {'web': {}}\n", ("web",)) == (2, 14)
