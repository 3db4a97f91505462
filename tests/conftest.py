"""Every test process keeps its runs to itself: one machine has one lock, and tests run beside each other."""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import tempfile

# Before any test module is imported: some of them keep a copy of the environment.
os.environ["SALTERN_STATE_DIR"] = tempfile.mkdtemp(prefix="saltern-runs-")
atexit.register(shutil.rmtree, os.environ["SALTERN_STATE_DIR"], ignore_errors=True)

# Whoever starts the tests in the background makes them, and all they start, deaf to an interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
