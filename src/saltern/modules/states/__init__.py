"""The states that saltern ships, one module for each state type."""
