"""Builds of this program, for the state that updates it."""
