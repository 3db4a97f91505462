"""Loaded by Ansible, never by us: this directory is on its path of callback plugins."""
