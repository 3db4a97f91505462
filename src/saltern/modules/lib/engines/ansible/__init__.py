"""Ansible: its command line, a callback plugin that reports every result, and the meaning of results."""
