"""The operating system, behind seams that tests can replace: clock, processes, files."""
