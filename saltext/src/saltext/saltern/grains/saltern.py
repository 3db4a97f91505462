"""The grain ``saltern_version``: the version of saltern on this minion; absent if there is none."""

import os
import subprocess

PROGRAMS = ("/opt/saltern/bin/saltern", "/usr/local/bin/saltern", "/usr/bin/saltern")


def saltern_version():
    options = __opts__.get("saltern") or {}
    for program in [options["program"]] if options.get("program") else PROGRAMS:
        if os.access(program, os.X_OK):
            done = subprocess.run(
                [program, "--version"], capture_output=True, text=True, timeout=30, check=False
            )
            if done.returncode == 0:
                return {"saltern_version": done.stdout.split()[-1]}
    return {}
