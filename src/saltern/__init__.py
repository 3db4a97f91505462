"""saltern: a configuration-management engine for the Salt state language."""

__version__ = "0.1.0"
