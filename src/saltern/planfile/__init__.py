"""Saved plans: a test run in a file, approved by a person, and applied as approved."""
