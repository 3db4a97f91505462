"""Durable runs: recorded in a journal, resumed after a break, across reboots and updates."""
