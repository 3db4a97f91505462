"""Makes files, one step each, in the step format; with SALTERN_TEST=1 it only says what it would do."""

from __future__ import annotations

import json
import os
import sys
import time

TEST = os.environ.get("SALTERN_TEST") == "1"


def tell(**step: object) -> None:
    print(json.dumps(step), flush=True)  # flushed, so that the step is seen when it happens


def made(path: str) -> None:
    begin = time.time()
    missing = not os.path.exists(path)
    if missing and not TEST:
        open(path, "w").close()
    tell(
        name=path,
        id=os.path.basename(path),
        state="shop",
        fun="file",
        result=None if missing and TEST else True,
        changes={path: {"old": None, "new": "a file"}} if missing else {},
        comment=("would be made" if TEST else "made") if missing else "it is there",
        start_time=begin,
        duration=time.time() - begin,
    )


tell(event="start", version=1, data={"release": "7"})
for name in sys.argv[2:]:
    made(os.path.join(sys.argv[1], name))
tell(event="end", comment="the shop is open")
