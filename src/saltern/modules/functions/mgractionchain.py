"""``mgractionchain``: an alias of ``actionchains`` that consoles and trees use."""

from __future__ import annotations

from saltern.modules.functions.actionchains import finish, next_, resume, start, updated

__all__ = ["finish", "next_", "resume", "start", "updated"]
