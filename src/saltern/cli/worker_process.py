"""The start and end of a worker process."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable


def start(
    main: Callable[[list[str]], int], argv: list[str], bug: int, *, finish: Callable[[], None] | None = None
) -> None:
    """Run a program and end this process with its exit code; ``finish`` is called if it has ended well."""
    import gc

    from saltern.cli.streams import keep_order
    from saltern.system.signals import end_in_order

    gc.disable()  # compiling frees little; `apply` enables it again for the run
    keep_order()
    end_in_order()
    os.environ["SALTERN_JOB_FOLDER"] = argv[0]
    code = bug
    try:
        code = main(argv)
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        if finish is not None:
            finish()
    finally:
        os._exit(code)
