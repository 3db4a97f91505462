"""Archives: what is in them, and how they are unpacked safely."""
