"""pyinfra: its command line, run inside of a listener of ours; each operation on each host is a step."""
