"""Libraries that states and functions share, by topic: accounts, packages, services, databases …"""
