"""What this machine is (grains) and what it is told (pillar)."""
