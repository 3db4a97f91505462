"""``python -m tools.names``: finds functions that are named by a participle alone.

A function that acts is a verb (``build_plan``), one that answers is a noun or a question (``failed_chunks``,
``is_known``). A bare participle (``opened``, ``_named``) makes the reader guess. It is allowed for an answer
that is true or false, for a property, for a state or function with Salt's name, and for an event that an
object is notified of (``EVENTS``). ``EXCEPTIONS`` lists other justified ones, by file: with ``--check`` any
other name fails, and so does an exception that is no longer needed.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator, Mapping

from tools.shape import FUNCTIONS, ROOT, sources

IRREGULAR = """
    begun bought bound broken brought built caught chosen done drawn driven fed felt found frozen given
    gone grown heard held hidden hung kept known laid left lent lost made meant met paid said seen sent
    shown sold spent spoken stolen stood struck stuck swept taken taught thought thrown told torn
    understood woken won worn written
"""
# Words that only look like participles.
NOUNS = """
    bleed bring embed encoding feed finding heading keyring listing logging mapping meaning need nothing
    ping rendering ring seed setting speed spring string thing warning wing
"""
EVENTS = """
    answered armed arrived begun broken calling changed claimed closed compiled confirmed crossed
    disarmed done ended failed finished found gone heard initialized left listened opened ordered paused
    queued reached recovered refused rehearsed reported restored resumed skipped started succeeded tried
    waiting written
"""
SALTS = frozenset({"state", "function"})
LEFT_OUT = ("compat/shim/",)

# Names that are justified as participles, by file, with the reason.
EXCEPTIONS: Mapping[str, str] = {
    # each reads the event of its name
    "fleet/chains/readers.py": "_checked _closed _gone _opened _refused _reported _restored",
    # the conditions of requisites, read as a table: ``require`` is for a state that succeeded
    "language/requisites.py": "changed failed signalled succeeded",
    # results that report the outcome of a state: ``return failed("…")``
    "language/result.py": "blocked failed skipped",
}


def is_participle(name: str) -> bool:
    """True for a name that is one participle: ``opened``, ``_named``, ``pending``."""
    word = name.strip("_")
    if "_" in word or word in NOUNS.split() or name.startswith("__"):
        return False
    return word in IRREGULAR.split() or (len(word) > 4 and word.endswith(("ed", "ing")))


def participles(text: str) -> Iterator[str]:
    """The functions of a file that are named by a participle for which that is not allowed."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, FUNCTIONS) and is_participle(node.name) and not _is_allowed(node):
            yield node.name


def _is_allowed(node: FUNCTIONS) -> bool:
    returns = ast.unparse(node.returns) if node.returns else ""
    if returns == "bool" or (returns == "None" and node.name.strip("_") in EVENTS.split()):
        return True
    decorators = {ast.unparse(one).partition("(")[0].rpartition(".")[2] for one in node.decorator_list}
    return bool(decorators & {"property", "cached_property", *SALTS})


def problems(found: Mapping[str, Iterable[str]], exceptions: Mapping[str, str]) -> list[str]:
    """One line for each name that is not excepted, and for each exception that is not needed."""
    wrong = []
    for file in sorted({*found, *exceptions}):
        names, known = set(found.get(file, ())), set(exceptions.get(file, "").split())
        wrong += [f"{file}: {one!r} is a participle: use a verb or a noun" for one in sorted(names - known)]
        wrong += [f"{file}: {one!r} is gone: remove the exception" for one in sorted(known - names)]
    return wrong


def main(argv: list[str]) -> int:
    texts = ((file, text) for file, text in sources(ROOT) if not file.startswith(LEFT_OUT))
    found = {file: names for file, text in texts if (names := sorted(set(participles(text))))}
    if argv != ["--check"]:
        for file, names in found.items():
            print(f"{file}: {' '.join(names)}")
        return 0
    wrong = problems(found, EXCEPTIONS)
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
