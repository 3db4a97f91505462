"""Reactions to events, defined in files that users write."""
