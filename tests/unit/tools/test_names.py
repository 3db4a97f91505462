"""Functions named by a participle alone are found, and the list of exceptions can only get shorter."""

from __future__ import annotations

import pytest
from tools.names import EXCEPTIONS, LEFT_OUT, is_participle, participles, problems
from tools.shape import ROOT, sources


@pytest.mark.parametrize("name", ["opened", "_named", "kept", "pending", "_shown"])
def test_a_participle_alone_is_found(name: str) -> None:
    assert is_participle(name)
    assert list(participles(f"def {name}() -> str: ...\n")) == [name]


@pytest.mark.parametrize(
    "name", ["open_file", "failed_chunks", "mapping", "need", "run", "refreshed_at", "__reversed__"]
)
def test_verbs_nouns_and_several_words_are_none(name: str) -> None:
    assert not is_participle(name)


@pytest.mark.parametrize(
    "text",
    [
        "def changed() -> bool: ...",
        "def _finished(answer) -> None: ...",
        "class A:\n    @property\n    def stopped(self) -> str: ...",
        "@state(repeat='once')\ndef managed(ctx) -> Result: ...",
        "@api.function\ndef installed(ctx) -> list[str]: ...",
    ],
)
def test_questions_events_properties_and_salts_words_are_allowed(text: str) -> None:
    assert list(participles(text)) == []


def test_a_deed_that_is_no_event_is_found() -> None:
    assert list(participles("class A:\n    async def sealed(self) -> None: ...")) == ["sealed"]


def test_what_is_not_excepted_and_what_is_gone_are_problems() -> None:
    found = {"a.py": ["opened", "kept"], "b.py": ["known"]}
    assert problems(found, {"a.py": "kept opened", "b.py": "known"}) == []
    assert problems(found, {"a.py": "kept made", "b.py": "known"}) == [
        "a.py: 'opened' is a participle: use a verb or a noun",
        "a.py: 'made' is gone: remove the exception",
    ]


def test_the_source_has_no_others() -> None:
    texts = [(file, text) for file, text in sources(ROOT) if not file.startswith(LEFT_OUT)]
    assert problems({file: list(participles(text)) for file, text in texts}, EXCEPTIONS) == []
