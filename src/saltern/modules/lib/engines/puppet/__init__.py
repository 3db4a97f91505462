"""Puppet: ``puppet apply``, with a listener loaded into it; each of its resources is a step."""
