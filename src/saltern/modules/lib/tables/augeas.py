"""Configuration files as a tree, with ``augtool``: its commands, and its output."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from saltern.modules.api.context import Context
from saltern.modules.api.programs import PLAIN_WORDS, error_text, missing_program
from saltern.modules.api.refused import Refused
from saltern.system.process import NOT_FOUND

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

Nodes = dict[str, str]  # path → value; empty for a node without one
FILES = "/files"
SAVED = "/augeas/events/saved"
MARK = "/augeas/here-begins-the-text"  # no node has this path
TEXT = "/augeas/text"  # nodes of our own
# Salt's command → augtool's name, the numbers of arguments, and which of them are paths.
COMMANDS: Mapping[str, tuple[str, tuple[int, ...], tuple[int, ...]]] = {
    "set": ("set", (1, 2), (0,)),  # without a value, a node that has none
    "setm": ("setm", (2, 3), (0,)),
    "mv": ("mv", (2,), (0, 1)),
    "move": ("mv", (2,), (0, 1)),
    "ins": ("ins", (3,), (2,)),
    "insert": ("ins", (3,), (2,)),
    "rm": ("rm", (1,), (0,)),
    "remove": ("rm", (1,), (0,)),
}
NO_PREVIEW = "this augtool has no command 'preview': install Augeas 1.14 or newer"
_SPECIAL = "\\][|/=()!,\"' \t\n"


def quote(word: str) -> str:
    """A word of a command, quoted."""
    if "\0" in word:
        raise Refused(f"a word for augtool must not contain '\\0': {word!r}")
    for sign, instead in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\t", "\\t"), ("\r", "\\r")):
        word = word.replace(sign, instead)
    return f'"{word}"'


def command(text: object, context: str = "") -> str:
    """A command in augtool's syntax, with paths below ``context``. Raises ``Refused`` for an unknown one."""
    try:
        verb, *words = shlex.split(str(text)) or [""]
    except ValueError as problem:
        raise Refused(f"the command {str(text)!r} cannot be read: {problem}") from None
    if verb not in COMMANDS:
        raise Refused(f"no Augeas command is called {verb!r}; use one of {', '.join(COMMANDS)}")
    name, numbers, paths = COMMANDS[verb]
    if len(words) not in numbers:
        allowed = " or ".join(map(str, numbers))
        raise Refused(f"{str(text)!r}: {verb} takes {allowed} words, not {len(words)}")
    for place in paths if context else ():
        words[place] = _below(context.rstrip("/"), words[place], target=name == "mv" and place == 1)
    return " ".join([name, *map(quote, words)])


def _below(context: str, path: str, *, target: bool) -> str:
    """The path in the tree; one that begins with the context is whole, as is the target of a move."""
    whole = path == context or path.startswith((f"{context}/", f"{context}["))
    if whole or (target and path.startswith(f"{FILES}/")):
        return path
    return f"{context}/{path.lstrip('/')}".rstrip("/")


def run(
    ctx: Context, script: Iterable[str], *, load_path: str | None = None, lens: str = "", file: str = ""
) -> str:
    """The output of augtool for these lines. Raises ``Refused`` if one of them fails."""
    argv = ["augtool", "--nostdinc"] if load_path == "" else ["augtool"]
    for place in (load_path or "").split(":"):
        argv += ["--include", place] if place else []
    if lens:
        argv += ["--noautoload", "--transform", f"{lens} incl {file}"]
    ran = ctx.host.run(argv, stdin="\n".join((*script, "")), user=ctx.runas, env=PLAIN_WORDS)
    if ran.code == NOT_FOUND:
        raise Refused(missing_program("augtool"))
    if ran.code != 0 and "Unknown command 'preview'" in error_text(ran):
        raise Refused(NO_PREVIEW)
    if ran.code != 0:
        raise Refused(
            error_text(ran).replace("error: Failed to execute command\n", "") or f"exit code {ran.code}"
        )
    return ran.out


def nodes(
    ctx: Context, expressions: Sequence[str], *, load_path: str | None = None, deep: bool = False
) -> Nodes:
    """The nodes that match, and with ``deep`` all below them."""
    from xml.etree import ElementTree

    result: Nodes = {}
    for expression in expressions:
        text = run(ctx, [f"dump-xml {quote(expression)}"], load_path=load_path)
        try:
            top = ElementTree.fromstring(text)
        except ElementTree.ParseError as problem:
            raise Refused(f"augtool printed no tree for {expression!r}: {problem}") from None
        for node in top.findall("node"):
            _collect(node, node.get("path", ""), result, deep=deep)
    return result


def _collect(node: Element, path: str, result: Nodes, *, deep: bool) -> None:
    result[path] = node.findtext("value") or ""
    below = node.findall("node") if deep else []
    labels = [one.get("label", "") for one in below]
    for index, one in enumerate(below):
        label = labels[index]
        place = f"[{labels[: index + 1].count(label)}]" if labels.count(label) > 1 else ""
        _collect(one, f"{path}/{_escape(label)}{place}", result, deep=deep)


def _escape(label: str) -> str:
    return "".join(f"\\{sign}" if sign in _SPECIAL else sign for sign in label)


class Edit:
    """Commands that are predicted and saved together, or not at all."""

    def __init__(
        self,
        ctx: Context,
        commands: Sequence[object],
        context: str = "",
        lens: str = "",
        load_path: str | None = None,
    ) -> None:
        if lens and not context:
            raise Refused("lens needs context: the file it is for")
        self._ctx = ctx
        self._lens, self._load_path = lens, load_path
        self._file = context.removeprefix(FILES)
        self._script = [command(one, context) for one in commands]

    def predict(self) -> dict[str, str]:
        """File → its new content, for the files that would change."""
        tried = [*self._script, "set /augeas/save noop", "save"]
        printed = self._run([*tried, f"match {SAVED}"])
        changed = [line.partition(" = ")[2] for line in printed.splitlines() if line.startswith(SAVED)]
        return {path.removeprefix(FILES): self._preview(path) for path in changed}

    def _preview(self, path: str) -> str:
        """The text of a file; the output of the commands comes before the mark."""
        if self._ctx.host.read(_place(path.removeprefix(FILES))) is None:
            return self._preview_new(path)
        printed = self._run([*self._script, f"get {MARK}", f"preview {quote(path)}"])
        return printed.partition(f"{MARK} (o)\n")[2]

    def _preview_new(self, path: str) -> str:
        """The text of a file that would be made, which the command ``preview`` does not know."""
        used = f"/augeas{path}/lens"
        printed = self._run([*self._script, "set /augeas/save noop", "save", f"get {quote(used)}"])
        lens = printed.rstrip("\n").rpartition(f"{used} = ")[2]
        make = [f'set {TEXT}/old ""', f"retrieve {quote(lens)} {TEXT}/old {quote(path)} {TEXT}/new"]
        printed = self._run([*self._script, *make, f"get {MARK}", f"get {TEXT}/new"])
        return printed.partition(f"{MARK} (o)\n{TEXT}/new = ")[2].removesuffix("\n")

    def save(self) -> None:
        self.predict()  # augtool would save the changes before a failing command
        self._run([*self._script, "save"])

    def _run(self, script: Iterable[str]) -> str:
        return run(self._ctx, script, load_path=self._load_path, lens=self._lens, file=self._file)


def text_of(ctx: Context, path: str) -> str:
    """The current content of a file, below augtool's root."""
    return ctx.host.read(_place(path)) or ""


def _place(path: str) -> str:
    return f"{os.environ.get('AUGEAS_ROOT', '').rstrip('/')}{path}"
