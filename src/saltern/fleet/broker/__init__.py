"""The broker: its keys, its certificates, its configuration, and the process itself; or an existing one."""
