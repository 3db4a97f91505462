"""What a Salt master's files say that its configuration does not: top files, reactions, pillar."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from saltern.config.files import Read
from saltern.migration.build import Finding
from saltern.migration.keys import CHANGED, MISSING, SAME

ROOTS = {"file_roots": "states", "pillar_roots": "pillar"}


def file_findings(master: Read) -> Iterator[Finding]:
    """Each root that is missing, each top file, each file of a reaction."""
    for option, what in ROOTS.items():
        for environment, root in _directories(master.values.get(option)):
            where = str(master.mark(option) or "")
            if not os.path.isdir(root):
                advice = "make it, or leave it out of controller.yaml"
                yield Finding(kind=CHANGED, what=f"{root} is no directory", where=where, advice=advice)
            elif os.path.isfile(top := os.path.join(root, "top.sls")):
                yield Finding(kind=SAME, what=f"the top file of the {what} of {environment}", where=top)
    yield from _reactions(master)


def _directories(roots: object) -> Iterator[tuple[str, str]]:
    for environment, some in roots.items() if isinstance(roots, Mapping) else ():
        for root in some if isinstance(some, list) else ():
            if "://" not in str(root):
                yield str(environment), str(root)


def _reactions(master: Read) -> Iterator[Finding]:
    """The files of the reactor: those that are there work as they are."""
    given = master.values.get("reactor")
    for one in given if isinstance(given, list) else ():
        for tag, files in one.items() if isinstance(one, dict) else ():
            for file in files if isinstance(files, list) else [files]:
                known = str(file).startswith("salt://") or os.path.isfile(str(file))
                what = f"{file}, which follows from {tag}" + ("" if known else ", is missing")
                where = str(master.mark("reactor") or "")
                advice = "" if known else "events of that tag fail until it is there"
                yield Finding(kind=SAME if known else MISSING, what=what, where=where, advice=advice)
