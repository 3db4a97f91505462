"""Orchestrations: runs whose states act on other systems, through a controller or over SSH."""
