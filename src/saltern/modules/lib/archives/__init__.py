"""Archives: list their contents, and unpack them safely."""
