"""Text output about many systems: turns notices and returns into lines. Pure: no input or output."""
