"""Runners and wheel functions, as orchestration and reactor files name them: ``table.run_runner``."""
