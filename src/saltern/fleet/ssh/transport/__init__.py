"""How bytes get there and back: the ssh of the system, asyncssh, or a shell on this machine."""
