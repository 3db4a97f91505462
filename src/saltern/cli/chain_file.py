"""A chain file on the command line: its text, and the job that sends it to other systems."""

from __future__ import annotations

import os
from types import SimpleNamespace

from saltern.cli.job_call import Call
from saltern.language.diagnostics import Diagnostic, OperationError
from saltern.system.regular import open_regular

MOST_TEXT = 10_000_000


def read_text(path: str) -> str:
    """Read a chain file; refuse one that is not a regular file or is too long."""
    try:
        with os.fdopen(open_regular(path, follow=True), encoding="utf-8") as file:
            text = file.read(MOST_TEXT + 1)
        if len(text) > MOST_TEXT:
            raise OSError(0, f"it has more than {MOST_TEXT:,} characters")
        return text
    except (OSError, ValueError) as problem:
        why = getattr(problem, "strerror", None) or str(problem)
        what = f"the chain file {path!r} cannot be read: {why}"
        raise OperationError(Diagnostic(code="chain-missing", what=what)) from None


def chain_call(args: SimpleNamespace) -> Call:
    """The call for each system: the text of the file, which the system reads itself."""
    from saltern.chains.document import read_chain
    from saltern.cli.chain_inputs import given_inputs

    path = args.words[0]
    text = read_text(path)
    inputs = read_chain(text, path, given_inputs(args, read_chain(text, path).inputs)).values
    given = {"pillar": inputs, "saltenv": args.saltenv}
    kwargs = {"text": text, "file": path, **{key: one for key, one in given.items() if one}}
    return Call(function="chain.run", kwargs=kwargs)
