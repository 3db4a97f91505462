"""Crossing a barrier, a reboot or another build: leave for it, wait, prove it, or give up."""
