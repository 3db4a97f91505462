"""Transports: the system's ssh, asyncssh, or a shell on this machine."""
