"""Facts about this machine (grains), and the data assigned to it (pillar)."""
