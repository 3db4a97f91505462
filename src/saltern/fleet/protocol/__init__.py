"""The protocol between controllers and agents: messages, subjects, signatures. No network, no files."""
