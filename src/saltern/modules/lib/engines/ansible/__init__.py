"""Ansible: its command line, a callback plugin that tells every result, and what those results mean here."""
