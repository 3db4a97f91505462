"""Reactions: what follows from events, as files say that a user has written."""
