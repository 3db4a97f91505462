"""Run other engines: read their steps, and keep their logs."""
