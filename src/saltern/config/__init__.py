"""Configuration: file, environment and flags become one frozen ``Settings``."""
