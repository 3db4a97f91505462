"""Problems between an agent and the files of its controller."""

from __future__ import annotations


class NotFetched(Exception):
    """A content cannot be fetched; the text says why."""
