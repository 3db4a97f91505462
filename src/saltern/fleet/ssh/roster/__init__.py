"""Reads lists of systems: rosters of Salt, inventories of Ansible, configurations of ssh, addresses."""
