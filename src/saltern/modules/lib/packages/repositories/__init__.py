"""Package repositories: read and write their configuration files."""
