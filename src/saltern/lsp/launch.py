"""Starts the process that checks, isolated from the tree that it checks."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Mapping

from saltern.config.files import HERE, find
from saltern.config.load import from_environment, load

# Only these variables are passed on: others may make Python, the C library or a tool load code.
KEPT = ("LANG", "LC_ALL", "LC_CTYPE", "TZ")
# Isolated: no current directory, no PYTHON… variable, no packages of the user. The directory of
# saltern comes last, for one that is not installed among Python's packages.
START = "import sys; sys.path.append(sys.argv.pop(1)); from saltern.lsp.worker import main; main()"


def start(*, trust: bool) -> subprocess.Popen[bytes]:
    """Start the worker: it reads a request from stdin and writes the reply to stdout."""
    if trust:
        command = [sys.executable, "-P", "-m", "saltern.lsp.worker"]
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    own = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    return subprocess.Popen(
        [sys.executable, "-I", "-c", START, own],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # log messages of templates are not shown on a terminal
        cwd="/",
        env={name: os.environ[name] for name in KEPT if name in os.environ},
        close_fds=True,
        start_new_session=True,
    )


def resolve_options(
    config: str | None, options: Mapping[str, object], environ: Mapping[str, str]
) -> tuple[str | None, dict[str, object], list[str]]:
    """The configuration, all given options, and the places that they allow to be read.

    A configuration that is named or in the current directory counts as part of the tree: it may name roots
    beside and below itself. That of the machine or of the user may name any.
    """
    given = {**from_environment(environ), **options}
    named = config or environ.get("SALTERN_CONFIG")
    found, _ = find(named, environ)
    places = [root for name in ("file_roots", "pillar_roots") for root in _roots(given.get(name))]
    places += [str(given["grains_file"])] if given.get("grains_file") else []
    if found and (named or found == os.path.abspath(HERE)):
        found = os.path.realpath(found)
        places.append(os.path.dirname(found))
    else:
        settings = load(found, {}, {})[0]
        own = [_roots(getattr(settings, name)) for name in ("file_roots", "pillar_roots")]
        places += [*(root for roots in own for root in roots), *settings.files]
    return found, given, list(dict.fromkeys(places))


def _roots(given: object) -> Iterable[str]:
    if not isinstance(given, Mapping):
        return ()
    return [os.path.abspath(str(root)) for several in given.values() for root in several]
