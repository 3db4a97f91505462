"""Run saltern on the minions of a Salt master. Salt finds the folders of this package by its entry point."""
