"""The program of a worker: ``python -m saltern.cli.worker_program FOLDER``.

As the command line does, it takes our modules from the file of their code before it imports the worker: most
of what a small job costs is imports.
"""

from __future__ import annotations

import sys


def main(argv: list[str]) -> None:
    """Run the worker of a job's folder, and end this process."""
    from saltern.system.code_cache import install
    from saltern.system.lean_msgspec import import_msgspec

    cache = install("worker")
    import_msgspec()
    from saltern.cli import exits
    from saltern.cli.worker import main as work
    from saltern.cli.worker_process import start

    def save() -> None:
        if cache is not None and not cache.is_complete:
            from saltern.system.code_file import save

            save(cache)

    start(work, argv, exits.BUG, finish=save)


if __name__ == "__main__":
    main(sys.argv[1:])
