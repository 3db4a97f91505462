"""``saltern`` and ``python -m saltern``."""

from __future__ import annotations

import sys


def main() -> None:
    """The console script. Ends the process at once: nothing is left to tidy up that the system would not."""
    if sys.argv[1:] in (["--version"], ["-V"]):  # before anything else is imported
        from saltern import __version__

        try:
            print(f"saltern {__version__}", flush=True)
        except OSError as problem:
            import os

            os.write(2, f"saltern: the output cannot be written: {problem.strerror}\n".encode())
            os._exit(1)  # what is left to write must not fail once more
        return
    import gc
    import os

    if __name__ == "__main__":
        from saltern.system.own_program import leave_current_directory

        leave_current_directory()
    gc.disable()  # compiling only builds up; `apply` switches it on again for the run
    from saltern.system.code_cache import install

    cache = install(sys.argv[1] if len(sys.argv) > 1 else "")
    from saltern.system.lean_msgspec import import_msgspec

    import_msgspec()
    from saltern.cli.main import run
    from saltern.cli.streams import keep_order
    from saltern.system.signals import end_in_order

    for name in ("stdout", "stderr"):  # closed by the process that started us
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115
    keep_order()
    end_in_order()
    code = run(sys.argv[1:])
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        pass
    except OSError as problem:
        print(f"saltern: the output could not be written: {problem.strerror}", file=sys.stderr)
        code = code or 1
    try:
        sys.stderr.flush()
    except OSError:
        pass
    if cache is not None and not cache.is_complete:
        from saltern.system.code_file import save

        save(cache)
    os._exit(code)


if __name__ == "__main__":
    main()
