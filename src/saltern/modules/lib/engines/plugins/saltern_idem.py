"""Run Idem with the plugins beside this file: pop finds them on the search path."""

from __future__ import annotations

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
if HERE not in sys.path:
    sys.path.insert(0, HERE)

import saltern_report


def main() -> None:
    sys.argv = ["idem", *saltern_report.arguments(sys.argv[1])["argv"]]
    import idem.conf
    from idem.scripts import start

    # The option of this name takes no text, whatever it says of itself (Idem 25).
    idem.conf.CONFIG["progress_plugin"]["default"] = "saltern_live"
    saltern_report.report("start")
    start()


if __name__ == "__main__":
    main()
