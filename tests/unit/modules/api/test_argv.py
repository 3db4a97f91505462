"""A value of the user's is never read as an option, whichever module hands it to a program."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saltern.modules.api.argv import CARRY_OPTIONS, END, WITHOUT_END, GuardedHost, option_like_words, vector
from saltern.modules.api.params import BadArgument
from saltern.testing.memory import MemoryHost

texts = st.text(st.sampled_from("-=ab /.1"), min_size=1, max_size=8)


@given(st.lists(texts, max_size=3), st.sampled_from(["git", "/usr/bin/tar", *sorted(WITHOUT_END)]))
def test_a_vector_keeps_values_out_of_the_place_of_options(values: list[str], program: str) -> None:
    try:
        argv = vector([program, "-v"], *values)
    except BadArgument:
        assert any(value.startswith("-") for value in values)
        return
    options = argv[2 : argv.index(END)] if program not in WITHOUT_END else argv[2:]
    assert not [word for word in options if word.startswith("-")]
    assert argv[len(argv) - len(values) :] == values


@given(texts, st.lists(texts, max_size=2), st.lists(texts, max_size=2))
def test_what_was_given_reaches_no_program_as_an_option(
    value: str, before: list[str], after: list[str]
) -> None:
    words = option_like_words([("rev", value)])
    argv = ["git", *before, value, *after]
    options = argv[1 : argv.index(END)] if END in argv else argv[1:]
    host = MemoryHost()
    dangerous = value.startswith("-") and value != "-" and not value[1:].replace(".", "", 1).isdecimal()
    if dangerous and value in options:
        with pytest.raises(BadArgument):
            GuardedHost(host, words).run(argv)
        assert host.ran == []
    elif not words:
        GuardedHost(host, words).run(argv)
        assert len(host.ran) == 1


@pytest.mark.parametrize(
    ("argv", "refused"),
    [
        (["git", "fetch", "--upload-pack=x"], True),
        (["git", "fetch", "--", "--upload-pack=x"], False),
        (["git", "fetch", "origin"], False),
        (["git", "--git-dir=/x", "fetch"], False),
        (["apt-get", "install", "--upload-pack=x=1.0"], True),
        (["useradd", "-c", "a --upload-pack=x", "u"], False),
    ],
)
def test_only_the_words_of_the_user_are_looked_at(argv: list[str], refused: bool) -> None:
    guarded = GuardedHost(MemoryHost(), option_like_words([("remote", ["--upload-pack=x"])]))
    if refused:
        with pytest.raises(BadArgument, match="begins with a dash"):
            guarded.run(argv)
    else:
        guarded.run(argv)


def test_a_program_that_outlives_us_is_looked_at_too() -> None:
    from saltern.system.host import LocalHost, kept_runner

    words = option_like_words([("name", "--evil")])
    with pytest.raises(BadArgument):
        kept_runner(GuardedHost(LocalHost(), words))(["apt-get", "install", "--evil"])
    host = MemoryHost()
    kept_runner(GuardedHost(host, words))(["apt-get", "install", "tree"])
    assert host.ran == ["apt-get install tree"]


def test_arguments_that_carry_options_are_free_and_have_their_page() -> None:
    assert option_like_words([("opts", "--depth=1"), ("args", ["-x"]), ("depth", "-1")]) == frozenset()
    page = (Path(__file__).parents[4] / "docs/internals/arguments.md").read_text()
    assert [name for name in sorted(CARRY_OPTIONS) if f"`{name}`" not in page] == []
