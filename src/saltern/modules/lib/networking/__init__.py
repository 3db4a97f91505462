"""Interfaces, routes and host names in the configuration files of the system: ifupdown or ifcfg."""
