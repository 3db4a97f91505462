"""The command line: ``argv`` in, an exit code out. One file for each command."""
