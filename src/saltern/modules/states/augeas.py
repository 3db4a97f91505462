"""``augeas``: parts of configuration files, with the program ``augtool``."""

from __future__ import annotations

import difflib

from saltern.language.result import Result
from saltern.modules.api.context import Context
from saltern.modules.api.converge import Changes, Words, bring
from saltern.modules.api.declare import state
from saltern.modules.lib.tables import augeas


@state
def change(
    ctx: Context,
    name: str,
    *,
    context: str | None = None,
    changes: list[object],
    lens: str | None = None,
    load_path: list[str] | None = None,
) -> Result:
    """Change parts of configuration files with Augeas commands. Either all of them apply, or none.

    Needs ``augtool`` with its command ``preview``: Augeas 1.14 or newer (Debian: ``augeas-tools``); an older
    one is refused before anything is changed. Arguments and results follow Salt's documentation of 3006,
    the last version with this module, except that Python's ``augeas`` is not needed.

    Args:
        name: the name in the report; also the context if that is not given and the name is a path in the
            tree.
        context: the prefix of relative paths; with ``lens``, the file.
        changes: the commands: ``set``, ``setm``, ``mv``, ``ins``, ``rm``. A path that begins with the context
            is whole, and the target of ``mv`` also if it begins with ``/files/``.
        lens: read the file with this lens, such as ``Hosts.lns``.
        load_path: a list of further directories of lenses.

    Example:
        ```yaml
        name-of-this-machine:
          augeas.change:
            - context: /files/etc/hosts
            - changes:
              - set 1/canonical saltern.example
        ```
    """
    base = context or (name if name.startswith(f"{augeas.FILES}/") else "")
    edit = augeas.Edit(ctx, changes, base, lens or "", None if load_path is None else ":".join(load_path))

    before = edit.predict()
    diff = "".join(_diff(augeas.text_of(ctx, path), text, path) for path, text in before.items())

    def differs() -> Changes:
        now = {path: augeas.text_of(ctx, path) for path in before}
        return {"diff": diff} if any(now[path] != text for path, text in before.items()) else {}

    return bring(
        ctx,
        differs,
        lambda _: edit.save(),
        facts=lambda: {"context": base, "commands": [str(one) for one in changes]},
        words=Words("No changes made", "Files would be changed", "Changes have been saved"),
    )


def _diff(old: str, new: str, path: str) -> str:
    before, after = (text.splitlines(keepends=True) for text in (old, new))
    return "".join(difflib.unified_diff(before, after, fromfile=path, tofile=path))
