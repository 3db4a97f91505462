"""The broker: its keys, its certificates, its configuration and its process; or an existing broker."""
