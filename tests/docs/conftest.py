"""The tests of the documentation use ``tools``, which lies beside ``src`` and is not installed."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = str(Path(__file__).parent.parent.parent)
if ROOT not in sys.path:
    sys.path.insert(0, ROOT)
