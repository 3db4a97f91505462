"""Replacing this program in the middle of a run: two slots, a switch, a takeover, and who watches over it."""
