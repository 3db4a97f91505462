"""Firewalls as their own tools know them: iptables, nftables and firewalld."""
