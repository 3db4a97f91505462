"""``saltern check``: everything compiled and nothing run, every problem told, the mechanical ones mended."""
