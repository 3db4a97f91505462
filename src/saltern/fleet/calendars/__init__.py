"""Maintenance windows and schedules, as pure functions of a text and a time."""
