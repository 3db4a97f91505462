"""The user that this process runs as."""

from __future__ import annotations

import os


def own_user() -> str:
    """The name of the user; the number if it has none."""
    import pwd

    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return str(os.geteuid())
