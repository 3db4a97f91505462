"""Containers of a Docker engine: what the ``docker_*`` states and the ``docker`` functions share."""
