"""Runs that survive: journaled while they happen, resumed where they broke, across reboots and updates."""
