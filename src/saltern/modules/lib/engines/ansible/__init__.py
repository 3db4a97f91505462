"""Ansible: its command line, a callback plugin that reports every result, and what those results mean."""
