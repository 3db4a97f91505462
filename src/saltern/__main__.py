"""``saltern`` and ``python -m saltern``."""

from __future__ import annotations

import sys


def main() -> None:
    """The console script. Ends the process at once: nothing is left to tidy up that the system would not."""
    if sys.argv[1:] in (["--version"], ["-V"]):  # before anything else is imported
        from saltern import __version__

        print(f"saltern {__version__}")
        return
    import gc
    import os

    gc.disable()  # a run only builds up; see `cli.main` for when it is switched on again
    from saltern.cli.main import run

    code = run(sys.argv[1:])
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:
        pass
    os._exit(code)


if __name__ == "__main__":
    main()
