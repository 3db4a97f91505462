"""Systems that are reached over SSH: nothing runs there but sshd and a Python."""
