"""The states saltern ships: what an SLS may name, one module for each state type."""
