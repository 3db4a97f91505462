"""Systems reached over SSH: they need only sshd and a Python."""
