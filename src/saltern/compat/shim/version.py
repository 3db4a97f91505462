"""``salt.version``: the version of Salt whose language is supported."""

from __future__ import annotations

__version__ = "3008.0"
__saltstack_version__ = __version__
__version_info__ = (3008, 0)
