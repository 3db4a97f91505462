"""What controllers and agents say to each other: messages, subjects, signatures. No network, no files."""
