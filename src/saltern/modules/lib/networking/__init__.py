"""Interfaces, routes and names of a machine in the files of its system: ifupdown or ifcfg."""
