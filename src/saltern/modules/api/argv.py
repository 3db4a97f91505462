"""Arguments of programs: a user's value is never read as an option.

``vector`` builds the arguments of a program and knows where its options end. And every call
knows its argument texts: one that begins with a dash is refused when it reaches a program in
the place of an option, whichever module passes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from saltern.modules.api.params import BadArgument

if TYPE_CHECKING:
    from saltern.system.host import Host
    from saltern.system.process import Ran

END = "--"
NONE: frozenset[str] = frozenset()
LONGEST = 4096  # a longer text is content and is not parsed
# Programs that cannot end their options, or give ``--`` another meaning.
WITHOUT_END = frozenset(
    {"ip", "find", "iptables", "ip6tables", "nft", "openssl", "dpkg-query", "ps", "rvm", "vercmp", "tc"}
)
# Arguments that contain options or whole commands on purpose; the page on security lists them.
CARRY_OPTIONS = frozenset(
    {
        "args",
        "arguments",
        "bin_env",
        "cmd",
        "cmds",
        "code",
        "command",
        "entrypoint",
        "env",
        "extra_args",
        "flags",
        "fs_mntops",
        "git_kwargs",
        "git_opts",
        "clone_opts",
        "gem_bin",
        "global_options",
        "healthcheck",
        "install_options",
        "job",
        "job_args",
        "listen_opts",
        "opts",
        "options",
        "python",
        "rule",
        "rules",
        "test_args",
        "venv_bin",
    }
)


def vector(program: Sequence[str], *values: object, end: str | None = None) -> list[str]:
    """``program`` with its options, then ``values`` that are not options.

    ``end`` ends the options; by default ``--`` if the program knows it. If it does not, a
    value that begins with a dash is refused.
    """
    texts = [str(value) for value in values]
    if program[0].rpartition("/")[2] in WITHOUT_END:
        for text in texts:
            plain(text, program[0])
        return [*program, *texts]
    return [*program, end or END, *texts]


def plain(text: str, program: str) -> str:
    """The text. Raises ``BadArgument`` if the program would read it as an option."""
    if text.startswith("-"):
        raise BadArgument(f"{text!r} begins with a dash, so {program} would read it as an option")
    return text


# -- the door ------------------------------------------------------------------------------------------


def option_like_words(given: Iterable[tuple[str, object]]) -> frozenset[str]:
    """The words in these arguments that a program could read as options. Not used for functions that declare
    ``runs_commands``: its arguments are commands with their options.
    """
    found: set[str] = set()
    for name, value in given:
        if name not in CARRY_OPTIONS:
            _collect(value, found)
    return frozenset(found) if found else NONE


def given_words(names: Iterable[str], args: Sequence[object], kwargs: Mapping[str, object]) -> frozenset[str]:
    """The same for an execution function, with positional arguments."""
    known = [*names, *("" for _ in args)]
    return option_like_words([*zip(known, args, strict=False), *kwargs.items()])


def _collect(value: object, found: set[str]) -> None:
    if isinstance(value, str):
        if "-" in value and (value[0] == "-" or len(value) < LONGEST):
            found.update(word for word in (value, *value.split()) if _is_option(word))
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            if key not in CARRY_OPTIONS:
                _collect(key, found)
                _collect(inner, found)
    elif isinstance(value, list | tuple | set):
        for inner in value:
            _collect(inner, found)


def _is_option(word: str) -> bool:
    """True if a word is an option; a negative number is not: an age, an offset, a niceness."""
    return word[0] == "-" and word not in ("-", "--") and not word[1:].replace(".", "", 1).isdecimal()


class GuardedHost:
    """A host that refuses these words where a program would read them as options."""

    __slots__ = ("_dashed", "_host")

    def __init__(self, host: Host, words: frozenset[str]) -> None:
        self._host = host
        self._dashed = tuple(words)

    def run(self, command: str | Sequence[str], **options: Any) -> Ran:
        if not isinstance(command, str):
            self._check(command)
        return self._host.run(command, **options)

    def kept_run(self, command: str | Sequence[str], **options: Any) -> Ran:
        """Like ``run``, by a process that outlives us, if the wrapped host supports that."""
        from saltern.system.host import kept_runner

        if not isinstance(command, str):
            self._check(command)
        return kept_runner(self._host)(command, **options)

    def _check(self, argv: Sequence[str]) -> None:
        for word in argv[1:]:
            if word == END:
                return
            if word.startswith("-") and word.startswith(self._dashed):
                plain(word, argv[0].rpartition("/")[2])

    def __getattr__(self, name: str) -> Any:
        return getattr(self._host, name)
