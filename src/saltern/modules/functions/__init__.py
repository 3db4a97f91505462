"""The execution functions that saltern ships, one Python module for each of their modules."""
