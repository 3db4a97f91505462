"""Firewalls: iptables, nftables and firewalld, through their own tools."""
